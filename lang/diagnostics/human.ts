/**
 * Diagnostics for people: what, where with the source and carets, why, and what to do.
 *
 *     error[TY0001]: Types do not fit
 *       --> src/main.lang:3:7
 *        |
 *      3 |   1 + "a"
 *        |       ^^^ this is a `String`
 *        |
 *        = hint: …
 *       fixes:
 *         0. … (lang fix TY0001)
 */
import type { Severity } from "./codes/code_page.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { renderExcerpt } from "./excerpt.ts";
import { plainStyle, type Style } from "./style.ts";

/** How diagnostics are shown. */
export interface HumanOptions {
  readonly style?: Style;
}

/** One diagnostic, ending with a line break. */
export function renderDiagnostic(diagnostic: Diagnostic, options: HumanOptions = {}): string {
  const style = options.style ?? plainStyle;
  const { code, severity, title, message, hint, fixes, seeAlso } = diagnostic;
  const lines = [
    style(severity, `${severity}[${code}]`) + style("strong", `: ${title}`),
    ...renderExcerpt(diagnostic, style),
    ...indented(message),
  ];
  if (diagnostic.expected !== undefined && diagnostic.actual !== undefined) {
    const isMentioned = message.includes(diagnostic.expected) && message.includes(diagnostic.actual);
    if (!isMentioned) {
      lines.push(
        `  ${style("quiet", "expected")} ${diagnostic.expected}`,
        `  ${style("quiet", "   found")} ${diagnostic.actual}`,
      );
    }
  }
  if (hint !== undefined) {
    const [first = "", ...rest] = hint.split("\n");
    lines.push("", `  ${style("info", "hint")}: ${first}`, ...rest.map((line) => `        ${line}`));
  }
  if (fixes.length > 0) {
    const [first] = fixes;
    lines.push("");
    if (fixes.length === 1 && first !== undefined) {
      lines.push(`  ${style("success", "fix")}: ${fixText(first)}`);
    } else {
      lines.push(`  ${style("success", "fixes")}:`);
      for (const [index, fix] of fixes.entries()) lines.push(`    ${index}. ${fixText(fix)}`);
    }
  }
  if (seeAlso.length > 0) lines.push("", `  see also: ${seeAlso.join(", ")}`);
  return lines.join("\n") + "\n";
}

function fixText(fix: Diagnostic["fixes"][number]): string {
  return fix.applicability === "safe" ? fix.title : `${fix.title} (${fix.applicability})`;
}

function indented(text: string): string[] {
  return text.split("\n").map((line) => line === "" ? "" : `  ${line}`);
}

/** How many errors and warnings there are: `2 errors, 1 warning`. */
export function countText(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: Severity) => diagnostics.filter((each) => each.severity === severity).length;
  const parts = [
    countOf(count("error"), "error"),
    countOf(count("warning"), "warning"),
    countOf(count("info"), "note"),
  ].filter((part) => part !== "");
  return parts.join(", ");
}

/** `1 error`, `2 errors`, nothing for 0. */
function countOf(count: number, noun: string): string {
  return count === 0 ? "" : `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** All diagnostics with a line of summary. */
export function renderReport(diagnostics: readonly Diagnostic[], options: HumanOptions = {}): string {
  const style = options.style ?? plainStyle;
  if (diagnostics.length === 0) return "";
  const worst: Severity = diagnostics.some((each) => each.severity === "error")
    ? "error"
    : diagnostics.some((each) => each.severity === "warning")
    ? "warning"
    : "info";
  return diagnostics.map((each) => renderDiagnostic(each, options) + "\n").join("") +
    `${style(worst, countText(diagnostics))}\n`;
}
