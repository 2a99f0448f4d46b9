/** The files of a log: what is known of each, and making and removing them so that what a crash leaves is a log. */
import { type Disk, type DiskFile, isDiskFull, joinPath } from "../host/disk.ts";
import {
  encodeLogHeader,
  firstOpOfName,
  logFileName,
  type LogFormat,
  MEMBER_FORMAT,
  SINGLE_FORMAT,
  UNKNOWN_DIGEST,
} from "./log_file.ts";
import type { LogOptions } from "./log_options.ts";
import type { KnownEnd } from "./log_scan.ts";
import { RecordPlaces } from "./record_places.ts";

/** A file of the log and where it begins. */
export interface LogFileEntry {
  readonly firstOp: number;
  readonly path: string;
  readonly format: LogFormat;
  /** Bytes of a file that has a successor. */
  bytes: number;
  /** Of a member's file: the digest of the log before it, if known. */
  readonly before: bigint | null;
  /** Of a member's file: where some of its records are. */
  readonly places: RecordPlaces;
  /** Of a member's file: where its seals are. */
  seals: readonly number[];
  /** Whether it is known what of a member's file is damaged. */
  isScanned: boolean;
}

/** A file of the log, as nothing is known of it yet. */
export function logFileEntry(
  directory: string,
  firstOp: number,
  format: LogFormat,
  before: bigint | null,
): LogFileEntry {
  const path = joinPath(directory, logFileName(firstOp));
  return { firstOp, path, format, bytes: 0, before, places: new RecordPlaces(), seals: [], isScanned: false };
}

/** The files of a log directory, in order of their ops; those of members are of another format than they say. */
export function listLogFiles(disk: Disk, directory: string): LogFileEntry[] {
  const files: LogFileEntry[] = [];
  for (const name of disk.list(directory)) {
    const firstOp = firstOpOfName(name);
    if (firstOp !== undefined) files.push(logFileEntry(directory, firstOp, SINGLE_FORMAT, null));
  }
  return files.sort((left, right) => left.firstOp - right.firstOp);
}

/** The files of a log that is open. */
export class LogFiles {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #options: LogOptions;
  readonly #entries: LogFileEntry[];
  /** Of files that are made from now on. */
  format: LogFormat;

  constructor(disk: Disk, directory: string, options: LogOptions, entries: readonly LogFileEntry[]) {
    this.#disk = disk;
    this.#directory = directory;
    this.#options = options;
    this.#entries = [...entries];
    this.format = options.member === undefined ? SINGLE_FORMAT : options.member.format ?? MEMBER_FORMAT;
  }

  get entries(): readonly LogFileEntry[] {
    return this.#entries;
  }

  get oldest(): LogFileEntry | undefined {
    return this.#entries[0];
  }

  get last(): LogFileEntry | undefined {
    return this.#entries.at(-1);
  }

  /** The index of the last file that begins at or before the op. */
  indexOf(op: number): number {
    return this.#entries.findLastIndex(({ firstOp }) => firstOp <= op);
  }

  /** What was durable once in a file that has a successor. */
  knownEnd(index: number): KnownEnd | null {
    const next = this.#entries[index + 1];
    return next === undefined ? null : { op: next.firstOp - 1, end: null, digest: next.before };
  }

  /** Makes a file that begins with this op, and with this digest before it; it is not one of the log yet. */
  create(
    firstOp: number,
    digest: bigint | null,
    onError?: (error: unknown) => void,
    format: LogFormat = this.format,
  ): { readonly file: DiskFile; readonly entry: LogFileEntry } {
    const entry = logFileEntry(this.#directory, firstOp, format, digest);
    entry.isScanned = true;
    return { file: createLogFile(this.#disk, this.#directory, entry, this.#options, onError), entry };
  }

  add(entry: LogFileEntry): void {
    this.#entries.push(entry);
  }

  /** Removes the files after one, from the last one back. */
  removeAfter(index: number): void {
    while (this.#entries.length - 1 > index) {
      const last = this.#entries.pop();
      if (last === undefined) return;
      this.#disk.remove(last.path);
      this.#disk.syncDirectory(this.#directory);
    }
  }

  /** Removes files that hold only entries before `op`, but for what a member keeps of them. */
  removeBefore(op: number): void {
    const keepBytes = this.#options.member?.keepBytes ?? 0;
    const isOld = (index: number) => (this.#entries[index + 1]?.firstOp ?? Infinity) <= op;
    let oldBytes = 0;
    for (let index = 0; isOld(index); index++) oldBytes += this.#entries[index]?.bytes ?? 0;
    while (isOld(0) && oldBytes > keepBytes) {
      const [oldest] = this.#entries.splice(0, 1);
      if (oldest === undefined) return;
      oldBytes -= oldest.bytes;
      this.#disk.remove(oldest.path);
    }
  }
}

/** Makes a file with its header and first reserve, durable with its name; leaves nothing behind when that fails. */
function createLogFile(
  disk: Disk,
  directory: string,
  { path, firstOp, format, before }: LogFileEntry,
  options: LogOptions,
  onError?: (error: unknown) => void,
): DiskFile {
  let file: DiskFile | null = null;
  try {
    file = disk.openFile(path, { create: true, write: true });
    file.truncate(0);
    const start = new Uint8Array(
      Math.max(format.recordsStart, Math.min(options.reserveBytes, options.fileBytes)),
    );
    start.set(encodeLogHeader(firstOp, { format, digest: before ?? UNKNOWN_DIGEST }));
    file.writeAt(0, start);
    file.syncDataNow();
    disk.syncDirectory(directory);
    return file;
  } catch (error) {
    file?.close();
    onError?.(error);
    if (isDiskFull(error)) disk.remove(path);
    throw error;
  }
}
