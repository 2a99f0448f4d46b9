/** Finds the folder of the package that a command is about, or the source that stands alone. */
import { basename, dirname, resolve } from "node:path";
import { CommandError } from "../../../lang/commands/command_error.ts";
import { messageOf } from "./disk_files.ts";

/** The package of a path, and the file in it that was named. */
export interface PackageLocation {
  readonly root: string;
  /** Relative to the root with `/`; null when a folder was named. */
  readonly file: string | null;
  /** Whether the file is the whole package: a source that belongs to none. */
  readonly isAlone: boolean;
}

/**
 * The nearest folder with a `project.toml`, at a path or above it; for a source outside of every package's `src/`,
 * its own folder.
 */
export function findPackage(path = "."): PackageLocation {
  const start = resolve(path);
  const isDirectory = isFolder(path);
  const root = nearestPackage(isDirectory ? start : dirname(start));
  if (isDirectory && root !== null) return { root, file: null, isAlone: false };
  const file = root === null ? basename(start) : start.slice(root.length + 1).replaceAll("\\", "/");
  if (root !== null && /^src\/.*\.lang$|^project\.toml$/.test(file)) return { root, file, isAlone: false };
  if (!isDirectory && start.endsWith(".lang")) {
    return { root: dirname(start), file: basename(start), isAlone: true };
  }
  if (root !== null) {
    throw new CommandError(
      `Cannot take ${path}: it is no source of the package`,
      "Sources end with `.lang`; those of a package are under src/.",
    );
  }
  throw new CommandError(
    `Cannot find a package: there is no project.toml in ${path === "." ? "this folder" : path} or above it`,
    "`lang new NAME` writes a package; go to its folder or name it. A single `.lang` file can be named too.",
  );
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(resolve(path)).isDirectory;
  } catch (error) {
    const isMissing = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
    throw new CommandError(
      `Cannot open ${path}: ${isMissing ? "there is no such file or folder" : messageOf(error)}`,
    );
  }
}

function nearestPackage(start: string): string | null {
  for (let folder = start;;) {
    if (hasManifest(folder)) return folder;
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
}

function hasManifest(folder: string): boolean {
  try {
    return Deno.statSync(`${folder}/project.toml`).isFile;
  } catch {
    return false;
  }
}
