/**
 * The port to the files of a package: paths are relative to its folder and have `/`.
 *
 * What a package consists of is listed by {@link PackageFiles.list}; the disk, the texts of a test and unsaved
 * sources of an editor all stand behind it.
 */

/** Files of a package. */
export interface PackageFiles {
  /** Paths of `project.toml` and of all files under `src/`, `docs/` and `web/`, sorted. */
  list(): readonly string[];
  /** The text of a file; undefined when there is none. */
  read(path: string): string | undefined;
  /** Writes a file and makes the folders that it needs. */
  write(path: string, content: string | Uint8Array): void;
  /** Takes a file away, if it is there. */
  remove(path: string): void;
}

/** Files that are in memory alone. */
export class MemoryFiles implements PackageFiles {
  readonly #files: Map<string, string | Uint8Array>;

  constructor(files: Iterable<readonly [string, string | Uint8Array]> = []) {
    this.#files = new Map(files);
  }

  list(): readonly string[] {
    return [...this.#files.keys()].sort();
  }

  read(path: string): string | undefined {
    const content = this.#files.get(path);
    return content === undefined || typeof content === "string" ? content : new TextDecoder().decode(content);
  }

  write(path: string, content: string | Uint8Array): void {
    this.#files.set(path, content);
  }

  remove(path: string): void {
    this.#files.delete(path);
  }
}
