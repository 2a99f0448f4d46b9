/**
 * Finds out what a log directory holds after a stop, clean or not.
 *
 * A torn tail (the last file ends in bytes that are no whole record) is cut when no whole record behind it vouches
 * that they had become durable: those writes were never acknowledged. Everything else that does not fit is damage.
 * For a server that is alone it raises `dataCorrupted` with file and byte offset; nothing is repaired by guessing.
 * A member of a replication group goes on with a list of it, for other members have what is missing.
 *
 * Alone, files wholly at or before the checkpoint are neither read nor needed, nor are the payloads of the records
 * before it in the first file. A member keeps some of those files for others. A last file without records is the
 * rest of an interrupted rotation.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { type Disk, type DiskFile, joinPath } from "../host/disk.ts";
import { HistoryDigest } from "../operations/history_digest.ts";
import {
  detachedHead,
  encodeLogHeader,
  logDamage,
  logFileName,
  type LogFormat,
  MEMBER_FORMAT,
  PARTED_FORMAT,
  readLogHeader,
  SINGLE_FORMAT,
  UNKNOWN_DIGEST,
  UNMARKED_FORMAT,
} from "./log_file.ts";
import { LogFileReader } from "./log_file_reader.ts";
import { listLogFiles, type LogFileEntry, logFileEntry } from "./log_files.ts";
import type { LogHistory } from "./log_history.ts";
import { type LogMark, LogMarks } from "./log_marks.ts";
import {
  type DamagedRange,
  type KnownEnd,
  type MemberFileScan,
  type NamedRecord,
  scanMemberFile,
} from "./log_scan.ts";

/** What is written again in one piece. */
const REWRITTEN_BYTES = 1 << 20;

/** Where the log goes on from a checkpoint. */
export interface LogBase {
  /** The checkpoint holds everything up to here. */
  readonly op: number;
  /** The digest of the history up to there; only a member's log needs it. */
  readonly digest?: bigint;
}

/** What was found; the last file, when there is one, is open for writing. */
export interface RecoveredLog {
  /** Files that are kept, in order. */
  readonly files: LogFileEntry[];
  readonly lastOp: number;
  /** The last of `files`, or null when another must be made. */
  readonly open: { readonly file: DiskFile; readonly end: number; readonly sealed: boolean } | null;
  /** Bytes of the records beyond the base. */
  readonly countedBytes: number;
  /** Where the first record beyond the base is, or would be, and the first op of that file. */
  readonly start: { readonly firstOp: number; readonly op: number; readonly position: number };
  /** Bytes that were cut from the tail. */
  readonly cutBytes: number;
}

/** Recovers the log of a server that is alone, of which everything up to `baseOp` is in a checkpoint. */
export function recoverLog(disk: Disk, directory: string, baseOp: number): RecoveredLog {
  const all = listLogFiles(disk, directory);
  removeOtherKind(disk, all, baseOp, SINGLE_FORMAT);
  removeUnfinished(disk, directory, all, baseOp);
  // The last file that begins at or before the first op needed; older ones are left over.
  const first = all.findLastIndex((each) => each.firstOp <= baseOp + 1);
  if (all.length > 0 && first < 0) {
    throw logDamage(joinPath(directory, logFileName(baseOp + 1)), 0, "the file is missing");
  }
  for (const old of all.slice(0, Math.max(first, 0))) disk.remove(old.path);
  const files = all.slice(Math.max(first, 0));
  let lastOp = baseOp;
  let countedBytes = 0;
  const start = {
    firstOp: files[0]?.firstOp ?? baseOp + 1,
    op: baseOp + 1,
    position: SINGLE_FORMAT.recordsStart,
  };
  for (const [index, entry] of files.entries()) {
    const { firstOp, path } = entry;
    const isLast = index === files.length - 1;
    const file = disk.openFile(path, { create: false, write: isLast });
    const reader = new LogFileReader(file, firstOp, SINGLE_FORMAT);
    if (readLogHeader(file, firstOp)?.format.isMember !== false) {
      throw reader.damage(0, "the header does not verify");
    }
    const scan = reader.scan(baseOp);
    countedBytes += scan.countedBytes;
    if (index === 0) start.position = scan.countedFrom;
    lastOp = scan.lastOp;
    const next = files[index + 1];
    if (next !== undefined) {
      if (next.firstOp !== lastOp + 1 || !reader.isZeroFrom(scan.end)) {
        throw reader.damage(scan.end, `the record of op ${lastOp + 1} does not verify`);
      }
      entry.bytes = scan.end;
      file.close();
      continue;
    }
    if (reader.isVouchedBehind(scan.end, lastOp + 1)) {
      throw reader.damage(scan.end, `the record of op ${lastOp + 1} does not verify`);
    }
    const cutBytes = cutTail(reader, scan.end);
    if (lastOp < baseOp) {
      // A checkpoint is taken only of what is durable, so its ops cannot be a torn tail.
      throw reader.damage(scan.end, `the log ends at op ${lastOp}, before the checkpoint at op ${baseOp}`);
    }
    makeDurable(reader, reader.endOfDurable(scan), scan.end);
    const open = { file, end: scan.end, sealed: scan.sealed };
    return { files, lastOp, open, countedBytes, start, cutBytes };
  }
  return { files, lastOp, open: null, countedBytes, start, cutBytes: 0 };
}

