/**
 * Reads pieces of SQL out of a block's text: up to a word or symbol that ends them, over brackets and CASE … END.
 *
 * The piece keeps the text as it was written; an INTO that belongs to PL/pgSQL is blanked out of it.
 */
import { TOKEN } from "../parser/token.ts";
import type { TokenStream } from "../parser/token_stream.ts";
import type { Fragment, IntoClause, Target } from "./block.ts";

/** What ends a fragment. It is not taken. */
export interface FragmentEnd {
  readonly words?: readonly string[];
  readonly symbols?: readonly string[];
}

/** Where the last line was counted, so that a long text is counted once. */
const counted = new WeakMap<TokenStream, { readonly offset: number; readonly line: number }>();

/** The line of the block's text on which the cursor is, from 1. */
export function lineOf(stream: TokenStream): number {
  const { text, position } = stream;
  const last = counted.get(stream);
  let { offset, line } = last === undefined || last.offset > position ? { offset: 0, line: 1 } : last;
  for (let at = text.indexOf("\n", offset); at >= 0 && at < position; at = text.indexOf("\n", at + 1)) line++;
  offset = position;
  counted.set(stream, { offset, line });
  return line;
}

/** Reads up to one of the ends. Raises 42601 for nothing, and at the end of the text. */
export function readFragment(stream: TokenStream, end: FragmentEnd): Fragment {
  const start = stream.position;
  const line = lineOf(stream);
  skipTo(stream, end, () => false);
  if (stream.position === start) throw stream.syntaxError();
  return { text: stream.textFrom(start), line };
}

/** Reads an SQL statement up to its semicolon, with the INTO that names variables. */
export function readStatement(
  stream: TokenStream,
): { readonly statement: Fragment; readonly into: IntoClause | null } {
  const start = stream.position;
  const line = lineOf(stream);
  let into: IntoClause | null = null;
  let cut = { from: 0, to: 0 };
  let previous = "";
  skipTo(stream, { symbols: [";"] }, () => {
    const isTarget = into === null && stream.isWord("into") && previous !== "insert" && previous !== "merge";
    previous = stream.kind() === TOKEN.word ? stream.value() : "";
    if (!isTarget) return false;
    const from = stream.position;
    into = readInto(stream);
    cut = { from, to: stream.previousEnd };
    return true;
  });
  const text = stream.textFrom(start);
  const blanked = text.slice(0, cut.from - start) + " " + text.slice(cut.to - start);
  return { statement: { text: into === null ? text : blanked, line }, into };
}

/** Reads INTO [STRICT] targets. */
export function readInto(stream: TokenStream): IntoClause {
  stream.expectWords("into");
  const strict = stream.acceptWord("strict");
  return { targets: readTargets(stream), strict };
}

/** Reads `a, b.c, d[1]`. */
export function readTargets(stream: TokenStream): Target[] {
  const targets = [readTarget(stream)];
  while (stream.acceptSymbol(",")) targets.push(readTarget(stream));
  return targets;
}

/** Reads one target. */
export function readTarget(stream: TokenStream): Target {
  const line = lineOf(stream);
  const parts = [stream.expectLabel()];
  while (stream.acceptSymbol(".")) parts.push(stream.expectLabel());
  const subscripts: Fragment[] = [];
  while (stream.acceptSymbol("[")) {
    subscripts.push(readFragment(stream, { symbols: ["]"] }));
    stream.expectSymbol("]");
  }
  return { parts, subscripts, line };
}

/** Moves to the end; `inspect` may take tokens outside of brackets itself, and then answers true. */
function skipTo(stream: TokenStream, end: FragmentEnd, inspect: () => boolean): void {
  let brackets = 0, cases = 0;
  for (;;) {
    if (stream.kind() === TOKEN.end) throw stream.syntaxError();
    if (brackets === 0 && cases === 0) {
      if (end.words !== undefined && stream.isAnyWord(end.words)) return;
      if (end.symbols?.some((symbol) => stream.isSymbol(symbol)) === true) return;
      if (inspect()) continue;
    }
    // A statement never goes on behind a semicolon, whatever is still open.
    if (stream.isSymbol(";")) throw stream.syntaxError();
    if (stream.isSymbol("(") || stream.isSymbol("[")) brackets++;
    else if (stream.isSymbol(")") || stream.isSymbol("]")) brackets = Math.max(0, brackets - 1);
    else if (stream.isWord("case")) cases++;
    else if (stream.isWord("end")) cases = Math.max(0, cases - 1);
    stream.advance();
  }
}
