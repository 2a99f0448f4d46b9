/**
 * Queries: SELECT, VALUES, TABLE, set operations, WITH, ORDER BY, LIMIT and row locking.
 *
 * Invariants: UNION and EXCEPT associate to the left, INTERSECT binds more tightly; parentheses without clauses of
 * their own leave no trace in the tree.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type {
  CommonTable,
  CycleClause,
  Expression,
  GroupingElement,
  IntoClause,
  LockingClause,
  Merge,
  Persistence,
  Query,
  QueryBody,
  SearchClause,
  Select,
  Target,
  Values,
  WindowDefinition,
  WithClause,
} from "./ast.ts";
import { parseMerge } from "./merge_statement.ts";
import { parseDelete, parseInsert, parseUpdate } from "./data_changes.ts";
import { parseExpression, parseExpressionOrDefault, parseOperand } from "./expressions.ts";
import { parseFromItem } from "./from_items.ts";
import { acceptOrderBy, parseWindowSpecification } from "./function_calls.ts";
import { KEYWORDS } from "./keywords.ts";
import { parseList, parseObjectName, parseOptionalNameList, parseParenthesizedList } from "./names.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";

/** Whether a query begins at the token. */
export function isQueryStart(stream: TokenStream, ahead = 0): boolean {
  if (stream.kind(ahead) !== TOKEN.word) return false;
  switch (stream.value(ahead)) {
    case "select":
    case "with":
    case "table":
      return true;
    case "values":
      return stream.isSymbol("(", ahead + 1);
    default:
      return false;
  }
}

/** Whether behind the parentheses that open here a query begins. */
export function leadsToQuery(stream: TokenStream): boolean {
  let ahead = 0;
  while (stream.isSymbol("(", ahead)) ahead++;
  return isQueryStart(stream, ahead);
}

/** Reads a query with its WITH, ORDER BY, LIMIT and locking clauses. */
export function parseQuery(stream: TokenStream): Query {
  const position = stream.position;
  const withClause = stream.isWord("with") ? parseWith(stream) : null;
  return parseQueryAfterWith(stream, withClause, position);
}

/** Reads a query whose WITH has been read already. */
export function parseQueryAfterWith(
  stream: TokenStream,
  withClause: WithClause | null,
  position: number,
): Query {
  stream.enter();
  const first = parseSetOperand(stream);
  const body = parseSetOperations(stream, first, 1);
  const query = finishQuery(stream, withClause, body, position);
  stream.leave();
  return query;
}

/**
 * Goes on behind a query in parentheses that has been read already: `(SELECT …) UNION …`, `(SELECT …) LIMIT 1`. Answers
 * `null` when nothing of a query follows.
 */
export function continueQuery(stream: TokenStream, first: Query): Query | null {
  const mark = stream.mark;
  const body = parseSetOperations(stream, unwrap(first), 1);
  const query = finishQuery(stream, null, body, first.position);
  return stream.mark === mark ? null : query;
}

/** The body of a query that has no clauses of its own, else the query. */
function unwrap(query: Query): QueryBody {
  const isPlain = query.with === null && query.orderBy.length === 0 && query.limit === null &&
    query.offset === null &&
    query.locking.length === 0;
  return isPlain ? query.body : query;
}

function finishQuery(
  stream: TokenStream,
  withClause: WithClause | null,
  body: QueryBody,
  position: number,
): Query {
  const orderBy = acceptOrderBy(stream);
  let limit: Expression | null = null;
  let offset: Expression | null = null;
  let withTies = false;
  let hasLimit = false;
  let hasOffset = false;
  const locking: LockingClause[] = [];
  while (true) {
    if (stream.isWord("limit") || stream.isWord("fetch")) {
      if (hasLimit) {
        throw stream.error(SQLSTATE.syntaxError, "multiple LIMIT clauses not allowed", stream.position);
      }
      hasLimit = true;
      if (stream.isWord("limit")) limit = parseLimit(stream);
      else ({ limit, withTies } = parseFetchFirst(stream));
    } else if (stream.isWord("offset")) {
      if (hasOffset) {
        throw stream.error(SQLSTATE.syntaxError, "multiple OFFSET clauses not allowed", stream.position);
      }
      hasOffset = true;
      stream.advance();
      offset = parseExpression(stream);
      if (!stream.acceptWord("rows")) stream.acceptWord("row");
    } else if (stream.isWord("for") && stream.isAnyWord(["update", "no", "share", "key", "read"], 1)) {
      parseLocking(stream, locking);
    } else {
      break;
    }
  }
  if (withTies && orderBy.length === 0) {
    throw stream.error(
      SQLSTATE.syntaxError,
      "WITH TIES cannot be specified without ORDER BY clause",
      position,
    );
  }
  const isBare = withClause === null && orderBy.length === 0 && !hasLimit && !hasOffset &&
    locking.length === 0;
  if (isBare && body.kind === "query") return body;
  return { kind: "query", with: withClause, body, orderBy, limit, withTies, offset, locking, position };
}

