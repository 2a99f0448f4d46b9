/**
 * Seeded pseudo-random numbers for simulation, tests and whatever a log entry's seed must repeat.
 *
 * xoshiro128** (D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47(4), 2021), its
 * state filled by SplitMix32 from the seed. Not for secrets. Invariant: the same seed gives the same sequence on every
 * machine and in every release.
 */
import { assert } from "./assert.ts";

/** A seeded generator. */
export class SeededRandom {
  readonly #state = new Uint32Array(4);

  /** Any safe integer is a seed. */
  constructor(seed: number) {
    let x = (seed ^ Math.floor(seed / 0x1_0000_0000)) | 0;
    for (let index = 0; index < 4; index++) {
      x = (x + 0x9e3779b9) | 0;
      let z = x;
      z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
      z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
      this.#state[index] = z ^ (z >>> 16);
    }
    // The all-zero state would stay so.
    if (this.#state.every((word) => word === 0)) this.#state[0] = 1;
  }

  /** A 32-bit unsigned integer. */
  u32(): number {
    const s = this.#state;
    const s1 = s[1] as number;
    const scrambled = Math.imul(rotateLeft(Math.imul(s1, 5), 7), 9) >>> 0;
    const shifted = s1 << 9;
    s[2] = (s[2] as number) ^ (s[0] as number);
    s[3] = (s[3] as number) ^ s1;
    s[1] = s1 ^ (s[2] as number);
    s[0] = (s[0] as number) ^ (s[3] as number);
    s[2] = (s[2] as number) ^ shifted;
    s[3] = rotateLeft(s[3] as number, 11);
    return scrambled;
  }

  /** A float in [0, 1) with 53 random bits. */
  float(): number {
    const high = this.u32() >>> 5;
    const low = this.u32() >>> 6;
    return (high * 0x4000000 + low) / 0x20000000000000;
  }

  /** An integer in [0, bound), every one as likely. */
  below(bound: number): number {
    assert(Number.isSafeInteger(bound) && bound > 0, `random bound ${bound} is not a positive integer`);
    return Math.floor(this.float() * bound);
  }

  /** An integer in [low, high]. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True with that probability. */
  chance(probability: number): boolean {
    return this.float() < probability;
  }

  /** One of the items, every one as likely. */
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    assert(items.length > 0, "nothing to pick from");
    return items[this.below(items.length)] as T;
  }

  /** Overwrites the array with random bytes. */
  fill(target: Uint8Array): void {
    for (let index = 0; index < target.length; index++) target[index] = this.u32() >>> 24;
  }
}

function rotateLeft(word: number, count: number): number {
  return (word << count) | (word >>> (32 - count));
}
