/** `lang check`. */
import { type Command, Option } from "commander";
import { reportToJson } from "../../lang/diagnostics/json.ts";
import { reportToSarif } from "../../lang/diagnostics/sarif.ts";
import { version } from "../shared/version.ts";
import { type Context, hasErrors, openPackage, showDiagnostics } from "./shared/context.ts";
import { examples } from "./examples.ts";
import { readyPackages } from "./packages_ready.ts";

interface Options {
  readonly format: "human" | "json" | "sarif";
}

/** Adds the command. */
export function addCheckCommand(program: Command, context: Context): void {
  program.command("check")
    .summary("check a package for errors")
    .description(
      "Reports all errors and warnings of a package, in every file under src/, with suggested fixes.",
    )
    .argument(
      "[path]",
      "package folder, a file in it to report on alone, or a standalone source file",
    )
    .addOption(
      new Option("--format <format>", "output format").choices(["human", "json", "sarif"]).default(
        "human",
      ),
    )
    .addHelpText(
      "after",
      examples([
        ["lang check", "the enclosing package"],
        ["lang check src/main.lang", "one file of it"],
        ["lang check hello.lang", "a source file outside of a package"],
        ["lang check --format json", "one JSON object, for programs"],
        ["lang check --format sarif > lang.sarif", "for code hosts and editors"],
      ]),
    )
    .action(async (path: string | undefined, options: Options) => {
      if (!await readyPackages(context, path, options.format === "json" ? "json" : "human")) return;
      const { workspace, file } = openPackage(path);
      const all = workspace.check().diagnostics;
      const diagnostics = file === null ? all : all.filter((each) => each.file.path === file);
      if (hasErrors(diagnostics)) context.exitCode = 1;
      const { terminal } = context;
      switch (options.format) {
        case "json":
          return terminal.writeJson(reportToJson(diagnostics));
        case "sarif":
          return terminal.write(`${JSON.stringify(reportToSarif(diagnostics, version), null, 2)}\n`);
        case "human": {
          showDiagnostics(context, diagnostics);
          if (diagnostics.length === 0) terminal.write("no errors or warnings\n");
        }
      }
    });
}
