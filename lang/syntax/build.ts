/**
 * Makes the nodes of the syntax tree; `grammar.ne` names these functions behind its rules.
 *
 * Each takes the parts of its rule, in order: tokens, nodes, null for an optional part that is missing, arrays for
 * repetitions and groups. They have no effects, so both the automaton and nearley's parser may call them, also for
 * readings that come to nothing.
 */
import type { Span } from "../source/source_file.ts";
import type * as Ast from "./ast.ts";
import { unescape } from "./literals.ts";
import type { Token } from "./token.ts";

/** What has a place. */
interface Placed {
  readonly span: Span;
}

/** Builds a declaration's parts: `value`, and the place it takes. */
interface Sized<Value> extends Placed {
  readonly value: Value;
}

type Expression = Ast.Expression;
type Pattern = Ast.Pattern;
type TypeExpression = Ast.TypeExpression;

function span(from: Placed | Span, to: Placed | Span): Span {
  return { start: "span" in from ? from.span.start : from.start, end: "span" in to ? to.span.end : to.end };
}

function name(token: Token): Ast.Name {
  return { text: token.text, span: token.span };
}

function textOf(token: Token): Ast.StringText {
  return { value: unescape(token.text.slice(1, -1)), span: token.span };
}

// Lists and small parts

/** The second part. */
export function second<Value>([, value]: readonly [unknown, Value]): Value {
  return value;
}

/** No elements. */
export function emptyList(): [] {
  return [];
}

/** Elements between commas. */
export function list<Value>(
  [[first], rest]: readonly [[Value], readonly (readonly [Token, [Value]])[], Token | null],
): Value[] {
  const values = [first];
  for (const [, [value]] of rest) values.push(value);
  return values;
}

interface WithRest<Value, Rest> {
  readonly elements: readonly Value[];
  readonly rest: Rest | null;
}

/** Neither elements nor a rest. */
export function emptyListWithRest(): WithRest<never, never> {
  return { elements: [], rest: null };
}

/** A rest alone. */
export function onlyRest<Rest>([[rest]]: readonly [[Rest], Token | null]): WithRest<never, Rest> {
  return { elements: [], rest };
}

/** Elements, perhaps a rest. */
export function listWithRest<Value, Rest>(
  [[first], others, tail]: readonly [
    [Value],
    readonly (readonly [Token, [Value]])[],
    readonly [Token] | readonly [Token, [Rest], Token | null] | null,
  ],
): WithRest<Value, Rest> {
  return {
    elements: [first, ...others.map(([, [value]]) => value)],
    rest: tail?.[1]?.[0] ?? null,
  };
}

/** `[…]` and where it stands. */
export function bracketedList<Value>(
  [open, values, close]: readonly [Token, readonly Value[], Token],
): Sized<readonly Value[]> {
  return { value: values, span: span(open, close) };
}

// Declarations

/** `pub …`. */
export function published([pub, declaration]: readonly [Token, Ast.Declaration]): Ast.Declaration {
  return {
    ...declaration,
    isPublic: true,
    documentation: pub.documentation,
    span: span(pub, declaration),
  };
}

/** `use a.b as c`. */
export function use(
  [keyword, first, others, as]: readonly [
    Token,
    Token,
    readonly (readonly [Token, Token])[],
    readonly [Token, Token] | null,
  ],
): Ast.UseDeclaration {
  const path = [name(first), ...others.map(([, token]) => name(token))];
  return {
    kind: "use",
    path,
    alias: as === null ? null : name(as[1]),
    isPublic: false,
    documentation: keyword.documentation,
    span: span(keyword, as?.[1] ?? others.at(-1)?.[1] ?? first),
  };
}

/** `type Name[A] = …`. */
export function typeDeclaration(
  [keyword, typeName, parameters, , body]: readonly [
    Token,
    Token,
    Sized<readonly Ast.TypeParameter[]> | null,
    Token,
    Sized<Ast.TypeBody>,
  ],
): Ast.TypeDeclaration {
  return {
    kind: "type",
    name: name(typeName),
    typeParameters: parameters?.value ?? [],
    body: body.value,
    isPublic: false,
    documentation: keyword.documentation,
    span: span(keyword, body),
  };
}

/** `{ x: Float }`. */
export function recordBody(
  [open, fields, close]: readonly [Token, readonly Ast.RecordField[], Token],
): Sized<Ast.TypeBody> {
  return { value: { kind: "record", fields: fields }, span: span(open, close) };
}

/** Variants. */
export function unionBody([variants]: readonly [Sized<Ast.Variant[]>]): Sized<Ast.TypeBody> {
  return { value: { kind: "union", variants: variants.value }, span: variants.span };
}

