/** `lang inspect`. */
import { type Command, Option } from "commander";
import { inspect, type InspectOutcome, type ModuleReport } from "../../lang/commands/inspect.ts";
import { reportToJson } from "../../lang/diagnostics/json.ts";
import type { Style } from "../../lang/diagnostics/style.ts";
import { sizeText } from "./build_command.ts";
import { type Context, openPackage, showDiagnostics } from "./context.ts";
import { renderCost } from "./cost_table.ts";
import { examples } from "./examples.ts";
import { readyPackages } from "./packages_ready.ts";

type Report = NonNullable<InspectOutcome["report"]>;

interface Options {
  readonly cost?: boolean;
  readonly format: "human" | "json";
}

/** Functions whose size is shown. */
const SHOWN_FUNCTIONS = 12;

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
      const { diagnostics, report } = inspect(workspace, { cost: options.cost ?? false });
      if (report === null) context.exitCode = 1;
      const { terminal } = context;
      if (options.format === "json") {
        return terminal.writeJson({ ...reportToJson(diagnostics), ok: report !== null, ...report });
      }
      if (report === null) return showDiagnostics(context, diagnostics);
      const { style } = terminal;
      terminal.write(report.cost === null ? renderReport(report, style) : renderCost(report.cost, style));
    });
}

function renderReport(report: Report, style: Style): string {
  const { name, version, target, modules, imports, bytes, functions } = report;
  const shown = functions.slice(0, SHOWN_FUNCTIONS);
  const rest = functions.slice(SHOWN_FUNCTIONS).reduce((total, each) => total + each.bytes, 0);
  const sizes = shown.map((each) => `  ${String(each.bytes).padStart(7)}  ${each.name}`);
  if (rest > 0) sizes.push(`  ${String(rest).padStart(7)}  ${functions.length - shown.length} others`);
  return [
    `${style("strong", name)} ${version}, ${target ?? "library"}`,
    "",
    ...modules.flatMap((module) => renderModule(module, style)),
    style("strong", "imports"),
    ...(imports.length === 0 ? ["  none"] : imports.map((each) => `  ${each}`)),
    "",
    `${style("strong", "size")} ${sizeText(bytes)}, core module of a debug build; functions in bytes:`,
    ...sizes,
    "",
  ].join("\n");
}

function renderModule(module: ModuleReport, style: Style): string[] {
  const { name, file, lines, uses, effects, api, tests } = module;
  const facts = [
    `${lines} lines`,
    `${tests} ${tests === 1 ? "test" : "tests"}`,
    ...(uses.length === 0 ? [] : [`uses ${uses.join(", ")}`]),
    effects.length === 0 ? "no effects" : `effects ${effects.join(" ")}`,
  ];
  const out = [`${style("strong", `module ${name}`)} ${style("quiet", file)}  ${facts.join("; ")}`];
  for (const { signature, documentation } of api) {
    const [first = ""] = (documentation ?? "").split("\n");
    if (first !== "") out.push(`  ${style("quiet", `/// ${first}`)}`);
    out.push(`  ${signature}`);
  }
  return [...out, ""];
}
