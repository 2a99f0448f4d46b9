/**
 * Blocked Bloom filters (F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", WEA
 * 2007): a key's bits all lie in one block of 256 bits, so that a probe touches one cache line. About 10 bits and 5
 * probes a key give a false positive rate of 1 to 2 %.
 */
import type { RowId } from "../../operations/effect.ts";

const BITS_PER_KEY = 10;
const BLOCK_WORDS = 8;

const floatScratch = new Float64Array(1);
const wordScratch = new Uint32Array(floatScratch.buffer);

/** A hash of a number by value (0 and -0 alike). */
export function hashNumber(value: number): number {
  floatScratch[0] = value + 0;
  return mix((wordScratch[0] as number) ^ Math.imul(wordScratch[1] as number, 0x85ebca6b));
}

/** A hash of a row id. */
export function hashId(id: RowId): number {
  return typeof id === "number" ? hashNumber(id) : hashText(id.toString(36));
}

/** A hash of a text by its UTF-16 units. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mix(hash);
}

/** A hash of some bytes. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ (bytes[index] as number), 0x01000193);
  return mix(hash);
}

function mix(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A set of hashes that may answer "yes" wrongly, never "no". */
export class BloomFilter {
  readonly words: Uint32Array;
  readonly #blocks: number;

  /** From the words of a filter that was written. */
  constructor(words: Uint32Array) {
    this.words = words;
    this.#blocks = words.length / BLOCK_WORDS;
  }

  /** An empty filter for so many keys. */
  static forKeys(count: number): BloomFilter {
    const blocks = Math.max(1, Math.ceil(count * BITS_PER_KEY / (BLOCK_WORDS * 32)));
    return new BloomFilter(new Uint32Array(blocks * BLOCK_WORDS));
  }

  add(hash: number): void {
    const words = this.words;
    const base = Math.floor(hash / 4294967296 * this.#blocks) * BLOCK_WORDS;
    let bits = Math.imul(hash, 0x9e3779b1) >>> 0;
    for (let probe = 0; probe < 5; probe++) {
      const bit = bits & 255;
      const at = base + (bit >>> 5);
      words[at] = (words[at] as number) | (1 << (bit & 31));
      bits = probe === 2 ? Math.imul(bits, 0xc2b2ae35) >>> 3 : bits >>> 8;
    }
  }

  mayContain(hash: number): boolean {
    const words = this.words;
    const base = Math.floor(hash / 4294967296 * this.#blocks) * BLOCK_WORDS;
    let bits = Math.imul(hash, 0x9e3779b1) >>> 0;
    for (let probe = 0; probe < 5; probe++) {
      const bit = bits & 255;
      if (((words[base + (bit >>> 5)] as number) & (1 << (bit & 31))) === 0) return false;
      bits = probe === 2 ? Math.imul(bits, 0xc2b2ae35) >>> 3 : bits >>> 8;
    }
    return true;
  }
}
