/**
 * Functions of the session and the server: who it is, what it waits for, locks of the application, sleeping, canceling others.
 *
 * A function cannot wait. One that has to stops the statement with a signal; the session waits and runs the statement again,
 * in which the function then finds what it waited for done.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlValue } from "../../types/value.ts";
import { OutsideWait } from "../../transactions/signals.ts";
import type { Transaction } from "../../transactions/transaction.ts";
import type { Engine } from "../engine.ts";
import type { SessionEvaluation } from "../evaluation.ts";
import type { Session } from "../session.ts";
import {
  effectsOf,
  lockAdvisory,
  tryLockAdvisory,
  unlockAdvisory,
  unlockAllAdvisory,
} from "./advisory_locks.ts";

/** pg_sleep waits at most this long; more is an error rather than a timer that overflows. */
const MAX_SLEEP_SECONDS = 86_400 * 24;

/** `pg_sleep`. */
function sleep(evaluation: SessionEvaluation, seconds: number): SqlValue {
  const { session } = evaluation;
  if (!(seconds > 0)) return "";
  if (seconds > MAX_SLEEP_SECONDS) {
    throw new DatabaseError(
      SQLSTATE.numericValueOutOfRange,
      `pg_sleep cannot wait more than ${MAX_SLEEP_SECONDS} seconds`,
    );
  }
  const { outside } = effectsOf(session);
  const name = `sleep ${seconds}`;
  if (outside.meet(name)) return "";
  throw new OutsideWait((abort, done, failed) => {
    const { timers } = session.engine.host;
    const onAbort = (): void => {
      timers.clearTimer(timer);
      failed(abort.reason);
    };
    const timer = timers.setTimer(Math.round(seconds * 1_000_000), () => {
      abort.removeEventListener("abort", onAbort);
      outside.finish(name);
      done();
    });
    if (abort.aborted) onAbort();
    else abort.addEventListener("abort", onAbort, { once: true });
  });
}

/** One 64-bit key or two 32-bit ones. */
function lockKey(args: readonly SqlValue[]): string {
  return args.map(String).join(",");
}

/** The session of a number, with a warning when there is none. */
function sessionOf(evaluation: SessionEvaluation, processId: SqlValue): Session | undefined {
  const found = evaluation.session.engine.sessionById(Number(processId));
  if (found === undefined) {
    evaluation.session.notice({
      severity: "WARNING",
      code: "01000",
      message: `PID ${String(processId)} is not a PostgreSQL backend process`,
    });
  }
  return found;
}

/** Numbers of transactions, given out when they are asked for: above the log's op and never twice. */
const transactionNumbers = new WeakMap<Transaction, number>();
const lastNumbers = new WeakMap<Engine, number>();

function transactionNumber(evaluation: SessionEvaluation): SqlValue {
  const { session } = evaluation;
  const { transaction } = effectsOf(session);
  let number = transactionNumbers.get(transaction);
  if (number === undefined) {
    number = Math.max(lastNumbers.get(session.engine) ?? 0, session.engine.lastOp) + 1;
    lastNumbers.set(session.engine, number);
    transactionNumbers.set(transaction, number);
  }
  return number;
}

/** An op number in the form of a position in PostgreSQL's log. */
function logPosition(op: number): string {
  return `${Math.floor(op / 2 ** 32).toString(16).toUpperCase()}/${(op >>> 0).toString(16).toUpperCase()}`;
}

/** By name; see the file's head. */
export const SESSION_FUNCTIONS: Readonly<
  Record<string, (evaluation: SessionEvaluation, args: readonly SqlValue[]) => SqlValue>
> = {
  pg_backend_pid: (evaluation) => evaluation.session.processId,
  pg_is_in_recovery: () => false,
  pg_postmaster_start_time: (evaluation) => evaluation.session.engine.startedAt,
  pg_conf_load_time: (evaluation) => evaluation.session.engine.startedAt,
  pg_current_wal_lsn: (evaluation) => logPosition(evaluation.session.engine.lastOp),
  txid_current: transactionNumber,
  pg_current_xact_id: transactionNumber,
  txid_current_if_assigned: (evaluation) => {
    const transaction = evaluation.session.currentTransaction;
    return transaction === null ? null : transactionNumbers.get(transaction) ?? null;
  },
  current_query: (evaluation) => evaluation.session.currentText,
  pg_sleep: (evaluation, args) => sleep(evaluation, Number(args[0])),
  pg_cancel_backend: (evaluation, args) => {
    const session = sessionOf(evaluation, args[0] ?? null);
    session?.cancel();
    return session !== undefined;
  },
  pg_terminate_backend: (evaluation, args) => {
    const session = sessionOf(evaluation, args[0] ?? null);
    const error = new DatabaseError(
      SQLSTATE.adminShutdown,
      "terminating connection due to administrator command",
    );
    if (session === evaluation.session) throw error;
    session?.terminate(error);
    return session !== undefined;
  },
  pg_notify: ({ session }, [channel = null, payload = null]) => {
    session.engine.notifications.add(
      {
        kind: "notify",
        channel: String(channel ?? ""),
        payload: String(payload ?? ""),
        processId: session.processId,
      },
      session.currentTransaction,
    );
    return "";
  },
  pg_listening_channels: ({ session }) =>
    SqlArray.of(session.engine.notifications.channelsOf(session.processId)),
  pg_advisory_lock: (evaluation, args) => {
    lockAdvisory(evaluation.session, { key: lockKey(args), shared: false, transactional: false });
    return "";
  },
  pg_advisory_lock_shared: (evaluation, args) => {
    lockAdvisory(evaluation.session, { key: lockKey(args), shared: true, transactional: false });
    return "";
  },
  pg_advisory_xact_lock: (evaluation, args) => {
    lockAdvisory(evaluation.session, { key: lockKey(args), shared: false, transactional: true });
    return "";
  },
  pg_advisory_xact_lock_shared: (evaluation, args) => {
    lockAdvisory(evaluation.session, { key: lockKey(args), shared: true, transactional: true });
    return "";
  },
  pg_try_advisory_lock: (evaluation, args) =>
    tryLockAdvisory(evaluation.session, { key: lockKey(args), shared: false, transactional: false }),
  pg_try_advisory_lock_shared: (evaluation, args) =>
    tryLockAdvisory(evaluation.session, { key: lockKey(args), shared: true, transactional: false }),
  pg_try_advisory_xact_lock: (evaluation, args) =>
    tryLockAdvisory(evaluation.session, { key: lockKey(args), shared: false, transactional: true }),
  pg_try_advisory_xact_lock_shared: (evaluation, args) =>
    tryLockAdvisory(evaluation.session, { key: lockKey(args), shared: true, transactional: true }),
  pg_advisory_unlock: (evaluation, args) => unlockAdvisory(evaluation.session, lockKey(args), false),
  pg_advisory_unlock_shared: (evaluation, args) => unlockAdvisory(evaluation.session, lockKey(args), true),
  pg_advisory_unlock_all: (evaluation) => {
    unlockAllAdvisory(evaluation.session);
    return "";
  },
};
