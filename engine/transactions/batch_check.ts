/**
 * Whether keys of a bulk load are taken already: by committed rows, by the transaction's own rows, or by others that
 * have locked them. Works in pieces. A batch whose keys lie apart from all committed ones needs one look for all of
 * them.
 */
import { decodeUtf8 } from "../base/bytes.ts";
import type { DatabaseError } from "../base/errors.ts";
import { columnPosition } from "../catalog/catalog.ts";
import type { IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import { forbidsDuplicates } from "../catalog/index_keys.ts";
import type { RowBatch, StoredValue } from "../operations/effect.ts";
import { NO_ROW } from "../storage/access/block.ts";
import type { IndexBounds } from "../storage/access/readable_table.ts";
import { batchRow, batchValue } from "./batch_values.ts";
import { duplicateKey } from "./duplicates.ts";
import { type Lock, LOCK_MODES } from "./lock_table.ts";
import { LockWait } from "./signals.ts";
import type { TableWriteSet } from "./write_set.ts";
import { keyColumns, keyText } from "./stored_key.ts";
import type { Transaction } from "./transaction.ts";
import type { TransactionManager } from "./transaction_manager.ts";

/** Keys looked up in one piece. */
const PIECE = 512;

/** A row of a batch whose key is taken. `lock`: by a transaction that is open. */
export interface TakenKey {
  readonly row: number;
  readonly lock: Lock | null;
}

/** What to look at. */
export interface BatchCheck {
  readonly manager: TransactionManager;
  readonly transaction: Transaction;
  readonly table: TableDefinition;
  readonly writeSet: TableWriteSet;
  readonly batch: RowBatch;
  /** Only rows before this one. */
  readonly limit: number;
}

/**
 * The first row of the batch whose key of the unique index is taken, other batches of the transaction apart; or null.
 */
export function* firstTakenKey(check: BatchCheck, index: IndexDefinition): Generator<void, TakenKey | null> {
  const { manager, transaction, table, writeSet, batch, limit } = check;
  const locked = manager.locks.hasSpace(index.id);
  const own = writeSet.rows.length > 0;
  const committed = !writeSet.truncated && mayBeCommitted(check, index);
  const isNoted = committed === "noted";
  if (!locked && !own && !committed) return null;
  const columns = keyColumns(table, index);
  const positions = index.columns.map((part) => columnPosition(table, part.columnId));
  for (let row = 0; row < limit; row++) {
    if (row % PIECE === PIECE - 1) yield;
    const key: StoredValue[] = positions.map((position) => batchValue(batch, row, position));
    if (!forbidsDuplicates(index, key)) continue;
    if (locked) {
      const lock = manager.locks.heldByOther(index.id, keyText(columns, key), transaction);
      if (lock !== undefined) return { row, lock };
    }
    if (own) { for (const _ of writeSet.lookup(index, key)) return { row, lock: null }; }
    if (committed) {
      const id = batch.ids[row] as number;
      if (manager.keyHolderNow(table, index, key, transaction, writeSet, id, isNoted) !== null) {
        return { row, lock: null };
      }
    }
  }
  return null;
}

/**
 * false: no committed key lies between the batch's smallest and largest. "noted": whether such a key comes meanwhile is
 * looked up by the commit.
 */
function mayBeCommitted(check: BatchCheck, index: IndexDefinition): boolean | "noted" {
  const { manager, transaction, table, batch, limit } = check;
  const known = manager.catalog.table(table.id);
  if (known === undefined) return false;
  const isRemote = manager.remote?.has(table.id) === true;
  if (!isRemote && manager.store(table.id).rowCount === 0) return false;
  if (!known.indexes.some((each) => each.id === index.id)) return true;
  const first = index.columns[0];
  const bounds = first === undefined ? null : boundsOf(batch, limit, columnPosition(table, first.columnId));
  if (bounds === null) return true;
  if (!isRemote) return manager.store(table.id).at(manager.lastOp).range(index.id, bounds).next() !== NO_ROW;
  const columnIds = index.columns.map((part) => part.columnId);
  transaction.reads.push({ kind: "index", tableId: table.id, columnIds, bounds });
  return manager.committed(transaction, table.id).mayHave?.(index.id, bounds) !== false && "noted";
}

/** The smallest and the largest value of a column; null where it has values whose order is not plain. */
function boundsOf(batch: RowBatch, limit: number, position: number): IndexBounds | null {
  const column = batch.columns[position];
  if (column === undefined || column.nulls !== null || limit === 0) return null;
  if ("data" in column) {
    let low = Infinity, high = -Infinity;
    for (let row = 0; row < limit; row++) {
      const value = column.data[row] as number;
      if (value !== value) return null;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return between(low, high);
  }
  if (column.storageClass !== "text") return null;
  const { bytes, offsets } = column;
  const compare = (a: number, b: number): number => {
    const aEnd = offsets[a + 1] as number, bEnd = offsets[b + 1] as number;
    let x = offsets[a] as number, y = offsets[b] as number;
    for (; x < aEnd && y < bEnd; x++, y++) {
      const difference = (bytes[x] as number) - (bytes[y] as number);
      if (difference !== 0) return difference;
    }
    return (aEnd - x) - (bEnd - y);
  };
  let low = 0, high = 0;
  for (let row = 1; row < limit; row++) {
    if (compare(row, low) < 0) low = row;
    else if (compare(row, high) > 0) high = row;
  }
  const text = (row: number): string =>
    decodeUtf8(bytes.subarray(offsets[row] as number, offsets[row + 1] as number));
  return between(text(low), text(high));
}

function between(low: StoredValue, high: StoredValue): IndexBounds {
  return {
    prefix: [],
    low: { value: low, inclusive: true },
    high: { value: high, inclusive: true },
    backward: false,
  };
}

/** Finds, in pieces, the first row of a batch that is to be written whose key of a unique index is taken. */
export function* checkBatch(
  check: BatchCheck,
): Generator<void, { readonly row: number; readonly error: DatabaseError } | null> {
  const { table, writeSet, batch } = check;
  let limit = batch.rowCount;
  let error: DatabaseError | null = null;
  for (const index of table.indexes) {
    if (!index.unique) continue;
    const own = writeSet.batchKeys(index).add(batch);
    yield;
    const before = own >= 0 && own < limit ? own : limit;
    const taken = yield* firstTakenKey({ ...check, limit: before }, index);
    if (taken !== null && taken.lock !== null) {
      throw new LockWait(taken.lock, LOCK_MODES.update, `key of index "${index.name}"`);
    }
    const row = taken?.row ?? before;
    if (row === limit) continue;
    limit = row;
    error = duplicateKey(table, index, batchRow(batch, row));
  }
  return error === null ? null : { row: limit, error };
}
