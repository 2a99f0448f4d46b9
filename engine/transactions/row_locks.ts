/** How a transaction takes locks on rows and keys: which mode a write needs, and what it waits for. */
import type { Catalog } from "../catalog/catalog.ts";
import type { IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import { forbidsDuplicates } from "../catalog/index_keys.ts";
import type { RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import { LOCK_MODES, type LockKey, type LockMode, type LockOwner, type LockTable } from "./lock_table.ts";
import { referencedPositions } from "./referenced_columns.ts";
import { LockWait } from "./signals.ts";
import { keyColumns, keyOf, keyText } from "./stored_key.ts";

/** The transaction that takes locks; `interruptible`: others may run in between. */
type Locking = LockOwner & { readonly interruptible: boolean };

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
}

/** The same for a key of a unique index. */
export function takeKey(
  manager: Locks,
  transaction: Locking,
  table: TableDefinition,
  index: IndexDefinition,
  key: readonly StoredValue[],
): void {
  const text = keyText(keyColumns(table, index), key);
  takeLock(manager, transaction, index.id, text, LOCK_MODES.update, () => `key of index "${index.name}"`);
}

/** The same for all unique keys of a row. */
export function takeKeys(
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

/** Who changes no key that foreign keys refer to lets those in who refer to the row. `values` null: it is deleted. */
export function modeOfWrite(
  manager: { readonly remote: unknown; rowNow(table: TableDefinition, id: RowId): StoredRow | null },
  catalog: Catalog,
  table: TableDefinition,
  id: RowId,
  values: StoredRow | null,
): LockMode {
  if (values === null || manager.remote !== null) return LOCK_MODES.update;
  const positions = referencedPositions(catalog, table);
  if (positions.length === 0) return LOCK_MODES.update;
  const before = manager.rowNow(table, id);
  const keeps = before !== null &&
    positions.every((position) => before[position] === (values[position] ?? null));
  return keeps ? LOCK_MODES.noKeyUpdate : LOCK_MODES.update;
}
