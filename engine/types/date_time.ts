/**
 * Calculating with dates, times, timestamps and intervals: sums, differences, truncation, fields and construction.
 *
 * Months are added first, with the day cut to the end of a shorter month, then days, then microseconds. For timestamps
 * with time zone, months and days move the local time of a zone. Infinities stay infinite. What leaves the calendar's
 * range raises 22008.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import {
  checkDate,
  checkTimestamp,
  civilFromDays,
  dayOfMicroseconds,
  dayOfWeek,
  daysFromCivil,
  daysInMonth,
  isoWeek,
  isTimestampInRange,
  JULIAN_DAY_2000,
  MAX_DATE,
  MICROSECONDS_PER_DAY,
  MICROSECONDS_PER_HOUR,
  MICROSECONDS_PER_MINUTE,
  MICROSECONDS_PER_SECOND,
  microsecondsFromDay,
  MINIMUM_DATE,
  timeOfMicroseconds,
  UNIX_EPOCH_DAYS,
} from "./calendar.ts";
import { intervalUnit } from "./date_time_tokens.ts";
import { Decimal } from "./decimal.ts";
import { Interval } from "./interval.ts";
import {
  add,
  divide,
  divideRounded,
  fromIntegralNumber,
  modulo,
  multiply,
  roundHalfEven,
  subtract,
} from "./number_or_bigint.ts";
import { parseOffset } from "./date_time_parse.ts";
import { abbreviationZone, fixedTimeZone, timeZone } from "./time_zone.ts";
import type { TimeZone } from "./time_zone.ts";
import type { NumberOrBigint } from "./value.ts";

const UNIX_EPOCH_MICROSECONDS = -UNIX_EPOCH_DAYS * MICROSECONDS_PER_DAY;

/** The first day whose start is no timestamp. */
const AFTER_TIMESTAMPS = daysFromCivil(294277, 1, 1);

/** Whether a date or timestamp is infinite. */
export function isInfinite(value: NumberOrBigint): boolean {
  return value === Infinity || value === -Infinity;
}

function outOfRange(message: string): DatabaseError {
  return new DatabaseError(SQLSTATE.datetimeFieldOverflow, message);
}

/** A date as the timestamp at its start. */
export function timestampFromDate(days: number): NumberOrBigint {
  if (isInfinite(days)) return days;
  if (days >= AFTER_TIMESTAMPS) throw outOfRange("date out of range for timestamp");
  return microsecondsFromDay(days, 0);
}

/** A date as the instant at which it starts in a zone. */
export function timestampTzFromDate(days: number, zone: TimeZone): NumberOrBigint {
  return isInfinite(days) ? days : instantInZone(timestampFromDate(days), zone);
}

/**
 * A date as the timestamp that it is compared as: a date beyond all timestamps follows every one of them but
 * infinity, and raises nothing.
 */
export function comparedTimestampFromDate(days: number): NumberOrBigint {
  return isInfinite(days) ? days : microsecondsFromDay(Math.min(days, AFTER_TIMESTAMPS), 0);
}

/** The same as an instant in a zone. */
export function comparedTimestampTzFromDate(days: number, zone: TimeZone): NumberOrBigint {
  if (isInfinite(days)) return days;
  return days >= AFTER_TIMESTAMPS
    ? microsecondsFromDay(AFTER_TIMESTAMPS, 0)
    : zone.fromLocal(microsecondsFromDay(days, 0));
}

/** The instant of a local time in a zone; 22008 when it is none that the database can hold. */
export function instantInZone(local: NumberOrBigint, zone: TimeZone): NumberOrBigint {
  return checkTimestamp(zone.fromLocal(local));
}

/** The local time at an instant in a zone; 22008 when it is none that the database can hold. */
export function localInZone(instant: NumberOrBigint, zone: TimeZone): NumberOrBigint {
  return checkTimestamp(zone.toLocal(instant));
}

/** The date of a timestamp. */
export function dateFromTimestamp(value: NumberOrBigint): number {
  return isInfinite(value) ? Number(value) : dayOfMicroseconds(value);
}

/** The date of an instant in a zone. */
export function dateFromTimestampTz(value: NumberOrBigint, zone: TimeZone): number {
  return dateFromTimestamp(zone.toLocal(value));
}

