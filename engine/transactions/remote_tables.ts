/**
 * Tables whose committed rows are elsewhere. A transaction reads of them what has been fetched for it; whatever has not
 * been is asked for by a `RemoteWait`, which stops the statement until it is there.
 */
import type { IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import type { RowId, StoredValue } from "../operations/effect.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";

/** What a constraint has looked at in a table: rows, and a key of a unique index. */
export interface LookedAt {
  /** It can change though the transaction has its locks. */
  readonly isFree?: true;
  readonly ids: readonly RowId[];
  readonly key: { readonly index: IndexDefinition; readonly key: readonly StoredValue[] } | null;
}

/** A key of a unique index that a row is to have. */
export interface KeptKey {
  readonly table: TableDefinition;
  readonly index: IndexDefinition;
  readonly key: readonly StoredValue[];
  readonly id: RowId;
}

/**
 * See the file's head.
 *
 * *Attempts.* What looks for single rows and keys that are missing goes on as if there were none, only to find out
 * what else it is going to miss: what comes of such an attempt is nothing. All that it has missed is fetched together,
 * and the statement begins anew.
 *
 * *Levels.* SERIALIZABLE notes what it reads, and has it validated. The others note nothing: each statement of READ
 * COMMITTED reads at a newer state, and constraints look at a state behind the locks that they need.
 */
export interface RemoteTables<Reader> {
  /** Whether the committed rows of the table are elsewhere. */
  has(tableId: number): boolean;
  /** The committed rows of such a table, as the transaction sees them. */
  table(transaction: Reader, tableId: number): ReadableTable;
  /** A statement of the transaction begins. */
  beginStatement(transaction: Reader): void;
  /** The table as constraints see it where reads are not noted; see {@link requireNewest}. */
  newestTable(transaction: Reader, tableId: number): ReadableTable;
  /**
   * Raises a signal, after which the statement looks at a newer state, unless what was looked at is known not to have
   * changed before the transaction had its locks; null: anything in the table.
   */
  requireNewest(transaction: Reader, table: TableDefinition, looked: LookedAt | null): void;
  /** Whether the table has been written to since what the transaction sees of it. */
  isWrittenSince(transaction: Reader, tableId: number): boolean;
  /** From now on what is missing of single rows is taken not to be there, and noted. */
  beginAttempt(transaction: Reader): void;
  /** How much that is so far; 0: all that has been read is true. */
  missedCount(transaction: Reader): number;
  /** The end of the attempt: the signal that fetches what it has missed; null: that is nothing. */
  missed(transaction: Reader): object | null;
  /** Whether no committed row of the table has the id or a higher one. */
  isAboveAll(tableId: number, id: RowId): boolean;
  /** Whether a row is known to have been changed since what the transaction sees of it. */
  changedSince(transaction: Reader, tableId: number, id: RowId): boolean;
  /** Whether the row is known, and locked, and has had the key all the time: then no other row has it. */
  keepsKey(transaction: Reader, kept: KeptKey): boolean;
  /** Whether a row has been fetched, and is there. */
  hasFetched(transaction: Reader, tableId: number, id: RowId): boolean;
  /** A value of such a row; undefined: it has not been fetched. */
  knownValue(transaction: Reader, tableId: number, id: RowId, columnId: number): StoredValue | undefined;
  /** How many rows the table has, roughly. */
  rowCount(tableId: number): number;
  /** The bytes of its rows, as they were last asked for. */
  bytes(tableId: number): number;
  /** The newest entry that the table's rows may be of. */
  lastModifiedOp(tableId: number): number;
  /** Whether the transaction's commit concerns rows that are elsewhere. */
  concerns(transaction: Reader): boolean;
  /**
   * Before a table is claimed for a definition that moves its rows: reads them, which stops the statement until they
   * are there. Others write to the table meanwhile.
   */
  prepareMoves(transaction: Reader, before: TableDefinition, after: TableDefinition): void;
  /** Called when a transaction has ended. */
  ended(transaction: Reader): void;
}
