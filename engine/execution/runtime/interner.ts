/**
 * Interning: equal values get the same small integer, so that joins and groupings compare numbers only.
 *
 * A {@link TextInterner} takes texts as strings or as UTF-8 and finds bytes it has seen before without decoding them. A
 * {@link ValueInterner} takes any value through a Map key that is equal exactly when the values are equal.
 * {@link BigInterner} gives integers that are not safe codes above all safe integers.
 */
import { decodeAscii } from "../../base/ascii_text.ts";
import { decodeUtf8 } from "../../base/bytes.ts";
import type { MemoryUser } from "./memory_user.ts";
import { powerOfTwo } from "./hashing.ts";

const BYTES_PER_ENTRY = 96;

/** What an interner begins with: most never see bytes, and arrays cost more to make than they hold. */
const NO_INTEGERS = new Int32Array(0), NO_PLACES = new Uint32Array(0), NO_BYTES = new Uint8Array(0);

/** Interning: equal values get the same small integer, so that joins and groupings compare numbers only. */
export class TextInterner {
  readonly #state: MemoryUser;
  readonly #codes = new Map<string, number>();
  readonly #texts: string[] = [];
  // Open addressing over the UTF-8 forms: entry e has its bytes at #arena[#starts[e] … #ends[e]).
  #table = NO_INTEGERS;
  #mask = 0;
  #entries = 0;
  #hashes = NO_INTEGERS;
  #starts = NO_PLACES;
  #ends = NO_PLACES;
  #entryCodes = NO_INTEGERS;
  #arena = NO_BYTES;
  #arenaLength = 0;
  #charged = 0;

  constructor(state: MemoryUser) {
    this.#state = state;
  }

  /** Gives the accounted memory back; the interner is not used any more. */
  release(): void {
    this.#state.charge(-this.#charged);
    this.#charged = 0;
  }

