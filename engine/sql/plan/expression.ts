/**
 * Bound expressions: names resolved, overloads chosen, every implicit cast made explicit, types known.
 *
 * Columns are named by a {@link ColumnRef}: a number unique within the statement. Operators of the plan define columns,
 * expressions refer to them; nothing is renumbered when the optimizer moves an expression. A reference to a column
 * that is defined outside of a subquery (or on the left of a LATERAL) is an ordinary reference: the nearest plan
 * that defines the number provides it.
 */
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { BoundCast, BoundFunction } from "../functions/definition.ts";
import type { Plan } from "./plan.ts";

/** A column of some operator's output, unique within the statement. */
export type ColumnRef = number;

/** A reference to a column. */
export type ColumnExpression = Expression & { readonly kind: "column" };

/** A bound expression. NULL propagates as the operators' descriptions say; AND, OR, NOT are three-valued. */
export type Expression =
  | { readonly kind: "constant"; readonly type: SqlType; readonly value: SqlValue }
  /** `$n` or a literal lifted out of the text; `index` counts from 0. Fixed during one execution. */
  | { readonly kind: "parameter"; readonly type: SqlType; readonly index: number }
  | {
    readonly kind: "column";
    readonly type: SqlType;
    readonly column: ColumnRef;
    readonly nullable: boolean;
  }
  | {
    readonly kind: "call";
    readonly type: SqlType;
    readonly function: BoundFunction;
    readonly args: readonly Expression[];
  }
  | { readonly kind: "cast"; readonly type: SqlType; readonly cast: BoundCast; readonly argument: Expression }
  | { readonly kind: "and" | "or"; readonly type: SqlType; readonly args: readonly Expression[] }
  | { readonly kind: "not"; readonly type: SqlType; readonly argument: Expression }
  | {
    readonly kind: "is_null";
    readonly type: SqlType;
    readonly argument: Expression;
    readonly negated: boolean;
  }
  /** IS [NOT] TRUE / FALSE / UNKNOWN. */
  | {
    readonly kind: "is_truth";
    readonly type: SqlType;
    readonly argument: Expression;
    readonly truth: "true" | "false" | "unknown";
    readonly negated: boolean;
  }
  /** IS [NOT] DISTINCT FROM; `equals` is the types' `=`. */
  | {
    readonly kind: "is_distinct";
    readonly type: SqlType;
    readonly equals: BoundFunction;
    readonly left: Expression;
    readonly right: Expression;
    readonly negated: boolean;
  }
  /**
   * Simple CASE has become searched CASE. `otherwise` null: NULL. `operand`: the key of the volatile value that is
   * computed before all else.
   */
  | {
    readonly kind: "case";
    readonly operand?: object;
    readonly type: SqlType;
    readonly branches: readonly { readonly when: Expression; readonly then: Expression }[];
    readonly otherwise: Expression | null;
  }
  /** The volatile operand of a CASE, in each of its conditions; the CASE with that key computes it. */
  | { readonly kind: "operand"; readonly type: SqlType; readonly key: object; readonly argument: Expression }
  | { readonly kind: "coalesce"; readonly type: SqlType; readonly args: readonly Expression[] }
  | {
    readonly kind: "nullif";
    readonly type: SqlType;
    readonly equals: BoundFunction;
    readonly left: Expression;
    readonly right: Expression;
  }
  | {
    readonly kind: "greatest" | "least";
    readonly type: SqlType;
    /** `<` of the common type. */
    readonly lessThan: BoundFunction;
    readonly args: readonly Expression[];
  }
  /** argument [NOT] IN (list), all of one type. */
  | {
    readonly kind: "in_list";
    readonly type: SqlType;
    readonly equals: BoundFunction;
    readonly argument: Expression;
    readonly list: readonly Expression[];
    readonly negated: boolean;
  }
  /** left op ANY/ALL (array). */
  | {
    readonly kind: "any_array" | "all_array";
    readonly type: SqlType;
    readonly operator: BoundFunction;
    readonly left: Expression;
    readonly array: Expression;
  }
  /** (SELECT …) as a value: NULL for no row, 21000 for more than one. */
  | {
    readonly kind: "scalar_subquery";
    readonly type: SqlType;
    readonly plan: Plan;
    readonly column: ColumnRef;
  }
  | { readonly kind: "exists"; readonly type: SqlType; readonly plan: Plan; readonly negated: boolean }
  /** left op ANY/ALL (SELECT …); IN is `= ANY`, NOT IN is `<> ALL`. Rows: one comparison per column, combined. */
  | {
    readonly kind: "any_subquery" | "all_subquery";
    readonly type: SqlType;
    readonly left: readonly Expression[];
    readonly operators: readonly BoundFunction[];
    readonly plan: Plan;
    readonly columns: readonly ColumnRef[];
  }
  | {
    readonly kind: "array_subquery";
    readonly type: SqlType;
    readonly plan: Plan;
    readonly column: ColumnRef;
  }
  | { readonly kind: "array"; readonly type: SqlType; readonly elements: readonly Expression[] }
  /** `isValue`: the row of an item of FROM, which is compared as one value; that of ROW is compared field by field. */
  | {
    readonly kind: "row";
    readonly type: SqlType;
    readonly fields: readonly Expression[];
    readonly isValue?: true;
  }
  | { readonly kind: "field"; readonly type: SqlType; readonly argument: Expression; readonly index: number }
  | {
    readonly kind: "subscript";
    readonly type: SqlType;
    readonly argument: Expression;
    readonly subscripts: readonly (
      | { readonly index: Expression }
      | { readonly lower: Expression | null; readonly upper: Expression | null }
    )[];
  };
