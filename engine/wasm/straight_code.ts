/**
 * Short functions without branches, calls and memory as JavaScript: a call from JavaScript into WebAssembly takes
 * longer than such a function does, and V8 puts the JavaScript of one into the loop over the rows.
 *
 * The code knows the usual case only. Whatever is not one leaves by `break straight`, and WebAssembly decides: a trap,
 * an i64 that is no safe integer, a result that is NaN (whose bits JavaScript leaves open). In between, i64 are safe
 * integers as numbers, never -0. Both give the same results, so it does not matter who has computed one. Functions with
 * any other instruction have no such code.
 */
import { ModuleReader } from "./module_reader.ts";
import { F32, type FunctionType, type ModuleStructure } from "./module_structure.ts";

/** JavaScript in a block with the label `straight`. Arguments are the variables `l0`, `l1` …, which it may change. */
export interface StraightCode {
  readonly statements: readonly string[];
  /** An expression. */
  readonly result: string;
}

/** Longer ones would not be put into the loop, and gain little. */
const MAX_INSTRUCTIONS = 40;
const LARGEST = Number.MAX_SAFE_INTEGER;

const COMPARISONS = ["===", "!==", "<", "<", ">", ">", "<=", "<=", ">=", ">="] as const;
const FLOAT_COMPARISONS = ["===", "!==", "<", ">", "<=", ">="] as const;

type Binary = (left: string, right: string) => string;

/** Operations on i32, by opcode. */
const I32_BINARY: Readonly<Record<number, Binary>> = {
  0x6a: (left, right) => `(${left} + ${right} | 0)`,
  0x6b: (left, right) => `(${left} - ${right} | 0)`,
  0x6c: (left, right) => `Math.imul(${left}, ${right})`,
  0x71: (left, right) => `(${left} & ${right})`,
  0x72: (left, right) => `(${left} | ${right})`,
  0x73: (left, right) => `(${left} ^ ${right})`,
  0x74: (left, right) => `(${left} << ${right})`,
  0x75: (left, right) => `(${left} >> ${right})`,
  0x76: (left, right) => `(${left} >>> ${right} | 0)`,
};
const F64_BINARY: Readonly<Record<number, Binary>> = {
  0xa0: (left, right) => `(${left} + ${right})`,
  0xa1: (left, right) => `(${left} - ${right})`,
  0xa2: (left, right) => `(${left} * ${right})`,
  0xa3: (left, right) => `(${left} / ${right})`,
  0xa4: (left, right) => `Math.min(${left}, ${right})`,
  0xa5: (left, right) => `Math.max(${left}, ${right})`,
};
/** Operations on one operand that have a result for each. */
const UNARY: Readonly<Record<number, (value: string) => string>> = {
  0x45: (value) => `(${value} === 0 ? 1 : 0)`,
  0x50: (value) => `(${value} === 0 ? 1 : 0)`,
  0x67: (value) => `Math.clz32(${value})`,
  0x99: (value) => `Math.abs(${value})`,
  0x9a: (value) => `(-${value})`,
  0x9b: (value) => `Math.ceil(${value})`,
  0x9c: (value) => `Math.floor(${value})`,
  0x9d: (value) => `Math.trunc(${value})`,
  0x9f: (value) => `Math.sqrt(${value})`,
  // Wrapping, extending with a sign and without one, and the same numbers as f64.
  0xa7: (value) => `(${value} | 0)`,
  0xac: (value) => value,
  0xad: (value) => `(${value} >>> 0)`,
  0xb7: (value) => value,
  0xb8: (value) => `(${value} >>> 0)`,
  0xb9: (value) => value,
};

/** The JavaScript of a valid function; null when it is of another kind. */
export function straightCode(structure: ModuleStructure, index: number): StraightCode | null {
  const type = structure.types[structure.functions[index] ?? -1];
  const body = structure.bodies[index];
  if (type === undefined || body === undefined || type.results.length !== 1) return null;
  if ([...type.parameters, ...type.results].includes(F32)) return null;
  return new Translator(structure.bytes, body, type).translate();
}

class Translator {
  readonly #reader: ModuleReader;
  readonly #type: FunctionType;
  readonly #statements: string[] = [];
  readonly #stack: string[] = [];
  #temporaries = 0;

  constructor(
    bytes: Uint8Array,
    { start, end }: { readonly start: number; readonly end: number },
    type: FunctionType,
  ) {
    this.#reader = new ModuleReader(bytes);
    this.#reader.position = start;
    this.#reader.end = end;
    this.#type = type;
  }

