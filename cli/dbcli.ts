/**
 * `dbcli [options] [STATEMENT]`, the database client: one statement from the command line, many from a pipe, or a
 * shell; or `status`, which shows the members of a cluster.
 *
 * Exit codes: 0 done, 1 a statement or the connection failed, or a cluster has no primary (`status`), 2 bad usage.
 */
import { DatabaseError } from "../engine/base/errors.ts";
import { OperationClient } from "../gateways/binary/client.ts";
import { type ClientSettings, helpText, readCommand, UsageError } from "./dbcli/arguments.ts";
import { printStatus } from "./dbcli/cluster_status.ts";
import { formatError } from "./dbcli/error_format.ts";
import { failureJson } from "./dbcli/json_format.ts";
import { includeFile, runScript } from "./dbcli/script.ts";
import { runShell } from "./dbcli/shell.ts";
import { runCommand } from "./dbcli/shell_commands.ts";
import { StatementRunner } from "./dbcli/statement_runner.ts";
import { linesOf, OutputClosed, processTerminal, type Terminal } from "./dbcli/terminal.ts";
import { version } from "./shared/version.ts";

/** Runs the program and answers its exit code. */
export async function main(parameters: readonly string[]): Promise<number> {
  const terminal = processTerminal();
  try {
    const command = readCommand(parameters, Deno.env.toObject(), (path) => Deno.readTextFileSync(path));
    switch (command.kind) {
      case "help":
        terminal.out(helpText(version));
        return 0;
      case "version":
        terminal.out(`dbcli ${version}\n`);
        return 0;
      case "status":
        return await printStatus(command.settings, terminal) ? 0 : 1;
      case "run":
        return await run(command.settings, terminal);
    }
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.error(`dbcli: ${error.message} (see dbcli --help)\n`);
      return 2;
    }
    // Nobody wants the rest of the answers, as with `dbcli … | head`.
    if (error instanceof OutputClosed) return 0;
    throw error;
  }
}

async function run(settings: ClientSettings, terminal: Terminal): Promise<number> {
  const { addresses, token, tls, json, readFrom } = settings;
  let client: OperationClient;
  const connect = () =>
    OperationClient.connect({ addresses, token, tls: tls ?? false, readFrom, name: "dbcli" });
  try {
    client = await connect();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (json) terminal.out(failureJson(error));
    else terminal.error(formatError(error, ""));
    return error.code === "22023" ? 2 : 1;
  }
  try {
    const runner = new StatementRunner({ client, terminal, json, connect });
    return await runStatements(settings, runner) ? 0 : 1;
  } finally {
    await client.close();
  }
}

async function runStatements(settings: ClientSettings, runner: StatementRunner): Promise<boolean> {
  const { statement, keepGoing } = settings;
  if (statement !== null) {
    if (!statement.trimStart().startsWith("\\")) {
      return await runner.run(statement, () => Deno.stdin.readable);
    }
    const outcome = await runCommand(statement.trim(), { runner, copySource: () => Deno.stdin.readable });
    if (typeof outcome === "string") return outcome !== "failed";
    return await includeFile(outcome.include, runner, { keepGoing, depth: 1 }) !== "failed";
  }
  if (Deno.stdin.isTerminal()) {
    await runShell(runner, version);
    return true;
  }
  return await runScript(linesOf(Deno.stdin.readable), runner, { keepGoing }) !== "failed";
}

if (import.meta.main) Deno.exit(await main(Deno.args));
