/** What one running statement may read, write and ask; see ExecutionContext. */
import type {
  BatchSource,
  ExecutionContext,
  Gatherer,
  RowTransaction,
} from "../execution/runtime/execution.ts";
import { MemoryLoan, type MemoryShare } from "../execution/runtime/query_memory.ts";
import { StatementMemory } from "../execution/runtime/statement_memory.ts";
import type { BoundCast, BoundFunction, EvaluationContext } from "../sql/functions/definition.ts";
import type { Fragment } from "../sql/plan/plan.ts";
import type { SessionEvaluation } from "./evaluation.ts";
import type { SharedTables } from "../sql/fragments/join_places.ts";
import type { ReadCounts } from "../storage/access/read_counts.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import type { SpillFile } from "../host/spill_file.ts";
import type { SqlValue } from "../types/value.ts";
import type { Notice } from "../statements/outcome.ts";
import type {
  GatherContext,
  GatheredStream,
  ProceduralHost,
  StatementShards,
  StatementWorkers,
  WorkerContext,
} from "../statements/statement_host.ts";
import { keptBytes } from "../sql/fragments/kept_bytes.ts";
import { LIMITS } from "../base/limits.ts";
import { AddedRows } from "../statements/ddl/added_rows.ts";
import type { RowMaker } from "../transactions/catch_up.ts";
import { changedMeanwhile } from "../transactions/conflicts.ts";
import { SpillNeed } from "../transactions/signals.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { StreamArrivals } from "./stream_arrivals.ts";

/** The session of a running statement. */
export type RunningSession = Pick<
  ProceduralHost,
  "engine" | "settings" | "evaluation" | "checkCanceled" | "memoryLimitBytes" | "notice"
>;

/** Computes values for rows of the session's transactions, also during their commits. */
export function makerFor(
  session: RunningSession & { readonly evaluation: Pick<SessionEvaluation, "committing"> },
): (transaction: Transaction) => RowMaker {
  return (transaction) => {
    session.evaluation.committing = transaction;
    return new AddedRows(new StatementContext(session, transaction, []));
  };
}

/** One per execution. */
export class StatementContext implements ExecutionContext, WorkerContext {
  readonly evaluation: EvaluationContext;
  readonly parameters: readonly SqlValue[];
  readonly reads: ReadCounts;
  readonly writer: RowTransaction;
  readonly transaction: Transaction;
  /** The rows of the only fragment, if they were gathered before. */
  gathered: BatchSource | null = null;
  /** What it reads while it comes; undefined: nothing does, so far. */
  arrivals?: StreamArrivals;
  readonly spillFile?: () => SpillFile;
  /** See {@link ExecutionContext.spills}. */
  spills = false;
  /** See {@link ExecutionContext.hasSent}. */
  hasSent?: () => boolean;
  /** See `WaitingContext.share`. */
  share: MemoryShare | undefined = undefined;
  readonly #session: RunningSession;
  readonly #waits: boolean;
  #spillFiles: SpillFile[] | null = null;
  #memory: StatementMemory | null = null;
  #gatherer: Gatherer | null = null;
  #loan: MemoryLoan | null = null;
  #fragmentBytes: number | null = null;
  /** What workers do for it. */
  #streams: Map<Fragment, GatheredStream> | null = null;

  /** `waits`: who steps the execution waits between steps for what comes, and closes the context. */
  constructor(
    session: RunningSession,
    transaction: Transaction,
    parameters: readonly SqlValue[],
    { waits = false }: { readonly waits?: boolean } = {},
  ) {
    if (waits) {
      if (session.engine.shards !== null) this.arrivals = new StreamArrivals();
      const { openSpillFile } = session.engine;
      if (openSpillFile !== null) this.spillFile = () => this.#spill(openSpillFile(session));
    }
    this.#session = session;
    this.#waits = waits;
    this.evaluation = session.evaluation;
    this.parameters = parameters;
    this.reads = session.engine.machine.reads;
    this.writer = transaction;
    this.transaction = transaction;
    session.engine.shards?.heed(transaction, session.settings);
  }

