/**
 * Operands of expressions: constants, parameters, names, parenthesized things, CASE, CAST, ARRAY, ROW, EXISTS and
 * calls, with the subscripts and field selections behind them.
 *
 * Invariant: what is in parentheses may be a query, an expression that begins with a query, or a row;
 * {@link parseParenthesisBody} decides it without going back.
 */

import type { ArrayConstructor, CaseBranch, Expression, Query, SessionValueName } from "./ast.ts";
import { continueExpression, parseExpression } from "./expressions.ts";
import { parseFunctionCall, parseSpecialFunction } from "./function_calls.ts";
import { KEYWORD_CATEGORY } from "./keywords.ts";
import { parseList } from "./names.ts";
import { takePackedBranches, takePackedList, unpacked } from "./packed_literals.ts";
import { continueQuery, isQueryStart, leadsToQuery, parseQuery } from "./queries.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";
import { acceptIntervalFields, isStandardTypeStart, parseLiteralType, parseTypeName } from "./type_names.ts";

/** What parentheses held. */
export type ParenthesisBody =
  | { readonly kind: "query"; readonly query: Query }
  | { readonly kind: "expression"; readonly expression: Expression }
  | { readonly kind: "row"; readonly items: readonly Expression[] };

/** Reads `( … )`: the current token is the opening parenthesis. */
export function parseParenthesisBody(stream: TokenStream): ParenthesisBody {
  stream.enter();
  const body = parseParenthesisContent(stream);
  stream.leave();
  return body;
}

function parseParenthesisContent(stream: TokenStream): ParenthesisBody {
  stream.expectSymbol("(");
  let first: Expression;
  if (isQueryStart(stream)) {
    const query = parseQuery(stream);
    stream.expectSymbol(")");
    return { kind: "query", query };
  }
  if (stream.isSymbol("(") && leadsToQuery(stream)) {
    const position = stream.position;
    const inner = parseParenthesisBody(stream);
    if (inner.kind === "query") {
      const query = continueQuery(stream, inner.query);
      if (query !== null || stream.isSymbol(")")) {
        stream.expectSymbol(")");
        return { kind: "query", query: query ?? inner.query };
      }
    }
    first = continueExpression(stream, parseSuffixes(stream, asExpression(inner, position)));
  } else {
    first = parseExpression(stream);
  }
  if (stream.acceptSymbol(")")) return { kind: "expression", expression: first };
  stream.expectSymbol(",");
  const items = [first, ...parseList(stream, parseExpression)];
  stream.expectSymbol(")");
  return { kind: "row", items };
}

function asExpression(body: ParenthesisBody, position: number): Expression {
  switch (body.kind) {
    case "query":
      return { kind: "subquery", query: body.query, position };
    case "row":
      return { kind: "row", explicit: false, items: body.items, position };
    case "expression":
      return body.expression;
  }
}

/** Reads an operand with its subscripts and field selections. */
export function parsePrimary(stream: TokenStream): Expression {
  const position = stream.position;
  switch (stream.kind()) {
    case TOKEN.integer:
      return parseConstant(stream, "integer");
    case TOKEN.decimal:
      return parseConstant(stream, "decimal");
    case TOKEN.string:
      return parseConstant(stream, "string");
    case TOKEN.bitString:
      return parseConstant(stream, "bit_string");
    case TOKEN.hexString:
      return parseConstant(stream, "hex_string");
    case TOKEN.parameter:
      return parseSuffixes(stream, { kind: "parameter", number: stream.takeParameter(), position });
    case TOKEN.quotedIdentifier:
      return parseNamed(stream);
    case TOKEN.word:
      return stream.category === KEYWORD_CATEGORY.none ? parseNamed(stream) : parseKeyword(stream);
    case TOKEN.punctuation:
      if (stream.isSymbol("(")) {
        return parseSuffixes(stream, asExpression(parseParenthesisBody(stream), position));
      }
      throw stream.syntaxError();
    default:
      throw stream.syntaxError();
  }
}

function parseConstant(
  stream: TokenStream,
  type: "integer" | "decimal" | "string" | "bit_string" | "hex_string",
): Expression {
  const position = stream.position;
  const literalIndex = stream.literalIndex(position);
  return { kind: "literal", type, text: stream.take(), literalIndex, position };
}

/** Reads `[i]`, `[i:j]`, `.field` and `.*` behind an operand. */
function parseSuffixes(stream: TokenStream, first: Expression): Expression {
  let operand = first;
  while (true) {
    const position = stream.position;
    if (stream.acceptSymbol("[")) {
      operand = parseSubscript(stream, operand, { startsChain: operand === first, position });
    } else if (stream.acceptSymbol(".")) {
      if (stream.acceptSymbol("*")) return { kind: "field_star", operand, position };
      operand = { kind: "field", operand, field: stream.expectLabel(), position };
    } else {
      return operand;
    }
    stream.deepen();
  }
}

