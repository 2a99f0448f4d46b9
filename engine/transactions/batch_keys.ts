/**
 * The keys that the bulk loads of one transaction bring to a unique index: a hash table from key to row, which finds
 * the first row that repeats a key, and a row by its key.
 *
 * Keys are not copied. The table holds hashes and row numbers, counted over all batches, and looks keys up in the
 * batches' columns. It is cut into small tables by the leading bits of the hash, so that no growth takes long. Rows
 * that the index lets repeat (NULL in the key, a predicate that does not hold) are left out.
 */
import { encodeUtf8 } from "../base/bytes.ts";
import { columnPosition } from "../catalog/catalog.ts";
import { hasMask } from "../catalog/index_keys.ts";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "../catalog/definitions.ts";
import type { BatchColumn, RowBatch, StoredValue } from "../operations/effect.ts";
import { batchValue } from "./batch_values.ts";
import type { LockedSet } from "./lock_table.ts";
import { comparesDirectly, keyColumns, keyText } from "./stored_key.ts";

const TABLE_BITS = 8;
const FIRST_PLACES = 16;
const NO_ROWS = new Int32Array(0);
/** The hash of NULL, and of numbers that are not in the column's array. */
const NULL_HASH = 0x5bd1e995;
const OTHER_HASH = 0x1b873593;

/** Pairs of hash and row number + 1; 0 as the latter: free. */
interface SmallTable {
  pairs: Int32Array;
  used: number;
}

/**
 * The keys that the bulk loads of one transaction bring to a unique index: a hash table from key to row, which finds
 * the first row that repeats a key, and a row by its key.
 */
export class BatchKeys implements LockedSet {
  readonly #index: IndexDefinition;
  readonly #columns: readonly ColumnDefinition[];
  readonly #positions: readonly number[];
  readonly #direct: readonly boolean[];
  readonly #batches: RowBatch[] = [];
  /** The number of each batch's first row. */
  readonly #starts: number[] = [];
  #rowCount = 0;
  readonly #tables: SmallTable[] = [];

  constructor(table: TableDefinition, index: IndexDefinition) {
    this.#index = index;
    this.#columns = keyColumns(table, index);
    this.#positions = index.columns.map((part) => columnPosition(table, part.columnId));
    this.#direct = this.#columns.map(comparesDirectly);
    for (let at = 0; at < 1 << TABLE_BITS; at++) this.#tables.push({ pairs: NO_ROWS, used: 0 });
  }

  /** Batches whose keys it has. */
  get batches(): readonly RowBatch[] {
    return this.#batches;
  }