  translate(): StraightCode | null {
    if (!this.#declareLocals()) return null;
    for (let count = 0; count < MAX_INSTRUCTIONS; count++) {
      const opcode = this.#reader.byte();
      if (opcode === 0x0b) {
        const result = this.#stack.pop();
        return result === undefined ? null : { statements: this.#statements, result };
      }
      if (!this.#instruction(opcode)) return null;
    }
    return null;
  }

  /** The function's own variables, which begin with 0. */
  #declareLocals(): boolean {
    const reader = this.#reader;
    let next = this.#type.parameters.length;
    for (let groups = reader.unsigned(); groups > 0; groups--) {
      const count = reader.unsigned();
      if (reader.byte() === F32 || count > MAX_INSTRUCTIONS) return false;
      for (let each = 0; each < count; each++) this.#statements.push(`let l${next++} = 0;`);
    }
    return true;
  }

  #instruction(opcode: number): boolean {
    const stack = this.#stack;
    switch (opcode) {
      case 0x01:
        return true;
      case 0x1a:
        stack.pop();
        return true;
      case 0x1b: {
        const condition = this.#pop(), otherwise = this.#pop();
        return this.#push(`(${condition} !== 0 ? ${this.#pop()} : ${otherwise})`);
      }
      case 0x20:
        return this.#push(`l${this.#reader.unsigned()}`);
      case 0x21:
      case 0x22: {
        const local = `l${this.#reader.unsigned()}`;
        const value = this.#pop();
        this.#keep(local);
        this.#statements.push(`${local} = ${value};`);
        return opcode === 0x21 || this.#push(local);
      }
      case 0x41:
        return this.#push(`(${this.#reader.signed()})`);
      case 0x42: {
        const value = this.#signed64();
        return value >= -LARGEST && value <= LARGEST && this.#push(`(${value})`);
      }
      case 0x44: {
        const bytes = this.#reader.take(8);
        const value = new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true);
        return !Number.isNaN(value) && this.#push(Object.is(value, -0) ? "(-0)" : `(${value})`);
      }
      default:
        return this.#compute(opcode);
    }
  }

  #compute(opcode: number): boolean {
    const unary = UNARY[opcode];
    if (unary !== undefined) return this.#push(unary(this.#pop()));
    // From f64: to i32, and to i64.
    if (opcode === 0xaa) {
      const value = this.#temporary(this.#pop());
      this.#unless(`${value} > -2147483649 && ${value} < 2147483648`);
      return this.#push(`(${value} | 0)`);
    }
    if (opcode === 0xb0) return this.#pushSafe(`Math.trunc(${this.#pop()}) + 0`);
    const right = this.#pop(), left = this.#pop();
    const binary = I32_BINARY[opcode] ?? F64_BINARY[opcode];
    if (binary !== undefined) return this.#push(binary(left, right));
    switch (opcode) {
      case 0x6d:
      case 0x6f: {
        const divisor = this.#temporary(right), dividend = this.#temporary(left);
        // Besides division by zero, -2147483648 / -1 is none of the usual.
        this.#unless(`${divisor} !== 0 && ${divisor} !== -1`);
        return this.#push(`(${dividend} ${opcode === 0x6d ? "/" : "%"} ${divisor} | 0)`);
      }
      case 0x7c:
        return this.#pushSafe(`${left} + ${right}`);
      case 0x7d:
        return this.#pushSafe(`${left} - ${right}`);
      case 0x7e:
        return this.#pushSafe(`${left} * ${right} + 0`);
      case 0x7f:
      case 0x81: {
        const divisor = this.#temporary(right), dividend = this.#temporary(left);
        this.#unless(`${divisor} !== 0`);
        // Exact: from the next integer the quotient is further away than it is rounded, as the dividend is below 2^53.
        const quotient = this.#temporary(`Math.trunc(${dividend} / ${divisor}) + 0`);
        return this.#push(
          opcode === 0x7f ? quotient : this.#temporary(`${dividend} - ${quotient} * ${divisor}`),
        );
      }
    }
    return this.#compare(opcode, left, right);
  }

  #compare(opcode: number, left: string, right: string): boolean {
    const push = (a: string, operator: string | undefined, b: string): boolean =>
      operator !== undefined && this.#push(`(${a} ${operator} ${b} ? 1 : 0)`);
    if (opcode >= 0x61 && opcode <= 0x66) return push(left, FLOAT_COMPARISONS[opcode - 0x61], right);
    const isI32 = opcode >= 0x46 && opcode <= 0x4f;
    if (!isI32 && !(opcode >= 0x51 && opcode <= 0x5a)) return false;
    const position = opcode - (isI32 ? 0x46 : 0x51);
    const isUnsigned = position >= 2 && position % 2 === 1;
    // Those of i64 without signs are left out.
    if (!isUnsigned) return push(left, COMPARISONS[position], right);
    return isI32 && push(`(${left} >>> 0)`, COMPARISONS[position], `(${right} >>> 0)`);
  }

  #push(code: string): true {
    this.#stack.push(code);
    return true;
  }

  /** An i64 that is only known to be one when it is a safe integer. */
  #pushSafe(code: string): true {
    const value = this.#temporary(code);
    this.#unless(`${value} >= -${LARGEST} && ${value} <= ${LARGEST}`);
    return this.#push(value);
  }

  /** The code is valid, so an operand is there. */
  #pop(): string {
    return this.#stack.pop() ?? "0";
  }

  #temporary(code: string): string {
    if (/^(t\d+|\(-?\d+\))$/.test(code)) return code;
    const name = `t${this.#temporaries++}`;
    this.#statements.push(`const ${name} = ${code};`);
    return name;
  }

  /** Computes what is on the stack before one of its variables changes. */
  #keep(local: string): void {
    const mention = new RegExp(`\\b${local}\\b`);
    for (const [index, code] of this.#stack.entries()) {
      if (mention.test(code)) this.#stack[index] = this.#temporary(code);
    }
  }

  #unless(usual: string): void {
    this.#statements.push(`if (!(${usual})) break straight;`);
  }

  #signed64(): bigint {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = this.#reader.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, byte & 0x40 ? value - (1n << (shift + 7n)) : value);
    }
  }
}
