/**
 * Which rows that a statement deletes are kept as a set of their ids: those beyond the first {@link FIRST_ROWS}, so
 * that deleting millions takes little memory. Each of the first ones has an object and a lock of its own.
 */
import type { RowId } from "../operations/effect.ts";
import { RowIdSet } from "./row_id_set.ts";
import type { TableWriteSet } from "./write_set.ts";

/** So many rows in a row are kept one by one. */
const FIRST_ROWS = 16_384;

/** See the head of the file. */
export class BulkDeletes {
  readonly #began: (writeSet: TableWriteSet, set: RowIdSet) => void;
  #writeSet: TableWriteSet | null = null;
  #count = 0;
  #set: RowIdSet | null = null;

  /** `began`: a set has come to a write set. */
  constructor(began: (writeSet: TableWriteSet, set: RowIdSet) => void) {
    this.#began = began;
  }

  /** What was deleted so far can be taken back, or be looked at, apart from what comes. */
  end(): void {
    this.#writeSet = this.#set = null;
    this.#count = 0;
  }

  /** The set that a row which is to be deleted is noted in; null: it is written by itself. */
  setFor(writeSet: TableWriteSet, id: RowId): RowIdSet | null {
    if (writeSet !== this.#writeSet) {
      this.end();
      this.#writeSet = writeSet;
    }
    if (this.#count < FIRST_ROWS) {
      this.#count++;
      return null;
    }
    if (typeof id !== "number" || writeSet.truncated || writeSet.byId.has(id)) return null;
    if (this.#set === null) {
      this.#set = new RowIdSet();
      writeSet.deleted.push(this.#set);
      this.#began(writeSet, this.#set);
    }
    return this.#set;
  }
}
