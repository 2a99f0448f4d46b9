/** Finds the folder of the package that a command is about. */
import { dirname, resolve } from "node:path";
import { CommandError } from "../../lang/commands/command_error.ts";

/** The package of a path, and the file in it that was named. */
export interface PackageLocation {
  readonly root: string;
  /** Relative to the root with `/`; null when a folder was named. */
  readonly file: string | null;
}

/** The nearest folder with a `project.toml`, at a path or above it. */
export function findPackage(path = "."): PackageLocation {
  const start = resolve(path);
  let isDirectory: boolean;
  try {
    isDirectory = Deno.statSync(start).isDirectory;
  } catch {
    throw new CommandError(`Cannot open ${path}: there is no such file or folder`);
  }
  for (let folder = isDirectory ? start : dirname(start);;) {
    if (hasManifest(folder)) {
      const file = isDirectory ? null : start.slice(folder.length + 1).replaceAll("\\", "/");
      return { root: folder, file };
    }
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  throw new CommandError(
    `Cannot find a package: there is no project.toml in ${path === "." ? "this folder" : path} or above it`,
    "`lang new NAME` writes a package; go to its folder or name it.",
  );
}

function hasManifest(folder: string): boolean {
  try {
    return Deno.statSync(`${folder}/project.toml`).isFile;
  } catch {
    return false;
  }
}