/** Another type. */
export function aliasBody([type]: readonly [TypeExpression]): Sized<Ast.TypeBody> {
  return { value: { kind: "alias", type }, span: type.span };
}

/** `builtin`. */
export function builtinBody([token]: readonly [Token]): Sized<Ast.TypeBody> {
  return { value: { kind: "builtin" }, span: token.span };
}

/** `x: Float`. */
export function recordField([field, , type]: readonly [Token, Token, TypeExpression]): Ast.RecordField {
  return { name: name(field), type, documentation: field.documentation, span: span(field, type) };
}

/** `| A | B`. */
export function unionAfterBar(
  [bar, first, others]: readonly [Token, Ast.Variant, readonly (readonly [Token, Ast.Variant])[]],
): Sized<Ast.Variant[]> {
  // The documentation of a variant stands above its bar.
  const variants = [documented(first, bar), ...others.map(([token, variant]) => documented(variant, token))];
  return { value: variants, span: span(bar, variants.at(-1) ?? first) };
}

/** `A | B`. */
export function unionOfSeveral(
  [first, others]: readonly [Ast.Variant, readonly (readonly [Token, Ast.Variant])[]],
): Sized<Ast.Variant[]> {
  const variants = [first, ...others.map(([token, variant]) => documented(variant, token))];
  return { value: variants, span: span(first, variants.at(-1) ?? first) };
}

function documented(variant: Ast.Variant, bar: Token): Ast.Variant {
  return variant.documentation === null ? { ...variant, documentation: bar.documentation } : variant;
}

/** `A(x: Int)` alone. */
export function unionOfOne([variant]: readonly [Ast.Variant]): Sized<Ast.Variant[]> {
  return { value: [variant], span: variant.span };
}

/** `A`. */
export function plainVariant([token]: readonly [Token]): Ast.Variant {
  return { name: name(token), fields: [], documentation: token.documentation, span: token.span };
}

/** `A(x: Int)`. */
export function variant(
  [token, , fields, close]: readonly [Token, Token, readonly Ast.VariantField[], Token],
): Ast.Variant {
  return {
    name: name(token),
    fields: fields,
    documentation: token.documentation,
    span: span(token, close),
  };
}

/** `Int`. */
export function unnamedVariantField([type]: readonly [TypeExpression]): Ast.VariantField {
  return { name: null, type, span: type.span };
}

/** `score: Int`. */
export function variantField([field, , type]: readonly [Token, Token, TypeExpression]): Ast.VariantField {
  return { name: name(field), type, span: span(field, type) };
}

/** `T: Eq + Show`. */
export function typeParameter(
  [token, bounds]: readonly [
    Token,
    | readonly [Token, Ast.NamedTypeExpression, readonly (readonly [Token, Ast.NamedTypeExpression])[]]
    | null,
  ],
): Ast.TypeParameter {
  const all = bounds === null ? [] : [bounds[1], ...bounds[2].map(([, bound]) => bound)];
  return { name: name(token), bounds: all, span: span(token, all.at(-1) ?? token) };
}

/** `interface Area { … }`. */
export function interfaceDeclaration(
  [keyword, typeName, , functions, close]: readonly [
    Token,
    Token,
    Token,
    readonly Ast.FunctionDeclaration[],
    Token,
  ],
): Ast.InterfaceDeclaration {
  return {
    kind: "interface",
    name: name(typeName),
    functions,
    isPublic: false,
    documentation: keyword.documentation,
    span: span(keyword, close),
  };
}

interface OwnedName extends Placed {
  readonly owner: Ast.Name | null;
  readonly name: Ast.Name;
}

/** `move`. */
export function plainName([token]: readonly [Token]): OwnedName {
  return { owner: null, name: name(token), span: token.span };
}

/** `Ball.move`. */
export function ownedName([owner, , token]: readonly [Token, Token, Token]): OwnedName {
  return { owner: name(owner), name: name(token), span: span(owner, token) };
}

/** `const name: T = e`. */
export function constant(
  [keyword, owned, type, , value]: readonly [Token, OwnedName, TypeExpression | null, Token, Expression],
): Ast.ConstantDeclaration {
  return {
    kind: "const",
    owner: owned.owner,
    name: owned.name,
    type,
    value,
    isPublic: false,
    documentation: keyword.documentation,
    span: span(keyword, value),
  };
}

interface Heading extends Placed {
  readonly owner: Ast.Name | null;
  readonly name: Ast.Name;
  readonly typeParameters: readonly Ast.TypeParameter[];
  readonly parameters: readonly Ast.Parameter[];
  readonly result: TypeExpression | null;
  readonly effects: readonly Ast.Name[] | null;
}

