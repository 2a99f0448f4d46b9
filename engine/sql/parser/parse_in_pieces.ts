/** Parsing of texts of megabytes piece by piece, so that others may have a turn between any two. */
import { Pieces } from "../../base/pieces.ts";
import type { ParsedStatement } from "./ast.ts";
import { tokenizeInPieces } from "./lexer.ts";
import { parseStatements } from "./statements.ts";

/** Parses all statements of a text, each piece of them for `room` of the clock. Raises what `parseStatements` does. */
export function* parseInPieces(
  text: string,
  clock: () => number,
  room: number,
): Generator<void, readonly ParsedStatement[]> {
  const tokens = yield* tokenizeInPieces(text);
  const pieces = new Pieces(clock);
  for (;;) {
    const parsed = pieces.run(room, () => parseStatements(text, { tokens, pieces }));
    if (parsed !== null) return parsed.value;
    yield;
  }
}
