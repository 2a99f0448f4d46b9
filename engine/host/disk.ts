/**
 * The disk port: files with positional synchronous reads and writes, explicit syncs, and directories.
 *
 * What callers may rely on, and nothing more: bytes are durable once a `syncData` that began after their write has
 * ended well; a name (created, renamed, linked or removed) is durable once `syncDirectory` of its directory has
 * ended. Anything else may be lost, torn per 512-byte sector, or reordered by a crash. After a failed sync the
 * written bytes are in an unknown state and syncing again proves nothing. Errors: a full disk is `DatabaseError`
 * 53100, any other failure 58030 with the system's reason and the path. A sync that fails is 58030 for whatever
 * reason: a full disk can be waited out only where nothing that was written may be lost.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";

/** An open file. */
export interface DiskFile {
  readonly path: string;
  /** Bytes in the file now. */
  readonly size: number;
  /** Reads into the target and returns how many bytes there were: less than asked only at the end of the file. */
  readAt(position: number, target: Uint8Array): number;
  /** Writes all bytes, growing the file as needed; a gap reads as zeros. */
  writeAt(position: number, bytes: Uint8Array): void;
  /** Makes written bytes and the file's size durable without blocking the thread. */
  syncData(): Promise<void>;
  /** The same, blocking. */
  syncDataNow(): void;
  /** Cuts or extends (with zeros) the file. */
  truncate(size: number): void;
  /** Further use is a bug; closing twice is not. */
  close(): void;
}

/** How to open a file. */
export interface OpenOptions {
  /** Make the file when it is missing. */
  readonly create: boolean;
  /** Open for writing too. */
  readonly write: boolean;
}

/** Held while a process owns a directory; gone when the process dies. */
export interface DirectoryLock {
  release(): void;
}

/** Files and directories. Paths use `/`. */
export interface Disk {
  openFile(path: string, options: OpenOptions): DiskFile;
  /** Names of files and directories in a directory, sorted by code unit; empty when there is none. */
  list(directory: string): string[];
  exists(path: string): boolean;
  /** Replaces the target when there is one, atomically; the first name is gone, also where both are of one file. */
  rename(from: string, to: string): void;
  /** Gives a file a second name; the target must not exist. */
  link(from: string, to: string): void;
  /** Removes a file; a missing one is no error. */
  remove(path: string): void;
  /** Makes a directory and its missing parents. */
  createDirectory(path: string): void;
  syncDirectory(path: string): void;
  /** Takes the directory for this process or raises 55006 naming it. */
  lock(directory: string): DirectoryLock;
  /** Bytes that can still be written, when the system tells. */
  freeBytes?(directory: string): number;
}

/** Name of the file that carries the lock of a directory. */
export const LOCK_FILE_NAME = "LOCK";

/** The error for a failed operation of a disk; `code` is the system's name for the reason. */
export function diskError(
  operation: string,
  path: string,
  code: string,
  reason: string,
  cause?: unknown,
): DatabaseError {
  const message = `could not ${operation} "${path}": ${reason}`;
  if ((code === "ENOSPC" || code === "EDQUOT") && !operation.startsWith("fsync")) {
    return new DatabaseError(SQLSTATE.diskFull, message, { hint: "Check free disk space.", cause });
  }
  return new DatabaseError(SQLSTATE.ioError, message, { cause });
}

/** Whether an error says that the disk is full. */
export function isDiskFull(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === SQLSTATE.diskFull;
}

/** The error for a directory that another process holds. */
export function lockedError(directory: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.objectInUse,
    `could not lock data directory "${directory}": another server is using it`,
    { hint: "Stop the other server, or choose another data directory." },
  );
}

/** Joins a directory and a name. */
export function joinPath(directory: string, name: string): string {
  return directory === "" ? name : directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}

/** The directory part of a path; `.` when there is none. */
export function directoryOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "." : slash === 0 ? "/" : path.slice(0, slash);
}

/** The whole content of a file. */
export function readWholeFile(disk: Disk, path: string): Uint8Array {
  const file = disk.openFile(path, { create: false, write: false });
  try {
    const bytes = new Uint8Array(file.size);
    const count = file.readAt(0, bytes);
    return count === bytes.length ? bytes : bytes.subarray(0, count);
  } finally {
    file.close();
  }
}

/** Writes a file durably under a temporary name, then gives it its own: it is there whole or not at all. */
export function writeWholeFile(disk: Disk, path: string, bytes: Uint8Array): void {
  const temporary = `${path}.tmp`;
  const file = disk.openFile(temporary, { create: true, write: true });
  try {
    file.truncate(0);
    file.writeAt(0, bytes);
    file.syncDataNow();
  } finally {
    file.close();
  }
  disk.rename(temporary, path);
  disk.syncDirectory(directoryOf(path));
}
