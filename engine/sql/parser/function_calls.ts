/**
 * Calls: arguments, the clauses behind them (WITHIN GROUP, FILTER, OVER), windows and frames, and the functions that
 * the SQL standard gives a syntax of their own.
 *
 * Invariant: such a function becomes a plain call with the arguments in the order of PostgreSQL's function of that
 * name.
 */

import { SQLSTATE } from "../../base/errors.ts";
import type {
  Expression,
  FrameBound,
  FunctionArgument,
  FunctionCall,
  FunctionSyntax,
  SortKey,
  WindowFrame,
  WindowSpecification,
} from "./ast.ts";
import {
  callOf,
  EMPTY_CALL,
  parseExpression,
  parseQualifiedOperator,
  parseRestrictedExpression,
  textLiteral,
} from "./expressions.ts";
import { parseList } from "./names.ts";
import { TOKEN } from "./token.ts";
import type { TokenStream } from "./token_stream.ts";

/** Reads `(arguments)` and what follows them behind a function's name. */
export function parseFunctionCall(
  stream: TokenStream,
  name: readonly string[],
  position: number,
): FunctionCall {
  stream.expectSymbol("(");
  const call = parseArguments(stream, name, position);
  stream.expectSymbol(")");
  return parseFunctionSuffix(stream, call);
}

function parseArguments(stream: TokenStream, name: readonly string[], position: number): FunctionCall {
  const call: FunctionCall = { ...EMPTY_CALL, name, arguments: [], position };
  if (stream.isSymbol(")")) return call;
  if (stream.isSymbol("*") && stream.isSymbol(")", 1)) {
    stream.advance();
    return { ...call, star: true };
  }
  const distinct = stream.acceptWord("distinct");
  const isMarked = distinct || stream.acceptWord("all");
  const args: FunctionArgument[] = [];
  let variadic = false;
  do {
    variadic = !isMarked && stream.acceptWord("variadic");
    args.push(parseArgument(stream));
  } while (!variadic && stream.acceptSymbol(","));
  return { ...call, distinct, variadic, arguments: args, orderBy: acceptOrderBy(stream) };
}

function parseArgument(stream: TokenStream): FunctionArgument {
  const isNamed = stream.isLabel() && (stream.isSymbol("=>", 1) || stream.isSymbol(":=", 1));
  if (!isNamed) return { name: null, value: parseExpression(stream) };
  const name = stream.take();
  stream.advance();
  return { name, value: parseExpression(stream) };
}

/** Reads WITHIN GROUP, FILTER and OVER behind a call. */
export function parseFunctionSuffix(stream: TokenStream, call: FunctionCall): FunctionCall {
  if (stream.isWords("within", "group")) {
    const position = stream.position;
    stream.advance();
    stream.advance();
    if (call.orderBy.length > 0) {
      throw stream.error(
        SQLSTATE.syntaxError,
        "cannot use multiple ORDER BY clauses with WITHIN GROUP",
        position,
      );
    }
    if (call.distinct) {
      throw stream.error(SQLSTATE.syntaxError, "cannot use DISTINCT with WITHIN GROUP", position);
    }
    if (call.variadic) {
      throw stream.error(SQLSTATE.syntaxError, "cannot use VARIADIC with WITHIN GROUP", position);
    }
    stream.expectSymbol("(");
    if (!stream.isWords("order", "by")) throw stream.syntaxError();
    call = { ...call, withinGroup: true, orderBy: acceptOrderBy(stream) };
    stream.expectSymbol(")");
  }
  if (stream.isWord("filter") && stream.isSymbol("(", 1)) {
    stream.advance();
    stream.advance();
    stream.expectWords("where");
    call = { ...call, filter: parseExpression(stream) };
    stream.expectSymbol(")");
  }
  if (stream.isAnyWord(["ignore", "respect"]) && stream.isWord("nulls", 1)) {
    throw stream.unsupported(`${stream.value().toUpperCase()} NULLS`);
  }
  if (stream.isWord("over") && (stream.isSymbol("(", 1) || stream.isName(1))) {
    stream.advance();
    call = { ...call, over: parseOver(stream) };
  }
  return call;
}

function parseOver(stream: TokenStream): WindowSpecification {
  if (stream.isSymbol("(")) return parseWindowSpecification(stream);
  const position = stream.position;
  const name = stream.expectName();
  return { name, base: null, partitionBy: [], orderBy: [], frame: null, position };
}

/** Reads `( [base] [PARTITION BY …] [ORDER BY …] [frame] )`. */
export function parseWindowSpecification(stream: TokenStream): WindowSpecification {
  const position = stream.position;
  stream.expectSymbol("(");
  const startsClause = stream.isWords("partition", "by") || isFrameStart(stream);
  const base = !startsClause && stream.isName() ? stream.take() : null;
  const partitionBy = stream.acceptWords("partition", "by") ? parseList(stream, parseExpression) : [];
  const orderBy = acceptOrderBy(stream);
  const frame = isFrameStart(stream) ? parseFrame(stream) : null;
  stream.expectSymbol(")");
  return { name: null, base, partitionBy, orderBy, frame, position };
}

