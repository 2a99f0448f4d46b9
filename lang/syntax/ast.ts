/**
 * The syntax tree: what the parser makes of the tokens, before names mean anything.
 *
 * Nodes are plain objects distinguished by `kind`; spans are UTF-16 offsets in the file. Names of modules, types,
 * variants and fields are not resolved here: `a.b` is a {@link FieldAccess} whatever `a` is. Comments are not in the
 * tree but in the tokens, which the formatter uses.
 */
import type { SourceFile, Span } from "../source/source_file.ts";

/** A word and where it stands. */
export interface Name {
  readonly text: string;
  readonly span: Span;
}

interface Node {
  readonly span: Span;
}

/** A module as written. */
export interface Module {
  readonly file: SourceFile;
  readonly declarations: readonly Declaration[];
}

interface DeclarationNode extends Node {
  readonly isPublic: boolean;
  /** Text of the `///` lines above, without the slashes and one space; null when there are none. */
  readonly documentation: Documentation | null;
}

/** The `///` lines above a declaration. */
export interface Documentation extends Node {
  readonly text: string;
}

/** Something at the top level of a module. */
export type Declaration =
  | UseDeclaration
  | TypeDeclaration
  | InterfaceDeclaration
  | ConstantDeclaration
  | FunctionDeclaration
  | TestDeclaration
  | PropertyDeclaration
  | EvalDeclaration
  | BrokenDeclaration;

/** `use fx.particles as p`. */
export interface UseDeclaration extends DeclarationNode {
  readonly kind: "use";
  readonly path: readonly Name[];
  readonly alias: Name | null;
}

/** `type Name[A, B] = …`. */
export interface TypeDeclaration extends DeclarationNode {
  readonly kind: "type";
  readonly name: Name;
  readonly typeParameters: readonly TypeParameter[];
  readonly body: TypeBody;
}

/** What stands behind the `=` of a type. One bare name is an alias; `builtin` is internal to the library. */
export type TypeBody =
  | { readonly kind: "record"; readonly fields: readonly RecordField[] }
  | { readonly kind: "union"; readonly variants: readonly Variant[] }
  | { readonly kind: "alias"; readonly type: TypeExpression }
  | { readonly kind: "builtin" };

/** `x: Float` of a record. */
export interface RecordField extends Node {
  readonly name: Name;
  readonly type: TypeExpression;
  readonly documentation: Documentation | null;
}

/** `Over(score: Int)` of a union. */
export interface Variant extends Node {
  readonly name: Name;
  readonly fields: readonly VariantField[];
  readonly documentation: Documentation | null;
}

/** A field of a variant; its name may be left out. */
export interface VariantField extends Node {
  readonly name: Name | null;
  readonly type: TypeExpression;
}

/** `T: Eq + Show`. */
export interface TypeParameter extends Node {
  readonly name: Name;
  readonly bounds: readonly NamedTypeExpression[];
}

/** `interface Area { fn area(self: Self) -> Float }`; its functions have no bodies. */
export interface InterfaceDeclaration extends DeclarationNode {
  readonly kind: "interface";
  readonly name: Name;
  readonly functions: readonly FunctionDeclaration[];
}

/** `const Color.black: Color = …`. */
export interface ConstantDeclaration extends DeclarationNode {
  readonly kind: "const";
  readonly owner: Name | null;
  readonly name: Name;
  readonly type: TypeExpression | null;
  readonly value: Expression;
}

/** `fn Ball.move(self: inout Ball) { … }`. */
export interface FunctionDeclaration extends DeclarationNode {
  readonly kind: "function";
  /** The type before the dot. */
  readonly owner: Name | null;
  readonly name: Name;
  readonly typeParameters: readonly TypeParameter[];
  readonly parameters: readonly Parameter[];
  /** Null when nothing is written, which for `pub` means `()`. */
  readonly result: TypeExpression | null;
  /** Null when nothing is written, which for `pub` means none. */
  readonly effects: readonly Name[] | null;
  /** Null in interfaces, and for what the library takes from compiler or host. */
  readonly body: Block | null;
  /** `intrinsic fn` and `extern "module" fn` are for the library alone. */
  readonly linkage: Linkage;
}

