/**
 * Statements that PostgreSQL has and the product does not serve: they are named, not misread.
 *
 * Invariant: only statements whose first words are known get here; anything else stays a syntax error with its
 * position.
 */

import type { Unsupported } from "./ast.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";

/** First words behind CREATE, ALTER, DROP and COMMENT ON of objects that the product does not have. */
export const UNSUPPORTED_OBJECTS: readonly string[] = [
  "access",
  "aggregate",
  "cast",
  "collation",
  "constraint",
  "conversion",
  "default",
  "event",
  "foreign",
  "language",
  "large",
  "materialized",
  "operator",
  "owned",
  "policy",
  "procedural",
  "publication",
  "routine",
  "rule",
  "server",
  "statistics",
  "subscription",
  "system",
  "tablespace",
  "text",
  "transform",
  "trusted",
  "user",
];

/** Second words that belong to the name of the object: `MATERIALIZED VIEW`, `EVENT TRIGGER`. */
const SECOND_WORDS = [
  "configuration",
  "class",
  "data",
  "dictionary",
  "family",
  "language",
  "mapping",
  "method",
  "object",
  "parser",
  "privileges",
  "search",
  "table",
  "template",
  "trigger",
  "view",
  "wrapper",
];

/** Reads a whole statement as one that is refused; its feature is its leading words. */
export function parseUnsupported(stream: TokenStream): Unsupported {
  let position = stream.position;
  const words = [stream.take().toUpperCase()];
  if (
    ["CREATE", "ALTER", "DROP", "COMMENT", "REFRESH", "IMPORT", "SECURITY", "PREPARE"].includes(
      words[0] ?? "",
    )
  ) {
    while (
      stream.isAnyWord(["or", "replace", "temp", "temporary", "unlogged", "on", "trusted", "procedural"])
    ) {
      stream.advance();
    }
    // The place of what is refused, not of the verb before it.
    if (stream.kind() === TOKEN.word) {
      position = stream.position;
      words.push(stream.take().toUpperCase());
    }
    while (stream.isAnyWord(SECOND_WORDS)) words.push(stream.take().toUpperCase());
  }
  while (!stream.isAtEnd) stream.advance();
  return { kind: "unsupported", feature: words.join(" "), position };
}

/** First words of whole statements that the product does not serve. */
export const UNSUPPORTED_STATEMENTS: readonly string[] = [
  "cluster",
  "import",
  "load",
  "reassign",
  "security",
];
