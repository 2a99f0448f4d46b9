/** Differences of files in the unified format, as `patch` and `git apply` read it. */
import { type DiffLine, diffLines } from "./line_diff.ts";
import type { Style } from "./style.ts";

const CONTEXT = 3;

/** The difference of two versions of a file; empty when they are the same. */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return "";
  const body = renderHunks(numbered(diffLines(linesOf(before), linesOf(after))));
  return `--- a/${path}\n+++ b/${path}\n${body}`;
}

/** Lines with their line breaks, which the last one may lack. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

interface NumberedLine extends DiffLine {
  /** Lines of the old and of the new file before this one. */
  readonly before: number;
  readonly after: number;
}

function numbered(lines: readonly DiffLine[]): NumberedLine[] {
  let before = 0;
  let after = 0;
  return lines.map((line) => {
    const numbers = { before, after };
    if (line.kind !== "add") before++;
    if (line.kind !== "remove") after++;
    return { ...line, ...numbers };
  });
}

function renderHunks(lines: readonly NumberedLine[]): string {
  let text = "";
  let index = 0;
  while (index < lines.length) {
    const first = lines.findIndex((line, at) => at >= index && line.kind !== "same");
    if (first < 0) break;
    let last = first;
    for (let at = first; at < lines.length && at <= last + 2 * CONTEXT; at++) {
      if (lines[at]?.kind !== "same") last = at;
    }
    const hunk = lines.slice(Math.max(index, first - CONTEXT), last + 1 + CONTEXT);
    text += renderHunk(hunk);
    index = last + 1;
  }
  return text;
}

function renderHunk(lines: readonly NumberedLine[]): string {
  const [first] = lines;
  if (first === undefined) return "";
  const before = lines.filter((line) => line.kind !== "add").length;
  const after = lines.filter((line) => line.kind !== "remove").length;
  const range = (start: number, count: number) =>
    count === 1 ? `${start + 1}` : `${count === 0 ? start : start + 1},${count}`;
  let text = `@@ -${range(first.before, before)} +${range(first.after, after)} @@\n`;
  for (const line of lines) {
    const sign = line.kind === "same" ? " " : line.kind === "add" ? "+" : "-";
    text += sign + line.text;
    if (!line.text.endsWith("\n")) text += "\n\\ No newline at end of file\n";
  }
  return text;
}

/** A difference in the colors of a terminal. */
export function coloredDiff(diff: string, style: Style): string {
  return diff.replaceAll(/^.+$/gm, (line) => {
    if (line.startsWith("---") || line.startsWith("+++")) return style("strong", line);
    if (line.startsWith("@@")) return style("info", line);
    return line.startsWith("+") ? style("add", line) : line.startsWith("-") ? style("remove", line) : line;
  });
}
