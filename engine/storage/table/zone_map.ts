/**
 * Deciding from the zone of a block (bounds and NULL count of a column in it) whether a predicate can hold for any of
 * its rows. The answer may be yes wrongly, never no.
 */
import { unreachable } from "../../base/assert.ts";
import { compareText } from "../../types/text.ts";
import type { ZonePredicate } from "../access/readable_table.ts";
import type { SegmentColumnDescription } from "./segment_format.ts";

/** Whether the block may hold a row for which the predicate is true. */
export function zoneAdmits(
  column: SegmentColumnDescription,
  block: number,
  rowCount: number,
  predicate: ZonePredicate,
): boolean {
  const nulls = column.zones.nullCounts[block] as number;
  if (predicate.operator === "is null") return nulls > 0;
  if (nulls === rowCount) return false;
  if (predicate.operator === "is not null") return true;
  const value = predicate.value;
  // A comparison with NULL is never true.
  if (value === null) return false;
  if (typeof value === "string") return admitsText(column, block, predicate.operator, value);
  if (typeof value === "number" || typeof value === "bigint") {
    return admitsNumber(column, block, predicate.operator, value) && admitsSome(column, block, predicate);
  }
  return true;
}

/** Whether a wanted number may lie between the bounds of the block. */
function admitsSome(column: SegmentColumnDescription, block: number, { between }: ZonePredicate): boolean {
  const { minima, maxima } = column.zones;
  if (between === undefined || minima.length === 0) return true;
  const [minimum, maximum] = [minima[block] as number, maxima[block] as number];
  return maximum !== maximum || between(minimum, maximum);
}

type Comparison = "=" | "<" | "<=" | ">" | ">=";

function admitsNumber(
  column: SegmentColumnDescription,
  block: number,
  operator: Comparison,
  value: number | bigint,
): boolean {
  const { minima, maxima } = column.zones;
  if (minima.length === 0) return true;
  const minimum = minima[block] as number;
  const maximum = maxima[block] as number;
  // NaN is greater than every number: a block that holds one has no useful upper bound.
  const unbounded = maximum !== maximum;
  if (typeof value === "number" && value !== value) {
    return operator !== "=" && operator[0] !== ">" || unbounded;
  }
  switch (operator) {
    case "=":
      return value >= minimum && (unbounded || value <= maximum);
    case "<":
      return minimum < value;
    case "<=":
      return minimum <= value;
    case ">":
      return unbounded || maximum > value;
    case ">=":
      return unbounded || maximum >= value;
    default:
      return unreachable(operator);
  }
}

function admitsText(
  column: SegmentColumnDescription,
  block: number,
  operator: Comparison,
  value: string,
): boolean {
  const { lows, highs, cut } = column.zones;
  const low = lows[block];
  const high = highs[block];
  if (low === undefined || high === undefined) return true;
  // The least text is not below its prefix; the greatest begins with `high`.
  const notBelowLow = compareText(value, low) >= 0;
  const notAboveHigh = compareText(value, high) <= 0 || (cut[block] === 1 && value.startsWith(high));
  switch (operator) {
    case "=":
      return notBelowLow && notAboveHigh;
    case "<":
      return compareText(low, value) < 0;
    case "<=":
      return notBelowLow;
    case ">":
    case ">=":
      return notAboveHigh;
    default:
      return unreachable(operator);
  }
}
