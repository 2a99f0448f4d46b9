/**
 * A set of key codes that may answer "yes" wrongly, never "no": the least and the greatest one, and one bit for each
 * remainder of a code by a power of two.
 *
 * Joins ask it before their hash table. It is a Bloom filter with one hash function, which is the identity: it costs
 * a handful of instructions in generated code, keys that are near each other share cache lines, and integers without
 * large gaps are distinguished exactly, by no more bits than there are integers between the least and the greatest one.
 * Other integers are mistaken for members once in {@link BITS_PER_KEY} times, unless they share factors of two.
 */
import type { NumberOrBigint } from "../../types/value.ts";
import type { MemoryUser } from "./memory_user.ts";
import { NULL_CODE, powerOfTwo } from "./hashing.ts";

const BITS_PER_KEY = 64;
/** The same of a statement that writes files: rows that come to a part have asked for all keys together before. */
const BITS_PER_KEY_OF_PARTS = 8;
/** A filter beyond a processor's cache costs more than it spares. */
const MAX_BITS = 2 ** 23;
/** With more keys than this, that are not near each other, the filter knows the least and the greatest one alone. */
const MAX_KEYS = 2 ** 21;

/** The least and the greatest of some key codes. */
export interface CodeRange {
  readonly low: number;
  readonly high: number;
}

/** What generated code reads of a filter. */
export interface FilterParts extends CodeRange {
  readonly words: Int32Array;
  /** One less than the number of bits. */
  readonly mask: number;
}

/** See the file's head. */
export class KeyFilter implements FilterParts {
  readonly words: Int32Array;
  readonly mask: number;
  readonly low: number;
  readonly high: number;
  readonly #state: MemoryUser;

  /** An empty filter for so many keys, which are all in the range; `words`: those of a filter for the same. */
  constructor(state: MemoryUser, keys: number, { low, high }: CodeRange, words: Int32Array | null = null) {
    this.#state = state;
    this.words = words ?? newWords(state, keys, high - low + 1);
    this.mask = this.words.length * 32 - 1;
    this.low = low;
    this.high = high;
  }

  /** Adds the keys of some rows. */
  add(codes: Float64Array, from: number, to: number): void {
    const { words, mask } = this;
    for (let row = from; row < to; row++) {
      const code = codes[row] as number;
      if (code === NULL_CODE) continue;
      const at = (code & mask) >>> 5;
      words[at] = (words[at] as number) | (1 << code);
    }
  }

  /** Whether the key may have been added. */
  mayContain(code: number): boolean {
    return mayContain(this, code);
  }

  /** Gives the accounted memory back. */
  release(): void {
    this.#state.charge(-(this.words.length * 4));
  }
}

/** Bits for so many keys, which are `span` at most; where they would be of no use all are set. */
function newWords(state: MemoryUser, keys: number, span: number): Int32Array {
  const bitsPerKey = state.context.spills === true ? BITS_PER_KEY_OF_PARTS : BITS_PER_KEY;
  const isUseful = keys <= MAX_KEYS || span <= MAX_BITS;
  // Infinities are codes as well: their span is none.
  const wanted = Math.max(32, Math.min(span || Infinity, keys * bitsPerKey));
  const bits = isUseful ? Math.min(MAX_BITS, powerOfTwo(wanted)) : 32;
  state.charge(bits >> 3);
  const words = new Int32Array(bits >> 5);
  return isUseful ? words : words.fill(-1);
}

/** What a filter takes at the most, where memory is little, for so many keys of such a distance. */
export function filterBytes(keys: number, span: number): number {
  return powerOfTwo(Math.max(32, Math.min(span, keys * BITS_PER_KEY_OF_PARTS))) >> 3;
}

function mayContain({ words, mask, low, high }: FilterParts, code: number): boolean {
  if (code < low || code > high) return false;
  return ((words[(code & mask) >>> 5] as number) & (1 << code)) !== 0;
}

/** The part of a statement's memory that a filter takes whose keys are not known beforehand. */
const GROWING_SHARE = 1 / 64;

/** Bits of such a filter. */
export function growingBits(memoryBytes: number): number {
  return Math.max(32, Math.min(MAX_BITS, powerOfTwo(memoryBytes * GROWING_SHARE * 8 + 1) / 2));
}

/** A filter of keys that come one after the other; nobody knows how many. */
export class GrowingFilter implements FilterParts {
  readonly words: Int32Array;
  readonly mask: number;
  low = Infinity;
  high = -Infinity;
  readonly #state: MemoryUser;

  constructor(state: MemoryUser) {
    const bits = growingBits(state.context.memoryLimitBytes);
    this.#state = state;
    state.charge(bits >> 3);
    this.words = new Int32Array(bits >> 5);
    this.mask = bits - 1;
  }

  /** Adds a key. Integers that are not safe have no order here: it is only known that there are some. */
  add(code: NumberOrBigint): void {
    if (typeof code !== "number") {
      this.low = -Infinity;
      this.high = Infinity;
      return;
    }
    const at = (code & this.mask) >>> 5;
    this.words[at] = (this.words[at] as number) | (1 << code);
    if (code < this.low) this.low = code;
    if (code > this.high) this.high = code;
  }

  /** Whether each key has a bit of its own: what the filter answers is true. */
  get isExact(): boolean {
    return this.high - this.low <= this.mask;
  }

  /** See {@link KeyFilter.mayContain}. */
  mayContain(code: number): boolean {
    return mayContain(this, code);
  }

  /** Gives the accounted memory back; the filter is not used any more. */
  release(): void {
    this.#state.charge(-(this.words.length * 4));
  }
}
