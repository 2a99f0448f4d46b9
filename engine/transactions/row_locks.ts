/** How a transaction takes locks on rows and keys: which mode a write needs, and what it waits for. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import { forbidsDuplicates } from "../catalog/index_keys.ts";
import type { RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import { LOCK_MODES, type LockKey, type LockMode, type LockOwner, type LockTable } from "./lock_table.ts";
import type { AwaitedLock } from "./awaited_lock.ts";
import { duplicateId, duplicateKey } from "./duplicates.ts";
import { referencedPositions } from "./referenced_columns.ts";
import { rangeSpace } from "./locked_range.ts";
import { isRetrySignal, LockWait, StaleSnapshot } from "./signals.ts";
import { keyColumns, keyOf, keyText } from "./stored_key.ts";
import type { Transaction } from "./transaction.ts";
import type { TransactionManager } from "./transaction_manager.ts";
import type { TableWriteSet } from "./write_set.ts";
import { written } from "./written_rows.ts";
import { serializationFailure } from "./conflicts.ts";

/** The transaction that takes locks; `interruptible`: others may run in between. */
type Locking = LockOwner & {
  readonly interruptible: boolean;
  readonly isGuess?: boolean;
  awaited?: AwaitedLock | null;
};

/** Where locks are. */
type Locks = { readonly locks: LockTable };

/** Takes a lock, or sees that nobody holds it where nothing else runs beside the transaction. Throws `LockWait`. */
export function takeLock(
  { locks }: Locks,
  transaction: Locking,
  space: number,
  key: LockKey,
  mode: LockMode,
  describe: () => string,
): void {
  const held = transaction.interruptible
    ? locks.acquire(space, key, transaction, mode)
    : locks.heldByOther(space, key, transaction, mode);
  if (held !== undefined) throw new LockWait(held, mode, describe());
  const { awaited } = transaction;
  if (awaited?.key !== key || awaited.space !== space || transaction.isGuess === true) return;
  transaction.awaited = null;
}

/**
 * Locks the id of a row that is to be created, unless a committed row has it that others have only locked or changed in
 * place: there it makes no difference how they end.
 */
export function takeId(
  manager: TransactionManager,
  transaction: Transaction,
  table: TableDefinition,
  id: RowId,
): void {
  try {
    takeLock(
      manager,
      transaction,
      table.id,
      id,
      LOCK_MODES.update,
      () => `row ${id} of relation "${table.name}"`,
    );
  } catch (thrown) {
    if (!isRetrySignal(thrown) || !manager.existsNow(table.id, id, transaction)) throw thrown;
    manager.awaitHolder(table, id, null, transaction);
    throw duplicateId(table, id);
  }
}

/** Throws `LockWait` when another transaction has locked a row in any way. */
export function requireFree({ locks }: Locks, transaction: Locking, table: TableDefinition, id: RowId): void {
  const held = locks.heldByOther(table.id, id, transaction);
  if (held !== undefined) {
    throw new LockWait(held, LOCK_MODES.update, `row ${id} of relation "${table.name}"`);
  }
}

/** The same for a key of a unique index. */
function takeKey(
  manager: Locks,
  transaction: Locking,
  table: TableDefinition,
  index: IndexDefinition,
  key: readonly StoredValue[],
): void {
  const describe = () => `key of index "${index.name}"`;
  const set = manager.locks.otherSet(index.id, key, transaction);
  if (set !== undefined) throw new LockWait(set, LOCK_MODES.update, describe());
  const text = keyText(keyColumns(table, index), key);
  takeLock(manager, transaction, index.id, text, LOCK_MODES.update, describe);
}

/** The same for all unique keys of a row. */
function takeKeys(
  manager: Locks,
  transaction: Locking,
  table: TableDefinition,
  row: StoredRow,
): void {
  for (const index of table.indexes) {
    if (!index.unique) continue;
    const key = keyOf(table, index, row, index.columns.length);
    if (forbidsDuplicates(index, key)) takeKey(manager, transaction, table, index, key);
  }
}

/** Throws `LockWait` when another transaction keeps writers out of what the row is in, or is to be in. */
export function requireOutside(
  manager: TransactionManager,
  transaction: Transaction,
  table: TableDefinition,
  id: RowId,
  values: StoredRow | null,
): void {
  const { locks } = manager;
  const space = rangeSpace(table.id);
  if (!locks.mayHaveOthers(space, transaction)) return;
  for (const row of [manager.rowNow(table, id), values]) {
    const held = row === null ? undefined : locks.otherSet(space, row, transaction);
    if (held !== undefined) throw new LockWait(held, LOCK_MODES.update, `rows of "${table.name}"`);
  }
}

