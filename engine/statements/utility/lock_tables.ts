/**
 * LOCK TABLE: keeps others from writing to tables until the transaction ends, once those who have written to them have
 * ended. There is one lock, which whoever defines a table anew takes as well; modes under which others may write take
 * none. Whoever holds it keeps out all others that ask for it, also where PostgreSQL would let two have SHARE, but
 * nobody who reads, or only locks rows.
 *
 * As in PostgreSQL it takes no snapshot: what is read behind it is as new as the lock.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { assertDefined } from "../../base/assert.ts";
import type { CompiledStatement } from "../../execution/runtime/execution.ts";
import type { LockTable } from "../../sql/parser/ast.ts";
import { TableWait } from "../../transactions/signals.ts";
import type { MaybePromise, ResultSink, StatementOutcome } from "../outcome.ts";
import type { StatementHost } from "../statement_host.ts";

/** Modes beside which others may write, and which keep nobody out here. */
const WEAK_MODES: readonly string[] = ["access_share", "row_share", "row_exclusive"];

/** Runs LOCK TABLE. Raises 25P01 outside of a block, and 55P03 where NOWAIT would have to wait. */
export function lockTables(
  session: StatementHost,
  statement: LockTable,
  sink: ResultSink,
): MaybePromise<StatementOutcome> {
  const { block } = session;
  if (block === null) {
    throw new DatabaseError(
      SQLSTATE.noActiveSqlTransaction,
      "LOCK TABLE can only be used in transaction blocks",
    );
  }
  const { transaction, hasQueried } = block;
  for (const name of statement.tables) session.resolveTable(name);
  // Who cannot write loses no update.
  if (transaction.readOnly || WEAK_MODES.includes(statement.mode)) {
    return session.outcome("LOCK TABLE", null, "done");
  }
  const compiled: CompiledStatement = {
    source: () => "",
    start: () => {
      for (const name of statement.tables) {
        const table = session.resolveTable(name);
        try {
          transaction.requireAlone(table.id);
        } catch (signal) {
          if (!statement.nowait || !(signal instanceof TableWait)) throw signal;
          throw new DatabaseError(
            SQLSTATE.lockNotAvailable,
            `could not obtain lock on relation "${table.name}"`,
          );
        }
      }
      return { step: () => true, rowCount: 0, insertedId: null, profile: [] };
    },
  };
  return session.runWork(compiled, sink, () => {
    transaction.statements--;
    assertDefined(session.block, "block of LOCK TABLE").hasQueried = hasQueried;
    return session.outcome("LOCK TABLE", null, "done");
  });
}
