/**
 * `run`: builds a command and runs it, in this thread or by a runner that can stop it; what it asks of the graph goes
 * to a host.
 *
 * The exit code is `main`'s result when it is 0 to 255, else 1; a trap gives 1.
 */
import { findEntryPoints } from "../check/entry_points.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { CodeMap } from "../host/code_map.ts";
import { externsOf, type RunnableModule } from "../host/wasm_program.ts";
import type { TrapReport } from "../host/wasm_trap.ts";
import type { Host } from "../interpret/host.ts";
import { compileProgram } from "./build.ts";
import { CommandError } from "./command_error.ts";
import { type CommandEnd, runModule } from "./run_module.ts";
import type { Workspace } from "./workspace.ts";

/** What a run gives. */
export interface RunOutcome {
  readonly diagnostics: readonly Diagnostic[];
  /** Whether the program was started. */
  readonly hasRun: boolean;
  readonly exitCode: number;
  readonly trap: TrapReport | null;
}

/** What bounds a run. */
export interface RunLimits {
  /** What it may use; without it nothing is counted. */
  readonly gas?: number | null;
  /** How long it may take; null without a limit. */
  readonly timeoutMilliseconds?: number | null;
  /** Ends it; the command then fails with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Runs compiled commands in another thread, where they can be stopped, and knows their graph. */
export interface CommandRunner {
  /** Runs one; a stopped one ends with a trap of the kind `timeout`. */
  run(module: RunnableModule, options: RunLimits & { readonly args: readonly string[] }): Promise<CommandEnd>;
}

/** A command that is compiled; null when there are errors. */
interface PreparedRun {
  readonly diagnostics: readonly Diagnostic[];
  readonly compiled: { readonly module: RunnableModule; readonly map: CodeMap } | null;
}

/** Builds the package and runs its `main` in this thread. */
export function run(
  workspace: Workspace,
  options: { readonly args: readonly string[]; readonly host: Host; readonly gas?: number | null },
): RunOutcome {
  const { gas = null } = options;
  const { diagnostics, compiled } = prepareRun(workspace, gas !== null);
  if (compiled === null) return notRun(diagnostics);
  return outcomeOf(diagnostics, compiled.map, runModule(compiled.module, { ...options, gas }));
}

/** Builds the package and has its `main` run. */
export async function runBy(
  runner: CommandRunner,
  workspace: Workspace,
  options: RunLimits & { readonly args: readonly string[] },
): Promise<RunOutcome> {
  const { diagnostics, compiled } = prepareRun(workspace, (options.gas ?? null) !== null);
  if (compiled === null) return notRun(diagnostics);
  return outcomeOf(diagnostics, compiled.map, await runner.run(compiled.module, options));
}

function prepareRun(workspace: Workspace, hasGas: boolean): PreparedRun {
  const checked = workspace.check();
  const { program, target } = checked;
  if (program === null) return { diagnostics: checked.diagnostics, compiled: null };
  if (target === "wasm32-web") {
    throw new CommandError(
      "Cannot run the package here: it is a game for a page",
      "`lang serve` shows it in a browser; `lang test` runs its tests.",
    );
  }
  if (target !== "wasm32-wasi") {
    throw new CommandError(
      `Cannot run the package: ${program.root?.file.path ?? "src/main.lang"} has no function \`main\``,
      "A command begins with `pub fn main(args: List[String]) -> Int`.",
    );
  }
  const all = checked.checkedTarget === "wasm32-wasi"
    ? checked.diagnostics
    : [...checked.diagnostics, ...findEntryPoints(program, "wasm32-wasi").diagnostics];
  if (all.some(({ severity }) => severity === "error")) return { diagnostics: all, compiled: null };
  const compiled = compileProgram(program, "wasm32-wasi", { hasGas });
  return {
    diagnostics: all,
    compiled: {
      module: { bytes: compiled.bytes, externs: externsOf(program) },
      map: new CodeMap(compiled),
    },
  };
}

function outcomeOf(diagnostics: readonly Diagnostic[], map: CodeMap, end: CommandEnd): RunOutcome {
  const { exitCode, trap } = end;
  return {
    diagnostics,
    hasRun: true,
    exitCode,
    trap: trap === null ? null : map.located(trap.report, trap.origin),
  };
}

function notRun(diagnostics: readonly Diagnostic[]): RunOutcome {
  return { diagnostics, hasRun: false, exitCode: 1, trap: null };
}
