/**
 * How the values of a column are distributed, as ANALYZE finds it in a sample: the most common values with their
 * shares, an equi-depth histogram of the others, the number of distinct values, and how far the order of the rows is
 * that of the values (Y. Ioannidis, "The History of Histograms", VLDB 2003). Estimates only: no answer depends on it.
 */
import type { StoredValue } from "../../operations/effect.ts";

/** A value as it is compared and counted here; bytes are not. */
export type CountedValue = number | bigint | string;

/** See the file's head. Shares are of all rows. */
export interface ColumnDistribution {
  readonly nullFraction: number;
  readonly distinct: number;
  readonly averageBytes: number;
  /** The most common values, the most frequent first. */
  readonly common: ReadonlyMap<CountedValue, number>;
  /** Bounds between which equal numbers of the rows lie that have another value; empty: there are none. */
  readonly histogram: readonly CountedValue[];
  /** From -1 to 1; null: the values have no order that is known here. */
  readonly correlation: number | null;
}

/** Longer texts are counted as distinct values and not kept. */
const MAX_KEPT_LENGTH = 256;
/** Values that are worked on between two yields. */
const SLICE = 2048;
/** A value is common when it comes this much more often than the average one. */
const COMMON_FACTOR = 1.25;

/** The estimator Duj1 of Haas and Stokes (IBM Research Report RJ 10025, 1996), which PostgreSQL uses too. */
export function estimateDistinct(counts: Iterable<number>, sampled: number, total: number): number {
  if (sampled === 0) return 0;
  let once = 0;
  let found = 0;
  for (const count of counts) {
    found++;
    if (count === 1) once++;
  }
  const denominator = sampled - once + once * sampled / Math.max(total, sampled);
  const estimate = denominator <= 0 ? total : sampled * found / denominator;
  return Math.round(Math.min(Math.max(estimate, found), Math.max(total, found)));
}

/** A stored value as it is counted: of bytes a text that tells most of them apart. */
export function countedValue(value: Exclude<StoredValue, null>): CountedValue {
  return value instanceof Uint8Array ? String.fromCharCode(...value.subarray(0, 64)) : value;
}

/**
 * The distribution of a column by the values of sampled rows, in the order of the rows, of a table with `total` rows;
 * at most `target` common values and steps of the histogram. In slices.
 */
export function* columnDistribution(
  values: readonly StoredValue[],
  total: number,
  target: number,
): Generator<void, ColumnDistribution> {
  const counts = new Map<CountedValue, number>();
  let nulls = 0;
  let bytes = 0;
  let hasOrder = true;
  for (let at = 0; at < values.length; at++) {
    if (at % SLICE === SLICE - 1) yield;
    const value = values[at] as StoredValue;
    if (value === null) {
      nulls++;
      continue;
    }
    if (value instanceof Uint8Array) hasOrder = false;
    bytes += typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
    const counted = countedValue(value);
    counts.set(counted, (counts.get(counted) ?? 0) + 1);
  }
  const present = values.length - nulls;
  const nullFraction = values.length === 0 ? 0 : nulls / values.length;
  const distinct = estimateDistinct(counts.values(), present, total * (1 - nullFraction));
  const averageBytes = present === 0 ? 0 : bytes / present;
  if (!hasOrder || present === 0) {
    return { nullFraction, distinct, averageBytes, common: new Map(), histogram: [], correlation: null };
  }
  const common = commonValues(counts, { present, distinct, target });
  const sorted = yield* sortedInSlices([...counts.keys()]);
  const correlation = yield* correlationOf(values, sorted, counts);
  const histogram = histogramOf(sorted.filter((each) => !common.has(each) && isKept(each)), counts, target);
  return {
    nullFraction,
    distinct,
    averageBytes,
    common: new Map([...common].map(([value, count]) => [value, count / values.length])),
    histogram,
    correlation,
  };
}

function isKept(value: CountedValue): boolean {
  return typeof value !== "string" || value.length <= MAX_KEPT_LENGTH;
}

function commonValues(
  counts: ReadonlyMap<CountedValue, number>,
  { present, distinct, target }: {
    readonly present: number;
    readonly distinct: number;
    readonly target: number;
  },
): ReadonlyMap<CountedValue, number> {
  // All that there are, where these are few.
  const isWhole = counts.size <= target && distinct <= counts.size;
  const least = isWhole ? 1 : Math.max(2, COMMON_FACTOR * present / Math.max(1, distinct));
  const frequent = [...counts].filter(([value, count]) => count >= least && isKept(value));
  return new Map(frequent.sort((a, b) => b[1] - a[1]).slice(0, target));
}

function histogramOf(
  sorted: readonly CountedValue[],
  counts: ReadonlyMap<CountedValue, number>,
  target: number,
): CountedValue[] {
  if (sorted.length < 2) return [...sorted];
  const rows = sorted.reduce<number>((sum, value) => sum + (counts.get(value) ?? 0), 0);
  const steps = Math.min(target, sorted.length - 1);
  const bounds: CountedValue[] = [];
  let seen = 0;
  for (const value of sorted) {
    seen += counts.get(value) ?? 0;
    // A value that fills several steps is their bound as often.
    while (bounds.length < steps && seen > bounds.length / steps * rows) bounds.push(value);
  }
  bounds.push(sorted.at(-1) as CountedValue);
  return bounds;
}

/** Whether a value comes before another; numbers that are none come last. */
export function isBefore(left: CountedValue, right: CountedValue): boolean {
  return left < right || (left === left && right !== right);
}

/** A merge sort of distinct values, in slices. */
function* sortedInSlices(values: CountedValue[]): Generator<void, CountedValue[]> {
  let runs: CountedValue[][] = [];
  for (let from = 0; from < values.length; from += SLICE) {
    runs.push(values.slice(from, from + SLICE).sort((a, b) => isBefore(a, b) ? -1 : 1));
    yield;
  }
  while (runs.length > 1) {
    const merged: CountedValue[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(yield* mergedInSlices(runs[at] ?? [], runs[at + 1] ?? []));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedInSlices(
  left: readonly CountedValue[],
  right: readonly CountedValue[],
): Generator<void, CountedValue[]> {
  const result: CountedValue[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const a = left[i], b = right[j];
    if (b === undefined || (a !== undefined && isBefore(a, b))) {
      result.push(a as CountedValue);
      i++;
    } else {
      result.push(b);
      j++;
    }
    if (result.length % SLICE === 0) yield;
  }
  return result;
}

/** Pearson's coefficient of the rows' order and that of their values, as many of one value being on its middle rank. */
function* correlationOf(
  values: readonly StoredValue[],
  sorted: readonly CountedValue[],
  counts: ReadonlyMap<CountedValue, number>,
): Generator<void, number> {
  const ranks = new Map<CountedValue, number>();
  let below = 0;
  for (const value of sorted) {
    const count = counts.get(value) ?? 0;
    ranks.set(value, below + (count - 1) / 2);
    below += count;
  }
  yield;
  const middle = (below - 1) / 2;
  let [position, product, squares, rankSquares] = [0, 0, 0, 0];
  for (let at = 0; at < values.length; at++) {
    if (at % SLICE === SLICE - 1) yield;
    const value = values[at] as StoredValue;
    if (value === null || value instanceof Uint8Array) continue;
    const x = position++ - middle;
    const y = (ranks.get(value) ?? middle) - middle;
    product += x * y;
    squares += x * x;
    rankSquares += y * y;
  }
  return squares === 0 || rankSquares === 0 ? 1 : product / Math.sqrt(squares * rankSquares);
}