/** The time of day of a timestamp, or null for an infinite one. */
export function timeFromTimestamp(value: NumberOrBigint): number | null {
  return isInfinite(value) ? null : timeOfMicroseconds(value);
}

/** The zone that a name means in `AT TIME ZONE`: an abbreviation with its fixed offset, else a zone; 22023. */
export function zoneForConversion(name: string): TimeZone {
  return abbreviationZone(name.toLowerCase()) ?? timeZone(name);
}

/** The zone that `make_timestamptz` is given: a signed offset, east positive, or a name; 22023. */
export function zoneOfConstructor(name: string): TimeZone {
  if (/^\d/.test(name)) {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `invalid input syntax for type numeric time zone: "${name}"`,
      { hint: 'Numeric time zones must have "-" or "+" as first character.' },
    );
  }
  const offset = parseOffset(name);
  if (offset === "out of range") {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, `numeric time zone "${name}" out of range`);
  }
  return offset === undefined ? zoneForConversion(name) : fixedTimeZone(offset);
}

/** The zone of a constant offset given as an interval. */
export function zoneFromInterval(interval: Interval): TimeZone {
  if (interval.months !== 0 || interval.days !== 0) {
    throw new DatabaseError(
      SQLSTATE.invalidParameterValue,
      "interval time zone must not include months or days",
    );
  }
  return fixedTimeZone(Number(divide(interval.microseconds, MICROSECONDS_PER_SECOND)));
}

/** The day moved by months, its day of the month cut to what the month has. */
export function addMonths(days: number, months: number): number {
  const { year, month, day } = civilFromDays(days);
  const total = year * 12 + month - 1 + months;
  const newYear = Math.floor(total / 12);
  const newMonth = total - newYear * 12 + 1;
  return daysFromCivil(newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)));
}

/** timestamp + interval: the months, then the days, then the rest; each sum must be a timestamp. */
export function addInterval(value: NumberOrBigint, interval: Interval): NumberOrBigint {
  if (isInfinite(value)) return value;
  let moved = value;
  if (interval.months !== 0) moved = checkTimestamp(movedByMonths(moved, interval.months));
  if (interval.days !== 0) moved = checkTimestamp(movedByDays(moved, interval.days));
  return checkTimestamp(add(moved, interval.microseconds));
}

function movedByMonths(value: NumberOrBigint, months: number): NumberOrBigint {
  return microsecondsFromDay(addMonths(dayOfMicroseconds(value), months), timeOfMicroseconds(value));
}

function movedByDays(value: NumberOrBigint, days: number): NumberOrBigint {
  return microsecondsFromDay(dayOfMicroseconds(value) + days, timeOfMicroseconds(value));
}

/** timestamp - interval. */
export function subtractInterval(value: NumberOrBigint, interval: Interval): NumberOrBigint {
  // The least interval has no negation, and an infinite timestamp needs none.
  if (isInfinite(value)) return value;
  return addInterval(value, interval.negate());
}

/**
 * timestamptz + interval in a zone: months and days by the local calendar, the rest by elapsed time. Each sum must be
 * an instant: where months end in an hour that the zone leaves out, the days are added to the hour after it.
 */
export function addIntervalTz(value: NumberOrBigint, interval: Interval, zone: TimeZone): NumberOrBigint {
  if (isInfinite(value)) return value;
  const instant = (local: NumberOrBigint) => checkTimestamp(zone.fromLocal(local));
  let moved = value;
  if (interval.months !== 0) moved = instant(movedByMonths(zone.toLocal(moved), interval.months));
  if (interval.days !== 0) moved = instant(movedByDays(zone.toLocal(moved), interval.days));
  return checkTimestamp(add(moved, interval.microseconds));
}

/** timestamptz - interval in a zone. */
export function subtractIntervalTz(
  value: NumberOrBigint,
  interval: Interval,
  zone: TimeZone,
): NumberOrBigint {
  if (isInfinite(value)) return value;
  return addIntervalTz(value, interval.negate(), zone);
}

/** The difference of two timestamps in days and time. */
export function subtractTimestamps(left: NumberOrBigint, right: NumberOrBigint): Interval {
  if (isInfinite(left) || isInfinite(right)) throw outOfRange("cannot subtract infinite timestamps");
  return new Interval(0, 0, subtract(left, right)).justifyHours();
}

