/**
 * The modules that a whole group of tests is run from, each of which imports one test file or several. Files that are
 * named to `deno test` run deepest folder first; modules of one folder run in the order in which they are named, so
 * that what takes longest can begin first. Small files of one folder share a module, and with it a thread: loading the
 * engine takes longer than most of their tests, and what is loaded once is compiled once.
 */
import { pathToFileURL } from "node:url";
import { projectRoot } from "./project.ts";

/** How many files share a module at most: with more of them, processors would wait for the last one. */
const FILES = 8;
/** The same below `tests/`, where they take longer. */
const LONGER_FILES = 4;

/** Writes the modules into an empty folder; answers them in the files' order. */
export async function writeTestModules(
  folder: string,
  files: readonly string[],
  isSmall: (path: string) => boolean,
): Promise<string[]> {
  const modules = new Map<string, string[]>();
  const counts = new Map<string, number>();
  for (const path of files) {
    const area = isSmall(path) ? path.split("/").slice(0, -1).slice(0, 2).join("_") : null;
    const count = area === null ? 0 : counts.get(area) ?? 0;
    if (area !== null) counts.set(area, count + 1);
    const name = area === null
      ? path.replaceAll("/", "_")
      : `${area}_${Math.floor(count / filesOf(path)) + 1}.ts`;
    modules.set(name, [...modules.get(name) ?? [], path]);
  }
  const names: string[] = [];
  for (const [name, paths] of modules) {
    const lines = paths.map((path) =>
      `import ${JSON.stringify(pathToFileURL(`${projectRoot}/${path}`).href)};\n`
    );
    await Deno.writeTextFile(`${folder}/${name}`, lines.join(""));
    names.push(`${folder}/${name}`);
  }
  return names;
}

function filesOf(path: string): number {
  return path.startsWith("tests/") ? LONGER_FILES : FILES;
}
