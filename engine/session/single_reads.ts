/**
 * Reads by themselves, outside of a block. They share a transaction that notes nothing and is renewed for each, for
 * most of them end in one piece, and nothing else runs in between; one that does not keeps it for itself.
 */
import type { StatementExecution } from "../execution/runtime/execution.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../statements/outcome.ts";
import type { CachedPlan } from "../statements/plan_cache.ts";
import { isRetrySignal, type RetrySignal } from "../transactions/signals.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { SqlValue } from "../types/value.ts";
import type { SessionEvaluation } from "./evaluation.ts";
import { readsDurableAt, rowDurableAt } from "./read_durability.ts";
import type { SessionEngine } from "./session_engine.ts";
import type { StateNeed } from "./state_need.ts";
import { goOnReading, type RunnerEnvironment } from "./statement_runner.ts";
import type { WaitingContext } from "./stream_arrivals.ts";

/** What they need of their session. */
export interface ReadingSession {
  readonly engine: SessionEngine;
  readonly environment: RunnerEnvironment;
  readonly evaluation: SessionEvaluation;
  readonly need: StateNeed;
  /** A transaction that reads only, and is not registered. */
  begin(): Transaction;
  contextFor(transaction: Transaction, parameters: readonly SqlValue[]): WaitingContext;
  /** The statement that runs now belongs to the transaction; null: none runs. */
  runsIn(transaction: Transaction | null): void;
}

/** One of them. */
export interface SingleRead {
  readonly plan: CachedPlan;
  readonly parameters: readonly SqlValue[];
  readonly sink: ResultSink;
  /** What comes of it; its answer may be sent when the op is durable. */
  finish(execution: StatementExecution, durableOp: number): StatementOutcome;
}

/** See the file's head. */
export class SingleReads {
  readonly #session: ReadingSession;
  /** null: none has been needed since one was kept. */
  #transaction: Transaction | null = null;

  constructor(session: ReadingSession) {
    this.#session = session;
  }

  /** What they read in. */
  get transaction(): Transaction {
    return this.#transaction ??= this.#session.begin();
  }

  /** The shortest way, for what looks for few rows: nothing is registered unless it takes several pieces. */
  atOnce(read: SingleRead): MaybePromise<StatementOutcome> {
    const { plan, parameters, sink } = read;
    const { engine, evaluation, need } = this.#session;
    const { transaction } = this;
    transaction.renew(engine.manager.tellableSnapshot(need.floor));
    evaluation.beginStatement();
    this.#session.runsIn(transaction);
    const context = this.#session.contextFor(transaction, parameters);
    const execution = plan.compiled.start(context);
    try {
      if (!execution.step(sink)) return this.#goOn(read, transaction, context, execution);
    } catch (thrown) {
      context.close?.();
      if (!isRetrySignal(thrown)) throw thrown;
      return this.#goOn(read, transaction, context, thrown);
    }
    context.close?.();
    this.#session.runsIn(null);
    const durableOp = plan.isSingleRow
      ? rowDurableAt(engine, plan, transaction)
      : readsDurableAt(engine, plan, transaction);
    return read.finish(execution, durableOp === 0 ? 0 : need.saw(durableOp));
  }

  /** Some of its rows may have been sent: it must not begin anew. */
  async #goOn(
    { plan, parameters, sink, finish }: SingleRead,
    transaction: Transaction,
    context: WaitingContext,
    begun: StatementExecution | RetrySignal,
  ): Promise<StatementOutcome> {
    const { engine, environment, need, contextFor } = this.#session;
    this.#transaction = null;
    const run = {
      compiled: () => plan.compiled,
      sink,
      transaction,
      contextFor: (other: Transaction) => contextFor(other, parameters),
      isBounded: false,
      claims: [],
    };
    try {
      const ended = await goOnReading(environment, run, context, begun);
      return finish(ended, need.saw(readsDurableAt(engine, plan, transaction)));
    } finally {
      this.#session.runsIn(null);
      engine.manager.end(transaction);
    }
  }
}
