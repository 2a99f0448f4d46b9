/** Results of tests for people. */
import { diffLines } from "../diagnostics/line_diff.ts";
import { plainStyle, type Style } from "../diagnostics/style.ts";
import { shownLines } from "./shown_lines.ts";
import type { TestFailure, TestResult } from "./test_result.ts";

/** How results are shown. */
export interface ReportOptions {
  readonly style?: Style;
  /** Shows tests that passed as well. */
  readonly isVerbose?: boolean;
  /** Which seed the properties had. */
  readonly seed?: number;
}

/** All results with a line of summary. */
export function renderResults(results: readonly TestResult[], options: ReportOptions = {}): string {
  const style = options.style ?? plainStyle;
  let text = "";
  for (const result of results) {
    if (result.isPassed && !options.isVerbose && result.evaluation === null) continue;
    text += renderResult(result, style, options.seed) + "\n";
  }
  return text + summary(results, style);
}

function renderResult(result: TestResult, style: Style, seed: number | undefined): string {
  const { kind, name, place, isPassed, failure, evaluation, output } = result;
  const mark = isPassed ? style("success", "pass") : style("error", "FAIL");
  const title = kind === "example" ? `example of ${name}` : `${kind} "${name}"`;
  const lines = [
    `${mark} ${style("strong", title)} ${style("quiet", `${place.file}:${place.line}:${place.column}`)}`,
  ];
  if (evaluation !== null) lines.push(...evaluationLines(evaluation, style));
  if (failure !== null) lines.push(...failureLines(failure, style));
  if (failure !== null && kind === "property" && result.tries > 0) {
    const tries = result.tries === 1 ? "the first try" : `try ${result.tries}`;
    lines.push(
      `  failed at ${tries}${seed === undefined ? "" : `; \`lang test --seed ${seed}\` repeats it`}`,
    );
  }
  if (output !== "" && !isPassed) {
    lines.push(
      `  ${style("quiet", "it printed:")}`,
      ...output.trimEnd().split("\n").map((line) => `    ${line}`),
    );
  }
  return lines.join("\n") + (isPassed && evaluation === null ? "" : "\n");
}

function failureLines(failure: TestFailure, style: Style): string[] {
  const { trap, condition, operator, isSnapshot, sourceLine, counterexample } = failure;
  const lines: string[] = [];
  for (const { name, value } of counterexample) lines.push(`  with ${name} = ${value}`);
  const place = trap.place === null
    ? ""
    : style("quiet", ` (${trap.place.file}:${trap.place.line}:${trap.place.column})`);
  if (isSnapshot) lines.push(`  ${style("error", "the snapshot differs")}${place}`);
  else if (condition !== null) lines.push(`  ${style("error", "does not hold:")} ${condition}${place}`);
  else lines.push(`  ${style("error", trap.message)}${place}`);
  if (condition === null && sourceLine !== null && !isSnapshot) lines.push(`    ${sourceLine.trim()}`);
  if (trap.library !== null) {
    const { file, line, column } = trap.library;
    lines.push(`  ${style("quiet", `in the library: ${file}:${line}:${column}`)}`);
  }
  if (trap.sides !== null) lines.push(...sideLines(trap.sides, { operator, isSnapshot, style }));
  if (isSnapshot) lines.push("  `lang test --update` writes what is there now");
  return lines;
}

function sideLines(
  sides: { readonly left: string; readonly right: string },
  options: { readonly operator: string | null; readonly isSnapshot: boolean; readonly style: Style },
): string[] {
  const { operator, isSnapshot, style } = options;
  const isEquality = operator === "==" || isSnapshot;
  const [left, right] = [shownLines(sides.left, isSnapshot), shownLines(sides.right, isSnapshot)];
  const isShort = left.length === 1 && right.length === 1;
  if (!isEquality || isShort) {
    const [leftName, rightName] = isSnapshot ? ["actual", "written"] : ["left", "right"];
    const width = Math.max(leftName.length, rightName.length);
    return [
      `  ${leftName.padStart(width)}: ${indent(left, width + 4)}`,
      `  ${rightName.padStart(width)}: ${indent(right, width + 4)}`,
    ];
  }
  const names = isSnapshot ? "- written, + actual" : "- right, + left";
  return [
    `  ${style("quiet", names)}`,
    ...diffLines(right, left).map(({ kind, text }) =>
      kind === "same"
        ? `    ${text}`
        : kind === "add"
        ? style("add", `  + ${text}`)
        : style("remove", `  - ${text}`)
    ),
  ];
}

function indent(lines: readonly string[], width: number): string {
  return lines.join(`\n${" ".repeat(width)}`);
}

function evaluationLines(
  { threshold, mean, cases }: NonNullable<TestResult["evaluation"]>,
  style: Style,
): string[] {
  return [
    ...cases.map(({ name, score, trap }) =>
      trap === null
        ? `  ${scoreText(score ?? 0).padStart(6)}  ${name}`
        : `  ${style("error", "trap".padStart(6))}  ${name}: ${trap.message}`
    ),
    `  mean ${scoreText(mean)}, threshold ${scoreText(threshold)}`,
  ];
}

function scoreText(score: number): string {
  return String(Math.round(score * 1000) / 1000);
}

function summary(results: readonly TestResult[], style: Style): string {
  const failed = results.filter((result) => !result.isPassed).length;
  const passed = results.length - failed;
  if (results.length === 0) return "no tests\n";
  const text = `${passed} passed, ${failed} failed`;
  return `${style(failed === 0 ? "success" : "error", text)}\n`;
}
