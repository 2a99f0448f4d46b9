/** What a transaction has written to its tables, for the last looks before its commit. */
import type { DatabaseError } from "../base/errors.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import { forbidsDuplicates } from "../catalog/index_keys.ts";
import type { RowBatch, StoredRow } from "../operations/effect.ts";
import { serializationFailure } from "./conflicts.ts";
import { duplicateId, duplicateKey } from "./duplicates.ts";
import { keyOf } from "./stored_key.ts";
import type { Transaction } from "./transaction.ts";
import type { TransactionManager } from "./transaction_manager.ts";
import type { TableWriteSet, WriteSetRow } from "./write_set.ts";

/** A transaction, as far as its rows go. */
interface Writer {
  readonly writeSets: Iterable<TableWriteSet>;
}

/** Rows that a transaction creates or changes one by one, in tables that were there before. */
export function* written(
  transaction: Writer,
): Iterable<{ readonly writeSet: TableWriteSet; readonly row: WriteSetRow; readonly values: StoredRow }> {
  for (const writeSet of transaction.writeSets) {
    if (writeSet.truncated) continue;
    for (const row of writeSet.rows) {
      if (row.values !== null && !row.isFilled) yield { writeSet, row, values: row.values };
    }
  }
}

/** Bulk loads of new rows, for the last look at their ids before the commit. `replacesAll`: the table was emptied. */
export function* batches(transaction: Writer): Iterable<
  {
    readonly table: TableDefinition;
    readonly batch: RowBatch;
    readonly writeSet: TableWriteSet;
    readonly replacesAll: boolean;
  }
> {
  for (const writeSet of transaction.writeSets) {
    const { definition: table, truncated: replacesAll } = writeSet;
    for (const batch of writeSet.batches) {
      if (!writeSet.replacing.has(batch)) yield { table, batch, writeSet, replacesAll };
    }
  }
}

/**
 * An id or a unique key that was free when a row was written may have come with an entry that was on its way in steps
 * then: bulk loads take no locks.
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