function parseSubscript(
  stream: TokenStream,
  operand: Expression,
  place: { readonly startsChain: boolean; readonly position: number },
): Expression {
  const lower = stream.isSymbol(":") ? null : parseExpression(stream);
  if (!stream.acceptSymbol(":")) {
    stream.expectSymbol("]");
    return { kind: "subscript", operand, isSlice: false, lower: null, upper: lower, ...place };
  }
  const upper = stream.isSymbol("]") ? null : parseExpression(stream);
  stream.expectSymbol("]");
  return { kind: "subscript", operand, isSlice: true, lower, upper, ...place };
}

/** Reads the subscripts of an assigned column. */
export function parseAssignedSubscripts(stream: TokenStream): Expression[] {
  const subscripts: Expression[] = [];
  while (stream.acceptSymbol("[")) {
    subscripts.push(parseExpression(stream));
    stream.expectSymbol("]");
  }
  return subscripts;
}

/** Reads what begins with a name: a column, `t.*`, a call, or a typed literal such as `date '…'`. */
function parseNamed(stream: TokenStream): Expression {
  const position = stream.position;
  const canBeColumn = stream.isName();
  const canBeFunction = stream.isFunctionName();
  const mark = stream.mark;
  const parts = [stream.take()];
  while (stream.isSymbol(".") && canBeColumn) {
    stream.advance();
    if (stream.acceptSymbol("*")) return { kind: "star", qualifier: parts, position };
    parts.push(stream.expectLabel());
  }
  if (stream.isString() && canBeFunction) {
    stream.rewind(mark);
    return parseTypedLiteral(stream);
  }
  if (stream.isSymbol("(") && (canBeFunction || parts.length > 1)) {
    const call = parseFunctionCall(stream, parts, position);
    if (!stream.isString()) return parseSuffixes(stream, call);
    // `name(3) '…'`: what looked like arguments were the type's modifiers.
    for (const { value } of call.arguments) {
      if (value.kind === "literal") stream.pinLiteral(value.literalIndex);
    }
    stream.rewind(mark);
    return parseTypedLiteral(stream);
  }
  if (!canBeColumn) throw stream.syntaxError();
  return parseSuffixes(stream, { kind: "column", parts, position });
}

/** Reads `type 'text'`. */
function parseTypedLiteral(stream: TokenStream): Expression {
  const position = stream.position;
  const type = parseLiteralType(stream);
  const text = stream.expectString();
  if (type.name[0] !== "interval" || type.intervalFields !== null) {
    return { kind: "typed_literal", type, text, position };
  }
  const intervalFields = acceptIntervalFields(stream);
  const precision = intervalFields?.endsWith("second") === true && stream.isSymbol("(");
  if (!precision) return { kind: "typed_literal", type: { ...type, intervalFields }, text, position };
  stream.advance();
  const modifiers = [Number(stream.expectInteger())];
  stream.expectSymbol(")");
  return { kind: "typed_literal", type: { ...type, intervalFields, modifiers }, text, position };
}

const SESSION_VALUES: ReadonlyMap<string, SessionValueName> = new Map(
  ([
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
    "current_user",
    "session_user",
    "system_user",
    "user",
    "current_role",
    "current_catalog",
    "current_schema",
  ] as const).map((name) => [name, name]),
);

const WITH_PRECISION = ["current_time", "current_timestamp", "localtime", "localtimestamp"];

/** Whether a value without parentheses (CURRENT_DATE …) begins here. */
export function isSessionValue(stream: TokenStream): boolean {
  if (stream.kind() !== TOKEN.word || !SESSION_VALUES.has(stream.value())) return false;
  return !(stream.isWord("current_schema") && stream.isSymbol("(", 1));
}

function parseSessionValue(stream: TokenStream): Expression {
  const position = stream.position;
  const name = SESSION_VALUES.get(stream.take()) ?? "user";
  if (!stream.isSymbol("(") || !WITH_PRECISION.includes(name)) {
    return { kind: "session_value", name, precision: null, position };
  }
  stream.advance();
  const precision = Number(stream.expectInteger());
  stream.expectSymbol(")");
  return { kind: "session_value", name, precision, position };
}

