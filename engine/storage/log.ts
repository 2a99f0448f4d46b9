/**
 * The write-ahead log: an append-only sequence of entries, numbered by their op, in files of bounded size.
 *
 * `append` is synchronous and makes the entry part of the log; it becomes durable by a group commit: entries that
 * arrive during one turn of the event loop, or while a sync runs, share the next write and sync (`sync_policy.ts`).
 *
 * The log of a member of a replication group also names its entries by views and digests, gives single entries
 * back, loses its end to another log, and goes on with ops that cannot be read until they are repaired.
 *
 * Invariants: ops are consecutive; nothing is reported durable before a sync that began after its write ended well; a
 * failed write or sync poisons the log for good ({@link Log.failed}) and is never tried again. Space is written ahead
 * with zeros, so a full disk raises 53100 from `append` before an entry is accepted, and the log goes on.
 * Limits: `maximumEntryBytes`, or `maximumLongEntryBytes` in parts (`log_part.ts`), `logFileBytes` (a larger entry gets
 * a file of its own), `groupCommitBufferBytes`.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { crc32c } from "../base/checksum.ts";
import { LIMITS } from "../base/limits.ts";
import { type OpNumber, opNumber } from "../operations/effect.ts";
import { type Disk, type DiskFile, isDiskFull } from "../host/disk.ts";
import type { Host } from "../host/host.ts";
import { EMPTY_HISTORY } from "../operations/history_digest.ts";
import {
  detachedHead,
  encodeLogHeader,
  logDamage,
  type LogFormat,
  MEMBER_FORMAT,
  PARTED_FORMAT,
  type RecordHead,
  SINGLE_FORMAT,
  UNKNOWN_DIGEST,
} from "./log_file.ts";
import { Horizon } from "./commit_horizon.ts";
import { type CommittedLog, GroupCommit } from "./group_commit.ts";
import { type EntryInPieces, entryTooLarge, type LoggedEntry, PiecewiseEntry } from "./log_entry.ts";
import { readEntries } from "./log_entries.ts";
import { LogEntryReader } from "./log_entry_reader.ts";
import { listLogFiles, type LogFileEntry, LogFiles } from "./log_files.ts";
import { type EntryName, LogHistory, namedEntry, type StoredEntry } from "./log_history.ts";
import {
  DEFAULT_LOG_OPTIONS,
  DEFAULT_PART_SIZES,
  type LogOptions,
  type LogPartSizes,
} from "./log_options.ts";
import {
  countedBytesOf,
  type LogBase,
  type RecoveredLog,
  recoverLog,
  recoverMemberLog,
  sealOf,
} from "./log_recovery.ts";
import { rewriteRange } from "./log_rewrite.ts";
import type { LogMark } from "./log_marks.ts";
import type { DamagedRange } from "./log_scan.ts";
import { LogTail } from "./log_tail.ts";
import type { BlockChecksums, StoredPayload } from "./stored_payload.ts";

/** Of the newest entries of a member, so many times the bytes of the buffer stay in memory. */
const RECENT_BUFFERS = 4;
/** A longer payload is read from the file again. */
const MAX_RECENT_BYTES = 256 * 1024;

/** The log. */
export class Log {
  readonly #host: Pick<Host, "clock" | "disk" | "timers">;
  readonly #files: LogFiles;
  readonly #tail: LogTail;
  #sealed: boolean;
  #lastOp: number;
  readonly #durable: Horizon;
  readonly #commits: GroupCommit;
  #appendedBytes: number;
  #closed = false;
  #error: DatabaseError | null = null;
  #announceFailure: (error: DatabaseError) => void;
  #inPieces: EntryInPieces | null = null;
  #isDiskFull = false;
  #checkpointOp: number;
  /** The digest of a member's log at its checkpoint; null if it could not be read. */
  #checkpointDigest: bigint | null;
  readonly #format: LogFormat;
  readonly #parts: LogPartSizes;
  /** What a member knows of its log. */
  readonly #history: LogHistory | null;
  readonly #entryReader: LogEntryReader | null;
  /** The view that is written into records appended from now on; of a member's log only. */
  view = 0;
  /** At the primary of a replication group: sends what was appended to others, which comes before a sync. */
  sendAppended: (() => void) | null = null;
  /** Bytes that recovery cut from the tail; for the operator's information. */
  readonly cutBytes: number;
  /** Where in which file the first record is that was beyond the checkpoint at opening. */
  readonly #start: { readonly firstOp: number; readonly op: number; position: number };
  /** Resolves with the reason when the log can no longer be written; the owner must stop. */
  readonly failed: Promise<DatabaseError>;