/** The difference of two dates in days. */
export function subtractDates(left: number, right: number): number {
  if (isInfinite(left) || isInfinite(right)) throw outOfRange("cannot subtract infinite dates");
  return left - right;
}

/** date + days. */
export function addDays(date: number, days: number): number {
  return isInfinite(date) ? date : checkDate(date + days);
}

/** time + interval, around midnight; months and days do not count. */
export function addToTime(time: number, interval: Interval): number {
  return timeAroundMidnight(add(time, interval.microseconds));
}

/** time - interval, likewise. */
export function subtractFromTime(time: number, interval: Interval): number {
  return timeAroundMidnight(subtract(time, interval.microseconds));
}

function timeAroundMidnight(microseconds: NumberOrBigint): number {
  const time = Number(modulo(microseconds, MICROSECONDS_PER_DAY));
  return time < 0 ? time + MICROSECONDS_PER_DAY : time;
}

/** time - time. */
export function subtractTimes(left: number, right: number): Interval {
  return new Interval(0, 0, left - right);
}

/** The difference in years, months and days as people count ages; both infinite or not at all. */
export function age(left: NumberOrBigint, right: NumberOrBigint): Interval {
  if (isInfinite(left) || isInfinite(right)) throw outOfRange("timestamp out of range");
  const negative = left < right;
  const [later, earlier] = negative ? [right, left] : [left, right];
  const from = civilFromDays(dayOfMicroseconds(earlier));
  const to = civilFromDays(dayOfMicroseconds(later));
  let time = timeOfMicroseconds(later) - timeOfMicroseconds(earlier);
  let days = to.day - from.day;
  let months = (to.year - from.year) * 12 + to.month - from.month;
  if (time < 0) {
    time += MICROSECONDS_PER_DAY;
    days--;
  }
  while (days < 0) {
    days += daysInMonth(from.year, from.month);
    months--;
  }
  const result = new Interval(months, days, time);
  return negative ? result.negate() : result;
}

/** The fields that `extract` and `date_trunc` know. */
export type DateTimeUnit =
  | "microsecond"
  | "millisecond"
  | "second"
  | "minute"
  | "hour"
  | "day"
  | "week"
  | "month"
  | "quarter"
  | "year"
  | "decade"
  | "century"
  | "millennium"
  | "isoyear"
  | "dow"
  | "isodow"
  | "doy"
  | "epoch"
  | "julian"
  | "timezone"
  | "timezone_hour"
  | "timezone_minute";

const FIELD_NAMES: Readonly<Record<string, DateTimeUnit>> = {
  isoyear: "isoyear",
  dow: "dow",
  isodow: "isodow",
  doy: "doy",
  epoch: "epoch",
  j: "julian",
  jd: "julian",
  julian: "julian",
  timezone: "timezone",
  timezone_h: "timezone_hour",
  timezone_hour: "timezone_hour",
  timezone_m: "timezone_minute",
  timezone_minute: "timezone_minute",
};

/** The unit of a name such as `month`, `mons` or `epoch`, or undefined. */
export function dateTimeUnit(name: string): DateTimeUnit | undefined {
  const lower = name.toLowerCase();
  return (Object.hasOwn(FIELD_NAMES, lower) ? FIELD_NAMES[lower] : undefined) ?? intervalUnit(lower);
}

function unrecognized(name: string, typeName: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.invalidParameterValue,
    `unit "${name.toLowerCase()}" not recognized for type ${typeName}`,
  );
}

function unsupported(name: string, typeName: string, detail?: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.featureNotSupported,
    `unit "${name.toLowerCase()}" not supported for type ${typeName}`,
    detail === undefined ? {} : { detail },
  );
}

function requireUnit(name: string, typeName: string): DateTimeUnit {
  const unit = dateTimeUnit(name);
  if (unit === undefined) throw unrecognized(name, typeName);
  return unit;
}

/** Fields that only `extract` knows. */
const EXTRACT_ONLY = new Set<DateTimeUnit>(["isoyear", "dow", "isodow", "doy", "epoch", "julian"]);

function requireTruncationUnit(name: string, typeName: string): DateTimeUnit {
  const unit = requireUnit(name, typeName);
  if (EXTRACT_ONLY.has(unit)) throw unrecognized(name, typeName);
  return unit;
}

