/**
 * Items of FROM: tables, subqueries, functions and joins.
 *
 * Invariants: joins associate to the left, and a qualified join takes the nearest free ON or USING, as in `a JOIN b
 * JOIN c ON … ON …`. `ID` behind a table is the native row address when an operand follows; it stays an alias in
 * `FROM t id`, `FROM t id (a, b)` and wherever no operand follows.
 */

import type {
  Alias,
  ColumnTyping,
  Expression,
  FromItem,
  FunctionItem,
  JoinItem,
  Query,
  SubqueryItem,
  TableFunction,
  TableItem,
  TableSample,
} from "./ast.ts";
import { parseExpression, parseOperand } from "./expressions.ts";
import { parseFunctionCall } from "./function_calls.ts";
import { objectName, parseList, parseNameList, parseParenthesizedList } from "./names.ts";
import { isSessionValue, parsePrimary } from "./primary_expressions.ts";
import { continueQuery, isQueryStart, leadsToQuery, parseQuery } from "./queries.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";
import { parseTypeName } from "./type_names.ts";

/** Reads one item of FROM with the joins behind it. */
export function parseFromItem(stream: TokenStream): FromItem {
  stream.enter();
  const item = parseJoins(stream, parsePrimaryItem(stream));
  stream.leave();
  return item;
}

/** A join's words, read. */
interface JoinStart {
  readonly type: JoinItem["type"];
  readonly natural: boolean;
  readonly position: number;
}

function parseJoins(stream: TokenStream, left: FromItem): FromItem {
  while (true) {
    const start = acceptJoinStart(stream);
    if (start === null) return left;
    stream.deepen();
    let right = parsePrimaryItem(stream);
    const isQualified = start.type !== "cross" && !start.natural;
    if (isQualified && !stream.isWord("on") && !stream.isWord("using")) {
      stream.enter();
      right = parseJoins(stream, right);
      stream.leave();
    }
    left = finishJoin(stream, start, left, right, isQualified);
  }
}

function finishJoin(
  stream: TokenStream,
  start: JoinStart,
  left: FromItem,
  right: FromItem,
  isQualified: boolean,
): JoinItem {
  let using: string[] | null = null;
  let usingAlias: string | null = null;
  let on: Expression | null = null;
  if (isQualified) {
    if (stream.acceptWord("using")) {
      using = parseNameList(stream);
      if (stream.acceptWord("as")) usingAlias = stream.expectName();
    } else {
      stream.expectWords("on");
      on = parseExpression(stream);
    }
  }
  return { kind: "join", ...start, left, right, using, usingAlias, on, alias: null };
}

const JOIN_TYPES = ["left", "right", "full"] as const;

function acceptJoinStart(stream: TokenStream): JoinStart | null {
  const position = stream.position;
  if (stream.acceptWords("cross", "join")) return { type: "cross", natural: false, position };
  const natural = stream.acceptWord("natural");
  if (stream.acceptWord("join") || stream.acceptWords("inner", "join")) {
    return { type: "inner", natural, position };
  }
  for (const type of JOIN_TYPES) {
    if (!stream.isWord(type)) continue;
    stream.advance();
    stream.acceptWord("outer");
    stream.expectWords("join");
    return { type, natural, position };
  }
  if (natural || stream.isWord("inner") || stream.isWord("cross")) {
    if (!natural) stream.advance();
    throw stream.syntaxError();
  }
  return null;
}

function parsePrimaryItem(stream: TokenStream): FromItem {
  const position = stream.position;
  const lateral = stream.acceptWord("lateral");
  if (stream.isSymbol("(")) {
    const body = parseParenthesizedItem(stream);
    if (body.kind === "query") return subqueryItem(stream, body, lateral, position);
    if (lateral || body.kind !== "join") throw stream.syntaxError();
    return { ...body, alias: acceptAlias(stream) ?? body.alias };
  }
  if (stream.isWords("rows", "from") && stream.isSymbol("(", 2)) return parseRowsFrom(stream, lateral);
  if (isSessionValue(stream) || isSpecialCall(stream)) {
    return finishFunction(stream, parsePrimary(stream), lateral, position);
  }
  if (stream.isWord("only")) {
    if (lateral) throw stream.syntaxError();
    return parseOnly(stream);
  }
  return parseNamedItem(stream, lateral);
}

