/**
 * Columns of a batch as values one row after the other, and columns made from such values: how a load computes what
 * triggers set and what is generated.
 *
 * Texts are decoded and encoded for all rows of a batch at once, which is several times as fast as one by one.
 */
import { decodeUtf8, encodeUtf8, utf8ByteLength } from "../../base/bytes.ts";
import type { BatchColumn, StoredValue } from "../../operations/effect.ts";

/** Reads the value of a row. */
export type ColumnReader = (row: number) => StoredValue;

/** The reader of a column's first rows. */
export function columnReader(column: BatchColumn, rowCount: number): ColumnReader {
  const { nulls } = column;
  const read = plainReader(column, rowCount);
  return nulls === null ? read : (row) => nulls[row] === 1 ? null : read(row);
}

function plainReader(column: BatchColumn, rowCount: number): ColumnReader {
  switch (column.storageClass) {
    case "float": {
      const { data } = column;
      return (row) => data[row] as number;
    }
    case "int": {
      const { data, big } = column;
      if (big === null) return (row) => data[row] as number;
      return (row) => {
        const value = data[row] as number;
        return value !== value ? big.get(row) ?? null : value;
      };
    }
    case "bytes": {
      const { bytes, offsets } = column;
      return (row) => bytes.slice(offsets[row], offsets[row + 1]);
    }
    case "text": {
      const { bytes, offsets } = column;
      const first = offsets[0] as number;
      const length = (offsets[rowCount] as number) - first;
      const all = decodeUtf8(bytes.subarray(first, first + length));
      // One character for each byte: the offsets are those of the text.
      if (all.length === length) {
        return (row) => all.slice((offsets[row] as number) - first, (offsets[row + 1] as number) - first);
      }
      return (row) => decodeUtf8(bytes.subarray(offsets[row] as number, offsets[row + 1] as number));
    }
  }
}

/** A column from values. */
export function columnOf(
  storageClass: BatchColumn["storageClass"],
  values: readonly StoredValue[],
): BatchColumn {
  const hasNulls = values.includes(null);
  const nulls = hasNulls ? Uint8Array.from(values, (value) => value === null ? 1 : 0) : null;
  switch (storageClass) {
    case "float": {
      const data = new Float64Array(values.length);
      for (let row = 0; row < values.length; row++) data[row] = Number(values[row] ?? 0);
      return { storageClass, data, nulls };
    }
    case "int": {
      let big: Map<number, bigint> | null = null;
      const data = new Float64Array(values.length);
      for (let row = 0; row < values.length; row++) {
        const value = values[row] ?? 0;
        if (typeof value === "bigint") {
          big ??= new Map();
          big.set(row, value);
          data[row] = NaN;
        } else data[row] = Number(value);
      }
      return { storageClass, data, nulls, big };
    }
    case "text":
      return { storageClass, ...encodedTexts(values), nulls };
    case "bytes": {
      const offsets = new Uint32Array(values.length + 1);
      for (let row = 0; row < values.length; row++) {
        offsets[row + 1] = (offsets[row] as number) + ((values[row] as Uint8Array | null)?.length ?? 0);
      }
      const bytes = new Uint8Array(offsets[values.length] as number);
      for (let row = 0; row < values.length; row++) {
        const value = values[row] as Uint8Array | null;
        if (value !== null) bytes.set(value, offsets[row]);
      }
      return { storageClass, offsets, bytes, nulls };
    }
  }
}

function encodedTexts(
  values: readonly StoredValue[],
): { readonly offsets: Uint32Array; readonly bytes: Uint8Array } {
  const offsets = new Uint32Array(values.length + 1);
  // The engine joins texts that are added up when they are read, all at once.
  let all = "";
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as string | null;
    if (value !== null) all += value;
    offsets[row + 1] = all.length;
  }
  const bytes = encodeUtf8(all);
  if (bytes.length !== all.length) {
    for (let row = 0, end = 0; row < values.length; row++) {
      const value = values[row] as string | null;
      if (value !== null) end += utf8ByteLength(value);
      offsets[row + 1] = end;
    }
  }
  return { offsets, bytes };
}
