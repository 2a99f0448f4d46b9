/**
 * Signals that stop a statement so that the session can wait and run it again. They are thrown because they must cross
 * generated code, but they are no errors: they carry no stack and never reach a user.
 */
import type { Transaction } from "./transaction.ts";
import type { Lock, LockMode } from "./lock_table.ts";

/** Another open transaction holds a lock that the statement needs. */
export class LockWait {
  readonly kind = "lock_wait";
  readonly lock: Lock;
  readonly mode: LockMode;
  /** For messages: what is locked. */
  readonly resource: string;

  constructor(lock: Lock, mode: LockMode, resource: string) {
    this.lock = lock;
    this.mode = mode;
    this.resource = resource;
  }
}

/**
 * A row that the statement wants to write or lock was changed after the transaction's snapshot; null: a table got
 * values then that the statement would read as NULL, or another form.
 */
export class StaleSnapshot {
  readonly kind = "stale_snapshot";
  readonly tableId: number;
  readonly rowId: number | bigint | null;

  constructor(tableId: number, rowId: number | bigint | null) {
    this.tableId = tableId;
    this.rowId = rowId;
  }
}

/** Another open transaction writes to a table that the statement wants to alter, or the other way round. */
export class TableWait {
  readonly kind = "table_wait";
  readonly holder: Transaction;
  readonly resource: string;

  constructor(holder: Transaction, resource: string) {
    this.holder = holder;
    this.resource = resource;
  }
}

/**
 * Something must happen first that is no transaction's affair: a time must pass, a lock of the application become free.
 * Whoever throws it notes in the transaction's `NontransactionalEffects` what the next attempt must not do again.
 */
export class OutsideWait {
  readonly kind = "outside_wait";
  /** Begins to wait, and calls back once: the statement may run again, or the wait was aborted or has failed. */
  readonly begin: (abort: AbortSignal, done: () => void, failed: (reason: unknown) => void) => void;

  constructor(begin: OutsideWait["begin"]) {
    this.begin = begin;
  }
}

/**
 * Rows that are elsewhere must be fetched first. The next attempt gets the numbers of sequences and the row ids that
 * this one has got: nobody else has seen them.
 */
export class RemoteWait extends OutsideWait {
  readonly keepsNumbers = true;
  /** What is raised instead when rows have been given out, which cannot be taken back; null: nothing. */
  readonly otherwise: unknown;

  constructor(begin: OutsideWait["begin"], otherwise: unknown = null) {
    super(begin);
    this.otherwise = otherwise;
  }
}

/** The statement has not enough memory: it must run anew, when it is given some. */
export class SpillNeed extends RemoteWait {
  /** It writes to files what it cannot hold. */
  readonly spills: boolean;

  constructor(
    otherwise: unknown,
    { spills = true, begin = (_abort, done) => done() }: {
      readonly spills?: boolean;
      readonly begin?: OutsideWait["begin"];
    } = {},
  ) {
    super(begin, otherwise);
    this.spills = spills;
  }
}

/** Any of the signals above. */
export type RetrySignal = LockWait | StaleSnapshot | TableWait | OutsideWait;

/** Tells signals from errors in a catch clause. */
export function isRetrySignal(thrown: unknown): thrown is RetrySignal {
  return thrown instanceof LockWait || thrown instanceof StaleSnapshot || thrown instanceof TableWait ||
    thrown instanceof OutsideWait;
}
