/** `lang mcp`: what the command line says; everything else is loaded when it is run. */
import type { Command } from "commander";
import { CommandError } from "../../lang/commands/command_error.ts";
import { type Context, wholeNumber } from "./shared/context.ts";
import { examples } from "./examples.ts";

interface Options {
  readonly http?: string;
  readonly authToken?: string;
}

/** Adds the command. */
export function addMcpCommand(program: Command, context: Context): void {
  program.command("mcp")
    .summary("serve a package over the Model Context Protocol")
    .description(
      "Serves a package's tools, documentation and files to models over the Model Context Protocol, on standard input and output or over HTTP on this machine.",
    )
    .argument("[path]", "package folder")
    .option("--http <port>", "serve streamable HTTP on this port of 127.0.0.1; 0 picks a free one")
    .option("--auth-token <token>", "with --http: bearer token that every request must carry")
    .addHelpText(
      "after",
      examples([
        ["lang mcp", "as clients start it, for the enclosing package"],
        ["lang mcp games/pong", "a package in another folder"],
        ["lang mcp --http 8890", "at http://127.0.0.1:8890/mcp"],
      ]),
    )
    .action(async (path: string | undefined, options: Options) => {
      const { serveHttp, serveStandardStreams } = await import("./servers/mcp/serve.ts");
      if (options.http === undefined) {
        if (options.authToken !== undefined) {
          throw new CommandError("Cannot use --auth-token: it is for --http, which is not there");
        }
        return await serveStandardStreams(context, path);
      }
      const port = wholeNumber("--http", options.http);
      if (port < 0 || port > 65_535) {
        throw new CommandError(`Cannot use --http ${port}: ports are 0 to 65535`);
      }
      if (options.authToken === "") throw new CommandError("Cannot use --auth-token: it is empty");
      return await serveHttp(context, { path, port, token: options.authToken ?? null });
    });
}
