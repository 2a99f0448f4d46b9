/**
 * Statements that no plan is made for: transactions, settings, prepared statements, cursors, EXPLAIN, DESCRIBE, COPY
 * and DDL. What is not served is refused by name with 0A000, never ignored.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { MaintainedTable, Statement } from "../../sql/parser/ast.ts";
import { errorPosition } from "../../sql/parser/source_text.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { runCopy } from "../copy/copy_statement.ts";
import { selectInto } from "../../sql/definition/select_into.ts";
import { runDefinition } from "../ddl/run_ddl.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../outcome.ts";
import type { RefreshHost } from "../refresh/refresh_host.ts";
import { runRefresh } from "../refresh/refresh_statement.ts";
import { requireSchemeServed } from "../refresh/source_features.ts";
import { runDo } from "../procedural/do_statement.ts";
import { planStatement } from "../../sql/planner/plan_statement.ts";
import { type Arguments, NO_ARGUMENTS, requireArguments } from "../arguments.ts";
import { requireNoBlock, unsupported } from "./refusals.ts";
import type { SessionHost } from "../statement_host.ts";
import { takesSnapshot } from "../statement_kind.ts";
import { closeCursor, cursorQuery, declareCursor, fetchColumns, fetchCursor } from "./cursor_statements.ts";
import { describeColumns, describeTable } from "./describe_statement.ts";
import { explain, explainColumns, explainedPlan } from "./explain_statement.ts";
import { lockTables } from "./lock_tables.ts";
import { deallocate, executeByName, executeColumns, prepareByName } from "./prepared_statements.ts";
import { discard, reset, set, setTransaction, show, showColumns } from "./setting_statements.ts";
import {
  begin,
  commit,
  release,
  rollback,
  rollbackTo,
  savepoint,
  setConstraints,
} from "./transaction_statements.ts";

/** Columns of the rows that a statement will return; null when it returns none. */
export function utilityColumns(session: SessionHost, statement: Statement): readonly ResultColumn[] | null {
  switch (statement.kind) {
    case "show":
      return showColumns(session, statement);
    case "explain":
      return explainColumns(session, statement);
    case "describe":
      return describeColumns();
    case "execute":
      return executeColumns(session, statement);
    case "fetch":
      return statement.move ? null : fetchColumns(session, statement);
    default:
      return null;
  }
}

/** Types of the parameters of a statement that is not planned but holds a query: DECLARE and EXPLAIN. */
export function utilityParameters(
  session: SessionHost,
  text: string,
  statement: Statement,
  declared: readonly (SqlType | undefined)[],
): readonly SqlType[] {
  switch (statement.kind) {
    case "declare_cursor":
      return cursorQuery(session, statement, declared).parameterTypes;
    case "explain":
      return statement.statement.kind === "execute"
        ? []
        : explainedPlan(session, text, statement, declared).parameterTypes;
    case "create_table_as":
      return planStatement(
        statement.query,
        session.planEnvironment(text, declared),
      ).parameterTypes;
    case "unsupported":
      throw unsupported(session, statement.feature, statement.position);
    default:
      return [];
  }
}

