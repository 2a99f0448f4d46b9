/**
 * Shares of a column's rows, from what ANALYZE knows of its values: those with one value, those within a range, and
 * what comes of joining several columns by equality, value by value for the most common ones.
 */
import { DatabaseError } from "../../base/errors.ts";
import type { TextTest } from "../../types/pattern.ts";
import type { SqlValue } from "../../types/value.ts";
import { compileMatcher, type PatternOperator } from "../functions/pattern_functions.ts";
import {
  type ColumnDistribution,
  type CountedValue,
  isBefore,
} from "../../storage/access/column_distribution.ts";

/** An end of a range. */
export interface RangeEnd {
  readonly value: CountedValue;
  readonly inclusive: boolean;
}

/** Rows that are neither NULL nor have a common value. */
function restShare({ nullFraction, common }: ColumnDistribution): number {
  let share = 1 - nullFraction;
  for (const each of common.values()) share -= each;
  return Math.max(0, share);
}

/** The share of rows with one value; `distinct` is how many values the column has. */
export function equalShare(distribution: ColumnDistribution, distinct: number, value: CountedValue): number {
  const known = distribution.common.get(value);
  if (known !== undefined) return known;
  const { histogram, common } = distribution;
  const rest = restShare(distribution);
  const others = Math.max(1, distinct - common.size);
  const [first, last] = [histogram[0], histogram.at(-1)];
  if (first === undefined || last === undefined) return rest / others;
  // Nothing that was seen is as small or as large: some row may have come since.
  const isOutside = isBefore(value, first) || isBefore(last, value);
  const average = rest / others;
  return isOutside ? average / 10 : average;
}

/** With fewer bounds of the histogram what is usual counts as well. */
const SURE_BOUNDS = 100;
/**
 * The share of rows whose text matches a pattern: of the common values those that do, of the others as many as among
 * the bounds of the histogram. The answer remembers the last pattern; undefined: it is not known, or raises an error.
 */
export function patternShares(
  distribution: ColumnDistribution,
  { operator, otherwise }: { readonly operator: PatternOperator; readonly otherwise: number },
): (pattern: SqlValue | undefined) => number | undefined {
  let last: { readonly pattern: string; readonly share: number } | null = null;
  return (pattern) => {
    if (typeof pattern !== "string") return undefined;
    if (last?.pattern === pattern) return last.share;
    try {
      last = { pattern, share: matchingShare(distribution, compileMatcher(operator, pattern), otherwise) };
      return last.share;
    } catch (error) {
      if (error instanceof DatabaseError) return undefined;
      throw error;
    }
  };
}

function matchingShare(distribution: ColumnDistribution, test: TextTest, otherwise: number): number {
  const passes = (value: CountedValue) => typeof value === "string" && test(value);
  let common = 0;
  for (const [value, share] of distribution.common) if (passes(value)) common += share;
  const bounds = distribution.histogram;
  const weight = Math.min(1, bounds.length / SURE_BOUNDS);
  const found = bounds.filter(passes).length / Math.max(1, bounds.length);
  const others = restShare(distribution) * Math.max(weight * found + (1 - weight) * otherwise, LEAST_SHARE);
  return Math.min(1, common + others);
}

/** Some row may match any pattern. */
const LEAST_SHARE = 0.0005;

/** The share of rows within a range; null as an end: there is none. */
export function rangeShare(
  distribution: ColumnDistribution,
  low: RangeEnd | null,
  high: RangeEnd | null,
): number {
  let share = 0;
  for (const [value, each] of distribution.common) if (isWithin(value, low, high)) share += each;
  const { histogram } = distribution;
  const from = low === null ? 0 : position(histogram, low.value);
  const to = high === null ? 1 : position(histogram, high.value);
  return Math.min(1, Math.max(0, share + Math.max(0, to - from) * restShare(distribution)));
}

/** Whether a value lies in a range. */
export function isWithin(value: CountedValue, low: RangeEnd | null, high: RangeEnd | null): boolean {
  if (low !== null && (isBefore(value, low.value) || (!low.inclusive && value === low.value))) return false;
  return high === null || !(isBefore(high.value, value) || (!high.inclusive && value === high.value));
}

