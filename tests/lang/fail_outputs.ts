/**
 * Programs that must fail, and what the compiler says of each: `NAME.lang` has beside it `NAME.txt`, the diagnostics as people see them, `NAME.json`, the same
 * as JSON, and `NAME.fixed`, the program after each fix of the first diagnostic with the file's code.
 *
 * `deno task golden` writes them anew; a test compares.
 */
import { findEntryPoints } from "../../lang/check/entry_points.ts";
import { PackageAnalyzer } from "../../lang/check/package_analysis.ts";
import { analyzePage } from "../../lang/check/page_analysis.ts";
import { filesOfPage } from "../../lang/diagnostics/codes/code_page.ts";
import type { Diagnostic, Fix } from "../../lang/diagnostics/diagnostic.ts";
import { applyToFiles } from "../../lang/diagnostics/edits.ts";
import { renderReport } from "../../lang/diagnostics/human.ts";
import { reportToJson } from "../../lang/diagnostics/json.ts";
import { isTarget } from "../../lang/package/manifest.ts";

/** Where the programs are. */
export const failFolder: URL = new URL("./fail/", import.meta.url);

/** Names of the programs, sorted. */
export function failPrograms(): string[] {
  return [...Deno.readDirSync(failFolder)].flatMap(({ name }) =>
    name.endsWith(".lang") ? [name.slice(0, -".lang".length)] : []
  ).sort();
}

/** The text of a file beside a program. */
export function readFail(name: string, extension: string): string {
  return Deno.readTextFileSync(new URL(`${name}.${extension}`, failFolder));
}

const analyzer = new PackageAnalyzer();

/** What the compiler says of a program, for the target that it names in a comment. */
export function diagnosticsOf(program: string): readonly Diagnostic[] {
  const target = /^\/\/ target: (\S+)$/m.exec(program)?.[1];
  const { diagnostics, program: typed } = analyzePage(analyzer, program);
  if (target === undefined || !isTarget(target) || typed === null) return diagnostics;
  return [...diagnostics, ...findEntryPoints(typed, target).diagnostics];
}

/** What stands in the files beside a program, by their extensions. */
export function failOutputs(name: string): Readonly<Record<"txt" | "json" | "fixed", string>> {
  const program = readFail(name, "lang");
  const diagnostics = diagnosticsOf(program);
  const code = name.slice(0, 6);
  const fixes = diagnostics.find((diagnostic) => diagnostic.code === code)?.fixes ?? [];
  return {
    txt: renderReport(diagnostics),
    json: `${JSON.stringify(reportToJson(diagnostics), null, 1)}\n`,
    fixed: fixes.map((fix, index) => `// fix ${index}: ${fix.title}\n${fixedProgram(program, fix)}`).join(
      "\n",
    ),
  };
}

/** The program after a fix, with its other files behind comments. */
export function fixedProgram(program: string, fix: Fix): string {
  const files = new Map(filesOfPage(program));
  for (const [path, { after }] of applyToFiles(fix.edits)) files.set(path, after);
  return [...files].map(([path, text], index) => index === 0 ? text : `// ${path}\n${text}`).join("");
}
