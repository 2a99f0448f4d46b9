/** Rows of a table as they travel from a shard to the router: by column where there are many of them. */
import type { TableDefinition } from "../catalog/definitions.ts";
import type { BatchColumn, RowBatch, RowId, StoredRow, StoredValue } from "../operations/effect.ts";
import { BATCH_ROWS, type BatchBuilder, BytesColumn } from "../transactions/batch_builder.ts";
import type { Block } from "../storage/access/block.ts";
import type { ReadableTable, ZonePredicate } from "../storage/access/readable_table.ts";
import type { Vector } from "../storage/access/vector.ts";
import { matches } from "../transactions/read_set.ts";

/** All values of a row. */
export function rowAt(reader: ReadableTable, table: TableDefinition, location: number): StoredRow {
  return table.columns.map((column) => reader.valueAt(location, column.id));
}

/** The value of one row of a vector. */
export function vectorValue(
  vector: Vector,
  row: number,
  decode: (bytes: Uint8Array) => StoredValue,
): StoredValue {
  if (vector.kind === "constant") return vector.value;
  if (vector.nulls !== null && vector.nulls[row] === 1) return null;
  switch (vector.kind) {
    case "number": {
      const value = vector.data[row] as number;
      return value !== value ? vector.big?.get(row) ?? value : value;
    }
    case "dictionary":
      return vector.dictionary[vector.codes[row] as number] ?? null;
    case "bytes":
      return decode(vector.bytes.subarray(vector.starts[row] as number, vector.ends[row] as number));
  }
}

/** Which rows of a block, scanned with all columns, a scan wants. */
export function wantedRows(
  table: TableDefinition,
  block: Block,
  prune: readonly ZonePredicate[],
  decoders: readonly ((bytes: Uint8Array) => StoredValue)[],
): number[] {
  const predicate = { kind: "scan", tableId: table.id, prune } as const;
  const columnIds = prune.map((each) => each.columnId);
  const positions = columnIds.map((id) => table.columns.findIndex((column) => column.id === id));
  const rows: number[] = [];
  for (let row = 0; row < block.rowCount; row++) {
    if (block.hidden !== null && block.hidden[row] !== 0) continue;
    if (prune.length > 0) {
      const values = positions.map((position) =>
        vectorValue(
          block.columns[position] as Vector,
          row,
          decoders[position] as (bytes: Uint8Array) => StoredValue,
        )
      );
      if (!matches(values, columnIds, predicate)) continue;
    }
    rows.push(row);
  }
  return rows;
}

/** Appends rows of a block to a batch that has room for them, and their ids to a list. */
export function appendRows(builder: BatchBuilder, ids: RowId[], block: Block, rows: readonly number[]): void {
  const first = builder.rowCount;
  for (let position = 0; position < builder.columns.length; position++) {
    const vector = block.columns[position] as Vector;
    const column = builder.columns[position];
    if (column instanceof BytesColumn && vector.kind === "bytes") {
      rows.forEach((row, index) => {
        if (vector.nulls !== null && vector.nulls[row] === 1) column.setNull(first + index);
        else {column.set(
            first + index,
            vector.bytes,
            vector.starts[row] as number,
            vector.ends[row] as number,
          );}
      });
    } else {
      rows.forEach((row, index) => {
        builder.rowCount = first + index;
        builder.setStored(position, vectorValue(vector, row, (bytes) => bytes));
      });
    }
  }
  builder.rowCount = first + rows.length;
  for (const row of rows) ids.push(vectorValue(block.ids as Vector, row, (bytes) => bytes) as RowId);
}

/** A batch whose arrays are no larger than its rows: what travels is copied whole. */
export function compact(batch: RowBatch): RowBatch {
  return batch.rowCount * 2 > BATCH_ROWS ? batch : pickRows(batch, null);
}

/** Some rows of a batch, in an own one; null: all. */
export function pickRows(batch: RowBatch, rows: readonly number[] | null): RowBatch {
  const picked = rows ?? Array.from({ length: batch.rowCount }, (_, row) => row);
  return {
    rowCount: picked.length,
    ids: Float64Array.from(picked, (row) => batch.ids[row] as number),
    columns: batch.columns.map((column) => pickColumn(column, picked)),
  };
}

function pickColumn(column: BatchColumn, rows: readonly number[]): BatchColumn {
  const nulls = column.nulls === null ? null : Uint8Array.from(rows, (row) => column.nulls?.[row] ?? 0);
  if ("data" in column) {
    const data = Float64Array.from(rows, (row) => column.data[row] as number);
    if (column.storageClass === "float") return { storageClass: "float", data, nulls };
    let big: Map<number, bigint> | null = null;
    if (column.big !== null) {
      rows.forEach((row, index) => {
        const value = column.big?.get(row);
        if (value !== undefined) (big ??= new Map()).set(index, value);
      });
    }
    return { storageClass: "int", data, nulls, big };
  }
  const offsets = new Uint32Array(rows.length + 1);
  rows.forEach((row, index) => {
    const length = (column.offsets[row + 1] as number) - (column.offsets[row] as number);
    offsets[index + 1] = (offsets[index] as number) + length;
  });
  const bytes = new Uint8Array(offsets[rows.length] as number);
  rows.forEach((row, index) =>
    bytes.set(
      column.bytes.subarray(column.offsets[row] as number, column.offsets[row + 1] as number),
      offsets[index] as number,
    )
  );
  return { storageClass: column.storageClass, offsets, bytes, nulls };
}
