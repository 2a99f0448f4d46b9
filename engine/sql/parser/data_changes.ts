/**
 * INSERT, UPDATE and DELETE, with the native row address `ID n`, ON CONFLICT and RETURNING.
 *
 * Invariant: what these read is also what WITH may contain; the WITH in front of a statement is read by the caller.
 */

import type {
  Assignment,
  ColumnTarget,
  Delete,
  Expression,
  FromItem,
  IndexKey,
  Insert,
  ObjectName,
  OnConflict,
  Query,
  Target,
  Update,
  WithClause,
} from "./ast.ts";
import { parseExpression, parseExpressionOrDefault, parseOperand } from "./expressions.ts";
import { acceptRowId, parseFromItem } from "./from_items.ts";
import { acceptNullsOrder } from "./function_calls.ts";
import { parseDottedName, parseList, parseObjectName, parseParenthesizedList } from "./names.ts";
import { parseAssignedSubscripts, parseParenthesisBody, parsePrimary } from "./primary_expressions.ts";
import { acceptWhere, isQueryStart, leadsToQuery, parseQuery, parseTargets } from "./queries.ts";
import type { TokenStream } from "./token_stream.ts";

/** Reads INSERT. */
export function parseInsert(stream: TokenStream, withClause: WithClause | null): Insert {
  const position = stream.position;
  stream.advance();
  stream.expectWords("into");
  const table = parseObjectName(stream);
  let alias = stream.acceptWord("as") ? stream.expectName() : null;
  const rowId = stream.acceptWord("id") ? parseOperand(stream) : null;
  if (alias === null && stream.acceptWord("as")) alias = stream.expectName();
  const hasColumns = stream.isSymbol("(") && !leadsToQuery(stream);
  const columns = hasColumns ? parseParenthesizedList(stream, parseColumnTarget) : [];
  let overriding: Insert["overriding"] = null;
  if (stream.acceptWord("overriding")) {
    overriding = stream.expectAnyWord(["user", "system"]) === "user" ? "user" : "system";
    stream.expectWords("value");
  }
  // DEFAULT VALUES is about the whole row.
  if ((hasColumns || overriding !== null) && stream.isWords("default", "values")) throw stream.syntaxError();
  const source = parseInsertSource(stream);
  const onConflict = stream.isWord("on") ? parseOnConflict(stream) : null;
  const returning = acceptReturning(stream);
  return {
    kind: "insert",
    with: withClause,
    table,
    alias,
    rowId,
    columns,
    overriding,
    source,
    onConflict,
    returning,
    position,
  };
}

function parseInsertSource(stream: TokenStream): Query | null {
  if (stream.acceptWords("default", "values")) return null;
  if (!isQueryStart(stream) && !stream.isWord("values") && !stream.isSymbol("(")) throw stream.syntaxError();
  return parseQuery(stream);
}

/** Reads a column that is assigned. */
export function parseColumnTarget(stream: TokenStream): ColumnTarget {
  const position = stream.position;
  const name = stream.expectName();
  if (stream.isSymbol(".")) throw stream.unsupported("assignment to a field of a composite column");
  return { name, subscripts: parseAssignedSubscripts(stream), position };
}

function parseOnConflict(stream: TokenStream): OnConflict {
  const position = stream.position;
  stream.advance();
  stream.expectWords("conflict");
  let target: IndexKey[] = [];
  let targetWhere: Expression | null = null;
  let constraint: string | null = null;
  if (stream.isSymbol("(")) {
    target = parseParenthesizedList(stream, parseIndexKey);
    targetWhere = acceptWhere(stream);
  } else if (stream.acceptWords("on", "constraint")) {
    constraint = stream.expectName();
  }
  stream.expectWords("do");
  if (stream.acceptWord("nothing")) return { target, targetWhere, constraint, update: null, position };
  stream.expectWords("update");
  stream.expectWords("set");
  const assignments = parseAssignments(stream);
  return { target, targetWhere, constraint, update: { assignments, where: acceptWhere(stream) }, position };
}

/** Reads a column or expression of an index or conflict target. */
export function parseIndexKey(stream: TokenStream): IndexKey {
  const position = stream.position;
  const expression = parseIndexExpression(stream);
  const collation = stream.acceptWord("collate") ? parseDottedName(stream) : [];
  const hasClass = stream.isName() && !stream.isWord("nulls");
  const operatorClass = hasClass ? parseDottedName(stream) : [];
  if (hasClass && stream.isSymbol("(")) throw stream.unsupported("operator class parameters");
  const descending = stream.acceptWord("desc");
  if (!descending) stream.acceptWord("asc");
  return { expression, collation, operatorClass, descending, nulls: acceptNullsOrder(stream), position };
}