/** Where the body of a function is. */
export type Linkage =
  | { readonly kind: "body" }
  | { readonly kind: "interface" }
  | { readonly kind: "intrinsic" }
  | { readonly kind: "extern"; readonly module: string };

/** `self: inout Ball`. */
export interface Parameter extends Node {
  readonly name: Name;
  readonly isInout: boolean;
  readonly type: TypeExpression | null;
}

/** `test "name" { … }`. */
export interface TestDeclaration extends DeclarationNode {
  readonly kind: "test";
  readonly name: StringText;
  readonly body: Block;
}

/** `property "name" (x: Int) { … }`. */
export interface PropertyDeclaration extends DeclarationNode {
  readonly kind: "property";
  readonly name: StringText;
  readonly parameters: readonly Parameter[];
  readonly body: Block;
}

/** `eval "name" threshold 0.9 { case "…" => score }`. */
export interface EvalDeclaration extends DeclarationNode {
  readonly kind: "eval";
  readonly name: StringText;
  readonly threshold: Expression;
  readonly cases: readonly EvalCase[];
}

/** One case of an `eval`. */
export interface EvalCase extends Node {
  readonly name: StringText;
  readonly score: Expression;
}

/** A text without expressions in it, as names of tests are. */
export interface StringText extends Node {
  readonly value: string;
}

/**
 * What could not be parsed; its error has been reported. The name, where there is one, keeps its uses from being
 * reported as well, and what the best repair made of it serves those who need a signature.
 */
export interface BrokenDeclaration extends DeclarationNode {
  readonly kind: "broken";
  readonly name: Name | null;
  readonly repaired: Declaration | null;
}

/** A type as written. */
export type TypeExpression = NamedTypeExpression | TupleTypeExpression | FunctionTypeExpression;

/** `List[Int]`, `canvas.Color`. */
export interface NamedTypeExpression extends Node {
  readonly kind: "named-type";
  readonly module: Name | null;
  readonly name: Name;
  readonly arguments: readonly TypeExpression[];
}

/** `(Int, String)`; `()` without elements. */
export interface TupleTypeExpression extends Node {
  readonly kind: "tuple-type";
  readonly elements: readonly TypeExpression[];
}

/** `fn(Int, inout State) -> Bool`. */
export interface FunctionTypeExpression extends Node {
  readonly kind: "function-type";
  readonly parameters: readonly { readonly isInout: boolean; readonly type: TypeExpression }[];
  /** Null for `()`. */
  readonly result: TypeExpression | null;
}

/** An expression. */
export type Expression =
  | IntegerLiteral
  | FloatLiteral
  | BooleanLiteral
  | CharacterLiteral
  | StringLiteral
  | NameExpression
  | FieldAccess
  | Call
  | Index
  | Propagate
  | Unary
  | Binary
  | RangeExpression
  | RecordLiteral
  | ListLiteral
  | TupleLiteral
  | Block
  | If
  | Match
  | Closure;

/** `1_000`, `0xff`. */
export interface IntegerLiteral extends Node {
  readonly kind: "integer";
  readonly value: bigint;
}

/** `1.5e3`. */
export interface FloatLiteral extends Node {
  readonly kind: "float";
  readonly value: number;
}

/** `true`. */
export interface BooleanLiteral extends Node {
  readonly kind: "boolean";
  readonly value: boolean;
}

/** `'a'`. */
export interface CharacterLiteral extends Node {
  readonly kind: "character";
  readonly codePoint: number;
}

/** `"a {b} c"`: texts and expressions in turn; a plain text has one part, the empty text none. */
export interface StringLiteral extends Node {
  readonly kind: "string";
  readonly parts: readonly (string | Expression)[];
}

/** A name of a value, module, type or variant; types and variants begin with a capital. */
export interface NameExpression extends Node {
  readonly kind: "name";
  readonly name: string;
}

