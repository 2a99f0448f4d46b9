/** Runs one command of `lang pkg` and prints what it did. */
import { resolve } from "node:path";
import { CommandError } from "../../../lang/commands/command_error.ts";
import { openSession, type Session } from "../../../registry/client/project.ts";
import { denoHost } from "../../../registry/host/deno_host.ts";
import type { RegistryHost } from "../../../registry/ports.ts";
import { printableLines } from "../../../registry/printable.ts";
import { RegistryError } from "../../../registry/registry_error.ts";
import { version } from "../../shared/version.ts";
import type { Context } from "../shared/context.ts";
import { PKG_COMMANDS } from "./commands.ts";
import { TerminalReporter } from "./reporter.ts";

/** What may stand behind the commands. */
export interface PkgOptions {
  readonly manifestDir: string;
  readonly offline?: boolean;
  readonly locked?: boolean;
  readonly format: "human" | "json";
  readonly require?: string;
  readonly path?: string;
  readonly git?: string;
  readonly rev?: string;
  readonly refresh?: boolean;
  readonly dryRun?: boolean;
}

/** One command of a command line. */
export interface PkgRequest {
  readonly name: string;
  readonly argument: string | null;
  readonly options: PkgOptions;
}

/** What a command gives: for programs, and for people. */
export interface PkgAnswer {
  readonly json: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly exitCode?: number;
}

/** What commands are given. */
export interface PkgContext {
  readonly session: Session;
  readonly host: RegistryHost;
  readonly request: PkgRequest;
}

/** Runs a command. */
export async function runPkg(context: Context, request: PkgRequest): Promise<void> {
  const { terminal } = context;
  const { options } = request;
  const command = PKG_COMMANDS.get(request.name);
  if (command === undefined) throw new Error(`Cannot run pkg ${request.name}: there is no such command`);
  const reporter = new TerminalReporter(terminal);
  try {
    const host = denoHost(reporter, version);
    const session = openSession({
      host,
      root: resolve(options.manifestDir).replaceAll("\\", "/"),
      isOffline: options.offline ?? false,
      isLocked: options.locked ?? false,
    });
    const answer = await command({ session, host, request });
    reporter.clear();
    if (options.format === "json") terminal.writeJson({ ok: (answer.exitCode ?? 0) === 0, ...answer.json });
    else terminal.write(answer.text);
    context.exitCode = answer.exitCode ?? 0;
  } catch (error) {
    reporter.clear();
    if (!(error instanceof RegistryError)) throw error;
    reportFailure(context, error, options.format);
  }
}

/** Tells a failure: of usage with exit code 2, of the operation with 1. */
export function reportFailure(context: Context, error: RegistryError, format: "human" | "json"): void {
  const { terminal } = context;
  if (format === "json") {
    const { code, message, hint } = error;
    terminal.writeJson({ ok: false, error: { code, message, hint } });
    context.exitCode = error.kind === "usage" ? 2 : 1;
    return;
  }
  const message = printableLines(error.message);
  const hint = error.hint === null ? null : printableLines(error.hint);
  if (error.kind === "usage") throw new CommandError(message, hint);
  const style = terminal.errorStyle;
  const behind = hint === null ? "" : `${style("info", "hint")}: ${hint}\n`;
  terminal.writeError(`${style("error", "error")}${style("strong", `: ${message}`)}\n${behind}`);
  context.exitCode = 1;
}
