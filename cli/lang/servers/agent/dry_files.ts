/**
 * Files whose changes are kept in memory: what a recording is replayed on, so that replaying it changes nothing and
 * can be done again.
 */
import type { PackageFiles } from "../../../../lang/package/package_files.ts";

/** Files below, and what was written over them. */
export class DryFiles implements PackageFiles {
  readonly #files: PackageFiles;
  /** Null: taken away. */
  readonly #changed = new Map<string, string | null>();

  constructor(files: PackageFiles) {
    this.#files = files;
  }

  /** @inheritdoc */
  list(): readonly string[] {
    if (this.#changed.size === 0) return this.#files.list();
    const paths = new Set(this.#files.list());
    for (const [path, text] of this.#changed) {
      if (text === null) paths.delete(path);
      else paths.add(path);
    }
    return [...paths].sort();
  }

  /** @inheritdoc */
  read(path: string): string | undefined {
    const changed = this.#changed.get(path);
    return changed === undefined ? this.#files.read(path) : changed ?? undefined;
  }

  /** @inheritdoc */
  write(path: string, content: string | Uint8Array): void {
    this.#changed.set(path, typeof content === "string" ? content : new TextDecoder().decode(content));
  }

  /** @inheritdoc */
  remove(path: string): void {
    this.#changed.set(path, null);
  }
}
