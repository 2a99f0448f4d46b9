/** What one running statement may read, write and ask; see ExecutionContext. */
import type { ExecutionContext, Gatherer, RowTransaction } from "../execution/runtime/execution.ts";
import type { EvaluationContext } from "../sql/functions/definition.ts";
import type { SessionEvaluation } from "./evaluation.ts";
import type { ReadCounts } from "../storage/access/read_counts.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import type { SqlValue } from "../types/value.ts";
import type { ProceduralHost } from "../statements/statement_host.ts";
import { AddedRows } from "../statements/ddl/added_rows.ts";
import type { RowMaker } from "../transactions/catch_up.ts";
import type { Transaction } from "../transactions/transaction.ts";

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
export class StatementContext implements ExecutionContext {
  readonly evaluation: EvaluationContext;
  readonly parameters: readonly SqlValue[];
  readonly reads: ReadCounts;
  readonly writer: RowTransaction;
  readonly transaction: Transaction;
  readonly #session: RunningSession;

  constructor(session: RunningSession, transaction: Transaction, parameters: readonly SqlValue[]) {
    this.#session = session;
    this.evaluation = session.evaluation;
    this.parameters = parameters;
    this.reads = session.engine.machine.reads;
    this.writer = transaction;
    this.transaction = transaction;
  }

  get memoryLimitBytes(): number {
    return this.#session.memoryLimitBytes;
  }

  gatherer(tableIds: readonly number[]): Gatherer | null {
    const { shards } = this.#session.engine;
    if (shards === null || !seesCommitted(this.transaction, tableIds)) return null;
    const session = this.#session;
    return {
      spread: { count: shards.count, broadcastBytes: session.settings.bytes("broadcast_limit") },
      gather: (fragment, { parameters, memoryLimitBytes, evaluation }) =>
        shards.gather(this.transaction, fragment, {
          parameters,
          memoryLimitBytes,
          evaluation,
          settings: session.settings,
          notice: (notice) => session.notice(notice),
        }),
      explain: (fragment, { parameters }) => shards.explainGather(this.transaction, fragment, parameters),
    };
  }

  table(tableId: number): ReadableTable {
    return this.transaction.table(tableId);
  }

  checkCanceled(): void {
    this.#session.checkCanceled();
  }

  monotonic(): number {
    return this.#session.engine.monotonic();
  }
}

/** Whether a transaction sees of these tables what is committed, and nothing of its own. */
function seesCommitted(transaction: Transaction, tableIds: readonly number[]): boolean {
  if (transaction.hasDdl) return false;
  for (const written of transaction.writtenTables) if (tableIds.includes(written)) return false;
  return true;
}
