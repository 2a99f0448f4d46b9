/** `lang run`. */
import { type Command, Option } from "commander";
import { run, runBy, type RunOutcome } from "../../lang/commands/run.ts";
import type { Workspace } from "../../lang/commands/workspace.ts";
import { reportToJson } from "../../lang/diagnostics/json.ts";
import type { TrapReport } from "../../lang/host/wasm_trap.ts";
import {
  type Context,
  gasLimit,
  hasErrors,
  openPackage,
  showDiagnostics,
  timeLimit,
} from "./shared/context.ts";
import { examples } from "./examples.ts";
import { readyPackages } from "./packages_ready.ts";
import { ProcessHost } from "./shared/process_host.ts";
import { Terminal } from "./shared/terminal.ts";

interface Options {
  readonly timeout?: string;
  readonly gas?: string;
  readonly format: "human" | "json";
}

/** Keeps what is written. */
class Capture {
  readonly #parts: Uint8Array<ArrayBuffer>[] = [];

  writeSync(bytes: Uint8Array): number {
    this.#parts.push(bytes.slice());
    return bytes.length;
  }

  isTerminal(): boolean {
    return false;
  }

  async text(): Promise<string> {
    return await new Blob(this.#parts).text();
  }
}

/** Adds the command. */
export function addRunCommand(program: Command, context: Context): void {
  program.command("run")
    .summary("build a command and run it")
    .description(
      "Builds a package and runs its `main`. The exit code is the result of `main` if that is 0 to 255, else 1; a trap exits with 1.",
    )
    .usage("[options] [path] [-- args...]")
    .argument("[path]", "package folder, or a standalone source file")
    .option("--timeout <seconds>", "stop the program after this time, 0 for no limit (default: 0)")
    .option("--gas <number>", "build with gas, and stop a program that uses more")
    .addOption(
      new Option("--format <format>", "json: output, exit code and trap of the program as one object")
        .choices([
          "human",
          "json",
        ]).default("human"),
    )
    .addHelpText(
      "after",
      examples([
        ["lang run", "without arguments"],
        ["lang run -- --count words.txt", "arguments after -- are passed to main"],
        ["lang run tools/count -- words.txt", "a package in another folder"],
      ]),
    )
    .action(async (path: string | undefined, options: Options) => {
      const limits = limitsOf(options);
      if (!await readyPackages(context, path, options.format)) return;
      const { workspace } = openPackage(path);
      if (options.format === "json") return await runToJson(context, workspace, limits);
      const outcome = await runLimited(context, workspace, { ...limits, terminal: context.terminal });
      if (hasErrors(outcome.diagnostics)) showDiagnostics(context, outcome.diagnostics);
      if (outcome.trap !== null) showTrap(context, outcome.trap, (file) => workspace.files.read(file));
      context.exitCode = outcome.exitCode;
    });
}

interface Limits {
  readonly timeoutMilliseconds: number | null;
  readonly gas: number | null;
}

function limitsOf({ timeout, gas }: Options): Limits {
  return {
    timeoutMilliseconds: timeout === undefined ? null : timeLimit("--timeout", timeout),
    gas: gas === undefined ? null : gasLimit(gas),
  };
}

/** Runs the program in this thread, with a limit of time in one that can be stopped. */
async function runLimited(
  context: Context,
  workspace: Workspace,
  { timeoutMilliseconds, gas, terminal }: Limits & { readonly terminal: Terminal },
): Promise<RunOutcome> {
  const args = context.programArguments;
  if (timeoutMilliseconds === null) return run(workspace, { args, gas, host: new ProcessHost(terminal) });
  const { CommandThread } = await import("./threads/command_thread.ts");
  const runner = new CommandThread({
    hasInput: true,
    onWritten: (stream, bytes) =>
      stream === "stdout" ? terminal.writeBytes(bytes) : terminal.writeErrorBytes(bytes),
  });
  return await runBy(runner, workspace, { args, gas, timeoutMilliseconds });
}

async function runToJson(context: Context, workspace: Workspace, limits: Limits): Promise<void> {
  const [stdout, stderr] = [new Capture(), new Capture()];
  const outcome = await runLimited(context, workspace, { ...limits, terminal: new Terminal(stdout, stderr) });
  context.exitCode = outcome.exitCode;
  context.terminal.writeJson({
    ...reportToJson(outcome.diagnostics),
    ok: outcome.exitCode === 0,
    exit_code: outcome.exitCode,
    stdout: await stdout.text(),
    stderr: await stderr.text(),
    trap: outcome.trap,
  });
}

function showTrap(context: Context, trap: TrapReport, read: (file: string) => string | undefined): void {
  const { terminal } = context;
  const style = terminal.errorStyle;
  const { place } = trap;
  let text = `${style("error", "trap")}${style("strong", `: ${trap.message}`)}\n`;
  if (trap.sides !== null) text += `  left: ${trap.sides.left}\n  right: ${trap.sides.right}\n`;
  if (place !== null) {
    const { library } = trap;
    const line = read(place.file)?.split("\n")[place.line - 1];
    const number = String(place.line);
    text += `${" ".repeat(number.length)} ${
      style("quiet", "-->")
    } ${place.file}:${place.line}:${place.column}\n`;
    if (line !== undefined) text += `${style("quiet", `${number} |`)} ${line.replace(/\r$/, "")}\n`;
    if (library !== null) text += `  in the library: ${library.file}:${library.line}:${library.column}\n`;
  }
  terminal.writeError(text);
}
