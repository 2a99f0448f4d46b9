/**
 * Scopes: which tables and columns a name can mean at one level of a query, and what that level collects while its
 * expressions are bound (aggregates, window calls, set-returning functions).
 *
 * Invariant: a level's parent is the level of the query around it; names are looked up from the inside out and the
 * first level that knows the name decides, even when it finds the name ambiguous.
 */
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { BoundFunction } from "../functions/definition.ts";
import type { WindowDefinition } from "../parser/ast.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { AggregateCall, SortKey, WindowCall } from "../plan/plan.ts";

/** A column that names can mean. */
export interface ScopeColumn {
  readonly name: string;
  readonly expression: Expression;
  /** The stored column behind it; 0 when it is computed. */
  readonly tableId: number;
  readonly columnId: number;
  /** Named by itself only, not by `*`. */
  readonly unlisted?: true;
}

/** An item of FROM under its alias. */
export interface ScopeTable {
  readonly name: string;
  /** The schema by which it may be qualified too; null under an alias and for subqueries. */
  readonly schema: string | null;
  /** The name of the relation itself, for hints. */
  readonly relationName: string | null;
  readonly columns: readonly ScopeColumn[];
  readonly table: TableDefinition | null;
  readonly rowId: ColumnRef | null;
  /** Whether rows of it may be missing (the nullable side of an outer join). */
  readonly nullable: boolean;
  /** A column that is NULL exactly where the row is missing; null: the row of a join, which has fields even then. */
  readonly presence?: ColumnRef | null;
  /** A function that returns no rows but single values: its row is the value. */
  readonly isScalar?: true;
}

/** What FROM makes visible: tables for qualified names, columns for plain ones and for `*`, in order. */
export interface FromScope {
  readonly tables: readonly ScopeTable[];
  readonly columns: readonly ScopeColumn[];
}

/** The scope of a query without FROM. */
export const EMPTY_SCOPE: FromScope = { tables: [], columns: [] };

/** Where an expression is; decides what it may contain and how messages name the place. */
export type Clause =
  | "SELECT"
  | "WHERE"
  | "HAVING"
  | "GROUP BY"
  | "ORDER BY"
  | "DISTINCT ON"
  | "JOIN conditions"
  | "functions in FROM"
  | "LIMIT"
  | "OFFSET"
  | "VALUES"
  | "UPDATE"
  | "INSERT"
  | "RETURNING"
  | "FILTER"
  | "aggregate"
  | "window arguments"
  | "window definitions"
  | "window ROWS"
  | "window RANGE"
  | "window GROUPS"
  | "transform expressions"
  | "DEFAULT expressions"
  | "check constraints"
  | "column generation expressions"
  | "index expressions"
  | "index predicates"
  | "EXECUTE parameters"
  | "trigger WHEN conditions"
  | "trigger actions"
  | "policy expressions";

/** A window call waiting for its operator; calls with equal windows share one. */
export interface PendingWindow {
  readonly partition: readonly Expression[];
  readonly order: readonly SortKey[];
  readonly calls: WindowCall[];
}

/** A set-returning function of the select list. */
export interface PendingSetFunction {
  readonly function: BoundFunction;
  readonly args: readonly Expression[];
  readonly outputs: readonly ColumnRef[];
}

/** A common table expression that can be named. */
export interface CommonTableEntry {
  readonly id: number;
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  readonly refs: readonly ColumnRef[];
  /** While its recursive term is being bound, references read the working table. */
  working: boolean;
  /** Its recursive term has an aggregate function at a level whose FROM names it. */
  isAggregated: boolean;
  references: number;
  /** How many of the columns are its own: SEARCH and CYCLE add others, which its recursive term sees by name only. */
  readonly ownColumns: number;
  /** false: a data change without RETURNING, which cannot be read. */
  readonly hasRows?: boolean;
}

/** The common tables in sight, innermost WITH first. */
export interface CommonTableScope {
  readonly entries: ReadonlyMap<string, CommonTableEntry>;
  readonly parent: CommonTableScope | null;
  /** All names that the WITH gives, those that cannot be seen yet too. */
  readonly names: readonly string[];
}

/** One level of query nesting. */
export class QueryLevel {
  readonly parent: QueryLevel | null;
  readonly commonTables: CommonTableScope | null;
  from: FromScope = EMPTY_SCOPE;
  clause: Clause = "SELECT";
  /** The syntax of all that can name FROM's items; null: not known. */
  syntax: object | null = null;
  /** What FROM items not visible from here are called, for a better message. */
  hiddenTables: readonly ScopeTable[] = [];
  windows: readonly WindowDefinition[] = [];
  /** The recursive query that FROM names within its own recursive term. */
  workingTable: CommonTableEntry | null = null;
  /** What SEARCH and CYCLE have added to the row of that query. */
  carried: readonly Expression[] = [];
  readonly aggregates: AggregateCall[] = [];
  /** The outputs of aggregates that have direct arguments. */
  readonly directAggregates = new Set<ColumnRef>();
  readonly aggregateKeys = new Map<string, Expression>();
  readonly groupings: {
    readonly output: ColumnRef;
    readonly args: readonly Expression[];
    readonly position: number;
  }[] = [];
  readonly pendingWindows: PendingWindow[] = [];
  /** By nesting depth: functions whose arguments hold results of the list before. */
  readonly setFunctions: PendingSetFunction[][] = [];
  /** Columns that this level's own operators make (aggregates, windows, set-returning functions). */
  readonly computed = new Set<ColumnRef>();

  constructor(parent: QueryLevel | null, commonTables: CommonTableScope | null) {
    this.parent = parent;
    this.commonTables = commonTables;
  }
}

/** The common table of a name, or undefined. */
export function findCommonTable(scope: CommonTableScope | null, name: string): CommonTableEntry | undefined {
  for (let each = scope; each !== null; each = each.parent) {
    const found = each.entries.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The scope as seen from the outside of an outer join that may lack its rows. */
export function nullableScope(scope: FromScope): FromScope {
  return {
    tables: scope.tables.map((table) => ({
      ...table,
      nullable: true,
      columns: table.columns.map(nullableColumn),
    })),
    columns: scope.columns.map(nullableColumn),
  };
}

function nullableColumn(column: ScopeColumn): ScopeColumn {
  const { expression } = column;
  if (expression.kind !== "column" || expression.nullable) return column;
  return { ...column, expression: { ...expression, nullable: true } };
}
