/**
 * Makes the nodes of expressions and patterns; see `build.ts`, which has the rest.
 */
import type { Span } from "../source/source_file.ts";
import type * as Ast from "./ast.ts";
import { characterValue, floatValue, integerValue, unescape, withoutIndentation } from "./literals.ts";
import { Token } from "./token.ts";

type Expression = Ast.Expression;
type Pattern = Ast.Pattern;

interface Placed {
  readonly span: Span;
}

interface WithRest<Value, Rest> {
  readonly elements: readonly Value[];
  readonly rest: Rest | null;
}

function span(from: Placed | Span, to: Placed | Span): Span {
  return { start: "span" in from ? from.span.start : from.start, end: "span" in to ? to.span.end : to.end };
}

function name(token: Token): Ast.Name {
  return { text: token.text, span: token.span };
}

// Operators

const binaryOperators: ReadonlySet<string> = new Set<Ast.BinaryOperator>([
  "or",
  "and",
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "|",
  "^",
  "&",
  "<<",
  ">>",
  "+",
  "-",
  "+%",
  "-%",
  "*",
  "/",
  "%",
  "*%",
]);

function isBinaryOperator(text: string): text is Ast.BinaryOperator {
  return binaryOperators.has(text);
}

/** `a + b`. */
export function binary([left, operator, right]: readonly [Expression, Token, Expression]): Ast.Binary {
  if (!isBinaryOperator(operator.text)) {
    throw new Error(`Cannot build an operation: ${operator.text} is none`);
  }
  return {
    kind: "binary",
    operator: operator.text,
    operatorSpan: operator.span,
    left,
    right,
    span: span(left, right),
  };
}

/** `a..b`, `a..=b`. */
export function range([start, dots, end]: readonly [Expression, Token, Expression]): Ast.RangeExpression {
  return { kind: "range", start, end, isInclusive: dots.text === "..=", span: span(start, end) };
}

/** `-a`, `not a`. */
export function unary([operator, operand]: readonly [Token, Expression]): Ast.Unary {
  return {
    kind: "unary",
    operator: operator.text === "not" ? "not" : "-",
    operand,
    span: span(operator, operand),
  };
}

// What stands behind a value

/** `f(a)`. */
export function call(
  [callee, , list, close]: readonly [Expression, Token, readonly Ast.Argument[], Token],
): Ast.Call {
  return { kind: "call", callee, arguments: list, span: span(callee, close) };
}

/** `a`. */
export function plainArgument([value]: readonly [Expression]): Ast.Argument {
  return { name: null, isInout: false, value, span: value.span };
}

/** `&a`. */
export function inoutArgument([mark, value]: readonly [Token, Expression]): Ast.Argument {
  return { name: null, isInout: true, value, span: span(mark, value) };
}

/** `x: a`. */
export function namedArgument([token, , value]: readonly [Token, Token, Expression]): Ast.Argument {
  return { name: name(token), isInout: false, value, span: span(token, value) };
}

/** `x: &a`. */
export function namedInoutArgument(
  [token, , , value]: readonly [Token, Token, Token, Expression],
): Ast.Argument {
  return { name: name(token), isInout: true, value, span: span(token, value) };
}

/** `a[i]`. */
export function index(
  [target, , position, close]: readonly [Expression, Token, Expression, Token],
): Ast.Index {
  return { kind: "index", target, index: position, span: span(target, close) };
}

/** `a.b`. */
export function fieldAccess([target, , member]: readonly [Expression, Token, Token]): Ast.FieldAccess {
  return { kind: "field", target, name: name(member), span: span(target, member) };
}

/** `e?`. */
export function propagate([target, mark]: readonly [Expression, Token]): Ast.Propagate {
  return { kind: "propagate", target, span: span(target, mark) };
}

type FieldValue = Ast.RecordLiteral["fields"][number];
type FirstField = { readonly base: Expression } | FieldValue;

/** `Ball { ..base, x: 1.0 }`. */
export function record(
  [type, , first, others, , close]: readonly [
    Expression,
    Token,
    FirstField,
    readonly (readonly [Token, FieldValue])[],
    Token | null,
    Token,
  ],
): Ast.RecordLiteral {
  const fields = others.map(([, field]) => field);
  return {
    kind: "record",
    type,
    base: "base" in first ? first.base : null,
    fields: "base" in first ? fields : [first, ...fields],
    span: span(type, close),
  };
}

/** `Empty {}`. */
export function emptyRecord([type, , close]: readonly [Expression, Token, Token]): Ast.RecordLiteral {
  return { kind: "record", type, base: null, fields: [], span: span(type, close) };
}

/** `..base`. */
export function base([, value]: readonly [Token, Expression]): FirstField {
  return { base: value };
}

/** `x: 1.0`. */
export function field([token, , value]: readonly [Token, Token, Expression]): FieldValue {
  return { name: name(token), value };
}

// Values