/** `a.b`, `a.0`, `module.f`, `Type.Variant`, `module.Type`. */
export interface FieldAccess extends Node {
  readonly kind: "field";
  readonly target: Expression;
  readonly name: Name;
}

/** `f(1, b: 2, &c)`; also methods, whose callee is a {@link FieldAccess}, and variants. */
export interface Call extends Node {
  readonly kind: "call";
  readonly callee: Expression;
  readonly arguments: readonly Argument[];
}

/** One argument. */
export interface Argument extends Node {
  readonly name: Name | null;
  /** Whether it is marked with `&`. */
  readonly isInout: boolean;
  readonly value: Expression;
}

/** `a[i]`. */
export interface Index extends Node {
  readonly kind: "index";
  readonly target: Expression;
  readonly index: Expression;
}

/** `e?`. */
export interface Propagate extends Node {
  readonly kind: "propagate";
  readonly target: Expression;
}

/** `-a`, `not a`. */
export interface Unary extends Node {
  readonly kind: "unary";
  readonly operator: "-" | "not";
  readonly operand: Expression;
}

/** Operators with two sides. */
export type BinaryOperator =
  | "or"
  | "and"
  | "=="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">="
  | "|"
  | "^"
  | "&"
  | "<<"
  | ">>"
  | "+"
  | "-"
  | "+%"
  | "-%"
  | "*"
  | "/"
  | "%"
  | "*%";

/** `a + b`. */
export interface Binary extends Node {
  readonly kind: "binary";
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
  readonly left: Expression;
  readonly right: Expression;
}

/** `a..b`, `a..=b`. */
export interface RangeExpression extends Node {
  readonly kind: "range";
  readonly start: Expression;
  readonly end: Expression;
  readonly isInclusive: boolean;
}

/** `Ball { ..base, x: 1.0 }`; the type is a {@link NameExpression} or a {@link FieldAccess} on a module. */
export interface RecordLiteral extends Node {
  readonly kind: "record";
  readonly type: Expression;
  readonly base: Expression | null;
  readonly fields: readonly { readonly name: Name; readonly value: Expression }[];
}

/** `[1, 2]`. */
export interface ListLiteral extends Node {
  readonly kind: "list";
  readonly elements: readonly Expression[];
}

/** `(a, b)`; `()` without elements. A single expression in parentheses is that expression. */
export interface TupleLiteral extends Node {
  readonly kind: "tuple";
  readonly elements: readonly Expression[];
}

/** `{ … }`; the value is that of a last {@link ExpressionStatement}. */
export interface Block extends Node {
  readonly kind: "block";
  readonly statements: readonly Statement[];
}

/** `if c { … } else { … }`, `if let p = e { … }`. */
export interface If extends Node {
  readonly kind: "if";
  /** The pattern of `if let`, or null. */
  readonly pattern: Pattern | null;
  readonly condition: Expression;
  readonly then: Block;
  readonly otherwise: Block | If | null;
}

/** `match e { … }`. */
export interface Match extends Node {
  readonly kind: "match";
  readonly subject: Expression;
  readonly arms: readonly MatchArm[];
}

/** `pattern if guard => body`; a body that is a statement stands in a {@link Block} of its own. */
export interface MatchArm extends Node {
  readonly pattern: Pattern;
  readonly guard: Expression | null;
  readonly body: Expression;
}

/** `fn(x: Int) -> Int { … }`. */
export interface Closure extends Node {
  readonly kind: "closure";
  readonly parameters: readonly Parameter[];
  readonly result: TypeExpression | null;
  readonly body: Block;
}

/** A statement. */
export type Statement =
  | LetStatement
  | VariableStatement
  | AssignStatement
  | WhileStatement
  | ForStatement
  | ReturnStatement
  | BreakStatement
  | ContinueStatement
  | ExpressionStatement;

/** `let pattern: T = e else { … }`. */
export interface LetStatement extends Node {
  readonly kind: "let";
  readonly pattern: Pattern;
  readonly type: TypeExpression | null;
  readonly value: Expression;
  readonly otherwise: Block | null;
}

