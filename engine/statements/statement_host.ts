/**
 * What statements without a plan of their own ask of the session that runs them: one interface per family, each with
 * what its members need and no more. A session satisfies all of them by its shape.
 */
import type { Catalog, Relation } from "../catalog/catalog.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type {
  BatchSource,
  CompiledStatement,
  ExecutionContext,
  GatherExplanation,
  KeptTables,
  StatementExecution,
} from "../execution/runtime/execution.ts";
import type { QueryMemory } from "../execution/runtime/query_memory.ts";
import type { SliceTurns } from "../host/slice_turns.ts";
import type { OpNumber, RowId } from "../operations/effect.ts";
import type { Settings } from "../settings/settings.ts";
import type { BoundCast, BoundFunction, EvaluationContext } from "../sql/functions/definition.ts";
import type { ObjectName, ParsedStatement, Statement } from "../sql/parser/ast.ts";
import type { Fragment, FragmentPoint, PlannedStatement } from "../sql/plan/plan.ts";
import type { Room, SharedTables, Spread } from "../sql/fragments/join_places.ts";
import type { PlanEnvironment } from "../sql/planner/plan_statement.ts";
import type { SpillFile } from "../host/spill_file.ts";
import type { SpaceOwner } from "../storage/temporary_space.ts";
import type { IndexFile } from "../storage/table/index_file.ts";
import type { ReadCounts } from "../storage/access/read_counts.ts";
import type { AdvisoryLocks, LockingSession } from "../transactions/advisory_locks.ts";
import type { CommitMessage } from "../transactions/commit_message.ts";
import type { StateFloor } from "../transactions/isolation_level.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { SqlType } from "../types/sql_type.ts";
import type { TextOptions } from "../types/text_io.ts";
import type { SqlValue } from "../types/value.ts";
import type { CopyElsewhere, CopyForm, CopyPlace, ParsedBatch } from "./parsed_copy.ts";
import type { CallOutcome, LargeCalls } from "./large_calls.ts";
import type { Cursors } from "./cursors.ts";
import type { MaybePromise, Notice, ResultSink, StatementOutcome, TransactionStatus } from "./outcome.ts";
import type { CachedPlan, PlanVariables } from "./plan_cache.ts";
import type { Portal } from "./portal.ts";
import type { Prepared } from "./prepared.ts";
import type { TransactionBlock } from "./transaction_block.ts";

/** For every statement, and all that DDL, COPY and DESCRIBE need. */
export interface StatementHost {
  readonly engine: StatementEngine;
  /** As the running transaction sees it. */
  readonly catalog: Catalog;
  /** The schema of the session's temporary tables. */
  readonly temporarySchema: string;
  readonly currentTransaction: Transaction | null;
  readonly block: TransactionBlock | null;
  readonly evaluation: EvaluationContext & {
    /** How values are read from and written as text. */
    readonly textOptions: TextOptions;
    readonly largeCalls: LargeCalls;
  };
  readonly settings: Settings;
  /** What the planner asks about a statement of this text, whose parameters have these types. */
  planEnvironment(text: string, types: readonly (SqlType | undefined)[]): PlanEnvironment;
  /** The relation that a statement names. Raises 42P01 with a hint. */
  resolveRelation(name: ObjectName): Relation;
  /** The same, for statements that want a table. Raises 42809 for others. */
  resolveTable(name: ObjectName): TableDefinition;
  /** The text that runs, for positions of errors. */
  readonly currentText: string;
  /** Raises 25006 when the transaction refuses writes. */
  requireWritable(command: string): void;
  /** The session is at a member of a replication group that is not asked to write: no statement may change anything. */
  readonly isFollower: boolean;
  /** Runs work within the block or in a transaction of its own, with waits and retries like any statement. */
  runWork(
    compiled: CompiledStatement,
    sink: ResultSink,
    finish: (execution: StatementExecution) => StatementOutcome,
    parameters?: readonly SqlValue[],
  ): MaybePromise<StatementOutcome>;
  /** Whether its first rows may be taken back: it writes, or may stop to fetch rows of shards. */
  mayRunAnew(plan: Pick<CachedPlan, "planned" | "compiled">, parameters?: readonly SqlValue[]): boolean;
  /** The op that must be durable before what was read may be sent; 0: it may be sent at once. */
  durableAfter(read: Pick<PlannedStatement, "tableIds">): OpNumber;
  /** Raises 57014 when the running statement has been canceled. */
  checkCanceled(): void;
  /** Adds a notice to the outcome of the running statement. */
  notice(notice: Notice): void;
  /** An outcome with the notices gathered so far. */
  outcome(tag: string, rowCount: number | null, kind: StatementOutcome["kind"]): StatementOutcome;
}

/** What of a statement and its session those who gather rows may know. */
export interface GatherContext
  extends Pick<ExecutionContext, "parameters" | "memoryLimitBytes" | "evaluation"> {
  readonly settings: Pick<Settings, "isOn" | "milliseconds" | "number" | "bytes">;
  /** What a fragment may hold at all places together. */
  readonly fragmentBytes: number;
  notice(notice: Notice): void;
}

