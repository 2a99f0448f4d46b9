/** How a query becomes a portal: it reads in the transaction, at the snapshot of now, as far as rows are asked for. */
import type { StatementExecution } from "../execution/runtime/execution.ts";
import type { MemoryShare } from "../execution/runtime/query_memory.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../statements/outcome.ts";
import type { CachedPlan } from "../statements/plan_cache.ts";
import { Portal } from "../statements/portal.ts";
import { tagOf } from "../statements/statement_kind.ts";
import type { TransactionBlock } from "../statements/transaction_block.ts";
import { changedMeanwhile } from "../transactions/conflicts.ts";
import { isRetrySignal, RemoteWait, SpillNeed } from "../transactions/signals.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { readsDurableAt } from "./read_durability.ts";
import type { SessionEngine } from "./session_engine.ts";
import type { StateNeed } from "./state_need.ts";
import type { WaitingContext } from "./stream_arrivals.ts";
import { othersGaveBack, runInTransaction, type RunnerEnvironment, waitOutside } from "./statement_runner.ts";

/** About what the steps of a portal take before others have their turn. */
const STEPS_MICROSECONDS = 1_000;

/** What a portal needs of its session. */
export interface PortalHost {
  readonly engine: SessionEngine;
  readonly environment: RunnerEnvironment;
  readonly need: StateNeed;
  /** The transaction that it reads in, and its block; null: the portal ends it. */
  readonly transaction: Transaction;
  readonly block: TransactionBlock | null;
  readonly keepAtMost: number;
  contextFor(transaction: Transaction): WaitingContext;
  asStatement<T>(run: () => MaybePromise<T>): MaybePromise<T>;
  outcome(tag: string, rowCount: number, kind: "rows"): StatementOutcome;
}

/** See the file's head. */
export function openPortal(host: PortalHost, plan: CachedPlan): Portal {
  const { engine, environment, transaction, block } = host;
  const { planned } = plan;
  const catalog = engine.manager.renew(
    transaction,
    planned.tableIds,
    planned.readOnly ? host.need.floor : null,
  );
  if (transaction.seesAnew) engine.shards?.takeCut(transaction);
  const reading = transaction.views.beginReading();
  let execution: StatementExecution | null = null;
  let context: WaitingContext | undefined;
  let hasGiven = false;
  let spills = false;
  let share: MemoryShare | undefined;
  /** What it must wait for before it begins anew. */
  let need: SpillNeed | null = null;
  const isElsewhere = engine.shards?.concern(planned) === true;
  /** null: what it reads does not come while it runs. */
  const begin = (): StatementExecution | null => {
    const made = host.contextFor(transaction);
    if (spills) made.spills = true;
    if (share !== undefined) made.share = share;
    made.hasSent = () => hasGiven;
    if (isElsewhere && plan.compiled.streams?.(made) !== true) return null;
    context = made;
    return execution = plan.compiled.start(made);
  };
  const step = (sink: ResultSink): boolean | null => {
    const running = execution ?? begin();
    if (running === null) return null;
    const ended = running.step(sink);
    hasGiven ||= running.rowCount > 0;
    return ended;
  };
  const gather = async (sink: ResultSink): Promise<void> => {
    const { contextFor } = host;
    const compiled = () => plan.compiled;
    await runInTransaction(environment, {
      compiled,
      sink,
      transaction,
      contextFor,
      isBounded: false,
      claims: [],
      isOpened: true,
    });
  };
  const portal = new Portal({
    columns: planned.columns,
    gather,
    step: (sink) => {
      environment.checkCanceled();
      if (need !== null) return false;
      try {
        return transaction.compiledFor(catalog, reading, () => step(sink));
      } catch (thrown) {
        // What has been given out cannot be taken back.
        if (hasGiven && thrown instanceof RemoteWait && thrown.otherwise !== null) throw thrown.otherwise;
        if (thrown instanceof SpillNeed) {
          context?.close?.();
          // The step may have written rows before it was stopped.
          sink.retract();
          share = context?.share;
          execution = null;
          spills = thrown.spills;
          need = thrown;
          return false;
        }
        if (!isElsewhere || !isRetrySignal(thrown)) throw thrown;
        context?.close?.();
        if (hasGiven) throw changedMeanwhile();
        return null;
      }
    },
    pause: () => {
      if (need !== null) {
        return waitOutside(need, environment.abort).then(() => {
          need = null;
        });
      }
      if (context?.share?.isOverdrawn === true) return othersGaveBack(context.share, environment.abort);
      const arrivals = context?.arrivals;
      return arrivals?.isStarved === true
        ? arrivals.wait(environment.abort)
        : environment.nextSlice(STEPS_MICROSECONDS);
    },
    asStatement: (run) => host.asStatement(run),
    outcome: (rowCount) => ({
      ...host.outcome(tagOf(planned.command, rowCount), rowCount, "rows"),
      durableOp: host.need.saw(readsDurableAt(engine, plan, planned.readOnly ? reading : transaction)),
    }),
    close: () => {
      context?.close?.();
      transaction.views.endReading(reading);
      if (block === null) engine.manager.end(transaction);
      else block.portals.delete(portal);
    },
  }, { keepAtMost: host.keepAtMost });
  // One that locks rows or advances a sequence does so when they are fetched.
  if (planned.readOnly || transaction.seesAnew) block?.portals.add(portal);
  return portal;
}
