/** `lang lsp`. */
import type { Command } from "commander";
import type { Context } from "./shared/context.ts";
import { examples } from "./examples.ts";

/** Adds the command. */
export function addLspCommand(program: Command, _context: Context): void {
  program.command("lsp")
    .summary("serve an editor over the Language Server Protocol")
    .description(
      "Serves an editor on standard input and output: diagnostics and fixes as you type, hover, definitions, references, renaming, completion, formatting.",
    )
    .option("--stdio", "use standard input and output; the default, accepted because some editors pass it")
    .option(
      "--clientProcessId <id>",
      "exit when the process with this id ends; set by editors",
    )
    .addHelpText(
      "after",
      examples([["lang lsp", "the command to configure in an editor; see docs/editors.md"]]),
    )
    .action(async () => {
      const { serveEditor } = await import("./servers/lsp/editor_connection.ts");
      await serveEditor();
    });
}