function isFrameStart(stream: TokenStream): boolean {
  return stream.isAnyWord(["range", "rows", "groups"]) && !stream.isSymbol(")", 1);
}

function parseFrame(stream: TokenStream): WindowFrame {
  const position = stream.position;
  const word = stream.take();
  const mode = word === "rows" ? "rows" : word === "groups" ? "groups" : "range";
  const isBetween = stream.acceptWord("between");
  const start = parseFrameBound(stream);
  const end: FrameBound = isBetween
    ? (stream.expectWords("and"), parseFrameBound(stream))
    : { kind: "current_row", offset: null };
  checkFrame(stream, start, end, isBetween, position);
  return { mode, start, end, exclude: parseExclusion(stream), position };
}

function checkFrame(
  stream: TokenStream,
  start: FrameBound,
  end: FrameBound,
  isBetween: boolean,
  position: number,
): void {
  const problem = start.kind === "unbounded_following"
    ? "frame start cannot be UNBOUNDED FOLLOWING"
    : end.kind === "unbounded_preceding"
    ? "frame end cannot be UNBOUNDED PRECEDING"
    : start.kind === "current_row" && end.kind === "preceding"
    ? "frame starting from current row cannot have preceding rows"
    : start.kind === "following" && !isBetween
    ? "frame starting from following row cannot end with current row"
    : start.kind === "following" && (end.kind === "preceding" || end.kind === "current_row")
    ? "frame starting from following row cannot have preceding rows"
    : null;
  if (problem !== null) throw stream.error(SQLSTATE.windowingError, problem, position);
}

function parseFrameBound(stream: TokenStream): FrameBound {
  if (stream.acceptWords("current", "row")) return { kind: "current_row", offset: null };
  if (stream.isWord("unbounded") && stream.isAnyWord(["preceding", "following"], 1)) {
    stream.advance();
    const isPreceding = stream.take() === "preceding";
    return { kind: isPreceding ? "unbounded_preceding" : "unbounded_following", offset: null };
  }
  const offset = parseExpression(stream);
  const kind = stream.expectAnyWord(["preceding", "following"]);
  return { kind: kind === "preceding" ? "preceding" : "following", offset };
}

function parseExclusion(stream: TokenStream): WindowFrame["exclude"] {
  if (!stream.acceptWord("exclude")) return "no_others";
  if (stream.acceptWords("current", "row")) return "current_row";
  if (stream.acceptWord("group")) return "group";
  if (stream.acceptWord("ties")) return "ties";
  stream.expectWords("no", "others");
  return "no_others";
}

/** Reads ORDER BY and its keys when it is there. */
export function acceptOrderBy(stream: TokenStream): SortKey[] {
  return stream.acceptWords("order", "by") ? parseList(stream, parseSortKey) : [];
}

function parseSortKey(stream: TokenStream): SortKey {
  const position = stream.position;
  const expression = parseExpression(stream);
  let using: string | null = null;
  let descending = false;
  if (stream.acceptWord("using")) {
    if (stream.isWord("operator")) using = parseQualifiedOperator(stream).operator;
    else if (stream.kind() === TOKEN.operator) using = stream.take();
    else throw stream.syntaxError();
    descending = using === ">";
  } else if (stream.acceptWord("desc")) {
    descending = true;
  } else {
    stream.acceptWord("asc");
  }
  return { expression, descending, nulls: acceptNullsOrder(stream), using, position };
}

/** Reads NULLS FIRST or NULLS LAST when it is there. */
export function acceptNullsOrder(stream: TokenStream): "first" | "last" | null {
  if (stream.acceptWords("nulls", "first")) return "first";
  if (stream.acceptWords("nulls", "last")) return "last";
  return null;
}

/**
 * Reads a function that is grammar: the current token is its keyword. Answers `null`, having moved nothing, when the
 * keyword begins no such function.
 */
export function parseSpecialFunction(stream: TokenStream): Expression | null {
  const position = stream.position;
  const word = stream.value();
  switch (word) {
    case "coalesce":
    case "greatest":
    case "least":
    case "nullif":
      return parseConditional(stream, word);
    case "grouping":
      stream.advance();
      return parseFunctionCall(stream, ["grouping"], position);
    case "extract":
      return special(stream, "extract", parseExtract);
    case "substring":
      return special(stream, "substring", parseSubstring);
    case "position":
      return special(stream, "position", parsePosition);
    case "overlay":
      return special(stream, "overlay", parseOverlay);
    case "trim":
      return special(stream, "trim", parseTrim);
    case "normalize":
      return special(stream, "normalize", parseNormalize);
    case "collation": {
      stream.advance();
      if (!stream.acceptWord("for")) throw stream.syntaxError();
      stream.expectSymbol("(");
      const argument = parseExpression(stream);
      stream.expectSymbol(")");
      return callOf("pg_collation_for", [argument], position);
    }
    case "treat":
      throw stream.unsupported("TREAT");
  }
  if (word.startsWith("xml") && word !== "xml") throw stream.unsupported(word.toUpperCase());
  return null;
}

