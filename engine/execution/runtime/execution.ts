/**
 * The contract between the session, which owns time and transactions, and compiled plans, which are synchronous.
 *
 * A compiled statement is started with a context and then stepped: each step works for about a millisecond, so that
 * the session can yield to other connections, cancel, or wait for a slow reader between steps. Most statements finish
 * in their first step.
 */
import type { DatabaseError } from "../../base/errors.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { SpillFile } from "../../host/spill_file.ts";
import type { ReadableTable } from "../../storage/access/readable_table.ts";
import type { ReadCounts } from "../../storage/access/read_counts.ts";
import type { BoundCast, BoundFunction, EvaluationContext } from "../../sql/functions/definition.ts";
import type { Fragment, Plan, VirtualRelation } from "../../sql/plan/plan.ts";
import type { OperatorProfile } from "../../sql/planner/explain_format.ts";
import type { Spread } from "../../sql/fragments/join_places.ts";
import type { SqlValue } from "../../types/value.ts";
import type { MemoryShare } from "./query_memory.ts";
import type { ResultWriter } from "./result_writer.ts";
import type { RowBatch, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import type { LockMode } from "../../transactions/lock_table.ts";
import type { HeldKey } from "../../transactions/write_set.ts";

/** What row changes of a statement leave to do, in three turns; each yields between its morsels. */
export interface UnfinishedChanges {
  runActions(): Generator<void, void, void>;
  checkParents(): Generator<void, void, void>;
  checkChildren(): Generator<void, void, void>;
}

/** What a running statement may read and write. Writes go to the transaction's write set. */
export interface ExecutionContext {
  readonly evaluation: EvaluationContext;
  /** By parameter index, in the parameter's type. */
  readonly parameters: readonly SqlValue[];
  /** The table as this transaction sees it, its own writes included. */
  table(tableId: number): ReadableTable;
  /**
   * Runs fragments where rows are; null: the transaction sees these tables otherwise than others do. `scans`: the
   * statement may read whole tables.
   */
  gatherer?(tableIds: readonly number[], scans: boolean): Gatherer | null;
  /** What it reads while it comes, and whether more is waited for; absent: all has come before a step. */
  readonly arrivals?: { readonly isStarved: boolean };
  /** In a fragment: what comes of an exchange. */
  exchange?(number: number): BatchSource;
  /** In a fragment: what was kept before it. */
  kept?(number: number): object | undefined;
  /** Where scans and look-ups are counted. */
  readonly reads: ReadCounts;
  readonly writer: RowTransaction;
  /** Only in a statement of several parts, each of which reads what was there before the statement. */
  readonly before?: {
    /** The table as it was; undefined: as `table` has it. */
    table(tableId: number): ReadableTable | undefined;
    /** Leaves the referential actions and checks of a part's changes to the end of the statement. */
    leave(changes: UnfinishedChanges): void;
    /** Notes that the statement changes a row. false: it has changed it before. */
    meet(tableId: number, id: RowId): boolean;
  };
  /** Only in a statement of several parts: what those before the running one have left for it. */
  readonly materialized?: MaterializedRows;
  /** Raises 57014 when the statement has been canceled or has timed out; cheap. */
  checkCanceled(): void;
  /** Microseconds of a clock that only moves forward; it bounds how long a step takes, never what it answers. */
  monotonic(): number;
  /** Bytes that sorts, hash tables and materialized results of this statement may hold before 53200. */
  readonly memoryLimitBytes: number;
  /** A new file for rows that do not fit into the limit; absent: there is nowhere to put them. */
  readonly spillFile?: () => SpillFile;
  /**
   * The statement has failed for want of memory before: hash tables are made of one part of the rows after the other.
   */
  readonly spills?: boolean;
  /** Where executions that share the limit count what they hold. */
  readonly memory?: MemoryCount;
  /** What the statement has of the memory of all statements; absent or null: that does not concern it. */
  memoryShare?(): MemoryShare | null;
  /**
   * The value of a call on large values that another thread has computed; the statement is stopped by a signal, and
   * runs again, when that is still to be done. undefined, or absent: it is computed here.
   */
  callLarge?(
    called: BoundFunction | BoundCast,
    args: readonly SqlValue[],
  ): { readonly value: SqlValue } | undefined;
  /** Whether rows have been sent, behind which it cannot begin anew; absent: it can. */
  hasSent?(): boolean;
}

/** What executions hold; see `StatementMemory`. */
export interface MemoryCount {
  readonly bytes: number;
  readonly canDouble: boolean;
  charge(bytes: number): void;
  /** The same for what nothing divides: parts of one value. */
  chargeValue(bytes: number): void;
}

/** Gives batches one after the other; null: the next one is still to come; undefined: all have come. */
export type BatchSource = () => GatheredBatch | null | undefined;

/** The kept sides of a fragment, by their numbers: each a `KeptTable`. */
export type KeptTables = ReadonlyMap<number, object>;

/** Runs fragments at all places. */
export interface Gatherer {
  readonly spread: Spread;
  /** Whether it is worth while to run one of these fragments there. */
  wants(fragments: readonly Fragment[]): boolean;
  /**
   * The rows that have come; the statement is stopped by a signal, and runs again, when they are still to come and
   * cannot be waited for. `parameters`: those of the statement, and what was computed for the fragment; `again`: they
   * are read more than once; `kept`: what threads that share a table out have besides.
   */
  gather(
    fragment: Fragment,
    parameters: readonly SqlValue[],
    again: boolean,
    kept: KeptTables,
  ): BatchSource;
  /** For EXPLAIN: where a fragment runs, and what came of it when it was gathered last. */
  explain(fragment: Fragment, context: ExecutionContext): GatherExplanation;
}

/** Where a fragment runs. */
export interface GatherExplanation {
  readonly places: readonly number[];
  /** Of how many. */
  readonly count: number;
  /** What says that it is one place only: a column, the key, or that each place has a copy; null: nothing does. */
  readonly route: string | null;
  /** By place; null: it has not run. */
  readonly work: readonly PlaceWork[] | null;
  /** The places are workers, which take morsels as they come. */
  readonly isByMorsels?: true;
}

/** What one place has done for a gather. */
export interface PlaceWork {
  readonly rows: number;
  readonly bytes: number;
  readonly batches: number;
  /** From the request to its last answer. */
  readonly microseconds: number;
  /** Of a worker: how many morsels it has taken, and the time is what it has worked. */
  readonly morsels?: number;
}

/** Rows that a fragment gives, by column, as they are stored. */
export interface GatheredBatch {
  readonly rowCount: number;
  readonly columns: readonly ArrayLike<StoredValue>[];
}

/** The rows of CTEs that have run. */
export type MaterializedRows = ReadonlyMap<VirtualRelation, Iterable<readonly SqlValue[]>>;

/**
 * Writes of one transaction. Each raises an internal retry signal when another open transaction holds the row or key;
 * the session then rolls the statement back, waits, and runs it again.
 */
export interface RowTransaction {
  /** The catalog as this transaction sees it, its own DDL included. */
  readonly catalog: Catalog;
  /** Runs a check just before the commit, which fails when it raises an error; absent: not served. */
  readonly beforeCommit?: (check: () => void, constraintId: number) => void;
  /** Notes that changes of a table concern a constraint whose checks wait for the commit. */
  readonly notePending?: (tableId: number, constraintId: number) => void;
  /** What SET CONSTRAINTS has said of a deferrable constraint. */
  readonly constraintMode?: (constraintId: number) => "deferred" | "immediate" | undefined;
  /** The table as it is now, whatever is written to it later; absent: not served. */
  readonly tableNow?: (tableId: number) => ReadableTable;
  /** The first of `count` consecutive new ids from the table's own counter; absent: not served. */
  readonly reserveRowIds?: (tableId: number, count: number) => RowId;
  /**
   * Takes the row lock; `wait` and `mode` as in FOR UPDATE, the strongest unless it is given. Answers false when
   * `skip locked` applies.
   */
  lockRow(tableId: number, id: RowId, wait: "wait" | "nowait" | "skip locked", mode?: LockMode): boolean;
  /**
   * Raises a wait where another transaction takes a key (null: the id) from the row that has it: whether it is free
   * is known later. Absent: nothing else runs beside it.
   */
  readonly awaitHolder?: (table: TableDefinition, id: RowId, key: HeldKey | null) => void;
  /** The table in the newest state with this transaction's own rows, for constraints; absent: as it sees it. */
  readonly newestTable?: (tableId: number) => ReadableTable;
  /** The same, nothing noted: for rows that are kept from going as soon as they are found; absent: as it sees it. */
  readonly referencedTable?: (tableId: number) => ReadableTable;
  /** Keeps a row that a foreign key refers to until the transaction ends; absent: nothing else runs beside it. */
  readonly keepReferenced?: (tableId: number, id: RowId) => void;
  /** What it has read is not compared with what others write: checks that hold no lock are repeated at the commit. */
  readonly repeatsChecks?: boolean;
  /** A new id from the table's own counter. */
  nextRowId(tableId: number): RowId;
  /**
   * Raises 23505 (naming the constraint) when the id or a unique key exists; NOT NULL and CHECK are the caller's
   * work.
   */
  create(tableId: number, id: RowId, values: StoredRow): void;
  update(tableId: number, id: RowId, values: StoredRow): void;
  /** The same for values that keep the row's id and unique keys: where many come, {@link endRows} ends them. */
  updateKeepingKeys(tableId: number, id: RowId, values: StoredRow): void;
  /** As {@link create}, for one of many rows: 23505 may come with a later one, or with {@link endRows}. */
  createOneOfMany(tableId: number, id: RowId, values: StoredRow): void;
  /** The rows that the statement changes or creates in this way have all come. */
  endRows(): void;
  delete(tableId: number, id: RowId): void;
  /** Rows that were deleted are the ones that are created with other ids; absent: nobody wants to know. */
  readonly moved?: (tableId: number, moves: Iterable<{ readonly from: RowId; readonly to: RowId }>) => void;
  /**
   * Where rows bring their ids, or the table has unique indexes, `checkBatch` must have been run to its end and found
   * nothing.
   */
  createBatch(tableId: number, batch: RowBatch): void;
  /** Locks ids and keys of a batch, and finds, in morsels, its first row of which one is taken; absent: not served. */
  readonly checkBatch?: (
    tableId: number,
    batch: RowBatch,
  ) => Generator<void, { readonly row: number; readonly error: DatabaseError } | null>;
  /**
   * true: rows of a batch may be changed, and their table altered, later in the same transaction. Absent: batches are
   * only used when nothing can come after them.
   */
  readonly changesBatches?: boolean;
  truncate(tableId: number): void;
}

/** A compiled query or modification; cached and shared by all sessions. */
export interface CompiledStatement {
  /** Begins an execution; does no work yet. */
  start(context: ExecutionContext): StatementExecution;
  /** The generated JavaScript, readable; EXPLAIN (CODE) prints it. The context's tables say what scans are made for. */
  source(context: ExecutionContext): string;
  /** The plan that runs in this context; absent: the planned one. */
  plan?(context: ExecutionContext): Plan;
  /** All that it reads in this context, if that is the rows of one fragment: they can be gathered before it starts. */
  soleFragment?(context: ExecutionContext): Fragment | null;
  /** What it reads in this context comes while it runs: it never stops to run anew. Absent: it may. */
  streams?(context: ExecutionContext): boolean;
}

/** One running statement. */
export interface StatementExecution {
  /** Works for about a millisecond and writes the rows that come of it, always to the same writer. true: finished. */
  step(writer: ResultWriter): boolean;
  /** Rows returned, inserted, updated or deleted so far. */
  readonly rowCount: number;
  /** The id assigned by a single-row INSERT, for the HTTP answer. */
  readonly insertedId: RowId | null;
  /** EXPLAIN ANALYZE: what each operator did, in plan order; empty unless asked for. */
  readonly profile: readonly OperatorProfile[];
}
