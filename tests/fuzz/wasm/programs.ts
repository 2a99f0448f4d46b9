/**
 * Random valid programs, run as they are and rewritten: the same results, the same traps. They do not observe the bits
 * of NaNs, which are the one difference that rewriting makes.
 */
import { DatabaseError } from "../../../engine/base/errors.ts";
import {
  FunctionInstance,
  type WasmFunction,
  type WasmValue,
} from "../../../engine/wasm/function_instance.ts";
import { InstancePool } from "../../../engine/wasm/instance_pool.ts";
import { prepareModule } from "../../../engine/wasm/prepared_module.ts";
import { assemble } from "../../../engine/wasm/testing.ts";
import { trapKind } from "../../../engine/wasm/trap.ts";
import { type SeededRandom, seededRandom } from "../../support/random.ts";

type Type = "i32" | "i64" | "f32" | "f64";

const TYPES: readonly Type[] = ["i32", "i64", "f32", "f64"];
const INTEGER_BINARY = "add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr".split(" ");
const INTEGER_UNARY = "clz ctz popcnt extend8_s extend16_s".split(" ");
const INTEGER_COMPARE = "eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u".split(" ");
const FLOAT_BINARY = "add sub mul div min max".split(" ");
const FLOAT_UNARY = "abs neg ceil floor trunc nearest sqrt".split(" ");
const FLOAT_COMPARE = "eq ne lt gt le ge".split(" ");
const FLOATS = ["0", "-0", "1", "-1.5", "3.25", "1e30", "-1e-30", "inf", "-inf", "nan"];
const INTEGERS = ["0", "1", "-1", "7", "-100", "65536", "0x7fffffff", "-0x80000000"];
/** Values with which each program is called. */
const ARGUMENTS: readonly (readonly WasmValue[])[] = [
  [0, 0n, 0, 0],
  [7, -3n, 1.5, -2.25],
  [-1, 2n ** 63n - 1n, NaN, Infinity],
];

/** What a campaign came to. */
export interface ProgramReport {
  readonly programs: number;
  readonly traps: number;
  readonly failure: string | null;
}

/** Runs `count` programs. */
export function runPrograms(
  { seed, count }: { readonly seed: number; readonly count: number },
): ProgramReport {
  const pool = new InstancePool();
  let traps = 0;
  for (let round = 0; round < count; round++) {
    const text = new ProgramWriter(seededRandom(seed * 1_000_003 + round)).write();
    const bytes = assemble(text);
    const instance = new FunctionInstance(prepareModule(bytes), "f", { gas: 25_000_000, pool });
    const module = new WebAssembly.Module(bytes);
    for (const values of ARGUMENTS) {
      const expected = originalOutcome(module, values);
      const found = rewrittenOutcome(instance, values);
      if (expected.startsWith("trap")) traps++;
      if (expected !== found) {
        return {
          programs: round,
          traps,
          failure: `round ${round}: f(${values.join(", ")}) is ${expected}, rewritten ${found}\n${text}`,
        };
      }
    }
    instance.release();
  }
  return { programs: count, traps, failure: null };
}

function originalOutcome(module: WebAssembly.Module, values: readonly WasmValue[]): string {
  const { f } = new WebAssembly.Instance(module).exports;
  try {
    return (f as WasmFunction)(...values)?.toString() ?? "";
  } catch (error) {
    return `trap ${trapKind(error)}`;
  }
}

function rewrittenOutcome(instance: FunctionInstance, values: readonly WasmValue[]): string {
  try {
    return instance.call(...values)?.toString() ?? "";
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return `trap ${error.message.replace(/^.* trapped: /, "")}`;
  }
}

