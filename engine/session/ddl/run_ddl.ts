/**
 * Runs DDL statements: binds them against the catalog of the transaction and carries out the steps in order.
 *
 * Binding happens when the statement starts, and again when it is run again after a wait, because another transaction may
 * have changed the catalog meanwhile. Steps over many rows work in pieces, so that other connections get their turn.
 */
import { assertDefined } from "../../base/assert.ts";
import type { CompiledStatement, ExecutionContext, StatementExecution } from "../../execution/execution.ts";
import type { ResultWriter } from "../../execution/result_writer.ts";
import type { DefinitionStatement } from "../../sql/parser/ast.ts";
import { bindDefinition } from "../../sql/definition/bind_definition.ts";
import type { DefinitionPlan, DefinitionStep } from "../../sql/definition/definition_plan.ts";
import type { Transaction } from "../../transactions/transaction.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../outcome.ts";
import type { Session } from "../session.ts";
import { InsertQuery } from "./insert_query.ts";
import { FillColumn, Rekey } from "./rewrites.ts";
import { ValidateCheck, ValidateForeignKey, ValidateNotNull, ValidateUnique } from "./validations.ts";

/** A step that takes several pieces. */
export interface Work {
  /** Works through one piece. true: done. */
  advance(): boolean;
}

/** Runs a DDL statement; `text` is its own text. */
export function runDefinition(
  session: Session,
  text: string,
  statement: DefinitionStatement,
  sink: ResultSink,
): MaybePromise<StatementOutcome> {
  let plan: DefinitionPlan | null = null;
  let rows: number | null = null;
  const compiled: CompiledStatement = {
    source: "",
    start: (context) => {
      const transaction = assertDefined(session.currentTransaction, "transaction of a DDL statement");
      plan = bindDefinition(statement, session.engine.plans.environment(session, text, [], []));
      return new DefinitionExecution(session, plan, transaction, context, text);
    },
  };
  return session.runWork(compiled, sink, (execution) => {
    const done = assertDefined(plan, "definition plan");
    for (const notice of done.notices) session.notice({ severity: "NOTICE", ...notice });
    if (done.steps.some((step) => step.kind === "insert_query")) rows = execution.rowCount;
    return session.outcome(
      rows === null ? done.tag : `SELECT ${rows}`,
      rows,
      rows === null ? "done" : "affected",
    );
  });
}

/** One run of a definition plan. */
class DefinitionExecution implements StatementExecution {
  rowCount = 0;
  readonly insertedId = null;
  readonly profile = [];
  readonly #session: Session;
  readonly #steps: readonly DefinitionStep[];
  readonly #transaction: Transaction;
  readonly #context: ExecutionContext;
  readonly #text: string;
  #next = 0;
  #work: Work | null = null;

  constructor(
    session: Session,
    plan: DefinitionPlan,
    transaction: Transaction,
    context: ExecutionContext,
    text: string,
  ) {
    this.#session = session;
    this.#steps = plan.steps;
    this.#transaction = transaction;
    this.#context = context;
    this.#text = text;
  }

  step(_writer: ResultWriter): boolean {
    for (;;) {
      if (this.#work !== null) {
        const work = this.#work;
        if (!work.advance()) return false;
        if (work instanceof InsertQuery) this.rowCount += work.rowCount;
        this.#work = null;
      }
      const step = this.#steps[this.#next];
      if (step === undefined) return true;
      this.#next++;
      this.#work = this.#begin(step);
    }
  }

  /** Carries out a small step at once; answers the work of a large one. */
  #begin(step: DefinitionStep): Work | null {
    const context = this.#context;
    switch (step.kind) {
      case "change":
        this.#transaction.change(step.change);
        return null;
      case "truncate":
        this.#transaction.truncate(step.tableId);
        return null;
      case "restart_sequence":
        this.#session.evaluation.setSequenceValue(String(step.sequenceId), step.value, false);
        return null;
      case "validate_not_null":
        return new ValidateNotNull(context, step.table, step.columnId);
      case "validate_check":
        return new ValidateCheck(context, step.table, step.constraintName, step.condition);
      case "validate_unique":
        return new ValidateUnique(context, step.table, step.index);
      case "validate_foreign_key":
        return new ValidateForeignKey(context, step.table, step.constraint);
      case "fill_column":
        return new FillColumn(context, step.table, step.columnId, step.value);
      case "rekey":
        return new Rekey(context, step.table);
      case "insert_query":
        return new InsertQuery(this.#session, context, step.table, step.query, this.#text);
    }
  }
}
