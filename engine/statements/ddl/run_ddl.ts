/**
 * Runs DDL statements: binds them against the catalog of the transaction and carries out the steps in order.
 *
 * Binding happens when the statement starts, and again when it is run again after a wait, because another transaction
 * may have changed the catalog meanwhile. Steps over many rows work in pieces, so that other connections get their
 * turn.
 */
import { assertDefined } from "../../base/assert.ts";
import { gas } from "../../base/gas.ts";
import type {
  CompiledStatement,
  ExecutionContext,
  StatementExecution,
} from "../../execution/runtime/execution.ts";
import type { Work } from "../../execution/runtime/work.ts";
import type { ResultWriter } from "../../execution/runtime/result_writer.ts";
import type { PlanningEnvironment } from "../../sql/binder/environment.ts";
import type { DefinitionStatement } from "../../sql/parser/ast.ts";
import { bindDefinition } from "../../sql/definition/bind_definition.ts";
import type { DefinitionPlan, DefinitionStep } from "../../sql/definition/definition_plan.ts";
import type { Transaction } from "../../transactions/transaction.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../outcome.ts";
import type { StatementHost } from "../statement_host.ts";
import { definitionCommand } from "../read_only.ts";
import { Settings } from "../../settings/settings.ts";
import { settingText } from "../../settings/setting_text.ts";
import { isModuleReady, prepareInTurns } from "../../functions/module_store.ts";
import { OutsideWait } from "../../transactions/signals.ts";
import { type Arguments, NO_ARGUMENTS } from "../arguments.ts";
import { PlanningInPieces, planningPieces } from "../planning_in_pieces.ts";
import { InsertQuery } from "./insert_query.ts";
import { Rekey } from "./rekey.ts";
import { FillColumn } from "./rewrites.ts";
import { ValidateCheck, ValidateForeignKey, ValidateNotNull, ValidateUnique } from "./validations.ts";

/** A step of the execution takes about this long at most. */
const STEP_MICROSECONDS = 1_000;

/** Runs a DDL statement; `text` is its own text. */
export function runDefinition(
  session: StatementHost,
  text: string,
  statement: DefinitionStatement,
  sink: ResultSink,
  given: Arguments = NO_ARGUMENTS,
): MaybePromise<StatementOutcome> {
  const command = definitionCommand(statement);
  if (command !== null) session.requireWritable(command);
  let plan: DefinitionPlan | null = null;
  let rows: number | null = null;
  const ids: number[] = [];
  const planning = new PlanningInPieces(session.engine);
  const compiled: CompiledStatement = {
    source: () => "",
    start: (context) => {
      const transaction = assertDefined(session.currentTransaction, "transaction of a DDL statement");
      const environment = session.planEnvironment(text, given.types);
      const bound = planning.run(session, (pieces) =>
        bindDefinition(
          checked(statement),
          {
            ...environment,
            ...newIds(environment, ids),
            ...(pieces === undefined ? {} : { pieces }),
            awaitModule: (module) => awaitModule(session, module),
          },
        ));
      if (bound === null) throw othersTurn(session);
      plan = bound.value;
      return new DefinitionExecution({ session, plan, transaction, context });
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
  }, given.values);
}

/** Ids of new objects: the same ones when the statement runs again, for nobody else gets them. */
function newIds(
  { newObjectId }: PlanningEnvironment,
  ids: number[],
): Pick<PlanningEnvironment, "newObjectId"> {
  if (newObjectId === undefined) return {};
  let count = 0;
  return { newObjectId: (least) => ids[count++] ??= newObjectId(least) };
}

/** Stops the statement, which goes on with its planning when others had their turns. */
function othersTurn({ engine }: StatementHost): OutsideWait {
  return new OutsideWait((_abort, done) => void engine.slices.next(planningPieces.microseconds).then(done));
}

/** Stops the statement while a large module is prepared in turns. */
function awaitModule({ engine }: StatementHost, text: string): void {
  if (isModuleReady(text)) return;
  throw new OutsideWait((abort, done, failed) => {
    prepareInTurns(text, engine, abort).then(() => done(), failed);
  });
}