/** Where a value lies among the bounds of a histogram, from 0 to 1. */
function position(histogram: readonly CountedValue[], value: CountedValue): number {
  const steps = histogram.length - 1;
  if (steps < 1) return histogram.length === 1 && isBefore(histogram[0] as CountedValue, value) ? 1 : 0;
  let [low, high] = [0, steps + 1];
  // The first bound that is not before the value.
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(histogram[middle] as CountedValue, value)) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return 0;
  if (low > steps) return 1;
  const [before, after] = [histogram[low - 1] as CountedValue, histogram[low] as CountedValue];
  return (low - 1 + within(before, after, value)) / steps;
}

/** Where a value lies between two bounds; of texts by their first letters behind those that both have. */
function within(low: CountedValue, high: CountedValue, value: CountedValue): number {
  if (typeof low === "string" || typeof high === "string" || typeof value === "string") {
    const texts = [low, high, value].map(String) as [string, string, string];
    let common = 0;
    while (common < texts[0].length && texts[0][common] === texts[1][common]) common++;
    const [a, b, c] = texts.map((text) => leading(text, common)) as [number, number, number];
    return b > a ? Math.min(1, Math.max(0, (c - a) / (b - a))) : 0.5;
  }
  const [a, b] = [Number(low), Number(high)];
  return b > a ? Math.min(1, Math.max(0, (Number(value) - a) / (b - a))) : 0.5;
}

function leading(text: string, from: number): number {
  let result = 0;
  for (let at = from; at < from + 3; at++) result = result * 256 + Math.min(255, text.charCodeAt(at) || 0);
  return result;
}

/** The values of a column in the rows of one relation, as a join sees them. */
export interface JoinedValues {
  /** The share of the relation's rows that each of these values has. */
  readonly common: ReadonlyMap<CountedValue, number>;
  /**
   * The share of rows with other values, and how many of these there are in the table: conditions on other columns
   * leave each relation other ones of them, so that two have fewer in common.
   */
  readonly restShare: number;
  readonly restDistinct: number;
  /** The share that any one other value is expected to have, of which conditions may have left none. */
  readonly otherShare: number;
  /** Rows of the relation; absent: they are many. */
  readonly rows?: number;
  /** Whether a value can be there at all; absent: any can. */
  readonly admits?: (value: CountedValue) => boolean;
}

/** Values of which nothing is known but how many there are. */
export function evenValues(distinct: number, nullFraction: number): JoinedValues {
  const restShare = 1 - nullFraction;
  return { common: NONE, restShare, restDistinct: distinct, otherShare: restShare / distinct };
}

const NONE: ReadonlyMap<CountedValue, number> = new Map();

/** The values of an analyzed column. */
export function analyzedValues(distribution: ColumnDistribution, distinct: number): JoinedValues {
  const { common } = distribution;
  const rest = restShare(distribution);
  const others = Math.max(1, distinct - common.size);
  return { common, restShare: rest, restDistinct: others, otherShare: rest / others };
}

/** The values that are left of others by conditions on the column itself, which keep a share of the rows. */
export function keptValues(
  values: JoinedValues,
  keeps: (value: CountedValue) => boolean,
  share: number,
): JoinedValues {
  const scale = 1 / Math.max(share, 1e-9);
  let restShare = 1;
  const common = new Map<CountedValue, number>();
  for (const [value, own] of values.common) {
    if (!keeps(value)) continue;
    const scaled = Math.min(1, own * scale);
    common.set(value, scaled);
    restShare -= scaled;
  }
  return {
    common,
    restShare: Math.max(0, restShare),
    restDistinct: Math.max(1, values.restDistinct * share),
    otherShare: Math.min(1, values.otherShare * scale),
    admits: keeps,
  };
}

/** The values of rows that are all known. */
export function countedValues(list: readonly CountedValue[], rows: number): JoinedValues {
  const common = new Map<CountedValue, number>();
  for (const value of list) common.set(value, (common.get(value) ?? 0) + 1 / Math.max(1, rows));
  return { common, restShare: 0, restDistinct: 1, otherShare: 0 };
}

/** What comes with a smaller probability is not likely. */
const LIKELY = 1;

/** So many that every value is sure to be there. */
const MANY_ROWS = 1e15;

