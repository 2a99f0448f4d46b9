/**
 * Sorting of materialized rows in morsels: answers a permutation of row numbers; equal rows keep their order.
 *
 * Runs of rows are sorted natively and then merged in passes, each of which can be left at any row. A single integer
 * key is packed with the row number into one double when both fit 53 bits; then runs are sorted by V8's native sort
 * of doubles, and nothing calls back. Of a text that is the first key as many characters are packed as fit
 * ({@link TextPacking}); rows that are equal so far are compared.
 */
import type { TextKind } from "./kept_texts.ts";
import type { ColumnBuffer } from "./row_buffer.ts";
import { TextPacking } from "./text_packing.ts";
import { allOf, type Work } from "./work.ts";

/** The first key of a sort: the only one, or a text. */
export interface FirstKey {
  readonly column: ColumnBuffer;
  /** Null: it is no text. */
  readonly text: TextKind | null;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** Compares two rows by their numbers; 0 for equal ones. */
export type RowComparison = (left: number, right: number) => number;

/** Rows of a run that is sorted at once. */
const RUN_ROWS = 1024;
const PACKED_RUN_ROWS = 8192;
/** Rows merged, or packed, in one morsel. */
const MORSEL_ROWS = 2048;
const PACKED_MORSEL_ROWS = 16_384;
/** Below this many rows packing is not worth its while. */
const FEWEST_PACKED_ROWS = 64;

/**
 * Sorting of materialized rows in morsels: answers a permutation of row numbers; equal rows keep their order. {@link
 * RowSort.order} is there when {@link RowSort.advance} has answered true.
 */
export class RowSort implements Work {
  /** Row numbers in order. */
  order: Int32Array = NO_ROWS;
  readonly #count: number;
  readonly #compare: RowComparison;
  readonly #steps: Generator<void, void, void>;

  /** `first` null: rows are compared. */
  constructor(count: number, compare: RowComparison, first: FirstKey | null) {
    this.#count = count;
    this.#compare = compare;
    this.#steps = this.#sort(first);
  }

  advance(): boolean {
    do if (this.#steps.next().done === true) return true; while (this.#count <= RUN_ROWS);
    return false;
  }

  *#sort(first: FirstKey | null): Generator<void, void, void> {
    const packed = first === null || this.#count <= FEWEST_PACKED_ROWS ? null : yield* this.#pack(first);
    if (packed === null) {
      const merge = new MergeSort(rowNumbers(this.#count), this.#compare);
      yield* allOf(merge);
      this.order = merge.sorted;
      return;
    }
    const sort = new NumberSort(packed);
    yield* allOf(sort);
    yield* this.#unpack(sort.sorted);
    if (first?.text !== null) yield* this.#sortTies(sort.sorted);
  }

  /** Null: the key cannot be packed. */
  *#pack(first: FirstKey): Generator<void, Float64Array | null, void> {
    const { text } = first;
    if (text === null) {
      const packing = canPack(first.column) ? new Packing(this.#count, first) : null;
      if (packing !== null) yield* allOf(packing);
      return packing?.packed ?? null;
    }
    const packed = packedKeys(this.#count);
    yield* new TextPacking({ ...first, kind: text }).fill(packed);
    return packed;
  }

  /** Takes the row numbers out of some packed keys. */
  *#unpack(sorted: Float64Array): Generator<void, void, void> {
    const count = sorted.length;
    const order = this.order = new Int32Array(count);
    for (let index = 0; index < count; index++) {
      order[index] = (sorted[index] as number) % count;
      if (index % PACKED_MORSEL_ROWS === PACKED_MORSEL_ROWS - 1) yield;
    }
  }

  /** Sorts rows whose packed keys are equal. They are in the order of their numbers. */
  *#sortTies(packed: Float64Array): Generator<void, void, void> {
    const { order } = this;
    const compare = this.#compare;
    const count = packed.length;
    let begin = 0;
    let isInOrder = true;
    let key = Math.floor(packed[0] as number / count);
    for (let at = 1; at <= count; at++) {
      if (at % MORSEL_ROWS === 0) yield;
      const next = at < count ? Math.floor(packed[at] as number / count) : -1;
      if (next === key) {
        if (isInOrder) isInOrder = compare(order[at - 1] as number, order[at] as number) <= 0;
        continue;
      }
      if (!isInOrder) {
        const ties = new MergeSort(order.slice(begin, at), compare);
        yield* allOf(ties);
        order.set(ties.sorted, begin);
      }
      begin = at;
      isInOrder = true;
      key = next;
    }
  }
}

/** The first of each stretch of equal rows. */
export class UniqueRows implements Work {
  /** The rows, when {@link UniqueRows.advance} has answered true. */
  order: Int32Array;
  readonly #compare: RowComparison;
  #next = 0;
  #count = 0;

