/** `lang run`. */
import { type Command, Option } from "commander";
import { run } from "../../lang/commands/run.ts";
import type { Workspace } from "../../lang/commands/workspace.ts";
import { reportToJson } from "../../lang/diagnostics/json.ts";
import type { TrapReport } from "../../lang/host/trap_report.ts";
import { type Context, hasErrors, openPackage, showDiagnostics } from "./context.ts";
import { examples } from "./examples.ts";
import { ProcessHost } from "./process_host.ts";
import { Terminal } from "./terminal.ts";

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
      "Builds a package and runs its `main`. The exit code is what `main` gives when it is 0 to 255, else 1; a trap gives 1.",
    )
    .usage("[options] [path] [-- args...]")
    .argument("[path]", "folder of the package")
    .addOption(
      new Option("--format <format>", "json: what the program writes, its exit code and trap as one object")
        .choices([
          "human",
          "json",
        ]).default("human"),
    )
    .addHelpText(
      "after",
      examples([
        ["lang run", "without arguments"],
        ["lang run -- --count words.txt", "what stands behind -- goes to main"],
        ["lang run tools/count -- words.txt", "a package somewhere else"],
      ]),
    )
    .action(async (path: string | undefined, options: { readonly format: "human" | "json" }) => {
      const { workspace } = openPackage(path);
      if (options.format === "json") return await runToJson(context, workspace);
      const outcome = run(workspace, {
        args: context.programArguments,
        host: new ProcessHost(context.terminal),
      });
      if (hasErrors(outcome.diagnostics)) showDiagnostics(context, outcome.diagnostics);
      if (outcome.trap !== null) showTrap(context, outcome.trap, (file) => workspace.files.read(file));
      context.exitCode = outcome.exitCode;
    });
}

async function runToJson(context: Context, workspace: Workspace): Promise<void> {
  const [stdout, stderr] = [new Capture(), new Capture()];
  const outcome = run(workspace, {
    args: context.programArguments,
    host: new ProcessHost(new Terminal(stdout, stderr)),
  });
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
    const line = read(place.file)?.split("\n")[place.line - 1];
    const number = String(place.line);
    text += `${" ".repeat(number.length)} ${
      style("quiet", "-->")
    } ${place.file}:${place.line}:${place.column}\n`;
    if (line !== undefined) text += `${style("quiet", `${number} |`)} ${line.replace(/\r$/, "")}\n`;
  }
  terminal.writeError(text);
}
