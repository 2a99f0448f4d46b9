/** A small seeded generator of random numbers for tests: xorshift32 (Marsaglia 2003). Not for anything but tests. */

/** A source of repeatable numbers. */
export interface SeededRandom {
  /** An integer from 0 to one less than the limit. */
  below(limit: number): number;
  /** One of the items. */
  pick<T>(items: readonly T[]): T;
}

/** The generator of a seed, which may be any safe integer: each has numbers of its own. */
export function seededRandom(seed: number): SeededRandom {
  // The generator's state has 32 bits, so that the upper half of a seed only adds to the lower one.
  let state = mixed(Math.floor(seed / 2 ** 32) ^ mixed(seed)) || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const below = (limit: number) => Math.floor(next() / 2 ** 32 * limit);
  return {
    below,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("cannot pick from nothing");
      return item;
    },
  };
}

/**
 * A step of the generator that makes seeds for others (Steele, Lea and Flood 2014, in 32 bits): one to one, without
 * likeness.
 */
function mixed(seed: number): number {
  let value = ((seed | 0) + 0x9e3779b9) | 0;
  value = Math.imul(value ^ value >>> 16, 0x21f0aaad);
  value = Math.imul(value ^ value >>> 15, 0x735a2d97);
  return value ^ value >>> 15;
}
