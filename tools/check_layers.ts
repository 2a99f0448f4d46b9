/**
 * `deno task check-layers`: reads the whole module graph and fails when an arrow points up or folders form a cycle.
 *
 * The graph is Deno's own (`deno info --json` on an entry that imports every product file), so comments, strings and
 * import maps are understood exactly as they are when the program runs. Type-only imports count: a type from above is
 * knowledge of what is above. Limits: dynamic imports with a computed specifier are not seen.
 */
import { type Import, importViolation, isProductFile, isTestFile, partOf } from "./layers.ts";
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

/** One shortest path back to its start for each folder that takes part in a cycle, each cycle told once. */
export function folderCycles(imports: readonly Import[]): string[][] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    if (isTestFile(from) || isTestFile(to)) continue;
    const [source, target] = [partOf(from), partOf(to)];
    if (source !== target) next.set(source, (next.get(source) ?? new Set()).add(target));
  }
  const cycles = new Map<string, string[]>();
  for (const start of [...next.keys()].sort()) {
    const path = shortestPath(next, start);
    if (path === undefined) continue;
    const members = [...path].sort().join(" ");
    if (!cycles.has(members)) cycles.set(members, [...path, start]);
  }
  return [...cycles.values()];
}

function shortestPath(next: ReadonlyMap<string, ReadonlySet<string>>, start: string): string[] | undefined {
  const queue: string[][] = [[start]];
  const seen = new Set<string>();
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const target of next.get(path.at(-1) ?? start) ?? []) {
      if (target === start) return path;
      if (seen.has(target)) continue;
      seen.add(target);
      queue.push([...path, target]);
    }
  }
  return undefined;
}

/** One import for each step of a cycle. */
function exampleImports(imports: readonly Import[], cycle: readonly string[]): string[] {
  return cycle.slice(1).map((target, index) => {
    const edge = imports.find(({ from, to }) =>
      !isTestFile(from) && partOf(from) === cycle[index] && partOf(to) === target
    );
    return edge === undefined ? "" : `${edge.from} -> ${edge.to}`;
  });
}

/** Every violation of the layer rules below a folder, one line each; empty when the tree is clean. */
export async function layerViolations(root: string): Promise<string[]> {
  const { imports, errors } = await readGraph(root);
  const wrong = imports.flatMap((edge) => {
    const violation = importViolation(edge);
    return violation === undefined ? [] : [`${edge.from} -> ${edge.to}: ${violation}`];
  });
  const cycles = folderCycles(imports).map((cycle) =>
    `cycle between folders: ${cycle.join(" -> ")} (${exampleImports(imports, cycle).join("; ")})`
  );
  return [...errors, ...wrong, ...cycles];
}

if (import.meta.main) {
  const violations = await layerViolations(projectRoot);
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) {
    console.error(`${violations.length} layer violations; the table is tools/layers.ts`);
    Deno.exit(1);
  }
  console.log("layers: every import points down");
}
