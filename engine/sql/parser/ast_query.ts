/**
 * Queries and data changes in the syntax tree: SELECT, VALUES, set operations, INSERT, UPDATE, DELETE, WITH.
 *
 * Invariants: see ast.ts. `TABLE t` is a {@link Select} of `*`. A query in parentheses that carries nothing of its own
 * (no ORDER BY, LIMIT, WITH, locking) is unwrapped.
 */

import type {
  Expression,
  FunctionCall,
  SessionValue,
  SortKey,
  TypeName,
  WindowSpecification,
} from "./ast_expression.ts";

/** A row-returning statement or subquery. */
export interface Query {
  readonly kind: "query";
  readonly with: WithClause | null;
  readonly body: QueryBody;
  readonly orderBy: readonly SortKey[];
  /** LIMIT n or FETCH FIRST n; `null` when missing or ALL. */
  readonly limit: Expression | null;
  /** FETCH FIRST n ROWS WITH TIES. */
  readonly withTies: boolean;
  readonly offset: Expression | null;
  readonly locking: readonly LockingClause[];
  readonly position: number;
}

/** What a query evaluates before its ORDER BY and LIMIT. */
export type QueryBody = Select | Values | SetOperation | Query;

/** One SELECT block. */
export interface Select {
  readonly kind: "select";
  /** `all`: no DISTINCT; `distinct`: DISTINCT; `on`: DISTINCT ON (`distinctOn`). */
  readonly distinct: "all" | "distinct" | "on";
  readonly distinctOn: readonly Expression[];
  /** May be empty, as in PostgreSQL. */
  readonly targets: readonly Target[];
  /** SELECT … INTO [TEMP] name. */
  readonly into: IntoClause | null;
  /** Items of the FROM list, separated by commas. */
  readonly from: readonly FromItem[];
  readonly where: Expression | null;
  readonly groupBy: readonly GroupingElement[];
  /** GROUP BY DISTINCT. */
  readonly groupDistinct: boolean;
  readonly having: Expression | null;
  readonly windows: readonly WindowDefinition[];
  readonly position: number;
}

/** One item of a target list or RETURNING; `alias` is as written, or `null`. */
export interface Target {
  readonly expression: Expression;
  readonly alias: string | null;
  readonly position: number;
}

/** The table that SELECT INTO creates. */
export interface IntoClause {
  readonly name: ObjectName;
  readonly persistence: Persistence;
}

/** How long a relation's content lives. */
export type Persistence = "permanent" | "temporary" | "unlogged";

/** VALUES (…), (…). An item may be DEFAULT where it is an INSERT's source. All rows have the same length. */
export interface Values {
  readonly kind: "values";
  readonly rows: readonly (readonly Expression[])[];
  readonly position: number;
}

/** UNION, INTERSECT, EXCEPT. */
export interface SetOperation {
  readonly kind: "set_operation";
  readonly operator: "union" | "intersect" | "except";
  readonly all: boolean;
  readonly left: QueryBody;
  readonly right: QueryBody;
  readonly position: number;
}

/** One element of GROUP BY. */
export type GroupingElement =
  | { readonly kind: "expression"; readonly expression: Expression }
  | { readonly kind: "empty"; readonly position: number }
  | { readonly kind: "rollup" | "cube"; readonly items: readonly Expression[]; readonly position: number }
  | { readonly kind: "sets"; readonly sets: readonly GroupingElement[]; readonly position: number };

/** WINDOW name AS (…). */
export interface WindowDefinition {
  readonly name: string;
  readonly specification: WindowSpecification;
  readonly position: number;
}

/** FOR UPDATE and its like. */
export interface LockingClause {
  readonly strength: "update" | "no key update" | "share" | "key share";
  /** OF these tables; empty means all. */
  readonly tables: readonly ObjectName[];
  readonly wait: "wait" | "nowait" | "skip locked";
  readonly position: number;
}

/** WITH [RECURSIVE] … */
export interface WithClause {
  readonly recursive: boolean;
  readonly items: readonly CommonTable[];
  readonly position: number;
}

/** One common table expression. */
export interface CommonTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** AS MATERIALIZED (true), AS NOT MATERIALIZED (false), or neither. */
  readonly materialized: boolean | null;
  readonly statement: Query | Insert | Update | Delete;
  readonly search: SearchClause | null;
  readonly cycle: CycleClause | null;
  readonly position: number;
}

/** `SEARCH DEPTH | BREADTH FIRST BY columns SET sequence`. */
export interface SearchClause {
  readonly depthFirst: boolean;
  readonly columns: readonly string[];
  readonly sequence: string;
  readonly position: number;
}

/** `CYCLE columns SET mark [TO value DEFAULT otherwise] USING path`; `true` and `false` when no values are given. */
export interface CycleClause {
  readonly columns: readonly string[];
  readonly mark: string;
  readonly value: Expression;
  readonly otherwise: Expression;
  readonly path: string;
  readonly position: number;
}

/** A name with an optional schema (and catalog, which only may name the current database). */
export interface ObjectName {
  readonly catalog: string | null;
  readonly schema: string | null;
  readonly name: string;
  readonly position: number;
}

/** `[AS] name [(columns)]`. */
export interface Alias {
  readonly name: string;
  readonly columns: readonly string[];
  readonly position: number;
}

/** An item of FROM. */
export type FromItem = TableItem | SubqueryItem | FunctionItem | JoinItem;

/** A table or view. */
export interface TableItem {
  readonly kind: "table";
  readonly name: ObjectName;
  readonly alias: Alias | null;
  /** `FROM ONLY t`. */
  readonly only: boolean;
  /** The native `FROM t ID n`: the one row with that id. */
  readonly rowId: Expression | null;
  readonly sample: TableSample | null;
  readonly position: number;
}

