/**
 * What a member keeps in memory of its log: the digest at its end, the names and places of its newest entries, and
 * which ops cannot be read.
 *
 * Entries for a damaged range are kept until it is whole, in whatever order they come: an unreadable entry is named
 * by the one that follows it, so they tend to come last to first. Limits: `RECENT` names.
 */
import { assert } from "../base/assert.ts";
import { crc32c } from "../base/checksum.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { digestAfter, EMPTY_HISTORY, HistoryDigest } from "../operations/history_digest.ts";
import type { DamagedRange, NamedRecord } from "./log_scan.ts";
import { RecentEntries } from "./recent_entries.ts";

/** Names that are kept; a power of two. */
const RECENT = 8192;

/** How an entry is named: the view that prepared it, and the digests of the log before and after it. */
export interface EntryName {
  readonly view: number;
  readonly previousDigest: bigint;
  readonly digest: bigint;
}

/** An entry of a member's log. */
export interface StoredEntry extends EntryName {
  readonly op: number;
  readonly payload: Uint8Array;
}

/** What a member keeps in memory of its log. */
export class LogHistory {
  /** The digest at the log's end. */
  readonly digest = new HistoryDigest();
  /** Whether {@link digest} is known: the end of the log may be damaged. */
  isEndKnown = true;
  #lastOp = 0;
  readonly #ops = new Float64Array(RECENT);
  readonly #views = new Float64Array(RECENT);
  readonly #positions = new Float64Array(RECENT);
  /** Digests before and after an entry, low and high half of each. */
  readonly #digests = new Uint32Array(RECENT * 4);
  #damaged: DamagedRange[] = [];
  readonly #repairs = new Map<number, StoredEntry>();
  readonly #recent: RecentEntries<StoredEntry>;

  /** `recentBytes`: of the payloads of the newest entries, which are kept. */
  constructor(recentBytes: number) {
    this.#recent = new RecentEntries(recentBytes);
  }

  get lastOp(): number {
    return this.#lastOp;
  }

  /** The digest at the log's end; null if unknown. */
  get endDigest(): bigint | null {
    return this.isEndKnown ? this.digest.value : null;
  }

  /** The log ends at this op, with this digest; null: unknown. */
  setEnd(op: number, digest: bigint | null): void {
    this.#lastOp = op;
    this.isEndKnown = digest !== null;
    this.digest.value = digest ?? EMPTY_HISTORY;
  }

