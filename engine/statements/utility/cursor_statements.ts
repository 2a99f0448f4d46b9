/** DECLARE CURSOR, FETCH, MOVE and CLOSE. */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type { CloseCursor, DeclareCursor, FetchCursor } from "../../sql/parser/ast.ts";
import type { ResultColumn } from "../../sql/plan/plan.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ResultSink, StatementOutcome } from "../outcome.ts";
import type { Portal } from "../portal.ts";
import type { Prepared } from "../prepared.ts";
import { RowCounter } from "../row_buffer.ts";
import type { CursorHost } from "../statement_host.ts";
import { type Arguments, requireArguments } from "../arguments.ts";
import { sendRows } from "./result_rows.ts";

/** How many rows a cursor that was declared without SCROLL or NO SCROLL keeps for going back. */
const KEPT_ROWS = 65_536;

/** The query of DECLARE. */
export function cursorQuery(
  session: CursorHost,
  statement: DeclareCursor,
  types: readonly (SqlType | undefined)[],
): Prepared {
  return session.prepareParsed(statement.text, session.engine.parse(statement.text)[0] ?? null, types);
}

/** DECLARE. A WITH HOLD cursor reads all its rows at once, so that they outlive the transaction. */
export async function declareCursor(
  session: CursorHost,
  statement: DeclareCursor,
  given: Arguments,
): Promise<StatementOutcome> {
  const { name } = statement;
  if (session.block === null && !statement.hold) {
    throw new DatabaseError(
      SQLSTATE.noActiveSqlTransaction,
      "DECLARE CURSOR can only be used in transaction blocks",
    );
  }
  if (session.cursors.get(name) !== undefined) {
    throw new DatabaseError(SQLSTATE.duplicateCursor, `cursor "${name}" already exists`);
  }
  if (session.cursors.size >= LIMITS.maximumCursors) {
    throw new DatabaseError(SQLSTATE.configurationLimitExceeded, "too many open cursors in this session", {
      hint: `The limit is ${LIMITS.maximumCursors}; CLOSE those that are no longer needed.`,
    });
  }
  const [locking] = statement.query.locking;
  if (statement.scroll === true && locking !== undefined) {
    const strength = locking.strength.toUpperCase();
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      `DECLARE SCROLL CURSOR ... FOR ${strength} is not supported`,
      { detail: "Scrollable cursors must be READ ONLY." },
    );
  }
  const prepared = cursorQuery(session, statement, given.types);
  requireArguments(prepared.parameterTypes, given);
  await session.block?.readBefore();
  const portal = session.openPortal(prepared, given.values, {
    keepAtMost: statement.scroll === true || statement.hold
      ? Infinity
      : statement.scroll === false
      ? 0
      : KEPT_ROWS,
  });
  if (statement.hold) {
    await portal.move("forward", Infinity);
    await portal.move("absolute", 0);
  }
  session.cursors.add(name, { portal, hold: statement.hold, text: statement.text }, session.block !== null);
  return session.outcome("DECLARE CURSOR", null, "done");
}

/** Columns of FETCH. */
export function fetchColumns(session: CursorHost, statement: FetchCursor): readonly ResultColumn[] {
  return find(session, statement.name).columns;
}

/** FETCH and MOVE. */
export async function fetchCursor(
  session: CursorHost,
  statement: FetchCursor,
  sink: ResultSink,
): Promise<StatementOutcome> {
  const portal = find(session, statement.name);
  const forward = forwardCount(statement);
  if (forward !== null) {
    // Rows go out as they come, or nowhere: there may be any number of them.
    const count = await portal.forwardInto(forward, statement.move ? new RowCounter() : sink);
    return movedOver(portal, statement, count);
  }
  const rows = await moved(portal, statement);
  if (!statement.move) sendRows(sink, portal.columns, rows);
  return movedOver(portal, statement, rows.length);
}

function movedOver(portal: Portal, { move }: FetchCursor, count: number): StatementOutcome {
  const outcome = portal.outcome(count);
  return move ? { ...outcome, tag: `MOVE ${count}`, kind: "done" } : { ...outcome, tag: `FETCH ${count}` };
}

/** How many rows a movement goes forward; null: it is another one. */
function forwardCount({ direction, count }: FetchCursor): number | null {
  switch (direction) {
    case "all":
      return Infinity;
    case "forward":
      return count > 0 ? count : null;
    case "backward":
      return count < 0 ? -count : null;
    default:
      return null;
  }
}

function moved(portal: Portal, statement: FetchCursor): Promise<SqlValue[][]> {
  const { direction, count } = statement;
  switch (direction) {
    case "forward":
      return count === 0
        ? portal.move("relative", 0)
        : count > 0
        ? portal.move("forward", count)
        : portal.move("backward", -count);
    case "backward":
      return count === 0
        ? portal.move("relative", 0)
        : count > 0
        ? portal.move("backward", count)
        : portal.move("forward", -count);
    case "absolute":
    case "relative":
      return portal.move(direction, count);
    case "first":
      return portal.move("absolute", 1);
    case "last":
      return portal.move("absolute", -1);
    case "all":
      return portal.move("forward", Infinity);
    case "backward_all":
      return portal.move("backward", Infinity);
  }
}

/** CLOSE. */
export function closeCursor(session: CursorHost, statement: CloseCursor): StatementOutcome {
  if (statement.name === null) {
    session.cursors.closeAll();
    return session.outcome("CLOSE CURSOR ALL", null, "done");
  }
  find(session, statement.name);
  session.cursors.close(statement.name);
  return session.outcome("CLOSE CURSOR", null, "done");
}

function find(session: CursorHost, name: string): Portal {
  const cursor = session.cursors.get(name);
  if (cursor === undefined) {
    throw new DatabaseError(SQLSTATE.invalidCursorName, `cursor "${name}" does not exist`);
  }
  return cursor.portal;
}
