/** Paths of files in a package, as requests give them. */
import { isLoneSource } from "../../check/package_analysis.ts";
import { MANIFEST_PATH } from "../../commands/workspace.ts";
import { isPlainPath } from "../../package/plain_path.ts";
import { AgentFailure } from "./environment.ts";

/** Raises `outside_package` unless a path stays where it begins: no `..`, nothing absolute, `/` between its parts. */
export function requireInside(path: string): void {
  if (!isPlainPath(path)) throw outside(path);
}

/** The failure of a path that leads out of the package. */
export function outside(path: string): AgentFailure {
  const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path;
  return new AgentFailure(
    "outside_package",
    `Cannot use the path ${JSON.stringify(shown)}: it is outside of the package`,
    { hint: "Paths are relative to the package, without `..` and with `/`: src/main.lang." },
  );
}

/** Texts that a request lays over files, by path. */
export function overlayOf(files: Readonly<Record<string, string>> | undefined): ReadonlyMap<string, string> {
  const overlay = new Map(Object.entries(files ?? {}));
  for (const path of overlay.keys()) {
    requireInside(path);
    if (path === MANIFEST_PATH || isLoneSource(path) || /^(src|docs|web)\//.test(path)) continue;
    throw new AgentFailure("command", `Cannot take a text for ${path}: it is no file of a package`, {
      hint: "A package has project.toml and files under src/, docs/ and web/.",
    });
  }
  return overlay;
}
