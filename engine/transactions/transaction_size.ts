/**
 * How much a transaction holds: the limits of its memory, and whether its entry is so large that it is committed in
 * steps.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { batchBytes, batchWeight } from "../operations/batch_codec.ts";
import type { EntryWeight } from "../storage/checkpoint_pace.ts";
import type { RowBatch, StoredRow } from "../operations/effect.ts";
import { batchMemory } from "./batch_values.ts";
import { rowBytes, type TableWriteSet } from "./write_set.ts";

/** What a row in a write set takes besides its values, its lock included. */
const ROW_OVERHEAD_BYTES = 240;
/** About what the id of a row takes in a list of them. */
const DELETED_ENTRY_BYTES = 4;
/** What is left in memory of a batch whose arrays are in a file. */
const STORED_BATCH_BYTES = 512;
/** A row of a bulk load takes so much less work than one that was written by itself. */
const BATCH_ROWS_PER_ROW = 16;

/** See the head of the file. */
export class TransactionSize {
  /** Roughly what the uncommitted rows take; never given back, for a transaction that rolls much back is rare. */
  #rowBytes = 0;
  /** What bulk loads take in memory, and about what they add to the entry. */
  #batchMemory = 0;
  #batchBytes = 0;
  #batchWeight = 0;
  readonly #batches = new Map<
    RowBatch,
    { readonly memory: number; readonly bytes: number; readonly weight: number }
  >();
  /** What rows in sets add to the entry. */
  #deletedBytes = 0;

  /** What the entry brings, roughly. */
  get weight(): EntryWeight {
    return { bytes: this.#rowBytes + this.#batchBytes + this.#deletedBytes, held: this.#batchWeight };
  }

  /** Counts a row; raises 53200 beyond the limit. */
  addRow(values: StoredRow): void {
    this.#rowBytes += ROW_OVERHEAD_BYTES + rowBytes(values);
    this.#checkRows();
  }

  /** Counts a row whose id came into a set, which has grown by so many bytes; raises as {@link addRow}. */
  addDeleted(grown: number): void {
    this.#deletedBytes += DELETED_ENTRY_BYTES;
    if (grown === 0) return;
    this.#rowBytes += grown;
    this.#checkRows();
  }

  #checkRows(): void {
    if (this.#rowBytes > LIMITS.transactionMemoryBytes) {
      throw tooMany("Split it into several transactions, or load the rows with COPY.");
    }
  }

  /** Counts a bulk load; `isStored`: its arrays are in a file. */
  addBatch(batch: RowBatch, isStored = false): void {
    const memory = isStored ? STORED_BATCH_BYTES : batchMemory(batch);
    const size = { memory, bytes: batchBytes(batch), weight: batchWeight(batch) };
    this.#batches.set(batch, size);
    this.#batchMemory += size.memory;
    this.#batchBytes += size.bytes;
    this.#batchWeight += size.weight;
  }

  /** Whether bulk loads take so much memory that further ones are to be in a file. */
  get storesBatches(): boolean {
    return this.#batchMemory > LIMITS.transactionKeptBatchBytes;
  }

  /** Whether new rows had better come in batches. */
  get isHeavy(): boolean {
    return this.#rowBytes > LIMITS.transactionKeptBatchBytes || this.#batches.size > 0;
  }

  /** Raises 53200 when rows of batches would be too many one by one. */
  checkSpread(batches: readonly RowBatch[]): void {
    let bytes = this.#rowBytes;
    for (const batch of batches) bytes += this.#batches.get(batch)?.bytes ?? 0;
    if (bytes > LIMITS.transactionMemoryBytes) {
      throw tooMany("Change rows that were loaded in bulk in another transaction.");
    }
  }

  /** Raises 53200 when bulk loads are beyond the limit. */
  checkBatches(): void {
    if (this.#batchMemory > LIMITS.transactionBatchBytes) {
      throw tooMany("Split it into several transactions.");
    }
  }

  /** The bulk load is taken back. */
  removeBatch(batch: RowBatch): void {
    const size = this.#batches.get(batch);
    if (size === undefined) return;
    this.#batches.delete(batch);
    this.#batchMemory -= size.memory;
    this.#batchBytes -= size.bytes;
    this.#batchWeight -= size.weight;
  }

  /** Whether the entry is committed in steps; `indexedRows` are those in memory that get into new indexes. */
  isLarge(writeSets: Iterable<TableWriteSet>, indexedRows: readonly number[]): boolean {
    if (this.weight.bytes > LIMITS.commitAtOnceBytes) return true;
    let rows = 0;
    for (const writeSet of writeSets) {
      rows += writeSet.rows.length + writeSet.hiddenCount;
      for (const batch of writeSet.batches) rows += Math.ceil(batch.rowCount / BATCH_ROWS_PER_ROW);
    }
    for (const count of indexedRows) rows += Math.ceil(count / BATCH_ROWS_PER_ROW);
    return rows > LIMITS.commitAtOnceRows;
  }
}

function tooMany(hint: string): DatabaseError {
  return new DatabaseError(SQLSTATE.outOfMemory, "transaction holds too many uncommitted rows", { hint });
}
