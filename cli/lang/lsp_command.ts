/** `lang lsp`. */
import type { Command } from "commander";
import type { Context } from "./shared/context.ts";
import { examples } from "./examples.ts";

/** Adds the command. */
export function addLspCommand(program: Command, _context: Context): void {
  program.command("lsp")
    .summary("serve an editor by the Language Server Protocol")
    .description(
      "Answers an editor on standard input and output: mistakes and their fixes as you type, hover, definitions, references, renaming, completion, formatting.",
    )
    .option("--stdio", "speak on standard input and output, as it does anyway; some editors say so")
    .option(
      "--clientProcessId <id>",
      "process whose end ends the server; editors that use it set it themselves",
    )
    .addHelpText("after", examples([["lang lsp", "what an editor is told to start; see docs/editors.md"]]))
    .action(async () => {
      const { serveEditor } = await import("./servers/lsp/editor_connection.ts");
      await serveEditor();
    });
}
