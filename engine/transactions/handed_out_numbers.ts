/**
 * Numbers of sequences and row ids that the running statement has got. An attempt that was taken back only because rows
 * had to be fetched gets the same ones again, in the same order: fetching leaves no gaps.
 */

interface HandedOut {
  /** A sequence's or a table's id. */
  readonly source: number;
  readonly count: number;
  readonly value: number | bigint;
}

/** One per transaction. */
export class HandedOutNumbers {
  readonly #list: HandedOut[] = [];
  #next = 0;

  /** A new statement begins, or an attempt that gets numbers of its own. */
  forget(): void {
    this.#list.length = 0;
    this.#next = 0;
  }

  /** The statement runs again from its start. */
  rewind(): void {
    this.#next = 0;
  }

  /** The number that the attempt before got here; else a new one of `take`. */
  get(source: number, count: number, take: () => number | bigint): number | bigint {
    const known = this.#list[this.#next];
    if (known?.source === source && known.count === count) {
      this.#next++;
      return known.value;
    }
    this.#list.length = this.#next;
    const value = take();
    this.#list.push({ source, count, value });
    this.#next++;
    return value;
  }
}
