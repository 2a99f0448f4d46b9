/**
 * Texts of a few rows as UTF-8: those of stored rows that are sorted and sent are never decoded then. A text is known
 * by its number; beyond {@link MAX_TEXTS} texts or {@link MAX_BYTES} bytes no more are taken.
 *
 * The bytes lie in an array that the next object takes over when this one is released, for making one costs more than
 * a few rows do.
 */
import type { BytesSink } from "../../storage/access/readable_table.ts";
import { compareCharacters, compareText } from "../../types/text.ts";
import { decodeText } from "./interner.ts";

const MAX_TEXTS = 1024;
const MAX_BYTES = 1 << 18;
const FIRST_BYTES = 1 << 14;
const NO_BYTES: Uint8Array = new Uint8Array(0);

/** The array that was given back last. */
let spare: Uint8Array = NO_BYTES;

/** Stored rows with texts. */
interface StoredTexts {
  textBytesAt(location: number, columnId: number, sink: BytesSink): boolean;
  valueAt(location: number, columnId: number): unknown;
}

/** A text, or the number of one. */
export type KeptText = string | number;

/** How texts are compared. */
export type TextKind = "text" | "char";

/** See the file's head. */
export class KeptTexts {
  #bytes = NO_BYTES;
  readonly #ends: number[] = [];
  readonly #place: BytesSink = { bytes: NO_BYTES, start: 0, end: 0 };

  readonly #compareStrings: typeof compareText;

  /** `kind`: spaces at the end of CHAR(n) are no part of it. */
  constructor(kind: TextKind) {
    this.#compareStrings = kind === "char" ? compareCharacters : compareText;
  }

  /** Takes a text of a stored row. The answer is its number, or its value if that is not there as bytes or too much. */
  keep(table: StoredTexts, location: number, columnId: number): unknown {
    const place = this.#place;
    if (this.#ends.length >= MAX_TEXTS || !table.textBytesAt(location, columnId, place)) {
      return table.valueAt(location, columnId);
    }
    const begin = this.#ends.at(-1) ?? 0;
    const end = begin + place.end - place.start;
    if (end > MAX_BYTES) return table.valueAt(location, columnId);
    if (end > this.#bytes.length) this.#grow(end);
    this.#bytes.set(place.bytes.subarray(place.start, place.end), begin);
    return this.#ends.push(end) - 1;
  }

  #grow(length: number): void {
    const before = this.#bytes;
    if (spare.length >= length) {
      this.#bytes = spare;
      spare = NO_BYTES;
    } else this.#bytes = new Uint8Array(Math.min(MAX_BYTES, Math.max(FIRST_BYTES, 2 * length)));
    this.#bytes.set(before);
  }

  /** Tells where the UTF-8 of a text is. */
  find(text: number, place: BytesSink): void {
    place.bytes = this.#bytes;
    place.start = this.#start(text);
    place.end = this.#end(text);
  }

  /** What a text takes, in bytes. */
  bytesOf(text: number): number {
    return this.#end(text) - this.#start(text);
  }

  /** The text of a number. */
  decode(text: number): string {
    return decodeText(this.#bytes, this.#start(text), this.#end(text));
  }

  /** The byte at an index; -1 behind the end. */
  byteAt(text: number, index: number): number {
    const at = this.#start(text) + index;
    return at < this.#end(text) ? this.#bytes[at] as number : -1;
  }

  /** Compares by code point, which is the order of the bytes; CHAR(n) is stored without the spaces at its end. */
  compare(left: KeptText, right: KeptText): number {
    if (typeof left === "string" || typeof right === "string") {
      return this.#compareStrings(this.#string(left), this.#string(right));
    }
    const bytes = this.#bytes;
    let a = this.#start(left);
    let b = this.#start(right);
    const shared = Math.min(this.#end(left) - a, this.#end(right) - b);
    for (const end = a + shared; a < end; a++, b++) {
      const difference = (bytes[a] as number) - (bytes[b] as number);
      if (difference !== 0) return difference;
    }
    return this.bytesOf(left) - this.bytesOf(right);
  }

  #string(text: KeptText): string {
    return typeof text === "string" ? text : this.decode(text);
  }

  #start(text: number): number {
    return text === 0 ? 0 : this.#ends[text - 1] as number;
  }

  #end(text: number): number {
    return this.#ends[text] as number;
  }

  /** Forgets all texts. */
  release(): void {
    if (this.#bytes.length > spare.length) spare = this.#bytes;
    this.#bytes = NO_BYTES;
    this.#ends.length = 0;
  }
}
