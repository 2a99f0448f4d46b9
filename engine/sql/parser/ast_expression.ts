/**
 * Expression nodes of the syntax tree, and type names.
 *
 * Invariants: see ast.ts. AND and OR chains are flat lists, so that a long WHERE clause is not a deep tree. Syntax
 * that PostgreSQL defines as another spelling of a function call (EXTRACT, TRIM, POSITION …) is a {@link
 * FunctionCall} with the function's arguments in the function's order and `syntax` saying how it was written.
 */

import type { Query } from "./ast_query.ts";

/** Any expression. */
export type Expression =
  | Literal
  | TypedLiteral
  | Parameter
  | ColumnReference
  | Star
  | FieldSelection
  | FieldStar
  | Subscript
  | UnaryOperation
  | BinaryOperation
  | LogicalOperation
  | NotOperation
  | IsTest
  | DistinctTest
  | BetweenTest
  | InListTest
  | InSubqueryTest
  | PatternMatch
  | QuantifiedComparison
  | ExistsTest
  | ScalarSubquery
  | RowConstructor
  | CaseExpression
  | CastExpression
  | CollateExpression
  | AtTimeZone
  | FunctionCall
  | ConditionalFunction
  | SessionValue
  | ArrayConstructor
  | ArraySubquery
  | DefaultValue;

/** The values of literals: of integers those that are small are numbers, the others digits; of parameters `n`. */
export interface PackedLiterals {
  readonly kind: "integer" | "decimal" | "string" | "parameter";
  readonly values: readonly (number | string | null)[];
}

/** `column operator literal`, many times. */
export interface PackedComparisons {
  readonly column: ColumnReference;
  readonly operator: "=" | "<>" | "between";
  readonly values: PackedLiterals;
  /** Upper bounds. */
  readonly uppers: PackedLiterals | null;
  readonly position: number;
}

/** `(column = literal AND column = literal …)`, of the same columns, many times: the literals by column. */
export interface PackedRows {
  readonly columns: readonly ColumnReference[];
  readonly values: readonly PackedLiterals[];
  readonly position: number;
}

/** `WHEN literal THEN literal …`; where CASE has no operand `WHEN column = literal THEN literal …`. */
export interface PackedBranches {
  readonly column: ColumnReference | null;
  readonly keys: PackedLiterals;
  readonly results: PackedLiterals;
}

/** What the text of a {@link Literal} stands for. */
export type LiteralType = "integer" | "decimal" | "string" | "bit_string" | "hex_string" | "boolean" | "null";

/** A constant. A `string` has PostgreSQL's type "unknown" until its context decides. */
export interface Literal {
  readonly kind: "literal";
  readonly type: LiteralType;
  /**
   * integer: decimal digits, perhaps with a leading `-`, of any size (0x, 0o, 0b and underscores are already resolved);
   * decimal: digits with a point or an exponent, perhaps with a leading `-`; string: the decoded characters; bit_string
   * (B'…') and hex_string (X'…'): the digits; boolean: `true` or `false`; null: empty.
   */
  readonly text: string;
  /** Index into the literals that `normalize` took out of the text, when the parser was given them; else `null`. */
  readonly literalIndex: number | null;
  readonly position: number;
}

/** `DATE '2020-01-01'`, `INTERVAL '1' DAY`, `numeric '1.5'`: a string read as a value of the type. */
export interface TypedLiteral {
  readonly kind: "typed_literal";
  readonly type: TypeName;
  readonly text: string;
  readonly position: number;
}

/** `$1`: a statement parameter; `number` counts from 1. */
export interface Parameter {
  readonly kind: "parameter";
  readonly number: number;
  readonly position: number;
}

/** `a`, `t.a`, `s.t.a`, `NEW.a`. The last part is the column; the parts before it qualify it. */
export interface ColumnReference {
  readonly kind: "column";
  readonly parts: readonly string[];
  readonly position: number;
}