  /** `order`: sorted rows; it is written over. */
  constructor(order: Int32Array, compare: RowComparison) {
    this.order = order;
    this.#compare = compare;
  }

  advance(): boolean {
    const { order } = this;
    const compare = this.#compare;
    const end = Math.min(order.length, this.#next + MORSEL_ROWS);
    let count = this.#count;
    for (let at = this.#next; at < end; at++) {
      const row = order[at] as number;
      if (count === 0 || compare(order[count - 1] as number, row) !== 0) order[count++] = row;
    }
    this.#next = end;
    this.#count = count;
    if (end < order.length) return false;
    this.order = order.subarray(0, count);
    return true;
  }
}

/** Sorts all rows at once. */
export function sortRows(count: number, compare: RowComparison, first: FirstKey | null): Int32Array {
  const sort = new RowSort(count, compare, first);
  while (!sort.advance());
  return sort.order;
}

const NO_ROWS = new Int32Array(0);
/** For rows that are sorted in one morsel: making an array costs as much as sorting ten of them. */
const scratch = new Float64Array(RUN_ROWS);

function packedKeys(count: number): Float64Array {
  return count <= RUN_ROWS ? scratch.subarray(0, count) : new Float64Array(count);
}

function rowNumbers(count: number): Int32Array {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

/**
 * Bottom-up merging of runs; what is sorted is in `sorted` in the end. Long stretches that are in order already, as
 * those are that workers have sorted, are runs as they come.
 */
abstract class RunMerge<T extends Int32Array | Float64Array> implements Work {
  sorted: T;
  /** What the next pass merges into; null: nothing has been merged. */
  #other: T | null = null;
  readonly #runRows: number;
  readonly #morselRows: number;
  /** Where runs end; each begins where the one before it ends. */
  #ends: number[] = [];
  /** From the end of the last run up to here all is in order. */
  #inOrder = 0;
  /** Ends of merged runs, as far as this pass has come. */
  #merged: number[] = [];
  /** The pair of runs that is being merged, by the first one's place, and how far it is in both. */
  #pair = 0;
  #left = 0;
  #right = 0;

  constructor(rows: T, options: { readonly runRows: number; readonly morselRows: number }) {
    this.sorted = rows;
    this.#runRows = options.runRows;
    this.#morselRows = options.morselRows;
  }

  /** Sorts a run in place. */
  protected abstract sortRun(from: number, to: number): void;

  /** Whether the entry at `right` must come before the one at `left`, which stood before it. */
  protected abstract comesFirst(rows: T, right: number, left: number): boolean;

  /** Room for as many. */
  protected abstract makeOther(): T;

  advance(): boolean {
    const count = this.sorted.length;
    if ((this.#ends.at(-1) ?? 0) < count) {
      this.#findRun(count);
      return this.#ends.length === 1 && this.#ends[0] === count;
    }
    if (this.#ends.length < 2) return true;
    for (let budget = this.#morselRows; budget > 0;) {
      budget -= this.#mergeSome(budget);
      if (this.#pair < this.#ends.length) continue;
      const { sorted } = this;
      this.sorted = this.#other ?? sorted;
      this.#other = sorted;
      this.#ends = this.#merged;
      this.#merged = [];
      this.#beginPair(0);
      if (this.#ends.length < 2) return true;
    }
    return false;
  }

  /** Goes on with the next run, or makes one. */
  #findRun(count: number): void {
    const { sorted: rows } = this;
    const begin = this.#ends.at(-1) ?? 0;
    let end = Math.max(begin + 1, this.#inOrder);
    const last = Math.min(count, end + this.#morselRows);
    while (end < last && !this.comesFirst(rows, end, end - 1)) end++;
    this.#inOrder = end;
    if (end === last && end < count) return;
    if (end - begin < this.#runRows && end < count) {
      end = Math.min(count, begin + this.#runRows);
      this.sortRun(begin, end);
      this.#inOrder = end;
    }
    if (this.#ends.push(end) === 1 || end < count) return;
    this.#beginPair(0);
  }

  #beginPair(pair: number): void {
    this.#pair = pair;
    this.#left = this.#ends[pair - 1] ?? 0;
    this.#right = this.#ends[pair] ?? this.sorted.length;
  }

  /** Merges at most so many rows of a pair of runs; answers how many. */
  #mergeSome(atMost: number): number {
    const { sorted: rows } = this;
    const target = this.#other ??= this.makeOther();
    const middle = this.#ends[this.#pair] as number;
    const end = this.#ends[this.#pair + 1] ?? middle;
    let left = this.#left;
    let right = this.#right;
    const first = left + right - middle;
    const last = Math.min(end, first + atMost);
    let at = first;
    while (at < last && left < middle && right < end) {
      target[at++] = this.comesFirst(rows, right, left) ? rows[right++] as number : rows[left++] as number;
    }
    while (at < last && left < middle) target[at++] = rows[left++] as number;
    while (at < last && right < end) target[at++] = rows[right++] as number;
    this.#left = left;
    this.#right = right;
    if (at === end) {
      this.#merged.push(end);
      this.#beginPair(this.#pair + 2);
    }
    return at - first;
  }
}

class MergeSort extends RunMerge<Int32Array> {
  readonly #compare: RowComparison;

  /** `rows` in any order; of equal ones the first number comes first in each run. */
  constructor(rows: Int32Array, compare: RowComparison) {
    super(rows, { runRows: RUN_ROWS, morselRows: MORSEL_ROWS });
    this.#compare = compare;
  }

  protected override sortRun(from: number, to: number): void {
    const compare = this.#compare;
    this.sorted.subarray(from, to).sort((left, right) => {
      const result = compare(left, right);
      return result !== 0 ? result : left - right;
    });
  }

  protected override comesFirst(rows: Int32Array, right: number, left: number): boolean {
    return this.#compare(rows[right] as number, rows[left] as number) < 0;
  }

  protected override makeOther(): Int32Array {
    return new Int32Array(this.sorted.length);
  }
}

/** Sorts numbers in morsels, in place or into an array of its own; NaN comes last. */
export class NumberSort extends RunMerge<Float64Array> {
  constructor(numbers: Float64Array) {
    super(numbers, { runRows: PACKED_RUN_ROWS, morselRows: PACKED_MORSEL_ROWS });
  }

  protected override sortRun(from: number, to: number): void {
    this.sorted.subarray(from, to).sort();
  }

  protected override comesFirst(rows: Float64Array, right: number, left: number): boolean {
    const a = rows[right] as number;
    const b = rows[left] as number;
    return a < b || b !== b && a === a;
  }

  protected override makeOther(): Float64Array {
    return new Float64Array(this.sorted.length);
  }
}

function canPack({ data, big, storage }: ColumnBuffer): boolean {
  return !Array.isArray(data) && big === null && storage !== "code";
}

/** Packs a key with the row number into one double. */
class Packing implements Work {
  /** Null: the keys are no integers, or too far apart. */
  packed: Float64Array | null = null;
  readonly #count: number;
  readonly #key: FirstKey;
  #minimum = Infinity;
  #maximum = -Infinity;
  #measured = 0;
  #done = 0;

  constructor(count: number, key: FirstKey) {
    this.#count = count;
    this.#key = key;
  }

  advance(): boolean {
    if (this.#measured < this.#count) {
      return !this.#measure() || this.#measured === this.#count && !this.#allocate();
    }
    return this.#pack();
  }

  /** Looks at some keys. false: they cannot be packed. */
  #measure(): boolean {
    const { data, nulls } = this.#key.column;
    const end = Math.min(this.#count, this.#measured + PACKED_MORSEL_ROWS);
    for (let row = this.#measured; row < end; row++) {
      if (nulls !== null && nulls[row] !== 0) continue;
      const value = data[row] as number;
      if (!Number.isInteger(value)) return false;
      if (value < this.#minimum) this.#minimum = value;
      if (value > this.#maximum) this.#maximum = value;
    }
    this.#measured = end;
    return true;
  }

  /** Position 0 and the one after the last are for NULLs. */
  get #positions(): number {
    return this.#maximum - this.#minimum + 3;
  }

  /** false: the packed keys would not fit. */
  #allocate(): boolean {
    if (this.#minimum > this.#maximum) this.#minimum = this.#maximum = 0;
    if (!(this.#positions * this.#count < Number.MAX_SAFE_INTEGER)) return false;
    this.packed = packedKeys(this.#count);
    return true;
  }

  #pack(): boolean {
    const { column: { data, nulls }, descending, nullsFirst } = this.#key;
    const count = this.#count;
    const positions = this.#positions;
    const minimum = this.#minimum;
    const maximum = this.#maximum;
    const packed = this.packed as Float64Array;
    const end = Math.min(count, this.#done + PACKED_MORSEL_ROWS);
    for (let row = this.#done; row < end; row++) {
      const isNull = nulls !== null && nulls[row] !== 0;
      const value = data[row] as number;
      const position = isNull
        ? nullsFirst ? 0 : positions - 1
        : descending
        ? maximum - value + 1
        : value - minimum + 1;
      packed[row] = position * count + row;
    }
    this.#done = end;
    return end === count;
  }
}
