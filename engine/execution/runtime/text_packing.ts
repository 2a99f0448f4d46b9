/**
 * The first characters of texts as numbers, in the order of the texts: behind those that all of them begin with, as
 * many as fit into a double together with the number of a row. Equal ones say nothing.
 */
import { trimTrailingSpaces } from "../../types/text.ts";
import type { KeptText, TextKind } from "./kept_texts.ts";
import type { ColumnBuffer } from "./row_buffer.ts";

/** Digits: 0 behind the end of a text, the characters of ASCII, and one for all others, which ends it. */
const BASE = 130;
const OTHER = BASE - 1;
/** Of what all texts begin with no more is looked for. */
const MAX_SHARED = 64;
/** Texts in one morsel. */
const MORSEL_TEXTS = 4096;

/** The order of texts. */
interface TextOrder {
  readonly column: ColumnBuffer;
  readonly kind: TextKind;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** See the file's head. */
export class TextPacking {
  readonly #order: TextOrder;

  constructor(order: TextOrder) {
    this.#order = order;
  }

  /** Fills an array with an element for each row: what is packed of its text, × rows, + its number. */
  *fill(packed: Float64Array): Generator<void, void, void> {
    const { descending, nullsFirst } = this.#order;
    const count = packed.length;
    let first: KeptText | null = null;
    let shared = MAX_SHARED;
    for (let row = 0; row < count && shared > 0; row++) {
      const text = this.#textAt(row);
      if (first === null) first = text;
      else if (text !== null) shared = this.#shared(first, text, shared);
      if (row % MORSEL_TEXTS === MORSEL_TEXTS - 1) yield;
    }
    const digits = Math.floor(Math.log(Number.MAX_SAFE_INTEGER / (2 * count)) / Math.log(BASE));
    const most = BASE ** digits;
    // The first position and the last are for NULLs.
    const nulls = nullsFirst ? 0 : most + 1;
    for (let row = 0; row < count; row++) {
      const text = this.#textAt(row);
      const number = text === null ? 0 : this.#number(text, shared, digits);
      packed[row] = (text === null ? nulls : descending ? most - number : number + 1) * count + row;
      if (row % MORSEL_TEXTS === MORSEL_TEXTS - 1) yield;
    }
  }

  #textAt(row: number): KeptText | null {
    const { column, kind } = this.#order;
    const kept = column.data[row] as KeptText | null;
    return kind === "char" && typeof kept === "string" ? trimTrailingSpaces(kept) : kept;
  }

  #shared(left: KeptText, right: KeptText, most: number): number {
    let shared = 0;
    while (shared < most) {
      const digit = this.#digit(left, shared);
      if (digit === 0 || digit === OTHER || digit !== this.#digit(right, shared)) break;
      shared++;
    }
    return shared;
  }

  #number(text: KeptText, from: number, digits: number): number {
    let number = 0;
    let goesOn = true;
    for (let index = from; index < from + digits; index++) {
      const digit = goesOn ? this.#digit(text, index) : 0;
      number = number * BASE + digit;
      if (digit === 0 || digit === OTHER) goesOn = false;
    }
    return number;
  }

  #digit(text: KeptText, index: number): number {
    const unit = typeof text === "number"
      ? this.#order.column.texts?.byteAt(text, index) ?? -1
      : index < text.length
      ? text.charCodeAt(index)
      : -1;
    return unit < 128 ? unit + 1 : OTHER;
  }
}
