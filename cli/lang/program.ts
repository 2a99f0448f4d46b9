/**
 * The commands of `lang`: what stands on the command line, handed to the functions of `lang/commands`, and what they
 * give, printed.
 *
 * Exit codes: 0 done; 1 the package has errors, a test failed, a program trapped; 2 bad usage, missing files or
 * manifest.
 */
import { Command, CommanderError, Option } from "commander";
import { CommandError } from "../../lang/commands/command_error.ts";
import { version } from "../shared/version.ts";
import { addAgentCommand } from "./agent_command.ts";
import { addBuildCommand } from "./build_command.ts";
import { addCheckCommand } from "./check_command.ts";
import { addCompletionsCommand } from "./completions.ts";
import { addDeployCommand } from "./deploy_command.ts";
import type { Context } from "./shared/context.ts";
import { reportInternalError } from "./shared/internal_report.ts";
import { addInspectCommand } from "./inspect_command.ts";
import { addLspCommand } from "./lsp_command.ts";
import { addMcpCommand } from "./mcp_command.ts";
import { addNewCommand } from "./new_command.ts";
import { addPkgCommand, pkgParameters } from "./pkg.ts";
import { addRunCommand } from "./run_command.ts";
import { addServeCommand } from "./serve_command.ts";
import { addExplainCommand, addFindCommand, addFixCommand, addFmtCommand } from "./source_commands.ts";
import type { ColorChoice, Terminal } from "./shared/terminal.ts";
import { addTestCommand } from "./test_command.ts";

/** Exit code of bad usage and missing files. */
const USAGE = 2;

/** Runs a command line and gives its exit code. */
export async function runProgram(parameters: readonly string[], terminal: Terminal): Promise<number> {
  const separator = parameters.indexOf("--");
  const own = pkgParameters(separator < 0 ? parameters : parameters.slice(0, separator));
  const context: Context = {
    terminal,
    programArguments: separator < 0 ? [] : parameters.slice(separator + 1),
    started: performance.now(),
    exitCode: 0,
  };
  const program = makeProgram(context);
  try {
    await program.parseAsync([...own], { from: "user" });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    if (error instanceof CommandError) {
      const style = terminal.errorStyle;
      const hint = error.hint === null ? "" : `${style("info", "hint")}: ${error.hint}\n`;
      terminal.writeError(`${style("error", "error")}${style("strong", `: ${error.message}`)}\n${hint}`);
      return USAGE;
    }
    reportInternalError(terminal, parameters, error);
    return 1;
  }
}

function makeProgram(context: Context): Command {
  const { terminal } = context;
  const program = new Command("lang");
  program
    .description("The toolchain of a small language for web games, tools and database functions.")
    .version(`lang ${version}`, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this text")
    .addOption(
      new Option("--color <when>", "when to use colors; auto: in a terminal").choices([
        "always",
        "never",
        "auto",
      ]).default("auto"),
    )
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => terminal.write(text),
      writeErr: (text) => terminal.writeError(text),
      outputError: (text, write) => write(text),
    })
    .hook("preAction", (_program, command) => {
      const { color } = command.optsWithGlobals<{ color: ColorChoice }>();
      terminal.useColors(color);
    });
  addNewCommand(program, context);
  addCheckCommand(program, context);
  addBuildCommand(program, context);
  addDeployCommand(program, context);
  addRunCommand(program, context);
  addTestCommand(program, context);
  addServeCommand(program, context);
  addInspectCommand(program, context);
  addFindCommand(program, context);
  addExplainCommand(program, context);
  addFmtCommand(program, context);
  addFixCommand(program, context);
  addPkgCommand(program, context);
  addMcpCommand(program, context);
  addAgentCommand(program, context);
  addLspCommand(program, context);
  addCompletionsCommand(program, context);
  return program;
}
