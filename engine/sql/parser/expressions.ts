/**
 * Expressions: operators by precedence climbing (V. Pratt, "Top down operator precedence", POPL 1973) with PostgreSQL's
 * table of precedences, over the operands of primary_expressions.ts.
 *
 * Invariants: comparison operators, LIKE, BETWEEN, IN and IS DISTINCT FROM do not associate (`a < b < c` is a syntax
 * error). A restricted expression is PostgreSQL's b_expr: without AND, OR, NOT, IN, LIKE, BETWEEN, IS NULL, COLLATE
 * and AT TIME ZONE, so that those words can follow it.
 */

import type { Expression, FunctionArgument, FunctionCall, QuantifiedComparison } from "./ast.ts";
import { parseDottedName } from "./names.ts";
import {
  takePackedAlternatives,
  takePackedComparisons,
  takePackedList,
  takePackedRows,
  unpacked,
} from "./packed_literals.ts";
import { parseParenthesisBody, parsePrimary } from "./primary_expressions.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";
import { parseTypeName } from "./type_names.ts";

/** How strongly operators bind; a higher number binds more tightly. */
export const PRECEDENCE = {
  lowest: 0,
  or: 1,
  and: 2,
  not: 3,
  is: 4,
  comparison: 5,
  pattern: 6,
  operator: 8,
  additive: 9,
  multiplicative: 10,
  power: 11,
  at: 12,
  collate: 13,
  unary: 14,
} as const;

/** Reads an expression. */
export function parseExpression(stream: TokenStream): Expression {
  return parseOperators(stream, PRECEDENCE.lowest, false);
}

/** Reads a restricted expression (b_expr). */
export function parseRestrictedExpression(stream: TokenStream): Expression {
  return parseOperators(stream, PRECEDENCE.lowest, true);
}

/** Reads an operand with its casts, signs and subscripts, and no infix operators: what `ID` takes. */
export function parseOperand(stream: TokenStream): Expression {
  return parseOperators(stream, PRECEDENCE.unary, false);
}

/** Reads an expression, or DEFAULT: an item of VALUES or a value of SET. */
export function parseExpressionOrDefault(stream: TokenStream): Expression {
  if (!stream.isWord("default")) return parseExpression(stream);
  const position = stream.position;
  stream.advance();
  return { kind: "default", position };
}

/** Goes on with the infix operators behind an operand that has been read already. */
export function continueExpression(stream: TokenStream, left: Expression): Expression {
  return parseInfix(stream, left, PRECEDENCE.lowest, false);
}

function parseOperators(stream: TokenStream, minimum: number, restricted: boolean): Expression {
  stream.enter();
  const outer = stream.beginTree();
  const left = parsePrefix(stream, restricted);
  const expression = parseInfix(stream, left, minimum, restricted);
  stream.endTree(outer);
  stream.leave();
  return expression;
}

function parsePrefix(stream: TokenStream, restricted: boolean): Expression {
  const kind = stream.kind();
  if (kind === TOKEN.operator) {
    const operator = stream.value();
    if (operator === "-" || operator === "+") return parseSign(stream, operator, restricted);
    if (operatorPrecedence(operator) !== PRECEDENCE.operator) throw stream.syntaxError();
    const position = stream.position;
    stream.advance();
    const operand = parseOperators(stream, PRECEDENCE.operator + 1, restricted);
    return { kind: "unary", operator, schema: null, operand, position };
  }
  if (kind === TOKEN.word) {
    if (!restricted && stream.isWord("not")) {
      const position = stream.position;
      stream.advance();
      return { kind: "not", operand: parseOperators(stream, PRECEDENCE.not, restricted), position };
    }
    if (stream.isWord("operator") && stream.isSymbol("(", 1)) {
      const position = stream.position;
      const { operator, schema } = parseQualifiedOperator(stream);
      const operand = parseOperators(stream, PRECEDENCE.operator + 1, restricted);
      return { kind: "unary", operator, schema, operand, position };
    }
  }
  return parsePrimary(stream);
}

/**
 * A signed operand; a minus before a plain number is part of the constant, so that the smallest integers can be
 * written.
 */
function parseSign(stream: TokenStream, operator: string, restricted: boolean): Expression {
  const position = stream.position;
  stream.advance();
  const operand = parseOperators(stream, PRECEDENCE.unary, restricted);
  const isNumber = operand.kind === "literal" && (operand.type === "integer" || operand.type === "decimal");
  if (operator === "-" && isNumber && operand.literalIndex === null) {
    const text = operand.text.startsWith("-") ? operand.text.slice(1) : `-${operand.text}`;
    return { ...operand, text, position };
  }
  return { kind: "unary", operator, schema: null, operand, position };
}

