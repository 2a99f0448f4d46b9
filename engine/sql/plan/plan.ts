/**
 * Physical plans: what the optimizer hands to the executor. Plans are immutable plain data.
 *
 * Each operator defines columns by {@link ColumnRef}. An operator may refer to columns of its inputs and, inside
 * subqueries and on the right of a nested-loop join, to columns of what surrounds it.
 */
import type { IndexDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { BoundAggregate, BoundFunction, EvaluationContext } from "../functions/definition.ts";
import type { ColumnRef, Expression } from "./expression.ts";

/** A table column that a scan makes available. */
export interface ScanColumn {
  /** Column id within the table. */
  readonly columnId: number;
  readonly output: ColumnRef;
  readonly type: SqlType;
  readonly nullable: boolean;
}

/** A comparison that zone maps can use; `value` has no reference to columns of the scan itself. */
export interface ScanPrune {
  readonly columnId: number;
  readonly operator: "=" | "<" | "<=" | ">" | ">=";
  readonly value: Expression;
}

/** What all accesses to a stored table have in common. `filter` is applied to each row; null: none. */
interface TableAccess {
  readonly table: TableDefinition;
  readonly columns: readonly ScanColumn[];
  /** Makes the row id available as an i64 column. */
  readonly rowId: ColumnRef | null;
  readonly filter: Expression | null;
  readonly rows: number;
}

/** One key of ORDER BY. */
export interface SortKey {
  readonly expression: Expression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** Bounds of an index or row-id range. Values have the key column's type. NULL as a bound selects nothing. */
export interface RangeBounds {
  readonly low: { readonly value: Expression; readonly inclusive: boolean } | null;
  readonly high: { readonly value: Expression; readonly inclusive: boolean } | null;
}

/** An aggregate call in an aggregation. */
export interface AggregateCall {
  readonly output: ColumnRef;
  readonly aggregate: BoundAggregate;
  readonly args: readonly Expression[];
  readonly distinct: boolean;
  readonly filter: Expression | null;
  readonly orderBy: readonly SortKey[];
}

/** A frame bound of a window. */
export type FrameBound =
  | { readonly kind: "unbounded_preceding" | "current_row" | "unbounded_following" }
  | { readonly kind: "preceding" | "following"; readonly offset: Expression };

/** A window function call. */
export interface WindowCall {
  readonly output: ColumnRef;
  readonly type: SqlType;
  /**
   * row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value, or an
   * aggregate.
   */
  readonly function: { readonly name: string } | { readonly aggregate: BoundAggregate };
  readonly args: readonly Expression[];
  readonly filter: Expression | null;
  readonly frame: {
    readonly mode: "rows" | "range" | "groups";
    readonly start: FrameBound;
    readonly end: FrameBound;
    readonly exclude: "no others" | "current row" | "group" | "ties";
  };
}

/**
 * A relation computed from the catalog or the session, such as pg_class, or a CTE whose rows the execution has
 * materialized.
 */
export interface VirtualRelation {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  rows(context: EvaluationContext): Iterable<readonly SqlValue[]>;
}

/** The right side of a hash join of a fragment, whose hash table the statement makes before the fragment runs. */
export interface KeptSide {
  readonly number: number;
  readonly plan: Plan;
  /** What is kept of its rows besides the keys. */
  readonly columns: Fragment["columns"];
  readonly keys: readonly Expression[];
  /** The types of what the keys are compared with. */
  readonly others: readonly SqlType[];
}

/** A plan that runs where rows are, at each place over its own; see `engine/sql/fragments`. */
export interface Fragment {
  readonly plan: Plan;
  /** What its rows give, in this order. */
  readonly columns: readonly { readonly column: ColumnRef; readonly type: SqlType }[];
  /** Plan and columns as JSON. */
  readonly text: string;
  readonly parameters: readonly { readonly index: number; readonly type: SqlType }[];
  /** Whether it may depend on the session's time zone, clock and the like. */
  readonly asksSession: boolean;
  readonly tableIds: readonly number[];
  /** As they were when it was planned. */
  readonly tables: readonly TableDefinition[];
  /** The statement reads nothing else of tables. */
  readonly isAlone: boolean;
  readonly hasExchanges: boolean;
  /** Threads share its table out. */
  readonly isShared?: true;
  /** The order in which each place gives its rows, and all places together; null: none. */
  readonly merge:
    | readonly { readonly position: number; readonly descending: boolean; readonly nullsFirst: boolean }[]
    | null;
  /** Roughly the bytes that its hash joins keep of exchanges in passes, at all places together; null: it has none. */
  readonly exchangedBytes: number | null;
  /**
   * Over stretches of a table: groups whose values of this column lie above the one and below the other of these
   * parameters are whole where they are. Absent, or NULL: none is known to be.
   */
  readonly apart?: { readonly columnId: number; readonly low: number; readonly high: number };
  /** What all rows that it looks at have in common, if anything. */
  readonly points: readonly FragmentPoint[];
}

/** The rows of a table with one value in a column; `columnId` null: with one row id. */
export interface FragmentPoint {
  readonly tableId: number;
  readonly columnId: number | null;
  /** Of the column. */
  readonly type: SqlType;
  /** A parameter or a constant. */
  readonly value: Expression;
}

export type JoinKind = "inner" | "left" | "right" | "full" | "semi" | "anti";

/** A query operator. `rows` is the optimizer's estimate. */
export type Plan =
  | (TableAccess & { readonly kind: "table_scan"; readonly prune: readonly ScanPrune[] })
  /** Rows by id: one for each distinct non-null value of `ids`. */
  | (TableAccess & { readonly kind: "row_lookup"; readonly ids: readonly Expression[] })
  | (TableAccess & { readonly kind: "row_range"; readonly bounds: RangeBounds; readonly backward: boolean })
  /** Rows by index: equality on `prefix`, then a range on the next key column; output is in index order. */
  | (TableAccess & {
    readonly kind: "index_scan";
    readonly index: IndexDefinition;
    readonly prefix: readonly Expression[];
    readonly bounds: RangeBounds;
    readonly backward: boolean;
  })
  | {
    readonly kind: "virtual_scan";
    readonly relation: VirtualRelation;
    /** Position in the relation's columns, and the output. */
    readonly columns: readonly {
      readonly position: number;
      readonly output: ColumnRef;
      readonly type: SqlType;
    }[];
    readonly filter: Expression | null;
    readonly rows: number;
  }
  | {
    readonly kind: "values";
    readonly outputs: readonly ColumnRef[];
    readonly types: readonly SqlType[];
    readonly list: readonly (readonly Expression[])[];
    readonly rows: number;
  }
  /** A set-returning function in FROM or in the select list; several advance in step, the shorter filled with NULL. */
  | {
    readonly kind: "function_scan";
    /** null: a constant source of one row. With an input, the functions run for each input row (ProjectSet). */
    readonly input: Plan | null;
    readonly functions: readonly {
      readonly function: BoundFunction;
      readonly args: readonly Expression[];
      readonly outputs: readonly ColumnRef[];
    }[];
    readonly ordinality: ColumnRef | null;
    readonly rows: number;
  }
  | { readonly kind: "filter"; readonly input: Plan; readonly condition: Expression; readonly rows: number }
  | {
    readonly kind: "project";
    readonly input: Plan;
    readonly outputs: readonly { readonly output: ColumnRef; readonly expression: Expression }[];
    readonly rows: number;
  }
  /**
   * `left` is probed, `right` is built. Keys are equal by SQL `=`; NULL keys never match. `residual` is over both
   * sides.
   */
  | {
    readonly kind: "hash_join";
    readonly join: JoinKind;
    readonly left: Plan;
    readonly right: Plan;
    readonly leftKeys: readonly Expression[];
    readonly rightKeys: readonly Expression[];
    readonly residual: Expression | null;
    /**
     * For anti joins that stand for NOT IN: a NULL on the right, or a NULL left key with a non-empty right, rejects.
     */
    readonly nullAware: boolean;
    /** Semi and anti joins that are not null-aware: `left` is built instead and `right` marks its rows. */
    readonly keepsLeft?: true;
    readonly rows: number;
  }
  /**
   * For each left row the right plan runs; it may refer to left columns (index join, LATERAL). Not right or full with
   * such references.
   */
  | {
    readonly kind: "nested_loop_join";
    readonly join: JoinKind;
    readonly left: Plan;
    readonly right: Plan;
    readonly condition: Expression | null;
    readonly correlated: boolean;
    /** Of semi and anti joins: says whether a left row has a partner when so many have been looked up. */
    readonly otherwise?: { readonly after: number; readonly test: Expression };
    readonly rows: number;
  }
  | {
    readonly kind: "aggregate";
    readonly input: Plan;
    /** `isDependent`: the groups without that mark decide this one, so that it need not be compared. */
    readonly groups: readonly {
      readonly output: ColumnRef;
      readonly expression: Expression;
      readonly isDependent?: true;
    }[];
    readonly aggregates: readonly AggregateCall[];
    /** Indexes into `groups` for each grouping set; null: one set of all. No groups and no sets: exactly one row. */
    readonly groupingSets: readonly (readonly number[])[] | null;
    /** GROUPING(…) outputs: bit mask over group indexes. */
    readonly groupings: readonly { readonly output: ColumnRef; readonly groups: readonly number[] }[];
    /** `partial`: over a part of the rows; `final`: over what comes of the parts. */
    readonly stage?: "partial" | "final";
    readonly rows: number;
  }
  | {
    readonly kind: "window";
    readonly input: Plan;
    readonly partition: readonly Expression[];
    readonly order: readonly SortKey[];
    readonly calls: readonly WindowCall[];
    readonly rows: number;
  }
  /** `limit`: only the first so many rows are needed (top-N); null: all. */
  | {
    readonly kind: "sort";
    readonly input: Plan;
    readonly keys: readonly SortKey[];
    readonly limit: Expression | null;
    readonly rows: number;
  }
  | {
    readonly kind: "limit";
    readonly input: Plan;
    readonly limit: Expression | null;
    readonly offset: Expression | null;
    readonly withTies: readonly SortKey[] | null;
    readonly rows: number;
  }
  /** First row of each distinct combination of `keys` (all output columns for DISTINCT), in input order. */
  | {
    readonly kind: "distinct";
    readonly input: Plan;
    readonly keys: readonly Expression[];
    /** For DISTINCT ON: its rows are wanted in the order of the input. */
    readonly keepsOrder?: true;
    /** Over a part of the rows: it may give a row again rather than remember all. */
    readonly isPartial?: true;
    readonly rows: number;
  }
  /** UNION/INTERSECT/EXCEPT [ALL]; inputs name their columns position by position. */
  | {
    readonly kind: "set_operation";
    readonly operation: "union" | "intersect" | "except";
    readonly all: boolean;
    readonly inputs: readonly { readonly plan: Plan; readonly columns: readonly ColumnRef[] }[];
    readonly outputs: readonly ColumnRef[];
    readonly types: readonly SqlType[];
    readonly rows: number;
  }
  /** Runs `definitions` (each once, on first use) for `body`. Recursive ones iterate over their working table. */
  | {
    readonly kind: "with";
    readonly definitions: readonly {
      readonly id: number;
      readonly columns: readonly ColumnRef[];
      readonly types: readonly SqlType[];
      readonly plan: Plan;
      /** WITH RECURSIVE: the recursive term and its columns; `all` false removes duplicates (UNION). */
      readonly recursive: {
        readonly plan: Plan;
        readonly columns: readonly ColumnRef[];
        readonly all: boolean;
      } | null;
    }[];
    readonly body: Plan;
    readonly rows: number;
  }
  /** Rows of a definition in an enclosing `with`; `working`: the recursive term's previous iteration. */
  | {
    readonly kind: "with_scan";
    readonly id: number;
    readonly working: boolean;
    readonly outputs: readonly ColumnRef[];
    readonly columns: readonly ColumnRef[];
    readonly rows: number;
  }
  /** The rows that a fragment gives at all places. */
  | {
    readonly kind: "gather";
    readonly fragment: Fragment;
    /** Parameters of the fragment beside those of the statement: subqueries, which are computed before. */
    readonly values: readonly { readonly index: number; readonly expression: Expression }[];
    /** Sides of the fragment's hash joins that are kept before, for all threads; the outermost join's comes first. */
    readonly kept: readonly KeptSide[];
    readonly rows: number;
  }
  /** Within a fragment: the rows that all places send to this one. */
  | {
    readonly kind: "exchange";
    /** Tells it from the others of its fragment. */
    readonly number: number;
    /** Gives what this place sends. */
    readonly input: Plan;
    /** What travels. */
    readonly columns: readonly { readonly column: ColumnRef; readonly type: SqlType }[];
    /**
     * Positions of columns whose values say which place a row goes to, and the type that each is compared with;
     * null: each row goes to all places.
     */
    readonly keys: readonly { readonly position: number; readonly other: SqlType }[] | null;
    /** Its rows may come in several passes, those of some keys in each. */
    readonly inPasses: boolean;
    /** The rows do not travel: a hash table of them is in memory that threads share. See `KeptSide`. */
    readonly isKept?: true;
    readonly rows: number;
  }
  /** SELECT … FOR UPDATE and its like: locks rows (by row-id column) on their way up. */
  | {
    readonly kind: "lock_rows";
    readonly input: Plan;
    readonly tables: readonly LockedTable[];
    readonly rows: number;
  }
  | ModifyPlan;

/** How strong row locks are, the weakest first. */
export const LOCK_STRENGTHS = ["key share", "share", "no key update", "update"] as const;

/** A table whose rows are locked. */
export interface LockedTable {
  readonly table: TableDefinition;
  readonly rowId: ColumnRef;
  readonly strength: (typeof LOCK_STRENGTHS)[number];
  readonly wait: "wait" | "nowait" | "skip locked";
}

/** A CHECK constraint bound over the new row's columns. */
export interface BoundCheck {
  readonly name: string;
  readonly condition: Expression;
}

/** What INSERT … ON CONFLICT does. */
export interface OnConflict {
  /** The index whose duplicate is meant ("row_id" for the integer primary key); null: any (only DO NOTHING). */
  readonly arbiters: readonly (number | "row_id")[] | null;
  readonly action: "nothing" | "update";
  /** For DO UPDATE: the existing row's columns (by table column position), the excluded ones, and what to set. */
  readonly existing: readonly ColumnRef[];
  readonly excluded: readonly ColumnRef[];
  /** By table column position; null: keeps its value. */
  readonly assignments: readonly (Expression | null)[];
  readonly where: Expression | null;
}

/**
 * INSERT, UPDATE, DELETE. Rows in and out are in the order of the table's live columns. `newRow` and `oldRow` name
 * the columns (by position) that checks, generated columns and RETURNING refer to.
 */
export type ModifyPlan =
  | {
    readonly kind: "insert";
    readonly table: TableDefinition;
    readonly source: Plan;
    /**
     * By table column position, over the source's columns: the given value, the default, or NULL. Already cast to the
     * column's type.
     */
    readonly values: readonly Expression[];
    /** The explicit `ID n`, over the source's columns; null: the primary key column or the table's counter decides. */
    readonly id: Expression | null;
    readonly newRow: readonly ColumnRef[];
    /** The row's id as RETURNING's `rowid`. */
    readonly rowId: ColumnRef;
    /** GENERATED … STORED columns by position, over newRow; computed after `values`. */
    readonly generated: readonly { readonly position: number; readonly expression: Expression }[];
    readonly checks: readonly BoundCheck[];
    readonly onConflict: OnConflict | null;
    /** Over newRow and rowId; null: no RETURNING. */
    readonly returning: readonly { readonly output: ColumnRef; readonly expression: Expression }[] | null;
    readonly rows: number;
  }
  | {
    readonly kind: "update";
    /** Of MERGE: 21000 when a row comes a second time. */
    readonly refusesRepeats?: true;
    readonly table: TableDefinition;
    /** Yields the rows to change, each at most once used: `rowId` and `oldRow` are its columns. */
    readonly source: Plan;
    readonly rowId: ColumnRef;
    readonly oldRow: readonly ColumnRef[];
    /** By table column position, over the source's columns; null: keeps its value. */
    readonly assignments: readonly (Expression | null)[];
    readonly newRow: readonly ColumnRef[];
    readonly generated: readonly { readonly position: number; readonly expression: Expression }[];
    readonly checks: readonly BoundCheck[];
    /** Over newRow, rowId and the source's columns. */
    readonly returning: readonly { readonly output: ColumnRef; readonly expression: Expression }[] | null;
    readonly rows: number;
  }
  | {
    readonly kind: "delete";
    /** Of MERGE: 21000 when a row comes a second time. */
    readonly refusesRepeats?: true;
    readonly table: TableDefinition;
    readonly source: Plan;
    readonly rowId: ColumnRef;
    readonly oldRow: readonly ColumnRef[];
    /** Over oldRow, rowId and the source's columns. */
    readonly returning: readonly { readonly output: ColumnRef; readonly expression: Expression }[] | null;
    readonly rows: number;
  };

/** A column of a statement's result. */
export interface ResultColumn {
  readonly name: string;
  readonly column: ColumnRef;
  readonly type: SqlType;
  /** The table column it comes from, for RowDescription; 0 when it is an expression. */
  readonly tableId: number;
  readonly columnId: number;
}

/** A planned query or modification. */
export interface PlannedStatement {
  readonly plan: Plan;
  /** Empty for a modification without RETURNING. */
  readonly columns: readonly ResultColumn[];
  /** By parameter index; lifted literals come after the `$n`. */
  readonly parameterTypes: readonly SqlType[];
  readonly command: "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "MERGE";
  /** true: nothing is written, nothing locked, no sequence advanced. */
  readonly readOnly: boolean;
  /** One aggregate alone without GROUP BY: HTTP answers `value` instead of `rows`. */
  readonly singleAggregate: boolean;
  /**
   * What runs before `plan`, in order: the CTEs of a WITH that changes data. The execution materializes each one's
   * rows.
   */
  readonly parts?: readonly { readonly relation: VirtualRelation; readonly planned: PlannedStatement }[];
  /** Ids of the tables read or written; for durability waits and invalidation. */
  readonly tableIds: readonly number[];
}