  /** The end, which cannot be read, has this digest. */
  setUnknownEnd(digest: bigint): void {
    this.setEnd(this.#lastOp, digest);
    this.#damaged = this.#damaged.map((each) => each.to === this.#lastOp ? { ...each, after: digest } : each);
  }

  /** An entry was appended; `payload`: null if it is not to be kept. */
  append(
    { op, view, checksum, position }: {
      readonly op: number;
      readonly view: number;
      readonly checksum: number;
      readonly position: number;
    },
    payload: Uint8Array | null,
  ): void {
    const at = op % RECENT;
    this.#ops[at] = op;
    this.#views[at] = view;
    this.#positions[at] = position;
    const { digest } = this;
    const previousDigest = this.#recent.of(op - 1)?.digest ?? digest.value;
    this.#digests[at * 4] = digest.low;
    this.#digests[at * 4 + 1] = digest.high;
    digest.mix(checksum, op);
    this.#digests[at * 4 + 2] = digest.low;
    this.#digests[at * 4 + 3] = digest.high;
    this.#lastOp = op;
    if (payload !== null) this.#recent.add({ op, view, previousDigest, digest: digest.value, payload });
  }

  /** One of the newest entries, if it is in memory. */
  recentEntry(op: number): StoredEntry | undefined {
    return this.#recent.of(op);
  }

  /** An entry was found in a file. */
  note({ op, view, position, before, after }: NamedRecord): void {
    if (op > this.#lastOp) this.#lastOp = op;
    if (op <= this.#lastOp - RECENT) return;
    const at = op % RECENT;
    this.#ops[at] = op;
    this.#views[at] = view;
    this.#positions[at] = position;
    this.#digests[at * 4] = Number(before & 0xffff_ffffn);
    this.#digests[at * 4 + 1] = Number(before >> 32n);
    this.#digests[at * 4 + 2] = Number(after & 0xffff_ffffn);
    this.#digests[at * 4 + 3] = Number(after >> 32n);
  }

  /** The name of an entry that was appended or found; null when it is not kept. */
  nameOf(op: number): EntryName | null {
    const recent = this.#recent.of(op);
    if (recent !== undefined) return recent;
    const at = op % RECENT;
    if (this.#ops[at] !== op || op > this.#lastOp) return null;
    return {
      view: this.#views[at] as number,
      previousDigest: this.#digestIn(at * 4),
      digest: this.#digestIn(at * 4 + 2),
    };
  }

  /** Where the entry is in its file; undefined when that is not kept. */
  placeOf(op: number): number | undefined {
    const at = op % RECENT;
    return this.#ops[at] === op && op <= this.#lastOp ? this.#positions[at] : undefined;
  }

  #digestIn(index: number): bigint {
    return (BigInt(this.#digests[index + 1] as number) << 32n) | BigInt(this.#digests[index] as number);
  }

  /** What cannot be read, in order. */
  get damaged(): readonly DamagedRange[] {
    return this.#damaged;
  }

  /** The damage that the op is in. */
  damageAt(op: number): DamagedRange | undefined {
    return this.#damaged.length === 0
      ? undefined
      : this.#damaged.find(({ from, to }) => from <= op && op <= to);
  }

  /** Replaces what is known of the damage in a file. */
  setDamage(firstOp: number, ranges: readonly DamagedRange[]): void {
    this.#damaged = [...this.#damaged.filter((each) => each.firstOp !== firstOp), ...ranges]
      .sort((left, right) => left.from - right.from);
  }

  /** The entry that was given for a damaged op. */
  repairOf(op: number): StoredEntry | undefined {
    return this.#repairs.get(op);
  }

  /**
   * Keeps an entry for a damaged range; answers all of its entries once they are there. Raises XX001 for an entry
   * that does not fit its neighbors.
   */
  addRepair(range: DamagedRange, entry: StoredEntry): StoredEntry[] | null {
    const { op } = entry;
    const before = op === range.from ? range.before : this.#repairs.get(op - 1)?.digest ?? null;
    const after = op === range.to ? range.after : this.#repairs.get(op + 1)?.previousDigest ?? null;
    if (
      (before ?? entry.previousDigest) !== entry.previousDigest || (after ?? entry.digest) !== entry.digest
    ) {
      throw notInChain(op);
    }
    this.#repairs.set(op, entry);
    const entries: StoredEntry[] = [];
    for (let each = range.from; each <= range.to; each++) {
      const found = this.#repairs.get(each);
      if (found === undefined) return null;
      entries.push(found);
    }
    return entries;
  }

  /** Gives up the entries that were kept for these ops. */
  forgetRepairs(from: number, to: number): void {
    for (let op = from; op <= to; op++) this.#repairs.delete(op);
  }

  /** The entries of a range are in their places, the first at the given one. */
  repaired(range: DamagedRange, entries: readonly StoredEntry[], headBytes: number): void {
    let position = range.start;
    for (const { op, view, previousDigest, digest, payload } of entries) {
      const end = position + headBytes + payload.length;
      this.note({ op, view, before: previousDigest, after: digest, position, end });
      position = end;
    }
    this.forgetRepairs(range.from, range.to);
    this.#damaged = this.#damaged.filter((each) => each !== range);
    const last = entries.at(-1);
    if (last?.op === this.#lastOp && !this.isEndKnown) this.setEnd(last.op, last.digest);
  }

  /** Of a damaged range only the ops up to this one are left, and nothing follows them in their file. */
  shorten(range: DamagedRange, to: number, after: bigint | null): void {
    this.#damaged = this.#damaged.map((each) => each === range ? { ...each, to, end: null, after } : each);
  }

  /** The log ends at this op from now on. */
  truncateAfter(op: number, digest: bigint | null): void {
    this.forgetRepairs(op + 1, this.#lastOp);
    this.#damaged = this.#damaged.filter(({ from }) => from <= op);
    this.#recent.truncateAfter(op);
    this.setEnd(op, digest);
  }

  /** Nothing before this op is kept. */
  truncateBefore(op: number): void {
    for (const { from, to } of this.#damaged) if (to < op) this.forgetRepairs(from, to);
    this.#damaged = this.#damaged.filter(({ to }) => to >= op);
  }
}

/** The entry of an op with its name, from what was before it. */
export function namedEntry(
  op: number,
  payload: Uint8Array,
  view: number,
  previousDigest: bigint,
): StoredEntry {
  assert(payload.length > 0, "an entry has a payload");
  return { op, payload, view, previousDigest, digest: digestAfter(previousDigest, crc32c(payload), op) };
}

/** The error for an entry that does not follow the one before it, or not lead to the one after it. */
export function notInChain(op: number): DatabaseError {
  return new DatabaseError(SQLSTATE.dataCorrupted, `the entry of op ${op} does not fit the log around it`);
}
