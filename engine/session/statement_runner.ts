/**
 * Runs one compiled statement in a transaction: steps it, yields to other connections, waits for locks and slow
 * readers, and runs it again when its snapshot turned out to be too old.
 *
 * A statement that finishes in its first piece (the usual case) runs without a promise. While a statement waits or
 * yields, everything it depends on may change; that is why it then runs in an interruptible transaction.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { assert } from "../base/assert.ts";
import { gas } from "../base/gas.ts";
import type { CompiledStatement, StatementExecution } from "../execution/runtime/execution.ts";
import type { MemoryShare } from "../execution/runtime/query_memory.ts";
import { turnWork } from "../host/turn_work.ts";
import { planFacts } from "../execution/codegen/plan_analysis.ts";
import type { Plan } from "../sql/plan/plan.ts";
import { AwaitedLock } from "../transactions/awaited_lock.ts";
import { deadlockOf } from "../transactions/lock_table.ts";
import { takeLosses } from "../transactions/loss_locks.ts";
import {
  isRetrySignal,
  type OutsideWait,
  RemoteWait,
  type RetrySignal,
  SpillNeed,
  TableWait,
} from "../transactions/signals.ts";
import type { Mark } from "../transactions/journal.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { changedMeanwhile, serializationFailure } from "../transactions/conflicts.ts";
import type { TransactionManager } from "../transactions/transaction_manager.ts";
import type { MaybePromise, ResultSink } from "../statements/outcome.ts";
import type { WaitingContext } from "./stream_arrivals.ts";

/** How long a statement may run before others get their turn. */
const SLICE_MICROSECONDS = 2_000;
/** A statement by itself that keeps losing against concurrent ones then keeps other writers out of its tables. */
const OPTIMISTIC_ATTEMPTS = 4;
/** A statement that was taken for a short one begins anew, open to others, when it has run for so long. */
const SHORT_MICROSECONDS = 5_000;

/** Slices in which an attempt that has missed something finds out nothing more; then it is stopped. */
const SLICES_IN_VAIN = 16;

/** What the runner needs of its surroundings. */
export interface RunnerEnvironment {
  readonly manager: TransactionManager;
  /** Where rows may be; null: all are here. */
  readonly shards: { advance(transaction: Transaction): Promise<boolean> } | null;
  /** Microseconds of a clock that only moves forward. */
  monotonic(): number;
  /** See {@link SliceTurns.next}. */
  nextSlice(tookMicroseconds: number): Promise<void>;
  /** What to wait for before a commit while another transaction commits in steps; null: nothing. */
  whenIdle(): Promise<void> | null;
  /** What ends a wait for another transaction after `lock_timeout`. */
  readonly timeouts: { lockWaitBegins(): void; lockWaitEnds(): void };
  /** Rejects waits when the statement is canceled. */
  readonly abort: AbortSignal;
  /** Raises 57014 when the statement has been canceled. */
  checkCanceled(): void;
}

/** One run. */
export interface StatementRun {
  /** What to run; asked for anew after each wait. */
  compiled(): CompiledStatement;
  readonly sink: ResultSink;
  readonly transaction: Transaction;
  contextFor(transaction: Transaction): WaitingContext;
  /** Its own text bounds what it does, so that it may run to its end even when it takes longer than it should. */
  readonly isBounded: boolean;
  /** Tables whose other writers have to wait until the transaction has ended. */
  readonly claims: readonly number[];
  /** It only reads: see `TransactionManager.beginStatement`. */
  readonly floor?: number | null;
  /** It is that of a portal, whose snapshot was taken when it was opened. */
  readonly isOpened?: true;
  /** See {@link ExecutionContext.spills}. */
  spills?: boolean;
  /** What it has of the memory of all statements, once it has asked. */
  share?: MemoryShare | undefined;
}

/** Runs a statement within a transaction that goes on afterwards. Answers the finished execution. */
export function runInTransaction(
  environment: RunnerEnvironment,
  run: StatementRun,
): MaybePromise<StatementExecution> {
  const mark = run.transaction.mark();
  if (run.isOpened === true) run.transaction.statements++;
  else environment.manager.beginStatement(run.transaction, run.floor);
  run.transaction.outside?.beginStatement();
  run.transaction.numbers?.forget();
  return attempt(environment, run, mark);
}

/**
 * Goes on with a read that has begun in one piece with others, in a transaction of its own: it has not ended, or was
 * stopped by a signal.
 */
