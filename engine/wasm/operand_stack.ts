/**
 * The operands that validation follows: for each its type, and whether it may be a NaN whose bits the specification
 * leaves open.
 */
import { LIMITS } from "../base/limits.ts";
import type { Operand } from "./body_emitter.ts";
import type { ModuleReader } from "./module_reader.ts";
import { F32, F64, I32, I64, type ValueType, valueTypeName } from "./module_structure.ts";

/** The type of an operand in code that is never reached. */
export const UNKNOWN = 0;

/** A type of value or {@link UNKNOWN}. */
export type OperandType = ValueType | typeof UNKNOWN;

/** The value type that a byte of the stack holds. */
function valueType(code: number): ValueType {
  return code === I32 || code === I64 || code === F32 || code === F64 ? code : I32;
}

/** The stack of operands of one function, with the floor of the innermost block. */
export class OperandStack {
  readonly #types = new Uint8Array(LIMITS.maximumWasmFrameSlots + 256);
  readonly #open = new Uint8Array(LIMITS.maximumWasmFrameSlots + 256);
  readonly #reader: ModuleReader;
  /** How many operands there are. */
  height = 0;
  /** The most there were. */
  highest = 0;
  /** Operands below belong to outer blocks. */
  floor = 0;
  /** Whether the code is never reached, so that operands are there as needed. */
  isPolymorphic = false;

  constructor(reader: ModuleReader) {
    this.#reader = reader;
  }

  /** Begins a function. */
  clear(): void {
    this.height = 0;
    this.highest = 0;
    this.floor = 0;
    this.isPolymorphic = false;
  }

  /** Pushes a value of a type. */
  push(type: number, isOpen = 0): void {
    this.#types[this.height] = type;
    this.#open[this.height] = isOpen;
    this.height++;
    if (this.height > this.highest) {
      this.highest = this.height;
      if (this.height > LIMITS.maximumWasmFrameSlots) {
        this.#reader.fail(`too many operands, the limit is ${LIMITS.maximumWasmFrameSlots}`);
      }
    }
  }

  /** Pushes values, none of them open. */
  pushAll(types: readonly ValueType[]): void {
    for (const type of types) this.push(type);
  }

  /** Pops a value of a type; returns 1 when it is open. */
  pop(expected: number, at: number): number {
    if (this.height === this.floor) {
      if (this.isPolymorphic) return 0;
      this.#mismatch(`${typeName(expected)} expected, the stack is empty`, at);
    }
    this.height--;
    const actual = this.#types[this.height] ?? 0;
    if (actual !== expected && actual !== UNKNOWN && expected !== UNKNOWN) {
      this.#mismatch(`${typeName(expected)} expected, found ${typeName(actual)}`, at);
    }
    return this.#open[this.height] ?? 0;
  }

  /** Pops a value of any type and returns the type. */
  popAny(at: number): OperandType {
    if (this.height === this.floor) {
      if (this.isPolymorphic) return UNKNOWN;
      this.#mismatch("a value expected, the stack is empty", at);
    }
    this.height--;
    const type = this.#types[this.height] ?? 0;
    return type === UNKNOWN ? UNKNOWN : valueType(type);
  }

  /** Pops values, the last type first. */
  popAll(types: readonly ValueType[], at: number): void {
    for (let index = types.length - 1; index >= 0; index--) this.pop(types[index] ?? I32, at);
  }

  /** Checks that the topmost values have the types, and leaves them. */
  check(types: readonly ValueType[], at: number): void {
    const { height } = this;
    let available = height - this.floor;
    for (let index = types.length - 1; index >= 0; index--) {
      const expected = types[index] ?? I32;
      if (available === 0) {
        if (this.isPolymorphic) break;
        this.#mismatch(`${typeName(expected)} expected, the stack is empty`, at);
      }
      available--;
      const actual = this.#types[this.floor + available] ?? 0;
      if (actual !== expected && actual !== UNKNOWN) {
        this.#mismatch(`${typeName(expected)} expected, found ${typeName(actual)}`, at);
      }
    }
  }

  /** Checks that the innermost block has no values left. */
  expectEmpty(at: number): void {
    if (this.height !== this.floor) {
      this.#mismatch(`${this.height - this.floor} values remain on the stack at the end of the block`, at);
    }
  }

  /** Whether the operand so far below the top is open. */
  isOpen(depth: number): boolean {
    return this.#open[this.height - 1 - depth] === 1;
  }

  /**
   * The topmost operands from the deepest open one on, which are closed from then on; empty when none of the `count`
   * topmost is open.
   */
  close(count: number): Operand[] {
    let from = this.height - Math.min(count, this.height - this.floor);
    while (from < this.height && this.#open[from] === 0) from++;
    const operands: Operand[] = [];
    for (let index = from; index < this.height; index++) {
      operands.push({ type: valueType(this.#types[index] ?? 0), isOpen: this.#open[index] === 1 });
      this.#open[index] = 0;
    }
    return operands;
  }

  #mismatch(message: string, at: number): never {
    return this.#reader.fail(`type mismatch: ${message}`, at);
  }
}

function typeName(type: number): string {
  return type === UNKNOWN ? "a value" : valueTypeName(valueType(type));
}
