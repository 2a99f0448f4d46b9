/** Errors of transactions: one that cannot be serialized after others (40001), or that must not write. */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { OpNumber, RowId } from "../operations/effect.ts";

/** Something has changed on which the transaction relies; `detail` says more where more is known. */
export function changedMeanwhile(detail?: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.serializationFailure,
    "could not serialize access due to concurrent update",
    { ...(detail === undefined ? {} : { detail }), hint: "Run the transaction again." },
  );
}

/** The same, naming the table, the row and the rival. */
export function serializationFailure(
  catalog: Catalog,
  conflict: { readonly tableId: number; readonly id: RowId | null; readonly op: OpNumber | null },
): DatabaseError {
  const table = catalog.table(conflict.tableId)?.name ?? `table ${conflict.tableId}`;
  const row = conflict.id === null ? "rows" : `row ${conflict.id}`;
  const rival = conflict.op === null
    ? "a concurrent transaction"
    : `the transaction committed at op ${conflict.op}`;
  return changedMeanwhile(
    `${row} of relation "${table}", which this transaction has read, changed in ${rival}.`,
  );
}

/** A write where only reads are allowed. */
export function readOnlyTransaction(): DatabaseError {
  return new DatabaseError(
    SQLSTATE.readOnlySqlTransaction,
    "cannot execute a write in a read-only transaction",
  );
}