export function goOnReading(
  environment: RunnerEnvironment,
  run: StatementRun,
  context: WaitingContext,
  begun: StatementExecution | RetrySignal,
): Promise<StatementExecution> {
  const mark = run.transaction.mark();
  run.transaction.compiledCatalog = environment.manager.catalog;
  if (!isRetrySignal(begun)) return goOn(environment, run, mark, { execution: begun, context });
  run.share = context.share;
  environment.manager.register(run.transaction);
  return retry(environment, run, mark, begun);
}

function attempt(
  environment: RunnerEnvironment,
  run: StatementRun,
  mark: Mark,
): MaybePromise<StatementExecution> {
  if (run.transaction.isBehind) return caughtUp(environment, run, mark);
  run.transaction.outside?.beginAttempt();
  environment.manager.remote?.beginAttempt(run.transaction);
  let context: WaitingContext | undefined;
  try {
    for (const tableId of run.claims) {
      const rival = environment.manager.claimTable(tableId, run.transaction);
      if (rival !== undefined) throw new TableWait(rival, `table ${tableId}`);
    }
    takeLosses(environment.manager, run.transaction);
    const compiled = run.compiled();
    run.transaction.compiledCatalog = environment.manager.catalog;
    context = run.contextFor(run.transaction);
    if (run.spills === true) context.spills = true;
    if (run.share !== undefined) context.share = run.share;
    const execution = compiled.start(context);
    if (execution.step(run.sink) || goesOnAlone(environment, run, execution)) {
      requireTrue(environment, run);
      context.close?.();
      return execution;
    }
    if (run.transaction.interruptible || run.transaction.readOnly) {
      return goOn(environment, run, mark, { execution, context });
    }
    context.close?.();
    run.sink.retract();
    run.transaction.becomeInterruptible();
    run.transaction.rollbackTo(mark, { keepLocks: true, forgetReads: true });
    return attempt(environment, run, mark);
  } catch (thrown) {
    context?.close?.();
    const signal = signalOf(environment, run, thrown);
    if (signal === null) throw thrown;
    run.share = context?.share;
    return retry(environment, run, mark, signal);
  }
}

/** Raises a signal when what the attempt has read is not all true; see `RemoteTables`. */
function requireTrue({ manager }: RunnerEnvironment, { transaction }: StatementRun): void {
  const missed = manager.remote?.missed(transaction) ?? null;
  if (missed !== null) throw missed;
}

/** Why a statement has to run again; null: it does not. What fails with something that is not true has not failed. */
function signalOf(
  { manager }: RunnerEnvironment,
  { transaction }: StatementRun,
  thrown: unknown,
): RetrySignal | null {
  const signal = manager.remote?.missed(transaction) ?? thrown;
  return isRetrySignal(signal) ? signal : null;
}

/** Brings the transaction's rows to the form that others have given their tables, and attempts the statement. */
async function caughtUp(
  environment: RunnerEnvironment,
  run: StatementRun,
  mark: Mark,
): Promise<StatementExecution> {
  let end = environment.monotonic() + SLICE_MICROSECONDS;
  const { manager } = environment;
  run.transaction.compiledCatalog = manager.catalog;
  for (const _ of run.transaction.catchUp()) {
    if (environment.monotonic() < end) continue;
    await environment.nextSlice(SLICE_MICROSECONDS);
    environment.checkCanceled();
    end = environment.monotonic() + SLICE_MICROSECONDS;
  }
  return await attempt(environment, run, mark);
}

/** Whether it ends while nobody else may come in between, for the transaction has noted no reads. */
function goesOnAlone(
  environment: RunnerEnvironment,
  run: StatementRun,
  execution: StatementExecution,
): boolean {
  if (run.transaction.interruptible || run.transaction.readOnly) return false;
  const end = environment.monotonic() + SHORT_MICROSECONDS;
  while (!execution.step(run.sink)) {
    environment.checkCanceled();
    if (gas.isTurnDue || !run.isBounded && environment.monotonic() >= end) return false;
  }
  return true;
}

