/**
 * A disk that fails the way real ones do, driven by a seed.
 *
 * Fault model, data: a write is volatile until a sync that began after it ends well. At a crash each 512-byte sector
 * written since then holds, on its own, any one of the contents it has had since it was last durable, so writes are
 * lost, torn between sectors and reordered; within a sector they are atomic. A file's size is any it has had since
 * the last sync. A sync that fails loses the sectors it covered: a later sync does not write them, though reads still
 * show them until the crash. It is reported to each handle of the file once, so a handle whose failed sync is still
 * under way tells nothing to a second sync by the same handle (as in Linux since 4.13). A sync in flight at the crash
 * has done any part of its work. Fault model, names: creating, renaming, linking and removing become durable with
 * `syncDirectory`; at a crash, of each directory's changes since then the first few (any number) survive, in order.
 * Directories themselves are durable at once. Failures: reads, writes and syncs fail on demand, at random, or at one
 * counted operation; the disk is full beyond its capacity. A write that fails has done any part of its work, front to
 * back. A name change that fails has done nothing. Bits at rest flip on demand. When only the process dies,
 * everything written stays, durable or not. Not modeled: misdirected writes, and damage within a sector while it is
 * written.
 *
 * Every operation is mixed into the trace, so that two runs of a seed can be compared.
 */
import { assert } from "../base/assert.ts";
import { crc32c } from "../base/checksum.ts";
import type { DatabaseError } from "../base/errors.ts";
import type { SeededRandom } from "../base/random.ts";
import {
  type DirectoryLock,
  directoryOf,
  type Disk,
  diskError,
  type DiskFile,
  lockedError,
  type OpenOptions,
} from "./disk.ts";

const SECTOR_BYTES = 512;

/** Thrown by every operation after a crash, until the disk is restarted. */
export class SimulatedCrash extends Error {
  override readonly name = "SimulatedCrash";
}

/** How likely faults are, and how large the disk is. */
export interface DiskFaults {
  /** Probability that a read fails with EIO. */
  readonly readError: number;
  readonly writeError: number;
  readonly syncError: number;
  /** Bytes that fit. */
  readonly capacityBytes: number;
  /** The power fails at this changing operation (write, sync, truncate, name change), counted from 1; 0: never. */
  readonly crashAtOperation: number;
  /** This changing operation, counted in the same way, fails with {@link failureCode}; 0: none. */
  readonly failAtOperation: number;
  readonly failureCode: FailureCode;
  /** This read, counted from 1, fails with EIO; 0: none. */
  readonly failAtRead: number;
}

/** Why an operation fails, by the system's name. */
export type FailureCode = "EIO" | "ENOSPC";

/** A disk without faults. */
export const NO_FAULTS: DiskFaults = {
  readError: 0,
  writeError: 0,
  syncError: 0,
  capacityBytes: Infinity,
  crashAtOperation: 0,
  failAtOperation: 0,
  failureCode: "EIO",
  failAtRead: 0,
};

/** The bytes of files by path. */
export type DiskImage = ReadonlyMap<string, Uint8Array>;

/** What the disk needs from its simulation. */
export interface DiskSurroundings {
  readonly random: SeededRandom;
  /** Lets simulated time pass. */
  pass(microseconds: number): void;
  /** Resolves after simulated time. */
  later(microseconds: number): Promise<void>;
  /** Mixes an event into the trace. */
  trace(event: string): void;
}

class Inode {
  /** What reads see. */
  current: Uint8Array = new Uint8Array(0);
  size = 0;
  durable: Uint8Array = new Uint8Array(0);
  durableSize = 0;
  /** By sector, its contents since it was last durable, oldest first. */
  readonly pending = new Map<number, Uint8Array[]>();
  pendingSizes: PendingSize[] = [];
  /** Syncs that failed, in order. */
  failedSyncs: readonly DatabaseError[] = [];

  ensure(size: number): void {
    if (size <= this.current.length) return;
    const grown = new Uint8Array(Math.max(alignUp(size), this.current.length * 2));
    grown.set(this.current.subarray(0, this.size));
    this.current = grown;
  }

  noteWrite(from: number, to: number): void {
    for (let sector = Math.floor(from / SECTOR_BYTES); sector * SECTOR_BYTES < to; sector++) {
      const start = sector * SECTOR_BYTES;
      const content = this.current.slice(start, start + SECTOR_BYTES);
      const versions = this.pending.get(sector);
      if (versions === undefined) this.pending.set(sector, [content]);
      else versions.push(content);
    }
  }