/** ALTER DATABASE and ROLE … SET with the value in the form in which it is shown. Raises what SET would. */
function checked(statement: DefinitionStatement): DefinitionStatement {
  if (statement.kind !== "alter_defaults" || statement.name === null) return statement;
  const settings = new Settings();
  const [first] = statement.values;
  if (first === undefined) {
    settings.reset(statement.name);
    return statement;
  }
  const { name } = statement;
  settings.set(name, settingText(name, statement.values), { local: false });
  return { ...statement, values: [{ ...first, text: settings.get(name) }] };
}

/** What one run of a definition plan works with. */
interface DefinitionRun {
  readonly session: StatementHost;
  readonly plan: DefinitionPlan;
  readonly transaction: Transaction;
  readonly context: ExecutionContext;
}

/** One run of a definition plan. */
class DefinitionExecution implements StatementExecution {
  rowCount = 0;
  readonly insertedId = null;
  readonly profile = [];
  readonly #run: DefinitionRun;
  /** Tables that the plan changes in another way than by adding columns. */
  readonly #rewritten: ReadonlySet<number>;
  #next = 0;
  #work: Work | null = null;
  /** The table that the running step works on while others write to it; null: none. */
  #shared: number | null = null;

  constructor(run: DefinitionRun) {
    this.#run = run;
    this.#rewritten = new Set(
      run.plan.steps.flatMap((step) =>
        step.kind === "change" && step.change.kind === "put_table" &&
          run.transaction.rewrites(step.change.table)
          ? [step.change.table.id]
          : []
      ),
    );
  }

  step(_writer: ResultWriter): boolean {
    gas.beginTurn();
    const { context } = this.#run;
    const end = context.monotonic() + STEP_MICROSECONDS;
    for (;;) {
      if (this.#work !== null) {
        const work = this.#work;
        if (!this.#advance(work)) {
          const isStarved = context.arrivals?.isStarved === true;
          if (!isStarved && !gas.isTurnDue && context.monotonic() < end) continue;
          context.checkCanceled();
          return false;
        }
        if (work instanceof InsertQuery) this.rowCount += work.rowCount;
        this.#work = null;
      }
      const step = this.#run.plan.steps[this.#next];
      if (step === undefined) return true;
      this.#next++;
      this.#work = this.#begin(step);
    }
  }

  #advance(work: Work): boolean {
    const { transaction } = this.#run;
    const { length } = transaction.reads;
    const isDone = work.advance();
    // What others commit in a shared table is looked at when this transaction commits.
    this.#forgetReads(length);
    return isDone;
  }

  /** Carries out a small step at once; answers the work of a large one. */
  #begin(step: DefinitionStep): Work | null {
    const { transaction } = this.#run;
    this.#shared = null;
    const { length } = transaction.reads;
    if ("table" in step) {
      const { id } = step.table;
      // Only new columns may leave others' uncommitted rows aside.
      if (!this.#rewritten.has(id) && transaction.sharesTable(id)) this.#shared = id;
      else transaction.requireAlone(id);
    }
    const work = this.#workOf(step);
    this.#forgetReads(length);
    return work;
  }

  /** Forgets what was read of a shared table since a place in the reads. */
  #forgetReads(since: number): void {
    const { reads } = this.#run.transaction;
    if (this.#shared === null || reads.length === since) return;
    for (const each of reads.splice(since)) if (each.tableId !== this.#shared) reads.push(each);
  }

  #workOf(step: DefinitionStep): Work | null {
    const { session, transaction, context } = this.#run;
    switch (step.kind) {
      case "change":
        transaction.change(step.change, session.temporarySchema);
        return null;
      case "truncate":
        transaction.truncate(step.tableId);
        return null;
      case "restart_sequence":
        session.evaluation.services.setSequenceValue(String(step.sequenceId), step.value, false);
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
        return this.#shared === null
          ? new FillColumn(context, step)
          : new FillColumn(context, step, transaction.fill.bind(transaction));
      case "rekey":
        return new Rekey(context, step.table);
      case "insert_query":
        return new InsertQuery({ session, context, table: step.table, planned: step.planned });
    }
  }
}
