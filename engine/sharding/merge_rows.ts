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

/** The merged rows. `merge` is what the order is of. */
export function mergedRows(
  lists: readonly (readonly GatheredBatch[])[],
  { columns, merge }: Pick<Fragment, "columns"> & { readonly merge: NonNullable<Fragment["merge"]> },
): BatchSource {
  const keys = merge.map(({ position, ...key }) => ({
    ...key,
    position,
    type: assertDefined(columns[position], "a column for each key").type,
  }));
  /** The row that each stream is at, with its keys; in the order of shards. */
  let open = lists.map((batches) => new Stream(batches, keys)).filter((stream) => !stream.isAtEnd);
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
  return () => {
    if (open.length === 0) return undefined;
    const rows: StoredValue[][] = columns.map(() => []);
    let rowCount = 0;
    while (rowCount < BATCH_ROWS) {
      const [head, ...others] = open;
      if (head === undefined) break;
      let first = head;
      for (const other of others) if (isBefore(other, first)) first = other;
      first.take(rows);
      rowCount++;
      if (first.isAtEnd) open = open.filter((stream) => stream !== first);
    }
    return { rowCount, columns: rows };
  };
}

class Stream {
  values: SqlValue[] = [];
  isAtEnd = false;
  readonly #batches: readonly GatheredBatch[];
  readonly #keys: readonly {
    readonly position: number;
    readonly type: Fragment["columns"][number]["type"];
  }[];
  #batch = 0;
  #row = -1;

  constructor(
    batches: readonly GatheredBatch[],
    keys: readonly { readonly position: number; readonly type: Fragment["columns"][number]["type"] }[],
  ) {
    this.#batches = batches;
    this.#keys = keys;
    this.#advance();
  }

  /** Appends the row to columns, and goes on to the next one. */
  take(columns: readonly StoredValue[][]): void {
    const batch = assertDefined(this.#batches[this.#batch], "a batch");
    columns.forEach((column, index) => column.push(batch.columns[index]?.[this.#row] ?? null));
    this.#advance();
  }

  #advance(): void {
    this.#row++;
    while (this.#row >= (this.#batches[this.#batch]?.rowCount ?? Infinity)) {
      this.#batch++;
      this.#row = 0;
    }
    const batch = this.#batches[this.#batch];
    this.isAtEnd = batch === undefined;
    if (batch === undefined) return;
    this.values = this.#keys.map(({ position, type }) =>
      fromStored(type, batch.columns[position]?.[this.#row] ?? null)
    );
  }
}
