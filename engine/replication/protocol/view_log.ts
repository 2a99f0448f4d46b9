/**
 * The log of a member as the log of a view: what is stored, under the headers that its superblock names.
 *
 * A view's log is known by its headers before all of its entries are here. Where both disagree, the superblock is
 * right: the stored entry is one that the view goes without.
 */
import { EMPTY_LOG, type EntryHeader, isSameEntry, type ReplicatedEntry, type Slot } from "./entry_header.ts";
import { type ReplicatedLog } from "./ports.ts";

/** See the head of the file. */
export class ViewLog {
  readonly #stored: ReplicatedLog;
  #logView: number;
  /** Headers that `logView` began with, by op, as long as their entries may be missing here. */
  #suffix: ReadonlyMap<number, EntryHeader> = new Map();
  #suffixEnd = 0;
  /** Everything up to here was present and durable, when it was looked at last. */
  #solidOp: number;
  /** Of that, the first and the last op that could not be read since, above the checkpoint. */
  #lostFrom = Infinity;
  #lostTo = -Infinity;

  /** The log of a member whose superblock holds this. */
  constructor(stored: ReplicatedLog, logView: number, suffix: readonly EntryHeader[], commit: number) {
    this.#stored = stored;
    this.#logView = logView;
    // What is kept for others need not be looked at.
    this.#solidOp = Math.max(stored.oldestOp - 1, stored.checkpointOp);
    this.#setSuffix(suffix);
    this.#removeOthers(commit);
    this.advance();
  }

  /** The last view in which the member's status was normal. */
  get logView(): number {
    return this.#logView;
  }

