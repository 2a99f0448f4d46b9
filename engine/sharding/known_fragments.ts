/**
 * Which fragments a shard has the text of. Router and shard keep the same list, for both see the same requests in the
 * same order; so a fragment travels once, and forgetting needs no message.
 */

/** Fragments that are remembered. */
const KEPT_FRAGMENTS = 512;

/** Values by a fragment's number. */
export class KnownFragments<Value> {
  readonly #known = new Map<number, Value>();

  get(fragment: number): Value | undefined {
    return this.#known.get(fragment);
  }

  /** Keeps one more, and forgets the oldest. */
  add(fragment: number, value: Value): void {
    this.#known.set(fragment, value);
    if (this.#known.size <= KEPT_FRAGMENTS) return;
    for (const [oldest] of this.#known) {
      this.#known.delete(oldest);
      return;
    }
  }
}
