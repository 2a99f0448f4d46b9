/**
 * What the running statement has got that is new each time: numbers of sequences, row ids, random values, the time. An
 * attempt that was taken back only because rows had to be fetched gets the same again, in the same order for each
 * source: fetching leaves no gaps, and what was looked for is looked for again.
 */

/** What one source has given. */
interface HandedOut {
  readonly counts: number[];
  readonly values: unknown[];
  /** The first that the running attempt has not got. */
  next: number;
}

/** What is got beyond that of one source is new each time. */
const MAX_VALUES = 1 << 20;

/** One per transaction. */
export class HandedOutNumbers {
  readonly #sources = new Map<number | string, HandedOut>();

  /** A new statement begins, or an attempt that gets numbers of its own. */
  forget(): void {
    if (this.#sources.size > 0) this.#sources.clear();
  }

  /** The statement runs again from its start. */
  rewind(): void {
    for (const source of this.#sources.values()) source.next = 0;
  }

  /** What the attempt before got here of a sequence, a table, or what has this name; else something new of `take`. */
  get<Value>(source: number | string, count: number, take: () => Value): Value {
    let known = this.#sources.get(source);
    if (known === undefined) this.#sources.set(source, known = { counts: [], values: [], next: 0 });
    const { counts, values, next } = known;
    if (next < values.length && counts[next] === count) {
      known.next++;
      return values[next] as Value;
    }
    const value = take();
    if (next >= MAX_VALUES) return value;
    counts.length = values.length = next;
    counts.push(count);
    values.push(value);
    known.next++;
    return value;
  }
}