  persist(sector: number, content: Uint8Array): void {
    const end = (sector + 1) * SECTOR_BYTES;
    if (end > this.durable.length) {
      const grown = new Uint8Array(Math.max(end, this.durable.length * 2));
      grown.set(this.durable);
      this.durable = grown;
    }
    this.durable.set(content, sector * SECTOR_BYTES);
  }

  setDurableSize(size: number): void {
    if (size < this.durableSize) this.durable.fill(0, Math.min(size, this.durable.length));
    this.durableSize = size;
  }

  /** Becomes what the platter holds after the power failed. */
  crash(random: SeededRandom): void {
    for (const [sector, versions] of [...this.pending].sort(([left], [right]) => left - right)) {
      const chosen = versions[random.below(versions.length + 1) - 1];
      if (chosen !== undefined) this.persist(sector, chosen);
    }
    const size = this.pendingSizes[random.below(this.pendingSizes.length + 1) - 1];
    this.setDurableSize(size?.bytes ?? this.durableSize);
    this.durable = fitted(this.durable, this.durableSize);
    this.current = this.durable.slice();
    this.size = this.durableSize;
    this.pending.clear();
    this.pendingSizes = [];
  }
}

function alignUp(size: number): number {
  return Math.ceil(size / SECTOR_BYTES) * SECTOR_BYTES;
}

/** The bytes cut or extended with zeros to whole sectors around a size, zero behind the size. */
function fitted(bytes: Uint8Array, size: number): Uint8Array {
  const result = new Uint8Array(alignUp(size));
  result.set(bytes.subarray(0, Math.min(size, bytes.length)));
  return result;
}

type NameChange =
  | { readonly kind: "put"; readonly path: string; readonly inode: Inode }
  | { readonly kind: "move"; readonly from: string; readonly path: string; readonly inode: Inode }
  | { readonly kind: "remove"; readonly path: string };

class SimulatedFile implements DiskFile {
  readonly path: string;
  readonly #disk: SimulatedDisk;
  readonly #inode: Inode;
  readonly #writable: boolean;
  readonly #epoch: number;
  #open = true;
  /** Failed syncs of the file that were reported to this handle, or happened before it was opened. */
  #failuresTold: number;

  constructor(disk: SimulatedDisk, path: string, inode: Inode, writable: boolean) {
    this.#disk = disk;
    this.path = path;
    this.#inode = inode;
    this.#writable = writable;
    this.#epoch = disk.epoch;
    this.#failuresTold = inode.failedSyncs.length;
  }

  get size(): number {
    return this.#inode.size;
  }