/** Everything between `fn` and the body. */
export function heading(
  [owned, typeParameters, , parameters, close, result, effects]: readonly [
    OwnedName,
    Sized<readonly Ast.TypeParameter[]> | null,
    Token,
    readonly Ast.Parameter[],
    Token,
    TypeExpression | null,
    readonly Ast.Name[] | null,
  ],
): Heading {
  return {
    owner: owned.owner,
    name: owned.name,
    typeParameters: typeParameters?.value ?? [],
    parameters: parameters,
    result,
    effects,
    span: span(owned, effects?.at(-1) ?? result ?? close),
  };
}

function functionOf(
  first: Token,
  heading: Heading,
  body: Ast.Block | null,
  linkage: Ast.Linkage,
): Ast.FunctionDeclaration {
  return {
    kind: "function",
    owner: heading.owner,
    name: heading.name,
    typeParameters: heading.typeParameters,
    parameters: heading.parameters,
    result: heading.result,
    effects: heading.effects,
    body,
    linkage,
    isPublic: false,
    documentation: first.documentation,
    span: span(first, body ?? heading),
  };
}

/** `fn f() { … }`. */
export function functionDeclaration(
  [keyword, heading, body]: readonly [Token, Heading, Ast.Block],
): Ast.FunctionDeclaration {
  return functionOf(keyword, heading, body, { kind: "body" });
}

/** `fn area(self: Self) -> Float` of an interface. */
export function signature([keyword, heading]: readonly [Token, Heading]): Ast.FunctionDeclaration {
  return functionOf(keyword, heading, null, { kind: "interface" });
}

/** `intrinsic fn …`. */
export function intrinsic([keyword, , heading]: readonly [Token, Token, Heading]): Ast.FunctionDeclaration {
  return functionOf(keyword, heading, null, { kind: "intrinsic" });
}

/** `extern "module" fn …`. */
export function extern(
  [keyword, module, , heading]: readonly [Token, Token, Token, Heading],
): Ast.FunctionDeclaration {
  return functionOf(keyword, heading, null, { kind: "extern", module: textOf(module).value });
}

/** `x`. */
export function untypedParameter([token]: readonly [Token]): Ast.Parameter {
  return { name: name(token), isInout: false, type: null, span: token.span };
}

/** `x: inout Int`. */
export function parameter(
  [token, , inout, type]: readonly [Token, Token, Token | null, TypeExpression],
): Ast.Parameter {
  return { name: name(token), isInout: inout !== null, type, span: span(token, type) };
}

/** `uses Draw, Log`. */
export function effects(
  [, first, others]: readonly [Token, Token, readonly (readonly [Token, Token])[]],
): Ast.Name[] {
  return [name(first), ...others.map(([, token]) => name(token))];
}

/** `test "name" { … }`. */
export function test([keyword, text, body]: readonly [Token, Token, Ast.Block]): Ast.TestDeclaration {
  return {
    kind: "test",
    name: textOf(text),
    body,
    isPublic: false,
    documentation: keyword.documentation,
    span: span(keyword, body),
  };
}

/** `property "name" (x: Int) { … }`. */
export function property(
  [keyword, text, , parameters, , body]: readonly [
    Token,
    Token,
    Token,
    readonly Ast.Parameter[],
    Token,
    Ast.Block,
  ],
): Ast.PropertyDeclaration {
  return {
    kind: "property",
    name: textOf(text),
    parameters: parameters,
    body,
    isPublic: false,
    documentation: keyword.documentation,
    span: span(keyword, body),
  };
}

/** `eval "name" threshold 0.9 { … }`. */
export function evalDeclaration(
  [keyword, text, , threshold, , cases, close]: readonly [
    Token,
    Token,
    Token,
    Expression,
    Token,
    readonly Ast.EvalCase[],
    Token,
  ],
): Ast.EvalDeclaration {
  return {
    kind: "eval",
    name: textOf(text),
    threshold,
    cases,
    isPublic: false,
    documentation: keyword.documentation,
    span: span(keyword, close),
  };
}

/** `case "one" => score`. */
export function evalCase(
  [keyword, text, , score]: readonly [Token, Token, Token, Expression],
): Ast.EvalCase {
  return { name: textOf(text), score, span: span(keyword, score) };
}

// Types

/** `(A, B)`; one type in parentheses is that type. */
export function tupleType(
  [open, elements, close]: readonly [Token, readonly TypeExpression[], Token],
): TypeExpression {
  const [only] = elements;
  if (only !== undefined && elements.length === 1) return { ...only, span: span(open, close) };
  return { kind: "tuple-type", elements: elements, span: span(open, close) };
}