/** The rows of a fragment. */
export interface AloneRows {
  readonly source: BatchSource;
}

/** A row that was fetched before the statement that changes it begins. */
export interface AheadRow {
  readonly tableId: number;
  readonly id: RowId;
}

/** The rows of a fragment that are read while they come. */
export interface GatheredStream {
  /** Roughly what has come. */
  readonly bytes: number;
  /** Raises what has gone wrong. */
  readonly next: BatchSource;
  /** What is called when something has come. */
  onChange(wake: () => void): void;
  /** Nobody wants them any more. */
  close(): void;
}

/** What of a running statement those may know who run parts of it over stretches of tables. */
export interface WorkerContext
  extends GatherContext, Pick<ExecutionContext, "reads" | "table" | "checkCanceled" | "monotonic"> {
  /** What is stored of tables. */
  readonly stored: SharedTables;
}

/** Threads that run parts of statements. */
export interface StatementWorkers {
  /** How many there may be. */
  readonly count: number;
  /** Whether one of the tables is large enough for them, and a statement with these settings may have any. */
  mayRead(tableIds: readonly number[], context: WorkerContext): boolean;
  /** How plans are divided for them. */
  spread(context: WorkerContext): Spread;
  /** Whether one of the fragments is worth what it costs, and workers are there; they are started if it is. */
  wants(fragments: readonly Fragment[], context: WorkerContext): boolean;
  /** The rows of a fragment, in the order of a scan. */
  stream(fragment: Fragment, context: WorkerContext, kept: KeptTables): GatheredStream;
  /** For EXPLAIN; `stream`: the one that was read, if any. */
  explain(stream: GatheredStream | null, context: WorkerContext): GatherExplanation;
  /** Has files of indexes made. Those that are not there when it resolves are to be made here. */
  buildIndexes(files: readonly IndexFile[], settings: WorkerContext["settings"]): Promise<void>;
  /** From how many bytes on a COPY is worth to be parsed by them. */
  leastCopyBytes(settings: WorkerContext["settings"]): number;
  /** Whether one of them is there that can parse; they are started if not. */
  mayParse(settings: WorkerContext["settings"]): boolean;
  /** Goes on with the parsing of a COPY; `emit` takes the batches in their order. null: none of them is there. */
  parseCopy(
    form: CopyForm,
    given: {
      readonly evaluation: EvaluationContext;
      readonly now: TextOptions["now"];
      readonly settings: WorkerContext["settings"];
      readonly place: CopyPlace;
    },
    emit: (parsed: ParsedBatch) => void,
  ): CopyElsewhere | null;
  /** Whether a call on these values takes so long that one of them is to compute it. */
  mayCall(
    called: BoundFunction | BoundCast,
    args: readonly SqlValue[],
    settings: WorkerContext["settings"],
  ): boolean;
  /** What comes of a call; null: none of them can compute it. Rejects when it is aborted. */
  call(
    given: {
      readonly called: BoundFunction | BoundCast;
      readonly args: readonly SqlValue[];
      readonly evaluation: EvaluationContext;
      yieldToLoop(): Promise<void>;
    },
    settings: WorkerContext["settings"],
    abort: AbortSignal,
  ): Promise<CallOutcome | null>;
  /** Files of tables may have been removed. */
  sweep(): void;
  close(): Promise<void>;
}

/** Where rows are, as far as statements know it. */
export interface StatementShards {
  readonly count: number;
  /** Whether the committed rows of the table are there. */
  has(tableId: number): boolean;
  /** A statement of the transaction or its commit begins: the settings say how long shards may take. */
  heed(transaction: Transaction, settings: Settings): void;
  /** Asks what they know of columns, for plans: of all tables, or of one. */
  analyze(tableId?: number): Promise<void>;
  /** Whether a statement may stop to wait for them. */
  concern(planned: PlannedStatement): boolean;
  /** The rows that a fragment gives at the shards; see `Gatherer`. */
  gather(
    transaction: Transaction,
    fragment: Fragment,
    context: GatherContext,
  ): BatchSource;
  /** What shards have memory for, as the running statement has found. */
  room(transaction: Transaction): Room;
  /** The same rows, while they come; null: they have to be kept. */
  stream(transaction: Transaction, fragment: Fragment, context: GatherContext): GatheredStream | null;
  /**
   * The same for a statement by itself that reads nothing else: at the newest state, which no transaction is needed
   * for. Rejects when it is aborted. null: there are more than `atMost`, or the fragment's tables are no longer as it
   * takes them to be.
   */
  gatherAlone(
    fragment: Fragment,
    context: GatherContext,
    limits: { readonly abort: AbortSignal; readonly atMost: number },
  ): Promise<AloneRows | null>;
  /**
   * Fetches the row that a statement changes or locks. Without a transaction it is of the newest state, and is given to
   * that of the statement. null: nothing is to be waited for, the statement finds it by itself.
   */
  fetchAhead(
    point: FragmentPoint,
    context: {
      readonly transaction: Transaction | null;
      readonly parameters: readonly SqlValue[];
      readonly settings: Settings;
      readonly abort: AbortSignal;
    },
  ): Promise<AheadRow | null> | null;
  /** What the transaction reads from now on is read as of now. */
  takeCut(transaction: Transaction): void;
  /** A statement by itself has the row, if that is still the newest one and its commit needs nothing else. */
  give(transaction: Transaction, row: AheadRow): void;
  /** See `Gatherer`. */
  explainGather(
    transaction: Transaction,
    fragment: Fragment,
    parameters: readonly SqlValue[],
  ): GatherExplanation;
}

