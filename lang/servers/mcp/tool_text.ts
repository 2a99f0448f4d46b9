/**
 * What tools give, as texts that a model reads: everything that is needed for the next step, in few words. Places are
 * `file:line:column`, from 1.
 */
import type * as z from "zod";
import { renderCost } from "../../commands/cost_text.ts";
import { type Inspection, renderInspection } from "../../commands/inspect_text.ts";
import { plainStyle } from "../../diagnostics/style.ts";
import type { LINES, ResultFields } from "../agent/lines.ts";
import type { ToolOp } from "./tools.ts";

/** One diagnostic, as its line has it. */
export type AnsweredDiagnostic = Omit<z.infer<typeof LINES.envelope>, "kind" | "id">;

/** One change, as its line has it. */
export type AnsweredPatch = Omit<z.infer<typeof LINES.patch>, "kind" | "id">;

/** What an answer has beside its result. */
export interface AnswerParts {
  readonly ok: boolean;
  readonly diagnostics: readonly AnsweredDiagnostic[];
  readonly patches: readonly AnsweredPatch[];
  readonly stdout: string;
  readonly stderr: string;
}

type Span = AnsweredDiagnostic["span"];

const TEXTS: { readonly [Name in ToolOp]: (result: ResultFields[Name], parts: AnswerParts) => string } = {
  check: ({ truncated }, { diagnostics }) => report(diagnostics, truncated) || "no errors or warnings\n",
  fix: fixText,
  explain: ({ code, severity, title, explanation, bad, fixed }) =>
    [
      `${code} (${severity}): ${title}`,
      explanation,
      `A program that raises it:\n\n${fenced("lang", bad)}`,
      ...fixed.map((each) => `After "${each.title}":\n\n${fenced("lang", each.program)}`),
    ].join("\n\n") + "\n",
  test: testText,
  run: runText,
  inspect: inspectText,
  find: ({ hits, total }) => {
    if (total === 0) return "nothing found\n";
    const lines = hits.map(({ file, line, text }) => `${file}:${line}: ${text.trim()}`);
    if (total > hits.length) lines.push(`and ${total - hits.length} more; \`top\` asks for them`);
    return lined(lines);
  },
  fmt: ({ files, changed, written }, { patches }) =>
    lined([
      ...changed.map((path) => `${written ? "formatted" : "would format"} ${path}`),
      `${files - changed.length} of ${counted(files, "file")} were formatted already`,
    ]) + patchesText(patches),
  symbols: ({ symbols, total, truncated }) => {
    const lines = symbols.map((each) => symbolLine(each));
    if (total === 0) return "no such declarations\n";
    if (truncated > 0) lines.push(`and ${truncated} more; \`top\` or \`query\` asks for them`);
    return lined(lines);
  },
  references: ({ name, symbol_kind, references }) =>
    name === null ? "there is no name at this position\n" : lined([
      `${symbol_kind ?? "name"} ${name}: ${counted(references.length, "reference")}`,
      ...references.map(({ span, definition, write }) =>
        `${place(span)}${definition ? "  definition" : write ? "  is written" : ""}`
      ),
    ]),
  rename: ({ written, changed, reason }, { patches }) =>
    reason === null
      ? lined([`${written ? "changed" : "would change"} ${changed.join(", ")}`]) + patchesText(patches)
      : `${reason}\n`,
  hover: ({ hover }) => {
    if (hover === null) return "nothing is known about this position\n";
    const { kind, signature, type, effects, documentation, definition } = hover;
    return lined([
      `${kind}: ${signature}`,
      ...(type === null || signature.endsWith(`: ${type}`) ? [] : [`type: ${type}`]),
      ...(effects === null || effects.length === 0 ? [] : [`effects: ${effects.join(" ")}`]),
      ...(definition === null ? [] : [`declared at ${place(definition)}`]),
      ...(documentation === null ? [] : ["", documentation]),
    ]);
  },
  complete: ({ items, total }) =>
    total === 0 ? "nothing fits there\n" : lined([
      ...items.map(({ label, kind, detail }) => `${kind} ${label}${detail === "" ? "" : `  ${detail}`}`),
      ...(total > items.length ? [`and ${total - items.length} more; \`top\` asks for them`] : []),
    ]),
};

/** The text of a tool's answer. */
export function toolText<Name extends ToolOp>(
  op: Name,
  result: ResultFields[Name],
  parts: AnswerParts,
): string {
  return TEXTS[op](result, parts);
}

/** Errors alone, for tools that are about something else; how many warnings there are is reported. */
function errorsReport({ diagnostics }: AnswerParts, truncated: number): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const others = diagnostics.length - errors.length;
  return report(errors, truncated) +
    (others === 0 ? "" : `${counted(others, "warning")}; \`check\` shows them\n`);
}

