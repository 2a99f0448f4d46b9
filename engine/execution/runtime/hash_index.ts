/**
 * The hash table of a join: chains of build rows by key.
 *
 * Rows with a NULL in a key are in no chain. `next` links rows of a bucket in their order of insertion. When the keys are
 * one column of integers without large gaps, buckets are the keys themselves (less the smallest one).
 */
import type { ExecutionState } from "./execution_state.ts";
import { hashCode, hashMore, NULL_CODE, powerOfTwo } from "./hashing.ts";
import type { RowBuffer } from "./row_buffer.ts";

/** See the file's head. */
export class HashIndex {
  readonly heads: Int32Array;
  readonly next: Int32Array;
  readonly mask: number;
  readonly direct: boolean;
  readonly minimum: number;
  /** Whether some row has a NULL in a key. */
  readonly hasNull: boolean;
  readonly rows: number;
  readonly #state: ExecutionState;

  constructor(state: ExecutionState, buffer: RowBuffer, keyColumns: readonly number[]) {
    const rows = buffer.count;
    const keys = keyColumns.map((column) => buffer.columns[column]?.data as Float64Array);
    const first = keys[0];
    const range = keys.length === 1 && first !== undefined ? denseRange(first, rows) : undefined;
    this.rows = rows;
    this.direct = range !== undefined;
    this.minimum = range?.minimum ?? 0;
    const size = range?.size ?? powerOfTwo(rows + (rows >> 1));
    this.mask = range === undefined ? size - 1 : 0;
    this.#state = state;
    state.charge(size * 4 + rows * 4);
    this.heads = new Int32Array(size).fill(-1);
    this.next = new Int32Array(rows);
    let hasNull = false;
    for (let row = rows - 1; row >= 0; row--) {
      const bucket = range !== undefined && first !== undefined
        ? directBucket(first[row] as number, range.minimum)
        : hashedBucket(keys, row, size - 1);
      if (bucket < 0) {
        hasNull = true;
        continue;
      }
      this.next[row] = this.heads[bucket] as number;
      this.heads[bucket] = row;
    }
    this.hasNull = hasNull;
  }

  /** Gives the accounted memory back; the index is not used any more. */
  release(): void {
    this.#state.charge(-(this.heads.length + this.next.length) * 4);
  }

  /** The first row of the bucket of one key, or -1. */
  first(key: number): number {
    if (this.direct) {
      const bucket = key - this.minimum;
      return bucket >= 0 && bucket < this.heads.length ? this.heads[bucket] as number : -1;
    }
    return this.heads[hashCode(key) & this.mask] as number;
  }

  /** The first row of the bucket of a hash of several keys, or -1. */
  firstByHash(hash: number): number {
    return this.heads[hash & this.mask] as number;
  }
}

function directBucket(code: number, minimum: number): number {
  return code === NULL_CODE ? -1 : code - minimum;
}

function hashedBucket(keys: readonly Float64Array[], row: number, mask: number): number {
  let hash = 0;
  for (let key = 0; key < keys.length; key++) {
    const code = (keys[key] as Float64Array)[row] as number;
    if (code === NULL_CODE) return -1;
    hash = key === 0 ? hashCode(code) : hashMore(hash, code);
  }
  return hash & mask;
}

function denseRange(keys: Float64Array, rows: number): { minimum: number; size: number } | undefined {
  let minimum = Infinity;
  let maximum = -Infinity;
  for (let row = 0; row < rows; row++) {
    const code = keys[row] as number;
    if (code === NULL_CODE) continue;
    if (code < minimum) minimum = code;
    if (code > maximum) maximum = code;
  }
  const size = maximum - minimum + 1;
  return size >= 1 && size <= rows * 4 + 64 ? { minimum, size } : undefined;
}
