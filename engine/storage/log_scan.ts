/**
 * Walks over one file of a member's log and finds what of it is whole.
 *
 * Records are whole when they verify and each names the digest of the log up to it. What does not fit is *damaged*
 * when it was durable once: another file follows, a later record or a mark vouches for it, or the log has had it open.
 * Other members have it; what follows it can be used. At the end of the last file, what nobody vouches for is *torn*:
 * it was never acknowledged. A record that verifies and does not chain to its vouched successor is damaged itself: a
 * stale one, in the place of a write that was lost.
 */
import type { DatabaseError } from "../base/errors.ts";
import { digestAfter } from "../operations/history_digest.ts";
import { MEMBER_FORMAT } from "./log_file.ts";
import type { LogMark } from "./log_marks.ts";
import type { LogFileReader, LogRecord, PlacedRecord, RecordName } from "./log_file_reader.ts";

/** Ops of one file that cannot be read, and what is known around them. */
export interface DamagedRange {
  readonly from: number;
  readonly to: number;
  readonly path: string;
  /** The file's first op. */
  readonly firstOp: number;
  /** Offset of the first of them. */
  readonly start: number;
  /** Offset of what follows; null if nothing does that could be read in this file. */
  readonly end: number | null;
  /** The digest of the log before the first of them; null if unknown. */
  readonly before: bigint | null;
  /** The digest of the log after the last of them; null if unknown. */
  readonly after: bigint | null;
}

/** A whole record and the names of its entry. */
export interface NamedRecord {
  readonly op: number;
  readonly view: number;
  readonly before: bigint;
  readonly after: bigint;
  readonly position: number;
  readonly end: number;
}

/** What was durable once in a file, at least. */
export interface KnownEnd {
  readonly op: number;
  /** Offset behind the last record; null if unknown. */
  readonly end: number | null;
  /** The digest of the log at its end; null if unknown. */
  readonly digest: bigint | null;
}

/** What a walk over a member's file found. */
export interface MemberFileScan {
  readonly lastOp: number;
  /** Offset behind the last record. */
  readonly end: number;
  readonly sealed: boolean;
  /** The digest of the log before the first op; null if unknown. */
  readonly before: bigint | null;
  /** The digest of the log at the end; null if unknown. */
  readonly digest: bigint | null;
  readonly damaged: readonly DamagedRange[];
  /** Where seals are. */
  readonly seals: readonly number[];
  /** Seals that do not verify: offset, op and digest. */
  readonly brokenSeals: readonly {
    readonly position: number;
    readonly op: number;
    readonly digest: bigint;
  }[];
}

/** What is known of a file before it is read. */
export interface ScanStart {
  /** The digest of the log before it; null if unknown. */
  readonly before: bigint | null;
  /** Null for the last file at opening. */
  readonly known: KnownEnd | null;
  /** Of the last file at opening: its newest mark. */
  readonly mark?: LogMark | null;
}

/** Walks over a file. */
export function scanMemberFile(
  reader: LogFileReader,
  start: ScanStart,
  onRecord: (record: NamedRecord) => void,
): MemberFileScan {
  const scan = new Scan(reader, start, onRecord);
  while (scan.step());
  return scan.finish();
}

/** One walk. */
class Scan {
  readonly #reader: LogFileReader;
  readonly #known: KnownEnd | null;
  readonly #mark: LogMark | null;
  readonly #onRecord: (record: NamedRecord) => void;
  readonly #damaged: DamagedRange[] = [];
  readonly #brokenSeals: { position: number; op: number; digest: bigint }[] = [];
  readonly #seals: number[] = [];
  #before: bigint | null;
  #op: number;
  #position: number;
  #digest: bigint | null;
  #isSealed = false;
  /** The last whole record: its successor may still prove it stale. */
  #last: NamedRecord | null = null;

  constructor(
    reader: LogFileReader,
    { before, known, mark = null }: ScanStart,
    onRecord: (record: NamedRecord) => void,
  ) {
    this.#reader = reader;
    this.#mark = mark;
    this.#position = reader.format.recordsStart;
    this.#op = reader.firstOp - 1;
    this.#before = this.#digest = before;
    this.#known = known;
    this.#onRecord = onRecord;
  }

  /** Goes to the next record; false at the end. */
  step(): boolean {
    if (this.#isLastStale) {
      this.#distrustMarked();
      return true;
    }
    const position = this.#position;
    const record = this.#reader.recordAt(position);
    const name = record?.name ?? null;
    const isNext = record !== undefined && name !== null &&
      record.op === (isSeal(record) ? this.#op : this.#op + 1);
    const isBeyond = this.#op >= (this.#known?.op ?? Infinity) && !(isNext && isSeal(record));
    if (isNext && !isBeyond && (this.#digest === null || this.#digest === name.digest)) {
      this.#accept(record, name);
      return true;
    }
    if (this.#known === null) {
      if (!this.#isMarked && !this.#reader.isVouchedBehind(position, this.#op + 1)) return false;
    } else if (this.#op >= this.#known.op) return false;
    if (isNext) this.#distrustLast({ record, position });
    else this.#skipDamage();
    return true;
  }

  /** Whether the newest mark says that there is more. */
  get #isMarked(): boolean {
    return this.#mark !== null && this.#op < this.#mark.op;
  }

  /** Whether the newest mark is of the last record, and of another entry: what was written there was lost. */
  get #isLastStale(): boolean {
    const mark = this.#mark;
    if (mark === null || mark.digest === null || this.#last?.op !== mark.op) return false;
    return this.#last.after !== mark.digest;
  }

  #distrustMarked(): void {
    const last = this.#last, mark = this.#mark;
    if (last === null || mark === null) return;
    this.#last = null;
    this.#addRange({ from: last.op, to: last.op, start: last.position, before: last.before }, {
      end: mark.end,
      after: mark.digest,
    });
    this.#digest = mark.digest;
    this.#position = mark.end;
  }

