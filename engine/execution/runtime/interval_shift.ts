/**
 * Moving dates and timestamps by an interval, for RANGE frames of windows. Timestamps with time zone move in UTC.
 */
import { addInterval, subtractInterval } from "../../types/date_time.ts";
import { MICROSECONDS_PER_DAY } from "../../types/calendar.ts";
import { Interval } from "../../types/interval.ts";
import { multiply } from "../../types/mixed_integer.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { MixedInteger, SqlValue } from "../../types/value.ts";

type Shift = (value: SqlValue, offset: SqlValue, backward: boolean) => SqlValue;

function shiftTimestamp(value: SqlValue, offset: SqlValue, backward: boolean): SqlValue {
  const interval = offset as Interval;
  return backward
    ? subtractInterval(value as MixedInteger, interval)
    : addInterval(value as MixedInteger, interval);
}

/** A date moved by an interval is compared as a timestamp; in whole days that is a fraction of a day. */
function shiftDate(value: SqlValue, offset: SqlValue, backward: boolean): SqlValue {
  const microseconds = multiply(value as number, MICROSECONDS_PER_DAY);
  return Number(shiftTimestamp(microseconds, offset, backward)) / MICROSECONDS_PER_DAY;
}

/** How values of a type are moved by an interval; null: they cannot be. */
export function shiftByInterval(type: SqlType): Shift | null {
  switch (type.kind) {
    case "timestamp":
    case "timestamptz":
      return shiftTimestamp;
    case "date":
      return shiftDate;
    case "interval":
      return (value, offset, backward) =>
        backward
          ? (value as Interval).subtract(offset as Interval)
          : (value as Interval).add(offset as Interval);
    default:
      return null;
  }
}
