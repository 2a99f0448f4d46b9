/**
 * Carries an operation out in a session: results go to a sink, and each statement's outcome to a callback.
 *
 * A `txn` is all or nothing: its changes run in one transaction, or within the client's own when it has begun one.
 * Answers are complete when the returned value is there; they may be sent when the op of the last outcome is durable.
 */
import { DatabaseError, SQLSTATE } from "../../../engine/base/errors.ts";
import {
  type MaybePromise,
  type PreparedStatement,
  type ResultSink,
  type StatementOutcome,
  whenDone,
} from "../../../engine/statements/outcome.ts";
import { writeRow } from "../../../engine/statements/row_buffer.ts";
import type { Session } from "../../../engine/session/session.ts";
import type { SessionEngine } from "../../../engine/session/session_engine.ts";
import type { ResultColumn } from "../../../engine/sql/plan/plan.ts";
import type { SqlType } from "../../../engine/types/sql_type.ts";
import type { SqlValue } from "../../../engine/types/value.ts";
import { GATEWAY_LIMITS } from "../limits.ts";
import type { Operation, Parameter, RowOperation } from "./operation.ts";
import {
  quoteTable,
  readStatement,
  rowStatement,
  type StatementWithParameters,
} from "./operation_statement.ts";
import { bindParameter, declaredType } from "./parameter_binding.ts";

/** Receives how each statement of an operation ended. */
export type OutcomeListener = (outcome: StatementOutcome) => void;

/** Statements that the operation `ddl` accepts. */
const DEFINITION =
  /^\s*(?:(?:--[^\n]*\n|\/\*[\s\S]*?\*\/)\s*)*(create|alter|drop|truncate|comment|refresh)\b/i;

/** Runs the operation. Raises {@link DatabaseError}. */
export function runOperation(
  session: Session,
  operation: Operation,
  sink: ResultSink,
  onOutcome: OutcomeListener,
): MaybePromise<void> {
  switch (operation.kind) {
    case "sql":
      return session.whenParsed(
        operation.text,
        () =>
          operation.parameters === null ? session.simple(operation.text, sink, onOutcome) : runStatement(
            session,
            { text: operation.text, parameters: operation.parameters },
            sink,
            onOutcome,
          ),
        operation.parameters?.map(declaredType),
      );
    case "create":
    case "update":
    case "delete":
      return runStatement(session, rowStatement(operation), sink, onOutcome);
    case "txn":
      return runTransaction(session, operation.operations, sink, onOutcome);
    case "get":
    case "find":
    case "find_range":
    case "scan":
    case "select":
    case "aggregate":
      return runStatement(session, readStatement(operation, lookupOf(session)), sink, onOutcome);
    case "describe":
      return session.simple(`DESCRIBE ${quoteTable(operation.table)}`, sink, onOutcome);
    case "list_tables":
      return listTables(session, sink, onOutcome);
    case "ddl":
      if (!DEFINITION.test(operation.text)) {
        throw new DatabaseError(
          SQLSTATE.syntaxError,
          "the operation ddl takes a statement that defines something",
          {
            hint: "Use the operation sql for other statements.",
          },
        );
      }
      return session.simple(operation.text, sink, onOutcome);
    case "stats":
      return sendStatistics(session, sink, onOutcome);
    case "snapshot":
      return snapshot(session, operation.directory, sink, onOutcome);
    case "ping":
      return undefined;
  }
}

/** Runs one statement with parameters. */
export function runStatement(
  session: Session,
  statement: StatementWithParameters,
  sink: ResultSink,
  onOutcome: OutcomeListener,
): MaybePromise<void> {
  const { text, parameters } = statement;
  let values: SqlValue[];
  let prepared: PreparedStatement;
  try {
    prepared = prepare(session, text, parameters);
    const { parameterTypes } = prepared;
    if (parameters.length !== parameterTypes.length) {
      throw new DatabaseError(
        SQLSTATE.protocolViolation,
        `the statement takes ${parameterTypes.length} parameters, but ${parameters.length} were given`,
      );
    }
    const options = session.evaluation.textOptions;
    values = parameters.map((parameter, index) =>
      bindParameter(parameter, parameterTypes[index] ?? { kind: "unknown" }, options)
    );
  } catch (error) {
    session.fail();
    throw error;
  }
  return whenDone(session.execute(prepared, values, sink), onOutcome);
}

/** Statements that sessions have run before, so that each is parsed once for a connection that repeats it. */
const preparedOf = new WeakMap<Session, Map<string, PreparedStatement>>();