/** `12`. */
export function integer([token]: readonly [Token]): Ast.IntegerLiteral {
  return { kind: "integer", value: integerValue(token.text), span: token.span };
}

/** `1.5`. */
export function float([token]: readonly [Token]): Ast.FloatLiteral {
  return { kind: "float", value: floatValue(token.text), span: token.span };
}

/** `'a'`. */
export function character([token]: readonly [Token]): Ast.CharacterLiteral {
  return { kind: "character", codePoint: characterValue(token.text), span: token.span };
}

/** `true`. */
export function boolean([token]: readonly [Token]): Ast.BooleanLiteral {
  return { kind: "boolean", value: token.text === "true", span: token.span };
}

/** `"text"`. */
export function plainString([token]: readonly [Token]): Ast.StringLiteral {
  const value = unescape(token.text.slice(1, -1));
  return { kind: "string", parts: value === "" ? [] : [value], span: token.span };
}

/** A text with expressions, or of several lines. */
export function string(
  [open, parts, close]: readonly [Token, readonly (Token | Expression)[], Token],
): Ast.StringLiteral {
  const raw = parts.map((part) => part instanceof Token ? part.text : null);
  const pieces = open.text === '"""' ? withoutIndentation(raw) : raw;
  const built: (string | Expression)[] = [];
  parts.forEach((part, position) => {
    if (!(part instanceof Token)) built.push(part);
    else if (pieces[position] !== "") built.push(unescape(pieces[position] ?? ""));
  });
  return { kind: "string", parts: built, span: span(open, close) };
}

/** A name of either kind. */
export function nameExpression([token]: readonly [Token]): Ast.NameExpression {
  return { kind: "name", name: token.text, span: token.span };
}

/** `[a, b]`. */
export function listLiteral(
  [open, elements, close]: readonly [Token, readonly Expression[], Token],
): Ast.ListLiteral {
  return { kind: "list", elements: elements, span: span(open, close) };
}

/** `()`. */
export function unit([open, close]: readonly [Token, Token]): Ast.TupleLiteral {
  return { kind: "tuple", elements: [], span: span(open, close) };
}

/** `(a)`: the expression, with the parentheses in its place. */
export function parenthesized([open, value, close]: readonly [Token, Expression, Token]): Expression {
  return { ...value, span: span(open, close) };
}

/** `(a, b)`. */
export function tuple(
  [open, first, others, , close]: readonly [
    Token,
    Expression,
    readonly (readonly [Token, Expression])[],
    Token | null,
    Token,
  ],
): Ast.TupleLiteral {
  return {
    kind: "tuple",
    elements: [first, ...others.map(([, element]) => element)],
    span: span(open, close),
  };
}

/** `fn(x: Int) -> Int { … }`. */
export function closure(
  [keyword, , parameters, , result, body]: readonly [
    Token,
    Token,
    readonly Ast.Parameter[],
    Token,
    Ast.TypeExpression | null,
    Ast.Block,
  ],
): Ast.Closure {
  return {
    kind: "closure",
    parameters: parameters,
    result,
    body,
    span: span(keyword, body),
  };
}

/** `if c { … } else …`. */
export function ifExpression(
  [keyword, condition, then, otherwise]: readonly [Token, Expression, Ast.Block, Ast.Block | Ast.If | null],
): Ast.If {
  return {
    kind: "if",
    pattern: null,
    condition,
    then,
    otherwise,
    span: span(keyword, otherwise ?? then),
  };
}

/** `if let p = e { … } else …`. */
export function ifLet(
  [keyword, , pattern, , condition, then, otherwise]: readonly [
    Token,
    Token,
    Pattern,
    Token,
    Expression,
    Ast.Block,
    Ast.Block | Ast.If | null,
  ],
): Ast.If {
  return { kind: "if", pattern, condition, then, otherwise, span: span(keyword, otherwise ?? then) };
}

/** `match e { … }`. */
export function match(
  [keyword, subject, , arms, close]: readonly [Token, Expression, Token, readonly Ast.MatchArm[], Token],
): Ast.Match {
  return { kind: "match", subject, arms, span: span(keyword, close) };
}

/** `pattern if guard => body`. */
export function matchArm(
  [pattern, guard, , body]: readonly [Pattern, readonly [Token, Expression] | null, Token, Ast.Statement],
): Ast.MatchArm {
  return {
    pattern,
    guard: guard?.[1] ?? null,
    body: body.kind === "expression"
      ? body.expression
      : { kind: "block", statements: [body], span: body.span },
    span: span(pattern, body),
  };
}

// Patterns

/** `a | b`. */
export function alternatives(
  [first, others]: readonly [Pattern, readonly (readonly [Token, Pattern])[]],
): Ast.AlternativePattern {
  const all = [first, ...others.map(([, pattern]) => pattern)];
  return { kind: "alternative-pattern", alternatives: all, span: span(first, all.at(-1) ?? first) };
}