/** The engine, as far as every statement may know it. */
export interface StatementEngine {
  readonly manager: { readonly activeCount: number; readonly catalog: Catalog };
  /** The shards that have the rows; null: they are at the engine itself. */
  readonly shards: StatementShards | null;
  /** What is stored of tables here. */
  readonly stored: SharedTables;
  /** Threads for parts of statements; null: there are none. */
  readonly workers: StatementWorkers | null;
  readonly machine: { readonly reads: ReadCounts };
  /** A new file for rows that do not fit into a statement's memory; null: the database is in memory. */
  readonly openSpillFile: ((owner: SpaceOwner) => SpillFile) | null;
  /** The memory of all statements together. */
  readonly queryMemory: QueryMemory;
  parse(text: string): readonly ParsedStatement[];
  /** Microseconds of a clock that only moves forward. */
  monotonic(): number;
  yieldToLoop(): Promise<void>;
  readonly slices: SliceTurns;
  readonly plans: {
    /** The plan of a statement that EXPLAIN shows, if it was made ahead. Raises what is wrong with it. */
    plannedAhead(
      session: Pick<StatementHost, "catalog" | "evaluation">,
      statement: Statement,
    ): PlannedStatement | undefined;
  };
}

/** For statements that change the transaction block or its modes. */
export interface BlockHost extends StatementHost {
  readonly status: TransactionStatus;
  readonly settings: Settings;
  readonly cursors: Cursors;
  readonly need: StateFloor;
  beginBlock(explicit: boolean): TransactionBlock;
  commitBlock(tag: string): MaybePromise<StatementOutcome>;
  rollbackBlock(tag: string): StatementOutcome;
  endBlock(rolledBack: boolean): void;
  /** The notices gathered since they were last taken. */
  takeNotices(): readonly Notice[];
}

/** For statements that prepare, run and explain others by name. */
export interface PreparedHost extends StatementHost {
  /** Statements of SQL PREPARE, by name. */
  readonly preparedByName: Map<string, Prepared>;
  prepareParsed(
    text: string,
    parsed: ParsedStatement | null,
    parameterTypes: readonly (SqlType | undefined)[],
  ): Prepared;
  executePrepared(
    prepared: Prepared,
    parameters: readonly SqlValue[],
    sink: ResultSink,
  ): MaybePromise<StatementOutcome>;
  /** The statement's plan, made anew when the catalog or the tables' sizes have changed. */
  refreshPlan(prepared: Prepared): CachedPlan;
}

/** For statements on cursors. */
export interface CursorHost extends PreparedHost {
  readonly cursors: Cursors;
  openPortal(
    prepared: Prepared,
    parameters: readonly SqlValue[],
    options: { readonly keepAtMost: number },
  ): Portal;
}

/** For blocks of PL/pgSQL. */
export interface ProceduralHost extends BlockHost, PreparedHost {
  /** Bytes that one statement may hold. */
  readonly memoryLimitBytes: number;
  /** Plans a statement that can name the block's variables. */
  planWithVariables(text: string, parsed: ParsedStatement, variables: PlanVariables): CachedPlan;
}

/** For statements on the session and the server themselves, and for whatever runs any statement. */
export interface SessionHost extends ProceduralHost, CursorHost, LockingSession {
  readonly engine: ServerEngine;
  readonly settings: Settings;
  readonly evaluation: StatementHost["evaluation"] & {
    /** Forgets the values that currval and lastval answer. */
    discardSequences(): void;
  };
}

/** The engine, as statements on the server need it. */
export interface ServerEngine extends StatementEngine {
  readonly lastOp: OpNumber;
  readonly advisoryLocks: Pick<AdvisoryLocks, "releaseAll">;
  readonly notifications: {
    add(message: CommitMessage, transaction: Transaction | null): void;
    committed(messages: readonly CommitMessage[], durableOp: OpNumber): void;
  };
  /** Writes all memory-resident rows to segments. */
  checkpoint(): Promise<void>;
  /**
   * Finds out how values are distributed in tables, or in some columns of one; null: in all tables. At most `target`
   * common values and steps of a histogram for each column.
   */
  analyze(
    tableIds: readonly number[] | null,
    target: number,
    columns?: ReadonlySet<number> | null,
  ): Promise<void>;
}
