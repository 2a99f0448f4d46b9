/** SET, RESET, SHOW, SET TRANSACTION and DISCARD. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type {
  Discard,
  ResetVariable,
  SetTransaction,
  SetVariable,
  ShowVariable,
} from "../../sql/parser/ast.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import type { ResultSink, StatementOutcome } from "../outcome.ts";
import type { Session } from "../../session/session.ts";
import { SETTINGS } from "../../settings/setting_table.ts";
import { missingEffect } from "../../settings/setting_values.ts";
import { isTransactionMode, setTransactionMode } from "./transaction_settings.ts";
import { applyModes } from "./transaction_statements.ts";
import { requireNoBlock, resultColumns, sendRows } from "./utility.ts";

/** SET name = value. */
export function set(session: Session, statement: SetVariable): StatementOutcome {
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
    setTransactionMode(session, name, valueText(statement));
    return session.outcome("SET", null, "done");
  }
  if ((local || isTransactionMode(name)) && session.block === null) {
    // The value is checked all the same, and gone at the end of the statement.
    session.settings.beginScope();
    try {
      if (statement.values.length === 0) session.settings.reset(name, { local });
      else session.settings.set(name, valueText(statement), { local });
    } finally {
      session.settings.endScope(true);
    }
    return session.outcome("SET", null, "done");
  }
  if (statement.values.length === 0) session.settings.reset(name, { local });
  else session.settings.set(name, valueText(statement), { local });
  const message = missingEffect(name, session.settings.find(name));
  if (message !== undefined) session.notice({ severity: "WARNING", code: SQLSTATE.warning, message });
  return session.outcome("SET", null, "done");
}

/** The values of SET as one text, and the check that only lists have several. */
export function valueText(statement: Pick<SetVariable, "name" | "values">): string {
  const isList = SETTINGS.get(statement.name)?.list ?? false;
  if (statement.values.length > 1 && !isList) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, `SET ${statement.name} takes only one argument`);
  }
  if (statement.name === "search_path") {
    return statement.values
      .map((value) =>
        !/^[a-z_][a-z0-9_$]*$/.test(value.text) ? `"${value.text.replaceAll('"', '""')}"` : value.text
      )
      .join(", ");
  }
  return statement.values.map((value) => value.type === "interval" ? hoursOf(value.text) : value.text).join(
    ", ",
  );
}

/** `INTERVAL '-08:00'` as a number of hours, which a time zone may be. */
function hoursOf(text: string): string {
  const match = /^([+-]?)(\d{1,2})(?::(\d{2}))?$/.exec(text.trim());
  if (match === null) return text;
  const hours = Number(match[2]) + Number(match[3] ?? 0) / 60;
  return `${match[1] === "-" ? "-" : ""}${hours}`;
}

/** RESET name, RESET ALL. */
export function reset(session: Session, statement: ResetVariable): StatementOutcome {
  if (statement.name === null) session.settings.resetAll();
  else session.settings.reset(statement.name);
  return session.outcome("RESET", null, "done");
}

/** Columns of SHOW. */
export function showColumns(session: Session, statement: ShowVariable): readonly ResultColumn[] {
  const text = { kind: "text" } as const;
  if (statement.name === null) return resultColumns(["name", text], ["setting", text], ["description", text]);
  session.settings.get(statement.name);
  const shown = SETTINGS.get(statement.name)?.name;
  return resultColumns([shown ?? statement.name, text]);
}

/** SHOW name, SHOW ALL. */
export function show(session: Session, statement: ShowVariable, sink: ResultSink): StatementOutcome {
  const columns = showColumns(session, statement);
  const rows = statement.name === null
    ? session.settings.all().map((each) => [each.name, each.value, each.description])
    : [[session.settings.get(statement.name)]];
  sendRows(sink, columns, rows);
  return session.outcome("SHOW", rows.length, "rows");
}

/** SET TRANSACTION, SET SESSION CHARACTERISTICS. */
export function setTransaction(session: Session, statement: SetTransaction): StatementOutcome {
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
export function discard(session: Session, statement: Discard): StatementOutcome {
  if (statement.target === "all") {
    requireNoBlock(session, "DISCARD ALL");
    for (const cursor of session.cursors.values()) cursor.portal.close();
    session.cursors.clear();
    session.settings.resetAll();
    session.preparedByName.clear();
    session.engine.advisoryLocks.releaseAll(session, { transactional: false });
    session.engine.notifications.committed(
      [{ kind: "unlisten", channel: "", payload: "", processId: session.processId }],
      session.engine.lastOp,
    );
  }
  if (statement.target === "all" || statement.target === "sequences") session.evaluation.discardSequences();
  if (statement.target === "all" || statement.target === "temporary") {
    if (session.block === null) session.engine.dropTemporarySchemas(session);
  }
  const names = { all: "ALL", plans: "PLANS", sequences: "SEQUENCES", temporary: "TEMP" };
  return session.outcome(`DISCARD ${names[statement.target]}`, null, "done");
}