/** Runs a statement that is not planned. `text` is its own text. */
export function runUtility(
  session: SessionHost & RefreshHost,
  text: string,
  statement: Statement,
  sink: ResultSink,
  given: Arguments = NO_ARGUMENTS,
): MaybePromise<StatementOutcome> {
  if (session.block !== null && takesSnapshot(statement)) session.block.hasQueried = true;
  switch (statement.kind) {
    case "begin":
      return begin(session, statement);
    case "commit":
      return commit(session, statement);
    case "rollback":
      return rollback(session, statement);
    case "savepoint":
      return savepoint(session, statement);
    case "release":
      return release(session, statement);
    case "rollback_to":
      return rollbackTo(session, statement);
    case "set_transaction":
      return setTransaction(session, statement);
    case "set_constraints":
      return setConstraints(session, statement);
    case "set":
      return set(session, statement);
    case "reset":
      return reset(session, statement);
    case "show":
      return show(session, statement, sink);
    case "discard":
      return discard(session, statement, sink);
    case "prepare":
      return prepareByName(session, statement);
    case "execute":
      return executeByName(session, statement, sink);
    case "deallocate":
      return deallocate(session, statement);
    case "declare_cursor":
      return declareCursor(session, statement, given);
    case "fetch":
      return fetchCursor(session, statement, sink);
    case "close":
      return closeCursor(session, statement);
    case "explain":
      return explain(session, text, statement, sink, given);
    case "describe":
      return describeTable(session, statement, sink);
    case "copy":
      return runCopy(session, text, statement, sink);
    case "lock":
      return lockTables(session, statement, sink);
    case "vacuum":
      requireNoBlock(session, "VACUUM");
      if (statement.options.some(({ name, value }) => name === "analyze" && !isOff(value))) {
        return analyze(session, statement.tables, "VACUUM");
      }
      for (const { table } of statement.tables) session.resolveTable(table);
      return session.outcome("VACUUM", null, "done");
    case "analyze":
      return analyze(session, statement.tables, "ANALYZE");
    case "checkpoint":
      if (session.isFollower) session.requireWritable("CHECKPOINT");
      return session.engine.checkpoint().then(() => session.outcome("CHECKPOINT", null, "done"));
    case "listen":
    case "notify":
    case "unlisten": {
      // Messages are delivered where they are committed.
      if (session.isFollower && statement.kind !== "unlisten") {
        session.requireWritable(statement.kind.toUpperCase());
      }
      const payload = statement.kind === "notify" ? statement.payload ?? "" : "";
      const { processId } = session;
      session.engine.notifications.add(
        { kind: statement.kind, channel: statement.channel ?? "", payload, processId },
        session.currentTransaction,
      );
      return session.outcome(statement.kind.toUpperCase(), null, "done");
    }
    case "do":
      return runDo(session, statement);
    case "call_procedure":
      throw unsupported(session, "CALL", statement.position);
    case "unsupported":
      throw unsupported(session, statement.feature, statement.position);
    case "query": {
      const table = selectInto(statement);
      if (table !== null) {
        session.requireWritable("SELECT INTO");
        return runDefinition(session, text, table, sink);
      }
      throw unsupported(session, "a nested query", statement.position);
    }
    case "insert":
    case "update":
    case "delete":
    case "merge":
      throw unsupported(session, `a nested ${statement.kind} statement`, statement.position);
    case "refresh":
      return runRefresh(session, statement);
    default:
      if (statement.kind === "create_external_source") {
        const position = errorPosition(session.currentText, statement.urlPosition);
        requireSchemeServed(session.engine.external, statement.url, position);
      }
      if (statement.kind === "create_table_as") {
        const environment = session.planEnvironment(text, given.types);
        requireArguments(planStatement(statement.query, environment).parameterTypes, given);
      }
      return runDefinition(session, text, statement, sink, given);
  }
}

/** Whether the value of an option says no. */
function isOff(value: string | null): boolean {
  return value !== null && ["off", "false", "0"].includes(value);
}

/** ANALYZE, and VACUUM ANALYZE; the names of columns are looked up before anything is done. */
async function analyze(
  session: SessionHost,
  tables: readonly MaintainedTable[],
  tag: string,
): Promise<StatementOutcome> {
  const target = Number(session.settings.get("default_statistics_target"));
  const named = tables.map(({ table, columns }) => {
    const definition = session.resolveTable(table);
    return { id: definition.id, columns: columnIds(definition, columns) };
  });
  if (named.length === 0) await session.engine.analyze(null, target);
  for (const { id, columns } of named) await session.engine.analyze([id], target, columns);
  return session.outcome(tag, null, "done");
}

/** Null: all. */
function columnIds(table: TableDefinition, names: readonly string[]): ReadonlySet<number> | null {
  if (names.length === 0) return null;
  return new Set(names.map((name) => {
    const column = table.columns.find((each) => each.name === name && !each.hidden);
    if (column !== undefined) return column.id;
    throw new DatabaseError(
      SQLSTATE.undefinedColumn,
      `column "${name}" of relation "${table.name}" does not exist`,
    );
  }));
}
