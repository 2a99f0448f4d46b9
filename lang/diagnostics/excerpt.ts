/**
 * The lines of source around a diagnostic, with carets under its span and dashes under its labels.
 *
 * Lines of several files are grouped by file, the diagnostic's first. Long spans show their first and last line; long lines are cut around
 * what is marked, so that a line of a generated file does not fill the screen.
 */
import type { SourceFile, Span } from "../source/source_file.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { Role, Style } from "./style.ts";
import { displayLine } from "./text_width.ts";

/** Longest part of a line that is shown, in columns. */
const MAXIMUM_WIDTH = 160;
/** Columns kept before what is marked when a line is cut. */
const MARGIN = 40;

interface Mark {
  readonly span: Span;
  readonly message: string;
  readonly isPrimary: boolean;
}

interface LineMark {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly isPrimary: boolean;
}

/** The excerpt's lines. */
export function renderExcerpt(diagnostic: Diagnostic, style: Style): string[] {
  const byFile = new Map<SourceFile, Mark[]>();
  byFile.set(diagnostic.file, [{ span: diagnostic.span, message: "", isPrimary: true }]);
  for (const label of diagnostic.labels) {
    const marks = byFile.get(label.file) ?? [];
    marks.push({ span: label.span, message: label.message, isPrimary: false });
    byFile.set(label.file, marks);
  }
  const lastLine = Math.max(
    ...[...byFile].flatMap(([file, marks]) => marks.map(({ span }) => file.lineIndexAt(span.end) + 1)),
  );
  const gutter = String(lastLine).length;
  const lines: string[] = [];
  for (const [file, marks] of byFile) {
    const first = marks[0];
    if (first === undefined) continue;
    const position = file.positionOf(first.span);
    const arrow = file === diagnostic.file ? "-->" : ":::";
    lines.push(
      `${" ".repeat(gutter)} ${style("quiet", arrow)} ${file.path}:${position.line}:${position.column}`,
      ...renderFile(file, marks, { gutter, style, role: diagnostic.severity }),
    );
  }
  return lines;
}

function renderFile(
  file: SourceFile,
  marks: readonly Mark[],
  options: { readonly gutter: number; readonly style: Style; readonly role: Role },
): string[] {
  const { gutter, style, role } = options;
  const byLine = new Map<number, LineMark[]>();
  for (const mark of marks) {
    for (const { line, ...part } of partsOf(file, mark)) {
      const known = byLine.get(line) ?? [];
      known.push(part);
      byLine.set(line, known);
    }
  }
  const bar = style("quiet", "|");
  const blank = `${" ".repeat(gutter + 1)}${bar}`;
  const lines: string[] = [blank];
  let previous = -1;
  for (const [line, parts] of [...byLine].sort(([left], [right]) => left - right)) {
    if (previous >= 0 && line === previous + 2) {
      // One line between two that are shown is shown as well.
      lines.push(sourceLine(file, previous + 1, gutter, bar, style, 0).text);
    } else if (previous >= 0 && line > previous + 1) lines.push(style("quiet", "...".padStart(gutter + 2)));
    const from = Math.min(...parts.map((part) => part.start));
    const shown = sourceLine(file, line, gutter, bar, style, from);
    lines.push(shown.text);
    for (const part of parts) {
      const start = Math.max(shown.column(part.start), 0);
      const width = Math.max(1, Math.min(shown.column(part.end), MAXIMUM_WIDTH) - start);
      const carets = (part.isPrimary ? "^" : "-").repeat(width);
      const message = part.message === "" ? "" : ` ${part.message}`;
      lines.push(
        `${blank} ${" ".repeat(start)}${style(part.isPrimary ? role : "info", `${carets}${message}`)}`,
      );
    }
    previous = line;
  }
  lines.push(blank);
  return lines;
}

/** The parts of a mark on its lines: all of it on one line, else its beginning and its end. */
function partsOf(file: SourceFile, mark: Mark): (LineMark & { readonly line: number })[] {
  const { span, message, isPrimary } = mark;
  const firstLine = file.lineIndexAt(span.start);
  const lastLine = span.end > span.start ? file.lineIndexAt(span.end - 1) : firstLine;
  const startOf = (line: number) => file.lineStarts[line] ?? 0;
  if (firstLine === lastLine) {
    return [{
      line: firstLine,
      start: span.start - startOf(firstLine),
      end: span.end - startOf(firstLine),
      message,
      isPrimary,
    }];
  }
  const firstText = file.lineText(firstLine);
  const lastText = file.lineText(lastLine);
  return [
    {
      line: firstLine,
      start: span.start - startOf(firstLine),
      end: firstText.length,
      message: "",
      isPrimary,
    },
    {
      line: lastLine,
      start: lastText.length - lastText.trimStart().length,
      end: span.end - startOf(lastLine),
      message,
      isPrimary,
    },
  ];
}

function sourceLine(
  file: SourceFile,
  line: number,
  gutter: number,
  bar: string,
  style: Style,
  from: number,
): { readonly text: string; column(offset: number): number } {
  const display = displayLine(file.lineText(line));
  const number = style("quiet", String(line + 1).padStart(gutter));
  const columnOf = (offset: number) => display.columns[Math.min(offset, display.columns.length - 1)] ?? 0;
  const width = display.columns.at(-1) ?? 0;
  if (width <= MAXIMUM_WIDTH) {
    return { text: `${number} ${bar} ${display.text}`.trimEnd(), column: columnOf };
  }
  const characters = [...display.text];
  const start = Math.max(0, columnOf(from) - MARGIN);
  const cut = characters.slice(start, start + MAXIMUM_WIDTH).join("");
  const lead = start > 0 ? "…" : "";
  return {
    text: `${number} ${bar} ${lead}${cut}…`,
    column: (offset) => columnOf(offset) - start + lead.length,
  };
}