function parseLimit(stream: TokenStream): Expression | null {
  const position = stream.position;
  stream.advance();
  if (stream.acceptWord("all")) return null;
  const limit = parseExpression(stream);
  if (stream.isSymbol(",")) {
    throw stream.error(
      SQLSTATE.syntaxError,
      "LIMIT #,# syntax is not supported",
      position,
      "Use separate LIMIT and OFFSET clauses.",
    );
  }
  return limit.kind === "literal" && limit.type === "null" ? null : limit;
}

function parseFetchFirst(stream: TokenStream): { limit: Expression; withTies: boolean } {
  const position = stream.position;
  stream.advance();
  stream.expectAnyWord(["first", "next"]);
  const limit: Expression = stream.isAnyWord(["row", "rows"])
    ? { kind: "literal", type: "integer", text: "1", literalIndex: null, position }
    : parseOperand(stream);
  stream.expectAnyWord(["row", "rows"]);
  const withTies = stream.acceptWords("with", "ties");
  if (!withTies) stream.expectWords("only");
  return { limit, withTies };
}

function parseLocking(stream: TokenStream, locking: LockingClause[]): void {
  const position = stream.position;
  stream.advance();
  if (stream.acceptWords("read", "only")) return;
  const strength: LockingClause["strength"] = stream.acceptWord("update")
    ? "update"
    : stream.acceptWord("share")
    ? "share"
    : stream.acceptWords("no", "key", "update")
    ? "no key update"
    : (stream.expectWords("key", "share"), "key share");
  const tables = stream.acceptWord("of") ? parseList(stream, parseObjectName) : [];
  const wait: LockingClause["wait"] = stream.acceptWord("nowait")
    ? "nowait"
    : stream.acceptWords("skip", "locked")
    ? "skip locked"
    : "wait";
  locking.push({ strength, tables, wait, position });
}

function setOperationPrecedence(stream: TokenStream): number {
  if (stream.isWord("union") || stream.isWord("except")) return 1;
  return stream.isWord("intersect") ? 2 : 0;
}

function parseSetOperations(stream: TokenStream, left: QueryBody, minimum: number): QueryBody {
  while (true) {
    const precedence = setOperationPrecedence(stream);
    if (precedence === 0 || precedence < minimum) return left;
    stream.deepen();
    const position = stream.position;
    const word = stream.take();
    const operator = word === "union" ? "union" : word === "except" ? "except" : "intersect";
    const all = stream.acceptWord("all");
    if (!all) stream.acceptWord("distinct");
    const right = parseSetOperations(stream, parseSetOperand(stream), precedence + 1);
    left = { kind: "set_operation", operator, all, left, right, position };
  }
}

function parseSetOperand(stream: TokenStream): QueryBody {
  if (stream.isWord("select")) return parseSelect(stream);
  if (stream.isWord("values")) return parseValues(stream);
  if (stream.isWord("table")) return parseTableCommand(stream);
  if (!stream.isSymbol("(")) throw stream.syntaxError();
  stream.advance();
  const query = parseQuery(stream);
  stream.expectSymbol(")");
  return unwrap(query);
}

function parseTableCommand(stream: TokenStream): Select {
  const position = stream.position;
  stream.advance();
  const only = stream.acceptWord("only");
  const namePosition = stream.position;
  const name = parseObjectName(stream);
  stream.acceptSymbol("*");
  return {
    ...emptySelect(position),
    targets: [{ expression: { kind: "star", qualifier: [], position }, alias: null, position }],
    from: [{ kind: "table", name, alias: null, only, rowId: null, sample: null, position: namePosition }],
  };
}

