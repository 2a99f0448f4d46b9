/**
 * Whether ids and keys of a bulk load are taken already: by committed rows, by the transaction's own rows, or by others
 * that have locked them. Works in pieces. A batch whose keys lie apart from all committed ones needs one look for all
 * of them.
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
import { duplicateId, duplicateKey } from "./duplicates.ts";
import type { LoadLocks } from "./load_locks.ts";
import { LOCK_MODES } from "./lock_table.ts";
import { rangeSpace } from "./locked_range.ts";
import { requireOutside } from "./row_locks.ts";
import { LockWait } from "./signals.ts";
import type { TableWriteSet } from "./write_set.ts";
import { keyColumns, keyText } from "./stored_key.ts";
import type { Transaction } from "./transaction.ts";
import type { TransactionManager } from "./transaction_manager.ts";

/** Keys looked up in one piece. */
const PIECE = 512;

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
 * The first row of the batch whose key of the unique index is taken by a row, other batches of the transaction apart;
 * -1: none. Raises a wait for who takes the key from the committed row that has it.
 */
export function* firstTakenKey(check: BatchCheck, index: IndexDefinition): Generator<void, number> {
  const { manager, transaction, table, writeSet, batch, limit } = check;
  const own = writeSet.rows.length > 0;
  const committed = !writeSet.truncated && mayBeCommitted(check, index);
  const isNoted = committed === "noted";
  if (!own && !committed) return -1;
  const positions = index.columns.map((part) => columnPosition(table, part.columnId));
  for (let row = 0; row < limit; row++) {
    if (row % PIECE === PIECE - 1) yield;
    const key: StoredValue[] = positions.map((position) => batchValue(batch, row, position));
    if (!forbidsDuplicates(index, key)) continue;
    if (own) { for (const _ of writeSet.lookup(index, key)) return row; }
    if (!committed) continue;
    if (committed === "later") {
      manager.remote?.requireNewest(transaction, table, { ids: [], key: { index, key } });
      continue;
    }
    const id = batch.ids[row] as number;
    const holder = manager.keyHolderNow(table, index, key, transaction, writeSet, id, isNoted);
    if (holder === null) continue;
    manager.awaitHolder(table, holder, { columns: keyColumns(table, index), values: key }, transaction);
    return row;
  }
  return -1;
}

/** Raises a wait for another transaction that has locked one of the keys; see {@link LoadLocks}. In one piece. */
function requireFreeKeys(check: BatchCheck, index: IndexDefinition): void {
  const { manager: { locks }, transaction, table, batch, limit } = check;
  if (!locks.mayHaveOthers(index.id, transaction)) return;
  const columns = keyColumns(table, index);
  const positions = index.columns.map((part) => columnPosition(table, part.columnId));
  for (let row = 0; row < limit; row++) {
    const key: StoredValue[] = positions.map((position) => batchValue(batch, row, position));
    if (!forbidsDuplicates(index, key)) continue;
    const lock = locks.otherSet(index.id, key, transaction) ??
      locks.heldByOther(index.id, keyText(columns, key), transaction);
    if (lock !== undefined) throw new LockWait(lock, LOCK_MODES.update, `key of index "${index.name}"`);
  }
}

/**
 * The first row whose id has come since the snapshot; -1: none. Raises a wait for another transaction that has locked
 * an id. In one piece.
 */
function firstTakenId(
  { manager, transaction, table, writeSet, batch }: Omit<BatchCheck, "limit">,
): number {
  const { id: tableId, name } = table;
  const { rowCount, ids } = batch;
  const { locks } = manager;
  if (locks.mayHaveOthers(tableId, transaction)) {
    for (let row = 0; row < rowCount; row++) {
      const id = ids[row] as number;
      const lock = locks.heldByOther(tableId, id, transaction);
      if (lock !== undefined) throw new LockWait(lock, LOCK_MODES.update, `row ${id} of relation "${name}"`);
    }
  }
  const isHere = manager.catalog.table(tableId) !== undefined && manager.remote?.has(tableId) !== true;
  if (!isHere || writeSet.truncated || manager.lastModifiedOp(tableId) <= transaction.snapshot) return -1;
  const store = manager.store(tableId);
  for (let row = 0; row < rowCount; row++) {
    const id = ids[row] as number;
    if (store.find(id, manager.lastOp) === NO_ROW || writeSet.byId.has(id) || writeSet.hides(id)) continue;
    return row;
  }
  return -1;
}

/**
 * false: no committed key lies between the batch's smallest and largest. "noted": whether such a key comes meanwhile is
 * looked up by the commit. "later": such a key may have come since.
 */
function mayBeCommitted(check: BatchCheck, index: IndexDefinition): boolean | "noted" | "later" {
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
  if (transaction.level !== "serializable") {
    return manager.committed(transaction, table.id, "newest").mayHave?.(index.id, bounds) !== false ||
      "later";
  }
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

/** Throws `LockWait` when another transaction keeps writers out of what a row of the batch is in. In one piece. */
export function requireBatchOutside(
  manager: TransactionManager,
  transaction: Transaction,
  table: TableDefinition,
  batch: RowBatch,
): void {
  if (!manager.locks.mayHaveOthers(rangeSpace(table.id), transaction)) return;
  for (let row = 0; row < batch.rowCount; row++) {
    requireOutside(manager, transaction, table, batch.ids[row] as number, batchRow(batch, row));
  }
}

/**
 * Locks the ids and unique keys of a batch that is to be written, and finds, in pieces, its first row of which one is
 * taken.
 */
export function* checkBatch(
  check: Omit<BatchCheck, "limit">,
  locks: LoadLocks,
): Generator<void, { readonly row: number; readonly error: DatabaseError } | null> {
  const { table, writeSet, batch } = check;
  let limit = batch.rowCount;
  let error: DatabaseError | null = null;
  if (table.rowIdColumn !== null) {
    const taken = firstTakenId(check);
    locks.lockIds(table, batch);
    if (taken >= 0) {
      limit = taken;
      error = duplicateId(table, batch.ids[taken] as number);
    }
    yield;
  }
  for (const index of table.indexes) {
    if (!index.unique) continue;
    const keys = writeSet.batchKeys(index);
    const own = keys.add(batch);
    const before = own >= 0 && own < limit ? own : limit;
    requireFreeKeys({ ...check, limit: before }, index);
    locks.lockKeys(index, keys);
    yield;
    const taken = yield* firstTakenKey({ ...check, limit: before }, index);
    const row = taken < 0 ? before : taken;
    if (row === limit) continue;
    limit = row;
    error = duplicateKey(table, index, batchRow(batch, row));
  }
  return error === null ? null : { row: limit, error };
}