function parseConditional(
  stream: TokenStream,
  name: "coalesce" | "nullif" | "greatest" | "least",
): Expression {
  const position = stream.position;
  stream.advance();
  stream.expectSymbol("(");
  const args = parseList(stream, parseExpression);
  // NULLIF takes two arguments: a third or a missing one is a syntax error where it is.
  if (name === "nullif" && args.length !== 2) throw stream.syntaxError();
  stream.expectSymbol(")");
  return { kind: "conditional", function: name, arguments: args, position };
}

interface SpecialCall {
  readonly name: string;
  readonly values: readonly Expression[];
  /** How it was written: `null` when like any other call. */
  readonly syntax: FunctionSyntax | null;
}

function special(
  stream: TokenStream,
  name: string,
  parse: (stream: TokenStream, position: number) => SpecialCall,
): Expression {
  const position = stream.position;
  stream.advance();
  stream.expectSymbol("(");
  const call = parse(stream, position);
  stream.expectSymbol(")");
  return { ...callOf(call.name === "" ? name : call.name, call.values, position), syntax: call.syntax };
}

function parseExtract(stream: TokenStream): SpecialCall {
  const position = stream.position;
  const field = stream.isString() ? stream.take() : stream.expectLabel();
  stream.expectWords("from");
  const source = parseExpression(stream);
  return { name: "extract", values: [textLiteral(field, position), source], syntax: "extract" };
}

function parseSubstring(stream: TokenStream, position: number): SpecialCall {
  if (stream.isSymbol(")")) return { name: "substring", values: [], syntax: null };
  const source = parseExpression(stream);
  if (stream.acceptWord("similar")) {
    const pattern = parseExpression(stream);
    stream.expectWords("escape");
    return { name: "substring", values: [source, pattern, parseExpression(stream)], syntax: "similar" };
  }
  if (stream.acceptWord("from")) {
    const start = parseExpression(stream);
    const values = stream.acceptWord("for") ? [source, start, parseExpression(stream)] : [source, start];
    return { name: "substring", values, syntax: "substring" };
  }
  if (stream.acceptWord("for")) {
    const count = parseExpression(stream);
    const start: Expression = stream.acceptWord("from")
      ? parseExpression(stream)
      : { kind: "literal", type: "integer", text: "1", literalIndex: null, position };
    return { name: "substring", values: [source, start, count], syntax: "substring" };
  }
  const values = [source];
  while (stream.acceptSymbol(",")) values.push(parseExpression(stream));
  return { name: "substring", values, syntax: null };
}

function parsePosition(stream: TokenStream): SpecialCall {
  const needle = parseRestrictedExpression(stream);
  stream.expectWords("in");
  return { name: "position", values: [parseRestrictedExpression(stream), needle], syntax: "position" };
}

function parseOverlay(stream: TokenStream): SpecialCall {
  const source = parseExpression(stream);
  if (!stream.acceptWord("placing")) {
    const values = [source];
    while (stream.acceptSymbol(",")) values.push(parseExpression(stream));
    return { name: "overlay", values, syntax: null };
  }
  const replacement = parseExpression(stream);
  stream.expectWords("from");
  const values = [source, replacement, parseExpression(stream)];
  if (stream.acceptWord("for")) values.push(parseExpression(stream));
  return { name: "overlay", values, syntax: "overlay" };
}

function parseTrim(stream: TokenStream): SpecialCall {
  const side = stream.isAnyWord(["leading", "trailing", "both"]) ? stream.take() : "both";
  const name = side === "leading" ? "ltrim" : side === "trailing" ? "rtrim" : "btrim";
  if (stream.acceptWord("from")) return { name, values: parseList(stream, parseExpression), syntax: "trim" };
  const first = parseExpression(stream);
  if (stream.acceptWord("from")) {
    return { name, values: [...parseList(stream, parseExpression), first], syntax: "trim" };
  }
  const values = [first];
  while (stream.acceptSymbol(",")) values.push(parseExpression(stream));
  return { name, values, syntax: "trim" };
}

function parseNormalize(stream: TokenStream): SpecialCall {
  const source = parseExpression(stream);
  if (!stream.acceptSymbol(",")) return { name: "normalize", values: [source], syntax: "normalize" };
  const position = stream.position;
  const form = stream.expectAnyWord(["nfc", "nfd", "nfkc", "nfkd"]);
  const values = [source, textLiteral(form.toUpperCase(), position)];
  return { name: "normalize", values, syntax: "normalize" };
}
