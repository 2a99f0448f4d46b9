/**
 * Sorting of materialised rows: answers a permutation of row numbers; equal rows keep their order.
 *
 * A single integer key is packed with the row number into one double when both fit 53 bits; then V8's native sort of
 * doubles does the work without calling back.
 */
import type { ColumnBuffer } from "./row_buffer.ts";

/** The only key of a sort. */
export interface SingleKey {
  readonly column: ColumnBuffer;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** Row numbers in the order of the comparison. */
export function sortRows(
  count: number,
  compare: (left: number, right: number) => number,
  single: SingleKey | null,
): Int32Array {
  if (single !== null && count > 64) {
    const packed = sortPacked(count, single);
    if (packed !== null) return packed;
  }
  const order = new Int32Array(count);
  for (let row = 0; row < count; row++) order[row] = row;
  return order.sort((left, right) => {
    const result = compare(left, right);
    return result !== 0 ? result : left - right;
  });
}

function sortPacked(count: number, { column, descending, nullsFirst }: SingleKey): Int32Array | null {
  const { data, nulls, big } = column;
  if (Array.isArray(data) || big !== null || column.storage === "code") return null;
  let minimum = Infinity;
  let maximum = -Infinity;
  for (let row = 0; row < count; row++) {
    if (nulls !== null && nulls[row] !== 0) continue;
    const value = data[row] as number;
    if (!Number.isInteger(value)) return null;
    if (value < minimum) minimum = value;
    if (value > maximum) maximum = value;
  }
  if (minimum > maximum) minimum = maximum = 0;
  // Position 0 and the one after the last are for NULLs.
  const positions = maximum - minimum + 3;
  if (!(positions * count < Number.MAX_SAFE_INTEGER)) return null;
  const packed = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    const isNull = nulls !== null && nulls[row] !== 0;
    const value = data[row] as number;
    const position = isNull
      ? nullsFirst ? 0 : positions - 1
      : descending
      ? maximum - value + 1
      : value - minimum + 1;
    packed[row] = position * count + row;
  }
  packed.sort();
  const order = new Int32Array(count);
  for (let index = 0; index < count; index++) order[index] = (packed[index] as number) % count;
  return order;
}
