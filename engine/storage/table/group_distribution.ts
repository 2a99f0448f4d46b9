/**
 * How values of several columns go together, for CREATE STATISTICS: how many combinations there are, how far a column
 * follows from others (functional dependencies, as J. Ilyas et al., "CORDS", SIGMOD 2004, look for them), and which
 * combinations are the most common.
 */
import type { StoredValue } from "../../operations/effect.ts";
import {
  type CountedValue,
  countedValue,
  type DistinctFound,
  estimateDistinct,
  sortedInSlices,
} from "../access/column_distribution.ts";

/** How far the last of the columns follows from the others. */
export interface Dependency {
  /** Places in the list of columns. */
  readonly from: readonly number[];
  readonly to: number;
  /** The share of rows in groups by the others that have but one value of it. */
  readonly degree: number;
}

/** See the file's head. */
export interface GroupDistribution {
  /** Of each set of two columns and more, as places in the list of columns joined by commas. */
  readonly distinct: ReadonlyMap<string, number>;
  readonly dependencies: readonly Dependency[];
  /**
   * The most frequent combinations, with their shares of all rows, and those that they would have if the columns had
   * nothing to do with each other.
   */
  readonly common: readonly {
    readonly values: readonly (CountedValue | null)[];
    readonly share: number;
    readonly independentShare: number;
  }[];
}

/** Values that are worked on between two yields. */
const SLICE = 1024;

/** What the columns of sampled rows of a table with `total` rows have in common. In slices. */
export function* groupDistribution(
  columns: readonly (readonly StoredValue[])[],
  total: number,
  target: number,
): Generator<void, GroupDistribution> {
  const sampled = columns[0]?.length ?? 0;
  const places = columns.map((_, index) => index);
  const codes: Int32Array[] = [];
  for (const values of columns) codes.push(yield* codesOf(values));
  const distinct = new Map<string, number>();
  const dependencies: Dependency[] = [];
  let common: GroupDistribution["common"] = [];
  const singles: Groups[] = [];
  for (const set of subsets(places)) {
    const groups = yield* combine(set.map((place) => codes[place] as Int32Array));
    if (set.length === 1) singles.push(groups);
    if (set.length >= 2) distinct.set(set.join(), estimateDistinct(yield* foundIn(groups), sampled, total));
    for (const to of places) {
      if (set.includes(to)) continue;
      const degree = yield* degreeOf(groups, codes[to] as Int32Array);
      if (degree > 0) dependencies.push({ from: set, to, degree });
    }
    if (set.length === places.length) common = yield* commonOf(groups, { columns, singles }, target);
  }
  return { distinct, dependencies, common };
}

/** All sets of places but the empty one. */
function subsets(places: readonly number[]): number[][] {
  const result: number[][] = [];
  for (let mask = 1; mask < 1 << places.length; mask++) {
    result.push(places.filter((place) => (mask >> place) & 1));
  }
  return result;
}

/** Equal values have equal numbers. */
function* codesOf(values: readonly StoredValue[]): Generator<void, Int32Array> {
  const codes = new Int32Array(values.length);
  const known = new Map<CountedValue | null, number>();
  for (let at = 0; at < values.length; at++) {
    if (at % SLICE === SLICE - 1) yield;
    const value = values[at] as StoredValue;
    const counted = value === null ? null : countedValue(value);
    let code = known.get(counted);
    if (code === undefined) known.set(counted, code = known.size);
    codes[at] = code;
  }
  return codes;
}

interface Groups {
  /** By row: the number of its group. */
  readonly of: Int32Array;
  readonly counts: readonly number[];
  /** By group: its first row. */
  readonly first: readonly number[];
}

function* combine(codes: readonly Int32Array[]): Generator<void, Groups> {
  const length = codes[0]?.length ?? 0;
  const of = new Int32Array(length);
  const counts: number[] = [];
  const first: number[] = [];
  const known = new Map<string | number, number>();
  for (let at = 0; at < length; at++) {
    if (at % SLICE === SLICE - 1) yield;
    const key = codes.length === 1
      ? codes[0]?.[at] as number
      : codes.map((each) => each[at] as number).join();
    let group = known.get(key);
    if (group === undefined) {
      known.set(key, group = counts.length);
      counts.push(0);
      first.push(at);
    }
    (counts[group] as number)++;
    of[at] = group;
  }
  return { of, counts, first };
}

/** Groups of one row say nothing of whether others would agree: they do not count. */
function* degreeOf(groups: Groups, values: Int32Array): Generator<void, number> {
  const agrees = new Uint8Array(groups.counts.length).fill(1);
  for (let at = 0; at < values.length; at++) {
    if (at % SLICE === SLICE - 1) yield;
    const group = groups.of[at] as number;
    if (values[at] !== values[groups.first[group] as number]) agrees[group] = 0;
  }
  let [rows, consistent] = [0, 0];
  for (let group = 0; group < agrees.length; group++) {
    if (group % SLICE === SLICE - 1) yield;
    const count = groups.counts[group] as number;
    if (count < 2) continue;
    rows += count;
    if (agrees[group] === 1) consistent += count;
  }
  return rows === 0 ? 0 : consistent / rows;
}

function* commonOf(
  groups: Groups,
  { columns, singles }: {
    readonly columns: readonly (readonly StoredValue[])[];
    readonly singles: readonly Groups[];
  },
  target: number,
): Generator<void, GroupDistribution["common"]> {
  const sampled = groups.of.length;
  const isWhole = groups.counts.length <= target;
  const frequent: { readonly count: number; readonly row: number }[] = [];
  for (let group = 0; group < groups.counts.length; group++) {
    if (group % SLICE === SLICE - 1) yield;
    const count = groups.counts[group] as number;
    if (isWhole || count >= 2) frequent.push({ count, row: groups.first[group] as number });
  }
  const sorted = yield* sortedInSlices(frequent, (left, right) => left.count > right.count);
  return sorted.slice(0, target).map(({ count, row }) => ({
    values: columns.map((values) => {
      const value = values[row] as StoredValue;
      return value === null ? null : countedValue(value);
    }),
    share: count / sampled,
    independentShare: singles.reduce(
      (share, { of, counts }) => share * (counts[of[row] as number] as number) / sampled,
      1,
    ),
  }));
}

function* foundIn({ counts }: Groups): Generator<void, DistinctFound> {
  let once = 0;
  for (let group = 0; group < counts.length; group++) {
    if (group % SLICE === SLICE - 1) yield;
    if (counts[group] === 1) once++;
  }
  return { found: counts.length, once };
}