/** `var name: T = e`. */
export interface VariableStatement extends Node {
  readonly kind: "var";
  readonly name: Name;
  readonly type: TypeExpression | null;
  readonly value: Expression;
}

/** Operators that may stand before `=`. */
export type AssignOperator = "+" | "-" | "*" | "/" | "%" | "+%" | "-%" | "*%";

/** `place = e`, `place += e`. */
export interface AssignStatement extends Node {
  readonly kind: "assign";
  readonly place: Expression;
  readonly operator: AssignOperator | null;
  readonly operatorSpan: Span;
  readonly value: Expression;
}

/** `while c { … }`. */
export interface WhileStatement extends Node {
  readonly kind: "while";
  readonly condition: Expression;
  readonly body: Block;
}

/** `for pattern in e { … }`, `for inout x in place { … }`. */
export interface ForStatement extends Node {
  readonly kind: "for";
  readonly isInout: boolean;
  readonly pattern: Pattern;
  readonly subject: Expression;
  readonly body: Block;
}

/** `return e`. */
export interface ReturnStatement extends Node {
  readonly kind: "return";
  readonly value: Expression | null;
}

/** `break`. */
export interface BreakStatement extends Node {
  readonly kind: "break";
}

/** `continue`. */
export interface ContinueStatement extends Node {
  readonly kind: "continue";
}

/** An expression on its own. */
export interface ExpressionStatement extends Node {
  readonly kind: "expression";
  readonly expression: Expression;
}

/** A pattern. */
export type Pattern =
  | WildcardPattern
  | BindingPattern
  | LiteralPattern
  | RangePattern
  | TuplePattern
  | VariantPattern
  | RecordPattern
  | ListPattern
  | AlternativePattern;

/** `_`. */
export interface WildcardPattern extends Node {
  readonly kind: "wildcard";
}

/** `name`. */
export interface BindingPattern extends Node {
  readonly kind: "binding";
  readonly name: Name;
}

/** `12`, `-1`, `1.5`, `'a'`, `"text"`, `true`. */
export interface LiteralPattern extends Node {
  readonly kind: "literal";
  /** The sign of a number is in the value; texts have no expressions in them. */
  readonly value:
    | IntegerLiteral
    | FloatLiteral
    | CharacterLiteral
    | BooleanLiteral
    | StringText & { readonly kind: "text" };
}

/** `1..9`, `'a'..='z'`. */
export interface RangePattern extends Node {
  readonly kind: "range-pattern";
  readonly start: IntegerLiteral | CharacterLiteral;
  readonly end: IntegerLiteral | CharacterLiteral;
  readonly isInclusive: boolean;
}

/** `(a, b)`, `()`. */
export interface TuplePattern extends Node {
  readonly kind: "tuple-pattern";
  readonly elements: readonly Pattern[];
}

/**
 * `Some(x)`, `Phase.Over(score: s)`, `Playing`; `path` is `Variant`, `Type.Variant`, `module.Variant` or
 * `module.Type.Variant`.
 */
export interface VariantPattern extends Node {
  readonly kind: "variant-pattern";
  readonly path: readonly Name[];
  readonly fields: readonly { readonly name: Name | null; readonly pattern: Pattern }[];
  /** Whether `..` stands for the fields that are not named. */
  readonly hasRest: boolean;
}

/** `Ball { x: 0.0, y, .. }`; a field without a pattern binds its own name. */
export interface RecordPattern extends Node {
  readonly kind: "record-pattern";
  readonly path: readonly Name[];
  readonly fields: readonly { readonly name: Name; readonly pattern: Pattern | null }[];
  readonly hasRest: boolean;
}

/** `[]`, `[a, b]`, `[first, ..rest]`; the rest, if any, comes last. */
export interface ListPattern extends Node {
  readonly kind: "list-pattern";
  readonly elements: readonly Pattern[];
  /** Undefined without `..`; null for `..` alone. */
  readonly rest: Name | null | undefined;
}

/** `a | b`. */
export interface AlternativePattern extends Node {
  readonly kind: "alternative-pattern";
  readonly alternatives: readonly Pattern[];
}