  #charge(bytes: number): void {
    this.#charged += bytes;
    this.#state.charge(bytes);
  }

  /** The texts by their codes. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  /** The text of a code. */
  text(code: number): string {
    return this.#texts[code] as string;
  }

  /** The code of a text, new if need be. */
  ofText(text: string): number {
    const known = this.#codes.get(text);
    return known === undefined ? this.#add(text) : known;
  }

  /** The code of a text, or -1. */
  findText(text: string): number {
    return this.#codes.get(text) ?? -1;
  }

  /** The code of a text in UTF-8, new if need be. */
  ofBytes(bytes: Uint8Array, start: number, end: number): number {
    return this.#bytes(bytes, start, end, true);
  }

  /** The code of a text in UTF-8, or -1. */
  findBytes(bytes: Uint8Array, start: number, end: number): number {
    return this.#bytes(bytes, start, end, false);
  }

  #bytes(bytes: Uint8Array, start: number, end: number, add: boolean): number {
    let hash = end - start;
    for (let index = start; index < end; index++) hash = Math.imul(hash, 31) + (bytes[index] as number) | 0;
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    hash ^= hash >>> 13;
    if (this.#mask !== 0) {
      const table = this.#table;
      const mask = this.#mask;
      for (let slot = hash & mask;; slot = (slot + 1) & mask) {
        const entry = (table[slot] as number) - 1;
        if (entry < 0) break;
        if (this.#hashes[entry] === hash && this.#sameBytes(entry, bytes, start, end)) {
          return this.#entryCodes[entry] as number;
        }
      }
    }
    const text = decodeText(bytes, start, end);
    let code = this.#codes.get(text);
    if (code === undefined) {
      if (!add) return -1;
      code = this.#add(text);
    }
    this.#addBytes(hash, code, bytes, start, end);
    return code;
  }

  #sameBytes(entry: number, bytes: Uint8Array, start: number, end: number): boolean {
    let at = this.#starts[entry] as number;
    if ((this.#ends[entry] as number) - at !== end - start) return false;
    const arena = this.#arena;
    for (let index = start; index < end; index++) if (arena[at++] !== bytes[index]) return false;
    return true;
  }

  #add(text: string): number {
    const code = this.#texts.length;
    this.#charge(BYTES_PER_ENTRY + text.length);
    this.#texts.push(text);
    this.#codes.set(text, code);
    return code;
  }

  #addBytes(hash: number, code: number, bytes: Uint8Array, start: number, end: number): void {
    const entry = this.#entries++;
    if (entry >= this.#hashes.length) this.#growEntries();
    const length = end - start;
    if (this.#arenaLength + length > this.#arena.length) {
      const larger = new Uint8Array(powerOfTwo(this.#arenaLength + length + 1024));
      this.#charge(larger.length - this.#arena.length);
      larger.set(this.#arena);
      this.#arena = larger;
    }
    for (let index = 0; index < length; index++) {
      this.#arena[this.#arenaLength + index] = bytes[start + index] as number;
    }
    this.#hashes[entry] = hash;
    this.#starts[entry] = this.#arenaLength;
    this.#ends[entry] = this.#arenaLength + length;
    this.#entryCodes[entry] = code;
    this.#arenaLength += length;
    this.#insert(entry, hash);
  }

  #insert(entry: number, hash: number): void {
    let slot = hash & this.#mask;
    while (this.#table[slot] !== 0) slot = (slot + 1) & this.#mask;
    this.#table[slot] = entry + 1;
  }

  #growEntries(): void {
    const size = Math.max(64, this.#hashes.length * 2);
    this.#charge((size - this.#hashes.length) * 24);
    this.#hashes = resize(new Int32Array(size), this.#hashes);
    this.#starts = resize(new Uint32Array(size), this.#starts);
    this.#ends = resize(new Uint32Array(size), this.#ends);
    this.#entryCodes = resize(new Int32Array(size), this.#entryCodes);
    this.#table = new Int32Array(size * 2);
    this.#mask = size * 2 - 1;
    for (let entry = 0; entry < this.#entries - 1; entry++) {
      this.#insert(entry, this.#hashes[entry] as number);
    }
  }
}

function resize<T extends Int32Array | Uint32Array>(target: T, source: T): T {
  target.set(source);
  return target;
}

/** Interning: equal values get the same small integer, so that joins and groupings compare numbers only. */
export class ValueInterner {
  readonly #state: MemoryUser;
  readonly #codes = new Map<unknown, number>();
  /** The first value of each code. */
  readonly values: unknown[] = [];
  #charged = 0;

  constructor(state: MemoryUser) {
    this.#state = state;
  }

  /** Gives the accounted memory back; the interner is not used any more. */
  release(): void {
    this.#state.charge(-this.#charged);
    this.#charged = 0;
  }

  /** The code of a key, new if need be; `value` is what is kept for it. */
  of(key: unknown, value: unknown): number {
    const known = this.#codes.get(key);
    if (known !== undefined) return known;
    const code = this.values.length;
    const bytes = BYTES_PER_ENTRY + (typeof key === "string" ? key.length : 0);
    this.#charged += bytes;
    this.#state.charge(bytes);
    this.#codes.set(key, code);
    this.values.push(value);
    return code;
  }

  /** The keys in the order of their codes. */
  get keys(): readonly unknown[] {
    return [...this.#codes.keys()];
  }

  /** The code of a key, or -1. */
  find(key: unknown): number {
    return this.#codes.get(key) ?? -1;
  }
}

/** Codes of interned big integers start here and are this far apart, so that all are exact doubles. */
const FIRST_BIG_CODE = 2 ** 60;
const BIG_CODE_STEP = 1024;

/** Interning: equal values get the same small integer, so that joins and groupings compare numbers only. */
export class BigInterner {
  readonly #codes = new Map<bigint, number>();
  readonly #values: bigint[] = [];

  /** The integers in the order of their codes. */
  get values(): readonly bigint[] {
    return this.#values;
  }

  /** The code of an integer that is not safe, new if need be. */
  of(value: bigint): number {
    const known = this.#codes.get(value);
    if (known !== undefined) return known;
    const code = FIRST_BIG_CODE + this.#values.length * BIG_CODE_STEP;
    this.#codes.set(value, code);
    this.#values.push(value);
    return code;
  }

  /** The code of an integer that is not safe, or -1 - 2^60, which is no code. */
  find(value: bigint): number {
    return this.#codes.get(value) ?? -FIRST_BIG_CODE;
  }

  /** The integer of a code. */
  value(code: number): number | bigint {
    return code < FIRST_BIG_CODE || code === Infinity
      ? code
      : this.#values[(code - FIRST_BIG_CODE) / BIG_CODE_STEP] as bigint;
  }
}

/** Decodes UTF-8, quickly when it is short ASCII. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  return decodeAscii(bytes, start, end) ?? decodeUtf8(bytes.subarray(start, end));
}

/** A text, or a beginning of it that has so many characters at the least; negative: all of it. */
export function decodePrefix(bytes: Uint8Array, start: number, end: number, characters: number): string {
  const isShorter = characters >= 0 && characters < end - start;
  return (isShorter ? decodeAscii(bytes, start, start + characters) : null) ?? decodeText(bytes, start, end);
}

/** Whether the bytes between start and end are these. */
export function sameUtf8(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  const length = text.length;
  if (end - start !== length) return false;
  for (let index = 0; index < length; index++) if (bytes[start + index] !== text[index]) return false;
  return true;
}
