/**
 * The write-ahead log: an append-only sequence of entries, numbered by their op, in files of bounded size.
 *
 * `append` is synchronous and makes the entry part of the log; it becomes durable by a group commit: entries that
 * arrive during one turn of the event loop, or while a sync runs, share the next write and sync. An entry that comes
 * alone is not kept waiting for the end of the turn; now and then one is, to find out whether others come with it.
 * With one client alone the sync blocks, which is quicker than the way through the thread pool; every few commits a
 * sync in the background finds out whether others are waiting.
 *
 * Invariants: ops are consecutive; nothing is reported durable before a sync that began after its write ended well; a
 * failed write or sync poisons the log for good ({@link Log.failed}) and is never tried again. Space is written ahead
 * with zeros, so a full disk raises 53100 from `append` before an entry is accepted, and the log goes on.
 * Limits: `maximumEntryBytes`, `logFileBytes` (a larger entry gets a file of its own), `groupCommitBufferBytes`.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { crc32c } from "../base/checksum.ts";
import { LIMITS } from "../base/limits.ts";
import { type OpNumber, opNumber } from "../operations/effect.ts";
import { type Disk, type DiskFile, joinPath } from "../host/disk.ts";
import type { Host } from "../host/host.ts";
import {
  detachedHead,
  encodeLogHeader,
  LOG_HEADER_BYTES,
  logDamage,
  logFileName,
  LogFileReader,
  RECORD_HEAD_BYTES,
  sealRecord,
} from "./log_file.ts";
import { type LogFileEntry, type RecoveredLog, recoverLog } from "./log_recovery.ts";

/** Sizes that tests and operators change. */
export interface LogOptions {
  readonly fileBytes: number;
  readonly reserveBytes: number;
  readonly bufferBytes: number;
  readonly directWriteBytes: number;
}

/** The sizes of a server. */
export const DEFAULT_LOG_OPTIONS: LogOptions = {
  fileBytes: LIMITS.logFileBytes,
  reserveBytes: LIMITS.logReserveBytes,
  bufferBytes: LIMITS.groupCommitBufferBytes,
  directWriteBytes: LIMITS.directWriteBytes,
};

/** While syncs take longer than this, none blocks the thread. */
const BLOCKING_SYNC_MICROSECONDS = 1000;
/**
 * What a blocking sync took counts with this share in what is expected of the next: one that was slow for once
 * changes little.
 */
const SYNC_TIME_WEIGHT = 1 / 8;
/** With each sync in the background less is expected of a blocking one, so that one is tried in the end. */
const SYNC_TIME_DECAY = 0.98;
/** After a blocking sync was found to hold others up, this many syncs run in the background. */
const BACKGROUND_SYNCS = 64;
/** Every so many blocking syncs, one in the background looks for others. */
const PROBE_INTERVAL = 32;
/** Of so many flushes, one waits for the end of the turn; it is an odd number, for entries often come in pairs. */
const GATHERING_INTERVAL = 7;
/** When it finds several entries, so many wait. */
const GATHERING_FLUSHES = 64;
/** More than this is always synced in the background: writing it out takes the disk long. */
const BLOCKING_SYNC_BYTES = 256 * 1024;

interface Waiter {
  readonly op: number;
  readonly resolve: () => void;
  readonly reject: (error: DatabaseError) => void;
}

/** An entry read back. */
export interface LoggedEntry {
  readonly op: OpNumber;
  /** Good until the next entry is read. */
  readonly payload: Uint8Array;
}

/** An entry on its way into the log, piece by piece; nothing else is appended until it is finished or given up. */
export interface EntryInPieces {
  /** Bytes so far. */
  readonly bytes: number;
  /** CRC-32C of the bytes so far. */
  readonly checksum: number;
  /**
   * Writes a piece; it is in the file when this returns. Raises 53100 or 54000, with the log as it was before the
   * entry.
   */
  write(piece: Uint8Array): void;
  /** Makes the entry part of the log. */
  finish(): void;
  /** Takes back what was written. */
  abandon(): void;
}

