/**
 * The machine as the language server sees it: packages on disk, and a folder where editors find the library's
 * sources.
 */
import { basename, dirname, join } from "node:path";
import { tmpdir } from "node:os";
import { CommandError } from "../../../../lang/commands/command_error.ts";
import type { EditorHost } from "../../../../lang/servers/lsp/language_server.ts";
import type { EditorPackage } from "../../../../lang/servers/lsp/package_session.ts";
import { MemoryFiles } from "../../../../lang/package/package_files.ts";
import { version } from "../../../shared/version.ts";
import { DiskFiles } from "../../shared/disk_files.ts";
import { LoneSource } from "../../shared/lone_source.ts";
import { findPackage } from "../../shared/package_folder.ts";

/** Where the library's sources are put for editors that show files only. */
const LIBRARY_FOLDER = join(tmpdir(), `lang-library-${version}`).replaceAll("\\", "/");

/** Packages on disk. */
export class DiskHost implements EditorHost {
  packageOf(path: string): EditorPackage & { readonly file: string | null } | null {
    const isFolder = kindOf(path) === "folder";
    const root = packageRoot(isFolder ? path : existingFolder(dirname(path)));
    if (root !== null) {
      if (isFolder) return { root, files: new DiskFiles(root), file: null };
      const file = path.slice(root.length + 1);
      if (/^src\/.*\.lang$|^project\.toml$/.test(file)) return { root, files: new DiskFiles(root), file };
    }
    if (isFolder || !path.endsWith(".lang")) return null;
    const file = basename(path);
    const folder = dirname(path).replaceAll("\\", "/");
    // Sources that stand alone beside one another are packages of their own.
    return { root: folder, alone: file, files: new LoneSource({ root: folder, file }), file };
  }

  looseText(): EditorPackage & { readonly file: string } {
    const files = new MemoryFiles([["project.toml", 'name = "untitled"\nversion = "0.0.0"\n']]);
    return { root: "", files, file: "Untitled.lang" };
  }

  libraryPathOf(path: string): string | null {
    const home = `${LIBRARY_FOLDER}/`;
    const match = path.startsWith(home)
      ? /^([a-z]+)\/([a-z0-9_]+)\.lang$/.exec(path.slice(home.length))
      : null;
    return match === null ? null : `${match[1]}:${match[2]}`;
  }

  libraryFile(path: string, text: string): string | null {
    const target = `${LIBRARY_FOLDER}/${path.replace(":", "/")}.lang`;
    try {
      if (kindOf(target) === null || Deno.readTextFileSync(target) !== text) {
        Deno.mkdirSync(dirname(target), { recursive: true });
        Deno.writeTextFileSync(target, text);
      }
      return target;
    } catch {
      // Without a place for it, the editor is told of no place.
      return null;
    }
  }
}

function kindOf(path: string): "folder" | "file" | null {
  try {
    return Deno.statSync(path).isDirectory ? "folder" : "file";
  } catch {
    return null;
  }
}

/** The nearest folder that is there: a new file may stand in one that is not yet. */
function existingFolder(path: string): string {
  for (let at = path;; at = dirname(at)) {
    if (kindOf(at) === "folder" || dirname(at) === at) return at;
  }
}

function packageRoot(folder: string): string | null {
  try {
    return findPackage(folder).root.replaceAll("\\", "/");
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}