function prepare(session: Session, text: string, parameters: readonly Parameter[]): PreparedStatement {
  const declared = parameters.map(declaredType);
  // Types of parameters follow from tables and the search path; a change of either makes other statements of the texts.
  let key = `${session.catalog.serial} ${session.settings.generation}`;
  for (const type of declared) key += type === undefined ? " ?" : ` ${JSON.stringify(type)}`;
  key += `\n${text}`;
  let known = preparedOf.get(session);
  if (known === undefined) preparedOf.set(session, known = new Map());
  const found = known.get(key);
  // In a failed transaction the session says itself what it takes; own tables of a transaction are its own.
  if (found !== undefined && session.status === "idle") return found;
  const prepared = session.prepare(text, declared);
  if (session.status !== "idle" || text.length > 10_000) return prepared;
  if (known.size >= GATEWAY_LIMITS.keptStatements) known.clear();
  known.set(key, prepared);
  return prepared;
}

async function runTransaction(
  session: Session,
  operations: readonly RowOperation[],
  sink: ResultSink,
  onOutcome: OutcomeListener,
): Promise<void> {
  if (operations.length === 0) return;
  session.beginBlock(false);
  const outcomes: StatementOutcome[] = [];
  for (const operation of operations) {
    const running = runStatement(session, rowStatement(operation), sink, (outcome) => outcomes.push(outcome));
    if (running instanceof Promise) await running;
  }
  const ended = session.sync();
  const committed = ended instanceof Promise ? await ended : ended;
  for (const outcome of outcomes) {
    onOutcome({ ...outcome, durableOp: committed === null ? outcome.durableOp : committed.durableOp });
  }
}

function listTables(session: Session, sink: ResultSink, onOutcome: OutcomeListener): void {
  const { catalog, engine } = session;
  const columns = columnsOf(["schema", "text"], ["name", "text"], ["kind", "text"], ["rows", "i64"]);
  const rows: SqlValue[][] = [];
  for (const table of catalog.tables) {
    rows.push([table.schema, table.name, "table", engine.machine.rowCount(table.id)]);
  }
  for (const view of catalog.views) rows.push([view.schema, view.name, "view", null]);
  rows.sort((left, right) =>
    compareTexts(String(left[0]), String(right[0])) ||
    compareTexts(String(left[1]), String(right[1]))
  );
  sendRows(session, { columns, rows }, sink, onOutcome);
}

function sendStatistics(session: Session, sink: ResultSink, onOutcome: OutcomeListener): void {
  const columns = columnsOf(["name", "text"], ["value", "i64"]);
  const rows = Object.entries(statisticsOf(session.engine)).map(([name, value]): SqlValue[] => [name, value]);
  sendRows(session, { columns, rows }, sink, onOutcome);
}

/** The counters of the engine by the names under which they are shown. */
export function statisticsOf(engine: SessionEngine): Record<string, number> {
  const statistics = engine.statistics();
  return {
    sessions: statistics.sessions,
    active_transactions: statistics.activeTransactions,
    last_op: statistics.lastOp,
    durable_op: statistics.durableOp,
    commits: statistics.commits,
    tables: statistics.tables,
    plans_cached: statistics.plansCached,
    plan_hits: statistics.planHits,
    plan_misses: statistics.planMisses,
  };
}

async function snapshot(
  session: Session,
  directory: string,
  sink: ResultSink,
  onOutcome: OutcomeListener,
): Promise<void> {
  if (directory === "") {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      "a snapshot needs the name of an empty directory",
    );
  }
  const op = await session.engine.snapshotTo(directory);
  sendRows(session, { columns: columnsOf(["op_number", "i64"]), rows: [[op]] }, sink, onOutcome);
}

function sendRows(
  session: Session,
  result: { readonly columns: readonly ResultColumn[]; readonly rows: readonly SqlValue[][] },
  sink: ResultSink,
  onOutcome: OutcomeListener,
): void {
  sink.begin(result.columns, false);
  for (const row of result.rows) writeRow(sink, result.columns, row);
  onOutcome(session.outcome(`SELECT ${result.rows.length}`, result.rows.length, "rows"));
}

function columnsOf(...columns: readonly (readonly [string, "text" | "i64"])[]): readonly ResultColumn[] {
  return columns.map(([name, kind], index) => {
    const type: SqlType = { kind };
    return { name, type, column: index, tableId: 0, columnId: 0 };
  });
}

function lookupOf(session: Session): Parameters<typeof readStatement>[1] {
  return { catalog: session.catalog, searchPath: session.evaluation.searchPath };
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