/** Writes one program. */
class ProgramWriter {
  readonly #random: SeededRandom;
  #functions = 0;
  #labels = 0;
  /** Counters of loops in the function being written. */
  #counters = 0;
  /** Labels around the code being written that take no values. */
  #open: string[] = [];

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  write(): string {
    const count = 1 + this.#random.below(4);
    const functions: string[] = [];
    for (; this.#functions < count; this.#functions++) functions.push(this.#function(this.#functions, count));
    const names = Array.from({ length: count }, (_, index) => `$f${index}`).join(" ");
    return `(module (type $t (func (param i32 i64 f32 f64) (result i32 i64 f32 f64)))
      (memory (export "memory") 1 3) (data (i32.const 5) "some data") (data $p "passive")
      (table ${count} funcref) (elem (i32.const 0) ${names})
      ${TYPES.map((type) => `(global $g_${type} (mut ${type}) (${type}.const 3))`).join("\n")}
      ${functions.join("\n")})`;
  }

  #function(index: number, count: number): string {
    this.#open = [];
    this.#counters = 0;
    const body = this.#statements(4);
    const results = TYPES.map((type) => this.#expression(type, 4)).join("\n");
    return `(func $f${index} ${index === count - 1 ? '(export "f")' : ""} (type $t)
      (param $p_i32 i32) (param $p_i64 i64) (param $p_f32 f32) (param $p_f64 f64) (result i32 i64 f32 f64)
      ${TYPES.map((type) => `(local $l_${type} ${type})`).join(" ")}
      ${Array.from({ length: this.#counters }, (_, counter) => `(local $n${counter} i32)`).join(" ")}
      ${body}
      ${results})`;
  }

  #statements(depth: number): string {
    return Array.from({ length: 1 + this.#random.below(4) }, () => this.#statement(depth)).join("\n");
  }

  #statement(depth: number): string {
    const random = this.#random;
    const type = random.pick(TYPES);
    switch (random.below(depth <= 0 ? 5 : 12)) {
      case 0:
        return `(local.set $l_${type} ${this.#expression(type, depth)})`;
      case 1:
        return `(global.set $g_${type} ${this.#expression(type, depth)})`;
      case 2:
        return `(${this.#store(type)} ${this.#expression(type, depth)})`;
      case 3:
        return `(local.set $p_${type} (local.tee $l_${type} ${this.#expression(type, depth)}))`;
      case 4:
        return this.#open.length === 0
          ? "(nop)"
          : `(br_if ${random.pick(this.#open)} ${this.#expression("i32", depth - 1)})`;
      case 5: {
        const label = `$b${this.#labels++}`;
        return `(block ${label} ${this.#inside(label, () => this.#statements(depth - 1))})`;
      }
      case 6: {
        const label = `$b${this.#labels++}`;
        const body = this.#inside(label, () => this.#statements(depth - 2));
        // Each loop has a counter of its own, or one that is left early could keep another one going.
        const counter = `$n${this.#counters++}`;
        return `(local.set ${counter} (i32.const ${random.below(5)}))
          (block ${label} (loop $again ${body}
            (br_if $again
              (i32.gt_s (local.tee ${counter} (i32.sub (local.get ${counter}) (i32.const 1))) (i32.const 0)))))`;
      }
      case 7:
        return `(if ${this.#expression("i32", depth - 1)} (then ${this.#statements(depth - 1)})
          (else ${this.#statements(depth - 1)}))`;
      case 8:
        return this.#callStatement(depth);
      case 9:
        return `(memory.${random.pick(["fill", "copy"])} (i32.const ${random.below(900)})
          (i32.const ${random.below(900)}) (i32.and ${this.#expression("i32", depth - 2)} (i32.const 63)))`;
      case 10:
        return `(memory.init $p (i32.const ${random.below(900)}) (i32.const 1) (i32.const ${
          random.below(6)
        }))`;
      default:
        return random.below(3) === 0
          ? "(drop (memory.grow (i32.const 1)))"
          : `(block $t${this.#labels} (block $u${this.#labels} (br_table $t${this.#labels} $u${this.#labels++}
              ${this.#expression("i32", depth - 1)})) ${this.#statement(depth - 2)})`;
    }
  }

  #inside(label: string, write: () => string): string {
    this.#open.push(label);
    const text = write();
    this.#open.pop();
    return text;
  }

  /** A call of a function that was written before, whose four results become locals. */
  #callStatement(depth: number): string {
    if (this.#functions === 0) return "(nop)";
    const values = TYPES.map((type) => this.#expression(type, depth - 2)).join(" ");
    const index = this.#random.below(this.#functions);
    const call = this.#random.below(2) === 0
      ? `(call $f${index} ${values})`
      : `(call_indirect (type $t) ${values} (i32.const ${index}))`;
    return `${call} ${[...TYPES].reverse().map((type) => `(local.set $l_${type})`).join(" ")}`;
  }

  /** A store with its address; floats have a part of the memory of their own. */
  #store(type: Type): string {
    const [base, mask] = type.startsWith("f") ? [type === "f32" ? 2048 : 4096, 1016] : [0, 1000];
    const name = type === "i32" ? this.#random.pick(["store", "store8", "store16"]) : "store";
    return `${type}.${name} offset=${base} (i32.and ${this.#expression("i32", 1)} (i32.const ${mask}))`;
  }

