/**
 * What the database knows about its own objects. All definitions are immutable plain data that survive a trip
 * through JSON; a DDL statement produces new ones.
 *
 * Object ids come from one counter and are never reused; user objects start at {@link FIRST_USER_OBJECT_ID}. Column
 * ids are per table, start at 1 and are never reused either, so that stored data can name a column for ever.
 */
import type { SqlType } from "../types/sql_type.ts";
import type { StoredValue } from "../types/stored_value.ts";
import type { ExternalSourceDefinition } from "./external_source.ts";

/** Ids below this belong to built-in objects (as in PostgreSQL). */
export const FIRST_USER_OBJECT_ID = 16384;

/** A column of a table. */
export interface ColumnDefinition {
  /** Stable number within the table, from 1 (the catalog's attnum). */
  readonly id: number;
  readonly name: string;
  readonly type: SqlType;
  readonly notNull: boolean;
  /** Canonical SQL text of the DEFAULT expression, or null. */
  readonly defaultText: string | null;
  readonly identity: "always" | "by default" | null;
  /** Canonical text of GENERATED ALWAYS AS (…) STORED, or null. */
  readonly generatedText: string | null;
  /** The sequence that serial and identity columns own. */
  readonly sequenceId: number | null;
  /** What rows written before this column was added hold in it (the DEFAULT at that time). */
  readonly missingValue: StoredValue;
  /** A column that only the system sees, such as the key of an expression index; never part of `*`. */
  readonly hidden: boolean;
  readonly comment: string | null;
  /** How many common values ANALYZE looks for; absent: as `default_statistics_target` says. */
  readonly statisticsTarget?: number;
}

/** A column with a name and a type, and of its other properties those that are given. */
export function plainColumn(
  id: number,
  name: string,
  type: SqlType,
  others: Partial<ColumnDefinition> = {},
): ColumnDefinition {
  return {
    id,
    name,
    type,
    notNull: false,
    defaultText: null,
    identity: null,
    generatedText: null,
    sequenceId: null,
    missingValue: null,
    hidden: false,
    comment: null,
    ...others,
  };
}

/** What happens to referencing rows. */
export type ReferentialAction = "no action" | "restrict" | "cascade" | "set null" | "set default";

/** A named rule of a table. Columns are column ids. */
export type ConstraintDefinition =
  | {
    readonly kind: "primary_key";
    readonly id: number;
    readonly name: string;
    readonly columns: readonly number[];
    readonly indexId: number | null;
    readonly comment?: string;
  }
  | {
    readonly kind: "unique";
    readonly id: number;
    readonly name: string;
    readonly columns: readonly number[];
    readonly indexId: number;
    readonly nullsNotDistinct: boolean;
    readonly comment?: string;
  }
  | {
    readonly kind: "check";
    readonly id: number;
    readonly name: string;
    readonly text: string;
    readonly columns: readonly number[];
    readonly comment?: string;
  }
  | {
    readonly kind: "foreign_key";
    readonly id: number;
    readonly name: string;
    readonly columns: readonly number[];
    readonly referencedTableId: number;
    readonly referencedColumns: readonly number[];
    readonly onDelete: ReferentialAction;
    readonly onUpdate: ReferentialAction;
    /** Columns that SET NULL/DEFAULT touches; empty: all of `columns`. */
    readonly onDeleteColumns: readonly number[];
    readonly match: "simple" | "full";
    readonly deferrable: boolean;
    readonly initiallyDeferred: boolean;
    readonly comment?: string;
  };

