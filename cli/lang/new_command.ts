/** `lang new`. */
import { type Command, Option } from "commander";
import { CommandError } from "../../lang/commands/command_error.ts";
import { isPackageName, packageNameOf } from "../../lang/package/manifest.ts";
import { newPackageFiles, type TemplateName, TEMPLATES } from "../../lang/package/new_package.ts";
import type { Context } from "./shared/context.ts";
import { DiskFiles } from "./shared/disk_files.ts";
import { examples } from "./examples.ts";

interface Options {
  readonly template: TemplateName;
  readonly format: "human" | "json";
}

const NEXT: Readonly<Record<TemplateName, readonly string[]>> = {
  "game": ["lang test", "lang serve --watch", "lang build --release --zip"],
  "tool": ["lang test", "lang run", "lang build"],
  "library": ["lang check", "lang test"],
  "db-function": ["lang test", "lang build", "lang deploy --db 127.0.0.1:7878"],
};

/** Adds the command. */
export function addNewCommand(program: Command, context: Context): void {
  program.command("new")
    .summary("create a package")
    .description("Creates a package that checks, passes its tests and builds, in a new folder of that name.")
    .argument("<name>", "name of the package and of its folder")
    .addOption(
      new Option("--template <template>", "template to start from").choices(TEMPLATES).default("game"),
    )
    .addOption(
      new Option("--format <format>", "output format").choices(["human", "json"]).default("human"),
    )
    .addHelpText(
      "after",
      examples([
        ["lang new pong", "a game"],
        ["lang new count --template tool", "a command"],
        ["lang new shapes --template library", "modules for other packages"],
        ["lang new prices --template db-function", "functions of the database"],
      ]),
    )
    .action((folder: string, options: Options) => {
      const name = folder.replace(/\/+$/, "").split("/").at(-1) ?? folder;
      if (!isPackageName(name)) {
        const fixed = packageNameOf(name);
        throw new CommandError(
          `Cannot create the package: \`${name}\` is not a valid package name`,
          "Names start with a lowercase letter and contain lowercase letters, digits, `_` and `-`." +
            (fixed === null ? "" : ` Did you mean \`${fixed}\`?`),
        );
      }
      const target = folder.replace(/\/+$/, "");
      refuseFullFolder(target);
      const files = new DiskFiles(target);
      const written = newPackageFiles(name, options.template);
      for (const [path, text] of written) files.write(path, text);
      if (options.format === "json") {
        return context.terminal.writeJson({
          ok: true,
          name,
          template: options.template,
          files: [...written.keys()],
        });
      }
      const { terminal } = context;
      const steps = [`cd ${target}`, ...NEXT[options.template]].map((step) => `  ${step}\n`).join("");
      terminal.write(
        `created ${
          terminal.style("strong", target)
        } (${options.template}), ${written.size} files; next:\n${steps}`,
      );
    });
}

function refuseFullFolder(path: string): void {
  let entries: number;
  try {
    entries = [...Deno.readDirSync(path)].length;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw new CommandError(`Cannot create the package: ${path} exists and is not a folder`);
  }
  if (entries > 0) throw new CommandError(`Cannot create the package: the folder ${path} is not empty`);
}
