/**
 * The files of a package for clients that are confined to it: links are followed within its folder only.
 *
 * Texts are kept for as long as size, time of change, time of the entry's change and number of the file stay the
 * same. A file that changed less than two seconds before it was read is read again, since a second change may then
 * have the same times.
 */
import { CommandError } from "../../../../lang/commands/command_error.ts";
import type { PackageFiles } from "../../../../lang/package/package_files.ts";
import { isPlainPath } from "../../../../lang/package/plain_path.ts";
import { isInside, realPathOf } from "../../shared/confined_path.ts";

const SETTLED_MILLISECONDS = 2_000;

interface KnownText {
  readonly key: string;
  readonly isSettled: boolean;
  readonly text: string;
}

/** Files of a folder, confined to it. */
export class ConfinedFiles implements PackageFiles {
  readonly #files: PackageFiles;
  readonly #root: string;
  readonly #known = new Map<string, KnownText>();

  /** Takes the folder without links in its path, and the files in it. */
  constructor(root: string, files: PackageFiles) {
    this.#root = root;
    this.#files = files;
  }

  /** @inheritdoc */
  list(): readonly string[] {
    const outside = ["docs", "src", "web", "project.toml"].filter((name) => this.#leadsOutside(name));
    const paths = this.#files.list();
    return outside.length === 0
      ? paths
      : paths.filter((path) => !outside.some((name) => path === name || path.startsWith(`${name}/`)));
  }

  #leadsOutside(name: string): boolean {
    const path = `${this.#root}/${name}`;
    const info = lookAt(path);
    if (info === null || !info.isSymlink) return false;
    const real = realPathOf(path);
    return real === null || !isInside(this.#root, real);
  }

  /** @inheritdoc */
  read(path: string): string | undefined {
    this.#require(path);
    const full = `${this.#root}/${path}`;
    const info = lookAt(full);
    // A source that stands alone has a manifest that is nowhere on disk.
    if (info === null) return this.#files.read(path);
    const key = info.isFile ? keyOf(info) : null;
    const known = this.#known.get(path);
    if (known !== undefined && key === known.key && known.isSettled) return known.text;
    const real = realPathOf(full);
    if (real === null || !isInside(this.#root, real)) throw outside(path);
    // Reading a pipe would wait for a writer.
    const { isFile, isDirectory } = info.isSymlink ? Deno.statSync(real) : info;
    if (!isFile && !isDirectory) throw new CommandError(`Cannot read ${path}: it is no plain file`);
    const changed = Math.max(info.mtime?.getTime() ?? Infinity, info.ctime?.getTime() ?? Infinity);
    const isSettled = Date.now() - changed > SETTLED_MILLISECONDS;
    const text = this.#files.read(path);
    if (text === undefined || key === null) this.#known.delete(path);
    // The same text stays the same object, so that comparing it costs nothing.
    else this.#known.set(path, { key, isSettled, text: known?.text === text ? known.text : text });
    return this.#known.get(path)?.text ?? text;
  }

  /** @inheritdoc */
  write(path: string, content: string | Uint8Array): void {
    this.#require(path);
    this.#requireParent(path);
    this.#known.delete(path);
    this.#files.write(path, content);
  }

  /** @inheritdoc */
  remove(path: string): void {
    this.#require(path);
    this.#requireParent(path);
    this.#known.delete(path);
    this.#files.remove(path);
  }

  #require(path: string): void {
    if (!isPlainPath(path)) throw outside(path);
  }

  /** The nearest folder above that exists must be inside. */
  #requireParent(path: string): void {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = `${this.#root}/${path.slice(0, at)}`;
      if (lookAt(folder) === null) continue;
      const real = realPathOf(folder);
      if (real === null || !isInside(this.#root, real)) throw outside(path);
      return;
    }
  }
}

function keyOf({ size, mtime, ctime, ino }: Deno.FileInfo): string {
  return `${size} ${mtime?.getTime() ?? ""} ${ctime?.getTime() ?? ""} ${ino ?? ""}`;
}

function lookAt(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch {
    // There is nothing, or nothing to be seen; reading it says why.
    return null;
  }
}

function outside(path: string): CommandError {
  return new CommandError(`Cannot use ${path}: it leads out of the package`);
}