/** Whether a function that is grammar (COALESCE, CAST, …) begins here. */
function isSpecialCall(stream: TokenStream): boolean {
  const words = [
    "coalesce",
    "greatest",
    "least",
    "nullif",
    "cast",
    "extract",
    "substring",
    "overlay",
    "trim",
  ];
  return stream.isAnyWord(words) && stream.isSymbol("(", 1);
}

/** Reads `( … )` in FROM: a query, or a join. */
function parseParenthesizedItem(stream: TokenStream): FromItem | Query {
  stream.enter();
  stream.expectSymbol("(");
  const position = stream.position;
  let result: FromItem | Query;
  if (isQueryStart(stream)) {
    result = parseQuery(stream);
  } else if (stream.isSymbol("(") && leadsToQuery(stream)) {
    const inner = parseParenthesizedItem(stream);
    if (inner.kind === "query") {
      const query = continueQuery(stream, inner);
      if (query !== null || stream.isSymbol(")")) {
        result = query ?? inner;
      } else {
        result = parseJoins(stream, subqueryItem(stream, inner, false, position));
      }
    } else {
      const alias = inner.kind === "join" ? acceptAlias(stream) : null;
      result = parseJoins(stream, inner.kind === "join" && alias !== null ? { ...inner, alias } : inner);
    }
  } else {
    result = parseFromItem(stream);
  }
  // Parentheses around a single table are not SQL.
  if (result.kind !== "query" && result.kind !== "join") throw stream.syntaxError();
  stream.expectSymbol(")");
  stream.leave();
  return result;
}

function subqueryItem(stream: TokenStream, query: Query, lateral: boolean, position: number): SubqueryItem {
  const alias = acceptAlias(stream);
  return { kind: "subquery", lateral, query, alias, position };
}

/** Reads TABLESAMPLE when it is there. */
function acceptSample(stream: TokenStream): TableSample | null {
  if (!stream.acceptWord("tablesample")) return null;
  const position = stream.position;
  const name = parseParts(stream);
  const args = parseParenthesizedList(stream, parseExpression);
  let repeatable: Expression | null = null;
  if (stream.acceptWord("repeatable")) {
    stream.expectSymbol("(");
    repeatable = parseExpression(stream);
    stream.expectSymbol(")");
  }
  return { method: name.join("."), args, repeatable, position };
}

function parseOnly(stream: TokenStream): TableItem {
  const position = stream.position;
  stream.advance();
  const hasParentheses = stream.acceptSymbol("(");
  const namePosition = stream.position;
  const name = objectName(stream, parseParts(stream), namePosition);
  if (hasParentheses) stream.expectSymbol(")");
  return finishTable(stream, {
    kind: "table",
    name,
    alias: null,
    only: true,
    rowId: null,
    sample: null,
    position,
  });
}

function parseParts(stream: TokenStream): string[] {
  if (!stream.isName() && !(stream.isFunctionName() && stream.isSymbol("(", 1))) throw stream.syntaxError();
  const parts = [stream.take()];
  while (stream.acceptSymbol(".")) parts.push(stream.expectLabel());
  return parts;
}

function parseNamedItem(stream: TokenStream, lateral: boolean): FromItem {
  const position = stream.position;
  const parts = parseParts(stream);
  if (stream.isSymbol("(")) {
    if (stream.isAnyWord(["xmltable", "json_table"])) throw stream.unsupported("XMLTABLE");
    return finishFunction(stream, parseFunctionCall(stream, parts, position), lateral, position);
  }
  if (lateral) throw stream.syntaxError();
  stream.acceptSymbol("*");
  const name = objectName(stream, parts, position);
  return finishTable(stream, {
    kind: "table",
    name,
    alias: null,
    only: false,
    rowId: null,
    sample: null,
    position,
  });
}

function finishTable(stream: TokenStream, item: TableItem): TableItem {
  let rowId = acceptRowId(stream);
  const alias = acceptAlias(stream);
  if (rowId === null && alias !== null) rowId = acceptRowId(stream);
  return { ...item, alias, rowId, sample: acceptSample(stream) };
}