/** The precedence of an infix operator. */
function operatorPrecedence(operator: string): number {
  switch (operator) {
    case "=":
    case "<":
    case ">":
    case "<=":
    case ">=":
    case "<>":
      return PRECEDENCE.comparison;
    case "+":
    case "-":
      return PRECEDENCE.additive;
    case "*":
    case "/":
    case "%":
      return PRECEDENCE.multiplicative;
    case "^":
      return PRECEDENCE.power;
    default:
      return PRECEDENCE.operator;
  }
}

/** The precedence of the infix operator that the current token begins, or -1 when it begins none. */
function infixPrecedence(stream: TokenStream, restricted: boolean): number {
  const kind = stream.kind();
  if (kind === TOKEN.operator) return operatorPrecedence(stream.value());
  if (kind === TOKEN.punctuation) return stream.isSymbol("::") ? PRECEDENCE.unary : -1;
  if (kind !== TOKEN.word) return -1;
  const word = stream.value();
  if (word === "is") return restricted && !isDistinctTest(stream) ? -1 : PRECEDENCE.is;
  if (word === "operator") return stream.isSymbol("(", 1) ? PRECEDENCE.operator : -1;
  if (restricted) return -1;
  switch (word) {
    case "and":
      return PRECEDENCE.and;
    case "or":
      return PRECEDENCE.or;
    case "isnull":
    case "notnull":
      return PRECEDENCE.is;
    case "between":
    case "in":
    case "like":
    case "ilike":
      return PRECEDENCE.pattern;
    case "similar":
      // `SUBSTRING(a SIMILAR b ESCAPE c)` is another syntax.
      return stream.isWord("to", 1) ? PRECEDENCE.pattern : -1;
    case "not":
      return stream.isAnyWord(NEGATABLE, 1) ? PRECEDENCE.pattern : -1;
    case "at":
      return stream.isWord("time", 1) || stream.isWord("local", 1) ? PRECEDENCE.at : -1;
    case "collate":
      return PRECEDENCE.collate;
    case "overlaps":
      return PRECEDENCE.operator;
    default:
      return -1;
  }
}

const NEGATABLE = ["between", "in", "like", "ilike", "similar"];

function isDistinctTest(stream: TokenStream): boolean {
  return stream.isWord("distinct", 1) || (stream.isWord("not", 1) && stream.isWord("distinct", 2));
}

function parseInfix(stream: TokenStream, left: Expression, minimum: number, restricted: boolean): Expression {
  // The precedence at which the operator just read does not associate.
  let barred = -1;
  while (true) {
    const precedence = infixPrecedence(stream, restricted);
    if (precedence < 0 || precedence < minimum) return left;
    if (precedence === barred) throw stream.syntaxError();
    stream.deepen();
    barred = -1;
    const position = stream.position;
    if (stream.kind() === TOKEN.operator) {
      const operator = stream.take();
      left = parseBinary(stream, left, { operator, schema: null, precedence, position, restricted });
      if (precedence === PRECEDENCE.comparison) barred = precedence;
      continue;
    }
    switch (stream.value()) {
      case "::":
        stream.advance();
        left = { kind: "cast", operand: left, type: parseTypeName(stream), position };
        break;
      case "operator": {
        const { operator, schema } = parseQualifiedOperator(stream);
        left = parseBinary(stream, left, { operator, schema, precedence, position, restricted });
        break;
      }
      case "and":
        left = parseLogical(stream, left, "and", PRECEDENCE.and, position);
        break;
      case "or":
        left = parseLogical(stream, left, "or", PRECEDENCE.or, position);
        break;
      case "is":
        if (isDistinctTest(stream)) barred = PRECEDENCE.is;
        left = parseIs(stream, left, restricted);
        break;
      case "isnull":
      case "notnull":
        left = { kind: "is", test: "null", negated: stream.take() === "notnull", operand: left, position };
        break;
      case "at":
        left = parseAtTimeZone(stream, left);
        break;
      case "collate":
        stream.advance();
        left = { kind: "collate", operand: left, collation: parseDottedName(stream), position };
        break;
      case "overlaps":
        left = parseOverlaps(stream, left);
        break;
      default: {
        const test = parseTest(stream, left);
        left = test;
        const isList = test.kind === "in_list" || test.kind === "in_subquery" || test.kind === "quantified";
        if (!isList) barred = PRECEDENCE.pattern;
      }
    }
  }
}

