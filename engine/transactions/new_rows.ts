/** Rows that an INSERT of many brings in batches; see `BulkWrites`. */
import type { OpNumber, RowBatch } from "../operations/effect.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { NO_ROW } from "../storage/access/block.ts";
import type { ReadableTable } from "../storage/access/readable_table.ts";
import type { TableWriteSet } from "./write_set.ts";

/** What rows come to. */
interface Inserting {
  readonly catalog: Catalog;
  readonly views: {
    anew(tableId: number, writeSet: TableWriteSet, tracks: boolean, snapshot: OpNumber): ReadableTable;
  };
  checkBatch(
    tableId: number,
    batch: RowBatch,
  ): Generator<void, { readonly row: number; readonly error: Error } | null>;
  createBatch(tableId: number, batch: RowBatch): void;
}

/**
 * Whether new rows may come in batches, the first of them with this id: none of them looks for others, and the table,
 * in its newest state, has no row with that id or a larger one.
 */
export function takesNewRows(
  { catalog, views }: Inserting,
  writeSet: TableWriteSet,
  { id, lastOp }: { readonly id: number; readonly lastOp: OpNumber },
): boolean {
  const { definition, filled } = writeSet;
  if (filled !== null || catalog.referencing(definition.id).some((each) => each.id === definition.id)) {
    return false;
  }
  if (definition.rowIdColumn === null) return true;
  const above = { prefix: [], low: { value: id, inclusive: true }, high: null, backward: false };
  return views.anew(definition.id, writeSet, false, lastOp).findRange(above).next() === NO_ROW;
}

/** Writes rows of an INSERT; raises 23505 for the first one whose id or key is taken. */
export function writeNewRows(transaction: Inserting, tableId: number, batch: RowBatch): void {
  const check = transaction.checkBatch(tableId, batch);
  let step = check.next();
  while (step.done !== true) step = check.next();
  if (step.value !== null) throw step.value.error;
  transaction.createBatch(tableId, batch);
}