/**
 * date_trunc of a timestamp without time zone. The first years lie in a century that begins before the least
 * timestamp.
 */
export function truncateTimestamp(name: string, value: NumberOrBigint): NumberOrBigint {
  return checkTimestamp(truncated(name, value, "timestamp without time zone"));
}

/** The result may lie beyond the range of timestamps. */
function truncated(name: string, value: NumberOrBigint, typeName: string): NumberOrBigint {
  if (isInfinite(value)) return value;
  const unit = requireTruncationUnit(name, typeName);
  const days = dayOfMicroseconds(value);
  const time = timeOfMicroseconds(value);
  const size = TIME_UNITS[unit];
  if (size !== undefined) return microsecondsFromDay(days, time - time % size);
  return microsecondsFromDay(truncateDay(unit, days) ?? raise(unsupported(name, typeName)), 0);
}

function raise(error: DatabaseError): never {
  throw error;
}

const TIME_UNITS: Readonly<Partial<Record<DateTimeUnit, number>>> = {
  microsecond: 1,
  millisecond: 1000,
  second: MICROSECONDS_PER_SECOND,
  minute: MICROSECONDS_PER_MINUTE,
  hour: MICROSECONDS_PER_HOUR,
};

function truncateDay(unit: DateTimeUnit, days: number): number | undefined {
  const { year, month } = civilFromDays(days);
  switch (unit) {
    case "day":
      return days;
    case "week":
      return days - (dayOfWeek(days) + 6) % 7;
    case "month":
      return daysFromCivil(year, month, 1);
    case "quarter":
      return daysFromCivil(year, month - (month - 1) % 3, 1);
    case "year":
      return daysFromCivil(year, 1, 1);
    case "decade":
      return daysFromCivil(Math.floor(year / 10) * 10, 1, 1);
    case "century":
      return daysFromCivil(Math.floor((year - 1) / 100) * 100 + 1, 1, 1);
    case "millennium":
      return daysFromCivil(Math.floor((year - 1) / 1000) * 1000 + 1, 1, 1);
    default:
      return undefined;
  }
}

/** date_trunc of a timestamp with time zone, by the local time of a zone. */
export function truncateTimestampTz(name: string, value: NumberOrBigint, zone: TimeZone): NumberOrBigint {
  if (isInfinite(value)) return value;
  const typeName = "timestamp with time zone";
  const unit = requireTruncationUnit(name, typeName);
  const size = TIME_UNITS[unit];
  if (size !== undefined) {
    // Below a day the offset stays, so that an hour that comes twice is not merged with the other.
    const offset = zone.offsetAt(value) * MICROSECONDS_PER_SECOND;
    return checkTimestamp(subtract(truncated(name, add(value, offset), typeName), offset));
  }
  return checkTimestamp(instantInZone(truncated(name, zone.toLocal(value), typeName), zone));
}

/** date_trunc of an interval. */
export function truncateInterval(name: string, interval: Interval): Interval {
  const unit = requireTruncationUnit(name, "interval");
  const { months, days, microseconds } = interval;
  const cut = (size: number): number => Math.trunc(months / size) * size + 0;
  const size = TIME_UNITS[unit];
  if (size !== undefined) {
    return new Interval(months, days, multiply(divide(microseconds, size), size));
  }
  switch (unit) {
    case "day":
      return new Interval(months, days, 0);
    case "month":
      return new Interval(months, 0, 0);
    case "quarter":
      return new Interval(cut(3), 0, 0);
    case "year":
      return new Interval(cut(12), 0, 0);
    case "decade":
      return new Interval(cut(120), 0, 0);
    case "century":
      return new Interval(cut(1200), 0, 0);
    case "millennium":
      return new Interval(cut(12000), 0, 0);
    default:
      throw unsupported(
        name,
        "interval",
        unit === "week" ? "Months usually have fractional weeks." : undefined,
      );
  }
}

/**
 * date_bin: the start of the stride, counted from the origin, in which the timestamp lies; 22008 when that is no
 * timestamp, or when the distance from the origin is no interval.
 */
