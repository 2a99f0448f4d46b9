/**
 * The host of a real machine under Deno: `node:fs` for positional I/O (Deno has none of its own), `fdatasync` on the
 * thread pool or blocking, an advisory lock that the kernel drops when the process dies.
 *
 * Limits: file positions are safe integers. `syncDirectory` is a no-op on Windows, where directories cannot be opened.
 */
import * as fs from "node:fs";
import {
  type DirectoryLock,
  type Disk,
  diskError,
  type DiskFile,
  joinPath,
  LOCK_FILE_NAME,
  lockedError,
  type OpenOptions,
} from "./disk.ts";
import type { Clock, Host, Random, TimerId, Timers } from "./host.ts";
import { LargeRemoval, type OpenDescriptors } from "./large_removal.ts";
import { LoopTurns } from "./loop_turns.ts";

/** Milliseconds from 1970-01-01 to 2000-01-01. */
const EPOCH_MILLISECONDS = 946_684_800_000;

/** A single read or write call moves at most this many bytes; Linux itself stops below 2 GiB. */
const MAX_TRANSFER_BYTES = 1 << 30;

/** What the system says for its error codes; the ones that users meet. */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: "Permission denied",
  EDQUOT: "Disk quota exceeded",
  EEXIST: "File exists",
  EIO: "Input/output error",
  EISDIR: "Is a directory",
  EMFILE: "Too many open files",
  ENFILE: "Too many open files in system",
  ENOENT: "No such file or directory",
  ENOSPC: "No space left on device",
  ENOTDIR: "Not a directory",
  EPERM: "Operation not permitted",
  EROFS: "Read-only file system",
  EXDEV: "Invalid cross-device link",
};

function systemError(operation: string, path: string, error: unknown): Error {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const reason = REASONS[code] ?? (error instanceof Error ? error.message : String(error));
  return diskError(operation, path, code, reason, error);
}

class DenoFile implements DiskFile {
  readonly path: string;
  readonly #descriptor: number;
  #size: number;
  #open = true;
  #syncs = 0;
  readonly #removal: LargeRemoval;
  readonly #descriptors: OpenDescriptors;

  constructor(path: string, descriptor: number, size: number, removal: LargeRemoval) {
    this.path = path;
    this.#descriptor = descriptor;
    this.#size = size;
    this.#removal = removal;
    this.#descriptors = removal.opened(path);
  }

  get size(): number {
    return this.#size;
  }