/** One key part of an index. */
export interface IndexColumn {
  readonly columnId: number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** A secondary index. Every index is sorted; `kind` is what the user wrote and is shown in the catalog. */
export interface IndexDefinition {
  readonly id: number;
  readonly name: string;
  readonly kind: "plain" | "range";
  readonly unique: boolean;
  readonly nullsNotDistinct: boolean;
  readonly columns: readonly IndexColumn[];
  /** INCLUDE columns: recorded, not stored apart. */
  readonly includes: readonly number[];
  /** Canonical text of a partial index's predicate, or null. */
  readonly predicateText: string | null;
  readonly comment: string | null;
}

/** What is to be found out of columns together. */
export type StatisticsKind = "ndistinct" | "dependencies" | "mcv";

/** Columns that ANALYZE looks at together. */
export interface StatisticsDefinition {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly kinds: readonly StatisticsKind[];
  readonly columns: readonly number[];
  /** How many common combinations ANALYZE looks for; absent: as many as values of columns. */
  readonly target?: number;
  readonly comment?: string;
}

/** When a trigger fires. */
export type TriggerEvent = "insert" | "delete" | "update";

/** What a trigger does; expressions are canonical texts over `new` and `old`. */
export type TriggerActionDefinition =
  | {
    readonly kind: "set";
    readonly assignments: readonly { readonly columnId: number; readonly text: string }[];
  }
  | { readonly kind: "reject"; readonly message: string }
  /** A call; its result is not used. */
  | { readonly kind: "execute"; readonly text: string };

/** A BEFORE … FOR EACH ROW trigger of a table. */
export interface TriggerDefinition {
  readonly id: number;
  readonly name: string;
  readonly events: readonly TriggerEvent[];
  /** Column ids of UPDATE OF; empty: every UPDATE. */
  readonly updateColumns: readonly number[];
  readonly whenText: string | null;
  readonly action: TriggerActionDefinition;
  readonly enabled: boolean;
  readonly comment?: string;
}

/** Where a user wants the rows of a table to be among shards. */
export type ShardBy =
  /** A copy at each shard. */
  | { readonly kind: "all" }
  /** By the values of a column, hashed with the id of a table: that of the tables whose rows are to lie beside them. */
  | { readonly kind: "column"; readonly columnId: number; readonly rootId: number };

/** A table. */
export interface TableDefinition {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  /** Live columns in display order. */
  readonly columns: readonly ColumnDefinition[];
  readonly nextColumnId: number;
  /** The integer primary-key column that is the row id, or null when ids come from the table's own counter. */
  readonly rowIdColumn: number | null;
  readonly constraints: readonly ConstraintDefinition[];
  readonly indexes: readonly IndexDefinition[];
  readonly triggers: readonly TriggerDefinition[];
  /** Absent: there are none. */
  readonly statistics?: readonly StatisticsDefinition[];
  /** Storage parameters as written (`fillfactor` …): recorded for the catalog, without effect. */
  readonly options: Readonly<Record<string, string>>;
  readonly comment: string | null;
  /** Absent: rows are placed by their ids. Without shards it is kept for the day when the table moves to some. */
  readonly shardBy?: ShardBy;
  /** Only of an external source: where REFRESH gets its rows. */
  readonly external?: ExternalSourceDefinition;
}

/** A sequence; its current value is state outside of the catalog. */
export interface SequenceDefinition {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly type: "i16" | "i32" | "i64";
  readonly start: number | bigint;
  readonly increment: number | bigint;
  readonly minimum: number | bigint;
  readonly maximum: number | bigint;
  readonly cycle: boolean;
  readonly cache: number;
  readonly ownedBy: { readonly tableId: number; readonly columnId: number } | null;
  readonly comment?: string;
}

/** The columns of a relation as the query of a view knows them, whatever the relation has got since. */
export interface RelationShape {
  readonly relationId: number;
  readonly columns: readonly { readonly id: number; readonly name: string }[];
}

/** A view: its columns and the canonical text of its query. */
export interface ViewDefinition {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly text: string;
  readonly columns: readonly { readonly name: string; readonly type: SqlType; readonly comment?: string }[];
  readonly comment: string | null;
  /** What the query can see of the relations that it reads; absent in views of older versions: all of them. */
  readonly reads?: readonly RelationShape[];
}

/** A schema (namespace). */
export interface SchemaDefinition {
  readonly id: number;
  readonly name: string;
  readonly comment?: string;
}

/** An enumerated type; values are stored and compared as the numbers of their labels, which ascend. */
export interface EnumDefinition {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly numbers: readonly number[];
  /** Labels that have been renamed: defaults, views and the like are kept as text and may still name them. */
  readonly former?: readonly { readonly label: string; readonly number: number }[];
  readonly comment?: string;
}

/** A parameter of a user-defined function. */
export interface FunctionParameterDefinition {
  readonly name: string | null;
  readonly type: SqlType;
}

/** A function that a module of WebAssembly implements; a name may have several, which differ in their types. */
export interface UserFunctionDefinition {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly parameters: readonly FunctionParameterDefinition[];
  readonly returns: SqlType;
  /** NULL for an argument gives NULL without a call. */
  readonly strict: boolean;
  /** The module's bytes in base64. */
  readonly module: string;
  /** The name of the module's export. */
  readonly exportName: string;
  /** Instructions that one call may take. */
  readonly gas: number;
  readonly comment?: string;
}
