/** Large values on their way between threads: in parts, so that neither end is held by one for long. */
import { fromStored, type StoredValue, toStored } from "../types/stored_value.ts";
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import { sizeOf } from "../sql/functions/value_size.ts";
import { SqlArray } from "../types/sql_array.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { SqlValue } from "../types/value.ts";

/** Size of a part (see `sizeOf`), roughly. */
const PART_SIZE = 1 << 17;

/** A piece of a text or of bytes, elements of an array, or the form of the array that they were; or a whole value. */
export type ValuePart =
  | { readonly utf8: Uint8Array }
  | { readonly bytes: Uint8Array }
  | { readonly elements: readonly StoredValue[] }
  | { readonly dimensions: readonly number[]; readonly lowerBounds: readonly number[] }
  | { readonly whole: StoredValue };

/** The parts of a value, in order. */
export function* partsOf(type: SqlType, value: SqlValue): Generator<ValuePart> {
  if (typeof value === "string") {
    for (let from = 0, to = 0; from < value.length; from = to) {
      to = from + PART_SIZE;
      // Half of a character is none.
      if (isHighSurrogate(value.charCodeAt(to - 1))) to++;
      yield { utf8: encodeUtf8(value.slice(from, to)) };
    }
    if (value === "") yield { utf8: encodeUtf8(value) };
  } else if (value instanceof Uint8Array) {
    for (let from = 0; from < value.length; from += PART_SIZE) {
      yield { bytes: value.subarray(from, from + PART_SIZE) };
    }
    if (value.length === 0) yield { bytes: value };
  } else if (value instanceof SqlArray && type.kind === "array") {
    yield* elementsOf(type.element, value.elements);
    const { dimensions, lowerBounds } = value;
    yield { dimensions, lowerBounds };
  } else yield { whole: toStored(type, value) };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function* elementsOf(type: SqlType, values: readonly SqlValue[]): Generator<ValuePart> {
  let elements: StoredValue[] = [], size = 0;
  for (const value of values) {
    elements.push(toStored(type, value));
    size += 16 + sizeOf(value);
    if (size < PART_SIZE) continue;
    yield { elements };
    elements = [];
    size = 0;
  }
  yield { elements };
}

/** A value whose parts come one after the other. */
export class PartedValue {
  readonly #type: SqlType;
  readonly #texts: string[] = [];
  readonly #bytes: Uint8Array[] = [];
  readonly #elements: SqlValue[] = [];
  #last: ValuePart | null = null;

  constructor(type: SqlType) {
    this.#type = type;
  }

  add(part: ValuePart): void {
    this.#last = part;
    if ("utf8" in part) this.#texts.push(decodeUtf8(part.utf8));
    else if ("bytes" in part) this.#bytes.push(part.bytes);
    else if ("elements" in part) {
      const element = this.#type.kind === "array" ? this.#type.element : this.#type;
      for (const each of part.elements) this.#elements.push(fromStored(element, each));
    }
  }

  /** The value, when all parts have come. */
  get value(): SqlValue {
    const last = this.#last;
    if (last === null) return null;
    if ("whole" in last) return fromStored(this.#type, last.whole);
    if ("utf8" in last) return this.#texts.join("");
    if ("bytes" in last) return joined(this.#bytes);
    const { dimensions, lowerBounds } = "dimensions" in last ? last : SqlArray.EMPTY;
    return dimensions.length === 0 ? SqlArray.EMPTY : new SqlArray(this.#elements, dimensions, lowerBounds);
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
