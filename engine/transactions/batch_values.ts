/** Single values of bulk loads, whose rows are kept column by column. */
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import type { BatchColumn, RowBatch, RowId, StoredValue } from "../operations/effect.ts";

/** The value of one row of a batch's column. */
export function batchValue(batch: RowBatch, row: number, position: number): StoredValue {
  const column = batch.columns[position];
  if (column === undefined || column.nulls?.[row] === 1) return null;
  if (column.storageClass === "int") {
    const value = column.data[row] as number;
    return value !== value ? column.big?.get(row) ?? null : value;
  }
  if (column.storageClass === "float") return column.data[row] as number;
  const bytes = column.bytes.subarray(column.offsets[row] as number, column.offsets[row + 1] as number);
  return column.storageClass === "text" ? decodeUtf8(bytes) : bytes.slice();
}

/** A column that holds the same value in every row. */
export function constantColumn(
  storageClass: BatchColumn["storageClass"],
  value: StoredValue,
  rowCount: number,
): BatchColumn {
  const nulls = value === null ? new Uint8Array(rowCount).fill(1) : null;
  switch (storageClass) {
    case "float":
      return { storageClass, data: new Float64Array(rowCount).fill(Number(value ?? 0)), nulls };
    case "int": {
      const isBig = typeof value === "bigint";
      const data = new Float64Array(rowCount).fill(isBig ? NaN : Number(value ?? 0));
      const big = isBig ? new Map(Array.from(data, (_, row) => [row, value])) : null;
      return { storageClass, data, nulls, big };
    }
    default: {
      const one = typeof value === "string" ? encodeUtf8(value) : value as Uint8Array | null;
      const length = one?.length ?? 0;
      const bytes = new Uint8Array(length * rowCount);
      for (let row = 0; one !== null && row < rowCount; row++) bytes.set(one, row * length);
      const offsets = Uint32Array.from({ length: rowCount + 1 }, (_, row) => row * length);
      return { storageClass, offsets, bytes, nulls };
    }
  }
}

/** All values of one row of a batch. */
export function batchRow(batch: RowBatch, row: number): StoredValue[] {
  return batch.columns.map((_, position) => batchValue(batch, row, position));
}

/** Bytes of memory that the batch's arrays take. */
export function batchMemory({ rowCount, ids, columns }: RowBatch): number {
  let bytes = 64 + ids.byteLength;
  for (const column of columns) {
    bytes += column.nulls === null ? 0 : rowCount;
    if ("data" in column) {
      bytes += column.data.byteLength;
      if (column.storageClass === "int" && column.big !== null) bytes += column.big.size * 80;
    } else bytes += column.offsets.byteLength + column.bytes.byteLength;
  }
  return bytes;
}

/** What is known of a batch's ids, so that one of them is found without a look at all. */
interface Ids {
  readonly lowest: number;
  readonly highest: number;
  readonly ascending: boolean;
}

const idsByBatch = new WeakMap<RowBatch, Ids>();

function idsOf(batch: RowBatch): Ids {
  let ids = idsByBatch.get(batch);
  if (ids === undefined) {
    let lowest = Infinity, highest = -Infinity, ascending = true;
    for (let row = 0; row < batch.rowCount; row++) {
      const id = batch.ids[row] as number;
      if (id <= highest) ascending = false;
      if (id < lowest) lowest = id;
      if (id > highest) highest = id;
    }
    idsByBatch.set(batch, ids = { lowest, highest, ascending });
  }
  return ids;
}

/** The row of the batch with this id, or -1. */
export function rowOfId(batch: RowBatch, id: RowId): number {
  if (typeof id !== "number") return -1;
  const { lowest, highest, ascending } = idsOf(batch);
  if (id < lowest || id > highest) return -1;
  if (!ascending) return batch.ids.indexOf(id);
  let low = 0, high = batch.rowCount - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((batch.ids[middle] as number) < id) low = middle + 1;
    else high = middle;
  }
  return batch.ids[low] === id ? low : -1;
}