/** Locks the unique keys of a row that is to be written; raises 23505 when another row has one of them. */
export function requireNewKeys(
  manager: TransactionManager,
  transaction: Transaction,
  writeSet: TableWriteSet,
  { table, id, values }: { readonly table: TableDefinition; readonly id: RowId; readonly values: StoredRow },
): void {
  requireOutside(manager, transaction, table, id, values);
  for (const index of table.indexes) {
    if (!index.unique) continue;
    const key = keyOf(table, index, values, index.columns.length);
    if (!forbidsDuplicates(index, key)) continue;
    takeKey(manager, transaction, table, index, key);
    for (const row of writeSet.lookup(index, key)) {
      if (row.id === id || transaction.isGuess) continue;
      const isOld = row.isFilled && manager.changedSince(table.id, row.id, transaction.snapshot);
      throw isOld ? new StaleSnapshot(table.id, row.id) : duplicateKey(table, index, values);
    }
    if (writeSet.truncated || manager.remote?.keepsKey(transaction, { table, index, key, id }) === true) {
      continue;
    }
    const holder = manager.keyHolderNow(table, index, key, transaction, writeSet, id);
    if (holder === null) continue;
    manager.awaitHolder(table, holder, { columns: keyColumns(table, index), values: key }, transaction);
    throw duplicateKey(table, index, values);
  }
}

/**
 * An id or a unique key that was free when a row was written must not have come with an entry that was on its way in
 * steps then.
 */
export function requireStillNew(manager: TransactionManager, transaction: Transaction): void {
  for (const { writeSet, row: { id, existed }, values } of written(transaction)) {
    const { definition: table } = writeSet;
    if (manager.remote?.has(table.id) === true) continue;
    const isSerializable = transaction.level === "serializable";
    const lost = (): DatabaseError =>
      serializationFailure(manager.catalog, { tableId: table.id, id, op: null });
    if (!existed && manager.existsNow(table.id, id, transaction)) {
      throw isSerializable ? lost() : duplicateId(table, id);
    }
    for (const index of table.indexes) {
      if (!index.unique) continue;
      const key = keyOf(table, index, values, index.columns.length);
      if (!forbidsDuplicates(index, key)) continue;
      if (manager.keyHolderNow(table, index, key, transaction, writeSet, id) === null) continue;
      throw isSerializable ? lost() : duplicateKey(table, index, values);
    }
  }
}

/** Whether another transaction keeps this one from locking a row; `refuses`: raises 55P03 then. */
export function isLocked(
  { locks }: Locks,
  transaction: Locking,
  table: TableDefinition,
  { id, mode, refuses }: { readonly id: RowId; readonly mode: LockMode; readonly refuses: boolean },
): boolean {
  if (locks.heldByOther(table.id, id, transaction, mode) === undefined) return false;
  if (!refuses) return true;
  throw new DatabaseError(
    SQLSTATE.lockNotAvailable,
    `could not obtain lock on row in relation "${table.name}"`,
  );
}

/** Takes the locks of all that a transaction has written to a table while nobody could run in between. */
export function lockWritten(
  manager: TransactionManager,
  transaction: Transaction,
  { definition, rows, deleted, replaced }: TableWriteSet,
): void {
  for (const { id, values, isFilled } of rows) {
    if (isFilled) continue;
    const mode = modeOfWrite(manager, transaction, definition, id, values);
    takeLock(manager, transaction, definition.id, id, mode, () => `row ${id}`);
    if (values !== null) takeKeys(manager, transaction, definition, values);
  }
  for (const set of [...deleted, ...replaced]) manager.locks.lockSet(definition.id, set, transaction);
}

/** Who changes no key that foreign keys refer to lets those in who refer to the row. `values` null: it is deleted. */
export function modeOfWrite(
  manager: TransactionManager,
  transaction: Transaction,
  table: TableDefinition,
  id: RowId,
  values: StoredRow | null,
): LockMode {
  if (values === null) return LOCK_MODES.update;
  const positions = referencedPositions(transaction.catalog, table);
  if (positions.length === 0) return LOCK_MODES.update;
  const { remote } = manager;
  const row = remote?.has(table.id) === true ? null : manager.rowNow(table, id);
  const before = (position: number): StoredValue | undefined =>
    row !== null
      ? row[position]
      : remote?.knownValue(transaction, table.id, id, table.columns[position]?.id ?? 0);
  const keeps = positions.every((position) => before(position) === (values[position] ?? null));
  return keeps ? LOCK_MODES.noKeyUpdate : LOCK_MODES.update;
}
