/**
 * What passes between a session and the protocol (or library) that serves it: results on their way out, bulk data on
 * its way in, and how a statement ended.
 */
import type { ResultWriter } from "../execution/runtime/result_writer.ts";
import type { OpNumber, RowId } from "../operations/effect.ts";
import type { ResultColumn } from "../sql/plan/plan.ts";

/** A value, or a promise of it. Statements that finish in one piece answer without a promise. */
export type MaybePromise<T> = T | Promise<T>;

/** Runs `next` on the value, at once when it is there already. */
export function whenDone<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** A message in addition to the result, such as `relation "t" already exists, skipping`. */
export interface Notice {
  readonly severity: "NOTICE" | "WARNING" | "INFO";
  /** SQLSTATE. */
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  /** The answer lacks the rows of these shards. */
  readonly failedShards?: readonly number[];
}

/** How a statement ended. */
export interface StatementOutcome {
  /** PostgreSQL's command tag: `INSERT 0 1`, `SELECT 3`, `CREATE TABLE`. Empty for an empty statement. */
  readonly tag: string;
  /** Rows returned, inserted, updated, deleted or copied; null for statements that have no count. */
  readonly rowCount: number | null;
  /** What kind of answer it is, for protocols that shape them differently. */
  readonly kind: "rows" | "affected" | "value" | "describe" | "explain" | "done" | "empty";
  /** The id that a single-row INSERT assigned. */
  readonly insertedId: RowId | null;
  /** The answer may be sent once the log is durable up to this op; 0: at once. */
  readonly durableOp: OpNumber;
  readonly notices: readonly Notice[];
}

/** A statement's data going out or in; implemented by each protocol. */
export interface ResultSink extends ResultWriter {
  /**
   * A result with these columns begins. `retractable`: rows may be taken back until the statement has ended, so none
   * of them may leave the process before.
   */
  begin(columns: readonly ResultColumn[], retractable: boolean): void;
  /** Takes back all rows since `begin`; the statement runs again. Raises 40001 when some of them have been sent. */
  retract(): void;
  /** true: the receiver is slow; the session waits for {@link drained} before it produces more. */
  readonly full: boolean;
  drained(): Promise<void>;
  /** COPY … TO STDOUT begins. */
  copyOutBegin(format: CopyFormat): void;
  /**
   * Data of COPY; `ends`: where its rows (and what precedes and behind them) end, for protocols that send them one by
   * one.
   */
  copyOutData(bytes: Uint8Array, ends: readonly number[]): void;
  /**
   * COPY … FROM STDIN: passes the client's data to the target and resolves at its end; rejects when the client breaks
   * off.
   */
  copyIn(format: CopyFormat, target: CopyTarget): Promise<void>;
}

/** What the wire must know of a COPY. */
export interface CopyFormat {
  readonly binary: boolean;
  readonly columnCount: number;
}

/** Takes the data of COPY … FROM STDIN. */
export interface CopyTarget {
  /**
   * Consumes the bytes from `start` to below `end`, all of them unless these are given (copied if kept). A promise asks
   * the sender to wait. Clients send a piece for each row: a view of each would be garbage.
   */
  write(bytes: Uint8Array, start?: number, end?: number): MaybePromise<void>;
}

/** A statement that has been parsed and planned, ready to run with parameters. */
export interface PreparedStatement {
  readonly text: string;
  /** Result columns; null when it returns no rows. */
  readonly columns: readonly ResultColumn[] | null;
  /** Types of `$1 …`. */
  readonly parameterTypes: readonly import("../types/sql_type.ts").SqlType[];
}

/** `idle`: no transaction block. `failed`: only ROLLBACK is accepted. */
export type TransactionStatus = "idle" | "block" | "failed";
