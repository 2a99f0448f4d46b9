/** The commands of the shell: what begins with a backslash, and the words that leave it. */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { closest } from "../../engine/base/suggest.ts";
import { runCopy, runLoad } from "./file_loads.ts";
import type { StatementRunner } from "./statement_runner.ts";

/** What a command came to. */
export type CommandOutcome = "done" | "failed" | "quit" | { readonly include: string };

/** What a command may need besides the runner. */
export interface CommandContext {
  readonly runner: StatementRunner;
  /** Data that follows, for `\copy t FROM STDIN`. */
  copySource(): AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;
}

const HELP = `Statements end with ";" and may take several lines.

  \\?, \\h, \\help                        this list
  \\d                                   the tables
  \\d TABLE                             a table's columns
  \\dt                                  the tables
  \\copy TABLE FROM 'FILE' [CSV HEADER]  load a file, with the options of COPY
  \\copy TABLE TO 'FILE' [CSV HEADER]    write a file; instead of TABLE also (SELECT …)
  \\load TABLE FROM 'FILE'               load JSON objects, an array or one a line
  \\i FILE                              run the statements of a file
  \\timing [on|off]                     show how long statements take
  \\q, quit, exit, leave                leave
`;

const COMMANDS = ["\\?", "\\h", "\\help", "\\d", "\\dt", "\\copy", "\\load", "\\i", "\\timing", "\\q"];

/** Whether a line leaves the shell. */
export function isQuit(line: string): boolean {
  return /^\s*(quit|exit|leave)\s*;?\s*$/i.test(line);
}

/** Carries out a line that begins with a backslash. */
export async function runCommand(line: string, context: CommandContext): Promise<CommandOutcome> {
  const { runner } = context;
  const [, name = "", rest = ""] = /^(\\\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const argument = rest.replace(/;\s*$/, "").trim();
  let outcome: CommandOutcome = "done";
  const succeeded = await runner.attempt(line, async () => {
    switch (name) {
      case "\\?":
      case "\\h":
      case "\\help":
        runner.terminal.out(HELP);
        return;
      case "\\d":
        if (argument === "") await listTables(runner);
        else for (const result of await runner.client.run(`DESCRIBE ${argument}`)) runner.print(result);
        return;
      case "\\dt":
        await listTables(runner);
        return;
      case "\\copy":
        await runCopy(runner, rest, () => context.copySource());
        return;
      case "\\load":
        await runLoad(runner, rest);
        return;
      case "\\i":
        if (argument === "") throw new DatabaseError(SQLSTATE.syntaxError, "\\i takes a file");
        outcome = { include: argument.replace(/^'(.*)'$/, "$1") };
        return;
      case "\\timing":
        setTiming(runner, argument);
        return;
      case "\\q":
        outcome = "quit";
        return;
      default: {
        const near = closest(name, COMMANDS);
        throw new DatabaseError(SQLSTATE.syntaxError, `unknown command ${name}`, {
          hint: near === undefined ? "\\? lists the commands." : `Did you mean ${near}?`,
        });
      }
    }
  });
  return succeeded ? outcome : "failed";
}

async function listTables(runner: StatementRunner): Promise<void> {
  for (const result of await runner.client.request({ kind: "list_tables" })) runner.print(result);
}

function setTiming(runner: StatementRunner, argument: string): void {
  switch (argument.toLowerCase()) {
    case "":
      runner.timing = !runner.timing;
      break;
    case "on":
      runner.timing = true;
      break;
    case "off":
      runner.timing = false;
      break;
    default:
      throw new DatabaseError(SQLSTATE.syntaxError, "\\timing takes on or off");
  }
  runner.terminal.out(`Timing is ${runner.timing ? "on" : "off"}.\n`);
}
