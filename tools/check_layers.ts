/**
 * `deno task check-layers`: reads the whole module graph and fails when an arrow points up or imports form a cycle.
 *
 * The graph is Deno's own (`deno info --json` on an entry that imports every product file), so comments, strings and
 * import maps are understood exactly as they are when the program runs. Type-only imports count: a type from above is
 * knowledge of what is above. Limits: dynamic imports with a computed specifier are not seen.
 */
import {
  type Import,
  importViolation,
  isProductFile,
  isTestFile,
  type KnownCycle,
  knownCycles,
  knownFolderCycles,
} from "./layers.ts";
import { projectRoot, run, sourceFiles } from "./project.ts";

interface InfoDependency {
  readonly specifier: string;
  readonly code?: { readonly specifier?: string; readonly error?: string };
  readonly type?: { readonly specifier?: string; readonly error?: string };
}

interface InfoModule {
  readonly specifier: string;
  readonly error?: string;
  readonly dependencies?: readonly InfoDependency[];
}

/** What the graph holds: the imports between files of the project, and files that cannot be loaded. */
export interface Graph {
  /** Imports between files below the root. */
  readonly imports: readonly Import[];
  /** One line for each module that could not be loaded. */
  readonly errors: readonly string[];
}

/** Reads the import graph of every product file below a folder. */
export async function readGraph(root: string): Promise<Graph> {
  const files = (await sourceFiles(root)).filter((path) => /\.tsx?$/.test(path) && isProductFile(path));
  const rootUrl = new URL(`file://${root.endsWith("/") ? root : `${root}/`}`).href;
  const folder = await Deno.makeTempDir({ prefix: "check-layers-" });
  try {
    const entry = `${folder}/entry.ts`;
    await Deno.writeTextFile(entry, files.map((path) => `import "${rootUrl}${path}";\n`).join(""));
    const config = await Deno.stat(`${root}/deno.json`).then(
      () => ["--config", `${root}/deno.json`],
      () => ["--no-config"],
    );
    const info = await run(Deno.execPath(), ["info", "--json", "--no-lock", ...config, entry], {
      directory: root,
    });
    if (info.code !== 0) throw new Error(`Cannot read the module graph: ${info.stderr.trim()}`);
    return collect(JSON.parse(info.stdout) as { modules: readonly InfoModule[] }, rootUrl);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function collect(info: { readonly modules: readonly InfoModule[] }, rootUrl: string): Graph {
  const imports: Import[] = [];
  const errors: string[] = [];
  const local = (specifier: string | undefined) =>
    specifier?.startsWith(rootUrl) ? decodeURIComponent(specifier.slice(rootUrl.length)) : undefined;
  for (const module of info.modules) {
    if (module.error !== undefined) errors.push(module.error.split("\n")[0] ?? module.error);
    const from = local(module.specifier);
    if (from === undefined) continue;
    for (const dependency of module.dependencies ?? []) {
      const failure = dependency.code?.error ?? dependency.type?.error;
      if (failure !== undefined) errors.push(`${from}: ${failure.split("\n")[0]}`);
      const to = local(dependency.code?.specifier ?? dependency.type?.specifier);
      if (to !== undefined) imports.push({ from, to, typeOnly: dependency.code === undefined });
    }
  }
  return { imports, errors };
}

/** The folder of a file; a file at the root stands for itself. */
function folderOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : path;
}

/** Which files, or folders, import which; tests are left out. */
function importGraph(imports: readonly Import[], nodeOf: (path: string) => string): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    if (isTestFile(from) || isTestFile(to)) continue;
    const [source, target] = [nodeOf(from), nodeOf(to)];
    if (source !== target) graph.set(source, (graph.get(source) ?? new Set()).add(target));
  }
  return graph;
}

/**
 * Groups of nodes each of which reaches all others of its group, largest first (Tarjan, SIAM Journal on Computing
 * 1972).
 */
export function cyclesIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const indexes = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): number => {
    const index = indexes.size;
    let low = index;
    indexes.set(node, index);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      const known = indexes.get(next);
      if (known === undefined) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, known);
    }
    if (low === index) {
      const members = stack.splice(stack.indexOf(node));
      if (members.length > 1) cycles.push(members.sort());
    }
    return low;
  };
  for (const node of graph.keys()) if (!indexes.has(node)) visit(node);
  return cycles.sort((left, right) => right.length - left.length);
}

/** One line for each cycle between files that `tools/layers.ts` does not list as it is. */
export function fileCycleViolations(imports: readonly Import[], known: readonly KnownCycle[]): string[] {
  const open = [...known];
  const violations = cyclesIn(importGraph(imports, (path) => path)).flatMap((files) => {
    const place = open.findIndex(({ folder, files: count }) =>
      count === files.length && files.every((file) => file.startsWith(`${folder}/`))
    );
    if (place >= 0) open.splice(place, 1);
    return place >= 0 ? [] : [`import cycle of ${files.length} files: ${files.join(" ")}`];
  });
  const gone = open.map(({ folder, files }) =>
    `no import cycle of ${files} files in ${folder} is left: correct knownCycles in tools/layers.ts`
  );
  return [...violations, ...gone];
}

/** One line for each group of folders that import each other. */
export function folderCycleViolations(
  imports: readonly Import[],
  known: ReadonlyMap<string, string>,
): string[] {
  const graph = importGraph(imports, folderOf);
  return cyclesIn(graph).flatMap((folders) => {
    const name = folders.join(" ");
    if (known.has(name)) return [];
    const examples = folders.flatMap((folder) =>
      imports.filter(({ from, to }) =>
        !isTestFile(from) && folderOf(from) === folder && folderOf(to) !== folder &&
        folders.includes(folderOf(to))
      ).slice(0, 2).map(({ from, to }) => `${from} -> ${to}`)
    );
    return [`folders import each other: ${name} (${examples.join("; ")})`];
  });
}

/** The import cycles that stay. */
interface KnownCycles {
  readonly files: readonly KnownCycle[];
  readonly folders: ReadonlyMap<string, string>;
}

const NO_CYCLES: KnownCycles = { files: [], folders: new Map() };

/** Every violation of the layer rules below a folder, one line each; empty when the tree is clean. */
export async function layerViolations(root: string, known: KnownCycles = NO_CYCLES): Promise<string[]> {
  const { imports, errors } = await readGraph(root);
  const wrong = imports.flatMap((edge) => {
    const violation = importViolation(edge);
    return violation === undefined ? [] : [`${edge.from} -> ${edge.to}: ${violation}`];
  });
  return [
    ...errors,
    ...wrong,
    ...folderCycleViolations(imports, known.folders),
    ...fileCycleViolations(imports, known.files),
  ];
}

if (import.meta.main) {
  const violations = await layerViolations(projectRoot, { files: knownCycles, folders: knownFolderCycles });
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) {
    console.error(`${violations.length} layer violations; the table is tools/layers.ts`);
    Deno.exit(1);
  }
  console.log("layers: every import points down");
}
