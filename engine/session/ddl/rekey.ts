/**
 * Adding a one-column integer primary key to a table that has rows: from then on the column is the row id, so every
 * row is written anew under it, in columns and sorted, as a bulk load would.
 */
import { assertDefined } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { BatchColumn, RowBatch } from "../../operations/effect.ts";
import type { ReadableTable, RowLocation } from "../../storage/vector.ts";
import { storageClassOf } from "../../types/sql_type.ts";
import type { StoredValue } from "../../types/stored_value.ts";
import type { Transaction } from "../../transactions/transaction.ts";
import type { Session } from "../session.ts";

/** Rows of one batch. */
const BATCH_ROWS = 65_536;

const encoder = new TextEncoder();

/** Rewrites the table's rows under the value of its row-id column; raises 23505 for duplicates. */
export function rekey(session: Session, transaction: Transaction, table: TableDefinition): void {
  const reader = transaction.table(table.id);
  const keyId = assertDefined(table.rowIdColumn, "row id column");
  const { ids, locations } = sortedRows(session, reader, table, keyId);
  if (ids.length === 0) return;
  const batches: RowBatch[] = [];
  for (let start = 0; start < ids.length; start += BATCH_ROWS) {
    const end = Math.min(start + BATCH_ROWS, ids.length);
    session.checkCancelled();
    batches.push(batchOf(reader, table, ids.subarray(start, end), locations.subarray(start, end)));
  }
  // All rows have been read; the table can be emptied beneath the reader.
  transaction.truncate(table.id);
  for (const batch of batches) transaction.createBatch(table.id, batch);
}

function sortedRows(
  session: Session,
  reader: ReadableTable,
  table: TableDefinition,
  keyId: number,
): { readonly ids: Float64Array; readonly locations: Float64Array } {
  const keys: number[] = [];
  const found: RowLocation[] = [];
  const cursor = reader.scan([keyId], { ids: false, prune: [] });
  for (let block = cursor.next(); block !== null; block = cursor.next()) {
    session.checkCancelled();
    for (let row = 0; row < block.rowCount; row++) {
      if (block.hidden !== null && block.hidden[row] !== 0) continue;
      const location = block.firstLocation + row;
      const key = reader.valueAt(location, keyId);
      if (typeof key !== "number") {
        throw new DatabaseError(
          SQLSTATE.featureNotSupported,
          `cannot add a primary key on a value beyond ±(2^53 - 1) to existing rows: ${key}`,
        );
      }
      keys.push(key);
      found.push(location);
    }
  }
  const order = Uint32Array.from(keys.keys()).sort((a, b) => (keys[a] as number) - (keys[b] as number));
  const ids = Float64Array.from(order, (index) => keys[index] as number);
  const locations = Float64Array.from(order, (index) => found[index] as number);
  const duplicate = ids.findIndex((id, index) => index > 0 && id === ids[index - 1]);
  if (duplicate >= 0) {
    const column = table.columns.find((each) => each.id === keyId)?.name ?? "";
    const name = table.constraints.find((each) => each.kind === "primary_key")?.name ?? "";
    throw new DatabaseError(SQLSTATE.uniqueViolation, `could not create unique index "${name}"`, {
      detail: `Key (${column})=(${ids[duplicate]}) is duplicated.`,
      schema: table.schema,
      table: table.name,
      constraint: name,
    });
  }
  return { ids, locations };
}

function batchOf(
  reader: ReadableTable,
  table: TableDefinition,
  ids: Float64Array,
  locations: Float64Array,
): RowBatch {
  return {
    rowCount: ids.length,
    ids,
    columns: table.columns.map((column) => columnBatch(reader, column, locations)),
  };
}

function columnBatch(reader: ReadableTable, column: ColumnDefinition, locations: Float64Array): BatchColumn {
  const storageClass = storageClassOf(column.type);
  const count = locations.length;
  let nulls: Uint8Array | null = null;
  const isNull = (row: number, value: StoredValue): value is null => {
    if (value !== null) return false;
    nulls ??= new Uint8Array(count);
    nulls[row] = 1;
    return true;
  };
  if (storageClass === "int" || storageClass === "float") {
    const data = new Float64Array(count);
    let big: Map<number, bigint> | null = null;
    for (let row = 0; row < count; row++) {
      const value = reader.valueAt(locations[row] as number, column.id);
      if (isNull(row, value)) continue;
      if (typeof value === "bigint") {
        data[row] = NaN;
        big ??= new Map();
        big.set(row, value);
      } else data[row] = value as number;
    }
    return storageClass === "int" ? { storageClass, data, nulls, big } : { storageClass, data, nulls };
  }
  const offsets = new Uint32Array(count + 1);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (let row = 0; row < count; row++) {
    const value = reader.valueAt(locations[row] as number, column.id);
    if (!isNull(row, value)) {
      const piece = typeof value === "string" ? encoder.encode(value) : value as Uint8Array;
      pieces.push(piece);
      length += piece.length;
    }
    offsets[row + 1] = length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return { storageClass, offsets, bytes, nulls };
}