/**
 * Recovers a member's log behind a checkpoint, into its history: names and places of entries, and what is damaged.
 * Raises XX001 if the log does not continue the checkpoint.
 */
export function recoverMemberLog(
  disk: Disk,
  directory: string,
  base: Required<LogBase>,
  history: LogHistory,
  newFormat: LogFormat,
): RecoveredLog {
  const files = memberFiles(disk, directory, base, newFormat);
  const first = Math.max(files.findLastIndex((each) => each.firstOp <= base.op + 1), 0);
  const start = {
    firstOp: files[first]?.firstOp ?? base.op + 1,
    op: base.op + 1,
    position: (files[first]?.format ?? newFormat).recordsStart,
  };
  let countedBytes = 0;
  for (const [index, entry] of files.entries()) {
    if (index < first) {
      entry.bytes = sizeOf(disk, entry.path);
      continue;
    }
    const next = files[index + 1];
    const file = disk.openFile(entry.path, { create: false, write: true });
    const reader = new LogFileReader(file, entry.firstOp, entry.format);
    const known = next === undefined ? null : { op: next.firstOp - 1, end: null, digest: next.before };
    const marks = next === undefined ? new LogMarks(file, entry.firstOp, entry.format) : null;
    const mark = marks?.newest ?? null;
    const scan = scanIntoHistory(reader, entry, {
      known,
      mark,
      history,
      onRecord: (record) => {
        const isFork = record.op === base.op
          ? record.after !== base.digest
          : record.op === base.op + 1 && record.before !== base.digest;
        if (isFork) throw reader.damage(record.position, "the log does not continue the checkpoint");
        if (record.op <= base.op) start.position = record.end;
        else countedBytes += record.end - record.position;
      },
    });
    for (const range of scan.damaged) countedBytes += countedBytesOf(range, base.op);
    if (readLogHeader(file, entry.firstOp) === null) writeHeader(file, entry, scan.before ?? UNKNOWN_DIGEST);
    for (const range of scan.damaged) {
      if (range.to <= base.op && range.end !== null) start.position = Math.max(start.position, range.end);
    }
    const openEnd = scan.damaged.find(({ end }) => end === null)?.start;
    const cutBytes = openEnd === undefined ? cutTail(reader, scan.end) : 0;
    // The file before another one was made durable as a whole.
    const unsure = next === undefined ? mark?.end ?? entry.format.recordsStart : scan.end;
    marks?.renew();
    makeDurable(reader, unsure, openEnd ?? scan.end);
    if (next === undefined && scan.lastOp >= base.op) {
      history.setEnd(scan.lastOp, scan.lastOp === base.op ? base.digest : scan.digest);
      const open = { file, end: scan.end, sealed: scan.sealed };
      return { files, lastOp: scan.lastOp, open, countedBytes, start, cutBytes };
    }
    entry.bytes = openEnd ?? scan.end;
    file.close();
    if (next === undefined) {
      const gap = { from: scan.lastOp + 1, to: base.op, start: scan.end, end: null };
      const place = { path: entry.path, firstOp: entry.firstOp, before: scan.digest, after: base.digest };
      history.setDamage(entry.firstOp, [...scan.damaged, { ...gap, ...place }]);
    }
  }
  // Nothing behind the checkpoint: what that has is not needed here, and the log goes on in another file.
  history.setEnd(base.op, base.digest);
  start.firstOp = base.op + 1;
  start.position = newFormat.recordsStart;
  return { files, lastOp: base.op, open: null, countedBytes: 0, start, cutBytes: 0 };
}