export function binTimestamp(
  stride: Interval,
  source: NumberOrBigint,
  origin: NumberOrBigint,
): NumberOrBigint {
  if (isInfinite(source)) return source;
  if (isInfinite(origin)) throw outOfRange("origin out of range");
  if (stride.months !== 0) {
    throw new DatabaseError(
      SQLSTATE.featureNotSupported,
      "timestamps cannot be binned into intervals containing months or years",
    );
  }
  const size = stride.span();
  if (size <= 0) throw outOfRange("stride must be greater than zero");
  const distance = Interval.of(0, 0, subtract(source, origin));
  let rest = modulo(distance.microseconds, size);
  if (rest < 0) rest = add(rest, size);
  return checkTimestamp(subtract(source, rest));
}

/** Fields that grow with time; the others go around and are null for infinite values. */
const MONOTONIC = new Set<DateTimeUnit>([
  "year",
  "decade",
  "century",
  "millennium",
  "isoyear",
  "epoch",
  "julian",
]);

function infiniteField(unit: DateTimeUnit, value: NumberOrBigint): Decimal | null {
  if (!MONOTONIC.has(unit)) return null;
  return value > 0 ? Decimal.INFINITY : Decimal.NEGATIVE_INFINITY;
}

function integer(value: number): Decimal {
  return Decimal.fromInteger(value + 0);
}

/** extract from a timestamp without time zone. */
export function extractFromTimestamp(
  name: string,
  value: NumberOrBigint,
  typeName = "timestamp without time zone",
): Decimal | null {
  const unit = requireUnit(name, typeName);
  if (isInfinite(value)) return infiniteField(unit, value);
  const days = dayOfMicroseconds(value);
  const time = timeOfMicroseconds(value);
  if (unit === "epoch") return Decimal.of(subtract(value, UNIX_EPOCH_MICROSECONDS), 6);
  if (unit === "julian") {
    const start = Decimal.fromInteger(days + JULIAN_DAY_2000);
    return start.add(Decimal.fromInteger(time).divide(Decimal.fromInteger(MICROSECONDS_PER_DAY)));
  }
  return timeField(unit, time) ?? dayField(unit, days) ?? raise(unsupported(name, typeName));
}

function timeField(unit: DateTimeUnit, time: number): Decimal | undefined {
  const inMinute = time % MICROSECONDS_PER_MINUTE;
  switch (unit) {
    case "microsecond":
      return integer(inMinute);
    case "millisecond":
      return Decimal.of(inMinute, 3);
    case "second":
      return Decimal.of(inMinute, 6);
    case "minute":
      return integer(Math.floor(time / MICROSECONDS_PER_MINUTE) % 60);
    case "hour":
      return integer(Math.floor(time / MICROSECONDS_PER_HOUR));
    default:
      return undefined;
  }
}

function dayField(unit: DateTimeUnit, days: number): Decimal | undefined {
  const { year, month, day } = civilFromDays(days);
  switch (unit) {
    case "day":
      return integer(day);
    case "week":
      return integer(isoWeek(days).week);
    case "month":
      return integer(month);
    case "quarter":
      return integer(Math.floor((month - 1) / 3) + 1);
    case "year":
      return integer(year > 0 ? year : year - 1);
    case "decade":
      return integer(Math.floor(year / 10));
    case "century":
      return integer(year > 0 ? Math.ceil(year / 100) : -Math.ceil((1 - year) / 100));
    case "millennium":
      return integer(year > 0 ? Math.ceil(year / 1000) : -Math.ceil((1 - year) / 1000));
    case "isoyear": {
      const isoYear = isoWeek(days).year;
      return integer(isoYear > 0 ? isoYear : isoYear - 1);
    }
    case "dow":
      return integer(dayOfWeek(days));
    case "isodow":
      return integer((dayOfWeek(days) + 6) % 7 + 1);
    case "doy":
      return integer(days - daysFromCivil(year, 1, 1) + 1);
    default:
      return undefined;
  }
}