/** Diagnostics, worst first as they come, with a line of summary; empty when there are none. */
function report(diagnostics: readonly AnsweredDiagnostic[], truncated: number): string {
  if (diagnostics.length + truncated === 0) return "";
  const count = (severity: string) => diagnostics.filter((each) => each.severity === severity).length;
  const counts = [counted(count("error"), "error"), counted(count("warning"), "warning")].filter((text) =>
    !text.startsWith("0 ")
  );
  if (truncated > 0) counts.push(`${truncated} more that are not shown`);
  return `${diagnostics.map(diagnosticText).join("\n")}\n${counts.join(", ")}\n`;
}

function diagnosticText(diagnostic: AnsweredDiagnostic): string {
  const { severity, code, span, title, message, labels, expected, actual, hint, fixes, source } = diagnostic;
  return lined([
    `${severity} ${code} ${place(span)}: ${title}`,
    ...(source === undefined ? [] : source.split("\n").map((line) => `  | ${line}`)),
    `  ${message.replaceAll("\n", "\n  ")}`,
    ...(expected === undefined ? [] : [`  expected: ${expected}`]),
    ...(actual === undefined ? [] : [`  found: ${actual}`]),
    ...labels.filter((label) => label.message !== "").map((label) =>
      `  ${place(label.span)}: ${label.message}`
    ),
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
    ...fixes.map(({ index, title, applicability }) => `  fix ${index} (${applicability}): ${title}`),
  ]);
}

function fixText(result: ResultFields["fix"], { ok, patches }: AnswerParts): string {
  const { code, written, fixed, left, gone, came, truncated } = result;
  const short = ({ code, span, message }: typeof gone[number]) => `  ${code} ${place(span)}: ${message}`;
  const lines = fixed.map(({ title, span }) => `${written ? "fixed" : "would fix"} ${place(span)}: ${title}`);
  if (fixed.length === 0) {
    lines.push(
      left === 0
        ? `the package has no ${code}`
        : `${counted(left, "diagnostic")} of ${code} have no such fix`,
    );
  } else if (left > 0) lines.push(`${counted(left, "diagnostic")} of ${code} left`);
  const others = gone.filter((each) => each.code !== code);
  if (others.length > 0) lines.push("also resolves:", ...others.map(short));
  if (came.length > 0) lines.push("introduces:", ...came.map(short));
  if (ok && !written && patches.length > 0) lines.push("`write` changes the files");
  if (truncated > 0) lines.push(`and ${truncated} more`);
  return lined(lines) + patchesText(patches);
}

function testText({ updated, truncated }: ResultFields["test"], parts: AnswerParts): string {
  return [
    errorsReport(parts, truncated),
    parts.stdout,
    parts.stderr,
    lined(updated.map((path) => `updated ${path}`)),
  ].join("");
}

function runText(result: ResultFields["run"], parts: AnswerParts): string {
  const { has_run, exit_code, trap, truncated } = result;
  const { stdout, stderr } = parts;
  const texts = [errorsReport(parts, truncated)];
  if (!has_run) return `${texts.join("")}the program was not started\n`;
  if (stdout !== "") texts.push(stdout.replace(/\n?$/, "\n"));
  if (stderr !== "") texts.push(`standard error:\n${stderr.replace(/\n?$/, "\n")}`);
  if (trap !== null) texts.push(`trap: ${trap.message}${trapPosition(trap)}\n`);
  return `${texts.join("")}exit code ${exit_code}\n`;
}

/** Where a trap happened, as its report has it. */
function trapPosition(trap: Readonly<Record<string, unknown>>): string {
  const { place } = trap;
  if (typeof place !== "object" || place === null || !("file" in place) || !("line" in place)) return "";
  return ` (${String(place.file)}:${String(place.line)})`;
}

function inspectText({ report, truncated }: ResultFields["inspect"], parts: AnswerParts): string {
  const text = errorsReport(parts, truncated);
  if (report === null) return `${text}a package with errors cannot be looked into\n`;
  const inspection = inspectionOf(report);
  const { cost } = inspection;
  return `${text}${renderInspection(inspection, plainStyle)}${
    cost === null ? "" : `\n${renderCost(cost, plainStyle)}`
  }`;
}

/** What this program put into a line. */
function inspectionOf(report: unknown): Inspection {
  return report as Inspection;
}

/** One declaration with what is in it. */
function symbolLine(symbol: unknown, depth = 0): string {
  if (typeof symbol !== "object" || symbol === null) return "";
  const { name, signature, span, children } = {
    name: "",
    signature: "",
    span: null,
    children: [],
    ...symbol,
  };
  const at = depth === 0 && isSpan(span) ? `${place(span)}  ` : "  ".repeat(depth);
  return [
    `${at}${signature === "" ? name : signature}`,
    ...(Array.isArray(children) ? children.map((child) => symbolLine(child, depth + 1)) : []),
  ].join("\n");
}

function isSpan(value: unknown): value is Span {
  return typeof value === "object" && value !== null && "file" in value && "line" in value &&
    "column" in value;
}

function place({ file, line, column }: Span): string {
  return `${file}:${line}:${column}`;
}

function patchesText(patches: readonly AnsweredPatch[]): string {
  return patches.map(({ diff }) => `\n${fenced("diff", diff)}\n`).join("");
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text.replace(/\n?$/, "\n")}\`\`\``;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function lined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
