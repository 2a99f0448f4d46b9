/** Whether the unique keys of a row that a transaction writes are new. */
import type { TableDefinition } from "../catalog/definitions.ts";
import { forbidsDuplicates } from "../catalog/index_keys.ts";
import type { RowId, StoredRow } from "../operations/effect.ts";
import { duplicateKey } from "./duplicates.ts";
import { takeKey } from "./row_locks.ts";
import { StaleSnapshot } from "./signals.ts";
import { keyOf } from "./stored_key.ts";
import type { Transaction } from "./transaction.ts";
import type { TransactionManager } from "./transaction_manager.ts";
import type { TableWriteSet } from "./write_set.ts";

/** Locks the unique keys of a row that is to be written; raises 23505 when another row has one of them. */
export function requireNewKeys(
  manager: TransactionManager,
  transaction: Transaction,
  writeSet: TableWriteSet,
  { table, id, values }: { readonly table: TableDefinition; readonly id: RowId; readonly values: StoredRow },
): void {
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
    const rival = manager.keyHolderNow(table, index, key, transaction, writeSet, id);
    if (rival) throw duplicateKey(table, index, values);
  }
}