/** The log. */
export class Log {
  readonly #host: Pick<Host, "clock" | "disk" | "timers">;
  readonly #directory: string;
  readonly #options: LogOptions;
  readonly #files: LogFileEntry[];
  #file: DiskFile;
  /**
   * Another handle of the file, for syncs that do not wait for the one under way in the background: the system
   * reports a failed sync to each handle once, and that one may get the report.
   */
  #secondDescriptor: DiskFile;
  #firstOp: number;
  /** Offset where the next record goes. */
  #end: number;
  /** Offset up to which records were handed to the file; the buffer holds the rest. */
  #written: number;
  /** The file has this many bytes on the disk. */
  #reserved: number;
  #sealed: boolean;
  #buffer: Uint8Array;
  #view: DataView;
  #lastOp: number;
  #durableOp: number;
  #appendedBytes: number;
  #scheduled = false;
  #flushing: Promise<void> | null = null;
  #closed = false;
  #error: DatabaseError | null = null;
  #waiters: Waiter[] = [];
  readonly #listeners = new Set<(durableOp: OpNumber) => void>();
  #announceFailure: (error: DatabaseError) => void;
  #inPieces: EntryInPieces | null = null;
  /** Bytes of records that no sync has begun for. */
  #unsyncedBytes = 0;
  #backgroundSyncs = 0;
  #blockingSyncs = 0;
  /** How long a blocking sync is expected to take, in microseconds. */
  #syncTime = 0;
  /** So many of the next flushes wait for the end of the turn. */
  #gatheringFlushes = 0;
  #flushesSinceGathering = 0;
  /** How often the log was made durable since the start. */
  syncs = 0;
  /** Bytes that recovery cut from the tail; for the operator's information. */
  readonly cutBytes: number;
  /** Where in which file the first record is that was beyond the checkpoint at opening. */
  readonly #start: { readonly firstOp: number; readonly op: number; readonly position: number };
  /** Resolves with the reason when the log can no longer be written; the owner must stop. */
  readonly failed: Promise<DatabaseError>;

  private constructor(
    host: Pick<Host, "clock" | "disk" | "timers">,
    directory: string,
    options: LogOptions,
    found: {
      readonly files: LogFileEntry[];
      readonly file: DiskFile;
      readonly end: number;
      readonly sealed: boolean;
      readonly lastOp: number;
      readonly countedBytes: number;
      readonly start: RecoveredLog["start"];
      readonly cutBytes: number;
    },
  ) {
    this.#host = host;
    this.#directory = directory;
    this.#options = options;
    this.#files = found.files;
    this.#file = found.file;
    const last = found.files.at(-1);
    assert(last !== undefined, "a log has a file");
    this.#secondDescriptor = secondDescriptorOf(host.disk, last.path);
    this.#firstOp = last.firstOp;
    this.#end = this.#written = found.end;
    this.#reserved = Math.max(found.file.size, found.end);
    this.#sealed = found.sealed;
    this.#lastOp = this.#durableOp = found.lastOp;
    this.#appendedBytes = found.countedBytes;
    this.cutBytes = found.cutBytes;
    this.#start = { ...found.start, firstOp: found.files[0]?.firstOp ?? last.firstOp };
    this.#buffer = new Uint8Array(options.bufferBytes);
    this.#view = new DataView(this.#buffer.buffer);
    const { promise, resolve } = Promise.withResolvers<DatabaseError>();
    this.failed = promise;
    this.#announceFailure = resolve;
  }

  /** Opens or creates the log of a directory whose checkpoint, if any, holds everything up to `baseOp`. */
  static open(
    host: Pick<Host, "clock" | "disk" | "timers">,
    directory: string,
    baseOp: number,
    options: LogOptions = DEFAULT_LOG_OPTIONS,
  ): Log {
    host.disk.createDirectory(directory);
    const { open, ...found } = recoverLog(host.disk, directory, baseOp);
    if (open !== null) return new Log(host, directory, options, { ...found, ...open });
    const firstOp = found.lastOp + 1;
    const { file, entry } = createLogFile(host.disk, directory, firstOp, options);
    return new Log(host, directory, options, {
      ...found,
      files: [entry],
      file,
      end: LOG_HEADER_BYTES,
      sealed: false,
    });
  }

