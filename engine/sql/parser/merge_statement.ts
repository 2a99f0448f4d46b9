/**
 * MERGE, as PostgreSQL 15 has it: WHEN [NOT] MATCHED with UPDATE, DELETE, INSERT or DO NOTHING.
 */

import type { ColumnTarget, Expression, Merge, MergeAction, MergeClause, WithClause } from "./ast.ts";
import { parseAssignments, parseChangedTable, parseColumnTarget } from "./data_changes.ts";
import { parseExpression, parseExpressionOrDefault } from "./expressions.ts";
import { parseFromItem } from "./from_items.ts";
import { parseParenthesizedList } from "./names.ts";
import type { TokenStream } from "./token_stream.ts";

/** Reads MERGE behind its WITH. */
export function parseMerge(stream: TokenStream, withClause: WithClause | null): Merge {
  const position = stream.position;
  stream.advance();
  stream.expectWords("into");
  const { table, alias } = parseChangedTable(stream);
  stream.expectWords("using");
  const source = parseFromItem(stream);
  stream.expectWords("on");
  const on = parseExpression(stream);
  const clauses = [parseClause(stream)];
  while (stream.isWord("when")) clauses.push(parseClause(stream));
  return { kind: "merge", with: withClause, table, alias, source, on, clauses, position };
}

function parseClause(stream: TokenStream): MergeClause {
  const position = stream.position;
  stream.expectWords("when");
  const matched = !stream.acceptWord("not");
  stream.expectWords("matched");
  const condition = stream.acceptWord("and") ? parseExpression(stream) : null;
  stream.expectWords("then");
  if (stream.acceptWord("do")) {
    stream.expectWords("nothing");
    return { matched, condition, action: { kind: "nothing" }, position };
  }
  return { matched, condition, action: matched ? parseChange(stream) : parseInsertion(stream), position };
}

function parseChange(stream: TokenStream): MergeAction {
  if (stream.acceptWord("delete")) return { kind: "delete" };
  stream.expectWords("update");
  stream.expectWords("set");
  return { kind: "update", assignments: parseAssignments(stream) };
}

function parseInsertion(stream: TokenStream): MergeAction {
  stream.expectWords("insert");
  if (stream.acceptWords("default", "values")) {
    return { kind: "insert", columns: [], overriding: null, values: null };
  }
  const columns: ColumnTarget[] = stream.isSymbol("(")
    ? parseParenthesizedList(stream, parseColumnTarget)
    : [];
  let overriding: "system" | "user" | null = null;
  if (stream.acceptWord("overriding")) {
    overriding = stream.expectAnyWord(["user", "system"]) === "user" ? "user" : "system";
    stream.expectWords("value");
  }
  stream.expectWords("values");
  const values: Expression[] = parseParenthesizedList(stream, parseExpressionOrDefault);
  return { kind: "insert", columns, overriding, values };
}