/** Reads an operand that begins with a keyword. */
function parseKeyword(stream: TokenStream): Expression {
  const position = stream.position;
  const word = stream.value();
  switch (word) {
    case "null":
      stream.advance();
      return { kind: "literal", type: "null", text: "", literalIndex: null, position };
    case "true":
    case "false":
      stream.advance();
      return { kind: "literal", type: "boolean", text: word, literalIndex: null, position };
    case "case":
      return parseSuffixes(stream, parseCase(stream));
    case "cast":
      return parseSuffixes(stream, parseCast(stream));
    case "array":
      return parseSuffixes(stream, parseArray(stream));
    case "exists":
      if (!stream.isSymbol("(", 1)) break;
      stream.advance();
      return { kind: "exists", query: parseSubquery(stream), position };
    case "row":
      if (!stream.isSymbol("(", 1)) break;
      return parseSuffixes(stream, parseRow(stream));
  }
  if (isSessionValue(stream)) return parseSessionValue(stream);
  if (stream.isSymbol("(", 1)) {
    const special = parseSpecialFunction(stream);
    if (special !== null) return parseSuffixes(stream, special);
  }
  if (stream.isWords("collation", "for")) {
    const call = parseSpecialFunction(stream);
    if (call !== null) return call;
  }
  if (isStandardTypeStart(stream)) {
    const literal = acceptStandardLiteral(stream);
    if (literal !== null) return literal;
  }
  if (stream.category === KEYWORD_CATEGORY.reserved) throw stream.syntaxError();
  return parseNamed(stream);
}

/** Reads a literal of a type of the standard's grammar; `null` when the word is only a column's name. */
function acceptStandardLiteral(stream: TokenStream): Expression | null {
  const beginsType = stream.isString(1) || stream.isSymbol("(", 1) ||
    stream.isAnyWord(["with", "without", "varying", "precision", "character", "char"], 1);
  if (!beginsType) return null;
  const mark = stream.mark;
  parseLiteralType(stream);
  const isLiteral = stream.isString();
  stream.rewind(mark);
  return isLiteral ? parseTypedLiteral(stream) : null;
}

function parseCase(stream: TokenStream): Expression {
  const position = stream.position;
  stream.advance();
  const operand = stream.isWord("when") ? null : parseExpression(stream);
  const { mark } = stream;
  const packed = takePackedBranches(stream, operand !== null);
  const branches = packed === null ? parseBranches(stream) : [];
  const otherwise = stream.acceptWord("else") ? parseExpression(stream) : null;
  stream.expectWords("end");
  if (packed === null) return { kind: "case", operand, branches, otherwise, position };
  const made = unpacked(() => parseBranches(stream.again(mark)));
  return {
    ...{ kind: "case", operand, packed, otherwise, position },
    get branches() {
      return made();
    },
  };
}

function parseBranches(stream: TokenStream): readonly CaseBranch[] {
  const branches = stream.collect((): CaseBranch | undefined => {
    if (!stream.acceptWord("when")) return undefined;
    const condition = parseExpression(stream);
    stream.expectWords("then");
    return { condition, result: parseExpression(stream) };
  });
  if (branches.length === 0) throw stream.syntaxError();
  return branches;
}

function parseCast(stream: TokenStream): Expression {
  const position = stream.position;
  stream.advance();
  stream.expectSymbol("(");
  const operand = parseExpression(stream);
  stream.expectWords("as");
  const type = parseTypeName(stream);
  stream.expectSymbol(")");
  return { kind: "cast", operand, type, position };
}

function parseArray(stream: TokenStream): Expression {
  const position = stream.position;
  stream.advance();
  if (stream.isSymbol("[")) return parseArrayItems(stream, position);
  if (!stream.isSymbol("(")) throw stream.syntaxError();
  return { kind: "array_subquery", query: parseSubquery(stream), position };
}

function parseArrayItems(stream: TokenStream, position: number): ArrayConstructor {
  const { mark } = stream;
  const packed = takePackedList(stream, "]");
  if (packed !== null) {
    const list = unpacked(() => parseList(stream.again(mark + 1), parseArrayItem));
    return {
      ...{ kind: "array", packed, position },
      get items() {
        return list();
      },
    };
  }
  stream.enter();
  stream.expectSymbol("[");
  const items: Expression[] = [];
  if (!stream.isSymbol("]")) items.push(...parseList(stream, parseArrayItem));
  stream.expectSymbol("]");
  stream.leave();
  return { kind: "array", items, position };
}

function parseArrayItem(stream: TokenStream): Expression {
  return stream.isSymbol("[") ? parseArrayItems(stream, stream.position) : parseExpression(stream);
}

function parseRow(stream: TokenStream): Expression {
  const position = stream.position;
  stream.advance();
  stream.expectSymbol("(");
  const items = stream.isSymbol(")") ? [] : parseList(stream, parseExpression);
  stream.expectSymbol(")");
  return { kind: "row", explicit: true, items, position };
}

/** Reads a query in parentheses. */
function parseSubquery(stream: TokenStream): Query {
  const body = parseParenthesisBody(stream);
  if (body.kind !== "query") throw stream.syntaxError();
  return body.query;
}
