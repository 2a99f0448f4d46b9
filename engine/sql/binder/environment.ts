/**
 * What binding and planning know of the world: the catalog, declared parameter types, lifted literals, statistics.
 *
 * An environment belongs to one statement. Nothing here is read again when the plan runs.
 */
import type { Pieces } from "../../base/pieces.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { RelationShape } from "../../catalog/definitions.ts";
import type { ColumnStatistics } from "../../storage/access/readable_table.ts";
import type { TableAnalysis } from "../../storage/table/table_analysis.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { EvaluationContext } from "../functions/definition.ts";
import type { VirtualRelation } from "../plan/plan.ts";
import type { PeekedLiterals } from "../plan/peeked_literals.ts";

/** A literal that was taken out of the statement's text, by its `literalIndex`. */
export interface AutoParameterizedLiteral {
  readonly text: string;
}

/** Estimates about a table; they may be wrong without harm. */
export interface TableStatistics {
  readonly rows: number;
  /** The rows are at shards, which look for rows in one step, or for all of a table. */
  readonly isRemote?: boolean;
  column(columnId: number): ColumnStatistics | undefined;
  /** All rows, by column, as they were when a small table was analyzed; absent or null: they are not known. */
  readonly whole?: TableAnalysis["whole"];
  /** What was found of columns that go together. */
  readonly groups?: TableAnalysis["groups"];
}

/** What a name means that is a variable: a parameter, or a record of them. */
export type VariableMeaning =
  | { readonly kind: "scalar"; readonly number: number }
  | {
    readonly kind: "record";
    readonly fields: readonly { readonly name: string; readonly number: number }[];
  };

/** What binding and planning know of the world: the catalog, declared parameter types, lifted literals, statistics. */
export interface PlanningEnvironment {
  readonly catalog: Catalog;
  readonly searchPath: readonly string[];
  /** The schema of the session's temporary tables, whether it exists or not; absent: there are none. */
  readonly temporarySchema?: string;
  /** An id that no other object has or had, `least` or higher; absent: there is no other transaction. */
  newObjectId?(least: number): number;
  /** The text that AST positions refer to, to turn them into error positions; absent: errors carry none. */
  readonly text?: string;
  /** Types that the client declared, by `$n` - 1; undefined: to be inferred. */
  readonly parameterTypes?: readonly (SqlType | undefined)[];
  /** The highest `$n`, when it is known; lifted literals are numbered behind it. */
  readonly parameterCount?: number;
  /** For expressions that must be evaluated at once, such as the arguments of EXECUTE. */
  readonly evaluation?: EvaluationContext;
  /** Literals that shall become parameters; absent: literals are constants. */
  readonly literals?: readonly AutoParameterizedLiteral[];
  /** Relations that the session provides, such as `pg_catalog.pg_class`. */
  virtualRelation?(schema: string, name: string): VirtualRelation | undefined;
  /** Names of virtual relations, for suggestions. */
  virtualRelationNames?(): readonly string[];
  /** Variables of the block around the statement, which are looked up behind columns. */
  variable?(parts: readonly string[]): VariableMeaning | undefined;
  /** Types that the columns of the query are assigned to, as far as there are any; absent: they keep theirs. */
  readonly assignedTypes?: readonly (SqlType | undefined)[];
  /**
   * Whether checks of the table's rows wait for the commit, so that its definition may not change; absent: none ever
   * do.
   */
  hasPendingChecks?(tableId: number): boolean;
  /** What the statement sees of the relations that it reads, when it is the query of a view. */
  readonly reads?: readonly RelationShape[];
  /** Hears of each user-defined function that the statement, or a view or expression in it, calls. */
  noteUserFunction?(id: number): void;
  /** Stops the statement until the module of this text is prepared; absent: it is prepared when it is needed. */
  awaitModule?(text: string): void;
  /** The statement is planned piece by piece; absent: at once. */
  readonly pieces?: Pieces;
  /** Values of {@link literals} that the plan may be made for; absent: it is made for any. */
  readonly peeked?: PeekedLiterals;
  /** Undefined: nothing is known of the table. */
  statistics?(tableId: number): TableStatistics | undefined;
}
