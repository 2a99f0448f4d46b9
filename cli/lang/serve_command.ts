/** `lang serve`. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { CommandError } from "../../lang/commands/command_error.ts";
import { type Context, wholeNumber } from "./shared/context.ts";
import { examples } from "./examples.ts";
import { findPackage } from "./shared/package_folder.ts";
import { readyPackages } from "./packages_ready.ts";

interface Options {
  readonly port: string;
  readonly watch?: boolean;
  readonly manifestDir?: string;
  readonly open?: boolean;
}

const MAX_PORT = 65_535;

/** Adds the command. */
export function addServeCommand(program: Command, context: Context): void {
  program.command("serve")
    .summary("serve a game to a browser on this machine")
    .description("Builds a game and serves its page on 127.0.0.1.")
    .option("--port <N>", "port to listen on; 0 picks a free one", "8000")
    .option(
      "--watch",
      "rebuild after each change of src/, web/ or project.toml, and reload open pages",
    )
    .option("--manifest-dir <DIR>", "package folder (default: the enclosing package)")
    .option("--open", "open the page in the browser")
    .addHelpText(
      "after",
      examples([
        ["lang serve --watch", "while you write"],
        ["lang serve --port 0 --open", "on a free port, in the browser"],
        ["lang serve --manifest-dir games/pong", "a package in another folder"],
      ]),
    )
    .action(async (options: Options) => {
      const port = wholeNumber("--port", options.port);
      if (port < 0 || port > MAX_PORT) {
        throw new CommandError(`Cannot use --port "${options.port}": ports are 0 to ${MAX_PORT}`);
      }
      const root = options.manifestDir === undefined ? findPackage().root : resolve(options.manifestDir);
      if (!await readyPackages(context, root)) return;
      const { servePackage } = await import("./servers/serve/serve_package.ts");
      await servePackage(context, {
        root,
        port,
        isWatched: options.watch ?? false,
        opens: options.open ?? false,
      });
    });
}
