/**
 * Which rows that a statement deletes, changes or inserts are kept in bulk, so that millions take little memory: those
 * beyond the first {@link FIRST_ROWS}, and new ones as soon as their transaction has much in memory. Of a deleted row
 * its id is kept, in a set; of a changed one that keeps its keys also the new values, column by column in batches; new
 * ones are in batches as those of COPY. Each of the first rows has an object and a lock of its own.
 */
import { assert } from "../base/assert.ts";
import type { RowBatch, RowId, StoredRow } from "../operations/effect.ts";
import { BATCH_ROWS, BatchBuilder } from "./batch_builder.ts";
import { RowIdSet } from "./row_id_set.ts";
import type { TableWriteSet } from "./write_set.ts";

/** So many rows in a row are kept one by one. */
const FIRST_ROWS = 16_384;
/** New rows whose keys are looked up in one piece. */
const MAX_NEW_ROWS = 4_096;
const NO_IDS = new Float64Array(0);

/** What becomes of committed rows in a statement. */
type BulkKind = "deleted" | "replaced";

/** Hears of what comes to a write set. */
export interface BulkOwner {
  /** Whether rows of the table may be kept so. */
  mayKeep(kind: BulkKind, writeSet: TableWriteSet): boolean;
  /** A set, still empty, of rows that are hidden. */
  setBegan(kind: BulkKind, writeSet: TableWriteSet, set: RowIdSet): void;
  /** New values of rows that are in such a set. */
  batchCame(writeSet: TableWriteSet, batch: RowBatch): void;
  /** Whether new rows may come in batches from now on, the first of them with this id, and larger ones behind it. */
  mayCreate(writeSet: TableWriteSet, id: number): boolean;
  /** New rows. Raises 23505 when an id or a key is taken. */
  rowsCame(writeSet: TableWriteSet, batch: RowBatch): void;
}

/** See the head of the file. */
export class BulkWrites {
  readonly #owner: BulkOwner;
  #kind: BulkKind | "created" = "deleted";
  #writeSet: TableWriteSet | null = null;
  #count = 0;
  #mayKeep = false;
  /** Of new rows. */
  #lastId = -Infinity;
  #set: RowIdSet | null = null;
  #builder: BatchBuilder | null = null;
  /** Ids of the builder's rows; only those who write in bulk have room for them. */
  #ids = NO_IDS;

  constructor(owner: BulkOwner) {
    this.#owner = owner;
  }

  /** What was written so far can be taken back, or be looked at, apart from what comes. */
  end(): void {
    this.flush();
    this.discard();
  }

  /** The same where what was written is taken back. */
  discard(): void {
    this.#writeSet = this.#set = this.#builder = null;
    this.#count = 0;
  }

  /** Whether rows of the write set are being replaced in bulk, so that its batches must stay as they are. */
  isReplacing(writeSet: TableWriteSet | undefined): boolean {
    return this.#kind === "replaced" && this.#set !== null && writeSet === this.#writeSet;
  }

  /** The set that a row which is to be deleted, or replaced, is noted in; null: it is written by itself. */
  setFor(kind: BulkKind, writeSet: TableWriteSet, id: RowId): RowIdSet | null {
    if (writeSet !== this.#writeSet || kind !== this.#kind) {
      this.end();
      this.#kind = kind;
      this.#writeSet = writeSet;
    }
    if (this.#count < FIRST_ROWS) {
      if (++this.#count === FIRST_ROWS) this.#mayKeep = this.#owner.mayKeep(kind, writeSet);
      return null;
    }
    if (!this.#mayKeep || typeof id !== "number" || writeSet.truncated || writeSet.byId.has(id)) return null;
    if (this.#set === null) {
      this.#set = new RowIdSet();
      if (kind === "replaced") this.#begin(writeSet);
      this.#owner.setBegan(kind, writeSet, this.#set);
    }
    return this.#set;
  }

  /** Whether a new row comes into a batch; otherwise it is written by itself, and so are those behind it. */
  takesNew(writeSet: TableWriteSet, id: RowId, isHeavy: boolean): boolean {
    if (this.#kind !== "created" || writeSet !== this.#writeSet) {
      if (!isHeavy) return false;
      this.end();
      this.#kind = "created";
      this.#writeSet = writeSet;
      this.#lastId = -Infinity;
      this.#mayKeep = typeof id === "number" && this.#owner.mayCreate(writeSet, id);
      if (this.#mayKeep) this.#begin(writeSet);
    }
    if (!this.#mayKeep) return false;
    // Ids that ascend are free if the first one is.
    if (typeof id === "number" && id > this.#lastId) {
      this.#lastId = id;
      return true;
    }
    this.flush();
    return this.#mayKeep = false;
  }

  #begin({ definition }: TableWriteSet): void {
    this.#builder = new BatchBuilder(definition);
    if (this.#ids === NO_IDS) this.#ids = new Float64Array(BATCH_ROWS);
  }

  /** Notes the values of a row whose id has come into the set, or of a new one. */
  add(id: number, values: StoredRow): void {
    const builder = this.#builder;
    assert(builder !== null, "a set of replaced rows, or new ones, were begun");
    if (builder.isFull || this.#kind === "created" && builder.rowCount === MAX_NEW_ROWS) this.flush();
    for (let position = 0; position < values.length; position++) {
      builder.setStored(position, values[position] ?? null);
    }
    this.#ids[builder.rowCount++] = id;
  }

  /** Hands on what has been collected. */
  flush(): void {
    const builder = this.#builder, writeSet = this.#writeSet;
    if (builder === null || writeSet === null || builder.rowCount === 0) return;
    const batch = builder.take(this.#ids.slice(0, builder.rowCount));
    if (this.#kind === "created") this.#owner.rowsCame(writeSet, batch);
    else this.#owner.batchCame(writeSet, batch);
  }
}