/** extract from a timestamp with time zone, seen in a zone. */
export function extractFromTimestampTz(name: string, value: NumberOrBigint, zone: TimeZone): Decimal | null {
  const typeName = "timestamp with time zone";
  const unit = requireUnit(name, typeName);
  if (isInfinite(value)) return infiniteField(unit, value);
  switch (unit) {
    case "epoch":
      return Decimal.of(subtract(value, UNIX_EPOCH_MICROSECONDS), 6);
    case "timezone":
      return integer(zone.offsetAt(value));
    case "timezone_hour":
      return integer(Math.trunc(zone.offsetAt(value) / 3600));
    case "timezone_minute":
      return integer(Math.trunc(zone.offsetAt(value) / 60) % 60);
    default:
      return extractFromTimestamp(name, zone.toLocal(value), typeName);
  }
}

/** extract from a date. */
export function extractFromDate(name: string, days: number): Decimal | null {
  const unit = requireUnit(name, "date");
  if (unit === "epoch" || unit === "julian") {
    if (isInfinite(days)) return infiniteField(unit, days);
    return unit === "epoch"
      ? Decimal.fromInteger(multiply(days + UNIX_EPOCH_DAYS, 86400))
      : integer(days + JULIAN_DAY_2000);
  }
  if (dayField(unit, 0) === undefined) throw unsupported(name, "date");
  if (isInfinite(days)) return infiniteField(unit, days);
  return dayField(unit, days) ?? null;
}

/** extract from a time of day. */
export function extractFromTime(name: string, time: number): Decimal {
  const unit = requireUnit(name, "time without time zone");
  if (unit === "epoch") return Decimal.of(time, 6);
  return timeField(unit, time) ?? raise(unsupported(name, "time without time zone"));
}

/** extract from an interval. */
export function extractFromInterval(name: string, interval: Interval): Decimal {
  const unit = requireUnit(name, "interval");
  const { months, days, microseconds } = interval;
  const years = Math.trunc(months / 12);
  const inMinute = Number(modulo(microseconds, MICROSECONDS_PER_MINUTE));
  switch (unit) {
    case "microsecond":
      return integer(inMinute);
    case "millisecond":
      return Decimal.of(inMinute, 3);
    case "second":
      return Decimal.of(inMinute, 6);
    case "minute":
      return integer(Number(modulo(divide(microseconds, MICROSECONDS_PER_MINUTE), 60)));
    case "hour":
      return Decimal.fromInteger(divide(microseconds, MICROSECONDS_PER_HOUR));
    case "day":
      return integer(days);
    case "month":
      return integer(months % 12);
    case "quarter":
      return integer(Math.trunc(months % 12 / 3) + 1);
    case "year":
      return integer(years);
    case "decade":
      return integer(Math.trunc(years / 10));
    case "century":
      return integer(Math.trunc(years / 100));
    case "millennium":
      return integer(Math.trunc(years / 1000));
    case "epoch": {
      // A year counts 365.25 days here, a month 30.
      const quarterDays = 1461 * years + 120 * (months % 12) + 4 * days;
      return Decimal.of(add(multiply(quarterDays, MICROSECONDS_PER_DAY / 4), microseconds), 6);
    }
    default:
      throw unsupported(name, "interval");
  }
}

/** date_part of an interval; its epoch is a sum of floats, as in PostgreSQL. */
export function intervalPart(name: string, interval: Interval): number {
  if (requireUnit(name, "interval") !== "epoch") return extractFromInterval(name, interval).toNumber();
  const { months, days, microseconds } = interval;
  const seconds = Number(microseconds) / MICROSECONDS_PER_SECOND;
  return seconds + 31_557_600 * Math.trunc(months / 12) + 2_592_000 * (months % 12) + 86_400 * days;
}

/** make_date; negative years are BC. */
export function makeDate(year: number, month: number, day: number): number {
  const days = daysOfParts(year, month, day, year < 0 ? year + 1 : year);
  if (days >= MINIMUM_DATE) return days;
  throw dateOutOfRange(year + 1, month, day);
}

function dateOutOfRange(year: number, month: number, day: number): DatabaseError {
  return outOfRange(`date out of range: ${year}-${pad2(month)}-${pad2(day)}`);
}

/** The day of a date that a Julian day number can have; `shownYear` is for the message. */
function daysOfParts(year: number, month: number, day: number, shownYear: number): number {
  const astronomical = year < 0 ? year + 1 : year;
  const valid = year !== 0 && month >= 1 && month <= 12 && day >= 1 &&
    day <= daysInMonth(astronomical, month) && year !== -2147483648;
  if (!valid) {
    throw outOfRange(`date field value out of range: ${year}-${pad2(month)}-${pad2(day)}`);
  }
  const days = daysFromCivil(astronomical, month, day);
  if (days <= MAX_DATE && days >= daysFromCivil(-4713, 11, 1)) return days;
  throw dateOutOfRange(shownYear, month, day);
}

