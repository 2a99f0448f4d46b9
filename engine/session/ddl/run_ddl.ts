/**
 * Carries out DDL: catalog changes through the transaction, and work on rows as plans like any other statement's.
 *
 * The whole statement is one piece of work in its transaction: when it has to wait for another transaction, or fails, all
 * of it is taken back.
 */
import { assertDefined } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { CompiledStatement, StatementExecution } from "../../execution/execution.ts";
import type { RowId } from "../../operations/effect.ts";
import { bindDefinition } from "../../sql/definition/bind_definition.ts";
import type { DefinitionPlan, DefinitionStep } from "../../sql/definition/definition_plan.ts";
import type { DefinitionStatement, Statement } from "../../sql/parser/ast.ts";
import type { Transaction } from "../../transactions/transaction.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../outcome.ts";
import type { Session } from "../session.ts";
import type { StatementContext } from "../statement_context.ts";
import { rekey } from "./rekey.ts";
import { fillColumn, insertQuery, validate } from "./row_work.ts";

/** Runs a DDL statement; `text` is its own text. */
export function runDefinition(
  session: Session,
  text: string,
  statement: Exclude<Statement, never>,
  sink: ResultSink,
): MaybePromise<StatementOutcome> {
  let plan: DefinitionPlan | null = null;
  const compiled: CompiledStatement = {
    source: "",
    start: (context) => {
      const { transaction } = context as StatementContext;
      // Bound anew on each run: the catalog may have changed while the statement waited.
      const execution = new DefinitionExecution(() => {
        plan = bindDefinition(
          statement as DefinitionStatement,
          session.engine.plans.environment(session, text, [], []),
        );
        return runSteps(session, transaction, plan);
      });
      return execution;
    },
  };
  return session.runWork(compiled, sink, (execution) => {
    const done: DefinitionPlan = assertDefined(plan, "definition plan");
    for (const notice of done.notices) session.notice({ severity: "NOTICE", ...notice });
    const tag = done.tag === "CREATE TABLE AS" ? `SELECT ${execution.rowCount}` : done.tag;
    return session.outcome(tag, null, "done");
  });
}

/** A DDL statement as an execution of one step. */
class DefinitionExecution implements StatementExecution {
  rowCount = 0;
  readonly insertedId: RowId | null = null;
  readonly profile = [];
  readonly #run: () => number;

  constructor(run: () => number) {
    this.#run = run;
  }

  step(): boolean {
    this.rowCount = this.#run();
    return true;
  }
}

/** Runs all steps; answers how many rows CREATE TABLE AS inserted. */
function runSteps(session: Session, transaction: Transaction, plan: DefinitionPlan): number {
  let rows = 0;
  for (const step of plan.steps) rows += runStep(session, transaction, step);
  return rows;
}

function runStep(session: Session, transaction: Transaction, step: DefinitionStep): number {
  switch (step.kind) {
    case "change":
      transaction.change(step.change);
      return 0;
    case "validate_not_null":
    case "validate_check":
    case "validate_unique":
    case "validate_foreign_key":
      validate(session, transaction, step);
      return 0;
    case "fill_column":
      fillColumn(session, transaction, step);
      return 0;
    case "rekey":
      rekey(session, transaction, currentTable(transaction, step.table));
      return 0;
    case "truncate":
      transaction.truncate(step.tableId);
      return 0;
    case "restart_sequence": {
      const sequence = assertDefined(transaction.catalog.sequence(step.sequenceId), "sequence");
      session.engine.machine.sequences.set(sequence, step.value, false);
      transaction.noteSequence(sequence.id, step.value, false);
      return 0;
    }
    case "insert_query":
      return insertQuery(session, transaction, step);
  }
}

function currentTable(transaction: Transaction, table: TableDefinition): TableDefinition {
  const current = transaction.catalog.table(table.id);
  if (current === undefined) {
    throw new DatabaseError(SQLSTATE.undefinedTable, `relation "${table.name}" does not exist`);
  }
  return current;
}
