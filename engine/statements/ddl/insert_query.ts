/**
 * CREATE TABLE AS and SELECT INTO: runs the query and puts its rows into the new table, in batches.
 */
import { compileStatement } from "../../execution/compile_statement.ts";
import type { ExecutionContext, StatementExecution } from "../../execution/runtime/execution.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { PlannedStatement } from "../../sql/plan/plan.ts";
import { BatchWriter } from "../copy/batch_writer.ts";
import type { StatementHost } from "../statement_host.ts";
import type { Work } from "../../execution/runtime/work.ts";

/** See the file's head. */
export class InsertQuery implements Work {
  readonly #execution: StatementExecution;
  readonly #writer: BatchWriter;

  constructor(options: {
    readonly session: StatementHost;
    readonly context: ExecutionContext;
    readonly table: TableDefinition;
    readonly planned: PlannedStatement;
  }) {
    const { session, context, table } = options;
    this.#execution = compileStatement(options.planned).start(context);
    this.#writer = new BatchWriter(context.writer, table, { inBlock: session.block !== null });
  }

  /** Rows inserted so far. */
  get rowCount(): number {
    return this.#writer.rowCount;
  }

  advance(): boolean {
    if (!this.#execution.step(this.#writer)) return false;
    this.#writer.flush();
    return true;
  }
}
