/**
 * The newest entries of a member's log, in memory: they are sent to others and applied soon after they were appended,
 * and would be read, and checked, again for each of that.
 *
 * Limits: `MAX_ENTRIES` entries, and as many bytes of payloads as it is given.
 */

/** A power of two. */
const MAX_ENTRIES = 4096;

/** What is kept of an entry. */
interface RecentEntry {
  readonly op: number;
  readonly payload: Uint8Array;
}

/** See the head of the file. */
export class RecentEntries<T extends RecentEntry> {
  readonly #entries: (T | undefined)[] = Array.from({ length: MAX_ENTRIES });
  readonly #maximumBytes: number;
  #bytes = 0;
  /** No op below this one is here. */
  #firstOp = 1;
  #lastOp = 0;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  /** Keeps the entry after the last one; its payload must not change. */
  add(entry: T): void {
    const { op } = entry;
    this.#lastOp = op;
    if (op - this.#firstOp >= MAX_ENTRIES) this.#dropBefore(op - MAX_ENTRIES + 1);
    this.#entries[op % MAX_ENTRIES] = entry;
    this.#bytes += entry.payload.length;
    for (let first = this.#firstOp; this.#bytes > this.#maximumBytes; first++) this.#dropBefore(first + 1);
  }

  /** The entry; undefined if it is not kept. */
  of(op: number): T | undefined {
    const entry = this.#entries[op % MAX_ENTRIES];
    return entry?.op === op ? entry : undefined;
  }

  /** Forgets the entries after the op, for others may take their place. */
  truncateAfter(op: number): void {
    for (let last = this.#lastOp; last > op && last >= this.#firstOp; last--) this.#drop(last);
    this.#lastOp = Math.min(this.#lastOp, op);
    this.#firstOp = Math.min(this.#firstOp, op + 1);
  }

  #dropBefore(op: number): void {
    // Most of a large distance is empty.
    const from = Math.max(this.#firstOp, op - MAX_ENTRIES);
    for (let each = from; each < op; each++) this.#drop(each);
    this.#firstOp = op;
  }

  #drop(op: number): void {
    const entry = this.of(op);
    if (entry === undefined) return;
    this.#entries[op % MAX_ENTRIES] = undefined;
    this.#bytes -= entry.payload.length;
  }
}