/**
 * The files of a member's log with the digests of their headers; one that is missing behind the checkpoint is made.
 */
function memberFiles(
  disk: Disk,
  directory: string,
  base: Required<LogBase>,
  newFormat: LogFormat,
): LogFileEntry[] {
  const found = listLogFiles(disk, directory);
  removeOtherKind(disk, found, base.op, MEMBER_FORMAT);
  const headers = found.map((each) => headerOf(disk, each));
  const last = found.at(-1);
  // The rest of an interrupted rotation. With a header it proves that its predecessor is complete, and stays.
  if (
    last !== undefined && headers.at(-1) === null &&
    ![MEMBER_FORMAT, UNMARKED_FORMAT].some((format) => hasRecords(disk, last, format))
  ) {
    disk.remove(last.path);
    disk.syncDirectory(directory);
    found.pop();
  }
  const files = found.map((each, index) => {
    const { firstOp } = each;
    const digest = headers[index]?.digest ?? UNKNOWN_DIGEST;
    const before = digest !== UNKNOWN_DIGEST ? digest : firstOp === base.op + 1 ? base.digest : null;
    // Where the header cannot be read, the first record tells.
    const format = headers[index]?.format ??
      (beginsWithRecord(disk, each, UNMARKED_FORMAT) ? UNMARKED_FORMAT : MEMBER_FORMAT);
    return logFileEntry(directory, firstOp, format, before);
  });
  const [oldest] = files;
  if (oldest !== undefined && oldest.firstOp > base.op + 1) {
    const missing = logFileEntry(directory, base.op + 1, newFormat, base.digest);
    const file = disk.openFile(missing.path, { create: true, write: true });
    writeHeader(file, missing, base.digest);
    file.syncDataNow();
    file.close();
    disk.syncDirectory(directory);
    files.unshift(missing);
  }
  return files;
}

/** Walks over a member's file that is open for writing, takes its content into the history, and repairs its seals. */
export function scanIntoHistory(
  reader: LogFileReader,
  entry: LogFileEntry,
  { known, mark = null, history, onRecord }: {
    readonly known: KnownEnd | null;
    readonly mark?: LogMark | null;
    readonly history: LogHistory;
    readonly onRecord?: (record: NamedRecord) => void;
  },
): MemberFileScan {
  const scan = scanMemberFile(reader, { before: entry.before, known, mark }, (record) => {
    onRecord?.(record);
    history.note(record);
    entry.places.add(record.op, record.position);
  });
  history.setDamage(entry.firstOp, scan.damaged);
  for (const { position, op, digest } of scan.brokenSeals) {
    reader.file.writeAt(position, sealOf(op, { firstOp: entry.firstOp, position, digest }));
  }
  entry.seals = scan.seals;
  entry.isScanned = true;
  return scan;
}

/** The seal of a member's log that ends at the op, all of it durable. */
export function sealOf(
  op: number,
  { firstOp, position, digest }: {
    readonly firstOp: number;
    readonly position: number;
    readonly digest: bigint;
  },
): Uint8Array {
  const head = { op, durableOp: op, payloadBytes: 0, checksum: 0, firstOp, position, view: 0 };
  return detachedHead(MEMBER_FORMAT, { ...head, digest: new HistoryDigest(digest) });
}

/** What of a damaged range counts as bytes of records behind the base. */
export function countedBytesOf({ from, start, end }: DamagedRange, baseOp: number): number {
  return end === null || from <= baseOp ? 0 : end - start;
}

function headerOf(disk: Disk, { path, firstOp }: LogFileEntry) {
  const file = disk.openFile(path, { create: false, write: false });
  try {
    return readLogHeader(file, firstOp);
  } finally {
    file.close();
  }
}

function sizeOf(disk: Disk, path: string): number {
  const file = disk.openFile(path, { create: false, write: false });
  try {
    return file.size;
  } finally {
    file.close();
  }
}

/** Whether the first record of a file is one of that format. */
function beginsWithRecord(disk: Disk, { path, firstOp }: LogFileEntry, format: LogFormat): boolean {
  const file = disk.openFile(path, { create: false, write: false });
  try {
    return new LogFileReader(file, firstOp, format).recordAt(format.recordsStart) !== undefined;
  } finally {
    file.close();
  }
}

