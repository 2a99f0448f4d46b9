/** A small seeded generator of random numbers for tests: xorshift32 (Marsaglia 2003). Not for anything but tests. */

/** A source of repeatable numbers. */
export interface SeededRandom {
  /** An integer from 0 to one less than the limit. */
  below(limit: number): number;
  /** One of the items. */
  pick<T>(items: readonly T[]): T;
}

/** The generator of a seed, which may be any integer. */
export function seededRandom(seed: number): SeededRandom {
  let state = (seed ^ 0x9e3779b9) | 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  // The first numbers of neighbouring seeds resemble each other.
  for (let i = 0; i < 8; i++) next();
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
