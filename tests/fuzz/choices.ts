/**
 * Random decisions that are written down, so that a failing statement can be made smaller: the statement is generated
 * again from a shortened record of decisions, with 0 (by convention the simplest alternative) where the record has
 * ended.
 *
 * After D. R. MacIver and A. F. Donaldson, "Test-Case Reduction via Test-Case Generation" (ECOOP 2020).
 */
import { type SeededRandom, seededRandom } from "../support/random.ts";

/** A source of decisions. */
export class Choices {
  /** The decisions made so far. */
  readonly record: number[] = [];
  readonly #random: SeededRandom | null;
  readonly #replayed: readonly number[];

  private constructor(random: SeededRandom | null, replayed: readonly number[]) {
    this.#random = random;
    this.#replayed = replayed;
  }

  /** Fresh decisions of a seed. */
  static ofSeed(seed: number): Choices {
    return new Choices(seededRandom(seed), []);
  }

  /** The decisions of a record, then zeros. */
  static replay(record: readonly number[]): Choices {
    return new Choices(null, record);
  }

  /** An integer from 0 to one less than the limit. */
  below(limit: number): number {
    const decision = this.#random === null
      ? Math.min(this.#replayed[this.record.length] ?? 0, limit - 1)
      : this.#random.below(limit);
    this.record.push(decision);
    return decision;
  }

  /** True in `percent` of all cases; false is the simpler one. */
  chance(percent: number): boolean {
    return this.below(100) >= 100 - percent;
  }

  /** One of the items; the first is the simplest. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

/** A shorter or simpler record that still fails, as far as a limited number of attempts finds one. */
export async function shrink(
  record: readonly number[],
  fails: (candidate: readonly number[]) => Promise<boolean>,
  attempts = 500,
): Promise<readonly number[]> {
  let best = record;
  let left = attempts;
  const accept = async (candidate: readonly number[]): Promise<boolean> => {
    if (left <= 0) return false;
    left--;
    if (!await fails(candidate)) return false;
    best = candidate;
    return true;
  };
  for (let improved = true; improved && left > 0;) {
    improved = false;
    for (let size = Math.max(1, best.length >> 1); size >= 1; size >>= 1) {
      for (let at = 0; at < best.length && left > 0;) {
        const without = [...best.slice(0, at), ...best.slice(at + size)];
        if (await accept(without)) improved = true;
        else at += size;
      }
    }
    for (let at = 0; at < best.length && left > 0; at++) {
      const value = best[at] ?? 0;
      for (const lower of value === 0 ? [] : [0, value >> 1, value - 1]) {
        if (lower >= value) continue;
        if (await accept(best.map((each, index) => index === at ? lower : each))) {
          improved = true;
          break;
        }
      }
    }
  }
  return best;
}
