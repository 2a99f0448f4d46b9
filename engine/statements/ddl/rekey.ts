/**
 * Gives every row of a table the value of its row-id column as its id, when such a column comes. Rows that have it
 * already, as those do that were loaded in the order of a key without gaps, are left where they are.
 *
 * The rows are gathered column by column into batches, without an object each: a table of millions of rows would
 * otherwise leave hundreds of megabytes to the garbage collector. Only where writing must look at single rows (unique
 * indexes, ids beyond the numbers) they are written one by one. All of it is read and checked before the first row is
 * written.
 */
import { assert, assertDefined } from "../../base/assert.ts";
import { encodeUtf8 } from "../../base/bytes.ts";
import { columnPosition } from "../../catalog/catalog.ts";
import type { ColumnDefinition, TableDefinition } from "../../catalog/definitions.ts";
import type { ExecutionContext } from "../../execution/runtime/execution.ts";
import { columnsById } from "../../execution/modify/key_route.ts";
import { checkRowId } from "../../execution/modify/row_changes.ts";
import type { RowBatch, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import { CHUNK_MASK, CHUNK_ROWS, CHUNK_SHIFT, growNumbers } from "../../storage/table/delta_column.ts";
import { SlotHash } from "../../storage/table/slot_hash.ts";
import type { Block } from "../../storage/access/block.ts";
import type { Vector } from "../../storage/access/vector.ts";
import { batchRow } from "../../transactions/write_set.ts";
import { BatchBuilder, BytesColumn, type ColumnBuilder } from "../../transactions/batch_builder.ts";
import { RowWalk } from "./row_walk.ts";
import type { Work } from "../../execution/runtime/work.ts";
import { containsNulls, duplicatedKey } from "./validations.ts";

/** Rows checked or written one by one in one piece. */
const PIECE = 128;
const NO_IDS = new Float64Array(0);

/** See the file's head. */
export class Rekey implements Work {
  readonly #context: ExecutionContext;
  readonly #table: TableDefinition;
  readonly #position: number;
  readonly #column: ColumnDefinition;
  /** Looks for a row whose id is not its key. */
  readonly #comparing: RowWalk;
  #isIdentity = true;
  readonly #walk: RowWalk;
  readonly #builder: BatchBuilder;
  readonly #fillers: readonly ColumnFiller[];
  readonly #batches: RowBatch[] = [];
  /** Rows whose ids are no numbers. */
  readonly #bigRows: { readonly id: bigint; readonly row: StoredRow }[] = [];
  readonly #bigIds = new Set<bigint>();
  #lastId = -Infinity;
  #isAscending = true;
  #stage: "compare" | "read" | "check" | "write" = "compare";
  /** Ids seen by the check, by slot. */
  readonly #seenIds: Float64Array[] = [];
  readonly #seen = new SlotHash(this.#seenIds);
  #seenCount = 0;
  /** The next row to check or write. */
  #batch = 0;
  #row = 0;

  constructor(context: ExecutionContext, table: TableDefinition) {
    assert(table.rowIdColumn !== null, "a table to rekey has a row-id column");
    this.#context = context;
    this.#table = table;
    this.#position = columnPosition(table, table.rowIdColumn);
    this.#column = assertDefined(table.columns[this.#position], "the row-id column");
    this.#comparing = new RowWalk(context, table.id, [table.rowIdColumn], true);
    this.#walk = new RowWalk(context, table.id, table.columns.map((column) => column.id));
    this.#builder = new BatchBuilder(table);
    this.#fillers = this.#builder.columns.map((column) => new ColumnFiller(column));
  }

  advance(): boolean {
    switch (this.#stage) {
      case "compare": {
        const isThrough = this.#comparing.advanceBlock((block) => this.#isIdentity = hasKeysAsIds(block));
        if (!this.#isIdentity) this.#stage = "read";
        return isThrough && this.#isIdentity;
      }
      case "read":
        if (this.#walk.advance((_location, block, row) => this.#take(block.columns, row))) this.#endReading();
        return false;
      case "check":
        if (this.#checkPiece()) this.#beginWriting();
        return false;
      case "write":
        this.#context.checkCanceled();
        return this.#writePiece();
    }
  }

  #take(columns: readonly Vector[], row: number): void {
    if (this.#builder.isFull) this.#endBatch();
    this.#fillers.forEach((filler, position) => {
      filler.fill(this.#builder.rowCount, columns[position] as Vector, row);
    });
    const id = checkRowId(this.#table, this.#idOf(columns[this.#position] as Vector, row));
    if (typeof id === "bigint") {
      this.#takeBig(id);
      return;
    }
    if (id <= this.#lastId) this.#isAscending = false;
    this.#lastId = id;
    this.#builder.rowCount++;
  }

  #idOf(vector: Vector, row: number): StoredValue {
    if (vector.kind !== "constant" && vector.nulls?.[row] === 1) {
      throw containsNulls(this.#table, this.#column);
    }
    if (vector.kind === "number") return vector.big?.get(row) ?? (vector.data[row] as number);
    assert(vector.kind === "constant", "ids are numbers");
    if (vector.value === null) throw containsNulls(this.#table, this.#column);
    return vector.value;
  }

  /** The row under construction is taken out of the batch again. */
  #takeBig(id: bigint): void {
    if (this.#bigIds.has(id)) throw this.#duplicate(id);
    this.#bigIds.add(id);
    const at = this.#builder.rowCount++;
    const batch = this.#builder.take(NO_IDS);
    this.#bigRows.push({ id, row: batchRow(batch, at) });
    if (at === 0) return;
    this.#push(batch, at);
  }

  /** All ids are numbers, so that the row-id column's own array holds them. */
  #push(batch: RowBatch, rowCount: number): void {
    const column = assertDefined(batch.columns[this.#position], "the row-id column");
    assert(column.storageClass === "int", "row ids are integers");
    this.#batches.push({ ...batch, rowCount, ids: column.data.subarray(0, rowCount) });
  }

  #endBatch(): void {
    const { rowCount } = this.#builder;
    if (rowCount === 0) return;
    this.#push(this.#builder.take(NO_IDS), rowCount);
  }

  #endReading(): void {
    this.#endBatch();
    if (this.#isAscending) this.#beginWriting();
    else this.#stage = "check";
  }

  /** Ids that do not ascend must still differ. true: they do. */
  #checkPiece(): boolean {
    const batch = this.#batches[this.#batch];
    if (batch === undefined) return true;
    const end = Math.min(batch.rowCount, this.#row + PIECE);
    for (; this.#row < end; this.#row++) {
      const id = batch.ids[this.#row] as number;
      if (this.#seen.get(id) >= 0) throw this.#duplicate(id);
      const slot = this.#seenCount++;
      if (slot === this.#seenIds.length * CHUNK_ROWS) growNumbers(this.#seenIds, slot + CHUNK_ROWS);
      (this.#seenIds[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] = id;
      this.#seen.put(id, slot);
    }
    if (this.#row === batch.rowCount) this.#nextBatch();
    return false;
  }

  #duplicate(id: RowId): Error {
    const key = this.#table.constraints.find((constraint) => constraint.kind === "primary_key");
    const columns = columnsById(this.#table, [this.#column.id]);
    return duplicatedKey(this.#table, key?.name ?? `${this.#table.name}_pkey`, columns, [id]);
  }

  #nextBatch(): void {
    this.#batch++;
    this.#row = 0;
  }

  #beginWriting(): void {
    this.#stage = "write";
    this.#batch = 0;
    this.#row = 0;
    this.#context.writer.truncate(this.#table.id);
  }

  /** true: everything is written. */
  #writePiece(): boolean {
    const { writer } = this.#context;
    const batch = this.#batches[this.#batch];
    const inBatches = writer.changesBatches === true && this.#bigRows.length === 0 &&
      !this.#table.indexes.some((index) => index.unique);
    if (batch === undefined) {
      for (const { id, row } of this.#bigRows.splice(-PIECE)) writer.create(this.#table.id, id, row);
      return this.#bigRows.length === 0;
    }
    if (inBatches) {
      writer.createBatch(this.#table.id, batch);
      this.#nextBatch();
      return false;
    }
    const end = Math.min(batch.rowCount, this.#row + PIECE);
    for (; this.#row < end; this.#row++) {
      writer.create(this.#table.id, batch.ids[this.#row] as number, batchRow(batch, this.#row));
    }
    if (this.#row === batch.rowCount) this.#nextBatch();
    return false;
  }
}

/** Whether the ids of a block's rows are what its first column holds. What is no safe number is NaN, and is not. */
function hasKeysAsIds({ ids, columns: [keys], hidden, rowCount }: Block): boolean {
  if (ids?.kind !== "number" || keys?.kind !== "number" || keys.nulls?.includes(1) === true) return false;
  const own = ids.data, key = keys.data;
  for (let row = 0; row < rowCount; row++) {
    if (own[row] !== key[row] && (hidden === null || hidden[row] === 0)) return false;
  }
  return true;
}

/** Copies values of vectors into a column under construction. */
class ColumnFiller {
  readonly #target: ColumnBuilder;
  /** The dictionary of the last vector that had one, as UTF-8. */
  #dictionary: readonly string[] | null = null;
  #encoded: readonly Uint8Array[] = [];

  constructor(target: ColumnBuilder) {
    this.#target = target;
  }

  fill(at: number, vector: Vector, row: number): void {
    const target = this.#target;
    if (vector.kind === "constant") this.#set(at, vector.value);
    else if (vector.nulls?.[row] === 1) target.setNull(at);
    else if (vector.kind === "number") {
      this.#set(at, vector.big?.get(row) ?? (vector.data[row] as number));
    } else {
      assert(target instanceof BytesColumn, "texts go into columns of bytes");
      if (vector.kind === "bytes") {
        target.set(at, vector.bytes, vector.starts[row] as number, vector.ends[row] as number);
        return;
      }
      if (vector.dictionary !== this.#dictionary) {
        this.#dictionary = vector.dictionary;
        this.#encoded = vector.dictionary.map(encodeUtf8);
      }
      const bytes = this.#encoded[vector.codes[row] as number] as Uint8Array;
      target.set(at, bytes, 0, bytes.length);
    }
  }

  #set(at: number, value: StoredValue): void {
    const target = this.#target;
    if (value === null) target.setNull(at);
    else if (target instanceof BytesColumn) {
      const bytes = typeof value === "string" ? encodeUtf8(value) : value as Uint8Array;
      target.set(at, bytes, 0, bytes.length);
    } else target.set(at, value as number | bigint);
  }
}