/** `*` (empty qualifier) or `t.*`, in a target list, RETURNING, or as `count(t.*)`'s argument. */
export interface Star {
  readonly kind: "star";
  readonly qualifier: readonly string[];
  readonly position: number;
}

/** `(x).n`: one field of a composite value, or one column of a function's result. */
export interface FieldSelection {
  readonly kind: "field";
  readonly operand: Expression;
  readonly field: string;
  readonly position: number;
}

/** `(x).*`. */
export interface FieldStar {
  readonly kind: "field_star";
  readonly operand: Expression;
  readonly position: number;
}

/**
 * `x[i]` (`isSlice` false: `upper` is the index and `lower` null) or `x[lower:upper]`, either bound of which may
 * miss.
 */
export interface Subscript {
  readonly kind: "subscript";
  readonly operand: Expression;
  readonly isSlice: boolean;
  readonly lower: Expression | null;
  readonly upper: Expression | null;
  /** Whether the operand is in parentheses, so that subscripts of its own are applied before this one. */
  readonly startsChain: boolean;
  readonly position: number;
}

/** A prefix operator: `-x`, `+x`, `~x`, `@x`, `|/ x`. */
export interface UnaryOperation {
  readonly kind: "unary";
  readonly operator: string;
  /** The schema of `OPERATOR(schema.op)`, else `null`. */
  readonly schema: string | null;
  readonly operand: Expression;
  /** Position of the operator. */
  readonly position: number;
}

/** An infix operator that is not a keyword. `!=` is already `<>`. */
export interface BinaryOperation {
  readonly kind: "binary";
  readonly operator: string;
  /** The schema of `OPERATOR(schema.op)`, else `null`. */
  readonly schema: string | null;
  readonly left: Expression;
  readonly right: Expression;
  /** Position of the operator. */
  readonly position: number;
}

/** `a AND b AND c`, `a OR b`: at least two operands. */
export interface LogicalOperation {
  readonly kind: "logical";
  readonly operator: "and" | "or";
  readonly operands: readonly Expression[];
  /** The operands by their values: they are made when they are asked for. */
  readonly packed?: PackedComparisons | PackedRows;
  readonly position: number;
}

/** `NOT a`. Negated tests (`NOT IN`, `NOT BETWEEN` …) have a `negated` field of their own instead. */
export interface NotOperation {
  readonly kind: "not";
  readonly operand: Expression;
  readonly position: number;
}

/** `a IS [NOT] NULL | TRUE | FALSE | UNKNOWN`, `a ISNULL`, `a NOTNULL`. */
export interface IsTest {
  readonly kind: "is";
  readonly test: "null" | "true" | "false" | "unknown";
  readonly negated: boolean;
  readonly operand: Expression;
  readonly position: number;
}

/** `a IS [NOT] DISTINCT FROM b`; `negated` is IS NOT DISTINCT FROM. */
export interface DistinctTest {
  readonly kind: "distinct";
  readonly negated: boolean;
  readonly left: Expression;
  readonly right: Expression;
  readonly position: number;
}

/** `a [NOT] BETWEEN [SYMMETRIC] b AND c`. */
export interface BetweenTest {
  readonly kind: "between";
  readonly negated: boolean;
  readonly symmetric: boolean;
  readonly operand: Expression;
  readonly lower: Expression;
  readonly upper: Expression;
  readonly position: number;
}

/** `a [NOT] IN (b, c, …)`. */
export interface InListTest {
  readonly kind: "in_list";
  readonly negated: boolean;
  readonly operand: Expression;
  readonly items: readonly Expression[];
  /** The items by their values: they are made when they are asked for. */
  readonly packed?: PackedLiterals;
  /** The same of rows: the values of each field. */
  readonly packedRows?: readonly PackedLiterals[];
  readonly position: number;
}

/** `a [NOT] IN (SELECT …)`; the operand may be a {@link RowConstructor}. */
export interface InSubqueryTest {
  readonly kind: "in_subquery";
  readonly negated: boolean;
  readonly operand: Expression;
  readonly query: Query;
  readonly position: number;
}