function pad2(value: number): string {
  return value < 0 ? String(value) : String(value).padStart(2, "0");
}

/** make_time; seconds may have a fraction. */
export function makeTime(hours: number, minutes: number, seconds: number): number {
  const valid = hours >= 0 && hours <= 24 && minutes >= 0 && minutes <= 59 && seconds >= 0 && seconds <= 60;
  const time = hours * MICROSECONDS_PER_HOUR + minutes * MICROSECONDS_PER_MINUTE +
    roundHalfEven(seconds * MICROSECONDS_PER_SECOND);
  if (!valid || time > MICROSECONDS_PER_DAY) {
    throw outOfRange(`time field value out of range: ${hours}:${pad2(minutes)}:${pad2(seconds)}`);
  }
  return time;
}

/** The parts of a timestamp to be made. */
export interface TimestampParts {
  /** Negative years are BC. */
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
  /** 0 to 24. */
  readonly hours: number;
  /** 0 to 59. */
  readonly minutes: number;
  /** 0 to 60, with a fraction. */
  readonly seconds: number;
}

/** make_timestamp. */
export function makeTimestamp(parts: TimestampParts): NumberOrBigint {
  const { year, month, day, hours, minutes, seconds } = parts;
  const days = daysOfParts(year, month, day, year);
  const local = microsecondsFromDay(days, makeTime(hours, minutes, seconds));
  if (isTimestampInRange(local)) return local;
  const time = `${hours}:${pad2(minutes)}:${seconds < 10 ? `0${seconds}` : seconds}`;
  throw outOfRange(`timestamp out of range: ${year}-${pad2(month)}-${pad2(day)} ${time}`);
}

/** make_interval from years, months, weeks, days, hours, minutes and seconds. */
export function makeInterval(parts: {
  readonly years?: number;
  readonly months?: number;
  readonly weeks?: number;
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
}): Interval {
  const seconds = parts.seconds ?? 0;
  if (!Number.isFinite(seconds)) throw outOfRange("interval out of range");
  const time = add(
    add(
      multiply(parts.hours ?? 0, MICROSECONDS_PER_HOUR),
      multiply(parts.minutes ?? 0, MICROSECONDS_PER_MINUTE),
    ),
    fromIntegralNumber(roundHalfEven(seconds * MICROSECONDS_PER_SECOND)),
  );
  return Interval.of(
    (parts.years ?? 0) * 12 + (parts.months ?? 0),
    (parts.weeks ?? 0) * 7 + (parts.days ?? 0),
    time,
  );
}

/** to_timestamp of seconds since 1970-01-01 UTC. */
export function timestampFromEpoch(seconds: number): NumberOrBigint {
  if (Number.isNaN(seconds)) throw outOfRange("timestamp cannot be NaN");
  if (!Number.isFinite(seconds)) return seconds;
  const whole = Math.trunc(seconds);
  const fraction = roundHalfEven((seconds - whole) * MICROSECONDS_PER_SECOND);
  const value = add(
    add(multiply(fromIntegralNumber(whole), MICROSECONDS_PER_SECOND), fraction),
    UNIX_EPOCH_MICROSECONDS,
  );
  return checkTimestamp(value);
}

/** An instant of milliseconds since 1970-01-01 UTC, as JavaScript counts. */
export function timestampFromUnixMilliseconds(milliseconds: number): NumberOrBigint {
  return add(multiply(fromIntegralNumber(Math.trunc(milliseconds)), 1000), UNIX_EPOCH_MICROSECONDS);
}

/** Milliseconds since 1970-01-01 UTC of an instant, rounded. */
export function unixMillisecondsFromTimestamp(value: NumberOrBigint): number {
  return Number(divideRounded(subtract(value, UNIX_EPOCH_MICROSECONDS), 1000));
}

/** An interval as a time of day, what is beyond a day dropped. */
export function timeFromInterval(interval: Interval): number {
  return addToTime(0, interval);
}
