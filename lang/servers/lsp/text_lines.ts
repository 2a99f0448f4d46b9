/**
 * Places as editors count: lines from 0, characters from 0 in UTF-16 units; a line ends with `\n`, `\r\n` or `\r`.
 *
 * A place outside of the text is moved into it, as the protocol asks: behind the end of a line to its end, behind the
 * last line to the end.
 */
import type { Position, Range } from "vscode-languageserver";
import type { SourceFile, Span } from "../../source/source_file.ts";

/** The lines of a text. */
export class TextLines {
  readonly #text: string;
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.#text = text;
    const starts = [0];
    for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
    this.#starts = starts;
  }

  /** How many there are. */
  get count(): number {
    return this.#starts.length;
  }

  /** The offset of a place. */
  offsetAt({ line, character }: Position): number {
    if (line < 0) return 0;
    const start = this.#starts[line];
    if (start === undefined) return this.#text.length;
    const next = this.#starts[line + 1];
    const end = next === undefined
      ? this.#text.length
      : next - (this.#text.startsWith("\r\n", next - 2) ? 2 : 1);
    return Math.min(start + Math.max(character, 0), Math.max(start, end));
  }

  /** The place of an offset. */
  positionAt(offset: number): Position {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low, character: offset - (this.#starts[low] ?? 0) };
  }

  /** The places of a span. */
  rangeOf({ start, end }: Span): Range {
    return { start: this.positionAt(start), end: this.positionAt(end) };
  }

  /** The span of two places; the second is never before the first. */
  spanOf({ start, end }: Range): Span {
    const from = this.offsetAt(start);
    return { start: from, end: Math.max(from, this.offsetAt(end)) };
  }
}

const known = new WeakMap<SourceFile, TextLines>();

/** The lines of a file, found once. */
export function linesOf(file: SourceFile): TextLines {
  let lines = known.get(file);
  if (lines === undefined) {
    lines = new TextLines(file.text);
    known.set(file, lines);
  }
  return lines;
}