/** `a [NOT] LIKE | ILIKE | SIMILAR TO pattern [ESCAPE e]`. */
export interface PatternMatch {
  readonly kind: "pattern";
  readonly operator: "like" | "ilike" | "similar";
  readonly negated: boolean;
  readonly operand: Expression;
  readonly pattern: Expression;
  readonly escape: Expression | null;
  readonly position: number;
}

/**
 * `a op ANY|SOME|ALL (SELECT …)` or `a op ANY|ALL (array)`: exactly one of `query` and `array` is set. LIKE, ILIKE and
 * their negations appear as the operators `~~`, `~~*`, `!~~`, `!~~*`.
 */
export interface QuantifiedComparison {
  readonly kind: "quantified";
  readonly quantifier: "any" | "all";
  readonly operator: string;
  readonly schema: string | null;
  readonly operand: Expression;
  readonly query: Query | null;
  readonly array: Expression | null;
  readonly position: number;
}

/** `EXISTS (SELECT …)`. */
export interface ExistsTest {
  readonly kind: "exists";
  readonly query: Query;
  readonly position: number;
}

/** `(SELECT …)` as a value. */
export interface ScalarSubquery {
  readonly kind: "subquery";
  readonly query: Query;
  readonly position: number;
}

/** `ROW(a, b)` (`explicit`) or `(a, b)`. */
export interface RowConstructor {
  readonly kind: "row";
  readonly explicit: boolean;
  readonly items: readonly Expression[];
  readonly position: number;
}

/** `CASE [operand] WHEN … THEN … [ELSE …] END`. */
export interface CaseExpression {
  readonly kind: "case";
  readonly operand: Expression | null;
  readonly branches: readonly CaseBranch[];
  /** The branches by their values: they are made when they are asked for. */
  readonly packed?: PackedBranches;
  readonly otherwise: Expression | null;
  readonly position: number;
}

/** One `WHEN condition THEN result` of a {@link CaseExpression}. */
export interface CaseBranch {
  readonly condition: Expression;
  readonly result: Expression;
}

/** `CAST(a AS type)` or `a::type`. */
export interface CastExpression {
  readonly kind: "cast";
  readonly operand: Expression;
  readonly type: TypeName;
  /** Position of CAST or of `::`. */
  readonly position: number;
}

/** `a COLLATE schema.name`. */
export interface CollateExpression {
  readonly kind: "collate";
  readonly operand: Expression;
  readonly collation: readonly string[];
  readonly position: number;
}

/** `a AT TIME ZONE zone`; `AT LOCAL` has `zone` null. */
export interface AtTimeZone {
  readonly kind: "at_time_zone";
  readonly operand: Expression;
  readonly zone: Expression | null;
  readonly position: number;
}

/** How a {@link FunctionCall} was written, when not as `name(arguments)`; canonical text prints it back so. */
export type FunctionSyntax =
  | "extract"
  | "substring"
  | "similar"
  | "position"
  | "overlay"
  | "trim"
  | "normalize";

/** A call of a function, aggregate, window function or procedure. */
export interface FunctionCall {
  readonly kind: "call";
  /** The function's name, qualified as written; the last part is the function. */
  readonly name: readonly string[];
  readonly syntax: FunctionSyntax | null;
  readonly arguments: readonly FunctionArgument[];
  /** `count(*)`: no arguments, `star` true. */
  readonly star: boolean;
  readonly distinct: boolean;
  /** The last argument is an array that is spread: `f(VARIADIC array)`. */
  readonly variadic: boolean;
  /** ORDER BY inside the parentheses, or of WITHIN GROUP when `withinGroup`. */
  readonly orderBy: readonly SortKey[];
  readonly withinGroup: boolean;
  readonly filter: Expression | null;
  /** OVER: a window's name, or a definition in place. */
  readonly over: WindowSpecification | null;
  readonly position: number;
}

/** One argument of a call; `name` is set for `name => value`. */
export interface FunctionArgument {
  readonly name: string | null;
  readonly value: Expression;
}

