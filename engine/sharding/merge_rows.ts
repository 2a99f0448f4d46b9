/** One stream of rows in an order, of the streams of several shards that have that order each; ties by shard. */
import { assertDefined } from "../base/assert.ts";
import type { BatchSource, GatheredBatch } from "../execution/runtime/execution.ts";
import type { StoredValue } from "../operations/effect.ts";
import type { Fragment } from "../sql/plan/plan.ts";
import { compareValues } from "../types/compare.ts";
import { fromStored } from "../types/stored_value.ts";
import type { SqlValue } from "../types/value.ts";

/** Rows that are given out together. */
const BATCH_ROWS = 4096;
/** The same by what their texts take, roughly. */
const BATCH_BYTES = 256 << 10;

/** The merged rows of all shards. `merge` is what the order is of. */
export function mergedRows(
  sources: readonly BatchSource[],
  { columns, merge }: Pick<Fragment, "columns"> & { readonly merge: NonNullable<Fragment["merge"]> },
): BatchSource {
  const keys = merge.map(({ position, ...key }) => ({
    ...key,
    position,
    type: assertDefined(columns[position], "a column for each key").type,
  }));
  /** The row that each stream is at, with its keys; in the order of shards. */
  let open = sources.map((source) => new Stream(source, keys));
  const isBefore = (one: Stream, other: Stream): boolean => {
    for (let index = 0; index < keys.length; index++) {
      const { type, descending, nullsFirst } = assertDefined(keys[index], "a key");
      const [left, right] = [one.values[index] ?? null, other.values[index] ?? null];
      if (left === null && right === null) continue;
      if (left === null || right === null) return (left === null) === nullsFirst;
      const order = compareValues(type, left, right);
      if (order !== 0) return order < 0 !== descending;
    }
    return false;
  };
  /** Which row is the first is known when each stream is at one. */
  const areReady = (): boolean => {
    let all = true;
    for (const stream of open) if (!stream.isReady()) all = false;
    if (open.some(({ isAtEnd }) => isAtEnd)) open = open.filter(({ isAtEnd }) => !isAtEnd);
    return all;
  };
  return () => {
    if (!areReady()) return null;
    if (open.length === 0) return undefined;
    const rows: StoredValue[][] = columns.map(() => []);
    let rowCount = 0, bytes = 0;
    while (rowCount < BATCH_ROWS && bytes < BATCH_BYTES) {
      const [head] = open;
      if (head === undefined) break;
      let first = head;
      for (const other of open) if (other !== head && isBefore(other, first)) first = other;
      bytes += first.take(rows);
      rowCount++;
      if (first.mayNeedMore && !areReady()) break;
    }
    return { rowCount, columns: rows };
  };
}

class Stream {
  values: SqlValue[] = [];
  isAtEnd = false;
  /** The row that it is at may be none. */
  mayNeedMore = true;
  readonly #source: BatchSource;
  readonly #keys: readonly {
    readonly position: number;
    readonly type: Fragment["columns"][number]["type"];
  }[];
  #batch: GatheredBatch = { rowCount: 0, columns: [] };
  #row = 0;

  constructor(
    source: BatchSource,
    keys: readonly { readonly position: number; readonly type: Fragment["columns"][number]["type"] }[],
  ) {
    this.#source = source;
    this.#keys = keys;
  }

  /** Whether it is at a row or at its end; false: what is next has not come. */
  isReady(): boolean {
    if (this.isAtEnd || !this.mayNeedMore) return true;
    while (this.#row >= this.#batch.rowCount) {
      const batch = this.#source();
      if (batch === null) return false;
      if (batch === undefined) return this.isAtEnd = true;
      this.#batch = batch;
      this.#row = 0;
    }
    this.#read();
    return true;
  }

  /** Appends the row to columns, and goes on to the next one. Answers roughly what its texts take. */
  take(columns: readonly StoredValue[][]): number {
    let bytes = 0;
    columns.forEach((column, index) => {
      const value = this.#batch.columns[index]?.[this.#row] ?? null;
      column.push(value);
      if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
    });
    this.#row++;
    if (this.#row < this.#batch.rowCount) this.#read();
    else this.mayNeedMore = true;
    return bytes;
  }

  #read(): void {
    this.mayNeedMore = false;
    this.values = this.#keys.map(({ position, type }) =>
      fromStored(type, this.#batch.columns[position]?.[this.#row] ?? null)
    );
  }
}