  /** All ops up to here are present and durable. */
  get solidOp(): number {
    return Math.max(Math.min(this.#solidOp, this.#lostFrom - 1), this.baseOp);
  }

  /** The last op below the log: it and those before are in a checkpoint, which has committed entries only. */
  get baseOp(): number {
    return this.#stored.oldestOp - 1;
  }

  /** The last op of the view's log, as far as this member knows it. */
  get lastOp(): number {
    return Math.max(this.#stored.lastOp, this.#suffixEnd);
  }

  slot(op: number): Slot {
    const stored = this.#stored.slot(op);
    // It may have been durable, and read by nobody for long.
    if (stored.kind === "unreadable") this.damaged(op);
    const header = this.#suffix.get(op) ?? (stored.kind === "unreadable" ? this.#namedByNext(op) : null);
    if (header === null) return stored;
    const isStored = stored.kind === "present" && isSameEntry(stored.header, header);
    return isStored ? stored : { kind: "missing", header, isLost: stored.kind === "unreadable" };
  }

  /** What the entry after an unreadable one says of it. */
  #namedByNext(op: number): EntryHeader | null {
    const next = this.#suffix.get(op + 1) ?? this.#storedHeader(op + 1);
    const digest = next?.previousDigest ?? null;
    return digest === null ? null : { op, view: null, digest, previousDigest: null };
  }

  #storedHeader(op: number): EntryHeader | null {
    const stored = this.#stored.slot(op);
    return stored.kind === "present" ? stored.header : null;
  }

  /** The entry that is stored at the op; null if none can be read. */
  read(op: number): ReplicatedEntry | null {
    const entry = this.#stored.slot(op).kind === "present" ? this.#stored.read(op) : null;
    if (entry === null) this.slot(op);
    return entry;
  }

  /** Stores the entry if its place is the end of what is stored, or unreadable; false if not. */
  write(entry: ReplicatedEntry): boolean {
    const { op } = entry.header;
    if (op > this.#stored.lastOp + 1 || this.#stored.slot(op).kind === "present") return false;
    return this.#stored.write(entry);
  }

  /** The header of the op; null when it is not known. */
  header(op: number): EntryHeader | null {
    if (op === 0) return EMPTY_LOG;
    if (op === this.baseOp) return { op, view: null, digest: this.#stored.baseDigest, previousDigest: null };
    const slot = this.slot(op);
    return slot.kind === "present" || slot.kind === "missing" ? slot.header : null;
  }

  /** The known headers of the ops above the one and up to the other. */
  headersBetween(above: number, upTo: number): EntryHeader[] {
    const headers: EntryHeader[] = [];
    for (let op = above + 1; op <= upTo; op++) {
      const header = this.header(op);
      if (header !== null) headers.push(header);
    }
    return headers;
  }

  /** The first op up to the given one whose bytes are not here; null when all are. */
  firstUnread(last: number): number | null {
    for (let op = this.solidOp + 1; op <= last; op++) {
      if (this.slot(op).kind !== "present") return op;
    }
    return null;
  }

  /** Counts what has become durable; whether anything has. */
  advance(): boolean {
    const before = this.solidOp;
    const isSolid = (op: number) => this.slot(op).kind === "present" && this.#stored.isDurable(op);
    // Only what was lost is looked at again: of all the rest it is known.
    this.#lostFrom = Math.max(this.#lostFrom, this.#stored.checkpointOp + 1);
    while (this.#lostFrom <= this.#lostTo && isSolid(this.#lostFrom)) this.#lostFrom++;
    if (this.#lostFrom > this.#lostTo) this.#forgetLost();
    this.#solidOp = Math.max(this.#solidOp, this.baseOp);
    while (this.#solidOp < this.#stored.lastOp && isSolid(this.#solidOp + 1)) this.#solidOp++;
    return this.solidOp > before;
  }

  #forgetLost(): void {
    this.#lostFrom = Infinity;
    this.#lostTo = -Infinity;
  }

  /** The slot of the op cannot be read after all. What is kept for others is not missed here. */
  damaged(op: number): void {
    if (op <= this.#stored.checkpointOp || op > this.#solidOp) return;
    this.#lostFrom = Math.min(this.#lostFrom, op);
    this.#lostTo = Math.max(this.#lostTo, op);
  }

  /**
   * The superblock names the log of this view, up to its head: what is stored and differs from it goes. Where the log
   * is that of the view already, what is behind the head came later in it, and may be acknowledged.
   */
  adopt(
    logView: number,
    suffix: readonly EntryHeader[],
    { commit, head }: { commit: number; head: number },
  ): void {
    const isOther = this.#logView !== logView;
    this.#logView = logView;
    this.#setSuffix(suffix);
    this.#removeOthers(commit);
    if (isOther && this.#stored.lastOp > head) this.#truncateAfter(head);
    this.advance();
  }

  /** A checkpoint has taken the place of the log up to its op. */
  restart(): void {
    this.#solidOp = this.#stored.checkpointOp;
    this.#forgetLost();
    this.#setSuffix([...this.#suffix.values()].filter(({ op }) => op > this.#solidOp));
    this.advance();
  }

  /** The headers that the superblock must name, for their entries may be missing here after a crash. */
  suffixToKeep(commit: number): EntryHeader[] {
    const floor = Math.min(commit, this.solidOp);
    let end = this.#suffixEnd;
    for (let op = Math.max(end, floor) + 1; op <= this.#stored.lastOp; op++) {
      const slot = this.#stored.slot(op);
      if (slot.kind === "present" && slot.header.view === this.#logView) break;
      end = op;
    }
    return this.headersBetween(floor, end);
  }

  /** Another entry is committed at the op than this log has: it goes, and what follows it. */
  removeFrom(op: number): void {
    this.#setSuffix([...this.#suffix.values()].filter((header) => header.op < op));
    if (this.#stored.lastOp >= op) this.#truncateAfter(op - 1);
  }

  #truncateAfter(op: number): void {
    this.#stored.truncateAfter(op);
    this.#solidOp = Math.min(this.#solidOp, op);
    this.#lostTo = Math.min(this.#lostTo, op);
    if (this.#lostFrom > op) this.#forgetLost();
  }

  #setSuffix(suffix: readonly EntryHeader[]): void {
    this.#suffix = new Map(suffix.map((header) => [header.op, header]));
    this.#suffixEnd = suffix.at(-1)?.op ?? 0;
  }

  /** Removes entries that differ from the suffix, and those above it that are of an older view. */
  #removeOthers(commit: number): void {
    const head = Math.max(commit, this.#suffixEnd);
    for (let op = Math.min(commit, this.solidOp) + 1; op <= this.#stored.lastOp; op++) {
      const slot = this.#stored.slot(op);
      if (slot.kind !== "present") continue;
      const header = this.#suffix.get(op);
      const isKept = header === undefined
        ? op <= head || slot.header.view === this.#logView
        : isSameEntry(slot.header, header);
      if (isKept) continue;
      this.#truncateAfter(op - 1);
      return;
    }
  }
}
