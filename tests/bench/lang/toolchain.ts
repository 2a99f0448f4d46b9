/** How fast the toolchain is, and how large what it makes: check, fmt and build; core modules of games. */
import { generatedPackage } from "../../../lang/check/check_bench.ts";
import { build } from "../../../lang/commands/build.ts";
import { fmt } from "../../../lang/commands/fmt.ts";
import { Workspace } from "../../../lang/commands/workspace.ts";
import { newPackageFiles } from "../../../lang/package/new_package.ts";
import { MemoryFiles } from "../../../lang/package/package_files.ts";
import { compareWorkers, type Comparison, type Scale, type Worker } from "../benchmark.ts";
import { runProgram } from "../peers/process.ts";
import type { LanguageOptions } from "./options.ts";

/** A measurement without a peer. */
interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly bar: string;
  worker(options: LanguageOptions): Promise<Worker & { finish?(): Promise<void> }>;
}

/** Runs that are thrown away, so that the process is warm. */
const WARM_UPS: Readonly<Record<Scale, number>> = { smoke: 1, full: 6 };
/** Modules of about 320 lines; with 32 the package has more than 10 000 lines. */
const MODULES: Readonly<Record<Scale, number>> = { smoke: 2, full: 32 };
const MANIFEST = 'name = "large"\nversion = "0.1.0"\n';
const EMPTY_GAME = `type State = { ticks: Int }

pub fn init(seed: Int) -> State {
  State { ticks: seed }
}

pub fn step(state: inout State) {
  state.ticks += 1
}

pub fn draw(_state: State) {}
`;

const MEASUREMENTS: readonly Measurement[] = [
  { name: "check, 10 000 lines, from nothing", unit: "ms", bar: "≤ 400", worker: checkFromNothing },
  { name: "check, 10 000 lines, one body changed", unit: "ms", bar: "≤ 30", worker: checkChange },
  { name: "fmt, 10 000 lines", unit: "ms", bar: "≤ 300", worker: formatAll },
  { name: "build of Pong, whole process", unit: "ms", bar: "≤ 400", worker: buildProcess },
  { name: "core module of an empty game", unit: "bytes", bar: "≤ 1,024", worker: sizeOf(emptyGame) },
  { name: "core module of Pong", unit: "bytes", bar: "≤ 12,288", worker: sizeOf(pong) },
];

/** Names of what {@link measureToolchain} gives. */
export const TOOLCHAIN_NAMES: readonly string[] = MEASUREMENTS.map(({ name }) => name);

/** Measures the toolchain; what is ready is told at once. */
export async function measureToolchain(
  options: LanguageOptions,
  tell: (result: Comparison) => void,
): Promise<readonly Comparison[]> {
  const results: Comparison[] = [];
  for (const measurement of MEASUREMENTS) {
    const worker = await measurement.worker(options);
    try {
      const rounds = measurement.unit === "bytes" ? 1 : options.rounds;
      const result = await compareWorkers(measurement, [worker], rounds);
      tell(result);
      results.push(result);
    } finally {
      await worker.finish?.();
    }
  }
  return results;
}

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** A measurement that is taken a few times for nothing at first. */
function warmedUp(scale: Scale, measure: () => number): Worker {
  return {
    name: "lang",
    prepare: () => {
      for (let round = 0; round < WARM_UPS[scale]; round++) measure();
      return Promise.resolve();
    },
    measure: () => Promise.resolve(measure()),
  };
}

function largePackage(scale: Scale): MemoryFiles {
  const files = new MemoryFiles([["project.toml", MANIFEST], ...generatedPackage(MODULES[scale])]);
  const lines = files.list().reduce((sum, path) => sum + (files.read(path)?.split("\n").length ?? 0), 0);
  if (scale === "full" && lines < 10_000) {
    throw new Error(`Cannot measure the check: the package has ${lines} lines`);
  }
  return files;
}

function refuseErrors(workspace: Workspace): void {
  const error = workspace.check().diagnostics.find(({ severity }) => severity === "error");
  if (error !== undefined) throw new Error(`Cannot measure the check: ${error.message}`);
}

function checkFromNothing({ scale }: LanguageOptions): Promise<Worker> {
  const files = largePackage(scale);
  return Promise.resolve(warmedUp(scale, () => timed(() => refuseErrors(new Workspace(files)))));
}

function checkChange({ scale }: LanguageOptions): Promise<Worker> {
  const files = largePackage(scale);
  const path = `src/part${MODULES[scale] >> 1}.lang`;
  const text = files.read(path) ?? "";
  const workspace = new Workspace(files);
  let version = 0;
  return Promise.resolve(warmedUp(scale, () => {
    version++;
    const changed = text.replace("var moved = 0", `var moved = ${version}`);
    if (changed === text) throw new Error("Cannot measure the check: nothing was changed");
    files.write(path, changed);
    return timed(() => refuseErrors(workspace));
  }));
}

function formatAll({ scale }: LanguageOptions): Promise<Worker> {
  const workspace = new Workspace(largePackage(scale));
  return Promise.resolve(warmedUp(scale, () => timed(() => fmt(workspace, { check: true }))));
}

/** Pong on the disk, built by `lang build` as it is typed. */
async function buildProcess({ binary }: LanguageOptions): Promise<Worker & { finish(): Promise<void> }> {
  const folder = await Deno.makeTempDir({ prefix: "lang-bench-pong-" });
  const sources = new URL("../../../cli/lang.ts", import.meta.url).pathname;
  const [command, ...args] = binary === null
    ? [Deno.execPath(), "run", "-A", "--no-check", sources]
    : [await Deno.realPath(binary)];
  for (const [path, text] of newPackageFiles("pong", "game")) {
    const place = `${folder}/${path}`;
    await Deno.mkdir(place.slice(0, place.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(place, text);
  }
  const run = async () => {
    const start = performance.now();
    await runProgram(command ?? "", [...args, "build"], { cwd: folder });
    return performance.now() - start;
  };
  return {
    name: "lang",
    prepare: async () => void await run(),
    measure: run,
    finish: () => Deno.remove(folder, { recursive: true }),
  };
}

function emptyGame(): MemoryFiles {
  return new MemoryFiles([
    ["project.toml", 'name = "empty"\nversion = "0.1.0"\ntarget = "wasm32-web"\n'],
    ["src/main.lang", EMPTY_GAME],
  ]);
}

function pong(): MemoryFiles {
  return new MemoryFiles(newPackageFiles("pong", "game"));
}

function sizeOf(files: () => MemoryFiles): () => Promise<Worker> {
  return () =>
    Promise.resolve({
      name: "lang",
      prepare: () => Promise.resolve(),
      measure: async () => {
        const { built, diagnostics } = await build(new Workspace(files()), { isRelease: true });
        if (built === null) throw new Error(`Cannot measure the module: ${diagnostics[0]?.message}`);
        return coreModuleBytes(built.bytes);
      },
    });
}

/** The size of the first core module in a component: the first section of number 1. */
export function coreModuleBytes(component: Uint8Array): number {
  for (let at = 8; at < component.length;) {
    const section = component[at++];
    let size = 0;
    for (let shift = 0;; shift += 7) {
      const byte = component[at++] ?? 0;
      size |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    if (section === 1) return size;
    at += size;
  }
  throw new Error("Cannot measure the module: the component has none");
}
