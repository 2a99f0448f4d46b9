/**
 * The lines of source around a diagnostic, with carets under its span and dashes under its labels.
 *
 * Lines of several files are grouped by file, the diagnostic's first. Long spans show their first and last line; long
 * lines are cut around what is marked, so that a line of a generated file does not fill the screen.
 */
import type { SourceFile, Span } from "../source/source_file.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { Role, Style } from "./style.ts";
import { displayLine } from "./text_width.ts";

/** Longest part of a line that is shown, in columns. */
const MAX_WIDTH = 160;
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
    for (const row of markRows(parts, shown.column, { style, role })) lines.push(`${blank} ${row}`);
    previous = line;
  }
  lines.push(blank);
  return lines;
}

interface PlacedMark {
  readonly from: number;
  readonly to: number;
  readonly message: string;
  readonly isPrimary: boolean;
}

/**
 * The rows under a line: marks that leave one another room share a row, the message of the last of them behind it and
 * the others' below, from right to left.
 */
function markRows(
  parts: readonly LineMark[],
  column: (offset: number) => number,
  options: { readonly style: Style; readonly role: Role },
): string[] {
  const marks = parts.map(({ start, end, message, isPrimary }): PlacedMark => {
    const from = Math.max(column(start), 0);
    return { from, to: Math.max(from + 1, Math.min(column(end), MAX_WIDTH)), message, isPrimary };
  });
  const shared: PlacedMark[] = [];
  const alone: PlacedMark[] = [];
  for (const mark of marks) {
    const meets = shared.some((other) => mark.from < other.to && other.from < mark.to);
    (meets ? alone : shared).push(mark);
  }
  shared.sort((left, right) => left.from - right.from);
  return [...sharedRows(shared, options), ...alone.flatMap((mark) => sharedRows([mark], options))];
}

function sharedRows(
  marks: readonly PlacedMark[],
  { style, role }: { readonly style: Style; readonly role: Role },
): string[] {
  const paint = (mark: PlacedMark, text: string) => style(mark.isPrimary ? role : "info", text);
  const row = (pieces: readonly { readonly mark: PlacedMark; readonly text: string }[]): string => {
    let text = "";
    let width = 0;
    for (const piece of pieces) {
      text += " ".repeat(Math.max(0, piece.mark.from - width)) + paint(piece.mark, piece.text);
      width = piece.mark.from + piece.text.length;
    }
    return text;
  };
  const last = marks.at(-1);
  const underlines = marks.map((mark) => {
    const line = (mark.isPrimary ? "^" : "-").repeat(mark.to - mark.from);
    return { mark, text: mark === last && mark.message !== "" ? `${line} ${mark.message}` : line };
  });
  const rows = [row(underlines)];
  const waiting = marks.filter((mark) => mark !== last && mark.message !== "");
  for (let mark = waiting.pop(); mark !== undefined; mark = waiting.pop()) {
    rows.push(row([...waiting.map((other) => ({ mark: other, text: "|" })), { mark, text: mark.message }]));
  }
  return rows;
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
  if (width <= MAX_WIDTH) {
    return { text: `${number} ${bar} ${display.text}`.trimEnd(), column: columnOf };
  }
  const characters = [...display.text];
  const start = Math.max(0, columnOf(from) - MARGIN);
  const cut = characters.slice(start, start + MAX_WIDTH).join("");
  const lead = start > 0 ? "…" : "";
  return {
    text: `${number} ${bar} ${lead}${cut}…`,
    column: (offset) => columnOf(offset) - start + lead.length,
  };
}
