/**
 * Languages that run the same programs, a process each: this one as release and as debug build, AssemblyScript, whose
 * compiler is not among the project's dependencies but comes by `assemblyscript.json` when it is asked for, and
 * JavaScript.
 */
import { compileProgram } from "../../../lang/commands/build.ts";
import { Workspace } from "../../../lang/commands/workspace.ts";
import { MemoryFiles } from "../../../lang/package/package_files.ts";
import { optimizeModule } from "../../../lang/wasm/release.ts";
import { runProgram } from "../peers/process.ts";
import { TextLineStream } from "../peers/text_lines.ts";
import { type Program, PROGRAMS, type Work } from "./programs.ts";

/** What the process is asked. */
export interface RunRequest {
  readonly program: string;
  readonly size: number;
}

/** What it answers. */
export interface RunAnswer {
  readonly answer: number;
  readonly milliseconds: number;
}

/** A language's process. */
export interface LanguagePeer {
  readonly name: string;
  /** Runs a program once, in milliseconds; rejects when its answer is wrong. */
  run(program: Program, work: Work): Promise<number>;
  stop(): Promise<void>;
}

/** Names of the peers, ours first. */
export const RELEASE = "lang --release";
export const ASSEMBLYSCRIPT = "AssemblyScript -O3";
export const JAVASCRIPT = "JavaScript";
export const DEBUG = "lang debug";

/** How long a peer runs small work before it is measured, so that the engine's optimizing compiler has seen it. */
const WARM_UP_MILLISECONDS = 300;

/**
 * Starts this language, JavaScript and, unless `alone`, AssemblyScript; those that cannot run are told by `missing`.
 */
export async function startLanguages(
  options: { readonly alone: boolean; readonly missing: string[] },
): Promise<readonly LanguagePeer[]> {
  const folder = await Deno.makeTempDir({ prefix: "lang-bench-" });
  const peers: LanguagePeer[] = [];
  for (const name of ["release", "debug", "assemblyscript"]) await Deno.mkdir(`${folder}/${name}`);
  await compileOwn(folder);
  peers.push(startRunner(RELEASE, "wasm", `${folder}/release`));
  if (!options.alone) {
    const reason = await compileAssemblyScript(`${folder}/assemblyscript`);
    if (reason === null) peers.push(startRunner(ASSEMBLYSCRIPT, "wasm", `${folder}/assemblyscript`));
    else options.missing.push(`AssemblyScript: ${reason}`);
  }
  peers.push(
    startRunner(JAVASCRIPT, "js", new URL("programs", import.meta.url).href),
    startRunner(DEBUG, "wasm", `${folder}/debug`),
  );
  const [first, ...others] = peers;
  if (first === undefined) return peers;
  const stop = async () => {
    await first.stop();
    await Deno.remove(folder, { recursive: true });
  };
  return [{ ...first, stop }, ...others];
}

/** Runs the small work until the engine has optimized it, then the work itself once; where all work is small, once. */
export async function warmUp(peer: LanguagePeer, program: Program, work: Work): Promise<void> {
  const { smoke } = program.works;
  if (work === smoke) return void await peer.run(program, smoke);
  let spent = 0;
  for (let calls = 0; calls < 3 || spent < WARM_UP_MILLISECONDS; calls++) {
    // The round trip to the process leaves its background compiler time as well.
    spent += Math.max(await peer.run(program, smoke), 1);
  }
  await peer.run(program, work);
}

/** The geometric mean, of ratios and of times. */
export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

async function compileOwn(folder: string): Promise<void> {
  for (const { name } of PROGRAMS) {
    const source = await Deno.readTextFile(new URL(`programs/${name}.lang`, import.meta.url));
    const files = new MemoryFiles([["project.toml", 'name = "bench"\nversion = "0.1.0"\n'], [
      "src/main.lang",
      source,
    ]]);
    const { program, diagnostics } = new Workspace(files).check();
    if (program === null) throw new Error(`Cannot compile ${name}.lang: ${diagnostics[0]?.message}`);
    const { bytes } = compileProgram(program, null);
    await Deno.writeFile(`${folder}/debug/${name}.wasm`, bytes);
    await Deno.writeFile(`${folder}/release/${name}.wasm`, await optimizeModule(bytes, { isSmall: false }));
  }
}

/** Compiles all programs; the reason when that cannot be. */
async function compileAssemblyScript(folder: string): Promise<string | null> {
  const place = (file: string) => new URL(file, import.meta.url).pathname;
  try {
    await runProgram(Deno.execPath(), [
      "run",
      "-A",
      "--no-check",
      "--config",
      place("assemblyscript.json"),
      "--lock",
      place("assemblyscript.lock"),
      place("assemblyscript_compiler.ts"),
      folder,
      ...PROGRAMS.map(({ name }) => name),
    ]);
    return null;
  } catch (error) {
    if (!(error instanceof Error) || error.message.includes("Cannot compile")) throw error;
    return error.message.split("\n").at(-1) ?? "it does not start";
  }
}

function startRunner(name: string, kind: "wasm" | "js", folder: string): LanguagePeer {
  const runner = new URL("runner.ts", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", runner, kind, folder],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream())
    .getReader();
  return {
    name,
    run: async (program, { size, answer: expected }) => {
      const request: RunRequest = { program: program.name, size };
      await writer.write(new TextEncoder().encode(JSON.stringify(request) + "\n"));
      const line = await reader.read();
      if (line.done) throw new Error(`Cannot run ${program.title}: ${name} ended`);
      const { answer, milliseconds } = JSON.parse(line.value) as RunAnswer;
      if (answer === expected) return milliseconds;
      throw new Error(`Cannot measure ${program.title}: ${name} answers ${answer} instead of ${expected}`);
    },
    stop: async () => {
      await writer.close();
      await child.status;
    },
  };
}