  private constructor(
    host: Pick<Host, "clock" | "disk" | "timers">,
    files: LogFiles,
    options: LogOptions,
    found: Omit<RecoveredLog, "files" | "open"> & {
      readonly file: DiskFile;
      readonly end: number;
      readonly sealed: boolean;
    },
    history: LogHistory | null,
    base: LogBase,
  ) {
    this.#host = host;
    this.#files = files;
    this.#format = history === null ? SINGLE_FORMAT : MEMBER_FORMAT;
    this.#parts = options.parts ?? DEFAULT_PART_SIZES;
    const { file, end } = found;
    const entry = files.last;
    assert(entry !== undefined, "a log has a file");
    const fail = (cause: unknown) => this.#fail(cause);
    this.#tail = new LogTail(host.disk, { file, entry, end }, options, fail);
    this.#sealed = found.sealed;
    this.#lastOp = found.lastOp;
    this.#durable = new Horizon(found.lastOp);
    this.#commits = new GroupCommit(host, this.#committed());
    this.#appendedBytes = found.countedBytes;
    this.cutBytes = found.cutBytes;
    this.#start = found.start;
    this.#checkpointOp = base.op;
    this.#checkpointDigest = base.digest ?? null;
    this.#history = history;
    this.#entryReader = history === null ? null : new LogEntryReader(host.disk, files, history, this.#tail);
    const { promise, resolve } = Promise.withResolvers<DatabaseError>();
    this.failed = promise;
    this.#announceFailure = resolve;
  }

  /**
   * Opens or creates the log of a directory whose checkpoint, if any, is the base. Raises 55000 for the log of a
   * member without `options.member`, and the reverse.
   */
  static open(
    host: Pick<Host, "clock" | "disk" | "timers">,
    directory: string,
    base: LogBase,
    options: LogOptions = DEFAULT_LOG_OPTIONS,
  ): Log {
    const { disk } = host;
    disk.createDirectory(directory);
    const history = options.member === undefined
      ? null
      : new LogHistory(RECENT_BUFFERS * options.bufferBytes);
    const { open, ...found } = history === null
      ? recoverLog(disk, directory, base.op)
      : recoverMemberLog(disk, directory, memberBase(base), history, options.member?.format ?? MEMBER_FORMAT);
    const files = new LogFiles(disk, directory, options, found.files);
    let opened = open;
    if (opened === null) {
      const { file, entry } = files.create(found.lastOp + 1, history?.endDigest ?? null);
      files.add(entry);
      opened = { file, end: entry.format.recordsStart, sealed: false };
    }
    const log = new Log(host, files, options, { ...found, ...opened }, history, base);
    log.truncateBefore(base.op + 1);
    return log;
  }

  /** Removes the log of a directory: it goes another way than the checkpoint that the directory is to have. */
  static remove(disk: Disk, directory: string): void {
    for (const { path } of listLogFiles(disk, directory).reverse()) {
      disk.remove(path);
      disk.syncDirectory(directory);
    }
  }

