/**
 * The last file of a log: records are written behind each other, small ones through a buffer, with zeros written
 * ahead.
 *
 * Errors other than a full disk go through `fail`, which makes the log unusable.
 */
import type { DatabaseError } from "../base/errors.ts";
import { type Disk, type DiskFile, isDiskFull } from "../host/disk.ts";
import { detachedHead, type LogFormat, type RecordHead, sealRecord } from "./log_file.ts";
import type { LogFileEntry } from "./log_files.ts";
import { type LogMark, LogMarks } from "./log_marks.ts";
import type { LogOptions } from "./log_options.ts";

/** Where in which open file the next record goes. */
export interface OpenTail {
  readonly file: DiskFile;
  readonly entry: LogFileEntry;
  readonly end: number;
}

/** Of a record that is written in pieces so many bytes are made durable ahead, so that little is left at its end. */
const SYNCED_AHEAD_BYTES = 16 * 1024 * 1024;

/** The last file of a log. */
export class LogTail {
  readonly #disk: Disk;
  readonly #options: LogOptions;
  #format: LogFormat;
  #marks: LogMarks;
  readonly #fail: (cause: unknown) => DatabaseError;
  #file: DiskFile;
  /**
   * Another handle of the file, for syncs that do not wait for the one under way in the background: the system
   * reports a failed sync to each handle once, and that one may get the report.
   */
  #secondDescriptor: DiskFile;
  #firstOp: number;
  #end: number;
  /** Offset up to which records were handed to the file; the buffer begins with the rest. */
  #written: number;
  /** The file has this many bytes on the disk. */
  #reserved: number;
  /** The sync of a record's first pieces. */
  #syncingAhead: Promise<void> | null = null;
  #unsyncedBytes = 0;
  #buffer: Uint8Array;
  #bufferView: DataView;

  constructor(
    disk: Disk,
    { file, entry, end }: OpenTail,
    options: LogOptions,
    fail: (cause: unknown) => DatabaseError,
  ) {
    this.#disk = disk;
    this.#options = options;
    this.#format = entry.format;
    this.#marks = new LogMarks(file, entry.firstOp, entry.format);
    this.#fail = fail;
    this.#file = file;
    this.#secondDescriptor = disk.openFile(entry.path, { create: false, write: true });
    this.#firstOp = entry.firstOp;
    this.#end = this.#written = end;
    this.#reserved = Math.max(file.size, end);
    this.#buffer = new Uint8Array(options.bufferBytes);
    this.#bufferView = new DataView(this.#buffer.buffer);
  }

  get firstOp(): number {
    return this.#firstOp;
  }

  /** Offset where the next record goes. */
  get end(): number {
    return this.#end;
  }

  /** Whether so many bytes more are for another file. */
  isFullFor(bytes: number): boolean {
    return this.#end + bytes > this.#options.fileBytes && this.#end > this.#format.recordsStart;
  }

  /** Whether the file has records, and is of an older format. */
  isOlderThan(format: LogFormat): boolean {
    return this.#format.version < format.version && this.#end > this.#format.recordsStart;
  }

  /** Whether the file has no record yet. */
  get isEmpty(): boolean {
    return this.#end === this.#format.recordsStart;
  }