  #check(): void {
    assert(this.#open, `${this.path} is closed`);
    if (this.#epoch !== this.#disk.epoch) throw new SimulatedCrash("the power failed");
  }

  readAt(position: number, target: Uint8Array): number {
    this.#check();
    this.#disk.beforeRead(this.path, position, target.length);
    const count = Math.max(0, Math.min(target.length, this.#inode.size - position));
    target.set(this.#inode.current.subarray(position, position + count));
    return count;
  }

  writeAt(position: number, bytes: Uint8Array): void {
    this.#check();
    assert(this.#writable, `${this.path} is open for reading only`);
    const growth = Math.max(0, position + bytes.length - this.#inode.size);
    const failure = this.#disk.beforeWrite(this.path, position, bytes, growth);
    if (failure === null) this.#apply(position, bytes);
    else {
      if (failure.writtenBytes > 0) this.#apply(position, bytes.subarray(0, failure.writtenBytes));
      throw failure.error;
    }
  }

  #apply(position: number, bytes: Uint8Array): void {
    const inode = this.#inode;
    const end = position + bytes.length;
    inode.ensure(end);
    inode.current.set(bytes, position);
    const from = Math.min(position, inode.size);
    if (end > inode.size) {
      inode.size = end;
      inode.pendingSizes.push({ bytes: end });
    }
    inode.noteWrite(from, end);
  }

  truncate(size: number): void {
    this.#check();
    assert(this.#writable, `${this.path} is open for reading only`);
    this.#disk.beforeChange(`truncate ${this.path} ${size}`);
    this.#disk.failChange("truncate file", this.path);
    const inode = this.#inode;
    const before = inode.size;
    inode.ensure(size);
    if (size < before) inode.current.fill(0, size);
    inode.size = size;
    inode.pendingSizes.push({ bytes: size });
    inode.noteWrite(Math.min(size, before), Math.max(size, before));
  }

  syncDataNow(): void {
    this.#check();
    const covered = this.#begin();
    // Quick for some and slow for others: who waits for a disk may go by how long it takes.
    this.#disk.passAtRandom(20 * this.#disk.slowness, 220 * this.#disk.slowness);
    this.#finish(covered);
  }

  async syncData(): Promise<void> {
    this.#check();
    const covered = this.#begin();
    await this.#disk.later(150 * this.#disk.slowness);
    if (this.#epoch !== this.#disk.epoch) throw new SimulatedCrash("the power failed");
    this.#finish(covered);
  }

  #begin(): Covered {
    this.#disk.beforeChange(`sync ${this.path}`);
    const inode = this.#inode;
    const failure = this.#disk.syncFailure("fsync file", this.path);
    if (failure !== null) {
      inode.failedSyncs = [...inode.failedSyncs, failure];
      // Lost at once, so that no sync that comes before this one's report saves them.
      inode.pending.clear();
      inode.pendingSizes = [];
    }
    const untold = inode.failedSyncs[this.#failuresTold] ?? null;
    this.#failuresTold = inode.failedSyncs.length;
    return {
      sectors: [...inode.pending].map(([sector, versions]) => [sector, versions.at(-1)]),
      size: inode.pendingSizes.at(-1),
      failure: untold,
    };
  }

  #finish(covered: Covered): void {
    const inode = this.#inode;
    for (const [sector, last] of covered.sectors) {
      const versions = inode.pending.get(sector) ?? [];
      // Another sync may have covered it meanwhile, and what is pending now came later.
      const count = last === undefined ? 0 : versions.indexOf(last) + 1;
      if (last === undefined || count === 0) continue;
      inode.persist(sector, last);
      if (versions.length === count) inode.pending.delete(sector);
      else versions.splice(0, count);
    }
    const { size } = covered;
    const sizes = size === undefined ? 0 : inode.pendingSizes.indexOf(size) + 1;
    inode.pendingSizes.splice(0, sizes);
    if (covered.failure !== null) throw covered.failure;
    if (size !== undefined && sizes > 0) inode.setDurableSize(size.bytes);
  }

  close(): void {
    this.#open = false;
  }
}

/** A size of a file that is not durable yet; an object, so that a sync knows it again. */
interface PendingSize {
  readonly bytes: number;
}

interface Covered {
  /** The newest content of each sector at the beginning. */
  readonly sectors: readonly (readonly [sector: number, content: Uint8Array | undefined])[];
  readonly size: PendingSize | undefined;
  /** What it reports: its own failure, or an earlier one. */
  readonly failure: DatabaseError | null;
}

/** A write that fails, and how much of it was done. */
interface FailedWrite {
  readonly error: DatabaseError;
  readonly writtenBytes: number;
}

/** The disk. */
export class SimulatedDisk implements Disk {
  readonly #surroundings: DiskSurroundings;
  faults: DiskFaults;
  /** How many times slower syncs are. */
  slowness = 1;
  #files = new Map<string, Inode>();
  #durableFiles = new Map<string, Inode>();
  #nameChanges = new Map<string, NameChange[]>();
  #locks = new Set<string>();
  #crashed = false;
  #operations = 0;
  /** The operation that failed because its count said so; null before that. */
  failedOperation: string | null = null;
  #newest = "";
  #reads = 0;
  #forced: {
    readonly kind: "read" | "write" | "sync";
    readonly path: string;
    readonly code: FailureCode;
  }[] = [];
  /** Grows with each crash; handles of an earlier epoch are dead. */
  epoch = 0;

  constructor(surroundings: DiskSurroundings, faults: DiskFaults) {
    this.#surroundings = surroundings;
    this.faults = faults;
  }

  /** Whether the power has failed and {@link crash} has not been called since. */
  get isCrashed(): boolean {
    return this.#crashed;
  }

  /** Changing operations so far; what `crashAtOperation` counts. */
  get operations(): number {
    return this.#operations;
  }

  /** Reads so far; what `failAtRead` counts. */
  get reads(): number {
    return this.#reads;
  }

  /** Bytes that all files together have now. */
  get usedBytes(): number {
    let used = 0;
    for (const inode of new Set(this.#files.values())) used += inode.size;
    return used;
  }

  /** Whether a sync of a file whose path contains the text has failed, be it reported or not. */
  hasFailedSyncs(path: string): boolean {
    return [...this.#files].some(([name, { failedSyncs }]) => name.includes(path) && failedSyncs.length > 0);
  }

  /** Lets the next operation of a kind on a file whose path contains the text fail. */
  failNext(kind: "read" | "write" | "sync", path: string, code: FailureCode = "EIO"): void {
    this.#forced.push({ kind, path, code });
  }

  /** Flips one bit of a file where it lies. */
  flipBit(path: string, position: number, bit: number): void {
    const inode = this.#inode(path, "flip");
    assert(position < inode.size, `offset ${position} of ${path}`);
    for (const bytes of [inode.current, inode.durable]) {
      if (position < bytes.length) bytes[position] = (bytes[position] as number) ^ (1 << bit);
    }
  }

  /** The power fails: volatile state is resolved as the fault model says, and all handles and locks are gone. */
  crash(): void {
    const random = this.#surroundings.random;
    this.#surroundings.trace("crash");
    this.epoch++;
    this.#crashed = false;
    this.#locks.clear();
    this.#forced = [];
    for (const changes of this.#nameChanges.values()) {
      const kept = random.below(changes.length + 1);
      for (const change of changes.slice(0, kept)) applyNameChange(this.#durableFiles, change);
    }
    this.#nameChanges.clear();
    this.#files = new Map(this.#durableFiles);
    for (const inode of new Set(this.#files.values())) inode.crash(random);
  }

  /** All files as reads see them, to be given to {@link restore} of this or another disk. */
  image(): DiskImage {
    return new Map([...this.#files.keys()].map((path) => [path, this.contentOf(path)]));
  }

  /** Holds the files of an image and nothing else, all of them durable. Handles and locks are gone. */
  restore(image: DiskImage): void {
    this.epoch++;
    this.#crashed = false;
    this.#locks.clear();
    this.#forced = [];
    this.#nameChanges.clear();
    this.#files = new Map();
    for (const [path, bytes] of image) {
      const inode = new Inode();
      inode.size = inode.durableSize = bytes.length;
      inode.durable = fitted(bytes, bytes.length);
      inode.current = inode.durable.slice();
      this.#files.set(path, inode);
    }
    this.#durableFiles = new Map(this.#files);
  }

  /**
   * The process dies: handles and locks are gone, but the system still has all that was written, and may lose it
   * later.
   */
  kill(): void {
    this.#surroundings.trace("kill");
    this.epoch++;
    this.#locks.clear();
    this.#forced = [];
  }

  /** A copy of a file's bytes as reads see them. */
  contentOf(path: string): Uint8Array {
    const inode = this.#inode(path, "inspect");
    return inode.current.slice(0, inode.size);
  }

  #inode(path: string, operation: string): Inode {
    const inode = this.#files.get(path);
    if (inode === undefined) {
      throw diskError(`${operation} file`, path, "ENOENT", "No such file or directory");
    }
    return inode;
  }

  /** Called before every change; the place where the power may fail. */
  beforeChange(event: string): void {
    if (this.#crashed) throw new SimulatedCrash("the power failed");
    this.#operations++;
    this.#newest = event;
    this.#surroundings.trace(event);
    if (this.#operations === this.faults.crashAtOperation) {
      this.#crashed = true;
      throw new SimulatedCrash("the power failed");
    }
  }

  beforeRead(path: string, position: number, byteCount: number): void {
    if (this.#crashed) throw new SimulatedCrash("the power failed");
    this.#reads++;
    this.#surroundings.trace(`read ${path} ${position} ${byteCount}`);
    this.#surroundings.pass(2);
    const forced = this.#isForced("read", path) !== undefined || this.#reads === this.faults.failAtRead;
    if (forced || this.#byChance(this.faults.readError)) throw failure("read file", path, "EIO");
  }

  /** Null: the write may be done. */
  beforeWrite(path: string, position: number, bytes: Uint8Array, growth: number): FailedWrite | null {
    this.beforeChange(`write ${path} ${position} ${bytes.length} ${crc32c(bytes)}`);
    this.#surroundings.pass(5);
    const forced = this.#isForced("write", path) ?? this.#codeNow();
    const free = growth > 0 ? Math.max(0, this.faults.capacityBytes - this.usedBytes) : Infinity;
    const fitting = Math.min(bytes.length, bytes.length - growth + free);
    const code = forced ?? (growth > free ? "ENOSPC" : this.#byChance(this.faults.writeError) ? "EIO" : null);
    if (code === null) return null;
    const writtenBytes = this.#surroundings.random.below(fitting + 1);
    return { error: failure("write file", path, code), writtenBytes };
  }

  /** Raises when the change that {@link beforeChange} has just counted is to fail. */
  failChange(operation: string, path: string): void {
    const code = this.#codeNow();
    if (code !== null) throw failure(operation, path, code);
  }

  #codeNow(): FailureCode | null {
    if (this.#operations !== this.faults.failAtOperation) return null;
    this.failedOperation = this.#newest;
    return this.faults.failureCode;
  }

  /** What the sync that has just been counted fails with; null: it ends well. */
  syncFailure(operation: string, path: string): DatabaseError | null {
    const code = this.#isForced("sync", path) ?? this.#codeNow() ??
      (this.#byChance(this.faults.syncError) ? "EIO" : null);
    return code === null ? null : failure(operation, path, code);
  }

  pass(microseconds: number): void {
    this.#surroundings.pass(microseconds);
  }

  /** An operation takes this time, from one bound to the other. */
  passAtRandom(least: number, most: number): void {
    this.#surroundings.pass(this.#surroundings.random.between(least, most));
  }

  later(microseconds: number): Promise<void> {
    return this.#surroundings.later(microseconds);
  }

  #byChance(probability: number): boolean {
    return probability > 0 && this.#surroundings.random.chance(probability);
  }

  #isForced(kind: "read" | "write" | "sync", path: string): FailureCode | undefined {
    const index = this.#forced.findIndex((each) => each.kind === kind && path.includes(each.path));
    return index < 0 ? undefined : this.#forced.splice(index, 1)[0]?.code;
  }

  #changeName(change: NameChange): void {
    applyNameChange(this.#files, change);
    const directory = directoryOf(change.path);
    const changes = this.#nameChanges.get(directory) ?? [];
    changes.push(change);
    this.#nameChanges.set(directory, changes);
  }

  openFile(path: string, options: OpenOptions): DiskFile {
    if (this.#crashed) throw new SimulatedCrash("the power failed");
    if (!this.#files.has(path)) {
      if (!options.create) throw diskError("open file", path, "ENOENT", "No such file or directory");
      this.beforeChange(`create ${path}`);
      this.failChange("open file", path);
      this.#changeName({ kind: "put", path, inode: new Inode() });
    }
    return new SimulatedFile(this, path, this.#inode(path, "open"), options.write);
  }

  list(directory: string): string[] {
    const prefix = `${directory}/`;
    const names = new Set<string>();
    for (const path of this.#files.keys()) {
      if (path.startsWith(prefix)) names.add(path.slice(prefix.length).split("/", 1)[0] ?? "");
    }
    return [...names].sort((left, right) => (left < right ? -1 : 1));
  }

  exists(path: string): boolean {
    return this.#files.has(path) || this.list(path).length > 0;
  }

  rename(from: string, to: string): void {
    const inode = this.#inode(from, "rename");
    this.beforeChange(`rename ${from} ${to}`);
    this.failChange("rename file", from);
    this.#changeName({ kind: "move", from, path: to, inode });
  }

  link(from: string, to: string): void {
    const inode = this.#inode(from, "link");
    if (this.#files.has(to)) throw diskError("link file", to, "EEXIST", "File exists");
    this.beforeChange(`link ${from} ${to}`);
    this.failChange("link file", from);
    this.#changeName({ kind: "put", path: to, inode });
  }

  remove(path: string): void {
    if (!this.#files.has(path)) return;
    this.beforeChange(`remove ${path}`);
    this.failChange("remove file", path);
    this.#changeName({ kind: "remove", path });
  }

  createDirectory(_path: string): void {
    // Directories exist as far as files name them.
  }

  syncDirectory(path: string): void {
    this.beforeChange(`sync directory ${path}`);
    this.#surroundings.pass(100);
    const failed = this.syncFailure("fsync directory", path);
    if (failed !== null) throw failed;
    for (const change of this.#nameChanges.get(path) ?? []) applyNameChange(this.#durableFiles, change);
    this.#nameChanges.delete(path);
  }

  lock(directory: string): DirectoryLock {
    if (this.#locks.has(directory)) throw lockedError(directory);
    this.#locks.add(directory);
    const epoch = this.epoch;
    return {
      release: () => {
        if (epoch === this.epoch) this.#locks.delete(directory);
      },
    };
  }

  freeBytes(_directory: string): number {
    return Math.max(0, this.faults.capacityBytes - this.usedBytes);
  }
}

function failure(operation: string, path: string, code: FailureCode): DatabaseError {
  const reason = code === "ENOSPC" ? "No space left on device" : "Input/output error";
  return diskError(operation, path, code, reason);
}

function applyNameChange(files: Map<string, Inode>, change: NameChange): void {
  if (change.kind === "remove") {
    files.delete(change.path);
    return;
  }
  if (change.kind === "move") files.delete(change.from);
  files.set(change.path, change.inode);
}
