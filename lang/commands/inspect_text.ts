/** What `inspect` finds, as people read it. */
import type { Style } from "../diagnostics/style.ts";
import type { InspectOutcome, ModuleReport } from "./inspect.ts";
import { sizeText } from "./size_text.ts";

/** What a package without errors consists of. */
export type Inspection = NonNullable<InspectOutcome["report"]>;

/** Functions whose size is shown. */
const SHOWN_FUNCTIONS = 12;

/** Modules, what they offer, imports and sizes. */
export function renderInspection(report: Inspection, style: Style): string {
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