  /** Op of the newest entry, durable or not; 0 when there never was one. */
  get lastOp(): OpNumber {
    return opNumber(this.#lastOp);
  }

  /** Everything up to this op has been synced. */
  get durableOp(): OpNumber {
    return this.#durable.durableOp;
  }

  /** How often the log was made durable since the start. */
  get syncs(): number {
    return this.#commits.syncs;
  }

  /** Names the sync that is under way in the background; null: there is none. */
  get pendingSync(): number | null {
    return this.#commits.pendingSync;
  }

  /** Bytes of all records beyond the base op given to `open`; a function of the entries alone. */
  get appendedBytes(): number {
    return this.#appendedBytes;
  }

  /** Whether several entries tend to come in one turn. */
  get hasManyWriters(): boolean {
    return this.#commits.hasManyWriters;
  }

  /** Why the log failed, or null while it works. */
  get error(): DatabaseError | null {
    return this.#error;
  }

  /** Whether the disk had no space for the last entry. */
  get isFull(): boolean {
    return this.#isDiskFull;
  }

  /** What a member begins files in from now on: the next entry is the first of one if the last file is older. */
  set memberFormat(format: LogFormat) {
    assert(this.#history !== null && format.isMember, "the log is a member's");
    this.#files.format = format;
  }

  /** Bytes of a record besides its payload. */
  get headBytes(): number {
    return this.#format.headBytes;
  }

  /** Op of the oldest entry that is still kept. */
  get oldestOp(): number {
    return this.#files.oldest?.firstOp ?? this.#lastOp + 1;
  }

  /**
   * Adds the entry with this op, the next one, and answers the payload's CRC-32C. The bytes are copied or written
   * then. Raises 53100, with the log unchanged and usable, when the disk is full; 58030 when the log has failed.
   */
  append(op: number, payload: Uint8Array): number {
    const isKept = this.#history !== null && payload.length <= MAX_RECENT_BYTES;
    const kept = isKept ? payload.slice() : null;
    return this.#append(op, payload, { view: this.view, checksum: crc32c(payload), kept });
  }

  /** The same for an entry that a given view has prepared. The bytes are kept, and must not change. */
  appendAs(op: number, payload: Uint8Array, view: number, checksum: number = crc32c(payload)): number {
    const kept = payload.length <= MAX_RECENT_BYTES ? payload : null;
    return this.#append(op, payload, { view, checksum, kept });
  }

  #append(
    op: number,
    payload: Uint8Array,
    { view, checksum, kept }: {
      readonly view: number;
      readonly checksum: number;
      readonly kept: Uint8Array | null;
    },
  ): number {
    this.#assertUsable();
    assert(this.#history?.isEndKnown ?? true, `op ${op - 1} cannot be read`);
    assert(op === this.#lastOp + 1, `op ${op} appended after ${this.#lastOp}`);
    assert(payload.length > 0, "an entry has a payload");
    assert(this.#inPieces === null, "no entry is on its way in pieces");
    if (payload.length > LIMITS.maximumEntryBytes) throw entryTooLarge();
    const recordBytes = this.#format.headBytes + payload.length;
    try {
      if (this.#needsFile(recordBytes)) this.#rotate();
      const head = this.#headOf(op, payload.length, checksum, view);
      this.#tail.append(payload, head);
      this.#accept(head, recordBytes, kept);
      return checksum;
    } catch (error) {
      this.#isDiskFull = isDiskFull(error);
      throw error;
    }
  }

  /** The head of the next record. */
  #headOf(op: number, payloadBytes: number, checksum: number, view: number): RecordHead {
    return {
      op,
      durableOp: this.#durable.durableOp,
      payloadBytes,
      checksum,
      firstOp: this.#tail.firstOp,
      position: this.#tail.end,
      view,
      digest: this.#history?.digest ?? null,
    };
  }

  #accept(
    head: RecordHead,
    recordBytes: number,
    payload: Uint8Array | null,
    blocks?: BlockChecksums,
  ): void {
    const { op, position } = head;
    if (this.#history !== null) {
      this.#history.append(head, payload);
      this.#files.last?.places.add(op, position);
      this.#entryReader?.appended(op, recordBytes - this.#format.headBytes, blocks);
    }
    this.#appendedBytes += recordBytes;
    this.#lastOp = op;
    this.#sealed = this.#isDiskFull = false;
    this.#commits.appended(recordBytes);
  }

  /**
   * Begins the entry with this op, which must follow the last one and comes in pieces; `estimatedBytes` tells whether
   * a new file is begun for it, and whether it is written in parts. Until it is finished recovery finds no record
   * where it is: its head, or its last part, is written last. `view`: the one that has prepared it, which is the
   * current one unless given.
   */
  appendInPieces(op: number, estimatedBytes: number, view?: number): EntryInPieces {
    this.#assertUsable();
    assert(op === this.#lastOp + 1, `op ${op} appended after ${this.#lastOp}`);
    assert(this.#inPieces === null, "no entry is on its way in pieces");
    assert(this.#history?.isEndKnown ?? true, `op ${op - 1} cannot be read`);
    const isParted = this.#history === null && estimatedBytes >= this.#parts.leastBytes;
    if (isParted) this.#beginParted();
    else if (this.#needsFile(estimatedBytes)) this.#rotate();
    this.#tail.writeOut();
    const partBytes = isParted ? this.#parts.partBytes : null;
    const entry = this.#inPieces = new PiecewiseEntry(this.#tail, this.#format, partBytes, {
      checkUsable: () => this.#assertUsable(),
      headOf: (bytes, checksum) => this.#headOf(op, bytes, checksum, view ?? this.view),
      finished: (head, recordBytes, blocks) => {
        this.#inPieces = null;
        this.#accept(head, recordBytes, null, blocks);
      },
      abandoned: (error) => {
        this.#inPieces = null;
        if (isDiskFull(error)) this.#isDiskFull = true;
        if (this.#error === null) this.#tail.takeBack();
      },
    });
    return entry;
  }

  /** The log as group commit sees it. */
  #committed(): CommittedLog {
    return {
      lastOp: () => this.#lastOp,
      durableOp: () => this.durableOp,
      isUsable: () => this.#error === null && !this.#closed,
      isBackup: () => this.#history !== null && this.sendAppended === null,
      sendAppended: () => this.sendAppended,
      tail: this.#tail,
      synced: (op) => this.#synced(op),
      fail: (cause) => void this.#fail(cause),
    };
  }

  /** Everything up to the op is durable. A member's log notes that before anybody hears of it. */
  #synced(op: number): void {
    const mark = this.#history === null || op <= this.durableOp ? null : this.#markOf(op);
    if (mark !== null) this.#tail.mark(mark);
    this.#durable.advance(op);
  }

  /** What is known of the end of the record of an op, if that is in the last file. */
  #markOf(op: number): LogMark | null {
    const history = this.#history;
    if (history === null || op < this.#tail.firstOp) return null;
    if (op === this.#lastOp) {
      const digest = history.endDigest;
      return digest === null ? null : { op, end: this.#tail.end, digest };
    }
    const digest = history.nameOf(op)?.digest, end = history.placeOf(op + 1);
    return digest === undefined || end === undefined ? null : { op, end, digest };
  }

  #assertUsable(): void {
    assert(!this.#closed, "the log is closed");
    if (this.#error !== null) throw this.#error;
  }

  /** Whether the next record, of so many bytes, is for another file. */
  #needsFile(bytes: number): boolean {
    return this.#tail.isFullFor(bytes) || this.#tail.isOlderThan(this.#files.format);
  }

  /** The next record is an entry in parts, with which a file begins that older programs refuse. */
  #beginParted(): void {
    const { firstOp, isEmpty } = this.#tail;
    if (isEmpty) {
      this.#tail.begin(encodeLogHeader(firstOp, { format: PARTED_FORMAT, digest: UNKNOWN_DIGEST }));
    } else this.#rotate(PARTED_FORMAT);
  }

  /** Begins a new file. That it exists proves to recovery that the old one is complete. */
  #rotate(format?: LogFormat): void {
    this.#syncNow();
    const last = this.#files.last;
    const next = this.#createNext(this.#lastOp + 1, this.digest, format);
    if (last !== undefined) last.bytes = this.#tail.end;
    this.#files.add(next.entry);
    this.#tail.goOnIn({ ...next, end: next.entry.format.recordsStart });
  }

  #createNext(
    firstOp: number,
    digest: bigint | null,
    format?: LogFormat,
  ): { readonly file: DiskFile; readonly entry: LogFileEntry } {
    const onError = (error: unknown) => void (isDiskFull(error) || this.#fail(error));
    return this.#files.create(firstOp, digest, onError, format);
  }

  #syncNow(): void {
    this.#tail.syncNow();
    this.#synced(this.#lastOp);
  }

  #fail(cause: unknown): DatabaseError {
    if (this.#error !== null) return this.#error;
    // A full disk is said of entries that were refused; here it is unknown what is on the disk.
    const error = cause instanceof DatabaseError && !isDiskFull(cause)
      ? cause
      : new DatabaseError(SQLSTATE.ioError, `could not write the log: ${String(cause)}`, { cause });
    this.#error = error;
    this.#durable.fail(error);
    this.#announceFailure(error);
    return error;
  }

  /** Makes everything durable before it returns, blocking the thread. */
  syncNow(): void {
    this.#assertUsable();
    if (this.durableOp < this.#lastOp) this.#syncNow();
  }

  /** Stops the log for good because its owner cannot go on, for example when a checkpoint cannot be written. */
  stop(reason: unknown): void {
    this.#fail(reason);
  }

  /** Resolves once the entry is durable; rejects when the log fails first, and then it is unknown whether it is. */
  whenDurable(op: number): Promise<void> {
    return this.#durable.whenDurable(op);
  }

  /** Calls the listener after each advance of {@link durableOp}, until the returned function is called. */
  onDurable(listener: (durableOp: OpNumber) => void): () => void {
    return this.#durable.onDurable(listener);
  }

  /**
   * The kept entries after an op, in order. The log may grow meanwhile; files must not be dropped. Raises the error
   * of a failed log: it is unknown which of its last entries are in the file.
   */
  *entries(after: number): Generator<LoggedEntry> {
    if (this.#error !== null) throw this.#error;
    if (!this.#closed) this.#tail.writeOut();
    yield* readEntries(this.#host.disk, after, {
      files: this.#files.entries.slice(),
      lastOp: () => this.#lastOp,
      start: this.#start,
    });
  }

  /**
   * Reads everything that is needed and raises `dataCorrupted` for the first damage. What a member has before its
   * checkpoint it keeps for others, as long as it can be read.
   */
  verify(): void {
    const after = this.#history === null ? 0 : this.#checkpointOp;
    let expected = after === 0 ? this.oldestOp : after + 1;
    for (const { op } of this.entries(after)) {
      if (op !== expected) {
        throw logDamage(this.#files.oldest?.path ?? "", 0, `op ${op} follows op ${expected - 1}`);
      }
      expected++;
    }
  }

  /** Drops files that hold only entries before `op`, but for what a member keeps of them. */
  truncateBefore(op: number): void {
    if (op - 1 > this.#checkpointOp) {
      this.#checkpointDigest = this.#history === null ? null : this.digestBefore(op);
      this.#checkpointOp = op - 1;
    }
    if (this.#history === null) this.#leaveFullFile(op);
    this.#files.removeBefore(op);
    this.#history?.truncateBefore(this.oldestOp);
  }

  /** A file beyond its size with nothing but entries before `op` need not stay, nor be read by a start. */
  #leaveFullFile(op: number): void {
    if (op <= this.#lastOp || this.#inPieces !== null || !this.#tail.isFullFor(0)) return;
    try {
      this.#rotate();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
  }

  /** What of a member's log cannot be read, in order. */
  get damaged(): readonly DamagedRange[] {
    return this.#history?.damaged ?? [];
  }

  /** The digest of a member's log at its end; null if its last entries cannot be read. */
  get digest(): bigint | null {
    return this.#history?.endDigest ?? null;
  }

  /** The last op that the checkpoint has, as far as the log was given to know. */
  get checkpointOp(): number {
    return this.#checkpointOp;
  }

  /** What is at the end of a member's log cannot be read, and has this digest. */
  setUnknownDigest(digest: bigint): void {
    assert(this.digest === null, "the digest is not known");
    this.#member().history.setUnknownEnd(digest);
  }

  /** The digest of a member's log before an op that is kept or comes next; null if that cannot be read. */
  digestBefore(op: number): bigint | null {
    if (op === this.#checkpointOp + 1 && this.#checkpointDigest !== null) return this.#checkpointDigest;
    if (op === this.#lastOp + 1) return this.digest;
    const name = this.nameOf(op);
    if (name !== null) return name.previousDigest;
    const range = this.#member().history.damageAt(op);
    return range?.from === op ? range.before : this.nameOf(op - 1)?.digest ?? null;
  }

  /** Whether the entry is durable where it belongs: not one that is kept until all of a damaged range is here. */
  isDurable(op: number): boolean {
    return op <= this.durableOp && this.#history?.damageAt(op) === undefined;
  }

  /** How an entry of a member's log is named; null if there is none, or if it cannot be read. */
  nameOf(op: number): EntryName | null {
    return this.#member().reader.nameOf(op);
  }

  /** An entry of a member's log, durable or not, whose payload must not change; null if it cannot be read. */
  readEntry(op: number): StoredEntry | null {
    if (this.#error !== null) throw this.#error;
    return this.#member().reader.read(op);
  }

  /**
   * The payload, in its file, of an entry of a member's log that has at least so many bytes; null for a smaller one, or
   * if it cannot be read.
   */
  storedPayload(op: number, least: number): StoredPayload | null {
    if (this.#error !== null) throw this.#error;
    return this.#member().reader.stored(op, least);
  }

  /** What was read of a member's log does not verify: finds out what of the file with this op is damaged. */
  lookForDamage(op: number): void {
    this.#member().reader.lookForDamage(op);
  }

  #member(): { readonly history: LogHistory; readonly reader: LogEntryReader } {
    assert(this.#history !== null && this.#entryReader !== null, "the log is a member's");
    return { history: this.#history, reader: this.#entryReader };
  }

  /**
   * Stores the entry of a damaged op again. Entries of one range may come in any order; they are kept in memory, and
   * readable, until the range is whole, and are durable then. Raises XX001 for an entry that does not fit those
   * around it.
   */
  repair(op: number, payload: Uint8Array, view: number, previousDigest: bigint): void {
    this.#assertUsable();
    const { history, reader } = this.#member();
    const range = history.damageAt(op);
    assert(range !== undefined, `op ${op} is damaged`);
    const entries = history.addRepair(range, namedEntry(op, payload.slice(), view, previousDigest));
    if (entries === null) return;
    reader.forget();
    const file = this.#files.entries.find(({ firstOp }) => firstOp === range.firstOp);
    assert(file !== undefined, "a damaged file is kept");
    let seals: readonly number[];
    try {
      seals = rewriteRange(this.#host.disk, file, range, entries);
    } catch (error) {
      history.forgetRepairs(range.from, range.to);
      throw isDiskFull(error) || isDamage(error) ? error : this.#fail(error);
    }
    this.#countRepair(range, entries, seals.length);
    history.repaired(range, entries, this.#format.headBytes);
    // Not at once: whoever hears of it may be who gave the entry.
    void Promise.resolve().then(() => this.#durable.announce());
  }

  /** Whether the op is the last one, cannot be read, and is known to be of another entry than that with the digest. */
  endsOtherwise(op: number, digest: bigint): boolean {
    if (op !== this.#lastOp) return false;
    const after = this.#history?.damageAt(op)?.after ?? null;
    return after !== null && after !== digest;
  }

  /**
   * Removes the last entry, which cannot be read: its place is not that of another one. What was given for those
   * before it in its damaged range is stored when it was the last one to come.
   */
  forgetEnd(): void {
    const op = this.#lastOp - 1;
    this.truncateAfter(op);
    const before = this.#member().history.repairOf(op);
    if (before !== undefined) this.repair(op, before.payload, before.view, before.previousDigest);
  }

  #countRepair(range: DamagedRange, entries: readonly StoredEntry[], seals: number): void {
    const { headBytes } = this.#format;
    const isCounted = countedBytesOf(range, this.#baseOp) > 0;
    if (isCounted) this.#appendedBytes -= seals * headBytes;
    let position = range.start;
    for (const { op, payload } of entries) {
      if (op === this.#start.op) this.#start.position = position;
      const bytes = headBytes + payload.length;
      if (!isCounted && op > this.#baseOp) this.#appendedBytes += bytes;
      position += bytes;
    }
  }

  get #baseOp(): number {
    return this.#start.op - 1;
  }

  /**
   * Removes the entries after an op, which is not before the checkpoint, durably; whoever waits for one of them gets
   * 40003. Ops up to there that cannot be read stay damaged.
   */
  truncateAfter(op: number): void {
    this.#assertUsable();
    const { history, reader } = this.#member();
    assert(this.#inPieces === null, "no entry is on its way in pieces");
    if (op >= this.#lastOp) return;
    assert(op >= this.#checkpointOp, `op ${op} is before the checkpoint`);
    // Both before anything is changed: reading may find more damage.
    const next = reader.locate(op + 1);
    reader.locate(op);
    const gap = history.damageAt(op);
    const nextGap = history.damageAt(op + 1);
    const digest = next?.record.name?.digest ?? (nextGap?.from === op + 1 ? nextGap.before : null) ??
      (gap?.to === op ? gap.after : null) ?? history.repairOf(op)?.digest ?? null;
    const index = this.#files.indexOf(op + 1);
    this.#commits.truncated();
    this.#sealed = false;
    reader.forget();
    const file = this.#files.entries[index];
    assert(file !== undefined, "an op is in a file");
    const position = gap?.start ?? next?.position ?? nextGap?.start ?? file.format.recordsStart;
    const isDamaged = history.damaged.some(({ firstOp, from }) => firstOp === file.firstOp && from <= op);
    try {
      // Neither a mark nor another file may say that something was durable before it is.
      this.#tail.syncNow();
      if (isDamaged) this.#cutBehindDamage(op, index, { position, digest, gap });
      else {this.#cutAt(op, index, {
          position: file.firstOp > op ? file.format.recordsStart : position,
          digest,
        });}
    } catch (error) {
      throw this.#fail(error);
    }
    for (const { places } of this.#files.entries) places.truncateAfter(op);
    history.truncateAfter(op, digest);
    this.#lastOp = op;
    this.#durable.retreat(op, entryIsGone);
    this.#durable.advance(op);
  }

  /**
   * The log ends with this op at this place of what is now its last file. A seal vouches for it, since what did may
   * be gone.
   */
  #cutAt(op: number, index: number, { position, digest }: { position: number; digest: bigint | null }): void {
    const entry = this.#files.entries[index];
    assert(entry !== undefined, "an op is in a file");
    this.#appendedBytes -= this.#countedFrom(index, position);
    this.#removeFilesAfter(index);
    if (entry.firstOp !== this.#tail.firstOp) {
      const file = this.#host.disk.openFile(entry.path, { create: false, write: true });
      this.#tail.goOnIn({ file, entry, end: position });
    }
    this.#tail.cutAt({ op, end: position, digest });
    entry.seals = entry.seals.filter((seal) => seal < position);
    if (op < entry.firstOp || digest === null) return;
    if (!this.#tail.seal(sealOf(op, { firstOp: entry.firstOp, position, digest }))) return;
    entry.seals = [...entry.seals, position];
    this.#sealed = true;
  }

  /**
   * Cuts a log of whose last file something cannot be read: the next file, which begins behind what stays, proves that
   * it was there.
   */
  #cutBehindDamage(
    op: number,
    index: number,
    { position, digest, gap }: {
      readonly position: number;
      readonly digest: bigint | null;
      /** What the last op is in. */
      readonly gap: DamagedRange | undefined;
    },
  ): void {
    const entry = this.#files.entries[index];
    assert(entry !== undefined, "the damage is in a file");
    this.#appendedBytes -= gap === undefined
      ? this.#countedFrom(index, position)
      : this.#countedFrom(index, gap.end ?? Infinity) + countedBytesOf(gap, this.#baseOp);
    const next = this.#createNext(op + 1, digest);
    this.#removeFilesAfter(index);
    const file = this.#host.disk.openFile(entry.path, { create: false, write: true });
    try {
      file.truncate(position);
      file.syncDataNow();
    } finally {
      file.close();
    }
    entry.bytes = position;
    entry.seals = entry.seals.filter((seal) => seal < position);
    this.#files.add(next.entry);
    this.#tail.goOnIn({ ...next, end: next.entry.format.recordsStart });
    if (gap !== undefined) this.#member().history.shorten(gap, op, digest);
  }

  #removeFilesAfter(index: number): void {
    for (let each = index + 1; each < this.#files.entries.length; each++) {
      this.#appendedBytes -= this.#countedFrom(each, 0);
    }
    this.#files.removeAfter(index);
  }

  /** Bytes of the records from a place of a file on, as far as they are counted. */
  #countedFrom(index: number, position: number): number {
    const entry = this.#files.entries[index];
    if (entry === undefined) return 0;
    const { firstOp, bytes, seals, format } = entry;
    const start = firstOp === this.#start.firstOp ? this.#start.position : format.recordsStart;
    const from = Math.max(position, start);
    const end = firstOp === this.#tail.firstOp ? this.#tail.end : bytes;
    const sealBytes = seals.filter((seal) => seal >= from).length * this.#format.headBytes;
    return Math.max(end - from - sealBytes, 0);
  }

  /** Makes everything durable, seals the log and gives up its file. Raises the error of a failed log. */
  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#commits.flushing;
    this.#inPieces?.abandon();
    await this.#tail.syncingAhead;
    if (this.#closed) return;
    try {
      if (this.#error === null) {
        this.#syncNow();
        this.#seal();
      }
    } finally {
      this.#closed = true;
      this.#entryReader?.forget();
      this.#tail.close();
    }
    if (this.#error !== null) throw this.#error;
  }

  /** Vouches for the last records, behind which nothing else would. A full disk may leave it out. */
  #seal(): void {
    const { firstOp, end: position } = this.#tail;
    if (this.#sealed || this.#lastOp < firstOp) return;
    const digest = this.digest;
    if (digest !== null) this.#tail.seal(sealOf(this.#lastOp, { firstOp, position, digest }));
    else if (this.#history === null) {
      this.#tail.seal(detachedHead(this.#format, this.#headOf(this.#lastOp, 0, 0, 0)));
    }
  }
}

function entryIsGone(op: number): DatabaseError {
  return new DatabaseError(
    SQLSTATE.statementCompletionUnknown,
    `the entry of op ${op} is no longer in the log`,
  );
}

function isDamage(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === SQLSTATE.dataCorrupted;
}

function memberBase({ op, digest }: LogBase): Required<LogBase> {
  assert(op === 0 || digest !== undefined, "a member knows the digest of its checkpoint");
  return { op, digest: digest ?? EMPTY_HISTORY };
}
