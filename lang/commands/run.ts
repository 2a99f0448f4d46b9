/**
 * `run`: builds a command and runs it in this process; what it asks of the world goes to a host.
 *
 * The exit code is `main`'s result when it is 0 to 255, else 1; a trap gives 1.
 */
import { findEntryPoints } from "../check/entry_points.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { type TrapReport, trapReportOf } from "../host/trap_report.ts";
import { WasmProgram } from "../host/wasm_program.ts";
import type { Host, HostCall, HostValue } from "../interpret/host.ts";
import { CommandError } from "./command_error.ts";
import { compileProgram } from "./build.ts";
import type { Workspace } from "./workspace.ts";

/** What a run gives. */
export interface RunOutcome {
  readonly diagnostics: readonly Diagnostic[];
  /** Whether the program was started. */
  readonly hasRun: boolean;
  readonly exitCode: number;
  readonly trap: TrapReport | null;
}

/** Builds and runs the package's `main`. */
export function run(
  workspace: Workspace,
  options: { readonly args: readonly string[]; readonly host: Host },
): RunOutcome {
  const checked = workspace.check();
  const { program, target } = checked;
  if (program === null) return notRun(checked.diagnostics);
  if (target === "wasm32-web") {
    throw new CommandError(
      "Cannot run the package here: it is a game for a page",
      "`lang build` writes target/main.wasm; serve the package's web/ folder and open it in a browser.",
    );
  }
  const { diagnostics } = findEntryPoints(program, "wasm32-wasi");
  if (target !== "wasm32-wasi") {
    throw new CommandError(
      "Cannot run the package: src/main.lang has no function `main`",
      "A command begins with `pub fn main(args: List[String]) -> Int`.",
    );
  }
  const all = checked.manifest?.target === null
    ? [...checked.diagnostics, ...diagnostics]
    : checked.diagnostics;
  if (all.some(({ severity }) => severity === "error")) return notRun(all);
  const compiled = new WasmProgram(compileProgram(program, "wasm32-wasi").bytes, program);
  try {
    const result = Number(compiled.instantiate(new ArgumentHost(options)).call("run"));
    return { diagnostics: all, hasRun: true, exitCode: exitCodeOf(result), trap: null };
  } catch (error) {
    const trap = trapReportOf(error);
    if (trap === null) throw error;
    return { diagnostics: all, hasRun: true, exitCode: 1, trap };
  }
}

function notRun(diagnostics: readonly Diagnostic[]): RunOutcome {
  return { diagnostics, hasRun: false, exitCode: 1, trap: null };
}

/** The exit code of `main`'s result. */
export function exitCodeOf(result: number): number {
  return Number.isInteger(result) && result >= 0 && result <= 255 ? result : 1;
}

/** A host that also knows the arguments of `main`. */
class ArgumentHost implements Host {
  readonly #host: Host;
  readonly #arguments: string;

  constructor({ args, host }: { readonly args: readonly string[]; readonly host: Host }) {
    this.#host = host;
    this.#arguments = args.map((each) => `\0${each.replaceAll("\0", "")}`).join("");
  }

  call(call: HostCall): HostValue {
    if (call.name === "arguments" && call.module.startsWith("lang:host/process@")) return this.#arguments;
    return this.#host.call(call);
  }
}