/**
 * Columns of several relations that are equal, any of which may be joined. Values that one has are taken to be among
 * those of any other that has as many.
 *
 * The few most common values may make up nearly all of the mean, and still be gone in most cases where conditions leave
 * few of the values: they count for no more than the ones that are likely to be left.
 */
export class EqualColumns {
  readonly #members: readonly JoinedValues[];
  readonly #rows: readonly number[];
  readonly #count: number;
  /** By member: how many rows each of the common values of any member has. */
  readonly #rowsOf: readonly Float64Array[];
  /** By member: the share of its rows with values that are common in another, and how many of these it has. */
  readonly #takenShare: readonly number[];
  readonly #taken: readonly number[];
  readonly #chances: Float64Array;
  readonly #combinations: Float64Array;

  constructor(members: readonly JoinedValues[]) {
    const values = new Set<CountedValue>();
    for (const each of members) for (const value of each.common.keys()) values.add(value);
    this.#members = members;
    this.#count = values.size;
    this.#rows = members.map(({ rows }) => rows ?? MANY_ROWS);
    this.#chances = new Float64Array(values.size);
    this.#combinations = new Float64Array(values.size);
    const taken = members.map(() => 0);
    const takenShare = members.map(() => 0);
    this.#rowsOf = members.map((member, at) => {
      const rows = new Float64Array(values.size);
      let index = 0;
      for (const value of values) {
        let own = member.common.get(value);
        if (own === undefined) {
          own = member.admits?.(value) === false ? 0 : member.otherShare;
          takenShare[at] = (takenShare[at] as number) + own;
          taken[at] = (taken[at] as number) + 1;
        }
        rows[index++] = own * (this.#rows[at] as number);
      }
      return rows;
    });
    this.#taken = taken;
    this.#takenShare = takenShare;
  }

  /** The share of all combinations of rows of some members, by their places, whose values are equal. */
  share(places: readonly number[]): number {
    let all = 1;
    let rest = 1;
    for (const at of places) {
      const { restShare } = this.#members[at] as JoinedValues;
      all *= this.#rows[at] as number;
      rest *= Math.max(0, restShare - (this.#takenShare[at] as number));
    }
    const common = this.#commonRows(places) / all;
    if (rest === 0) return common;
    const counts = places.map((at) =>
      Math.max(1, (this.#members[at] as JoinedValues).restDistinct - (this.#taken[at] as number))
    ).sort((a, b) => a - b);
    for (const count of counts.slice(1)) rest /= count;
    return common + rest;
  }

  /** Combinations of rows with common values. */
  #commonRows(places: readonly number[]): number {
    const [chances, combinations] = [this.#chances.fill(1), this.#combinations.fill(1)];
    for (const at of places) {
      const rowsOf = this.#rowsOf[at] as Float64Array;
      for (let index = 0; index < this.#count; index++) {
        const rows = rowsOf[index] as number;
        if (rows < 1) (chances[index] as number) *= rows;
        else (combinations[index] as number) *= rows;
      }
    }
    let [most, chance] = [0, 1];
    for (let index = 0; index < this.#count; index++) {
      if (chances[index] === 0 || (combinations[index] as number) < most) continue;
      most = combinations[index] as number;
      chance = chances[index] as number;
    }
    if (chance < LIKELY) most = this.#likelyCombinations();
    let sum = 0;
    for (let index = 0; index < this.#count; index++) {
      sum += (chances[index] as number) * Math.min(combinations[index] as number, most);
    }
    return sum;
  }

  /** How many combinations the largest value makes that is likely to be left. */
  #likelyCombinations(): number {
    const order = Array.from(this.#combinations.keys()).filter((index) =>
      (this.#chances[index] as number) > 0
    );
    order.sort((a, b) => (this.#combinations[b] as number) - (this.#combinations[a] as number));
    let [expected, most] = [0, 0];
    for (const index of order) {
      expected += this.#chances[index] as number;
      most = this.#combinations[index] as number;
      if (expected >= LIKELY) break;
    }
    return most;
  }
}

/** The share of all combinations of rows of several relations whose values are equal. */
export function equalJoinShare(members: readonly JoinedValues[]): number {
  return new EqualColumns(members).share(members.map((_, at) => at));
}
