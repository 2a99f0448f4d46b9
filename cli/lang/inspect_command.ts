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
      "Shows the modules of a package, their public API with types, effects and documentation, the imports, and sizes.",
    )
    .argument("[path]", "package folder")
    .option("--cost", "show what functions cost in gas (bounds, and what tests used), memory and copies")
    .addOption(
      new Option("--format <format>", "output format").choices(["human", "json"]).default("human"),
    )
    .addHelpText(
      "after",
      examples([
        ["lang inspect", "the enclosing package"],
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
