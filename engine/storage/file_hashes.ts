/**
 * The SHA-256 of the files of a checkpoint, which the members of a replication group know their files by.
 *
 * A file is hashed while it is written, front to back, as all files of tables are; what a manifest without hashes
 * names is read once. Files are never changed afterwards, so that a hash is good as long as the name is.
 */
import { assert } from "../base/assert.ts";
import { type Disk, type DiskFile, joinPath } from "../host/disk.ts";
import { Sha256 } from "../host/sha256.ts";

const PIECE_BYTES = 1 << 20;

/** A file of a checkpoint, named in its directory, with what proves that it is the one. */
export interface HashedFile {
  readonly name: string;
  readonly size: number;
  /** SHA-256 in hexadecimal. */
  readonly hash: string;
}

/** Whether a name is one that a file of a checkpoint may have: none that lies elsewhere. */
export function isCheckpointFileName(name: string): boolean {
  return /^(shard-\d{1,2}\/)?(tables\/)?[0-9a-z][0-9a-z._-]*$/.test(name);
}

/** The folders below a directory that files of a checkpoint may be in; `""` is the directory itself. */
export function checkpointFolders(disk: Disk, directory: string): string[] {
  const parts = disk.list(directory).filter((name) => /^shard-\d{1,2}$/.test(name));
  return ["", ...parts].flatMap((part) => [part, joinPath(part, "tables")]);
}

/** Whether a name in one of those folders is that of another of them. */
export function isCheckpointFolderName(name: string): boolean {
  return name === "tables" || /^shard-\d{1,2}$/.test(name);
}

/** See the head of the file. */
export class FileHashes {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #files = new Map<string, HashedFile | WrittenFile>();

  /** Of files in this directory. */
  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  /** A file that is hashed while it is written. */
  written(name: string, file: DiskFile): DiskFile {
    const written = new WrittenFile(file);
    this.#files.set(name, written);
    return written;
  }

  /** A manifest vouches for it. */
  add(file: HashedFile): void {
    this.#files.set(file.name, file);
  }

  /** There is no such file any more. */
  forget(name: string): void {
    this.#files.delete(name);
  }

  /** What a file is known by; it is read in steps if need be. */
  *find(name: string): Generator<void, HashedFile> {
    const known = this.#files.get(name);
    if (known !== undefined && !(known instanceof WrittenFile)) return known;
    const found = known === undefined ? yield* this.#read(name) : { name, ...known.finish() };
    this.#files.set(name, found);
    return found;
  }

  *#read(name: string): Generator<void, HashedFile> {
    const file = this.#disk.openFile(joinPath(this.#directory, name), { create: false, write: false });
    try {
      return { name, size: file.size, hash: yield* hashInSteps(file) };
    } finally {
      file.close();
    }
  }
}

/** The SHA-256 of a whole file, which is read step by step. */
export function* hashInSteps(file: DiskFile, stepBytes = PIECE_BYTES): Generator<void, string> {
  const hash = new Sha256();
  const piece = new Uint8Array(stepBytes);
  for (let at = 0; at < file.size; at += piece.length) {
    hash.update(piece.subarray(0, file.readAt(at, piece)));
    yield;
  }
  return hash.digest();
}

/** Hashes what is written, which must come in order. */
class WrittenFile implements DiskFile {
  readonly #file: DiskFile;
  readonly #hash = new Sha256();
  #end = 0;

  constructor(file: DiskFile) {
    this.#file = file;
  }

  finish(): { readonly size: number; readonly hash: string } {
    return { size: this.#end, hash: this.#hash.digest() };
  }

  get path(): string {
    return this.#file.path;
  }

  get size(): number {
    return this.#file.size;
  }

  readAt(position: number, target: Uint8Array): number {
    return this.#file.readAt(position, target);
  }

  writeAt(position: number, bytes: Uint8Array): void {
    assert(position === this.#end, `"${this.path}" is written in order`);
    this.#file.writeAt(position, bytes);
    this.#hash.update(bytes);
    this.#end += bytes.length;
  }

  syncData(): Promise<void> {
    return this.#file.syncData();
  }

  syncDataNow(): void {
    this.#file.syncDataNow();
  }

  truncate(): void {
    assert(false, `"${this.path}" is not cut`);
  }

  close(): void {
    this.#file.close();
  }
}