/** COALESCE, NULLIF, GREATEST and LEAST, which are grammar, not functions. */
export interface ConditionalFunction {
  readonly kind: "conditional";
  readonly function: "coalesce" | "nullif" | "greatest" | "least";
  readonly arguments: readonly Expression[];
  readonly position: number;
}

/** The names that are values without parentheses. */
export type SessionValueName =
  | "current_date"
  | "current_time"
  | "current_timestamp"
  | "localtime"
  | "localtimestamp"
  | "current_user"
  | "session_user"
  | "system_user"
  | "user"
  | "current_role"
  | "current_catalog"
  | "current_schema";

/** `CURRENT_DATE`, `CURRENT_TIMESTAMP(3)`, `CURRENT_USER` … */
export interface SessionValue {
  readonly kind: "session_value";
  readonly name: SessionValueName;
  readonly precision: number | null;
  readonly position: number;
}

/** `ARRAY[a, b]`; nested brackets are nested constructors. */
export interface ArrayConstructor {
  readonly kind: "array";
  readonly items: readonly Expression[];
  /** As of {@link InListTest}. */
  readonly packed?: PackedLiterals;
  readonly position: number;
}

/** `ARRAY(SELECT …)`. */
export interface ArraySubquery {
  readonly kind: "array_subquery";
  readonly query: Query;
  readonly position: number;
}

/** `DEFAULT` as a value of INSERT … VALUES or UPDATE … SET. */
export interface DefaultValue {
  readonly kind: "default";
  readonly position: number;
}

/** One key of ORDER BY. */
export interface SortKey {
  readonly expression: Expression;
  readonly descending: boolean;
  /** NULLS FIRST or LAST as written; `null` is the default (last for ascending, first for descending). */
  readonly nulls: "first" | "last" | null;
  /** The operator of `ORDER BY a USING <`, which decides instead of `descending`; else `null`. */
  readonly using: string | null;
  readonly position: number;
}

/** A window: `OVER name` (only `name`), `OVER (…)` or the body of a WINDOW clause (`base` is the window it refines). */
export interface WindowSpecification {
  /** Set for `OVER name` without parentheses; then everything else is empty. */
  readonly name: string | null;
  /** The existing window that a parenthesized specification starts from. */
  readonly base: string | null;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
  readonly frame: WindowFrame | null;
  readonly position: number;
}

/** A frame clause; without BETWEEN the end is the current row. */
export interface WindowFrame {
  readonly mode: "range" | "rows" | "groups";
  readonly start: FrameBound;
  readonly end: FrameBound;
  readonly exclude: "no_others" | "current_row" | "group" | "ties";
  readonly position: number;
}

/** One end of a frame; `offset` is set for `n PRECEDING` and `n FOLLOWING` only. */
export interface FrameBound {
  readonly kind: "unbounded_preceding" | "preceding" | "current_row" | "following" | "unbounded_following";
  readonly offset: Expression | null;
}

/**
 * A type as written. The SQL standard's spellings have PostgreSQL's internal names already: `int2 int4 int8 float4
 * float8 numeric bool bpchar varchar timestamp timestamptz time timetz interval bit varbit`; so `CHAR(3)` is `bpchar`
 * with modifier 3 and plain `CHAR` is `bpchar` with modifier 1. Any other name is as written, folded.
 */
export interface TypeName {
  /** Qualified as written; the last part is the type. */
  readonly name: readonly string[];
  /** The numbers in parentheses after the name (an interval's or time's precision too). */
  readonly modifiers: readonly number[];
  /** `INTERVAL DAY TO SECOND` and its like, in lower case; else `null`. */
  readonly intervalFields: string | null;
  /** Number of `[]` after the name; declared sizes are ignored, as in PostgreSQL. */
  readonly arrayDimensions: number;
  /** `SETOF type`, in a function's RETURNS only. */
  readonly setOf: boolean;
  readonly position: number;
}