function parseLogical(
  stream: TokenStream,
  left: Expression,
  operator: "and" | "or",
  precedence: number,
  position: number,
): Expression {
  const rest = stream.collect((): readonly Expression[] | undefined => {
    if (!stream.acceptWord(operator)) return undefined;
    const operands: Expression[] = [];
    const { mark } = stream;
    const packed = takePackedComparisons(stream, operator) ??
      (operator === "or" ? takePackedAlternatives(stream) : null);
    if (packed !== null) {
      const [list] = "columns" in packed ? packed.values : [packed.values];
      const count = list?.values.length ?? 0;
      const parts = unpacked(() => {
        const again = stream.again(mark);
        return Array.from({ length: count }, () => {
          const part = parseOperators(again, precedence + 1, false);
          again.advance();
          return part;
        });
      });
      operands.push({
        ...{ kind: "logical", operator, packed, position },
        get operands() {
          return parts();
        },
      });
    }
    operands.push(parseOperators(stream, precedence + 1, false));
    return operands;
  });
  return { kind: "logical", operator, operands: [left, ...rest.flat()], position };
}

interface OperatorUse {
  readonly operator: string;
  readonly schema: string | null;
  readonly precedence: number;
  readonly position: number;
  readonly restricted: boolean;
}

function parseBinary(stream: TokenStream, left: Expression, use: OperatorUse): Expression {
  const { operator, schema, position } = use;
  const quantified = acceptQuantified(stream, left, operator, schema, position);
  if (quantified !== null) return quantified;
  const right = parseOperators(stream, use.precedence + 1, use.restricted);
  return { kind: "binary", operator, schema, left, right, position };
}

/** Reads `ANY (…)`, `SOME (…)` or `ALL (…)` behind an operator when it is there. */
function acceptQuantified(
  stream: TokenStream,
  operand: Expression,
  operator: string,
  schema: string | null,
  position: number,
): QuantifiedComparison | null {
  if (!stream.isAnyWord(["any", "some", "all"])) return null;
  const quantifier = stream.take() === "all" ? "all" : "any";
  if (!stream.isSymbol("(")) throw stream.syntaxError();
  const body = parseParenthesisBody(stream);
  if (body.kind === "row") throw stream.syntaxError();
  return {
    kind: "quantified",
    quantifier,
    operator,
    schema,
    operand,
    query: body.kind === "query" ? body.query : null,
    array: body.kind === "expression" ? body.expression : null,
    position,
  };
}

/** Reads `OPERATOR(schema.op)`. */
export function parseQualifiedOperator(stream: TokenStream): { operator: string; schema: string | null } {
  stream.expectWords("operator");
  stream.expectSymbol("(");
  let schema: string | null = null;
  while (stream.kind() !== TOKEN.operator) {
    schema = stream.expectName();
    stream.expectSymbol(".");
  }
  const operator = stream.take();
  stream.expectSymbol(")");
  return { operator, schema };
}

function parseIs(stream: TokenStream, operand: Expression, restricted: boolean): Expression {
  const position = stream.position;
  stream.advance();
  const negated = stream.acceptWord("not");
  if (stream.acceptWords("distinct", "from")) {
    const right = parseOperators(stream, PRECEDENCE.is + 1, restricted);
    return { kind: "distinct", negated, left: operand, right, position };
  }
  if (stream.isWord("json") || stream.isWord("document")) {
    throw stream.unsupported(`IS ${stream.value().toUpperCase()}`);
  }
  const form = stream.isAnyWord(["nfc", "nfd", "nfkc", "nfkd"]) ? stream.take() : null;
  if (form !== null || stream.isWord("normalized")) {
    stream.expectWords("normalized");
    const call = callOf(
      "is_normalized",
      form === null ? [operand] : [operand, textLiteral(form, position)],
      position,
    );
    return negated ? { kind: "not", operand: call, position } : call;
  }
  switch (stream.expectAnyWord(["null", "true", "false", "unknown"])) {
    case "null":
      return { kind: "is", test: "null", negated, operand, position };
    case "true":
      return { kind: "is", test: "true", negated, operand, position };
    case "false":
      return { kind: "is", test: "false", negated, operand, position };
    default:
      return { kind: "is", test: "unknown", negated, operand, position };
  }
}