  finish(): MemberFileScan {
    this.#emit();
    return {
      lastOp: this.#op,
      end: this.#position,
      sealed: this.#isSealed,
      before: this.#before,
      digest: this.#digest,
      damaged: this.#damaged,
      seals: this.#seals,
      brokenSeals: this.#brokenSeals,
    };
  }

  #accept(record: LogRecord, name: RecordName): void {
    this.#isSealed = isSeal(record);
    this.#digest = name.digest;
    if (this.#isSealed) this.#seals.push(this.#position);
    else {
      this.#emit();
      if (record.op === this.#reader.firstOp) this.#before = name.digest;
      const { op, end } = record;
      const after = digestAfter(name.digest, name.checksum, op);
      this.#last = { op, view: name.view, before: name.digest, after, position: this.#position, end };
      this.#op = op;
      this.#digest = after;
    }
    this.#position = record.end;
  }

  #emit(): void {
    if (this.#last !== null) this.#onRecord(this.#last);
    this.#last = null;
  }

  /** What follows the last record is vouched for, verifies, and says that another entry is before it. */
  #distrustLast(found: PlacedRecord): void {
    const last = this.#last;
    if (last === null) throw this.#unusable("the record does not continue the log before it");
    this.#last = null;
    const digest = found.record.name?.digest ?? null;
    this.#addRange({ from: last.op, to: last.op, start: last.position, before: last.before }, {
      end: found.position,
      after: digest,
    });
    this.#digest = digest;
  }

  /** Nothing whole is here that fits: goes on at what is found behind it. */
  #skipDamage(): void {
    const from = this.#op + 1, start = this.#position, before = this.#digest;
    const behind = this.#firstBehind();
    const mark = this.#isMarked ? this.#mark : null;
    const found = mark !== null && behind !== null && behind.position >= mark.end ? null : behind;
    if (found === null) {
      // What is behind the mark may be torn.
      const known = this.#known ?? mark;
      if (known === null) throw this.#unusable(`the record of op ${from} does not verify`);
      this.#addRange({ from, to: known.op, start, before }, { end: known.end, after: known.digest });
      this.#op = known.op;
      this.#digest = known.digest;
      this.#position = known.end ?? this.#reader.file.size;
      this.#isSealed = false;
      return;
    }
    const { record, position } = found;
    const digest = record.name?.digest ?? null;
    const to = isSeal(record) ? record.op : record.op - 1;
    if (to >= from) this.#addRange({ from, to, start, before }, { end: position, after: digest });
    else {
      const seals = sealPlaces(start, position);
      if (seals === null || digest === null || digest !== before) {
        throw this.#unusable("bytes between records belong to none");
      }
      for (const seal of seals) this.#brokenSeals.push({ position: seal, op: to, digest });
      this.#seals.push(...seals);
    }
    this.#op = to;
    this.#digest = digest;
    this.#position = position;
    this.#isSealed = false;
  }

  #addRange(
    from: Pick<DamagedRange, "from" | "to" | "start" | "before">,
    to: Pick<DamagedRange, "end" | "after">,
  ): void {
    this.#emit();
    const { file: { path }, firstOp } = this.#reader;
    const last = this.#damaged.at(-1);
    if (last !== undefined && last.to === from.from - 1 && last.end === from.start) {
      this.#damaged[this.#damaged.length - 1] = { ...last, to: from.to, ...to };
    } else this.#damaged.push({ ...from, ...to, path, firstOp });
  }

  /** The first whole record behind the damage that can follow it. */
  #firstBehind(): PlacedRecord | null {
    const mostOp = this.#known?.op ?? Infinity;
    for (const found of this.#reader.recordsBehind(this.#position + 1, Math.max(this.#op, 1))) {
      if (found === null) return null;
      if (isSeal(found.record) || found.record.op > this.#op) return found.record.op <= mostOp ? found : null;
    }
    return null;
  }

  #unusable(what: string): DatabaseError {
    return this.#reader.damage(this.#position, what);
  }
}

/** The places of seals that fill the bytes between two offsets; null if they cannot. */
export function sealPlaces(start: number, end: number): readonly number[] | null {
  const count = (end - start) / MEMBER_FORMAT.headBytes;
  if (count < 0 || !Number.isInteger(count)) return null;
  return Array.from({ length: count }, (_, index) => start + index * MEMBER_FORMAT.headBytes);
}

function isSeal(record: LogRecord): boolean {
  return record.payloadBytes === 0;
}