/** TABLESAMPLE method (…) [REPEATABLE (seed)]. */
export interface TableSample {
  readonly method: string;
  readonly args: readonly Expression[];
  readonly repeatable: Expression | null;
  readonly position: number;
}

/** A subquery (VALUES too). */
export interface SubqueryItem {
  readonly kind: "subquery";
  readonly lateral: boolean;
  readonly query: Query;
  readonly alias: Alias | null;
  readonly position: number;
}

/** A function in FROM, or several of them in ROWS FROM. */
export interface FunctionItem {
  readonly kind: "function";
  readonly lateral: boolean;
  readonly rowsFrom: boolean;
  readonly functions: readonly TableFunction[];
  readonly withOrdinality: boolean;
  readonly alias: Alias | null;
  readonly position: number;
}

/** One function of a {@link FunctionItem}; `columns` is its `AS (name type, …)` list, or empty. */
export interface TableFunction {
  readonly call: FunctionCall | SessionValue | Expression;
  readonly columns: readonly ColumnTyping[];
}

/** A name and a type: in a function's column definition list. */
export interface ColumnTyping {
  readonly name: string;
  readonly type: TypeName;
  readonly position: number;
}

/** A join of two items. Cross joins and natural joins have neither `using` nor `on`. */
export interface JoinItem {
  readonly kind: "join";
  readonly type: "inner" | "left" | "right" | "full" | "cross";
  readonly natural: boolean;
  readonly left: FromItem;
  readonly right: FromItem;
  readonly using: readonly string[] | null;
  /** `USING (…) AS alias`. */
  readonly usingAlias: string | null;
  readonly on: Expression | null;
  /** Of `(a JOIN b …) AS x`. */
  readonly alias: Alias | null;
  readonly position: number;
}

/** INSERT. */
export interface Insert {
  readonly kind: "insert";
  readonly with: WithClause | null;
  readonly table: ObjectName;
  readonly alias: string | null;
  /**
   * The native `INSERT INTO t ID n`: the new row's id (of the first row; the further ones take the ids that follow).
   */
  readonly rowId: Expression | null;
  /** Empty: all columns in order. */
  readonly columns: readonly ColumnTarget[];
  readonly overriding: "system" | "user" | null;
  /** `null` is DEFAULT VALUES. */
  readonly source: Query | null;
  readonly onConflict: OnConflict | null;
  readonly returning: readonly Target[];
  readonly position: number;
}

/** A column that is assigned; `subscripts` are the `[…]` after it (`SET a[1] = …`). */
export interface ColumnTarget {
  readonly name: string;
  readonly subscripts: readonly Expression[];
  readonly position: number;
}

/** ON CONFLICT. */
export interface OnConflict {
  /** The arbiter's columns or expressions; empty with a constraint name or without a target. */
  readonly target: readonly IndexKey[];
  readonly targetWhere: Expression | null;
  readonly constraint: string | null;
  /** `null` is DO NOTHING. */
  readonly update: { readonly assignments: readonly Assignment[]; readonly where: Expression | null } | null;
  readonly position: number;
}

/** A column or expression of an index or of a conflict target. */
export interface IndexKey {
  /** A plain column is a `column` expression of one part. */
  readonly expression: Expression;
  readonly collation: readonly string[];
  readonly operatorClass: readonly string[];
  readonly descending: boolean;
  readonly nulls: "first" | "last" | null;
  readonly position: number;
}

/**
 * `a = value` (one column) or `(a, b) = (x, y) | ROW(x, y) | (SELECT …)` (`multiple`; then `value` is a row or a
 * subquery).
 */
export interface Assignment {
  readonly columns: readonly ColumnTarget[];
  readonly multiple: boolean;
  readonly value: Expression;
  readonly position: number;
}

/** UPDATE. */
export interface Update {
  readonly kind: "update";
  readonly with: WithClause | null;
  readonly table: ObjectName;
  readonly only: boolean;
  readonly alias: string | null;
  /** The native `UPDATE t ID n`. */
  readonly rowId: Expression | null;
  readonly assignments: readonly Assignment[];
  readonly from: readonly FromItem[];
  readonly where: Expression | null;
  readonly returning: readonly Target[];
  readonly position: number;
}

/** MERGE. */
export interface Merge {
  readonly kind: "merge";
  readonly with: WithClause | null;
  readonly table: ObjectName;
  readonly alias: string | null;
  readonly source: FromItem;
  readonly on: Expression;
  readonly clauses: readonly MergeClause[];
  readonly position: number;
}

/** WHEN [NOT] MATCHED [AND condition] THEN action. */
export interface MergeClause {
  readonly matched: boolean;
  readonly condition: Expression | null;
  readonly action: MergeAction;
  readonly position: number;
}

/** What a clause of MERGE does with a row; `values` null is DEFAULT VALUES. */
export type MergeAction =
  | { readonly kind: "nothing" }
  | { readonly kind: "delete" }
  | { readonly kind: "update"; readonly assignments: readonly Assignment[] }
  | {
    readonly kind: "insert";
    readonly columns: readonly ColumnTarget[];
    readonly overriding: "system" | "user" | null;
    readonly values: readonly Expression[] | null;
  };

/** DELETE. */
export interface Delete {
  readonly kind: "delete";
  readonly with: WithClause | null;
  readonly table: ObjectName;
  readonly only: boolean;
  readonly alias: string | null;
  /** The native `DELETE FROM t ID n`. */
  readonly rowId: Expression | null;
  readonly using: readonly FromItem[];
  readonly where: Expression | null;
  readonly returning: readonly Target[];
  readonly position: number;
}
