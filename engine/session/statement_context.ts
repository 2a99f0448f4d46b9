/** What one running statement may read, write and ask; see ExecutionContext. */
import type { ExecutionContext, RowTransaction } from "../execution/runtime/execution.ts";
import type { EvaluationContext } from "../sql/functions/definition.ts";
import type { ReadCounts } from "../storage/access/read_counts.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import type { SqlValue } from "../types/value.ts";
import type { ProceduralHost } from "../statements/statement_host.ts";
import type { Transaction } from "../transactions/transaction.ts";

/** The session of a running statement. */
export type RunningSession = Pick<
  ProceduralHost,
  "engine" | "evaluation" | "checkCanceled" | "memoryLimitBytes"
>;

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
