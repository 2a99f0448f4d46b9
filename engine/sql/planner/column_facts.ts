/** What estimates know of the columns of stored tables, and what they are asked about them. */
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { ColumnDistribution } from "../../storage/access/column_distribution.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import type { ColumnGroup } from "./column_groups.ts";

/** What is known of a column. */
export interface ColumnFacts {
  readonly table: TableDefinition;
  readonly column: ColumnDefinition | null;
  readonly rows: number;
  readonly distinct: number;
  readonly nullFraction: number;
  readonly minimum: number | null;
  readonly maximum: number | null;
  /** What ANALYZE has found; null: it was not here. */
  readonly distribution: ColumnDistribution | null;
  /** The scan that defines the column. */
  readonly scan: Plan | null;
}

/** What groups are counted by: an estimator. */
export interface KnownColumns {
  sourceOf(expression: Expression): Expression;
  factsOf(column: ColumnRef): ColumnFacts | undefined;
  distinctOf(expression: Expression): number | undefined;
  columnGroups(scan: Plan): readonly ColumnGroup[];
  rows(plan: Plan): number;
}