function parseAtTimeZone(stream: TokenStream, operand: Expression): Expression {
  const position = stream.position;
  stream.advance();
  if (stream.acceptWord("local")) return { kind: "at_time_zone", operand, zone: null, position };
  stream.expectWords("time", "zone");
  return { kind: "at_time_zone", operand, zone: parseOperators(stream, PRECEDENCE.at + 1, false), position };
}

function parseOverlaps(stream: TokenStream, left: Expression): Expression {
  const position = stream.position;
  if (left.kind !== "row") throw stream.syntaxError();
  stream.advance();
  const rightPosition = stream.position;
  const right = parseOperators(stream, PRECEDENCE.operator + 1, false);
  if (right.kind !== "row") throw stream.syntaxError();
  checkPair(stream, left.items, "left", left.position);
  checkPair(stream, right.items, "right", rightPosition);
  return callOf("overlaps", [...left.items, ...right.items], position);
}

function checkPair(stream: TokenStream, items: readonly Expression[], side: string, position: number): void {
  if (items.length === 2) return;
  throw stream.error(
    "42601",
    `wrong number of parameters on ${side} side of OVERLAPS expression`,
    position,
  );
}

/** Reads [NOT] BETWEEN, IN, LIKE, ILIKE, SIMILAR TO behind their operand. */
function parseTest(stream: TokenStream, operand: Expression): Expression {
  const position = stream.position;
  const negated = stream.acceptWord("not");
  const word = stream.take();
  switch (word) {
    case "between": {
      const symmetric = stream.acceptWord("symmetric");
      if (!symmetric) stream.acceptWord("asymmetric");
      const lower = parseOperators(stream, PRECEDENCE.lowest, true);
      stream.expectWords("and");
      const upper = parseOperators(stream, PRECEDENCE.pattern + 1, false);
      return { kind: "between", negated, symmetric, operand, lower, upper, position };
    }
    case "in": {
      if (!stream.isSymbol("(")) throw stream.syntaxError();
      const { mark } = stream;
      const packed = takePackedList(stream, ")");
      const packedRows = packed === null ? takePackedRows(stream) : null;
      if (packed !== null || packedRows !== null) {
        const list = unpacked(() => {
          const body = parseParenthesisBody(stream.again(mark));
          return body.kind === "row" ? body.items : [];
        });
        return {
          ...{ kind: "in_list", negated, operand, position },
          ...packed !== null ? { packed } : packedRows !== null ? { packedRows } : {},
          get items() {
            return list();
          },
        };
      }
      const body = parseParenthesisBody(stream);
      if (body.kind === "query") {
        return { kind: "in_subquery", negated, operand, query: body.query, position };
      }
      const items = body.kind === "row" ? body.items : [body.expression];
      return { kind: "in_list", negated, operand, items, position };
    }
    case "like":
    case "ilike": {
      const operator = (negated ? "!~~" : "~~") + (word === "ilike" ? "*" : "");
      const quantified = acceptQuantified(stream, operand, operator, null, position);
      return quantified ?? parsePattern(stream, { operator: word, negated, operand, position });
    }
    default:
      stream.expectWords("to");
      return parsePattern(stream, { operator: "similar", negated, operand, position });
  }
}

interface PatternStart {
  readonly operator: "like" | "ilike" | "similar";
  readonly negated: boolean;
  readonly operand: Expression;
  readonly position: number;
}

function parsePattern(stream: TokenStream, start: PatternStart): Expression {
  const pattern = parseOperators(stream, PRECEDENCE.pattern + 1, false);
  const escape = stream.acceptWord("escape") ? parseOperators(stream, PRECEDENCE.pattern + 1, false) : null;
  return { kind: "pattern", ...start, pattern, escape };
}

/** A string constant that the parser makes up (a field's name, a normalization form). */
export function textLiteral(text: string, position: number): Expression {
  return { kind: "literal", type: "string", text, literalIndex: null, position };
}

/** A plain call that the parser makes up for syntax that stands for a function. */
export function callOf(name: string, values: readonly Expression[], position: number): FunctionCall {
  const args: FunctionArgument[] = values.map((value) => ({ name: null, value }));
  return { ...EMPTY_CALL, name: [name], arguments: args, position };
}

/** The fields of a call that has nothing special. */
export const EMPTY_CALL = {
  kind: "call",
  syntax: null,
  star: false,
  distinct: false,
  variadic: false,
  orderBy: [],
  withinGroup: false,
  filter: null,
  over: null,
} as const;
