/**
 * Removes files without holding the event loop: to free a gigabyte takes the file system a quarter of a second and
 * more, whoever gives up the last of its name and its descriptors.
 *
 * A large file gives up its name at once, by getting one that no listing shows; another thread removes it, one file at
 * a time, when this thread has closed its descriptors. What a crash leaves is removed when its directory is listed,
 * which every owner of a directory does at the start.
 */
import * as fs from "node:fs";
import { joinPath } from "./disk.ts";

/** What takes the file system about a millisecond to free. */
const LARGE_BYTES = 4 << 20;
/** How names of files end that are to be removed. */
const SUFFIX = ".removed";

/** The descriptors of one file that this thread has open. */
export class OpenDescriptors {
  count = 0;
  path: string;
  /** The name under which it is removed after the last one was closed. */
  removedPath: string | null = null;

  constructor(path: string) {
    this.path = path;
  }
}

/** See the file's head. */
export class LargeRemoval {
  readonly #open = new Map<string, OpenDescriptors>();
  /** Names of files that are to be removed by this. */
  readonly #pending = new Set<string>();
  #removing: Promise<void> = Promise.resolve();
  #removed = 0;

  /** A descriptor of the file has been opened. */
  opened(path: string): OpenDescriptors {
    let descriptors = this.#open.get(path);
    if (descriptors === undefined) this.#open.set(path, descriptors = new OpenDescriptors(path));
    descriptors.count++;
    return descriptors;
  }

  /** One of the descriptors has been closed. */
  closed(descriptors: OpenDescriptors): void {
    if (--descriptors.count > 0) return;
    if (this.#open.get(descriptors.path) === descriptors) this.#open.delete(descriptors.path);
    if (descriptors.removedPath !== null) this.#removeLater(descriptors.removedPath);
  }

  /** A file has another name; one that had it before has none. */
  renamed(from: string, to: string): void {
    const descriptors = this.#open.get(from);
    this.#open.delete(from);
    this.#open.delete(to);
    if (descriptors === undefined) return;
    descriptors.path = to;
    this.#open.set(to, descriptors);
  }

  /** Removes a file; a missing one is no error. */
  remove(path: string): void {
    const status = fs.statSync(path, { throwIfNoEntry: false });
    const descriptors = this.#open.get(path);
    this.#open.delete(path);
    if (status === undefined || status.size < LARGE_BYTES) return fs.rmSync(path, { force: true });
    const removedPath = `${path}.${++this.#removed}${SUFFIX}`;
    fs.renameSync(path, removedPath);
    this.#pending.add(removedPath);
    if (descriptors === undefined) this.#removeLater(removedPath);
    else descriptors.removedPath = removedPath;
  }

  /** The names of a directory without those of files that are to be removed; removes what others have left of them. */
  shown(directory: string, names: readonly string[]): string[] {
    return names.filter((name) => {
      if (!name.endsWith(SUFFIX)) return true;
      const path = joinPath(directory, name);
      if (!this.#pending.has(path)) {
        this.#pending.add(path);
        this.#removeLater(path);
      }
      return false;
    });
  }

  #removeLater(path: string): void {
    this.#removing = this.#removing.then(() =>
      new Promise((resolve) => {
        // One that cannot be removed stays for the next start; its name has been given up, which is what was asked.
        fs.unlink(path, () => {
          this.#pending.delete(path);
          resolve();
        });
      })
    );
  }
}
