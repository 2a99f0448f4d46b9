/**
 * The modules that a whole group of tests is run from, each of which imports one test file or several. Files that are
 * named to `deno test` run deepest folder first; modules of one folder run in the order in which they are named, so
 * that what takes longest can begin first. Small files of an area share modules, and with each a thread: loading the
 * engine takes longer than most of their tests, and what is loaded once is compiled once.
 */
import { pathToFileURL } from "node:url";
import { projectRoot } from "./project.ts";

/** How many files share a module at most: with more of them, processors would wait for the last one. */
const MAX_FILES = 24;
/** The same below `tests/`, where they take longer. */
const MAX_LONGER_FILES = 8;

/** Writes the modules into an empty folder; answers them in the files' order. */
export async function writeTestModules(
  folder: string,
  files: readonly string[],
  isSmall: (path: string) => boolean,
): Promise<string[]> {
  const areas = Map.groupBy(files, (path) => isSmall(path) ? path.split("/")[0] ?? path : path);
  const modules = [...areas].flatMap(([area, paths]) => dealt(area.replaceAll("/", "_"), paths));
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

/** The files of an area in as few modules as may be; neighbors take about as long, and go to different ones. */
function dealt(area: string, paths: readonly string[]): [name: string, paths: string[]][] {
  const count = Math.ceil(paths.length / (area === "tests" ? MAX_LONGER_FILES : MAX_FILES));
  return Array.from({ length: count }, (_, at) => [
    area.endsWith(".ts") ? area : `${area}_${at + 1}.ts`,
    paths.filter((_, index) => index % count === at),
  ]);
}