async function goOn(
  environment: RunnerEnvironment,
  run: StatementRun,
  mark: Mark,
  { execution, context }: {
    readonly execution: StatementExecution;
    readonly context: WaitingContext;
  },
): Promise<StatementExecution> {
  environment.manager.register(run.transaction);
  const { remote } = environment.manager;
  let missed = 0, slicesInVain = 0;
  context.hasSent = () => run.sink.hasSent === true;
  try {
    for (;;) {
      const sliceBegan = environment.monotonic();
      turnWork.began("long statement");
      do {
        if (run.sink.full) break;
        if (execution.step(run.sink)) {
          requireTrue(environment, run);
          return execution;
        }
        if (context.arrivals?.isStarved === true || context.share?.isOverdrawn === true) break;
      } while (!gas.isTurnDue && environment.monotonic() - sliceBegan < SLICE_MICROSECONDS);
      environment.checkCanceled();
      if (remote !== null) {
        const now = remote.missedCount(run.transaction);
        slicesInVain = now > 0 && now === missed ? slicesInVain + 1 : 0;
        missed = now;
        if (slicesInVain >= SLICES_IN_VAIN) requireTrue(environment, run);
      }
      if (context.share?.isOverdrawn === true) await othersGaveBack(context.share, environment.abort);
      else if (run.sink.full) await run.sink.drained();
      else if (context.arrivals?.isStarved === true) await context.arrivals.wait(environment.abort);
      else await environment.nextSlice(environment.monotonic() - sliceBegan);
      environment.checkCanceled();
    }
  } catch (thrown) {
    context.close?.();
    const signal = signalOf(environment, run, thrown);
    if (signal === null) throw thrown;
    const isTooLate = signal instanceof RemoteWait && signal.otherwise !== null && execution.rowCount > 0 &&
      !(signal instanceof SpillNeed);
    if (isTooLate) throw signal.otherwise;
    run.share = context.share;
    return await retry(environment, run, mark, signal);
  } finally {
    context.close?.();
  }
}

/** Waits until others have given back the memory that a statement has taken of theirs. */
export function othersGaveBack(share: MemoryShare, abort: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => share.waitForOthers(abort, resolve, reject));
}

/** Takes the statement back, waits for what was in its way, and runs it again at a newer snapshot. */
async function retry(
  environment: RunnerEnvironment,
  run: StatementRun,
  mark: Mark,
  signal: RetrySignal,
): Promise<StatementExecution> {
  try {
    return await runAgain(environment, run, mark, signal);
  } finally {
    // Memory that it was given may not have come to an attempt.
    run.share?.release();
  }
}

async function runAgain(
  environment: RunnerEnvironment,
  run: StatementRun,
  mark: Mark,
  signal: RetrySignal,
): Promise<StatementExecution> {
  const { transaction } = run;
  const { manager } = environment;
  try {
    run.sink.retract();
  } catch (error) {
    // What has been sent cannot be taken back.
    throw signal instanceof SpillNeed ? signal.otherwise : error;
  }
  transaction.becomeInterruptible();
  transaction.rollbackTo(mark, { keepLocks: true, forgetReads: true });
  if (signal instanceof RemoteWait) transaction.numbers?.rewind();
  else transaction.numbers?.forget();
  if (signal instanceof SpillNeed) run.spills = signal.spills;
  if (signal.kind === "outside_wait") await waitOutside(signal, environment.abort);
  else if (signal.kind !== "stale_snapshot") {
    environment.timeouts.lockWaitBegins();
    try {
      if (signal.kind === "lock_wait") {
        await manager.locks.wait(signal.lock, transaction, environment.abort, signal.mode);
        AwaitedLock.note(manager, transaction, signal.lock, mark.locks);
      } else await waitForEnd(signal.holder, transaction, environment.abort);
    } catch (error) {
      noteDeadlock(manager, transaction, signal, error);
      throw error;
    } finally {
      environment.timeouts.lockWaitEnds();
    }
  }
  environment.checkCanceled();
  assert(transaction.isOpen, "a waiting transaction stays open");
  if (signal.kind === "outside_wait") {
    // What others committed meanwhile is seen if that is possible, and does not matter otherwise.
    manager.advanceSnapshot(transaction);
    return await attempt(environment, run, mark);
  }
  const hasMoved = manager.advanceSnapshot(transaction) &&
    (environment.shards === null || await environment.shards.advance(transaction));
  // What an unchanged snapshot may be good for, the next attempt finds out: who held the lock may have rolled back.
  const mayStay = transaction.level === "repeatable read" && signal.kind !== "stale_snapshot";
  if (!hasMoved && !mayStay) {
    throw signal.kind === "stale_snapshot"
      ? serializationFailure(manager.catalog, { tableId: signal.tableId, id: signal.rowId, op: null })
      : changedMeanwhile(
        `While this transaction waited for ${signal.resource}, something that it had read before was changed.`,
      );
  }
  const execution = await attempt(environment, run, mark);
  AwaitedLock.settle(manager, transaction);
  return execution;
}

