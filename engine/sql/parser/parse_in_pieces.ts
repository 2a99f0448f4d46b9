/**
 * Parsing of texts of megabytes piece by piece, so that others may have a turn between any two: their tokens, then the
 * rows of their VALUES, which are what makes statements long, then the statements around these at once.
 */
import { DatabaseError } from "../../base/errors.ts";
import type { ParsedStatement } from "./ast.ts";
import { tokenizeInPieces } from "./lexer.ts";
import { parseValuesRow } from "./queries.ts";
import { parseStatements } from "./statements.ts";
import { TOKEN } from "./token.ts";
import { type RowsAhead, TokenStream, type ValuesRow } from "./token_stream.ts";

const PIECE_ROWS = 256;
const PIECE_WORDS = 8192;

/** Parses all statements of a text. Raises what `parseStatements` does. */
export function* parseInPieces(text: string): Generator<void, ParsedStatement[]> {
  const tokens = yield* tokenizeInPieces(text);
  const rowsAhead = new Map<number, RowsAhead>();
  try {
    const stream = new TokenStream(text, { tokens });
    for (let count = 1; stream.kind() !== TOKEN.end; count++) {
      const isList = stream.isWord("values") && stream.isSymbol("(", 1);
      const start = stream.mark;
      stream.advance();
      if (count % PIECE_WORDS === 0) yield;
      if (!isList) continue;
      const rows = yield* valuesRows(stream);
      // Parameters are numbered by the statement that they are in.
      if (stream.parameterCount > 0) break;
      rowsAhead.set(start, { rows, end: stream.mark });
    }
  } catch (error) {
    // It may be no list of rows at all; what is wrong in one is met again by the parser, in its place.
    if (!(error instanceof DatabaseError)) throw error;
  }
  return parseStatements(text, { tokens, rowsAhead });
}

function* valuesRows(stream: TokenStream): Generator<void, readonly ValuesRow[]> {
  const rows: ValuesRow[] = [];
  do {
    rows.push(parseValuesRow(stream));
    if (rows.length % PIECE_ROWS === 0) yield;
  } while (stream.acceptSymbol(","));
  return rows;
}