/** Whether a file has records of a format, or bytes in their places that one vouches for. */
function hasRecords(disk: Disk, { path, firstOp }: LogFileEntry, format: LogFormat): boolean {
  const file = disk.openFile(path, { create: false, write: false });
  try {
    const reader = new LogFileReader(file, firstOp, format);
    return reader.recordAt(format.recordsStart) !== undefined ||
      reader.isVouchedBehind(format.recordsStart, firstOp);
  } finally {
    file.close();
  }
}

/** Writes the header of a member's file anew. */
function writeHeader(file: DiskFile, { firstOp, format }: LogFileEntry, digest: bigint): void {
  file.writeAt(0, encodeLogHeader(firstOp, { format, digest }));
}

/**
 * Refuses the log of a member to a server that is alone, and the reverse; a log that has never had an entry is
 * removed instead.
 */
function removeOtherKind(disk: Disk, files: LogFileEntry[], baseOp: number, format: LogFormat): void {
  const others = format.isMember ? [SINGLE_FORMAT, PARTED_FORMAT] : [MEMBER_FORMAT, UNMARKED_FORMAT];
  const isOther = (each: LogFileEntry) => {
    const header = headerOf(disk, each);
    return header === null
      ? others.some((other) => beginsWithRecord(disk, each, other))
      : others.includes(header.format);
  };
  const found = files.find((each) => headerOf(disk, each) !== null) ?? files[0];
  if (found === undefined || !isOther(found)) return;
  if (files.length > 1 || baseOp > 0 || others.some((other) => hasRecords(disk, found, other))) {
    const message = format.isMember
      ? "the data directory belongs to a server that is alone, not to a member of a replication group"
      : "the data directory belongs to a member of a replication group";
    const hint = format.isMember
      ? "Start it without --replica and --peers, or give the member an empty directory."
      : "Start it with the --replica and --peers that it was made with.";
    throw new DatabaseError(SQLSTATE.objectNotInPrerequisiteState, message, { hint });
  }
  disk.remove(found.path);
  files.length = 0;
}

/** Whether the log in a directory is that of a member of a replication group. */
export function isMemberLog(disk: Disk, directory: string): boolean {
  return listLogFiles(disk, directory).some((each) => headerOf(disk, each)?.format.isMember === true);
}

/** Forgets a last file that an interrupted rotation left without any record. */
function removeUnfinished(disk: Disk, directory: string, files: LogFileEntry[], baseOp: number): void {
  const last = files.at(-1);
  if (last === undefined) return;
  const file = disk.openFile(last.path, { create: false, write: false });
  const reader = new LogFileReader(file, last.firstOp, SINGLE_FORMAT);
  // The checkpoint holds the first record of such a file, which then need not be read to know that it is there.
  const isCovered = last.firstOp <= baseOp && reader.seemsBegun();
  const empty = !isCovered && reader.recordAt(SINGLE_FORMAT.recordsStart) === undefined &&
    !reader.isVouchedBehind(SINGLE_FORMAT.recordsStart, last.firstOp);
  const whole = empty && readLogHeader(file, last.firstOp) !== null;
  file.close();
  // An intact empty file may stay when it is the only one; it begins where the checkpoint ends.
  if (!empty || (whole && files.length === 1 && last.firstOp === baseOp + 1)) return;
  files.pop();
  disk.remove(last.path);
  disk.syncDirectory(directory);
}

/** Cuts what follows the last record; answers how many bytes. */
function cutTail(reader: LogFileReader, end: number): number {
  if (reader.isZeroFrom(end)) return 0;
  const cutBytes = reader.file.size - end;
  // Gone for good: a later record of the same length must not bring what follows it back to life.
  reader.file.truncate(end);
  reader.file.syncDataNow();
  return cutBytes;
}

/**
 * Makes a file durable, which may be in the system's cache only, if just the process died. After a failed sync the
 * system may take for written what is not, and a sync alone writes nothing: so what nobody has called durable, from one
 * offset to another, is written again first.
 */
function makeDurable({ file }: LogFileReader, from: number, to: number): void {
  const piece = new Uint8Array(REWRITTEN_BYTES);
  const end = Math.min(to, file.size);
  for (let at = from; at < end;) {
    const count = file.readAt(at, piece.subarray(0, Math.min(piece.length, end - at)));
    if (count === 0) break;
    file.writeAt(at, piece.subarray(0, count));
    at += count;
  }
  file.truncate(file.size);
  file.syncDataNow();
}
