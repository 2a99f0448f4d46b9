/**
 * What clients are answered when a member of a replication group stops ordering entries: what is known
 * of what each of them has asked for, and what to do.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";

/** Ends a session and its connection. `losesAnswers`: what waits for an entry will never be said. */
export type TerminationListener = (
  error: DatabaseError,
  options: { readonly losesAnswers: boolean },
) => void;

/** Why a member stops to serve a client; the last: it passes it on, and the other end is gone. */
export type Interruption = "view_change" | "shutdown" | "primary_lost";

const REASONS: Readonly<Record<Interruption, string>> = {
  view_change: "this member is no longer the primary",
  shutdown: "this member is shutting down",
  primary_lost: "the connection to the primary is lost",
};

/** Nothing that was asked for is unanswered but reads. */
export function connectionEnded(reason: Interruption): DatabaseError {
  return new DatabaseError(SQLSTATE.adminShutdown, `terminating connection: ${REASONS[reason]}`, {
    hint:
      "Connect again; another member becomes the primary. What belonged to the session is to be made anew.",
  });
}

/** A transaction is open whose COMMIT was not sent: nothing of it holds. */
export function transactionLost(reason: Interruption): DatabaseError {
  return new DatabaseError(
    SQLSTATE.serializationFailure,
    `could not serialize access: ${REASONS[reason]}, and the transaction was rolled back`,
    { hint: "Connect again and run the transaction again." },
  );
}

/** A COMMIT, or a statement that is a transaction by itself, is unanswered. */
export function outcomeUnknown(reason: Interruption): DatabaseError {
  return new DatabaseError(
    SQLSTATE.statementCompletionUnknown,
    `it is unknown whether the transaction was committed: ${REASONS[reason]}`,
    {
      hint: "Connect again and look whether it was. " +
        "A request with a client id and a sequence number can be repeated as it is.",
    },
  );
}

/** The member does not serve sessions that write. */
export function notPrimary(): DatabaseError {
  return new DatabaseError(SQLSTATE.cannotConnectNow, "this member is not the primary", {
    hint: "Connect to the primary, or ask to read from a follower.",
  });
}

/** What a session is at. */
export interface SessionActivity {
  /** A commit was asked for that may not be answered yet. */
  readonly isUnanswered: boolean;
  readonly isRunning: boolean;
  readonly block: { readonly explicit: boolean; readonly controlled: boolean } | null;
  readonly transaction: { readonly readOnly: boolean } | null;
}

/** What can be said of what a session's client waits for. */
export function whatIsKnown(reason: Interruption, activity: SessionActivity): DatabaseError {
  const { isUnanswered, isRunning, block, transaction } = activity;
  if (isUnanswered || block?.controlled === true) return outcomeUnknown(reason);
  // What runs outside of an explicit block commits by itself: its client has asked for the commit as well.
  if (block !== null && (block.explicit || !isRunning)) return transactionLost(reason);
  const writes = isRunning && transaction !== null && !transaction.readOnly;
  return writes ? outcomeUnknown(reason) : connectionEnded(reason);
}