/** Reads the native `ID operand` when it is there. */
export function acceptRowId(stream: TokenStream): Expression | null {
  if (!stream.isWord("id") || !isRowIdOperand(stream)) return null;
  stream.advance();
  return parseOperand(stream);
}

function isRowIdOperand(stream: TokenStream): boolean {
  switch (stream.kind(1)) {
    case TOKEN.integer:
    case TOKEN.decimal:
    case TOKEN.string:
    case TOKEN.parameter:
      return true;
    case TOKEN.operator:
      return (stream.isSymbol("-", 1) || stream.isSymbol("+", 1)) && stream.kind(2) === TOKEN.integer;
    case TOKEN.punctuation:
      return stream.isSymbol("(", 1) && !isNameListAhead(stream, 1);
    default:
      return false;
  }
}

/** Whether `(name, name …)` is ahead: then the word before it is an alias. */
function isNameListAhead(stream: TokenStream, ahead: number): boolean {
  let at = ahead + 1;
  while (stream.isName(at)) {
    if (stream.isSymbol(")", at + 1)) return true;
    if (!stream.isSymbol(",", at + 1)) return false;
    at += 2;
  }
  return false;
}

/** Reads `[AS] name [(columns)]` when it is there. */
function acceptAlias(stream: TokenStream): Alias | null {
  const position = stream.position;
  const hasAs = stream.acceptWord("as");
  if (!hasAs && !stream.isName()) return null;
  const name = stream.expectName();
  const columns = stream.isSymbol("(") ? parseNameList(stream) : [];
  return { name, columns, position };
}

function parseColumnTyping(stream: TokenStream): ColumnTyping {
  const position = stream.position;
  const name = stream.expectName();
  const type = parseTypeName(stream);
  if (stream.acceptWord("collate")) throw stream.unsupported("COLLATE in a column definition list");
  return { name, type, position };
}

/** Whether `(name type, …)` is here instead of `(name, …)`. */
function isColumnTypingList(stream: TokenStream): boolean {
  return stream.isSymbol("(") && stream.isName(1) && stream.isLabel(2);
}

function finishFunction(
  stream: TokenStream,
  call: Expression,
  lateral: boolean,
  position: number,
): FunctionItem {
  const withOrdinality = stream.acceptWords("with", "ordinality");
  const { alias, columns } = acceptFunctionAlias(stream);
  const functions: TableFunction[] = [{ call, columns }];
  return { kind: "function", lateral, rowsFrom: false, functions, withOrdinality, alias, position };
}

/** Reads an alias behind a function, which may carry a list of columns with types. */
function acceptFunctionAlias(stream: TokenStream): { alias: Alias | null; columns: ColumnTyping[] } {
  const position = stream.position;
  const hasAs = stream.acceptWord("as");
  if (hasAs && stream.isSymbol("(")) {
    return { alias: null, columns: parseParenthesizedList(stream, parseColumnTyping) };
  }
  if (!hasAs && !stream.isName()) return { alias: null, columns: [] };
  const name = stream.expectName();
  if (isColumnTypingList(stream)) {
    const columns = parseParenthesizedList(stream, parseColumnTyping);
    return { alias: { name, columns: [], position }, columns };
  }
  const columns = stream.isSymbol("(") ? parseNameList(stream) : [];
  return { alias: { name, columns, position }, columns: [] };
}

function parseRowsFrom(stream: TokenStream, lateral: boolean): FunctionItem {
  const position = stream.position;
  stream.advance();
  stream.advance();
  stream.expectSymbol("(");
  const functions = parseList(stream, (inner): TableFunction => {
    const call = parsePrimary(inner);
    const columns = inner.acceptWord("as") ? parseParenthesizedList(inner, parseColumnTyping) : [];
    return { call, columns };
  });
  stream.expectSymbol(")");
  const withOrdinality = stream.acceptWords("with", "ordinality");
  const { alias } = acceptFunctionAlias(stream);
  return { kind: "function", lateral, rowsFrom: true, functions, withOrdinality, alias, position };
}