  /** Closes what the execution reads and has written to files, and gives its memory back. */
  close(): void {
    this.arrivals?.close();
    this.share?.release();
    this.endLoan();
    if (this.#spillFiles !== null) closeAll(this.#spillFiles.splice(0));
  }

  #spill(file: SpillFile): SpillFile {
    this.#spillFiles ??= [];
    this.#spillFiles.push(file);
    return file;
  }

  get memoryLimitBytes(): number {
    return this.share?.limitBytes ?? this.#session.memoryLimitBytes;
  }

  get memory(): StatementMemory {
    return this.#memory ??= new StatementMemory(this);
  }

  /** See {@link ExecutionContext.memoryShare}. */
  memoryShare(): MemoryShare | null {
    if (!this.#waits) return null;
    const { engine } = this.#session;
    return this.share ??= engine.queryMemory.share(this.#session);
  }

  /** See {@link GatherContext.fragmentBytes}. */
  get fragmentBytes(): number {
    return this.#fragmentBytes ?? this.memoryLimitBytes / 2;
  }

  /** Takes what a fragment is going to hold; or stops the statement, so that it waits for that. */
  #lend(fragment: Fragment): void {
    if (this.lendAhead(fragment)) return;
    const share = this.memoryShare();
    // What a statement has waited for is for its fragments, too.
    if (share === null || share.hasWaited) return;
    const least = Math.min(this.memoryLimitBytes / 2, LIMITS.spillingMemoryBytes);
    throw share.need(least, this.spillFile !== undefined);
  }

  /** Takes what a fragment is going to hold. false: that is not there. */
  lendAhead({ plan }: Fragment): boolean {
    const most = this.#fragmentBytes = this.memoryLimitBytes / 2;
    const kept = keptBytes(plan);
    if (kept === 0) return true;
    const lent = (this.#loan ??= new MemoryLoan(this.#session.engine.queryMemory)).take(kept, most);
    if (lent > 0) this.#fragmentBytes = lent;
    // What is little is free.
    else if (kept <= LIMITS.freeStatementBytes) this.#fragmentBytes = LIMITS.freeStatementBytes;
    else return false;
    return true;
  }

  /** Gives back what fragments had. */
  endLoan(): void {
    this.#loan?.release();
  }

  gatherer(tableIds: readonly number[], scans: boolean): Gatherer | null {
    const { shards, workers } = this.#session.engine;
    if (shards === null) return workers === null || !scans ? null : this.#shared(workers, tableIds);
    if (!seesCommitted(this.transaction, tableIds)) return null;
    if (this.#gatherer !== null) return this.#gatherer;
    return this.#gatherer = {
      spread: {
        count: shards.count,
        broadcastBytes: this.#session.settings.bytes("broadcast_limit"),
        room: shards.room(this.transaction),
      },
      wants: () => true,
      gather: (fragment, parameters, again) => {
        if (this.gathered !== null) return this.gathered;
        const known = this.arrivals?.again(fragment) ?? null;
        if (known !== null) return known;
        this.#lend(fragment);
        return this.#gather(shards, fragment, this.#with(parameters), again);
      },
      explain: (fragment, { parameters }) => shards.explainGather(this.transaction, fragment, parameters),
    };
  }

  /** Shares the work out among threads; null: it must stay here. */
  #shared(workers: StatementWorkers, tableIds: readonly number[]): Gatherer | null {
    const { transaction } = this;
    // What is short is not to wait, and what writes to files reads its rows several times.
    if (!this.#waits || this.spills || !transaction.interruptible && !transaction.readOnly) return null;
    if (!this.#sees(tableIds)) return null;
    // Its other tables may be smaller than the one that it is divided for.
    if (this.#gatherer !== null) return this.#gatherer;
    if (!workers.mayRead(tableIds, this)) return null;
    return this.#gatherer = {
      spread: workers.spread(this),
      wants: (fragments) => workers.wants(fragments, this),
      gather: (fragment, _parameters, _again, kept) => {
        this.#lend(fragment);
        const stream = workers.stream(fragment, this, kept);
        (this.#streams ??= new Map()).set(fragment, stream);
        return (this.arrivals ??= new StreamArrivals()).add(stream);
      },
      explain: (fragment) => workers.explain(this.#streams?.get(fragment) ?? null, this),
    };
  }

  /** Whether these tables are for the transaction as they are for others; it may have made others. */
  #sees(tableIds: readonly number[]): boolean {
    const { transaction } = this;
    const { catalog } = this.#session.engine.manager;
    const isDefined = !transaction.hasDdl ||
      tableIds.every((id) => transaction.catalog.table(id) === catalog.table(id));
    return isDefined && !isWrittenOf(transaction, tableIds);
  }

  #with(parameters: readonly SqlValue[]): GatherContext {
    const { memoryLimitBytes, fragmentBytes, evaluation, settings } = this;
    const notice = (notice: Notice): void => this.notice(notice);
    return { parameters, memoryLimitBytes, fragmentBytes, evaluation, settings, notice };
  }

  #gather(
    shards: StatementShards,
    fragment: Fragment,
    gathering: GatherContext,
    again: boolean,
  ): BatchSource {
    const { arrivals, transaction } = this;
    const stream = arrivals === undefined ? null : shards.stream(transaction, fragment, gathering);
    if (stream === null || arrivals === undefined) return shards.gather(transaction, fragment, gathering);
    return again ? arrivals.keep(fragment, stream, this.memory) : arrivals.add(stream);
  }

  get settings(): GatherContext["settings"] {
    return this.#session.settings;
  }

  /** See {@link ExecutionContext.callLarge}. */
  callLarge(
    called: BoundFunction | BoundCast,
    args: readonly SqlValue[],
  ): { readonly value: SqlValue } | undefined {
    const { engine, engine: { workers }, evaluation, settings } = this.#session;
    if (!this.#waits || workers === null || !workers.mayCall(called, args, settings)) return undefined;
    const { largeCalls } = evaluation;
    const known = largeCalls.find(called, args);
    if (known !== undefined) {
      if ("error" in known) throw known.error;
      return known;
    }
    if (largeCalls.isFull || this.hasSent?.() === true) return undefined;
    const given = { called, args, evaluation, yieldToLoop: () => engine.yieldToLoop() };
    throw new SpillNeed(changedMeanwhile(), {
      spills: this.spills,
      begin: (abort, done, failed) => {
        void workers.call(given, settings, abort).then((outcome) => {
          largeCalls.keep(called, args, outcome);
          done();
        }).catch(failed);
      },
    });
  }

  notice(notice: Notice): void {
    this.#session.notice(notice);
  }

  table(tableId: number): ReadableTable {
    return this.transaction.table(tableId);
  }

  checkCanceled(): void {
    this.#session.checkCanceled();
  }

  get stored(): SharedTables {
    return this.#session.engine.stored;
  }

  monotonic(): number {
    return this.#session.engine.monotonic();
  }
}

/** Closes all of them, and raises what the first one that could not be closed has raised. */
function closeAll(files: readonly SpillFile[]): void {
  const [first, ...rest] = files;
  try {
    first?.close();
  } finally {
    if (rest.length > 0) closeAll(rest);
  }
}

/** Whether a transaction sees of these tables what is committed, and nothing of its own. */
function seesCommitted(transaction: Transaction, tableIds: readonly number[]): boolean {
  return !transaction.hasDdl && !isWrittenOf(transaction, tableIds);
}

function isWrittenOf(transaction: Transaction, tableIds: readonly number[]): boolean {
  for (const written of transaction.writtenTables) if (tableIds.includes(written)) return true;
  return false;
}
