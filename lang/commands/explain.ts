/** `explain`: what a code means, a program that raises it, and the program after each fix. */
import { PackageAnalyzer } from "../check/package_analysis.ts";
import { analyzePage } from "../check/page_analysis.ts";
import { type CodePage, codePage } from "../diagnostics/codes/registry.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { renderDiagnostic } from "../diagnostics/human.ts";
import { plainStyle, type Style } from "../diagnostics/style.ts";
import { parseManifest } from "../package/manifest.ts";
import { knownCode } from "./fix.ts";

/** The page of a code, with what the compiler says of its program. */
export interface Explanation {
  readonly page: CodePage;
  /** Null where the program must be built to raise it. */
  readonly diagnostic: Diagnostic | null;
  /** Programs after each fix; without one, a right program. */
  readonly fixed: readonly { readonly title: string; readonly program: string }[];
}

/** Explains a code. */
export function explain(code: string): Explanation {
  const page = codePage(knownCode(code));
  const diagnostics = page.code.startsWith("PK")
    ? parseManifest(page.bad).diagnostics
    : analyzePage(new PackageAnalyzer(), page.bad).diagnostics;
  const diagnostic = diagnostics.find((each) => each.code === page.code) ?? null;
  const fixed = page.fixed.map((program, index) => ({
    title: diagnostic?.fixes[index]?.title ?? "a right program",
    program,
  }));
  return { page, diagnostic, fixed };
}

/** The page for a terminal. */
export function renderExplanation(explanation: Explanation, style: Style = plainStyle): string {
  const { page, diagnostic, fixed } = explanation;
  const code = (text: string) =>
    text.trimEnd().split("\n").map((line) => line === "" ? "" : `    ${line}`).join("\n");
  const parts = [
    `${style(page.severity, page.code)}${style("strong", `: ${page.title}`)} (${page.severity})`,
    wrapped(page.explanation, 80),
    // No program is meant to raise an internal error.
    ...(page.bad === "" ? [] : [`${style("strong", "For example:")}\n\n${code(page.bad)}`]),
  ];
  if (diagnostic !== null) parts.push(renderDiagnostic(diagnostic, { style }).trimEnd());
  for (const { title, program } of fixed) {
    parts.push(`${style("success", `After "${title}":`)}\n\n${code(program)}`);
  }
  return `${parts.join("\n\n")}\n`;
}

function wrapped(text: string, width: number): string {
  return text.split("\n").map((paragraph) => {
    const lines: string[] = [];
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    return [...lines, line].join("\n");
  }).join("\n");
}
