/**
 * Puts the rows of a query into a table in batches. The table has no constraints and gets its ids from its own counter,
 * as one that CREATE TABLE AS makes.
 */
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { RowTransaction } from "../../execution/runtime/execution.ts";
import type { ResultWriter } from "../../execution/runtime/result_writer.ts";
import type { RowId } from "../../operations/effect.ts";
import { batchRow } from "../../transactions/batch_values.ts";
import { toStored } from "../../types/stored_value.ts";
import type { SqlValue } from "../../types/value.ts";
import { BatchBuilder, BytesColumn } from "../../transactions/batch_builder.ts";

/** The next `count` ids of a table's counter. */
export function reserveIds(
  writer: RowTransaction,
  tableId: number,
  count: number,
): readonly RowId[] | Float64Array {
  if (count === 0) return new Float64Array(0);
  if (writer.reserveRowIds !== undefined) {
    const first = writer.reserveRowIds(tableId, count);
    if (typeof first === "number" && Number.isSafeInteger(first + count)) {
      const ids = new Float64Array(count);
      for (let row = 0; row < count; row++) ids[row] = first + row;
      return ids;
    }
    return Array.from({ length: count }, (_, row) => BigInt(first) + BigInt(row));
  }
  const list: RowId[] = [];
  for (let row = 0; row < count; row++) list.push(writer.nextRowId(tableId));
  return list.every((id) => typeof id === "number") ? Float64Array.from(list) : list;
}

/** See the file's head. */
export class BatchWriter implements ResultWriter {
  rowCount = 0;
  readonly #writer: RowTransaction;
  readonly #table: TableDefinition;
  readonly #builder: BatchBuilder;
  readonly #rowByRow: boolean;
  #column = 0;

  /** `inBlock`: other statements may follow in the same transaction. */
  constructor(writer: RowTransaction, table: TableDefinition, options: { readonly inBlock: boolean }) {
    this.#rowByRow = options.inBlock && writer.changesBatches !== true;
    this.#writer = writer;
    this.#table = table;
    this.#builder = new BatchBuilder(table);
  }

  beginRow(): void {
    if (this.#builder.isFull) this.flush();
    this.#column = 0;
  }

  writeNull(): void {
    this.#builder.setStored(this.#column++, null);
  }

  writeInteger(value: number | bigint): void {
    this.#builder.setStored(this.#column++, value);
  }

  writeText(value: string): void {
    this.#builder.setStored(this.#column++, value);
  }

  writeUtf8(bytes: Uint8Array, start: number, end: number): void {
    const column = this.#builder.columns[this.#column++];
    if (column instanceof BytesColumn) column.set(this.#builder.rowCount, bytes, start, end);
  }

  writeValue(_column: number, value: SqlValue): void {
    const definition = this.#table.columns[this.#column];
    if (definition !== undefined) this.#builder.setStored(this.#column, toStored(definition.type, value));
    this.#column++;
  }

  endRow(): void {
    this.#builder.rowCount++;
    this.rowCount++;
  }

  /** Hands the collected rows to the transaction. */
  flush(): void {
    const { rowCount } = this.#builder;
    if (rowCount === 0) return;
    const ids = reserveIds(this.#writer, this.#table.id, rowCount);
    if (ids instanceof Float64Array && !this.#rowByRow) {
      this.#writer.createBatch(this.#table.id, this.#builder.take(ids));
      return;
    }
    const batch = this.#builder.take(new Float64Array(rowCount));
    ids.forEach((id, row) => this.#writer.create(this.#table.id, id, batchRow(batch, row)));
  }
}
