/**
 * Which columns one statement reads of a table, so that a change of the others does not matter for it. It is filled
 * while the statement runs: what it has read is compared with what others write when it has ended.
 */
import type { StoredRow, StoredValue } from "../operations/effect.ts";

/** Columns whose ids are below have a bit of their own. */
const BITS = 31;

/** See the head of the file. */
export class ReadColumns {
  #bits = 0;
  #others: Set<number> | null = null;

  /** A value of the column was read, or may be. */
  note(columnId: number): void {
    if (columnId < BITS) this.#bits |= 1 << columnId;
    else (this.#others ??= new Set()).add(columnId);
  }

  #has(columnId: number): boolean {
    return columnId < BITS ? (this.#bits >> columnId & 1) === 1 : this.#others?.has(columnId) === true;
  }

  /** Whether a row may look different to the statement. Both are in the order of the columns' ids. */
  seesChange(before: StoredRow, after: StoredRow, columnIds: readonly number[]): boolean {
    if (before.length !== after.length) return true;
    return columnIds.some((columnId, position) =>
      this.#has(columnId) && !isSame(before[position], after[position])
    );
  }
}

/** Whether a stored value is the same; errs on the side of no. */
function isSame(left: StoredValue | undefined, right: StoredValue | undefined): boolean {
  if (!(left instanceof Uint8Array) || !(right instanceof Uint8Array)) return Object.is(left, right);
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}
