/** How a transaction locks what its client's transactions have lost by before; see `losses.ts`. */
import type { TableDefinition } from "../catalog/definitions.ts";
import { LOCK_MODES } from "./lock_table.ts";
import { LockedRange, rangeSpace } from "./locked_range.ts";
import { takeLock } from "./row_locks.ts";
import { LockWait, TableWait } from "./signals.ts";
import type { Transaction } from "./transaction.ts";
import type { TransactionManager } from "./transaction_manager.ts";
import type { TableWriteSet } from "./write_set.ts";

/** Rows of a rival that are looked at; one that has more is waited for. */
const LOOKED_AT = 1000;

/** Locks what the client's transactions have lost by before. Throws what is to be waited for. */
export function takeLosses(manager: TransactionManager, transaction: Transaction): void {
  const losses = manager.losses.before(transaction);
  if (losses.length === 0) return;
  for (const { tableId, id, into } of losses) {
    const table = manager.catalog.table(tableId);
    if (table === undefined) continue;
    if (id !== null) {
      takeLock(manager, transaction, tableId, id, LOCK_MODES.noKeyUpdate, () => `row ${id}`);
    } else if (into !== null) takeRange(manager, transaction, table, new LockedRange(table, into));
    else {
      const rival = manager.claimTable(tableId, transaction);
      if (rival !== undefined) throw new TableWait(rival, `table ${tableId}`);
    }
  }
  manager.advanceSnapshot(transaction);
}

/** Keeps others from writing into a range, once those who have done so have ended. */
function takeRange(
  manager: TransactionManager,
  transaction: Transaction,
  table: TableDefinition,
  range: LockedRange,
): void {
  const { locks } = manager;
  const space = rangeSpace(table.id);
  for (const lock of locks.setsOf(space)) {
    const { set } = lock;
    if (!(set instanceof LockedRange)) continue;
    if (!lock.owners.has(transaction)) {
      if (set.overlaps(range)) throw new LockWait(lock, LOCK_MODES.update, `rows of "${table.name}"`);
    } else if (set.key === range.key) return;
  }
  const rival = manager.writersOf(table.id).find((each) =>
    each !== transaction && writesInto(manager, table, each.writtenTo(table.id), range)
  );
  if (rival !== undefined) throw new TableWait(rival, `rows of "${table.name}"`);
  locks.lockSet(space, range, transaction);
}

function writesInto(
  manager: TransactionManager,
  table: TableDefinition,
  writeSet: TableWriteSet | undefined,
  range: LockedRange,
): boolean {
  if (writeSet === undefined) return false;
  const { rows, batches, truncated, hidesInBulk } = writeSet;
  if (truncated || hidesInBulk || batches.length > 0 || rows.length > LOOKED_AT) return true;
  return rows.some(({ id, values, existed }) => {
    if (values !== null && range.has(values)) return true;
    const before = existed ? manager.rowNow(table, id) : null;
    return before !== null && range.has(before);
  });
}
