/** What a transaction has written to its tables, for the last looks before its commit. */
import type { TableDefinition } from "../catalog/definitions.ts";
import type { RowBatch, StoredRow } from "../operations/effect.ts";
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