  /** Op of the newest entry, durable or not; 0 when there never was one. */
  get lastOp(): OpNumber {
    return opNumber(this.#lastOp);
  }

  /** Everything up to this op has been synced. */
  get durableOp(): OpNumber {
    return opNumber(this.#durableOp);
  }

  /** Bytes of all records beyond the base op given to `open`; a function of the entries alone. */
  get appendedBytes(): number {
    return this.#appendedBytes;
  }

  /** Why the log failed, or null while it works. */
  get error(): DatabaseError | null {
    return this.#error;
  }

  /** Op of the oldest entry that is still kept. */
  get oldestOp(): number {
    return this.#files[0]?.firstOp ?? this.#lastOp + 1;
  }

  /**
   * Adds the entry with this op, which must follow the last one, and answers the payload's CRC-32C. The bytes are
   * copied or written before it returns. Raises 53100, with the log unchanged and usable, when the disk is full;
   * 58030 when the log has failed.
   */
  append(op: number, payload: Uint8Array): number {
    this.#assertUsable();
    assert(op === this.#lastOp + 1, `op ${op} appended after ${this.#lastOp}`);
    assert(payload.length > 0, "an entry has a payload");
    assert(this.#inPieces === null, "no entry is on its way in pieces");
    if (payload.length > LIMITS.maximumEntryBytes) throw entryTooLarge();
    const recordBytes = RECORD_HEAD_BYTES + payload.length;
    if (this.#end + recordBytes > this.#options.fileBytes && this.#end > LOG_HEADER_BYTES) this.#rotate();
    const checksum = crc32c(payload);
    if (payload.length >= this.#options.directWriteBytes) this.#writeDirectly(op, payload, checksum);
    else this.#collect(op, payload, checksum);
    this.#accept(op, recordBytes);
    return checksum;
  }

  #accept(op: number, recordBytes: number): void {
    this.#end += recordBytes;
    this.#appendedBytes += recordBytes;
    this.#unsyncedBytes += recordBytes;
    this.#lastOp = op;
    this.#sealed = false;
    this.#schedule();
  }

  /**
   * Begins the entry with this op, which must follow the last one and comes in pieces; `estimatedBytes` tells whether
   * a new file is begun for it. Until it is finished recovery finds no record where it is: its head is written
   * last.
   */
  appendInPieces(op: number, estimatedBytes: number): EntryInPieces {
    this.#assertUsable();
    assert(op === this.#lastOp + 1, `op ${op} appended after ${this.#lastOp}`);
    assert(this.#inPieces === null, "no entry is on its way in pieces");
    if (this.#end + estimatedBytes > this.#options.fileBytes && this.#end > LOG_HEADER_BYTES) this.#rotate();
    this.#writeOut();
    const position = this.#end;
    const durableOp = this.#durableOp;
    let at = position + RECORD_HEAD_BYTES;
    let checksum = 0;
    const write = (place: number, bytes: Uint8Array): void => {
      this.#assertUsable();
      try {
        this.#file.writeAt(place, bytes);
      } catch (error) {
        this.#inPieces = null;
        if (!isDiskFull(error)) throw this.#fail(error);
        this.#forgetBehind(position);
        throw error;
      }
    };
    const entry: EntryInPieces = this.#inPieces = {
      get bytes() {
        return at - position - RECORD_HEAD_BYTES;
      },
      get checksum() {
        return checksum;
      },
      write: (piece) => {
        assert(this.#inPieces === entry, "the entry is on its way");
        if (at - position - RECORD_HEAD_BYTES + piece.length > LIMITS.maximumEntryBytes) {
          entry.abandon();
          throw entryTooLarge();
        }
        checksum = crc32c(piece, 0, piece.length, checksum);
        write(at, piece);
        at += piece.length;
      },
      finish: () => {
        assert(this.#inPieces === entry && at > position + RECORD_HEAD_BYTES, "an entry has a payload");
        const bytes = at - position - RECORD_HEAD_BYTES;
        const record = { op, durableOp, firstOp: this.#firstOp, position };
        write(position, detachedHead({ bytes, checksum }, record));
        this.#inPieces = null;
        this.#accept(op, RECORD_HEAD_BYTES + bytes);
        this.#written = this.#end;
        if (this.#written > this.#reserved) this.#reserved = this.#written;
      },
      abandon: () => {
        if (this.#inPieces !== entry) return;
        this.#inPieces = null;
        if (this.#error === null) this.#forgetBehind(position);
      },
    };
    return entry;
  }

  #schedule(): void {
    if (this.#scheduled || this.#flushing !== null) return;
    this.#scheduled = true;
    const turn = this.#isGathering() ? this.#host.timers.endOfTurn() : Promise.resolve();
    void turn.then(() => this.#startFlush());
  }

  /** Whether the next flush waits for what else comes in this turn of the event loop. */
  #isGathering(): boolean {
    if (this.#gatheringFlushes > 0) return true;
    if (++this.#flushesSinceGathering < GATHERING_INTERVAL) return false;
    this.#flushesSinceGathering = 0;
    return true;
  }

  #assertUsable(): void {
    assert(!this.#closed, "the log is closed");
    if (this.#error !== null) throw this.#error;
  }

  #collect(op: number, payload: Uint8Array, checksum: number): void {
    const recordBytes = RECORD_HEAD_BYTES + payload.length;
    this.#reserve(this.#end + recordBytes);
    if (this.#end - this.#written + recordBytes > this.#buffer.length) this.#writeOut();
    const at = this.#end - this.#written;
    if (recordBytes > this.#buffer.length) {
      this.#buffer = new Uint8Array(recordBytes);
      this.#view = new DataView(this.#buffer.buffer);
    }
    this.#buffer.set(payload, at + RECORD_HEAD_BYTES);
    sealRecord(this.#buffer, this.#view, at, {
      op,
      durableOp: this.#durableOp,
      payloadBytes: payload.length,
      checksum,
      firstOp: this.#firstOp,
      position: this.#end,
    });
  }

  /** Large entries go to the file without a copy; writing them is what finds out whether there is space. */
  #writeDirectly(op: number, payload: Uint8Array, checksum: number): void {
    this.#writeOut();
    const position = this.#end;
    const record = { op, durableOp: this.#durableOp, firstOp: this.#firstOp, position };
    const head = detachedHead({ bytes: payload.length, checksum }, record);
    try {
      this.#file.writeAt(position, head);
      this.#file.writeAt(position + RECORD_HEAD_BYTES, payload);
    } catch (error) {
      if (!isDiskFull(error)) throw this.#fail(error);
      this.#forgetBehind(position);
      throw error;
    }
    this.#written = position + RECORD_HEAD_BYTES + payload.length;
    if (this.#written > this.#reserved) this.#reserved = this.#written;
  }

  /** Takes back what a refused entry has written. */
  #forgetBehind(position: number): void {
    try {
      this.#file.truncate(position);
      this.#reserved = position;
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #reserve(end: number): void {
    if (end <= this.#reserved) return;
    const size = Math.min(
      Math.max(end, this.#reserved + this.#options.reserveBytes),
      this.#options.fileBytes,
    );
    try {
      const from = this.#reserved;
      this.#file.writeAt(from, new Uint8Array(Math.max(size, end) - from));
      this.#reserved = Math.max(size, end);
    } catch (error) {
      throw isDiskFull(error) ? error : this.#fail(error);
    }
  }

  #writeOut(): void {
    const count = this.#end - this.#written;
    if (count === 0) return;
    try {
      this.#file.writeAt(this.#written, this.#buffer.subarray(0, count));
    } catch (error) {
      throw this.#fail(error);
    }
    this.#written = this.#end;
  }

  /** Begins a new file. That it exists proves to recovery that the old one is complete. */
  #rotate(): void {
    this.#syncNow();
    const firstOp = this.#lastOp + 1;
    const { file, entry } = createLogFile(
      this.#host.disk,
      this.#directory,
      firstOp,
      this.#options,
      (error) => {
        if (!isDiskFull(error)) this.#fail(error);
      },
    );
    this.#file.close();
    this.#secondDescriptor.close();
    this.#file = file;
    try {
      this.#secondDescriptor = secondDescriptorOf(this.#host.disk, entry.path);
    } catch (error) {
      throw this.#fail(error);
    }
    this.#files.push(entry);
    this.#firstOp = firstOp;
    this.#end = this.#written = LOG_HEADER_BYTES;
    this.#reserved = file.size;
  }

  #syncNow(): void {
    this.#writeOut();
    try {
      this.#secondDescriptor.syncDataNow();
    } catch (error) {
      throw this.#fail(error);
    }
    this.#reportDurable(this.#lastOp);
  }

  #startFlush(): void {
    this.#scheduled = false;
    if (this.#flushing !== null || this.#closed || this.#error !== null) return;
    if (this.#durableOp === this.#lastOp) return;
    this.#flushing = this.#flush().then(() => {
      this.#flushing = null;
      // Whoever waited for the last sync may have appended before this ran.
      if (this.#durableOp < this.#lastOp && this.#error === null && !this.#closed) this.#schedule();
    });
  }

  async #flush(): Promise<void> {
    while (this.#durableOp < this.#lastOp && this.#error === null && !this.#closed) {
      try {
        this.#writeOut();
        const target = this.#lastOp;
        const entries = target - this.#durableOp;
        if (entries > 1) this.#gatheringFlushes = GATHERING_FLUSHES;
        else if (this.#gatheringFlushes > 0) this.#gatheringFlushes--;
        if (this.#mayBlock(entries)) this.#syncBlocking();
        else await this.#syncInBackground(target);
        // A rotation may have made more durable meanwhile, or the log may have failed.
        if (this.#error === null) this.#reportDurable(target);
      } catch (error) {
        this.#fail(error);
      }
    }
  }

  #mayBlock(entries: number): boolean {
    return this.#unsyncedBytes <= BLOCKING_SYNC_BYTES && this.#syncTime < BLOCKING_SYNC_MICROSECONDS &&
      entries === 1 && this.#backgroundSyncs === 0 && this.#blockingSyncs < PROBE_INTERVAL;
  }

  #syncBlocking(): void {
    this.syncs++;
    this.#blockingSyncs++;
    this.#unsyncedBytes = 0;
    const start = this.#host.clock.monotonic();
    this.#file.syncDataNow();
    this.#syncTime += (this.#host.clock.monotonic() - start - this.#syncTime) * SYNC_TIME_WEIGHT;
  }

  async #syncInBackground(target: number): Promise<void> {
    const entries = target - this.#durableOp;
    this.syncs++;
    this.#blockingSyncs = 0;
    this.#syncTime *= SYNC_TIME_DECAY;
    if (this.#backgroundSyncs > 0) this.#backgroundSyncs--;
    this.#unsyncedBytes = 0;
    await this.#file.syncData();
    if (entries > 1 || this.#lastOp > target) this.#backgroundSyncs = BACKGROUND_SYNCS;
  }

  #reportDurable(op: number): void {
    if (op <= this.#durableOp) return;
    this.#durableOp = op;
    const waiters = this.#waiters;
    if (waiters.length > 0) {
      this.#waiters = [];
      for (const waiter of waiters) {
        if (waiter.op <= op) waiter.resolve();
        else this.#waiters.push(waiter);
      }
    }
    for (const listener of this.#listeners) listener(opNumber(op));
  }

  #fail(cause: unknown): DatabaseError {
    if (this.#error !== null) return this.#error;
    // A full disk is said of entries that were refused; here it is unknown what is on the disk.
    const error = cause instanceof DatabaseError && !isDiskFull(cause)
      ? cause
      : new DatabaseError(SQLSTATE.ioError, `could not write the log: ${String(cause)}`, { cause });
    this.#error = error;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(error);
    this.#announceFailure(error);
    return error;
  }

  /** Makes everything durable before it returns, blocking the thread. */
  syncNow(): void {
    this.#assertUsable();
    if (this.#durableOp < this.#lastOp) this.#syncNow();
  }

  /** Stops the log for good because its owner cannot go on, for example when a checkpoint cannot be written. */
  stop(reason: unknown): void {
    this.#fail(reason);
  }

  /** Resolves once the entry is durable; rejects when the log fails first, and then it is unknown whether it is. */
  whenDurable(op: number): Promise<void> {
    if (op <= this.#durableOp) return Promise.resolve();
    if (this.#error !== null) return Promise.reject(this.#error);
    return new Promise((resolve, reject) => this.#waiters.push({ op, resolve, reject }));
  }

  /** Calls the listener after each advance of {@link durableOp}, until the returned function is called. */
  onDurable(listener: (durableOp: OpNumber) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * The kept entries after an op, in order. The log may grow meanwhile; files must not be dropped. Raises the error
   * of a failed log: it is unknown which of its last entries are in the file.
   */
  *entries(after: number): Generator<LoggedEntry> {
    if (this.#error !== null) throw this.#error;
    if (!this.#closed) this.#writeOut();
    const files = this.#files.slice();
    for (const [index, { firstOp, path }] of files.entries()) {
      const next = files[index + 1];
      if (next !== undefined && next.firstOp <= after + 1) continue;
      const file = this.#host.disk.openFile(path, { create: false, write: false });
      try {
        const reader = new LogFileReader(file, firstOp);
        const lastOp = next === undefined ? this.#lastOp : next.firstOp - 1;
        const skips = firstOp === this.#start.firstOp && after + 1 >= this.#start.op &&
          this.#start.op > firstOp;
        let position = skips ? this.#start.position : LOG_HEADER_BYTES;
        let op = skips ? this.#start.op : firstOp;
        while (op <= lastOp) {
          const record = reader.recordAt(position);
          const isSeal = record !== undefined && record.payload.length === 0;
          if (record === undefined || record.op !== (isSeal ? op - 1 : op)) {
            throw reader.damage(position, `the record of op ${op} does not verify`);
          }
          position = record.end;
          if (isSeal) continue;
          if (op > after) yield { op: opNumber(op), payload: record.payload };
          op++;
        }
      } finally {
        file.close();
      }
    }
  }

  /** Reads everything that is kept and raises `dataCorrupted` for the first damage. */
  verify(): void {
    let expected = this.oldestOp;
    for (const { op } of this.entries(0)) {
      if (op !== expected) throw logDamage(this.#directory, 0, `op ${op} follows op ${expected - 1}`);
      expected++;
    }
  }

  /** Drops the files that hold only entries before `op`. */
  truncateBefore(op: number): void {
    for (;;) {
      const [oldest, next] = this.#files;
      if (oldest === undefined || next === undefined || next.firstOp > op) return;
      this.#host.disk.remove(oldest.path);
      this.#files.shift();
    }
  }

  /** Makes everything durable, seals the log and gives up its file. Raises the error of a failed log. */
  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#flushing;
    if (this.#closed) return;
    this.#inPieces?.abandon();
    try {
      if (this.#error === null) {
        this.#syncNow();
        this.#seal();
      }
    } finally {
      this.#closed = true;
      this.#file.close();
      this.#secondDescriptor.close();
    }
    if (this.#error !== null) throw this.#error;
  }

  /** Vouches for the last records, behind which nothing else would. A full disk may leave it out. */
  #seal(): void {
    if (this.#sealed || this.#lastOp < this.#firstOp) return;
    const head = detachedHead({ bytes: 0, checksum: 0 }, {
      op: this.#lastOp,
      durableOp: this.#lastOp,
      firstOp: this.#firstOp,
      position: this.#end,
    });
    try {
      this.#file.writeAt(this.#end, head);
      this.#file.syncDataNow();
    } catch (error) {
      if (!isDiskFull(error)) throw this.#fail(error);
    }
  }
}

function entryTooLarge(): DatabaseError {
  return new DatabaseError(SQLSTATE.programLimitExceeded, "transaction is too large for one log entry", {
    hint: `A transaction may write at most ${LIMITS.maximumEntryBytes} bytes; split it.`,
  });
}

function isDiskFull(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === SQLSTATE.diskFull;
}

function secondDescriptorOf(disk: Disk, path: string): DiskFile {
  return disk.openFile(path, { create: false, write: true });
}

/** Makes a file with its header and first reserve, durable with its name; leaves nothing behind when that fails. */
function createLogFile(
  disk: Disk,
  directory: string,
  firstOp: number,
  options: LogOptions,
  onError?: (error: unknown) => void,
): { readonly file: DiskFile; readonly entry: LogFileEntry } {
  const path = joinPath(directory, logFileName(firstOp));
  let file: DiskFile | null = null;
  try {
    file = disk.openFile(path, { create: true, write: true });
    file.truncate(0);
    const start = new Uint8Array(
      Math.max(LOG_HEADER_BYTES, Math.min(options.reserveBytes, options.fileBytes)),
    );
    start.set(encodeLogHeader(firstOp));
    file.writeAt(0, start);
    file.syncDataNow();
    disk.syncDirectory(directory);
    return { file, entry: { firstOp, path } };
  } catch (error) {
    file?.close();
    onError?.(error);
    if (isDiskFull(error)) disk.remove(path);
    throw error;
  }
}