function parseValues(stream: TokenStream): Values {
  const position = stream.position;
  stream.advance();
  const rows = parseList(stream, () => {
    const { position } = stream;
    return { items: parseParenthesizedList(stream, parseExpressionOrDefault), position };
  });
  const length = rows[0]?.items.length;
  for (const row of rows) {
    if (row.items.length === length) continue;
    const at = row.items[0]?.position ?? row.position;
    throw stream.error(SQLSTATE.syntaxError, "VALUES lists must all be the same length", at);
  }
  return { kind: "values", rows: rows.map((row) => row.items), position };
}

function emptySelect(position: number): Select {
  return {
    kind: "select",
    distinct: "all",
    distinctOn: [],
    targets: [],
    into: null,
    from: [],
    where: null,
    groupBy: [],
    groupDistinct: false,
    having: null,
    windows: [],
    position,
  };
}

function parseSelect(stream: TokenStream): Select {
  const position = stream.position;
  stream.advance();
  let distinct: Select["distinct"] = "all";
  let distinctOn: Expression[] = [];
  if (stream.acceptWord("distinct")) {
    distinct = "distinct";
    if (stream.acceptWord("on")) {
      distinct = "on";
      distinctOn = parseParenthesizedList(stream, parseExpression);
    }
  } else {
    stream.acceptWord("all");
  }
  const targets = hasNoTargets(stream) && distinct !== "distinct" ? [] : parseTargets(stream);
  const into = stream.acceptWord("into") ? parseInto(stream) : null;
  const from = stream.acceptWord("from") ? parseList(stream, parseFromItem) : [];
  const where = acceptWhere(stream);
  const { groupBy, groupDistinct } = acceptGroupBy(stream);
  const having = stream.acceptWord("having") ? parseExpression(stream) : null;
  const windows = stream.acceptWord("window") ? parseList(stream, parseWindowDefinition) : [];
  return {
    kind: "select",
    distinct,
    distinctOn,
    targets,
    into,
    from,
    where,
    groupBy,
    groupDistinct,
    having,
    windows,
    position,
  };
}

const AFTER_TARGETS = [
  "from",
  "into",
  "where",
  "group",
  "having",
  "window",
  "order",
  "limit",
  "offset",
  "fetch",
  "for",
  "union",
  "intersect",
  "except",
];

function hasNoTargets(stream: TokenStream): boolean {
  return stream.isAtEnd || stream.isSymbol(")") || stream.isAnyWord(AFTER_TARGETS);
}

/** Reads a target list: of SELECT or RETURNING. */
export function parseTargets(stream: TokenStream): Target[] {
  return parseList(stream, parseTarget);
}

function parseTarget(stream: TokenStream): Target {
  const position = stream.position;
  if (stream.acceptSymbol("*")) {
    return { expression: { kind: "star", qualifier: [], position }, alias: null, position };
  }
  const expression = parseExpression(stream);
  return { expression, alias: acceptLabel(stream), position };
}

/** Reads `AS label`, or a label without AS where the grammar allows it. */
function acceptLabel(stream: TokenStream): string | null {
  if (stream.acceptWord("as")) return stream.expectLabel();
  const kind = stream.kind();
  if (kind === TOKEN.quotedIdentifier) return stream.take();
  if (kind !== TOKEN.word) return null;
  const keyword = KEYWORDS.get(stream.value());
  return keyword === undefined || keyword.bareLabel ? stream.take() : null;
}

function parseInto(stream: TokenStream): IntoClause {
  stream.acceptWord("local") || stream.acceptWord("global");
  let persistence: Persistence = "permanent";
  if (stream.acceptWord("temp") || stream.acceptWord("temporary")) persistence = "temporary";
  else if (stream.acceptWord("unlogged")) persistence = "unlogged";
  stream.acceptWord("table");
  return { name: parseObjectName(stream), persistence };
}

/** Reads WHERE and its condition when it is there. */
export function acceptWhere(stream: TokenStream): Expression | null {
  return stream.acceptWord("where") ? parseExpression(stream) : null;
}

function acceptGroupBy(stream: TokenStream): { groupBy: GroupingElement[]; groupDistinct: boolean } {
  if (!stream.acceptWords("group", "by")) return { groupBy: [], groupDistinct: false };
  const groupDistinct = stream.acceptWord("distinct");
  if (!groupDistinct) stream.acceptWord("all");
  return { groupBy: parseList(stream, parseGroupingElement), groupDistinct };
}

