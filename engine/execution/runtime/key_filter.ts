/**
 * A set of key codes that may answer "yes" wrongly, never "no": one bit for each remainder of a code by a power of two.
 *
 * Joins ask it before their hash table. It is a Bloom filter with one hash function, which is the identity: it costs
 * a handful of instructions in generated code, keys that are near each other share cache lines, and integers without
 * large gaps are distinguished exactly. Other integers are mistaken for members once in {@link BITS_PER_KEY} times,
 * unless they share factors of two.
 */
import type { MemoryUser } from "./memory_user.ts";
import { NULL_CODE, powerOfTwo } from "./hashing.ts";

const BITS_PER_KEY = 64;
/** A filter beyond a processor's cache costs more than it spares. */
const MAX_BITS = 2 ** 23;
/** With more keys than this the filter says "yes" to all. */
const MAX_KEYS = 2 ** 21;

/**
 * A set of key codes that may answer "yes" wrongly, never "no": one bit for each remainder of a code by a power of
 * two. Generated code reads `words` and `mask` itself.
 */
export class KeyFilter {
  readonly words: Int32Array;
  /** One less than the number of bits. */
  readonly mask: number;
  readonly #state: MemoryUser;

  /** An empty filter for so many keys. */
  constructor(state: MemoryUser, keys: number) {
    const isUseful = keys <= MAX_KEYS;
    const bits = isUseful ? Math.min(MAX_BITS, powerOfTwo(Math.max(keys, 1) * BITS_PER_KEY)) : 32;
    this.#state = state;
    state.charge(bits >> 3);
    this.words = new Int32Array(bits >> 5);
    if (!isUseful) this.words.fill(-1);
    this.mask = bits - 1;
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
    return ((this.words[(code & this.mask) >>> 5] as number) & (1 << code)) !== 0;
  }

  /** Gives the accounted memory back. */
  release(): void {
    this.#state.charge(-(this.words.length * 4));
  }
}