/** Who was the victim of a deadlock has lost by the row that it waited for. */
function noteDeadlock(
  manager: TransactionManager,
  transaction: Transaction,
  signal: RetrySignal,
  error: unknown,
): void {
  if (!(error instanceof DatabaseError) || error.code !== SQLSTATE.deadlockDetected) return;
  if (signal.kind !== "lock_wait" || typeof signal.lock.key === "string") return;
  manager.losses.note(transaction, { tableId: signal.lock.space, id: signal.lock.key, into: null });
}

/** Waits for what is no transaction's affair. */
export function waitOutside(signal: OutsideWait, abort: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => signal.begin(abort, resolve, reject));
}

/** Waits until another transaction has ended. */
function waitForEnd(holder: Transaction, transaction: Transaction, abort: AbortSignal): Promise<void> {
  if (!holder.isOpen) return Promise.resolve();
  transaction.waitsFor = holder;
  const error = deadlockOf(transaction);
  if (error !== null) {
    transaction.waitsFor = null;
    return Promise.reject(error);
  }
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => (): void => {
      abort.removeEventListener("abort", onAbort);
      transaction.waitsFor = null;
      settle();
    };
    const onAbort = finish(() => reject(abort.reason));
    abort.addEventListener("abort", onAbort, { once: true });
    holder.ended.push(finish(resolve));
  });
}

/**
 * Runs a statement that is its own transaction, and commits it. A serialization conflict never surfaces: the statement
 * runs again, in the end while other writers of its tables wait (`isLast`).
 */
export function runAutocommit<T>(
  environment: RunnerEnvironment,
  options: {
    readonly short: boolean;
    readonly readOnly: boolean;
    begin(interruptible: boolean): Transaction;
    run(transaction: Transaction, isLast: boolean): MaybePromise<StatementExecution>;
    commit(transaction: Transaction, execution: StatementExecution): MaybePromise<T>;
    retract(): void;
  },
): MaybePromise<T> {
  const first = (attemptNumber: number): MaybePromise<T> => {
    const interruptible = !options.readOnly && !options.short;
    if (!interruptible && !options.readOnly) {
      // It runs to its commit in one piece, so no other commit may be under way.
      const busy = environment.whenIdle();
      if (busy !== null) {
        return busy.then(() => {
          environment.checkCanceled();
          return first(attemptNumber);
        });
      }
    }
    const transaction = options.begin(interruptible);
    const failed = (thrown: unknown): MaybePromise<T> => {
      environment.manager.end(transaction);
      const lost = thrown instanceof DatabaseError && thrown.code === SQLSTATE.serializationFailure;
      if (!lost || attemptNumber >= OPTIMISTIC_ATTEMPTS * 2) throw thrown;
      options.retract();
      return environment.nextSlice(0).then(() => first(attemptNumber + 1));
    };
    try {
      const running = options.run(transaction, attemptNumber >= OPTIMISTIC_ATTEMPTS);
      if (!(running instanceof Promise)) {
        const committed = options.commit(transaction, running);
        return committed instanceof Promise ? committed.catch(failed) : committed;
      }
      return running.then((execution) => options.commit(transaction, execution)).catch(failed);
    } catch (thrown) {
      return failed(thrown);
    }
  };
  return first(0);
}

/** Whether a modification runs in one piece: it touches few rows, found by id or key or given as values. */
export function isShortWrite(plan: Plan): boolean {
  return isShort(plan) && !planFacts(plan).hasSubquery;
}

/** Whether the text of a short modification bounds its work: rows that are given and change nothing else. */
export function isBounded(plan: Plan): boolean {
  return plan.kind === "insert" && plan.onConflict?.action !== "update";
}

/**
 * Whether a statement touches few rows, found by id or key or given as values; what its subqueries do is left aside.
 */
export function isShort(plan: Plan): boolean {
  switch (plan.kind) {
    case "insert":
    case "update":
    case "delete":
      return isShort(plan.source);
    case "values":
      return plan.list.length <= 1000;
    case "row_lookup":
      return plan.ids.length <= 100;
    case "index_scan":
      return plan.prefix.length > 0 && plan.rows <= 100;
    case "project":
    case "filter":
    case "limit":
    case "lock_rows":
    case "sort":
      return isShort(plan.input);
    default:
      return false;
  }
}

/** Whether a query looks up one row by id and does nothing else that reads. */
export function isSingleRow(plan: Plan): boolean {
  switch (plan.kind) {
    case "row_lookup":
      return plan.ids.length === 1;
    case "project":
    case "filter":
    case "limit":
      return isSingleRow(plan.input);
    default:
      return false;
  }
}
