/** Functions as JavaScript against the same as WebAssembly. */
import assert from "node:assert/strict";
import { SeededRandom } from "../execution/testing/seeded_random.ts";
import { FunctionInstance, type WasmValue } from "./function_instance.ts";
import { I64 } from "./module_structure.ts";
import { InstancePool } from "./instance_pool.ts";
import { prepareModule } from "./prepared_module.ts";
import type { StraightCode } from "./straight_code.ts";
import { assemble } from "./testing.ts";

type Type = "i32" | "i64" | "f64";

const TYPES: readonly Type[] = ["i32", "i64", "f64"];
const INTEGER = "add sub mul div_s rem_s";
const BINARY: Readonly<Record<Type, readonly string[]>> = {
  i32: `${INTEGER} and or xor shl shr_s shr_u`.split(" "),
  i64: INTEGER.split(" "),
  f64: "add sub mul div min max".split(" "),
};
const COMPARE: Readonly<Record<Type, readonly string[]>> = {
  i32: "eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u".split(" "),
  i64: "eq ne lt_s gt_s le_s ge_s".split(" "),
  f64: "eq ne lt gt le ge".split(" "),
};
const UNARY: Readonly<Record<Type, readonly string[]>> = {
  i32: ["i32.clz", "i32.eqz"],
  i64: [],
  f64: "abs neg ceil floor trunc sqrt".split(" ").map((name) => `f64.${name}`),
};
/** What makes a type of another one. */
const FROM: Readonly<Record<Type, readonly (readonly [string, Type])[]>> = {
  i32: [["i32.wrap_i64", "i64"], ["i32.trunc_f64_s", "f64"], ["i64.eqz", "i64"]],
  i64: [["i64.extend_i32_s", "i32"], ["i64.extend_i32_u", "i32"], ["i64.trunc_f64_s", "f64"]],
  f64: [["f64.convert_i32_s", "i32"], ["f64.convert_i32_u", "i32"], ["f64.convert_i64_s", "i64"]],
};
const LARGEST = Number.MAX_SAFE_INTEGER;
const VALUES: Readonly<Record<Type, readonly number[]>> = {
  i32: [0, 1, -1, 7, -10, 1009, 65_536, 2147483647, -2147483648],
  i64: [0, 1, -1, 7, -10, 1009, 94_906_267, 2147483648, -4294967296, LARGEST, -LARGEST, LARGEST - 6],
  f64: [0, -0, 1, -1.5, 0.1, 7, 1e300, 2147483648, -2147483649, 2 ** 53, 1e-320, Infinity, -Infinity, NaN],
};

