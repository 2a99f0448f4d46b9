/**
 * Where the frame of RANGE with an offset ends: the row's key with the offset added or taken away.
 *
 * Keys keep their total order, in which NaN is the greatest: a limit of NaN takes in what equals NaN, and as an upper
 * limit everything. Two infinities that would cancel each other take in all other numbers, as in PostgreSQL. Negative
 * offsets are refused when a row first needs them (22013).
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import type { EvaluationContext } from "../../sql/functions/definition.ts";
import { addInterval, addIntervalTz, subtractInterval, subtractIntervalTz } from "../../types/date_time.ts";
import { MICROSECONDS_PER_DAY } from "../../types/calendar.ts";
import { Decimal } from "../../types/decimal.ts";
import type { Interval } from "../../types/interval.ts";
import { add, isIntegerKind, multiply, subtract } from "../../types/number_or_bigint.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { timeZone } from "../../types/time_zone.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";

/** Which limit is asked for. */
export interface LimitSide {
  /** Whether the offset is taken away. */
  readonly backward: boolean;
  /** Whether keys up to the limit are within the frame, not those from it. */
  readonly isUpper: boolean;
}

/** The limit of a key's frame. */
export type RangeLimit = (
  key: SqlValue,
  offset: SqlValue,
  side: LimitSide,
  context: EvaluationContext,
) => SqlValue;

/** How keys of a type are moved by an offset of the type that the binder gives it; null: they cannot be. */
export function rangeLimitOf(type: SqlType): RangeLimit | null {
  if (isIntegerKind(type.kind)) return limitOfInteger;
  switch (type.kind) {
    case "f32":
    case "f64":
      return limitOfFloat;
    case "numeric":
      return limitOfNumeric;
    case "time":
      return limitOfTime;
    case "date":
      return limitOfDate;
    case "timestamp":
      return limitOfTimestamp;
    case "timestamptz":
      return limitOfTimestampTz;
    case "interval":
      return limitOfInterval;
    default:
      return null;
  }
}

/** Raises 22013 for an offset that is negative or NaN. */
function requireSize(isSize: boolean): void {
  if (isSize) return;
  throw new DatabaseError(
    SQLSTATE.invalidPrecedingOrFollowingSize,
    "invalid preceding or following size in window function",
  );
}

function limitOfInteger(key: SqlValue, offset: SqlValue, { backward }: LimitSide): SqlValue {
  const size = offset as NumberOrBigint;
  requireSize(size >= 0);
  return backward ? subtract(key as NumberOrBigint, size) : add(key as NumberOrBigint, size);
}

function limitOfFloat(key: SqlValue, offset: SqlValue, { backward, isUpper }: LimitSide): SqlValue {
  const size = offset as number;
  requireSize(size >= 0);
  const value = key as number;
  if (size === Infinity && value === (backward ? Infinity : -Infinity)) {
    return isUpper ? Infinity : -Infinity;
  }
  return backward ? value - size : value + size;
}

function limitOfNumeric(key: SqlValue, offset: SqlValue, { backward, isUpper }: LimitSide): SqlValue {
  const size = offset as Decimal;
  requireSize(!size.isNaN && size.compare(Decimal.ZERO) >= 0);
  const value = key as Decimal;
  const opposite = backward ? Decimal.INFINITY : Decimal.NEGATIVE_INFINITY;
  if (size.compare(Decimal.INFINITY) === 0 && value.compare(opposite) === 0) {
    return isUpper ? Decimal.INFINITY : Decimal.NEGATIVE_INFINITY;
  }
  return backward ? value.subtract(size) : value.add(size);
}

/** A time does not wrap around at midnight, and ignores the months and days of the offset. */
function limitOfTime(key: SqlValue, offset: SqlValue, { backward }: LimitSide): SqlValue {
  const { microseconds } = offset as Interval;
  requireSize(microseconds >= 0);
  return backward ? subtract(key as NumberOrBigint, microseconds) : add(key as NumberOrBigint, microseconds);
}

function limitOfTimestamp(key: SqlValue, offset: SqlValue, { backward }: LimitSide): SqlValue {
  const size = offset as Interval;
  requireSize(size.sign >= 0);
  const value = key as NumberOrBigint;
  return backward ? subtractInterval(value, size) : addInterval(value, size);
}

function limitOfTimestampTz(
  key: SqlValue,
  offset: SqlValue,
  { backward }: LimitSide,
  context: EvaluationContext,
): SqlValue {
  const size = offset as Interval;
  requireSize(size.sign >= 0);
  const zone = timeZone(context.timeZone);
  const value = key as NumberOrBigint;
  return backward ? subtractIntervalTz(value, size, zone) : addIntervalTz(value, size, zone);
}

/** A date moved by an interval is compared as a timestamp; in whole days that is a fraction of a day. */
function limitOfDate(key: SqlValue, offset: SqlValue, side: LimitSide): SqlValue {
  requireSize((offset as Interval).sign >= 0);
  const days = key as number;
  if (!Number.isFinite(days)) return days;
  const midnight = multiply(days, MICROSECONDS_PER_DAY);
  return Number(limitOfTimestamp(midnight, offset, side)) / MICROSECONDS_PER_DAY;
}

function limitOfInterval(key: SqlValue, offset: SqlValue, { backward }: LimitSide): SqlValue {
  const size = offset as Interval;
  requireSize(size.sign >= 0);
  return backward ? (key as Interval).subtract(size) : (key as Interval).add(size);
}
