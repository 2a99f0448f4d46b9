/**
 * Functions of the session and the server: who it is, what it waits for, locks of the application, sleeping,
 * canceling others.
 *
 * A function cannot wait. One that has to stops the statement with a signal; the session waits and runs the statement
 * again, in which the function then finds what it waited for done.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { SqlArray } from "../types/sql_array.ts";
import type { SqlValue } from "../types/value.ts";
import { OutsideWait } from "../transactions/signals.ts";
import { holdersFor } from "../transactions/lock_table.ts";
import type { Transaction } from "../transactions/transaction.ts";
import { effectsOf, type LockRequest } from "../transactions/advisory_locks.ts";
import type { CatalogContext, CatalogFunction, VisibleServer, VisibleSession } from "./catalog_context.ts";

/** `pg_sleep`. */
function sleep(context: CatalogContext, seconds: number): SqlValue {
  if (!(seconds > 0)) return "";
  if (seconds > LIMITS.maximumSleepSeconds) {
    throw new DatabaseError(
      SQLSTATE.numericValueOutOfRange,
      `pg_sleep cannot wait more than ${LIMITS.maximumSleepSeconds} seconds`,
    );
  }
  const { outside } = effectsOf(context.session);
  const name = `sleep ${seconds}`;
  if (outside.meet(name)) return "";
  throw new OutsideWait((abort, done, failed) => {
    const { timers } = context.server.host;
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
function sessionOf(context: CatalogContext, processId: SqlValue): VisibleSession | undefined {
  const found = context.server.sessionById(Number(processId));
  if (found === undefined) {
    context.session.notice({
      severity: "WARNING",
      code: "01000",
      message: `PID ${String(processId)} is not a PostgreSQL backend process`,
    });
  }
  return found;
}

type LockKind = Omit<LockRequest, "key">;

function lock(kind: LockKind): CatalogFunction {
  return ({ server, session }, args) => {
    server.advisoryLocks.lock(session, { key: lockKey(args), ...kind });
    return "";
  };
}

function tryLock(kind: LockKind): CatalogFunction {
  return ({ server, session }, args) =>
    server.advisoryLocks.tryLock(session, { key: lockKey(args), ...kind });
}

/** Returns false, with a warning, when the session does not hold the lock. */
function unlock(shared: boolean): CatalogFunction {
  return ({ server, session }, args) => {
    if (server.advisoryLocks.unlock(session, lockKey(args), shared)) return true;
    session.notice({
      severity: "WARNING",
      code: "01000",
      message: `you don't own a lock of type ${shared ? "ShareLock" : "ExclusiveLock"}`,
    });
    return false;
  };
}

/** Numbers of transactions, given out when they are asked for: above the log's op and never twice. */
const transactionNumbers = new WeakMap<Transaction, number>();
const lastNumbers = new WeakMap<VisibleServer, number>();

function transactionNumber(context: CatalogContext): SqlValue {
  const { server } = context;
  const { transaction } = effectsOf(context.session);
  let number = transactionNumbers.get(transaction);
  if (number === undefined) {
    number = Math.max(lastNumbers.get(server) ?? 0, server.lastOp) + 1;
    lastNumbers.set(server, number);
    transactionNumbers.set(transaction, number);
  }
  return number;
}

/** An op number in the form of a position in PostgreSQL's log. */
function logPosition(op: number): string {
  return `${Math.floor(op / 2 ** 32).toString(16).toUpperCase()}/${(op >>> 0).toString(16).toUpperCase()}`;
}

/** By name; see the file's head. */
export const SESSION_FUNCTIONS: Readonly<Record<string, CatalogFunction>> = {
  pg_backend_pid: (context) => context.session.processId,
  pg_is_in_recovery: () => false,
  pg_postmaster_start_time: (context) => context.server.startedAt,
  pg_conf_load_time: (context) => context.server.startedAt,
  pg_current_wal_lsn: (context) => logPosition(context.server.lastOp),
  txid_current: transactionNumber,
  pg_current_xact_id: transactionNumber,
  txid_current_if_assigned: (context) => {
    const transaction = context.session.currentTransaction;
    return transaction === null ? null : transactionNumbers.get(transaction) ?? null;
  },
  current_query: (context) => context.session.currentText,
  pg_sleep: (context, args) => sleep(context, Number(args[0])),
  pg_blocking_pids: ({ server }, [processId]) => {
    const waiting = server.sessionById(Number(processId))?.currentTransaction;
    const holders = waiting ? holdersFor(waiting) : [];
    const holding = [...server.sessions].filter((each) =>
      each.currentTransaction !== null && holders.includes(each.currentTransaction)
    );
    return SqlArray.of(holding.map((each) => each.processId));
  },
  pg_cancel_backend: (context, args) => {
    const session = sessionOf(context, args[0] ?? null);
    session?.cancel();
    return session !== undefined;
  },
  pg_terminate_backend: (context, args) => {
    const session = sessionOf(context, args[0] ?? null);
    const error = new DatabaseError(
      SQLSTATE.adminShutdown,
      "terminating connection due to administrator command",
    );
    if (session === context.session) throw error;
    session?.terminate(error);
    return session !== undefined;
  },
  pg_notify: ({ server, session }, [channel = null, payload = null]) => {
    server.notifications.add(
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
  pg_listening_channels: ({ server, session }) =>
    SqlArray.of(server.notifications.channelsOf(session.processId)),
  pg_advisory_lock: lock({ shared: false, transactional: false }),
  pg_advisory_lock_shared: lock({ shared: true, transactional: false }),
  pg_advisory_xact_lock: lock({ shared: false, transactional: true }),
  pg_advisory_xact_lock_shared: lock({ shared: true, transactional: true }),
  pg_try_advisory_lock: tryLock({ shared: false, transactional: false }),
  pg_try_advisory_lock_shared: tryLock({ shared: true, transactional: false }),
  pg_try_advisory_xact_lock: tryLock({ shared: false, transactional: true }),
  pg_try_advisory_xact_lock_shared: tryLock({ shared: true, transactional: true }),
  pg_advisory_unlock: unlock(false),
  pg_advisory_unlock_shared: unlock(true),
  pg_advisory_unlock_all: ({ server, session }) => {
    server.advisoryLocks.releaseAll(session, { transactional: false });
    return "";
  },
};
