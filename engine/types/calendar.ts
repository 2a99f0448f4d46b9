/**
 * The proleptic Gregorian calendar over day numbers counted from 2000-01-01, and the split of microseconds into days
 * and time of day.
 *
 * Years are astronomical: 0 is 1 BC, -1 is 2 BC. The conversions are Howard Hinnant's branch-light algorithms
 * ("chrono-compatible low-level date algorithms"), exact for every year that a double counts.
 * Limits as in PostgreSQL: dates from 4713-11-24 BC to 5874897-12-31, timestamps up to 294276-12-31.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { normalize } from "./number_or_bigint.ts";
import type { NumberOrBigint } from "./value.ts";

/** Microseconds of a second. */
export const MICROSECONDS_PER_SECOND = 1_000_000;
/** Microseconds of a minute. */
export const MICROSECONDS_PER_MINUTE = 60_000_000;
/** Microseconds of an hour. */
export const MICROSECONDS_PER_HOUR = 3_600_000_000;
/** Microseconds of a day of 24 hours. */
export const MICROSECONDS_PER_DAY = 86_400_000_000;

/** Days from 1970-01-01 to 2000-01-01. */
export const UNIX_EPOCH_DAYS = 10957;
/** The Julian day number of 2000-01-01. */
export const JULIAN_DAY_2000 = 2451545;
/** The first day that dates can have, Julian day 0. */
export const MINIMUM_DATE: number = -JULIAN_DAY_2000;
/** The last day that dates can have, 5874897-12-31. */
export const MAX_DATE = 2145031948;

/** Up to this day the count of microseconds is a safe integer. */
const SAFE_DAYS = 104248;
const DAY_BIG = 86_400_000_000n;

/** A day of the Gregorian calendar. */
export interface CivilDate {
  /** Astronomical: 0 is 1 BC. */
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

/** The day number of a calendar day; the day of the month may be outside its month. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146097 + dayOfEra - 730425;
}

/** The calendar day of a day number. */
export function civilFromDays(days: number): CivilDate {
  const shifted = days + 730425;
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthIndex = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthIndex + 2) / 5) + 1;
  const month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** Whether February has 29 days. */
export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** How many days the month has. */
export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : MONTH_LENGTHS[month - 1] ?? 31;
}

/** 0 for Sunday to 6 for Saturday. */
export function dayOfWeek(days: number): number {
  return ((days + 6) % 7 + 7) % 7;
}

/** 1 to 366. */
export function dayOfYear(days: number): number {
  return days - daysFromCivil(civilFromDays(days).year, 1, 1) + 1;
}

/** The Monday that begins ISO week 1 of the year. */
export function isoYearStart(isoYear: number): number {
  const fourth = daysFromCivil(isoYear, 1, 4);
  return fourth - (dayOfWeek(fourth) + 6) % 7;
}

/** The ISO 8601 year and week of a day. */
export function isoWeek(days: number): { year: number; week: number } {
  const year = civilFromDays(days).year;
  let isoYear = year;
  if (days >= isoYearStart(year + 1)) isoYear = year + 1;
  else if (days < isoYearStart(year)) isoYear = year - 1;
  return { year: isoYear, week: Math.floor((days - isoYearStart(isoYear)) / 7) + 1 };
}

/** The day of a finite count of microseconds. */
export function dayOfMicroseconds(microseconds: NumberOrBigint): number {
  if (typeof microseconds === "number") return Math.floor(microseconds / MICROSECONDS_PER_DAY);
  const quotient = microseconds / DAY_BIG;
  return Number(quotient * DAY_BIG > microseconds ? quotient - 1n : quotient);
}

/** The time of day, 0 up to a day, of a finite count of microseconds. */
export function timeOfMicroseconds(microseconds: NumberOrBigint): number {
  if (typeof microseconds === "number") {
    const rest = microseconds % MICROSECONDS_PER_DAY;
    return rest < 0 ? rest + MICROSECONDS_PER_DAY : rest + 0;
  }
  const rest = microseconds % DAY_BIG;
  return Number(rest < 0n ? rest + DAY_BIG : rest);
}

/** days · one day + time, exactly; the time may be any safe integer. */
export function microsecondsFromDay(days: number, time: number): NumberOrBigint {
  if (days <= SAFE_DAYS && days >= -SAFE_DAYS) {
    const sum = days * MICROSECONDS_PER_DAY + time;
    if (sum <= Number.MAX_SAFE_INTEGER && sum >= -Number.MAX_SAFE_INTEGER) return sum + 0;
  }
  return normalize(BigInt(days) * DAY_BIG + BigInt(time));
}

/** The first timestamp, in microseconds. */
export const MINIMUM_TIMESTAMP: bigint = BigInt(MINIMUM_DATE) * DAY_BIG;
/** The last timestamp, in microseconds. */
export const MAX_TIMESTAMP: bigint = BigInt(daysFromCivil(294277, 1, 1)) * DAY_BIG - 1n;

/** Whether a finite count of microseconds is a timestamp that the database can hold. */
export function isTimestampInRange(microseconds: NumberOrBigint): boolean {
  return typeof microseconds === "number" ||
    (microseconds >= MINIMUM_TIMESTAMP && microseconds <= MAX_TIMESTAMP);
}

/** The timestamp itself, infinities included, or 22008 `timestamp out of range`. */
export function checkTimestamp(microseconds: NumberOrBigint): NumberOrBigint {
  if (isTimestampInRange(microseconds)) return microseconds;
  throw new DatabaseError(SQLSTATE.datetimeFieldOverflow, "timestamp out of range");
}

/** The date itself, infinities included, or 22008 `date out of range`. */
export function checkDate(days: number): number {
  if ((days >= MINIMUM_DATE && days <= MAX_DATE) || days === Infinity || days === -Infinity) return days;
  throw new DatabaseError(SQLSTATE.datetimeFieldOverflow, "date out of range");
}
