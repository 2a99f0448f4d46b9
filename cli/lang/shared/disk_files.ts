/**
 * The files of a package on disk.
 *
 * Hidden files and folders, `target/` and links are no part of a package.
 */
import { CommandError } from "../../../lang/commands/command_error.ts";
import type { PackageFiles } from "../../../lang/package/package_files.ts";

/** Folders whose files belong to a package. */
const FOLDERS = ["docs", "src", "web"] as const;

/** Where the manifest stands. */
export const MANIFEST = "project.toml";

/** A package's folder. */
export class DiskFiles implements PackageFiles {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  list(): readonly string[] {
    const paths: string[] = [];
    for (const folder of FOLDERS) this.#walk(folder, paths);
    if (isFile(`${this.root}/${MANIFEST}`)) paths.push(MANIFEST);
    return paths.sort();
  }

  #walk(folder: string, paths: string[]): void {
    let entries: Deno.DirEntry[];
    try {
      entries = [...Deno.readDirSync(`${this.root}/${folder}`)];
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return;
      throw new CommandError(`Cannot read the folder ${folder}: ${messageOf(error)}`);
    }
    for (const { name, isDirectory, isFile } of entries) {
      if (name.startsWith(".")) continue;
      if (isDirectory) this.#walk(`${folder}/${name}`, paths);
      else if (isFile) paths.push(`${folder}/${name}`);
    }
  }

  read(path: string): string | undefined {
    let bytes: Uint8Array;
    try {
      bytes = Deno.readFileSync(`${this.root}/${path}`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
        return undefined;
      }
      throw new CommandError(`Cannot read ${path}: ${messageOf(error)}`);
    }
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    } catch {
      throw new CommandError(`Cannot read ${path}: it is not UTF-8`);
    }
  }

  write(path: string, content: string | Uint8Array): void {
    const target = `${this.root}/${path}`;
    try {
      Deno.mkdirSync(target.slice(0, target.lastIndexOf("/")), { recursive: true });
      // Whole or not at all, for whoever reads meanwhile.
      const temporary = `${target}.${Deno.pid}.tmp`;
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      Deno.writeFileSync(temporary, bytes);
      Deno.renameSync(temporary, target);
    } catch (error) {
      throw new CommandError(`Cannot write ${path}: ${messageOf(error)}`);
    }
  }

  remove(path: string): void {
    try {
      Deno.removeSync(`${this.root}/${path}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) {
        throw new CommandError(`Cannot remove ${path}: ${messageOf(error)}`);
      }
    }
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** What the system says of a failure, without the path and the call. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [, text = error.message] = /^(.*?) ?(?:\(os error \d+\).*)?$/s.exec(error.message) ?? [];
  return text.replace(/[:.]?\s*$/, "").replace(/^\w/, (letter) => letter.toLowerCase());
}
