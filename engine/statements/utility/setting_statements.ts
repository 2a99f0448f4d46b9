/** SET, RESET, SHOW, SET TRANSACTION and DISCARD. */
import { assertDefined } from "../../base/assert.ts";
import { SQLSTATE } from "../../base/errors.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { dropSchemaChanges } from "../../catalog/temporary_schema.ts";
import type { CompiledStatement } from "../../execution/runtime/execution.ts";
import type {
  Discard,
  ResetVariable,
  SetTransaction,
  SetVariable,
  ShowVariable,
} from "../../sql/parser/ast.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../outcome.ts";
import type { SessionHost } from "../statement_host.ts";
import { SETTINGS } from "../../settings/setting_table.ts";
import { settingText } from "../../settings/setting_text.ts";
import { missingEffect } from "../../settings/setting_values.ts";
import { isTransactionMode, setTransactionMode } from "./transaction_settings.ts";
import { applyModes } from "./transaction_statements.ts";
import { requireNoBlock } from "./refusals.ts";
import { resultColumns, sendRows } from "./result_rows.ts";

/** SET name = value. */
export function set(session: SessionHost, statement: SetVariable): StatementOutcome {
  const { name } = statement;
  const local = statement.local;
  if (local && session.block === null) {
    session.notice({
      severity: "WARNING",
      code: SQLSTATE.noActiveSqlTransaction,
      message: "SET LOCAL can only be used in transaction blocks",
    });
  }
  if (isTransactionMode(name) && statement.values.length > 0) {
    setTransactionMode(session, name, settingText(name, statement.values));
    return session.outcome("SET", null, "done");
  }
  if ((local || isTransactionMode(name)) && session.block === null) {
    // The value is checked all the same, and gone at the end of the statement.
    session.settings.beginScope();
    try {
      if (statement.values.length === 0) session.settings.reset(name, { local });
      else session.settings.set(name, settingText(name, statement.values), { local });
    } finally {
      session.settings.endScope(true);
    }
    return session.outcome("SET", null, "done");
  }
  if (statement.values.length === 0) session.settings.reset(name, { local });
  else session.settings.set(name, settingText(name, statement.values), { local });
  const message = missingEffect(name, session.settings.find(name));
  if (message !== undefined) session.notice({ severity: "WARNING", code: SQLSTATE.warning, message });
  return session.outcome("SET", null, "done");
}

/** RESET name, RESET ALL. */
export function reset(session: SessionHost, statement: ResetVariable): StatementOutcome {
  if (statement.name === null) session.settings.resetAll();
  else session.settings.reset(statement.name);
  return session.outcome("RESET", null, "done");
}

/** Columns of SHOW. */
export function showColumns(session: SessionHost, statement: ShowVariable): readonly ResultColumn[] {
  const text = { kind: "text" } as const;
  if (statement.name === null) return resultColumns(["name", text], ["setting", text], ["description", text]);
  session.settings.get(statement.name);
  const shown = SETTINGS.get(statement.name)?.name;
  return resultColumns([shown ?? statement.name, text]);
}

/** SHOW name, SHOW ALL. */
export function show(session: SessionHost, statement: ShowVariable, sink: ResultSink): StatementOutcome {
  const columns = showColumns(session, statement);
  const rows = statement.name === null
    ? session.settings.all().map((each) => [each.name, each.value, each.description])
    : [[session.settings.get(statement.name)]];
  sendRows(sink, columns, rows);
  return session.outcome("SHOW", rows.length, "rows");
}

/** SET TRANSACTION, SET SESSION CHARACTERISTICS. */
export function setTransaction(session: SessionHost, statement: SetTransaction): StatementOutcome {
  const { modes } = statement;
  if (!statement.session) {
    if (session.block === null) {
      session.notice({
        severity: "WARNING",
        code: SQLSTATE.noActiveSqlTransaction,
        message: "SET TRANSACTION can only be used in transaction blocks",
      });
    } else applyModes(session, modes);
    return session.outcome("SET", null, "done");
  }
  const options = { local: false };
  if (modes.isolation !== null) {
    session.settings.set("default_transaction_isolation", modes.isolation.replaceAll("_", " "), options);
  }
  if (modes.readOnly !== null) {
    session.settings.set("default_transaction_read_only", modes.readOnly ? "on" : "off", options);
  }
  if (modes.deferrable !== null) {
    session.settings.set("default_transaction_deferrable", modes.deferrable ? "on" : "off", options);
  }
  return session.outcome("SET", null, "done");
}

/** DISCARD. */
export function discard(
  session: SessionHost,
  statement: Discard,
  sink: ResultSink,
): MaybePromise<StatementOutcome> {
  if (statement.target === "all") {
    requireNoBlock(session, "DISCARD ALL");
    session.cursors.closeAll();
    session.settings.resetAll();
    session.preparedByName.clear();
    session.engine.advisoryLocks.releaseAll(session, { transactional: false });
    session.engine.notifications.committed(
      [{ kind: "unlisten", channel: "", payload: "", processId: session.processId }],
      session.engine.lastOp,
    );
  }
  if (statement.target === "all" || statement.target === "sequences") session.evaluation.discardSequences();
  const names = { all: "ALL", plans: "PLANS", sequences: "SEQUENCES", temporary: "TEMP" };
  const finish = () => session.outcome(`DISCARD ${names[statement.target]}`, null, "done");
  const isTemporary = statement.target === "all" || statement.target === "temporary";
  // The schema stays, as in PostgreSQL: to drop it would wait for others' definitions.
  const changes = (catalog: Catalog) =>
    dropSchemaChanges(catalog, [session.temporarySchema]).filter(({ kind }) => kind !== "drop_schema");
  if (!isTemporary || changes(session.catalog).length === 0) return finish();
  const dropping: CompiledStatement = {
    source: () => "",
    start: () => {
      const transaction = assertDefined(session.currentTransaction, "transaction of DISCARD");
      for (const change of changes(transaction.catalog)) transaction.change(change, session.temporarySchema);
      return { step: () => true, rowCount: 0, insertedId: null, profile: [] };
    },
  };
  return session.runWork(dropping, sink, finish);
}