function pick<T>(random: SeededRandom, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

/** An expression in the folded text format. Parameters are 0 to 2, variables 3 to 5, of the three types in order. */
function expression(random: SeededRandom, type: Type, depth: number): string {
  const inner = (of: Type = type): string => expression(random, of, depth - 1);
  const local = TYPES.indexOf(type) + 3 * random.below(2);
  switch (depth <= 0 ? random.below(2) : random.below(9)) {
    case 0:
      return `(local.get ${local})`;
    case 1: {
      const value = pick(random, VALUES[type]);
      const text = Object.is(value, -0) ? "-0" : Number.isNaN(value) ? "1" : String(value);
      return `(${type}.const ${text.replace("Infinity", "inf")})`;
    }
    case 2: {
      const unary = pick(random, UNARY[type]);
      return unary === undefined ? inner() : `(${unary} ${inner()})`;
    }
    case 3: {
      const [name, from] = pick(random, FROM[type]);
      return `(${name} ${inner(from)})`;
    }
    case 4: {
      const of = pick(random, TYPES);
      return type === "i32" ? `(${of}.${pick(random, COMPARE[of])} ${inner(of)} ${inner(of)})` : inner();
    }
    case 5:
      return `(local.tee ${local} ${inner()})`;
    case 6:
      return `(select ${inner()} ${inner()} ${inner("i32")})`;
    default:
      return `(${type}.${pick(random, BINARY[type])} ${inner()} ${inner()})`;
  }
}

/** The code as a function; `undefined`: the case is not a usual one. */
function straightFunction({ statements, result }: StraightCode): (...values: number[]) => number | undefined {
  const text = `straight: { ${statements.join("\n")}\nreturn ${result}; }\nreturn undefined;`;
  return new Function("l0", "l1", "l2", text) as (...values: number[]) => number | undefined;
}

/** What came of some calls. */
const calls = { computed: 0, left: 0 };
const pool = new InstancePool();

/** Compares both for some arguments. false: the function has no such code. */
function compare(text: string, result: Type, argumentLists: readonly (readonly number[])[]): boolean {
  const module = prepareModule(assemble(text));
  const code = module.straight.get("f");
  if (code === undefined) return false;
  const straight = straightFunction(code);
  const instance = new FunctionInstance(module, "f", { gas: 1_000_000, pool });
  const types = module.functions.get("f")?.parameters ?? [];
  for (const values of argumentLists) {
    const found = straight(...values);
    if (found === undefined || Number.isNaN(found)) {
      calls.left++;
      continue;
    }
    calls.computed++;
    const shown: string = `${text}\n${code.statements.join("\n")}\n${code.result}\nof ${values}: ${found}`;
    let expected: WasmValue;
    try {
      expected = instance.call(
        ...values.map((each, at) => types[at] === I64 ? BigInt(each) : each),
      ) as WasmValue;
    } catch (error) {
      // The code went on where it may not.
      throw new Error(shown, { cause: error });
    }
    assert.ok(Object.is(result === "i64" ? Number(expected) : expected, found), `${shown}, not ${expected}`);
    if (result === "i64") assert.equal(BigInt(found), expected, shown);
  }
  instance.release();
  return true;
}

Deno.test("straightCode() computes what WebAssembly computes for every instruction, bit by bit, or leaves it to it", () => {
  const check = (instruction: string, parameters: readonly Type[], result: Type): void => {
    const text = `(module (func (export "f") (param ${parameters.join(" ")}) (result ${result})
      (${instruction} ${parameters.map((_, index) => `(local.get ${index})`).join(" ")})))`;
    const [first = "i32", second] = parameters;
    const lists = second === undefined
      ? VALUES[first].map((value) => [value])
      : VALUES[first].flatMap((left) => VALUES[second].map((right) => [left, right]));
    assert.ok(compare(text, result, lists), instruction);
  };
  for (const type of TYPES) {
    for (const name of BINARY[type]) check(`${type}.${name}`, [type, type], type);
    for (const name of COMPARE[type]) check(`${type}.${name}`, [type, type], "i32");
    for (const name of UNARY[type]) check(name, [type], type);
    for (const [name, from] of FROM[type]) check(name, [from], type);
  }
  assert.ok(calls.computed > 3_000 && calls.left > 300, `${calls.computed}, ${calls.left}`);
});

Deno.test("straightCode() computes what WebAssembly computes in random functions", () => {
  const random = new SeededRandom(15);
  const before = { ...calls };
  let translated = 0;
  for (let program = 0; program < 400; program++) {
    const type = pick(random, TYPES);
    const sets = Array.from({ length: random.below(3) }, () => {
      const of = random.below(3);
      return `(local.set ${of + 3 * random.below(2)} ${expression(random, TYPES[of] ?? "i32", 2)})`;
    });
    const text = `(module (func (export "f") (param i32 i64 f64) (result ${type}) (local i32 i64 f64)
      ${sets.join(" ")} ${expression(random, type, 3)}))`;
    const lists = Array.from({ length: 40 }, () => TYPES.map((each) => pick(random, VALUES[each])));
    if (compare(text, type, lists)) translated++;
  }
  const computed = calls.computed - before.computed, left = calls.left - before.left;
  assert.ok(translated > 300 && computed > 5_000 && left > 1_000, `${translated}, ${computed}, ${left}`);
});

Deno.test("straightCode() leaves out every function that does more", () => {
  const none = (body: string, parts = ""): void => {
    const { straight, bounds } = prepareModule(
      assemble(`(module ${parts} (func (export "f") (param i32 i64 f32) (result i32) ${body}))`),
    );
    assert.equal(straight.has("f"), false, body);
    assert.equal(bounds.has("f"), true, body);
  };
  none("(local.get 0)");
  const plain = (body: string, parts = ""): boolean =>
    prepareModule(assemble(`(module ${parts} (func (export "f") (param i32 i64) (result i32) ${body}))`))
      .straight.has("f");
  assert.equal(plain("(local.get 0)"), true);
  for (
    const body of [
      "(if (result i32) (local.get 0) (then (i32.const 1)) (else (i32.const 2)))",
      "(block (br_if 0 (local.get 0))) (i32.const 1)",
      "(return (local.get 0))",
      "(unreachable)",
      "(i32.rotl (local.get 0) (local.get 0))",
      "(i32.div_u (local.get 0) (local.get 0))",
      "(i64.lt_u (local.get 1) (local.get 1))",
      "(i32.wrap_i64 (i64.and (local.get 1) (local.get 1)))",
      "(i32.wrap_i64 (i64.const 9007199254740992))",
      "(i32.trunc_sat_f64_s (f64.const 1))",
      "(i32.eqz (i32.reinterpret_f32 (f32.const 1)))",
      "(call $g)",
      "(global.get $v)",
      "(i32.load (local.get 0))",
      "(i32.add ".repeat(60) + "(local.get 0)" + " (local.get 0))".repeat(60),
    ]
  ) {
    const parts = "(memory 1) (global $v i32 (i32.const 1)) (func $g (result i32) (i32.const 1))";
    assert.equal(plain(body, parts), false, body);
  }
});
