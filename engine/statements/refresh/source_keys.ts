/**
 * The rows that a refresh has read, by key: which row of which batch is the one that counts, for a key may come more
 * than once and the last one wins.
 *
 * Keys that are numbers in ascending order, as most sources have them, need no directory: a row is found by its place.
 */
import type { ColumnDefinition } from "../../catalog/definitions.ts";
import type { RowBatch, StoredValue } from "../../operations/effect.ts";
import { batchValue } from "../../transactions/batch_values.ts";
import { comparesDirectly, keyText } from "../../transactions/stored_key.ts";

/** Rows put into the directory in one piece. */
const PIECE = 2048;

/** See the file's head. Rows are numbered through all batches. */
export class SourceKeys {
  readonly #batches: readonly RowBatch[];
  readonly #column: ColumnDefinition;
  readonly #position: number;
  /** The number of each batch's first row. */
  readonly #firsts: number[] = [];
  /** null: the keys ascend. */
  #directory: Map<StoredValue, number> | null = null;
  /** Rows whose key comes again later. */
  readonly #superseded = new Set<number>();
  readonly rowCount: number;

  constructor(batches: readonly RowBatch[], column: ColumnDefinition, position: number) {
    this.#batches = batches;
    this.#column = column;
    this.#position = position;
    let count = 0;
    for (const batch of batches) {
      this.#firsts.push(count);
      count += batch.rowCount;
    }
    this.rowCount = count;
  }

  /** Looks at all keys, in pieces. */
  *prepare(): Generator<void, void> {
    if (this.#ascends()) return;
    const directory = this.#directory = new Map<StoredValue, number>();
    let number = 0;
    for (const batch of this.#batches) {
      for (let row = 0; row < batch.rowCount; row++, number++) {
        if (number % PIECE === PIECE - 1) yield;
        const key = this.#normal(batchValue(batch, row, this.#position));
        const before = directory.get(key);
        if (before !== undefined) this.#superseded.add(before);
        directory.set(key, number);
      }
    }
  }

  /** Whether the row is the last with its key. */
  counts(number: number): boolean {
    return !this.#superseded.has(number);
  }

  /** Rows of different keys. */
  get keyCount(): number {
    return this.rowCount - this.#superseded.size;
  }

  /** The row with a key that the table has, or -1. */
  find(key: StoredValue): number {
    if (this.#directory !== null) return this.#directory.get(this.#normal(key)) ?? -1;
    return typeof key === "number" ? this.#search(key) : -1;
  }

  /** The batch that a row is in, and its place there. */
  locate(number: number): { readonly batch: RowBatch; readonly row: number } {
    let low = 0, high = this.#firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#firsts[middle] as number) <= number) low = middle;
      else high = middle - 1;
    }
    return { batch: this.#batches[low] as RowBatch, row: number - (this.#firsts[low] as number) };
  }

  #normal(key: StoredValue): StoredValue {
    return key instanceof Uint8Array || !comparesDirectly(this.#column)
      ? keyText([this.#column], [key])
      : typeof key === "number"
      ? key + 0
      : key;
  }

  #ascends(): boolean {
    let last = -Infinity;
    for (const { columns, rowCount } of this.#batches) {
      const column = columns[this.#position];
      if (column === undefined || !("data" in column)) return false;
      const { data } = column;
      for (let row = 0; row < rowCount; row++) {
        const key = data[row] as number;
        // Also false for the NaN of a large integer.
        if (!(key > last)) return false;
        last = key;
      }
    }
    return true;
  }

  #keyAt(number: number): number {
    const { batch, row } = this.locate(number);
    const column = batch.columns[this.#position];
    return column !== undefined && "data" in column ? column.data[row] as number : NaN;
  }

  #search(key: number): number {
    let low = 0, high = this.rowCount - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keyAt(middle) < key) low = middle + 1;
      else high = middle;
    }
    return high >= 0 && this.#keyAt(low) === key ? low : -1;
  }
}
