/**
 * Finds out what a log directory holds after a stop, clean or not.
 *
 * A torn tail (the last file ends in bytes that are no whole record) is cut when no whole record behind it vouches
 * that they had become durable: those writes were never acknowledged. Everything else that does not fit is damage and
 * raises `dataCorrupted` with file and byte offset; nothing is repaired by guessing. Files wholly at or before the
 * checkpoint are neither read nor needed, nor are the payloads of the records before it in the first file. A last
 * file without records is the rest of an interrupted rotation.
 */
import { type Disk, type DiskFile, joinPath } from "../host/disk.ts";
import {
  firstOpOfName,
  hasLogHeader,
  LOG_HEADER_BYTES,
  logDamage,
  logFileName,
  LogFileReader,
} from "./log_file.ts";

/** A file of the log and where it begins. */
export interface LogFileEntry {
  readonly firstOp: number;
  readonly path: string;
}

/** What was found; the last file, when there is one, is open for writing. */
export interface RecoveredLog {
  /** Files that hold ops beyond the base, in order. */
  readonly files: LogFileEntry[];
  readonly lastOp: number;
  /** The last of `files`, or null when a first one must be made. */
  readonly open: { readonly file: DiskFile; readonly end: number; readonly sealed: boolean } | null;
  /** Bytes of the records beyond the base. */
  readonly countedBytes: number;
  /** Where the first record beyond the base is, or would be, in the first of `files`. */
  readonly start: { readonly op: number; readonly position: number };
  /** Bytes that were cut from the tail. */
  readonly cutBytes: number;
}

/** The files of a log directory, in order of their ops. */
export function listLogFiles(disk: Disk, directory: string): LogFileEntry[] {
  const files: LogFileEntry[] = [];
  for (const name of disk.list(directory)) {
    const firstOp = firstOpOfName(name);
    if (firstOp !== undefined) files.push({ firstOp, path: joinPath(directory, name) });
  }
  return files.sort((left, right) => left.firstOp - right.firstOp);
}

/** Recovers the log of which everything up to `baseOp` is in a checkpoint. */
export function recoverLog(disk: Disk, directory: string, baseOp: number): RecoveredLog {
  const all = listLogFiles(disk, directory);
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
  let position = LOG_HEADER_BYTES;
  for (const [index, { firstOp, path }] of files.entries()) {
    const isLast = index === files.length - 1;
    const file = disk.openFile(path, { create: false, write: isLast });
    const reader = new LogFileReader(file, firstOp);
    if (!hasLogHeader(file, firstOp)) throw reader.damage(0, "the header does not verify");
    const scan = reader.scan(baseOp);
    countedBytes += scan.countedBytes;
    if (index === 0) position = scan.countedFrom;
    lastOp = scan.lastOp;
    const next = files[index + 1];
    if (next !== undefined) {
      if (next.firstOp !== lastOp + 1 || !reader.isZeroFrom(scan.end)) {
        throw reader.damage(scan.end, `the record of op ${lastOp + 1} does not verify`);
      }
      file.close();
      continue;
    }
    const cutBytes = cutTail(reader, scan.end, lastOp + 1);
    if (lastOp < baseOp) {
      // A checkpoint is taken only of what is durable, so its ops cannot be a torn tail.
      throw reader.damage(scan.end, `the log ends at op ${lastOp}, before the checkpoint at op ${baseOp}`);
    }
    // What was read may still be in the system's cache only, if just the process died.
    file.syncDataNow();
    const open = { file, end: scan.end, sealed: scan.sealed };
    return { files, lastOp, open, countedBytes, start: { op: baseOp + 1, position }, cutBytes };
  }
  return { files, lastOp, open: null, countedBytes, start: { op: baseOp + 1, position }, cutBytes: 0 };
}

/** Forgets a last file that an interrupted rotation left without any record. */
function removeUnfinished(disk: Disk, directory: string, files: LogFileEntry[], baseOp: number): void {
  const last = files.at(-1);
  if (last === undefined) return;
  const file = disk.openFile(last.path, { create: false, write: false });
  const reader = new LogFileReader(file, last.firstOp);
  // The checkpoint holds the first record of such a file, which then need not be read to know that it is there.
  const isCovered = last.firstOp <= baseOp && reader.seemsBegun();
  const empty = !isCovered && reader.recordAt(LOG_HEADER_BYTES) === undefined &&
    !reader.isVouchedBehind(LOG_HEADER_BYTES, last.firstOp);
  const whole = empty && hasLogHeader(file, last.firstOp);
  file.close();
  // An intact empty file may stay when it is the only one; it begins where the checkpoint ends.
  if (!empty || (whole && files.length === 1 && last.firstOp === baseOp + 1)) return;
  files.pop();
  disk.remove(last.path);
  disk.syncDirectory(directory);
}

function cutTail(reader: LogFileReader, end: number, nextOp: number): number {
  if (reader.isZeroFrom(end)) return 0;
  if (reader.isVouchedBehind(end, nextOp)) {
    throw reader.damage(end, `the record of op ${nextOp} does not verify`);
  }
  const cutBytes = reader.file.size - end;
  // Gone for good: a later record of the same length must not bring what follows it back to life.
  reader.file.truncate(end);
  reader.file.syncDataNow();
  return cutBytes;
}