/** `_`. */
export function wildcard([token]: readonly [Token]): Ast.WildcardPattern {
  return { kind: "wildcard", span: token.span };
}

/** `name`. */
export function binding([token]: readonly [Token]): Ast.BindingPattern {
  return { kind: "binding", name: name(token), span: token.span };
}

type Bound = Ast.IntegerLiteral | Ast.CharacterLiteral;

/** `12`, `-12`. */
export function integerBound([sign, token]: readonly [Token | null, Token]): Ast.IntegerLiteral {
  const value = integerValue(token.text);
  return { kind: "integer", value: sign === null ? value : -value, span: span(sign ?? token, token) };
}

/** `12`, `'a'`. */
export function literalPattern([value]: readonly [Bound]): Ast.LiteralPattern {
  return { kind: "literal", value, span: value.span };
}

/** `1..9`. */
export function rangePattern([start, dots, end]: readonly [Bound, Token, Bound]): Ast.RangePattern {
  return { kind: "range-pattern", start, end, isInclusive: dots.text === "..=", span: span(start, end) };
}

/** `1.5`, `-1.5`. */
export function floatPattern([sign, token]: readonly [Token | null, Token]): Ast.LiteralPattern {
  const value = floatValue(token.text);
  const place = span(sign ?? token, token);
  return {
    kind: "literal",
    value: { kind: "float", value: sign === null ? value : -value, span: place },
    span: place,
  };
}

/** `"text"`. */
export function textPattern([token]: readonly [Token]): Ast.LiteralPattern {
  const place = token.span;
  return {
    kind: "literal",
    value: { kind: "text", value: unescape(token.text.slice(1, -1)), span: place },
    span: place,
  };
}

/** `true`. */
export function booleanPattern(parts: readonly [Token]): Ast.LiteralPattern {
  return { kind: "literal", value: boolean(parts), span: parts[0].span };
}

/** `(a, b)`; one pattern in parentheses is that pattern. */
export function tuplePattern(
  [open, elements, close]: readonly [Token, readonly Pattern[], Token],
): Pattern {
  const [only] = elements;
  if (only !== undefined && elements.length === 1) return { ...only, span: span(open, close) };
  return { kind: "tuple-pattern", elements: elements, span: span(open, close) };
}

/** `[a, ..rest]`. */
export function listPattern(
  [open, list, close]: readonly [Token, WithRest<Pattern, { readonly name: Ast.Name | null }>, Token],
): Ast.ListPattern {
  return {
    kind: "list-pattern",
    elements: list.elements,
    rest: list.rest === null ? undefined : list.rest.name,
    span: span(open, close),
  };
}

/** `..`, `..rest`. */
export function rest([, token]: readonly [Token, Token | null]): { readonly name: Ast.Name | null } {
  return { name: token === null ? null : name(token) };
}

interface Path extends Placed {
  readonly names: readonly Ast.Name[];
}

/** `Variant`, `module.Type.Variant`. */
export function path(
  [module, first, second]: readonly [readonly [Token, Token] | null, Token, readonly [Token, Token] | null],
): Path {
  const names = [name(first)];
  if (module !== null) names.unshift(name(module[0]));
  if (second !== null) names.push(name(second[1]));
  return { names, span: span(module?.[0] ?? first, second?.[1] ?? first) };
}

/** `Playing`. */
export function bareVariantPattern([path]: readonly [Path]): Ast.VariantPattern {
  return { kind: "variant-pattern", path: path.names, fields: [], hasRest: false, span: path.span };
}

/** `Over(score: s, ..)`. */
export function variantPattern(
  [path, , list, close]: readonly [
    Path,
    Token,
    WithRest<Ast.VariantPattern["fields"][number], Token>,
    Token,
  ],
): Ast.VariantPattern {
  return {
    kind: "variant-pattern",
    path: path.names,
    fields: list.elements,
    hasRest: list.rest !== null,
    span: span(path, close),
  };
}

/** `s`. */
export function unnamedFieldPattern([pattern]: readonly [Pattern]): Ast.VariantPattern["fields"][number] {
  return { name: null, pattern };
}

/** `score: s`. */
export function namedFieldPattern(
  [token, , pattern]: readonly [Token, Token, Pattern],
): Ast.VariantPattern["fields"][number] {
  return { name: name(token), pattern };
}

/** `Ball { x: 0.0, y, .. }`. */
export function recordPattern(
  [path, , list, close]: readonly [
    Path,
    Token,
    WithRest<Ast.RecordPattern["fields"][number], Token>,
    Token,
  ],
): Ast.RecordPattern {
  return {
    kind: "record-pattern",
    path: path.names,
    fields: list.elements,
    hasRest: list.rest !== null,
    span: span(path, close),
  };
}

/** `x: 0.0`, `y`. */
export function fieldPattern(
  [token, pattern]: readonly [Token, readonly [Token, Pattern] | null],
): Ast.RecordPattern["fields"][number] {
  return { name: name(token), pattern: pattern?.[1] ?? null };
}