  /** Begins the file, which has no record yet, with another header, durably. */
  begin(header: Uint8Array): void {
    try {
      this.#file.writeAt(0, header);
      this.#file.syncDataNow();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** The next record goes to this place of a file that is the last one from now on. */
  goOnIn({ file, entry, end }: OpenTail): void {
    this.#file.close();
    this.#secondDescriptor.close();
    this.#file = file;
    try {
      this.#secondDescriptor = this.#disk.openFile(entry.path, { create: false, write: true });
    } catch (error) {
      throw this.#fail(error);
    }
    this.#firstOp = entry.firstOp;
    this.#format = entry.format;
    this.#marks = new LogMarks(file, entry.firstOp, entry.format);
    this.#end = this.#written = end;
    this.#reserved = file.size;
  }

  /** Everything up to there is durable; the next sync makes durable that this is known. */
  mark(mark: LogMark): void {
    try {
      this.#marks.write(mark);
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Writes a record. Raises 53100, with the file as it was, when the disk is full. */
  append(payload: Uint8Array, head: RecordHead): void {
    if (payload.length >= this.#options.directWriteBytes) this.#writeDirectly(payload, head);
    else this.#collect(payload, head);
    this.#end += this.#format.headBytes + payload.length;
  }

  #collect(payload: Uint8Array, head: RecordHead): void {
    const { headBytes } = this.#format;
    const recordBytes = headBytes + payload.length;
    this.#reserve(this.#end + recordBytes);
    if (this.#end - this.#written + recordBytes > this.#buffer.length) this.writeOut();
    const at = this.#end - this.#written;
    if (recordBytes > this.#buffer.length) {
      this.#buffer = new Uint8Array(recordBytes);
      this.#bufferView = new DataView(this.#buffer.buffer);
    }
    this.#buffer.set(payload, at + headBytes);
    sealRecord(this.#buffer, this.#bufferView, at, this.#format, head);
  }

  /** Large entries go to the file without a copy; writing them is what finds out whether there is space. */
  #writeDirectly(payload: Uint8Array, record: RecordHead): void {
    this.writeOut();
    const { position } = record;
    const head = detachedHead(this.#format, record);
    this.write(position, head);
    this.write(position + head.length, payload);
    this.#handed(position + head.length + payload.length);
  }

  /** Writes a piece of the record at the end. Raises 53100, with the file as it was before the record. */
  write(position: number, bytes: Uint8Array): void {
    try {
      this.#file.writeAt(position, bytes);
    } catch (error) {
      if (!isDiskFull(error)) throw this.#fail(error);
      this.takeBack();
      throw error;
    }
  }

  /** Writes a piece of the record at the end, and makes what there is durable now and then. */
  writePiece(position: number, bytes: Uint8Array): void {
    this.write(position, bytes);
    this.#unsyncedBytes += bytes.length;
    if (this.#unsyncedBytes < SYNCED_AHEAD_BYTES || this.#syncingAhead !== null) return;
    this.#unsyncedBytes = 0;
    this.#syncingAhead = this.#file.syncData()
      .catch((error) => void this.#fail(error))
      .finally(() => this.#syncingAhead = null);
  }

  /** What is made durable ahead; null: nothing. A sync that fails may report that to this one alone. */
  get syncingAhead(): Promise<void> | null {
    return this.#syncingAhead;
  }

  /** The record at the end was written in pieces, up to here. */
  finish(end: number): void {
    this.#handed(end);
    this.#end = end;
  }

  /** The file has all bytes up to here. */
  #handed(end: number): void {
    this.#written = end;
    if (end > this.#reserved) this.#reserved = end;
  }

  /** Takes back what was written of a record that is given up. */
  takeBack(): void {
    try {
      this.#file.truncate(this.#end);
      this.#reserved = this.#end;
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

  /** Hands everything to the file. */
  writeOut(): void {
    const count = this.#end - this.#written;
    if (count === 0) return;
    try {
      this.#file.writeAt(this.#written, this.#buffer.subarray(0, count));
    } catch (error) {
      throw this.#fail(error);
    }
    this.#written = this.#end;
  }

  /** Syncs in the background. */
  sync(): Promise<void> {
    const ahead = this.#syncingAhead;
    return ahead === null ? this.#file.syncData() : ahead.then(() => this.#file.syncData());
  }

  /** Syncs in its turn, blocking the thread. */
  syncBlocking(): void {
    this.#file.syncDataNow();
  }

  /** Hands everything to the file and syncs it, whatever sync is under way. */
  syncNow(): void {
    this.writeOut();
    try {
      this.#secondDescriptor.syncDataNow();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Cuts the file, durably: the next record goes where the mark says. */
  cutAt(mark: LogMark): void {
    const position = mark.end;
    // First, and durably: no mark may vouch for what is removed.
    this.#marks.reset(mark);
    this.#secondDescriptor.syncDataNow();
    this.#file.truncate(position);
    this.#end = this.#written = this.#reserved = position;
    this.#secondDescriptor.syncDataNow();
  }

  /** Writes a seal, durably; false if the disk is full. */
  seal(head: Uint8Array): boolean {
    const end = this.#end + head.length;
    try {
      this.#file.writeAt(this.#end, head);
      this.#file.syncDataNow();
    } catch (error) {
      if (!isDiskFull(error)) throw this.#fail(error);
      this.takeBack();
      return false;
    }
    this.finish(end);
    return true;
  }

  close(): void {
    this.#file.close();
    this.#secondDescriptor.close();
  }
}
