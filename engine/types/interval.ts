/**
 * Intervals: months, days and microseconds, kept apart as in PostgreSQL because months and days vary in length.
 *
 * For comparing, a month counts 30 days and a day 24 hours; so `1 mon` equals `30 days` while they print differently.
 * Limits: months and days are 32-bit, microseconds 64-bit integers; beyond is 22008 `interval out of range`.
 * Text forms are in `interval_text.ts`.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { MICROSECONDS_PER_DAY } from "./calendar.ts";
import {
  add,
  compareNumbersOrBigints,
  divide,
  divisionByZero,
  fromIntegralNumber,
  modulo,
  multiply,
  negate,
  roundHalfEven,
  subtract,
} from "./number_or_bigint.ts";
import type { NumberOrBigint } from "./value.ts";

const MAX_I64 = 9223372036854775807n;
const SECONDS_PER_DAY = 86400;

/** A span of time. */
export class Interval {
  /** No time at all. */
  static readonly ZERO: Interval = new Interval(0, 0, 0);

  /** Years count 12. */
  readonly months: number;
  /** Weeks count 7; any number, whatever the months. */
  readonly days: number;
  /** Hours, minutes and seconds; any number, whatever the days. */
  readonly microseconds: NumberOrBigint;

  /** An interval of parts known to be in range; see {@link Interval.of}. */
  constructor(months: number, days: number, microseconds: NumberOrBigint) {
    this.months = months;
    this.days = days;
    this.microseconds = microseconds;
  }

  /** An interval whose parts are checked against their ranges; 22008. */
  static of(months: number, days: number, microseconds: NumberOrBigint): Interval {
    if (!fitsI32(months) || !fitsI32(days) || microseconds > MAX_I64 || microseconds < -MAX_I64 - 1n) {
      throw intervalOutOfRange();
    }
    return new Interval(months + 0, days + 0, microseconds);
  }

  /** The length in microseconds, with months of 30 days and days of 24 hours. */
  span(): NumberOrBigint {
    return add(multiply(this.months * 30 + this.days, MICROSECONDS_PER_DAY), this.microseconds);
  }

  /** Order by length. */
  compare(other: Interval): -1 | 0 | 1 {
    return compareNumbersOrBigints(this.span(), other.span());
  }

  /** -1, 0 or 1 by length. */
  get sign(): -1 | 0 | 1 {
    return compareNumbersOrBigints(this.span(), 0);
  }

  /** Sum, part by part. */
  add(other: Interval): Interval {
    return Interval.of(
      this.months + other.months,
      this.days + other.days,
      add(this.microseconds, other.microseconds),
    );
  }

  /** Difference, part by part. */
  subtract(other: Interval): Interval {
    return Interval.of(
      this.months - other.months,
      this.days - other.days,
      subtract(this.microseconds, other.microseconds),
    );
  }

  /** Each part with the other sign. */
  negate(): Interval {
    return Interval.of(-this.months, -this.days, negate(this.microseconds));
  }

  /** Product with a factor; what is left of months and days goes to the smaller parts. */
  multiply(factor: number): Interval {
    return this.#scaled((part) => part * factor);
  }

  /** Quotient by a divisor; 22012 on zero. */
  divide(divisor: number): Interval {
    if (divisor === 0) throw divisionByZero();
    return this.#scaled((part) => part / divisor);
  }

  #scaled(apply: (part: number) => number): Interval {
    const exactMonths = apply(this.months);
    const exactDays = apply(this.days);
    if (Number.isNaN(exactMonths) || Number.isNaN(exactDays)) throw intervalOutOfRange();
    const months = Math.trunc(exactMonths);
    let days = Math.trunc(exactDays);
    const monthDays = roundMicro((exactMonths - months) * 30);
    const wholeMonthDays = Math.trunc(monthDays);
    let seconds = roundMicro((exactDays - days + monthDays - wholeMonthDays) * SECONDS_PER_DAY);
    if (Math.abs(seconds) >= SECONDS_PER_DAY) {
      const more = Math.trunc(seconds / SECONDS_PER_DAY);
      days += more;
      seconds -= more * SECONDS_PER_DAY;
    }
    const microseconds = roundHalfEven(apply(Number(this.microseconds)) + seconds * 1e6);
    if (!Number.isFinite(microseconds)) throw intervalOutOfRange();
    return Interval.of(months, days + wholeMonthDays, fromIntegralNumber(microseconds));
  }

  /** Whole 24-hour periods moved to days (`justify_hours`). */
  justifyHours(): Interval {
    const whole = Number(divide(this.microseconds, MICROSECONDS_PER_DAY));
    let days = this.days + whole;
    let time = modulo(this.microseconds, MICROSECONDS_PER_DAY);
    if (days > 0 && time < 0) {
      time = add(time, MICROSECONDS_PER_DAY);
      days--;
    } else if (days < 0 && time > 0) {
      time = subtract(time, MICROSECONDS_PER_DAY);
      days++;
    }
    return Interval.of(this.months, days, time);
  }

  /** Whole 30-day periods moved to months (`justify_days`). */
  justifyDays(): Interval {
    const whole = Math.trunc(this.days / 30);
    let months = this.months + whole;
    let days = this.days - whole * 30;
    if (months > 0 && days < 0) {
      days += 30;
      months--;
    } else if (months < 0 && days > 0) {
      days -= 30;
      months++;
    }
    return Interval.of(months, days, this.microseconds);
  }

  /** Both justifications, with one sign for all parts (`justify_interval`). */
  justify(): Interval {
    let { months, days } = this;
    const wholeDays = Number(divide(this.microseconds, MICROSECONDS_PER_DAY));
    let time = Number(modulo(this.microseconds, MICROSECONDS_PER_DAY));
    days += wholeDays;
    const wholeMonths = Math.trunc(days / 30);
    days -= wholeMonths * 30;
    months += wholeMonths;
    if (months > 0 && (days < 0 || (days === 0 && time < 0))) {
      days += 30;
      months--;
    } else if (months < 0 && (days > 0 || (days === 0 && time > 0))) {
      days -= 30;
      months++;
    }
    if (days > 0 && time < 0) {
      time += MICROSECONDS_PER_DAY;
      days--;
    } else if (days < 0 && time > 0) {
      time -= MICROSECONDS_PER_DAY;
      days++;
    }
    return Interval.of(months, days, time);
  }
}

/** The error of an interval beyond its range. */
export function intervalOutOfRange(): DatabaseError {
  return new DatabaseError(SQLSTATE.datetimeFieldOverflow, "interval out of range");
}

function fitsI32(value: number): boolean {
  return value >= -2147483648 && value <= 2147483647;
}

function roundMicro(value: number): number {
  return roundHalfEven(value * 1e6) / 1e6;
}
