/**
 * What a DDL statement comes to: steps that the session carries out in order within the statement's transaction.
 *
 * Catalog changes name whole definitions; steps that look at or change rows see the catalog as the steps before left
 * it.
 */
import type { CatalogChange } from "../../catalog/catalog_change.ts";
import type { ConstraintDefinition, IndexDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { PlannedStatement } from "../plan/plan.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";

/** A message in addition to the result. */
export interface DefinitionNotice {
  readonly code: string;
  readonly message: string;
  /** NOTICE unless given. */
  readonly severity?: "WARNING";
}

/** An expression over the columns of a table. */
export interface TableExpression {
  readonly expression: Expression;
  /** The reference of each live column, by position. */
  readonly columns: readonly ColumnRef[];
}

/** One step. */
export type DefinitionStep =
  | { readonly kind: "change"; readonly change: CatalogChange }
  /** Raises 23502 when a row holds NULL in the column. */
  | { readonly kind: "validate_not_null"; readonly table: TableDefinition; readonly columnId: number }
  /** Raises 23514 when the condition is false for a row. */
  | {
    readonly kind: "validate_check";
    readonly table: TableDefinition;
    readonly constraintName: string;
    readonly condition: TableExpression;
  }
  /** Raises 23505 when two rows have the same key in a unique index. */
  | { readonly kind: "validate_unique"; readonly table: TableDefinition; readonly index: IndexDefinition }
  /** Raises 23503 when a row has no parent. */
  | {
    readonly kind: "validate_foreign_key";
    readonly table: TableDefinition;
    readonly constraint: ConstraintDefinition & { readonly kind: "foreign_key" };
  }
  /** Sets a column of every row; `isConversion`: to what the statement makes of another column. */
  | {
    readonly kind: "fill_column";
    readonly table: TableDefinition;
    readonly columnId: number;
    readonly value: TableExpression;
    readonly isConversion?: boolean;
  }
  /** Rows get the value of the table's row-id column as their id; raises 23505 for duplicates and 23502 for NULL. */
  | { readonly kind: "rekey"; readonly table: TableDefinition }
  /** Removes all rows. */
  | { readonly kind: "truncate"; readonly tableId: number }
  | { readonly kind: "restart_sequence"; readonly sequenceId: number; readonly value: number | bigint }
  /** Fills a new table from a query. */
  | { readonly kind: "insert_query"; readonly table: TableDefinition; readonly planned: PlannedStatement };

/** What a DDL statement comes to: steps that the session carries out in order within the statement's transaction. */
export interface DefinitionPlan {
  /** The command tag. */
  readonly tag: string;
  readonly steps: readonly DefinitionStep[];
  readonly notices: readonly DefinitionNotice[];
}
