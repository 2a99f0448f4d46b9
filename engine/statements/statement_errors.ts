/** Errors that end a statement or a session from outside of its own text. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";

/** The 57014 of statement_timeout. */
export function statementTimeout(): DatabaseError {
  return new DatabaseError(SQLSTATE.queryCanceled, "canceling statement due to statement timeout");
}

/** The 25P03 of idle_in_transaction_session_timeout. */
export function idleInTransactionTimeout(): DatabaseError {
  return new DatabaseError(
    SQLSTATE.idleInTransactionSessionTimeout,
    "terminating connection due to idle-in-transaction timeout",
  );
}

/** The 57P05 of idle_session_timeout. */
export function idleSessionTimeout(): DatabaseError {
  return new DatabaseError(
    SQLSTATE.idleSessionTimeout,
    "terminating connection due to idle-session timeout",
  );
}

/** Anything thrown while a statement ran, as an error for its user; bugs pass through. */
export function asDatabaseError(thrown: unknown): unknown {
  if (thrown instanceof RangeError && /call stack|Maximum/.test(thrown.message)) {
    return new DatabaseError(SQLSTATE.statementTooComplex, "stack depth limit exceeded", {
      hint: "Simplify the statement: it is nested too deeply.",
      cause: thrown,
    });
  }
  return thrown;
}