  #load(type: Type): string {
    const [base, mask] = type.startsWith("f") ? [type === "f32" ? 2048 : 4096, 1016] : [0, 1000];
    const name = type === "i32" ? this.#random.pick(["load", "load8_s", "load16_u"]) : "load";
    return `(${type}.${name} offset=${base} (i32.and ${this.#expression("i32", 1)} (i32.const ${mask})))`;
  }

  #expression(type: Type, depth: number): string {
    const random = this.#random;
    const isFloat = type.startsWith("f");
    if (depth <= 0 || random.below(6) === 0) {
      switch (random.below(4)) {
        case 0:
          return `(${type}.const ${random.pick(isFloat ? FLOATS : INTEGERS)})`;
        case 1:
          return `(local.get $p_${type})`;
        case 2:
          return `(local.get $l_${type})`;
        default:
          return `(global.get $g_${type})`;
      }
    }
    const sub = (of: Type) => this.#expression(of, depth - 1);
    switch (random.below(8)) {
      case 0:
        return isFloat
          ? `(${type}.${random.pick(FLOAT_UNARY)} ${sub(type)})`
          : `(${type}.${random.pick(INTEGER_UNARY)} ${sub(type)})`;
      case 1:
        return `(select ${sub(type)} ${sub(type)} ${sub("i32")})`;
      case 2: {
        const label = `$b${this.#labels++}`;
        return `(block ${label} (result ${type}) (br_if ${label} ${sub(type)} ${sub("i32")}) (drop) ${
          sub(type)
        })`;
      }
      case 3:
        return `(if (result ${type}) ${sub("i32")} (then ${sub(type)}) (else ${sub(type)}))`;
      case 4:
        return this.#load(type);
      case 5:
        return this.#conversion(type, sub);
      default:
        if (!isFloat) return this.#integerBinary(type, sub);
        return `(${type}.${random.pick(FLOAT_BINARY)} ${sub(type)} ${sub(type)})`;
    }
  }

  #integerBinary(type: Type, sub: (of: Type) => string): string {
    const name = this.#random.pick(INTEGER_BINARY);
    const isDivision = /^(div|rem)/.test(name) && this.#random.below(10) > 0;
    // Mostly no division by zero, or nearly every program would end there.
    const second = isDivision ? `(${type}.or (${type}.const 1) ${sub(type)})` : sub(type);
    return `(${type}.${name} ${sub(type)} ${second})`;
  }

  #conversion(type: Type, sub: (of: Type) => string): string {
    const random = this.#random;
    const float = random.pick<Type>(["f32", "f64"]);
    const integer = random.pick<Type>(["i32", "i64"]);
    switch (type) {
      case "i32":
        switch (random.below(4)) {
          case 0:
            return `(i32.wrap_i64 ${sub("i64")})`;
          case 1:
            return `(i32.trunc${random.below(20) === 0 ? "" : "_sat"}_${float}_s ${sub(float)})`;
          case 2:
            return `(${float}.${random.pick(FLOAT_COMPARE)} ${sub(float)} ${sub(float)})`;
          default:
            return `(${integer}.${random.pick(INTEGER_COMPARE)} ${sub(integer)} ${sub(integer)})`;
        }
      case "i64":
        return random.below(2) === 0
          ? `(i64.extend_i32_${random.pick(["s", "u"])} ${sub("i32")})`
          : `(i64.trunc_sat_${float}_u ${sub(float)})`;
      case "f32":
        return random.below(2) === 0
          ? `(f32.demote_f64 ${sub("f64")})`
          : `(f32.convert_${integer}_${random.pick(["s", "u"])} ${sub(integer)})`;
      default:
        return random.below(2) === 0
          ? `(f64.promote_f32 ${sub("f32")})`
          : `(f64.convert_${integer}_${random.pick(["s", "u"])} ${sub(integer)})`;
    }
  }
}
