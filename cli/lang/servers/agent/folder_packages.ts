/**
 * The packages that an agent may work on: that of its folder, or those below it when its folder is in none.
 *
 * No message names the folder itself, so that answers are the same wherever it is.
 */
import { CommandError } from "../../../../lang/commands/command_error.ts";
import { AgentPackage } from "../../../../lang/servers/agent/agent_package.ts";
import { outside } from "../../../../lang/servers/agent/package_path.ts";
import type { OpenedPackage } from "../../../../lang/servers/agent/environment.ts";
import type { PackageFiles } from "../../../../lang/package/package_files.ts";
import { isPlainPath } from "../../../../lang/package/plain_path.ts";
import { SymbolLookups } from "../../../../lang/ide/lookups.ts";
import { CLI_LIMITS } from "../../../shared/limits.ts";
import { isInside, realPathOf } from "../../shared/confined_path.ts";
import { DiskFiles } from "../../shared/disk_files.ts";
import { LoneSource } from "../../shared/lone_source.ts";
import { ConfinedFiles } from "./confined_files.ts";

/** Packages in and below a folder. */
export class FolderPackages {
  /** The folder, without links in its path. */
  readonly #root: string;
  readonly #wrap: (files: PackageFiles) => PackageFiles;
  readonly #open = new Map<string, AgentPackage>();

  /** Takes where the agent was started, and who stands between packages and disk. */
  constructor(start: string, options: { readonly wrap?: (files: PackageFiles) => PackageFiles } = {}) {
    const real = realPathOf(start);
    if (real === null) throw new CommandError(`Cannot work in ${start}: there is no such folder`);
    this.#root = nearestPackage(real, "/") ?? real;
    this.#wrap = options.wrap ?? ((files) => files);
  }

  /** The package that a path leads to. */
  open(path: string | undefined): OpenedPackage {
    const asked = this.#relative(path ?? ".");
    const full = asked === "." ? this.#root : `${this.#root}/${asked}`;
    const info = statOf(full);
    const real = info === null ? null : realPathOf(full);
    if (real !== null && !isInside(this.#root, real)) throw outside(asked);
    const isFolder = info?.isDirectory ?? false;
    const folder = nearestPackage(isFolder ? full : full.slice(0, full.lastIndexOf("/")), this.#root);
    if (folder !== null) {
      const file = full === folder ? "" : full.slice(folder.length + 1);
      if (isFolder) return { package: this.#packageIn(folder, null), path: asked, file: null };
      if (/^src\/.*\.lang$|^project\.toml$/.test(file)) {
        return { package: this.#packageIn(folder, null), path: asked, file };
      }
    }
    if (info?.isFile === true && full.endsWith(".lang")) {
      const at = full.lastIndexOf("/");
      const file = full.slice(at + 1);
      return { package: this.#packageIn(full.slice(0, at), file), path: asked, file };
    }
    if (info === null) throw new CommandError(`Cannot open ${asked}: there is no such file or folder`);
    if (folder !== null) {
      throw new CommandError(
        `Cannot take ${asked}: it is no source of the package`,
        "Sources end with `.lang`; those of a package are under src/.",
      );
    }
    throw new CommandError(
      `Cannot find a package: there is no project.toml in ${
        asked === "." ? "this folder" : asked
      } or above it`,
      "`path` names a package below this folder; `lang new NAME` writes one.",
    );
  }

  #relative(path: string): string {
    const isAbsolute = path.startsWith("/");
    if (isAbsolute && !isInside(this.#root, path.replace(/\/+$/, ""))) throw outside(path);
    const relative = (isAbsolute ? path.slice(this.#root.length) : path)
      .replace(/^\/+|\/+$/g, "").replace(/^(?:\.\/)+/, "");
    if (relative === "" || relative === ".") return ".";
    if (!isPlainPath(relative)) throw outside(path);
    return relative;
  }

  /** The package of a folder, or of a source that stands alone in it. */
  #packageIn(folder: string, alone: string | null): AgentPackage {
    const key = alone === null ? folder : `${folder}/${alone}`;
    const known = this.#open.get(key) ?? this.#make(folder, alone);
    this.#open.delete(key);
    this.#open.set(key, known);
    const [oldest] = this.#open.keys();
    if (this.#open.size > CLI_LIMITS.agentPackages && oldest !== undefined) this.#open.delete(oldest);
    return known;
  }

  #make(folder: string, alone: string | null): AgentPackage {
    const real = realPathOf(folder) ?? folder;
    const files = alone === null ? new DiskFiles(real) : new LoneSource({ root: real, file: alone });
    return new AgentPackage({
      files: this.#wrap(new ConfinedFiles(real, files)),
      folder: real,
      symbols: () => new SymbolLookups(),
    });
  }
}

/** The nearest folder with a manifest, at a folder or above it, up to another one. */
function nearestPackage(start: string, top: string): string | null {
  for (let folder = start;;) {
    if (statOf(`${folder}/project.toml`)?.isFile === true) return folder;
    const at = folder.lastIndexOf("/");
    if (folder === top || at < 0 || folder === "") return null;
    folder = folder.slice(0, at);
  }
}

function statOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    // There is nothing, or nothing to be seen.
    return null;
  }
}