  /** Adds the keys of a batch; answers its first row with a key that an earlier row has, or -1. */
  add(batch: RowBatch): number {
    const start = this.#rowCount;
    this.#batches.push(batch);
    this.#starts.push(start);
    this.#rowCount += batch.rowCount;
    const free = this.unconstrained(batch);
    const hashes = this.#hashesOf(batch);
    let first = -1;
    for (let row = 0; row < batch.rowCount; row++) {
      if (free !== null && free[row] === 1) continue;
      if (!this.#put(hashes[row] as number, start + row, batch, row) && first < 0) first = row;
    }
    return first;
  }

  /** The number, over all batches, of the row with this whole key, which the index does not let repeat; or -1. */
  locate(key: readonly StoredValue[]): number {
    let hash = 0;
    for (const [part, column] of this.#columns.entries()) {
      hash = mix(hash, this.#hashOf(part, column, key[part] ?? null));
    }
    hash = finish(hash);
    const { pairs } = this.#tables[hash >>> (32 - TABLE_BITS)] as SmallTable;
    if (pairs.length === 0) return -1;
    const text = keyText(this.#columns, key);
    const mask = pairs.length / 2 - 1;
    for (let at = hash & mask;; at = (at + 1) & mask) {
      const number = (pairs[2 * at + 1] as number) - 1;
      if (number < 0) return -1;
      if (pairs[2 * at] !== hash) continue;
      const { batch, row } = this.#rowAt(number);
      const values = this.#positions.map((position) => batchValue(batch, row, position));
      if (keyText(this.#columns, values) === text) return number;
    }
  }

  /** Whether a row has this whole key; see {@link locate}. */
  has(key: number | readonly StoredValue[]): boolean {
    return typeof key !== "number" && this.locate(key) >= 0;
  }

  /** Rows that the index lets repeat, marked by 1; null: none. */
  unconstrained(batch: RowBatch): Uint8Array | null {
    let marks: Uint8Array | null = null;
    for (const [part, position] of this.#positions.entries()) {
      const isMask = hasMask(this.#index) && part === this.#positions.length - 1;
      if (this.#index.nullsNotDistinct && !isMask) continue;
      const nulls = batch.columns[position]?.nulls ?? null;
      if (nulls === null) continue;
      marks ??= new Uint8Array(batch.rowCount);
      for (let row = 0; row < batch.rowCount; row++) if (nulls[row] === 1) marks[row] = 1;
    }
    return marks;
  }

  #rowAt(number: number): { readonly batch: RowBatch; readonly row: number } {
    let low = 0, high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#starts[middle] as number) <= number) low = middle;
      else high = middle - 1;
    }
    return { batch: this.#batches[low] as RowBatch, row: number - (this.#starts[low] as number) };
  }

  /** Notes a row; false: another one has its key. */
  #put(hash: number, number: number, batch: RowBatch, row: number): boolean {
    const table = this.#tables[hash >>> (32 - TABLE_BITS)] as SmallTable;
    if (table.used * 4 >= table.pairs.length) grow(table);
    const { pairs } = table;
    const mask = pairs.length / 2 - 1;
    for (let at = hash & mask;; at = (at + 1) & mask) {
      const other = pairs[2 * at + 1] as number;
      if (other === 0) {
        pairs[2 * at] = hash;
        pairs[2 * at + 1] = number + 1;
        table.used++;
        return true;
      }
      if (pairs[2 * at] !== hash) continue;
      const rival = this.#rowAt(other - 1);
      if (this.#sameKey(batch, row, rival.batch, rival.row)) return false;
    }
  }

  #hashesOf(batch: RowBatch): Int32Array {
    const hashes = new Int32Array(batch.rowCount);
    for (const [part, position] of this.#positions.entries()) {
      const column = batch.columns[position] as BatchColumn;
      for (let row = 0; row < batch.rowCount; row++) {
        let hash: number;
        if (column.nulls?.[row] === 1) hash = NULL_HASH;
        else if ("data" in column) hash = hashNumber(column.data[row] as number);
        else if (this.#direct[part] === true) {
          hash = hashBytes(column.bytes, column.offsets[row] as number, column.offsets[row + 1] as number);
        } else {
          hash = this.#hashOf(
            part,
            this.#columns[part] as ColumnDefinition,
            batchValue(batch, row, position),
          );
        }
        hashes[row] = mix(hashes[row] as number, hash);
      }
    }
    for (let row = 0; row < hashes.length; row++) hashes[row] = finish(hashes[row] as number);
    return hashes;
  }

  #hashOf(part: number, column: ColumnDefinition, value: StoredValue): number {
    if (value === null) return NULL_HASH;
    if (typeof value === "number") return hashNumber(value);
    if (typeof value === "bigint") return OTHER_HASH;
    const bytes = typeof value === "string"
      ? encodeUtf8(value)
      : this.#direct[part] === true
      ? value
      : encodeUtf8(keyText([column], [value]));
    return hashBytes(bytes, 0, bytes.length);
  }

  #sameKey(left: RowBatch, leftRow: number, right: RowBatch, rightRow: number): boolean {
    for (const [part, position] of this.#positions.entries()) {
      const a = left.columns[position] as BatchColumn, b = right.columns[position] as BatchColumn;
      if ("data" in a && "data" in b && a.nulls === null && b.nulls === null) {
        const x = a.data[leftRow] as number, y = b.data[rightRow] as number;
        if (x === y) continue;
        if (x === x || y === y) return false;
      }
      const x = batchValue(left, leftRow, position), y = batchValue(right, rightRow, position);
      if (x === y) continue;
      const column = [this.#columns[part] as ColumnDefinition];
      if (x === null || y === null || keyText(column, [x]) !== keyText(column, [y])) return false;
    }
    return true;
  }
}

function grow(table: SmallTable): void {
  const old = table.pairs;
  const pairs = new Int32Array(Math.max(2 * FIRST_PLACES, old.length * 2));
  const mask = pairs.length / 2 - 1;
  for (let from = 0; from < old.length; from += 2) {
    const number = old[from + 1] as number;
    if (number === 0) continue;
    const hash = old[from] as number;
    let at = hash & mask;
    while (pairs[2 * at + 1] !== 0) at = (at + 1) & mask;
    pairs[2 * at] = hash;
    pairs[2 * at + 1] = number;
  }
  table.pairs = pairs;
}

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);

/** -0 is 0, and all that is NaN is the same. */
function hashNumber(value: number): number {
  if (value !== value) return OTHER_HASH;
  if (value === (value | 0)) return Math.imul(value | 0, 0x9e3779b1);
  double[0] = value;
  return Math.imul((words[0] as number) ^ Math.imul(words[1] as number, 0x85ebca6b), 0x9e3779b1);
}

/** FNV-1a. */
function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash;
}

function mix(hash: number, next: number): number {
  return Math.imul(((hash << 5) | (hash >>> 27)) ^ next, 0x27d4eb2d);
}

function finish(hash: number): number {
  let h = hash ^ (hash >>> 15);
  h = Math.imul(h, 0x2c1b3c6d);
  h ^= h >>> 13;
  h = Math.imul(h, 0x297a2d39);
  return h ^ (h >>> 16);
}
