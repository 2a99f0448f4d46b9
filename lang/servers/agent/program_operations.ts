/** Ops that run programs: `run` and `test`. What is run runs elsewhere, within limits, and can be canceled. */
import { runBy } from "../../commands/run.ts";
import { test } from "../../commands/tests.ts";
import { makePatch, writePatches } from "../../commands/patch.ts";
import { MemoryFiles } from "../../package/package_files.ts";
import { renderResults } from "../../testing/report.ts";
import { fixCountOf } from "./answer.ts";
import { openFor, type Operation, refuseOverlay } from "./operations.ts";
import { DEFAULT_SECONDS, type RequestOf } from "./requests.ts";
import type { Texts } from "./agent_package.ts";

/** More gas than a program can use in a second: a tight loop used 1e9 on the machine that this was written on. */
const GAS_PER_SECOND = 3e9;

/** What a busy machine may take to see that the time is over; until then the gas must last. */
const SPARE_SECONDS = 2;

/**
 * Gas for a program that none was named for. Deno (2.9.6) cannot stop a thread that computes: `terminate()` lets go
 * of it, and it goes on until the process ends. So a program that was stopped for its time or by `cancel` has to end
 * by itself, soon after.
 */
function gasWithin(seconds: number | undefined): number | null {
  const limit = milliseconds(seconds);
  return Math.ceil((limit / 1000 + SPARE_SECONDS) * GAS_PER_SECOND);
}

/** `run`. */
export async function runProgram(request: RequestOf<"run">, operation: Operation): Promise<number> {
  const { answer, signal, environment } = operation;
  const opened = openFor(operation, request);
  const output = new Output();
  const runner = environment.programsIn({
    folder: opened.package.folder,
    stdin: request.stdin ?? "",
    seed: request.seed ?? 0,
    onWritten: (stream, bytes) => output.add(stream, bytes),
  });
  const workspace = opened.package.workspaceOf(opened.package.read(opened.overlay));
  const outcome = await runBy(runner, workspace, {
    args: request.args ?? [],
    gas: request.gas ?? gasWithin(request.timeout),
    timeoutMilliseconds: milliseconds(request.timeout),
    signal,
  });
  const { diagnostics, hasRun, exitCode, trap } = outcome;
  for (const { stream, text } of output.texts()) answer.log(stream, text);
  const truncated = answer.envelopes(diagnostics, { maximum: request.max_diagnostics });
  answer.result("run", {
    ok: exitCode === 0,
    diagnosticsCount: diagnostics.length,
    fixCount: fixCountOf(diagnostics),
  }, { truncated, has_run: hasRun, exit_code: exitCode, trap: trap === null ? null : { ...trap } });
  return exitCode;
}

/** `test`. */
export async function runTests(request: RequestOf<"test">, operation: Operation): Promise<number> {
  const { answer, signal, environment } = operation;
  const opened = openFor(operation, request);
  const texts = opened.package.read(opened.overlay);
  const isUpdate = request.update ?? false;
  if (isUpdate) refuseOverlay(opened, "test", "without `update`, nothing is written.");
  // New snapshots are written into memory first, and into the files when all is done.
  const memory = new MemoryFiles(texts);
  const workspace = isUpdate ? opened.package.workspaceOver(memory) : opened.package.workspaceOf(texts);
  const seed = request.seed ?? 0;
  const outcome = await test(workspace, {
    filter: request.filter,
    evals: request.eval ?? false,
    update: isUpdate,
    seed,
    gas: request.gas ?? gasWithin(request.timeout),
    timeoutMilliseconds: milliseconds(request.timeout),
    signal,
    runner: environment.tests,
  });
  const { diagnostics, results, isPassed, updatedPaths } = outcome;
  if (updatedPaths.length > 0) {
    signal.throwIfAborted();
    writePatches(opened.package.files, changes(texts, memory, updatedPaths));
  }
  const truncated = answer.envelopes(diagnostics, { maximum: request.max_diagnostics });
  if (results !== null) answer.log("stdout", renderResults(results, { seed }));
  answer.result("test", {
    ok: isPassed,
    diagnosticsCount: diagnostics.length,
    fixCount: fixCountOf(diagnostics),
  }, {
    truncated,
    passed: results?.filter((each) => each.isPassed).length ?? 0,
    failed: results?.filter((each) => !each.isPassed).length ?? 0,
    tests: (results ?? []).map((each) => ({ ...each })),
    updated: [...updatedPaths],
  });
  return isPassed ? 0 : 1;
}

function changes(texts: Texts, memory: MemoryFiles, paths: readonly string[]) {
  return paths.map((path) => makePatch(path, texts.get(path) ?? "", memory.read(path) ?? ""));
}

function milliseconds(seconds: number = DEFAULT_SECONDS): number {
  return seconds * 1_000;
}

/** What a program writes, in the order in which it does, that of one stream joined. */
class Output {
  readonly #parts: { readonly stream: "stdout" | "stderr"; readonly pieces: Uint8Array<ArrayBuffer>[] }[] =
    [];

  add(stream: "stdout" | "stderr", bytes: Uint8Array): void {
    const last = this.#parts.at(-1);
    const piece = new Uint8Array(bytes);
    if (last?.stream === stream) last.pieces.push(piece);
    else this.#parts.push({ stream, pieces: [piece] });
  }

  texts(): { readonly stream: "stdout" | "stderr"; readonly text: string }[] {
    return this.#parts.map(({ stream, pieces }) => ({ stream, text: textOf(pieces) }));
  }
}

function textOf(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}