/** `fn(A, inout B) -> C`. */
export function functionType(
  [keyword, , parameters, close, result]: readonly [
    Token,
    Token,
    readonly Ast.FunctionTypeExpression["parameters"][number][],
    Token,
    TypeExpression | null,
  ],
): Ast.FunctionTypeExpression {
  return {
    kind: "function-type",
    parameters: parameters,
    result,
    span: span(keyword, result ?? close),
  };
}

/** `inout B`. */
export function parameterType(
  [inout, type]: readonly [Token | null, TypeExpression],
): Ast.FunctionTypeExpression["parameters"][number] {
  return { isInout: inout !== null, type };
}

/** `List[Int]`. */
export function namedType(
  [token, typeArguments]: readonly [Token, Sized<readonly TypeExpression[]> | null],
): Ast.NamedTypeExpression {
  return {
    kind: "named-type",
    module: null,
    name: name(token),
    arguments: typeArguments?.value ?? [],
    span: span(token, typeArguments ?? token),
  };
}

/** `canvas.Color`. */
export function qualifiedType(
  [module, , token, typeArguments]: readonly [Token, Token, Token, Sized<readonly TypeExpression[]> | null],
): Ast.NamedTypeExpression {
  return {
    kind: "named-type",
    module: name(module),
    name: name(token),
    arguments: typeArguments?.value ?? [],
    span: span(module, typeArguments ?? token),
  };
}

// Statements

/** `{ … }`. */
export function block(
  [open, statements, close]: readonly [Token, readonly Ast.Statement[], Token],
): Ast.Block {
  return { kind: "block", statements, span: span(open, close) };
}

/** `let p: T = e else { … }`. */
export function letStatement(
  [keyword, pattern, type, , value, otherwise]: readonly [
    Token,
    Pattern,
    TypeExpression | null,
    Token,
    Expression,
    readonly [Token, Ast.Block] | null,
  ],
): Ast.LetStatement {
  return {
    kind: "let",
    pattern,
    type,
    value,
    otherwise: otherwise?.[1] ?? null,
    span: span(keyword, otherwise?.[1] ?? value),
  };
}

/** `var x: T = e`. */
export function variableStatement(
  [keyword, token, type, , value]: readonly [Token, Token, TypeExpression | null, Token, Expression],
): Ast.VariableStatement {
  return { kind: "var", name: name(token), type, value, span: span(keyword, value) };
}

/** `while c { … }`. */
export function whileStatement(
  [keyword, condition, body]: readonly [Token, Expression, Ast.Block],
): Ast.WhileStatement {
  return { kind: "while", condition, body, span: span(keyword, body) };
}

/** `for inout p in e { … }`. */
export function forStatement(
  [keyword, inout, pattern, , subject, body]: readonly [
    Token,
    Token | null,
    Pattern,
    Token,
    Expression,
    Ast.Block,
  ],
): Ast.ForStatement {
  return { kind: "for", isInout: inout !== null, pattern, subject, body, span: span(keyword, body) };
}

const assignOperators: Readonly<Record<string, Ast.AssignOperator>> = {
  "+=": "+",
  "-=": "-",
  "*=": "*",
  "/=": "/",
  "%=": "%",
  "+%=": "+%",
  "-%=": "-%",
  "*%=": "*%",
};

/** `place += e`. */
export function assignment(
  [place, operator, value]: readonly [Expression, Token, Expression],
): Ast.AssignStatement {
  return {
    kind: "assign",
    place,
    operator: assignOperators[operator.text] ?? null,
    operatorSpan: operator.span,
    value,
    span: span(place, value),
  };
}

/** `return e`. */
export function returnStatement([keyword, value]: readonly [Token, Expression]): Ast.ReturnStatement {
  return { kind: "return", value, span: span(keyword, value) };
}

/** `return`. */
export function returnAlone([keyword]: readonly [Token]): Ast.ReturnStatement {
  return { kind: "return", value: null, span: keyword.span };
}

/** `break`. */
export function breakStatement([keyword]: readonly [Token]): Ast.BreakStatement {
  return { kind: "break", span: keyword.span };
}

/** `continue`. */
export function continueStatement([keyword]: readonly [Token]): Ast.ContinueStatement {
  return { kind: "continue", span: keyword.span };
}

/** An expression on its own. */
export function expressionStatement([expression]: readonly [Expression]): Ast.ExpressionStatement {
  return { kind: "expression", expression, span: expression.span };
}
