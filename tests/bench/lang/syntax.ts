/**
 * How quickly sources are read and formatted: the library, repeated to about 10 000 lines.
 *
 * Prints the processor's time, which work beside it disturbs less than the clock's. Run by `deno run -A
 * tests/bench/lang/syntax.ts`.
 */
import process from "node:process";
import { SourceFile } from "../../../lang/source/source_file.ts";
import { format } from "../../../lang/syntax/format.ts";
import { lex } from "../../../lang/syntax/lexer.ts";
import { parse } from "../../../lang/syntax/parser.ts";
import { rightSources } from "../../lang/source_corpus.ts";

const LINES = 10_000;

/** What was measured. */
export interface SyntaxFigures {
  readonly lines: number;
  readonly bytes: number;
  /** Milliseconds of the processor, the least of the rounds. */
  readonly lexing: number;
  readonly parsing: number;
  readonly formatting: number;
}

/** Files of so many lines in all. */
function sources(lines: number): SourceFile[] {
  const library = rightSources().filter((file) => file.path.startsWith("std:"));
  const files: SourceFile[] = [];
  for (let count = 0, index = 0; count < lines; index++) {
    const file = library[index % library.length];
    if (file === undefined) break;
    files.push(file);
    count += file.lineStarts.length;
  }
  return files;
}

/** Measures so many rounds over so many lines. */
export function measureSyntax(rounds: number, lines = LINES): SyntaxFigures {
  const files = sources(lines);
  const least = (work: (file: SourceFile) => unknown) => {
    let best = Infinity;
    for (let round = 0; round < rounds; round++) {
      const start = process.cpuUsage();
      for (const file of files) work(file);
      best = Math.min(best, process.cpuUsage(start).user / 1000);
    }
    return best;
  };
  return {
    lines: files.reduce((sum, file) => sum + file.lineStarts.length, 0),
    bytes: files.reduce((sum, file) => sum + file.text.length, 0),
    lexing: least((file) => lex(file.text)),
    parsing: least(parse),
    formatting: least(format),
  };
}

if (import.meta.main) {
  const { lines, bytes, lexing, parsing, formatting } = measureSyntax(10);
  const speed = (milliseconds: number) =>
    `${milliseconds.toFixed(0)} ms, ${(bytes / 1000 / milliseconds).toFixed(1)} MB/s`;
  console.log(`${lines} lines, ${(bytes / 1000).toFixed(0)} KB`);
  console.log(`lexing      ${speed(lexing)}`);
  console.log(`parsing     ${speed(parsing)} (with lexing)`);
  console.log(`formatting  ${speed(formatting)} (with parsing)`);
}
