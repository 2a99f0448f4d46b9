/** What binding a query gives, and where a query is bound. */
import type { SqlType } from "../../types/sql_type.ts";
import type { LockingClause } from "../parser/ast.ts";
import { columnReference } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import type { CommonTableScope, QueryLevel } from "./scope.ts";

/** A column of a query's result. */
export interface OutputColumn {
  readonly name: string;
  readonly column: ColumnRef;
  readonly type: SqlType;
  readonly nullable: boolean;
  /** The stored column it comes from; 0 for an expression. */
  readonly tableId: number;
  readonly columnId: number;
}

/** A bound query. */
export interface BoundQuery {
  readonly plan: Plan;
  readonly columns: readonly OutputColumn[];
  /** Whether it is one aggregate alone without GROUP BY. */
  readonly singleAggregate: boolean;
}

/** Where a query is bound. */
export interface QueryPlace {
  readonly parent: QueryLevel | null;
  readonly commonTables: CommonTableScope | null;
  /** Types that the columns are assigned to (INSERT): untyped literals take them. */
  readonly expected?: readonly (SqlType | undefined)[];
  /** Columns without type stay so, for a set operation to decide. */
  readonly keepUnknown?: boolean;
  /** The recursive query whose term it is, when that hands on columns of SEARCH and CYCLE. */
  readonly carriesInto?: string;
}

/** A reference to a result column. */
export function outputReference(column: OutputColumn): Expression {
  return columnReference(column.column, column.type, column.nullable);
}

/** How messages name a locking clause. */
export function lockName(clause: LockingClause): string {
  return `FOR ${clause.strength.toUpperCase()}`;
}
