/** SHARD BY (column) and SHARD BY ALL, which are read as a table option. */
import type { NamedOption } from "./ast.ts";
import { quoteIdentifier } from "./keywords.ts";
import { parseParenthesizedList } from "./names.ts";
import type { TokenStream } from "./token_stream.ts";

/** The option that says how a table is sharded: `all`, or a column's name. */
export const SHARD_BY = "shard_by";

/** Reads the clause, if it is here. */
export function acceptShardBy(stream: TokenStream): NamedOption[] {
  const { position } = stream;
  if (!stream.acceptWords("shard", "by")) return [];
  if (stream.acceptWord("all")) return [{ name: SHARD_BY, value: "all", position }];
  const columns = parseParenthesizedList(
    stream,
    (inner) => ({ position: inner.position, name: inner.expectName() }),
  );
  const [first, ...more] = columns;
  if (first === undefined || more.length > 0) throw stream.unsupported("SHARD BY several columns");
  return [{ name: SHARD_BY, value: quoteIdentifier(first.name), position: first.position }];
}