function parseGroupingElement(stream: TokenStream): GroupingElement {
  const position = stream.position;
  if (stream.isSymbol("(") && stream.isSymbol(")", 1)) {
    stream.advance();
    stream.advance();
    return { kind: "empty", position };
  }
  if ((stream.isWord("rollup") || stream.isWord("cube")) && stream.isSymbol("(", 1)) {
    const kind = stream.take() === "rollup" ? "rollup" : "cube";
    return { kind, items: parseParenthesizedList(stream, parseExpression), position };
  }
  if (stream.isWords("grouping", "sets") && stream.isSymbol("(", 2)) {
    stream.advance();
    stream.advance();
    stream.enter();
    const sets = parseParenthesizedList(stream, parseGroupingElement);
    stream.leave();
    return { kind: "sets", sets, position };
  }
  return { kind: "expression", expression: parseExpression(stream) };
}

function parseWindowDefinition(stream: TokenStream): WindowDefinition {
  const position = stream.position;
  const name = stream.expectName();
  stream.expectWords("as");
  return { name, specification: parseWindowSpecification(stream), position };
}

/** Reads WITH and its common tables. */
export function parseWith(stream: TokenStream): WithClause {
  const position = stream.position;
  stream.advance();
  const recursive = stream.acceptWord("recursive");
  return { recursive, items: parseList(stream, parseCommonTable), position };
}

function parseCommonTable(stream: TokenStream): CommonTable {
  const position = stream.position;
  const name = stream.expectName();
  const columns = parseOptionalNameList(stream);
  stream.expectWords("as");
  let materialized: boolean | null = null;
  if (stream.acceptWord("materialized")) materialized = true;
  else if (stream.acceptWords("not", "materialized")) materialized = false;
  stream.expectSymbol("(");
  stream.enter();
  const statement = parsePreparableStatement(stream);
  stream.leave();
  stream.expectSymbol(")");
  const search = stream.isWord("search") ? parseSearch(stream) : null;
  const cycle = stream.isWord("cycle") ? parseCycle(stream) : null;
  return { name, columns, materialized, statement, search, cycle, position };
}

function parseSearch(stream: TokenStream): SearchClause {
  const position = stream.position;
  stream.advance();
  const depthFirst = stream.expectAnyWord(["depth", "breadth"]) === "depth";
  stream.expectWords("first", "by");
  const columns = parseList(stream, (inner) => inner.expectName());
  stream.expectWords("set");
  return { depthFirst, columns, sequence: stream.expectName(), position };
}

function parseCycle(stream: TokenStream): CycleClause {
  const position = stream.position;
  stream.advance();
  const columns = parseList(stream, (inner) => inner.expectName());
  stream.expectWords("set");
  const mark = stream.expectName();
  let value = truth("true", position), otherwise = truth("false", position);
  if (stream.acceptWord("to")) {
    value = parseConstant(stream);
    stream.expectWords("default");
    otherwise = parseConstant(stream);
  }
  stream.expectWords("using");
  return { columns, mark, value, otherwise, path: stream.expectName(), position };
}

function truth(text: "true" | "false", position: number): Expression {
  return { kind: "literal", type: "boolean", text, literalIndex: null, position };
}

/** Reads a literal without sign, or one with its type before it. */
function parseConstant(stream: TokenStream): Expression {
  const { position } = stream;
  const isOpened = stream.isSymbol("(") || stream.isSymbol("-") || stream.isSymbol("+");
  if (isOpened) throw stream.syntaxError();
  const constant = parseOperand(stream);
  if (constant.kind === "literal" || constant.kind === "typed_literal") return constant;
  throw stream.error(SQLSTATE.syntaxError, "the values of CYCLE must be constants", position);
}

/** Reads a query or a data change, with its WITH: what WITH and COPY contain. */
export function parsePreparableStatement(stream: TokenStream): CommonTable["statement"] {
  const position = stream.position;
  const statement = parseDataStatement(stream);
  if (statement.kind !== "merge") return statement;
  throw stream.error("0A000", "MERGE not supported in WITH query", position);
}

/** Reads a query or a data change, MERGE too, with its WITH. */
export function parseDataStatement(stream: TokenStream): CommonTable["statement"] | Merge {
  const position = stream.position;
  const withClause = stream.isWord("with") ? parseWith(stream) : null;
  if (stream.isWord("insert")) return parseInsert(stream, withClause);
  if (stream.isWord("update")) return parseUpdate(stream, withClause);
  if (stream.isWord("delete")) return parseDelete(stream, withClause);
  if (stream.isWord("merge")) return parseMerge(stream, withClause);
  return parseQueryAfterWith(stream, withClause, position);
}