  readAt(position: number, target: Uint8Array): number {
    let done = 0;
    try {
      while (done < target.length) {
        const wanted = Math.min(target.length - done, MAX_TRANSFER_BYTES);
        const count = fs.readSync(this.#descriptor, target, done, wanted, position + done);
        if (count === 0) break;
        done += count;
      }
    } catch (error) {
      throw systemError("read file", this.path, error);
    }
    return done;
  }

  writeAt(position: number, bytes: Uint8Array): void {
    let done = 0;
    try {
      while (done < bytes.length) {
        const wanted = Math.min(bytes.length - done, MAX_TRANSFER_BYTES);
        done += fs.writeSync(this.#descriptor, bytes, done, wanted, position + done);
      }
    } catch (error) {
      throw systemError("write file", this.path, error);
    } finally {
      if (position + done > this.#size) this.#size = position + done;
    }
  }

  syncData(): Promise<void> {
    this.#syncs++;
    return new Promise((resolve, reject) => {
      fs.fdatasync(this.#descriptor, (error) => {
        this.#syncs--;
        // Closed meanwhile: the descriptor was kept for this sync.
        if (!this.#open && this.#syncs === 0) this.#closeNow();
        if (error) reject(systemError("fsync file", this.path, error));
        else resolve();
      });
    });
  }

  syncDataNow(): void {
    try {
      fs.fdatasyncSync(this.#descriptor);
    } catch (error) {
      throw systemError("fsync file", this.path, error);
    }
  }

  truncate(size: number): void {
    try {
      fs.ftruncateSync(this.#descriptor, size);
      this.#size = size;
    } catch (error) {
      throw systemError("truncate file", this.path, error);
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    if (this.#syncs === 0) this.#closeNow();
  }

  #closeNow(): void {
    fs.closeSync(this.#descriptor);
    this.#removal.closed(this.#descriptors);
  }
}

/** The machine's file system. */
class DenoDisk implements Disk {
  readonly #removal = new LargeRemoval();

  openFile(path: string, options: OpenOptions): DiskFile {
    const { O_CREAT, O_RDONLY, O_RDWR } = fs.constants;
    const flags = (options.write ? O_RDWR : O_RDONLY) | (options.create ? O_CREAT : 0);
    try {
      const descriptor = fs.openSync(path, flags, 0o600);
      return new DenoFile(path, descriptor, fs.fstatSync(descriptor).size, this.#removal);
    } catch (error) {
      throw systemError("open file", path, error);
    }
  }

  list(directory: string): string[] {
    try {
      // Code-unit order, the same on every machine.
      const names = this.#removal.shown(directory, fs.readdirSync(directory));
      return names.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw systemError("open directory", directory, error);
    }
  }

  exists(path: string): boolean {
    return fs.existsSync(path);
  }

  rename(from: string, to: string): void {
    try {
      fs.renameSync(from, to);
      // POSIX leaves both where they are two names of one file.
      if (from !== to) fs.rmSync(from, { force: true });
      this.#removal.renamed(from, to);
    } catch (error) {
      throw systemError("rename file", from, error);
    }
  }

  link(from: string, to: string): void {
    try {
      fs.linkSync(from, to);
    } catch (error) {
      throw systemError("link file", from, error);
    }
  }

  remove(path: string): void {
    try {
      this.#removal.remove(path);
    } catch (error) {
      throw systemError("remove file", path, error);
    }
  }

  createDirectory(path: string): void {
    try {
      fs.mkdirSync(path, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw systemError("create directory", path, error);
    }
  }

  syncDirectory(path: string): void {
    if (Deno.build.os === "windows") return;
    try {
      const descriptor = fs.openSync(path, fs.constants.O_RDONLY);
      try {
        fs.fsyncSync(descriptor);
      } finally {
        fs.closeSync(descriptor);
      }
    } catch (error) {
      throw systemError("fsync directory", path, error);
    }
  }

  lock(directory: string): DirectoryLock {
    const path = joinPath(directory, LOCK_FILE_NAME);
    let file: Deno.FsFile;
    try {
      file = Deno.openSync(path, { create: true, write: true, mode: 0o600 });
    } catch (error) {
      throw systemError("open file", path, error);
    }
    if (!file.tryLockSync(true)) {
      file.close();
      throw lockedError(directory);
    }
    let held = true;
    return {
      release() {
        if (!held) return;
        held = false;
        // A process that is being started has what is open here until its program begins, and the lock with it.
        file.unlockSync();
        file.close();
      },
    };
  }

  freeBytes(directory: string): number {
    try {
      const status = fs.statfsSync(directory);
      return Number(status.bavail) * Number(status.bsize);
    } catch (error) {
      throw systemError("inspect file system of", directory, error);
    }
  }
}

class DenoClock implements Clock {
  readonly #origin = Date.now() - EPOCH_MILLISECONDS;
  readonly #start = performance.now();

  now(): number {
    // Date has milliseconds only; the finer part comes from the monotonic clock while the two agree.
    const coarse = Date.now() - EPOCH_MILLISECONDS;
    const fine = this.#origin + (performance.now() - this.#start);
    return Math.floor((Math.abs(fine - coarse) < 2 ? fine : coarse) * 1000);
  }

  wall(): number {
    return Date.now() - EPOCH_MILLISECONDS;
  }

  monotonic(): number {
    return Math.floor(performance.now() * 1000);
  }
}

class DenoRandom implements Random {
  fill(target: Uint8Array): void {
    // The system hands out at most 65536 bytes a call.
    for (let start = 0; start < target.length; start += 65536) {
      const piece = new Uint8Array(Math.min(65536, target.length - start));
      crypto.getRandomValues(piece);
      target.set(piece, start);
    }
  }
}

class DenoTimers implements Timers {
  readonly #turns = new LoopTurns();

  setTimer(delayMicroseconds: number, callback: () => void): TimerId {
    // The platform's delays are 32-bit milliseconds.
    return Number(setTimeout(callback, Math.min(Math.ceil(delayMicroseconds / 1000), 0x7fffffff)));
  }

  clearTimer(timer: TimerId): void {
    clearTimeout(timer);
  }

  /** Setting a timer anew costs as much again as a third of its firing. */
  repeat(microseconds: number, callback: () => void): () => void {
    const timer = setInterval(callback, Math.ceil(microseconds / 1000));
    return () => clearInterval(timer);
  }

  endOfTurn(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  yieldToLoop(): Promise<void> {
    return this.#turns.next();
  }

  close(): Promise<void> {
    return this.#turns.close();
  }
}

/** The clock, random source and timers of this machine, for hosts that differ in the disk only. */
export function denoClockRandomTimers(): Pick<Host, "clock" | "random" | "timers"> {
  return { clock: new DenoClock(), random: new DenoRandom(), timers: new DenoTimers() };
}

/** The host of this machine. */
export function denoHost(): Host {
  return { ...denoClockRandomTimers(), disk: new DenoDisk() };
}
