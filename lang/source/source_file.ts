/**
 * A source text and places in it.
 *
 * Inside the compiler a place is a {@link Span} of UTF-16 offsets, as JavaScript's strings count. Only diagnostics
 * turn them into lines and columns (from 1, in code points) and byte offsets (in UTF-8). Line ends are `\n`; a `\r`
 * before one is white space.
 */

/** A range of UTF-16 offsets, the end excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * A place as people and editors count: lines and columns from 1, columns and lengths in code points, offsets in UTF-8
 * bytes.
 */
export interface Position {
  readonly line: number;
  readonly column: number;
  /** Code points that the span covers. */
  readonly length: number;
  readonly byteStart: number;
  readonly byteEnd: number;
}

/** One source file of a package or of the library. */
export class SourceFile {
  /** Path in the package with `/`, such as `src/main.lang`; `std:list` for the library's. */
  readonly path: string;
  readonly text: string;
  #lineStarts: number[] | null = null;

  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
  }

  /** Offsets at which lines begin. */
  get lineStarts(): readonly number[] {
    if (this.#lineStarts === null) {
      this.#lineStarts = [0];
      for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1)) {
        this.#lineStarts.push(at + 1);
      }
    }
    return this.#lineStarts;
  }

  /** Line of an offset, from 0. */
  lineIndexAt(offset: number): number {
    const starts = this.lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The text of a line, from 0, without its end. */
  lineText(lineIndex: number): string {
    const start = this.lineStarts[lineIndex] ?? this.text.length;
    const next = this.lineStarts[lineIndex + 1];
    const end = next === undefined ? this.text.length : next - 1;
    return this.text.slice(start, end).replace(/\r$/, "");
  }

  /** The place of a span as people count. */
  positionOf(span: Span): Position {
    const lineIndex = this.lineIndexAt(span.start);
    const lineStart = this.lineStarts[lineIndex] ?? 0;
    return {
      line: lineIndex + 1,
      column: codePoints(this.text, lineStart, span.start) + 1,
      length: codePoints(this.text, span.start, span.end),
      byteStart: utf8Length(this.text, 0, span.start),
      byteEnd: utf8Length(this.text, 0, span.end),
    };
  }
}

/** Whether a path is that of one of the library's modules: `std:list`. */
export function isLibraryPath(path: string): boolean {
  return path.includes(":");
}

function codePoints(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xdc00 && unit <= 0xdfff && at > start) continue;
    count++;
  }
  return count;
}

function utf8Length(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    // Each half of a surrogate pair stands for 2 of its 4 bytes.
    count += unit < 0x80 ? 1 : unit < 0x800 ? 2 : unit >= 0xd800 && unit <= 0xdfff ? 2 : 3;
  }
  return count;
}
