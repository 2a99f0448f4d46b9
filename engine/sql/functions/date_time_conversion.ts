/**
 * Values of one date or time type as another. Infinite dates and timestamps stay infinite.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import {
  checkTimestamp,
  dayOfMicroseconds,
  isTimestampInRange,
  MICROSECONDS_PER_DAY,
  microsecondsFromDay,
  timeOfMicroseconds,
} from "../../types/calendar.ts";
import { Interval } from "../../types/interval.ts";
import { modulo } from "../../types/mixed_integer.ts";
import { timeZone } from "../../types/time_zone.ts";
import type { MixedInteger } from "../../types/value.ts";

/** Whether a date or timestamp is neither `infinity` nor `-infinity`. */
export function isFiniteTime(value: MixedInteger): boolean {
  return value !== Infinity && value !== -Infinity;
}

/** Midnight of a date; 22008 when timestamps do not reach it. */
export function timestampFromDate(date: number): MixedInteger {
  if (!isFiniteTime(date)) return date;
  const timestamp = microsecondsFromDay(date, 0);
  if (!isTimestampInRange(timestamp)) {
    throw new DatabaseError(SQLSTATE.datetimeFieldOverflow, "date out of range for timestamp");
  }
  return timestamp;
}

/** The day of a timestamp. */
export function dateFromTimestamp(timestamp: MixedInteger): number {
  return isFiniteTime(timestamp) ? dayOfMicroseconds(timestamp) : Number(timestamp);
}

/** The time of day of a timestamp; NULL for infinities. */
export function timeFromTimestamp(timestamp: MixedInteger): number | null {
  return isFiniteTime(timestamp) ? timeOfMicroseconds(timestamp) : null;
}

/** The instant at which it is that local time in a zone. */
export function timestamptzFromTimestamp(timestamp: MixedInteger, zone: string): MixedInteger {
  return checkTimestamp(timeZone(zone).fromLocal(timestamp));
}

/** The local time in a zone at an instant. */
export function timestampFromTimestamptz(instant: MixedInteger, zone: string): MixedInteger {
  return checkTimestamp(timeZone(zone).toLocal(instant));
}

/** A time of day as an interval. */
export function intervalFromTime(time: number): Interval {
  return new Interval(0, 0, time);
}

/** What an interval has besides whole days and months, as a time of day. */
export function timeFromInterval(interval: Interval): number {
  const time = Number(modulo(interval.microseconds, MICROSECONDS_PER_DAY));
  return time < 0 ? time + MICROSECONDS_PER_DAY : time;
}
