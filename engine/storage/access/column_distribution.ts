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
const SLICE = 512;
/** A value is common when it comes this much more often than the average one. */
const COMMON_FACTOR = 1.25;

/** How many values of a sample differ, and how many of them come once. */
export interface DistinctFound {
  readonly found: number;
  readonly once: number;
}

/** The estimator Duj1 of Haas and Stokes (IBM Research Report RJ 10025, 1996), which PostgreSQL uses too. */
export function estimateDistinct({ found, once }: DistinctFound, sampled: number, total: number): number {
  if (sampled === 0) return 0;
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
  let once = 0;
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
    const count = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, count);
    if (count <= 2) once += count === 1 ? 1 : -1;
  }
  const present = values.length - nulls;
  const nullFraction = values.length === 0 ? 0 : nulls / values.length;
  const distinct = estimateDistinct({ found: counts.size, once }, present, total * (1 - nullFraction));
  const averageBytes = present === 0 ? 0 : bytes / present;
  if (!hasOrder || present === 0) {
    return { nullFraction, distinct, averageBytes, common: new Map(), histogram: [], correlation: null };
  }
  const common = yield* commonValues(counts, { present, distinct, target });
  const keys: CountedValue[] = [];
  for (const value of counts.keys()) {
    keys.push(value);
    if (keys.length % SLICE === 0) yield;
  }
  const sorted = yield* sortedInSlices(keys, isBefore);
  const histogram = yield* histogramOf(sorted, { counts, common, target });
  const ranks = yield* ranksOf(sorted, counts);
  const correlation = yield* correlationOf(values, { ranks, present });
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

function* commonValues(
  counts: ReadonlyMap<CountedValue, number>,
  { present, distinct, target }: {
    readonly present: number;
    readonly distinct: number;
    readonly target: number;
  },
): Generator<void, ReadonlyMap<CountedValue, number>> {
  // All that there are, where these are few.
  const isWhole = counts.size <= target && distinct <= counts.size;
  const least = isWhole ? 1 : Math.max(2, COMMON_FACTOR * present / Math.max(1, distinct));
  const frequent: (readonly [CountedValue, number])[] = [];
  let seen = 0;
  for (const entry of counts) {
    if (++seen % SLICE === 0) yield;
    if (entry[1] >= least && isKept(entry[0])) frequent.push(entry);
  }
  const sorted = yield* sortedInSlices(frequent, (left, right) => left[1] > right[1]);
  return new Map(sorted.slice(0, target));
}

/** Bounds between which as many rows lie each, of the values that are kept and not common. */
function* histogramOf(
  sorted: readonly CountedValue[],
  { counts, common, target }: {
    readonly counts: ReadonlyMap<CountedValue, number>;
    readonly common: ReadonlyMap<CountedValue, number>;
    readonly target: number;
  },
): Generator<void, CountedValue[]> {
  const others: CountedValue[] = [];
  let rows = 0;
  for (let at = 0; at < sorted.length; at++) {
    if (at % SLICE === SLICE - 1) yield;
    const value = sorted[at] as CountedValue;
    if (common.has(value) || !isKept(value)) continue;
    others.push(value);
    rows += counts.get(value) ?? 0;
  }
  if (others.length < 2) return others;
  const steps = Math.min(target, others.length - 1);
  const bounds: CountedValue[] = [];
  let seen = 0;
  for (let at = 0; at < others.length; at++) {
    if (at % SLICE === SLICE - 1) yield;
    const value = others[at] as CountedValue;
    seen += counts.get(value) ?? 0;
    // A value that fills several steps is their bound as often.
    while (bounds.length < steps && seen > bounds.length / steps * rows) bounds.push(value);
  }
  bounds.push(others.at(-1) as CountedValue);
  return bounds;
}

/** Whether a value comes before another; numbers that are none come last. */
export function isBefore(left: CountedValue, right: CountedValue): boolean {
  return left < right || (left === left && right !== right);
}

/** A stable merge sort, in slices; `precedes`: whether the first is less than the second. */
export function* sortedInSlices<T>(
  values: readonly T[],
  precedes: (left: T, right: T) => boolean,
): Generator<void, T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < values.length; from += SLICE) {
    const run = values.slice(from, from + SLICE);
    runs.push(run.sort((a, b) => precedes(a, b) ? -1 : precedes(b, a) ? 1 : 0));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(yield* mergedInSlices([runs[at] ?? [], runs[at + 1] ?? []], precedes));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedInSlices<T>(
  [left, right]: readonly [readonly T[], readonly T[]],
  precedes: (left: T, right: T) => boolean,
): Generator<void, T[]> {
  const result: T[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const isRight = i === left.length || j < right.length && precedes(right[j] as T, left[i] as T);
    result.push((isRight ? right[j++] : left[i++]) as T);
    if (result.length % SLICE === 0) yield;
  }
  return result;
}

/** Puts the middle rank of a value in the place of its count. */
function* ranksOf(
  sorted: readonly CountedValue[],
  counts: Map<CountedValue, number>,
): Generator<void, ReadonlyMap<CountedValue, number>> {
  let below = 0;
  for (let at = 0; at < sorted.length; at++) {
    if (at % SLICE === SLICE - 1) yield;
    const value = sorted[at] as CountedValue;
    const count = counts.get(value) ?? 0;
    counts.set(value, below + (count - 1) / 2);
    below += count;
  }
  return counts;
}

/** Pearson's coefficient of the rows' order and that of their values, as many of one value being on its middle rank. */
function* correlationOf(
  values: readonly StoredValue[],
  { ranks, present }: { readonly ranks: ReadonlyMap<CountedValue, number>; readonly present: number },
): Generator<void, number> {
  const middle = (present - 1) / 2;
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
