/** `lang inspect`. */
import { type Command, Option } from "commander";
import { inspect } from "../../lang/commands/inspect.ts";
import { renderInspection } from "../../lang/commands/inspect_text.ts";
import { renderCost } from "../../lang/commands/cost_text.ts";
import { reportToJson } from "../../lang/diagnostics/json.ts";
import { type Context, openPackage, showDiagnostics } from "./shared/context.ts";
import { examples } from "./examples.ts";
import { readyPackages } from "./packages_ready.ts";

interface Options {
  readonly cost?: boolean;
  readonly format: "human" | "json";
}

/** Adds the command. */
export function addInspectCommand(program: Command, context: Context): void {
  program.command("inspect")
    .summary("show modules, public API, effects, imports and sizes")
    .description(
      "Shows what a package consists of: its modules, what they offer with types, effects and documentation, what it imports, how large it is.",
    )
    .argument("[path]", "folder of the package")
    .option("--cost", "what functions cost in gas: bounds, and what the tests used; memory, copies")
    .addOption(
      new Option("--format <format>", "form of the output").choices(["human", "json"]).default("human"),
    )
    .addHelpText(
      "after",
      examples([
        ["lang inspect", "the package around this folder"],
        ["lang inspect --cost", "gas for each function, as a formula and as measured"],
        ["lang inspect --format json", "one JSON object, for programs"],
      ]),
    )
    .action(async (path: string | undefined, options: Options) => {
      if (!await readyPackages(context, path, options.format)) return;
      const { workspace } = openPackage(path);
      const { diagnostics, report } = await inspect(workspace, { cost: options.cost ?? false });
      if (report === null) context.exitCode = 1;
      const { terminal } = context;
      if (options.format === "json") {
        return terminal.writeJson({ ...reportToJson(diagnostics), ok: report !== null, ...report });
      }
      if (report === null) return showDiagnostics(context, diagnostics);
      const { style } = terminal;
      terminal.write(report.cost === null ? renderInspection(report, style) : renderCost(report.cost, style));
    });
}