function parseIndexExpression(stream: TokenStream): Expression {
  const position = stream.position;
  if (stream.isSymbol("(")) {
    const body = parseParenthesisBody(stream);
    if (body.kind === "expression") return body.expression;
    throw stream.syntaxError();
  }
  if (stream.isName() && !stream.isSymbol("(", 1) && !stream.isSymbol(".", 1)) {
    return { kind: "column", parts: [stream.take()], position };
  }
  const expression = parsePrimary(stream);
  if (expression.kind !== "call" && expression.kind !== "conditional") throw stream.syntaxError();
  return expression;
}

/** Reads `a = 1, (b, c) = (2, 3)`. */
export function parseAssignments(stream: TokenStream): Assignment[] {
  return parseList(stream, parseAssignment);
}

function parseAssignment(stream: TokenStream): Assignment {
  const position = stream.position;
  if (!stream.isSymbol("(")) {
    const columns = [parseColumnTarget(stream)];
    stream.expectSymbol("=");
    return { columns, multiple: false, value: parseExpressionOrDefault(stream), position };
  }
  const columns = parseParenthesizedList(stream, parseColumnTarget);
  stream.expectSymbol("=");
  return { columns, multiple: true, value: parseMultipleSource(stream), position };
}

/** Reads what is assigned to several columns: a row, whose items may be DEFAULT, or a subquery. */
function parseMultipleSource(stream: TokenStream): Expression {
  const position = stream.position;
  const explicit = stream.isWord("row") && stream.isSymbol("(", 1);
  if (explicit) stream.advance();
  if (!explicit && stream.isSymbol("(") && leadsToQuery(stream)) {
    const body = parseParenthesisBody(stream);
    if (body.kind === "query") return { kind: "subquery", query: body.query, position };
    const items = body.kind === "row" ? body.items : [body.expression];
    return { kind: "row", explicit: false, items, position };
  }
  if (stream.isSymbol("(")) {
    return {
      kind: "row",
      explicit,
      items: parseParenthesizedList(stream, parseExpressionOrDefault),
      position,
    };
  }
  parseExpression(stream);
  throw stream.error(
    "0A000",
    "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression",
    position,
  );
}

function acceptReturning(stream: TokenStream): Target[] {
  return stream.acceptWord("returning") ? parseTargets(stream) : [];
}

interface ChangedTable {
  readonly table: ObjectName;
  readonly only: boolean;
  readonly alias: string | null;
  readonly rowId: Expression | null;
}

/** Reads the table of UPDATE, DELETE or MERGE with its alias and row address. */
export function parseChangedTable(stream: TokenStream): ChangedTable {
  const only = stream.acceptWord("only");
  const hasParentheses = only && stream.acceptSymbol("(");
  const table = parseObjectName(stream);
  if (hasParentheses) stream.expectSymbol(")");
  stream.acceptSymbol("*");
  let rowId = acceptRowId(stream);
  let alias: string | null = null;
  if (stream.acceptWord("as")) alias = stream.expectName();
  else if (stream.isName() && !stream.isAnyWord(["set", "using"])) alias = stream.take();
  rowId ??= acceptRowId(stream);
  return { table, only, alias, rowId };
}

function acceptChangeWhere(stream: TokenStream): Expression | null {
  if (stream.isWords("where", "current", "of")) throw stream.unsupported("WHERE CURRENT OF");
  return acceptWhere(stream);
}

/** Reads UPDATE. */
export function parseUpdate(stream: TokenStream, withClause: WithClause | null): Update {
  const position = stream.position;
  stream.advance();
  const changed = parseChangedTable(stream);
  stream.expectWords("set");
  const assignments = parseAssignments(stream);
  const from: FromItem[] = stream.acceptWord("from") ? parseList(stream, parseFromItem) : [];
  const where = acceptChangeWhere(stream);
  const returning = acceptReturning(stream);
  return { kind: "update", with: withClause, ...changed, assignments, from, where, returning, position };
}

/** Reads DELETE. */
export function parseDelete(stream: TokenStream, withClause: WithClause | null): Delete {
  const position = stream.position;
  stream.advance();
  stream.expectWords("from");
  const changed = parseChangedTable(stream);
  const using: FromItem[] = stream.acceptWord("using") ? parseList(stream, parseFromItem) : [];
  const where = acceptChangeWhere(stream);
  const returning = acceptReturning(stream);
  return { kind: "delete", with: withClause, ...changed, using, where, returning, position };
}
