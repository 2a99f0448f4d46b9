/**
 * A host whose files live in memory, for databases that need not outlive the process (`:memory:`) and for tests.
 *
 * Syncs succeed at once. Limit: a file holds at most 2^31 - 1 bytes, because it is one growing array.
 */
import { assert } from "../base/assert.ts";
import {
  type DirectoryLock,
  type Disk,
  diskError,
  type DiskFile,
  lockedError,
  type OpenOptions,
} from "./disk.ts";
import { denoClockRandomTimers } from "./deno_host.ts";
import type { Host } from "./host.ts";

interface Content {
  bytes: Uint8Array;
  size: number;
}

class MemoryFile implements DiskFile {
  readonly path: string;
  readonly #content: Content;
  readonly #writable: boolean;

  constructor(path: string, content: Content, writable: boolean) {
    this.path = path;
    this.#content = content;
    this.#writable = writable;
  }

  get size(): number {
    return this.#content.size;
  }

  readAt(position: number, target: Uint8Array): number {
    const { bytes, size } = this.#content;
    const count = Math.max(0, Math.min(target.length, size - position));
    target.set(bytes.subarray(position, position + count));
    return count;
  }

  writeAt(position: number, bytes: Uint8Array): void {
    this.#resize(Math.max(this.#content.size, position + bytes.length));
    this.#content.bytes.set(bytes, position);
  }

  #resize(size: number): void {
    assert(this.#writable, `${this.path} is open for reading only`);
    const content = this.#content;
    if (size > content.bytes.length) {
      const grown = new Uint8Array(Math.max(size, Math.min(content.bytes.length * 2, 0x7fffffff), 4096));
      grown.set(content.bytes.subarray(0, content.size));
      content.bytes = grown;
    } else if (size < content.size) {
      content.bytes.fill(0, size, content.size);
    }
    content.size = size;
  }

  syncData(): Promise<void> {
    return Promise.resolve();
  }

  syncDataNow(): void {
    // Memory has nothing to sync to.
  }

  truncate(size: number): void {
    this.#resize(size);
  }

  close(): void {
    // There is no descriptor to give back.
  }
}

/** Files in memory. */
export class MemoryDisk implements Disk {
  readonly #files = new Map<string, Content>();
  readonly #locks = new Set<string>();

  openFile(path: string, options: OpenOptions): DiskFile {
    let content = this.#files.get(path);
    if (content === undefined) {
      if (!options.create) throw diskError("open file", path, "ENOENT", "No such file or directory");
      content = { bytes: new Uint8Array(0), size: 0 };
      this.#files.set(path, content);
    }
    return new MemoryFile(path, content, options.write);
  }

  list(directory: string): string[] {
    const prefix = directory.endsWith("/") ? directory : `${directory}/`;
    const names = new Set<string>();
    for (const path of this.#files.keys()) {
      if (!path.startsWith(prefix)) continue;
      const name = path.slice(prefix.length).split("/", 1)[0];
      if (name !== undefined && name !== "") names.add(name);
    }
    return [...names].sort((a, b) => (a < b ? -1 : 1));
  }

  exists(path: string): boolean {
    return this.#files.has(path) || this.list(path).length > 0;
  }

  rename(from: string, to: string): void {
    const content = this.#files.get(from);
    if (content === undefined) throw diskError("rename file", from, "ENOENT", "No such file or directory");
    this.#files.delete(from);
    this.#files.set(to, content);
  }

  link(from: string, to: string): void {
    const content = this.#files.get(from);
    if (content === undefined) throw diskError("link file", from, "ENOENT", "No such file or directory");
    if (this.#files.has(to)) throw diskError("link file", from, "EEXIST", "File exists");
    this.#files.set(to, content);
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  createDirectory(_path: string): void {
    // Directories exist as far as files name them.
  }

  syncDirectory(_path: string): void {
    // Memory has nothing to sync to.
  }

  lock(directory: string): DirectoryLock {
    if (this.#locks.has(directory)) throw lockedError(directory);
    this.#locks.add(directory);
    return { release: () => void this.#locks.delete(directory) };
  }
}

/** A host with an empty disk in memory and this machine's clock, random source and timers. */
export function memoryHost(): Host & { readonly disk: MemoryDisk } {
  return { ...denoClockRandomTimers(), disk: new MemoryDisk() };
}
