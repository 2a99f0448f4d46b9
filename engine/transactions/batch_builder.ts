/**
 * Collects new rows column by column for a bulk load.
 *
 * Parsers write into the columns' arrays directly: `number` columns at `data[row]` with a mark in `nulls`, `bytes`
 * columns by appending to `bytes` and ending the value with {@link BytesColumn.end}. Rows become visible in the batch
 * when `rowCount` counts them; a row that failed half-way is simply written over.
 */
import { encodeUtf8 } from "../base/bytes.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { BatchColumn, RowBatch, StoredValue } from "../operations/effect.ts";
import { type StorageClass, storageClassOf } from "../types/physical_type.ts";

/** Rows in a full batch. */
export const BATCH_ROWS = 16_384;
/** A batch is also full when its texts take so many bytes, which a turn of the event loop can copy several times. */
const BATCH_BYTES = 1 << 20;

/** A column of storage class int or float. */
export class NumberColumn {
  readonly storageClass: "int" | "float";
  data = new Float64Array(BATCH_ROWS);
  nulls: Uint8Array | null = null;
  big: Map<number, bigint> | null = null;

  constructor(storageClass: "int" | "float") {
    this.storageClass = storageClass;
  }

  setNull(row: number): void {
    this.nulls ??= new Uint8Array(BATCH_ROWS);
    this.nulls[row] = 1;
    this.data[row] = 0;
  }

  set(row: number, value: number | bigint): void {
    if (this.nulls !== null) this.nulls[row] = 0;
    if (typeof value === "number") this.data[row] = value;
    else {
      this.data[row] = NaN;
      this.big ??= new Map();
      this.big.set(row, value);
    }
  }

  /** The column of the batch, with arrays of its size: the builder's own are used again. */
  take(rows: number): BatchColumn {
    const { storageClass } = this;
    const nulls = this.nulls === null ? null : this.nulls.slice(0, rows);
    const data = this.data.slice(0, rows);
    const { big } = this;
    this.nulls = null;
    this.big = null;
    return storageClass === "float" ? { storageClass, data, nulls } : { storageClass, data, nulls, big };
  }
}

/** A column of storage class text or bytes. */
export class BytesColumn {
  readonly storageClass: "text" | "bytes";
  offsets = new Uint32Array(BATCH_ROWS + 1);
  bytes = new Uint8Array(BATCH_ROWS * 8);
  length = 0;
  nulls: Uint8Array | null = null;

  constructor(storageClass: "text" | "bytes") {
    this.storageClass = storageClass;
  }

  setNull(row: number): void {
    this.nulls ??= new Uint8Array(BATCH_ROWS);
    this.nulls[row] = 1;
    this.offsets[row + 1] = this.length = this.offsets[row] as number;
  }

  /** Room for more bytes after what is there. */
  reserve(extra: number): void {
    const needed = this.length + extra;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  /** Begins the value of a row; what a failed row left behind is forgotten. */
  begin(row: number): void {
    this.length = this.offsets[row] as number;
    if (this.nulls !== null) this.nulls[row] = 0;
  }

  /** Ends the value of a row with the bytes appended so far. */
  end(row: number): void {
    this.offsets[row + 1] = this.length;
  }

  /** The value of a row as a piece of other bytes. */
  set(row: number, source: Uint8Array, start: number, end: number): void {
    this.begin(row);
    const size = end - start;
    this.reserve(size);
    const { bytes } = this;
    if (size < 32) {
      for (let from = start, to = this.length; from < end; from++, to++) bytes[to] = source[from] as number;
    } else bytes.set(source.subarray(start, end), this.length);
    this.length += size;
    this.offsets[row + 1] = this.length;
  }

  /** The column of the batch, with arrays of its size: the builder's own are used again. */
  take(rows: number): BatchColumn {
    const result: BatchColumn = {
      storageClass: this.storageClass,
      offsets: this.offsets.slice(0, rows + 1),
      bytes: this.bytes.slice(0, this.offsets[rows] as number),
      nulls: this.nulls === null ? null : this.nulls.slice(0, rows),
    };
    this.length = 0;
    this.nulls = null;
    return result;
  }
}

/** Any column under construction. */
export type ColumnBuilder = NumberColumn | BytesColumn;

function columnFor(storageClass: StorageClass): ColumnBuilder {
  return storageClass === "int" || storageClass === "float"
    ? new NumberColumn(storageClass)
    : new BytesColumn(storageClass);
}

/** See the file's head. */
export class BatchBuilder {
  readonly columns: readonly ColumnBuilder[];
  readonly #texts: readonly BytesColumn[];
  rowCount = 0;

  constructor(table: TableDefinition) {
    this.columns = table.columns.map((column) => columnFor(storageClassOf(column.type)));
    this.#texts = this.columns.filter((column) => column instanceof BytesColumn);
  }

  /** Whether the batch should be taken before another row comes. */
  get isFull(): boolean {
    if (this.rowCount >= BATCH_ROWS) return true;
    const texts = this.#texts;
    for (let index = 0; index < texts.length; index++) {
      if ((texts[index] as BytesColumn).length > BATCH_BYTES) return true;
    }
    return false;
  }

  /** Sets a value of the row under construction. */
  setStored(position: number, value: StoredValue): void {
    const column = this.columns[position] as ColumnBuilder;
    const row = this.rowCount;
    if (value === null) column.setNull(row);
    else if (column instanceof NumberColumn) column.set(row, value as number | bigint);
    else {
      const bytes = typeof value === "string" ? encodeUtf8(value) : value as Uint8Array;
      column.set(row, bytes, 0, bytes.length);
    }
  }

  /** The rows so far as a batch; the builder begins anew. */
  take(ids: Float64Array): RowBatch {
    const rowCount = this.rowCount;
    this.rowCount = 0;
    return { rowCount, ids, columns: this.columns.map((column) => column.take(rowCount)) };
  }
}
