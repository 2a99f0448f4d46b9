/**
 * Text forms of intervals: PostgreSQL's verbose input with units, `1-2` years to months, times, ISO 8601 durations in
 * both forms; output in the four interval styles.
 *
 * Fractions of a unit go to the smaller ones: of years to whole months, of months to days of 30, of days to time.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { MICROSECONDS_PER_DAY, MICROSECONDS_PER_HOUR, MICROSECONDS_PER_MINUTE } from "./calendar.ts";
import { MICROSECONDS_PER_SECOND } from "./calendar.ts";
import { intervalUnit, splitFields } from "./date_time_tokens.ts";
import type { Field, IntervalUnit as NamedUnit } from "./date_time_tokens.ts";
import { Interval } from "./interval.ts";
import type { IntervalRange } from "./sql_type.ts";
import {
  absolute,
  add,
  divide,
  divideRounded,
  fromIntegralNumber,
  modulo,
  multiply,
  negate,
  normalize,
  powerOfTen,
  roundHalfEven,
} from "./number_or_bigint.ts";
import type { NumberOrBigint } from "./value.ts";

/** How intervals are printed. */
export type IntervalStyle = "postgres" | "postgres_verbose" | "sql_standard" | "iso_8601";

class BadFormat extends Error {}
class FieldOverflow extends Error {}

/**
 * Parses an interval; 22007 when the text is none, 22015 when it is out of range. Of the fields of a declared interval
 * such as `INTERVAL '5' DAY`, the last one is the unit of a bare number.
 */
export function parseInterval(
  text: string,
  fields?: IntervalRange,
  style: IntervalStyle = "postgres",
): Interval {
  try {
    const parts = decode(text, fields, style);
    checkField(parts.days, MAX_I32);
    checkField(parts.microseconds, MAX_I64);
    const interval = Interval.of(parts.months, parts.days, parts.microseconds);
    return fields === undefined ? interval : restrictInterval(interval, fields);
  } catch (error) {
    if (error instanceof BadFormat) {
      throw new DatabaseError(
        SQLSTATE.invalidDatetimeFormat,
        `invalid input syntax for type interval: "${text}"`,
      );
    }
    if (error instanceof FieldOverflow) {
      throw new DatabaseError(SQLSTATE.intervalFieldOverflow, `interval field value out of range: "${text}"`);
    }
    throw error;
  }
}

const MAX_I32 = 2 ** 31 - 1;
const MAX_I64 = 2n ** 63n - 1n;

function checkField(value: NumberOrBigint, maximum: NumberOrBigint): void {
  if (value > maximum || negate(value) > maximum && negate(value) !== add(maximum, 1)) {
    throw new FieldOverflow();
  }
}

/** The units that a text may give numbers of. */
type IntervalUnit = Exclude<NamedUnit, "quarter">;

interface Parts {
  months: number;
  days: number;
  microseconds: NumberOrBigint;
}

function decode(text: string, fields: IntervalRange | undefined, style: IntervalStyle): Parts {
  try {
    const tokens = splitFields(text);
    if (tokens === undefined) throw new BadFormat();
    return decodeFields(tokens, fields, style);
  } catch (error) {
    if (error instanceof BadFormat && /^p/i.test(text.trim())) return decodeIso(text.trim());
    throw error;
  }
}

function decodeFields(tokens: Field[], fields: IntervalRange | undefined, style: IntervalStyle): Parts {
  const parts: Parts = { months: 0, days: 0, microseconds: 0 };
  const seen = new Set<string>();
  const mark = (...names: string[]): void => {
    for (const name of names) {
      if (seen.has(name)) throw new BadFormat();
      seen.add(name);
    }
  };
  // In the SQL standard's style one leading sign covers all fields, unless another sign follows.
  const signAll = style === "sql_standard" && tokens[0]?.text.startsWith("-") === true &&
    tokens.slice(1).every((token) => !/^[+-]/.test(token.text));
  let unit: IntervalUnit | undefined;
  let ago = false;
  // From the end, so that a unit is known before its number.
  for (let index = tokens.length - 1; index >= 0; index--) {
    const token = tokens[index];
    if (token === undefined) continue;
    const { kind, text } = token;
    const negative = text.startsWith("-") || (signAll && index > 0);
    if (kind === "time" || (kind === "zone" && text.includes(":"))) {
      const time = decodeTime(text.replace(/^[+-]/, ""), fields);
      parts.microseconds = add(parts.microseconds, negative ? negate(time) : time);
      mark("hour", "minute", "second", "millisecond", "microsecond");
      unit = "day";
    } else if (kind === "zone" || kind === "date" || kind === "number") {
      if (ago && unit === undefined) throw new BadFormat();
      unit ??= fields === undefined ? "second" : lastField(fields);
      addNumber(parts, text, unit, mark, signAll && index > 0);
      // Days precede hours, as they do a time.
      if (unit === "hour") unit = "day";
      if (/\d-/.test(text)) unit = "month";
    } else if (text === "ago") {
      if (index !== tokens.length - 1) throw new BadFormat();
      ago = true;
    } else {
      const named = intervalUnit(text);
      if (named === undefined || named === "quarter") throw new BadFormat();
      unit = named;
    }
  }
  if (seen.size === 0) throw new BadFormat();
  if (ago) {
    parts.months = -parts.months;
    parts.days = -parts.days;
    parts.microseconds = negate(parts.microseconds);
  }
  return parts;
}

function addNumber(
  parts: Parts,
  text: string,
  unit: IntervalUnit,
  mark: (...names: string[]) => void,
  forceNegative: boolean,
): void {
  const yearMonth = /^([+-]?)(\d+)-(\d+)$/.exec(text);
  const sign = text.startsWith("-") || forceNegative ? -1 : 1;
  if (yearMonth !== null) {
    const months = Number(yearMonth[3]);
    if (months >= 12) throw new FieldOverflow();
    parts.months += sign * (Number(yearMonth[2]) * 12 + months);
    mark("month");
    return;
  }
  const number = /^[+-]?(\d*)(?:\.(\d*))?$/.exec(text);
  if (number === null) throw new BadFormat();
  const digits = number[1] ?? "";
  const fractionDigits = number[2] ?? "";
  const whole = sign * Number(digits === "" ? "0" : digits);
  const exactWhole = normalize(BigInt(digits === "" ? "0" : digits) * BigInt(sign));
  checkField(exactWhole, MAX_I64);
  const fraction = fractionDigits === "" ? 0 : sign * Number(`0.${fractionDigits}`);
  addUnit(parts, unit, whole, exactWhole, fraction);
  if (unit === "second" && fraction !== 0) mark("second", "millisecond", "microsecond");
  else mark(unit);
}

function addUnit(
  parts: Parts,
  unit: IntervalUnit,
  whole: number,
  exactWhole: NumberOrBigint,
  fraction: number,
): void {
  const addMicroseconds = (size: number): void => {
    const exact = add(multiply(exactWhole, size), fromIntegralNumber(roundHalfEven(fraction * size)));
    parts.microseconds = add(parts.microseconds, exact);
  };
  const addDayFraction = (days: number): void => {
    const wholeDays = Math.trunc(days);
    parts.days += wholeDays;
    const rest = roundHalfEven((days - wholeDays) * MICROSECONDS_PER_DAY);
    parts.microseconds = add(parts.microseconds, fromIntegralNumber(rest));
  };
  const addYears = (years: number): void => {
    checkField(whole * years, MAX_I32);
    parts.months += whole * years * 12 + roundHalfEven(fraction * years * 12);
  };
  switch (unit) {
    case "microsecond":
      return addMicroseconds(1);
    case "millisecond":
      return addMicroseconds(1000);
    case "second":
      return addMicroseconds(MICROSECONDS_PER_SECOND);
    case "minute":
      return addMicroseconds(MICROSECONDS_PER_MINUTE);
    case "hour":
      return addMicroseconds(MICROSECONDS_PER_HOUR);
    case "day":
      parts.days += whole;
      return addDayFraction(fraction);
    case "week":
      parts.days += whole * 7;
      return addDayFraction(fraction * 7);
    case "month":
      checkField(whole, MAX_I32);
      parts.months += whole;
      return addDayFraction(fraction * 30);
    case "year":
      return addYears(1);
    case "decade":
      return addYears(10);
    case "century":
      return addYears(100);
    case "millennium":
      return addYears(1000);
  }
}

/** `hh:mm`, `hh:mm:ss.ffffff` or `mm:ss.ffffff` in microseconds. */
function decodeTime(text: string, fields: IntervalRange | undefined): NumberOrBigint {
  const match = /^(\d+):(\d+)(?::(\d+))?(?:\.(\d*))?$/.exec(text);
  if (match === null) throw new BadFormat();
  let hours = Number(match[1]);
  let minutes = Number(match[2]);
  let seconds = Number(match[3] ?? 0);
  const minutesFirst = match[3] === undefined &&
    (match[4] !== undefined || fields === "minute to second");
  if (minutesFirst) [hours, minutes, seconds] = [0, hours, minutes];
  if (minutes > 59 || seconds > 60 || hours > 2562047788) throw new FieldOverflow();
  const fraction = match[4] === undefined || match[4] === ""
    ? 0
    : roundHalfEven(Number(`0.${match[4]}`) * MICROSECONDS_PER_SECOND);
  const small = minutes * MICROSECONDS_PER_MINUTE + seconds * MICROSECONDS_PER_SECOND + fraction;
  return add(multiply(hours, MICROSECONDS_PER_HOUR), small);
}

const ISO_UNITS: Readonly<Record<string, IntervalUnit>> = { Y: "year", M: "month", W: "week", D: "day" };
const ISO_TIME_UNITS: Readonly<Record<string, IntervalUnit>> = { H: "hour", M: "minute", S: "second" };

/** `P1Y2M3DT4H5M6S` and `P0001-02-03T04:05:06`. */
function decodeIso(text: string): Parts {
  const parts: Parts = { months: 0, days: 0, microseconds: 0 };
  const match = /^P([^T]*)(?:T(.*))?$/.exec(text);
  if (match === null || text.length < 2) throw new BadFormat();
  const [, date = "", time] = match;
  const alternative = /^([+-]?\d{4,})-(\d+)-(\d+)$/.exec(date);
  if (alternative !== null) {
    parts.months = Number(alternative[1]) * 12 + Number(alternative[2]);
    parts.days = Number(alternative[3]);
  } else addDesignated(parts, date, ISO_UNITS);
  if (time === undefined) return parts;
  if (/^[+-]?\d+:/.test(time)) {
    const clock = decodeTime(time.replace(/^[+-]/, ""), undefined);
    parts.microseconds = time.startsWith("-") ? negate(clock) : clock;
  } else addDesignated(parts, time, ISO_TIME_UNITS);
  return parts;
}

function addDesignated(parts: Parts, text: string, units: Readonly<Record<string, IntervalUnit>>): void {
  const pattern = /([+-]?)(\d*)(?:\.(\d*))?([A-Z])/gy;
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const unit = units[match[4] ?? ""];
    if (unit === undefined || (match[2] === "" && (match[3] ?? "") === "")) throw new BadFormat();
    const sign = match[1] === "-" ? -1 : 1;
    const whole = sign * Number(match[2] === "" ? 0 : match[2]);
    addUnit(parts, unit, whole, fromIntegralNumber(whole), sign * Number(`0.${match[3] ?? "0"}`) || 0);
    end = match.index + match[0].length;
  }
  if (end !== text.length) throw new BadFormat();
}

/** The smallest of a declared interval's fields. */
function lastField(fields: IntervalRange): IntervalUnit {
  return fields.slice(fields.lastIndexOf(" ") + 1) as IntervalUnit;
}

const UNIT_ORDER: readonly IntervalUnit[] = ["year", "month", "day", "hour", "minute", "second"];

/** Cuts what a declared interval's last field does not reach (`INTERVAL '1 day 02:03' DAY TO HOUR`). */
export function restrictInterval(interval: Interval, fields: IntervalRange): Interval {
  const last = UNIT_ORDER.indexOf(lastField(fields));
  const { months, days, microseconds } = interval;
  const cut = (size: number): NumberOrBigint => multiply(divide(microseconds, size), size);
  switch (last) {
    case 0:
      return Interval.of(Math.trunc(months / 12) * 12, 0, 0);
    case 1:
      return Interval.of(months, 0, 0);
    case 2:
      return Interval.of(months, days, 0);
    case 3:
      return Interval.of(months, days, cut(MICROSECONDS_PER_HOUR));
    case 4:
      return Interval.of(months, days, cut(MICROSECONDS_PER_MINUTE));
    default:
      return interval;
  }
}

/** The interval with its seconds rounded to that many digits. */
export function roundInterval(interval: Interval, precision: number): Interval {
  return Interval.of(interval.months, interval.days, roundMicroseconds(interval.microseconds, precision));
}

/** Microseconds rounded half away from zero to a precision of 0 to 6 digits of the second. */
export function roundMicroseconds(value: NumberOrBigint, precision: number): NumberOrBigint {
  if (precision >= 6 || value === Infinity || value === -Infinity) return value;
  const unit = powerOfTen(6 - precision);
  return multiply(divideRounded(value, unit), unit);
}

interface Fields {
  readonly years: number;
  readonly months: number;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly microseconds: number;
}

function fieldsOf(interval: Interval): Fields {
  const hours = Number(divide(interval.microseconds, MICROSECONDS_PER_HOUR));
  const rest = Number(modulo(interval.microseconds, MICROSECONDS_PER_HOUR));
  const minutes = Math.trunc(rest / MICROSECONDS_PER_MINUTE);
  const secondsRest = rest - minutes * MICROSECONDS_PER_MINUTE;
  const seconds = Math.trunc(secondsRest / MICROSECONDS_PER_SECOND);
  const years = Math.trunc(interval.months / 12);
  return {
    years,
    months: interval.months - years * 12,
    days: interval.days,
    hours,
    minutes,
    seconds,
    microseconds: secondsRest - seconds * MICROSECONDS_PER_SECOND,
  };
}

function pad2(value: number): string {
  const magnitude = Math.abs(value);
  return magnitude < 10 ? `0${magnitude}` : `${magnitude}`;
}

function fractionText(microseconds: number): string {
  if (microseconds === 0) return "";
  return `.${String(Math.abs(microseconds)).padStart(6, "0").replace(/0+$/, "")}`;
}

/** The text of an interval in a style. */
export function formatInterval(interval: Interval, style: IntervalStyle = "postgres"): string {
  const fields = fieldsOf(interval);
  switch (style) {
    case "postgres":
      return formatPostgres(fields, interval);
    case "postgres_verbose":
      return formatVerbose(fields);
    case "iso_8601":
      return formatIso(fields);
    case "sql_standard":
      return formatStandard(fields);
  }
}

function clockText(fields: Fields): string {
  return `${pad2(fields.hours)}:${pad2(fields.minutes)}:${pad2(fields.seconds)}${
    fractionText(fields.microseconds)
  }`;
}

function formatPostgres(fields: Fields, interval: Interval): string {
  const parts: string[] = [];
  let negative = false;
  for (
    const [value, unit] of [[fields.years, "year"], [fields.months, "mon"], [fields.days, "day"]] as const
  ) {
    if (value === 0) continue;
    parts.push(`${negative && value > 0 ? "+" : ""}${value} ${unit}${value === 1 ? "" : "s"}`);
    negative = value < 0;
  }
  if (parts.length === 0 || interval.microseconds !== 0) {
    const sign = interval.microseconds < 0 ? "-" : negative ? "+" : "";
    parts.push(sign + clockText(fields));
  }
  return parts.join(" ");
}

function formatVerbose(fields: Fields): string {
  let text = "@";
  let before: boolean | undefined;
  const addPart = (value: number, unit: string): void => {
    if (value === 0) return;
    before ??= value < 0;
    const shown = before ? -value : value;
    text += ` ${shown} ${unit}${shown === 1 ? "" : "s"}`;
  };
  addPart(fields.years, "year");
  addPart(fields.months, "mon");
  addPart(fields.days, "day");
  addPart(fields.hours, "hour");
  addPart(fields.minutes, "min");
  if (fields.seconds !== 0 || fields.microseconds !== 0) {
    const negative = fields.seconds < 0 || fields.microseconds < 0;
    before ??= negative;
    const sign = negative !== before ? "-" : "";
    const seconds = `${Math.abs(fields.seconds)}${fractionText(fields.microseconds)}`;
    text += ` ${sign}${seconds} sec${Math.abs(fields.seconds) !== 1 || fields.microseconds !== 0 ? "s" : ""}`;
  }
  if (before === undefined) return "@ 0";
  return before ? `${text} ago` : text;
}

function formatIso(fields: Fields): string {
  const part = (value: number, letter: string): string => value === 0 ? "" : `${value}${letter}`;
  const date = part(fields.years, "Y") + part(fields.months, "M") + part(fields.days, "D");
  let time = part(fields.hours, "H") + part(fields.minutes, "M");
  if (fields.seconds !== 0 || fields.microseconds !== 0) {
    const negative = fields.seconds < 0 || fields.microseconds < 0;
    time += `${negative ? "-" : ""}${Math.abs(fields.seconds)}${fractionText(fields.microseconds)}S`;
  }
  if (date === "" && time === "") return "PT0S";
  return `P${date}${time === "" ? "" : `T${time}`}`;
}

function formatStandard(fields: Fields): string {
  const hasYearMonth = fields.years !== 0 || fields.months !== 0;
  const timeParts = [fields.hours, fields.minutes, fields.seconds, fields.microseconds];
  const hasTime = timeParts.some((value) => value !== 0);
  const all = [fields.years, fields.months, fields.days, ...timeParts];
  const anyNegative = all.some((value) => value < 0);
  const anyPositive = all.some((value) => value > 0);
  if (!anyNegative && !anyPositive) return "0";
  const hours = Math.abs(fields.hours);
  const clock = `${hours}:${pad2(fields.minutes)}:${pad2(fields.seconds)}${
    fractionText(fields.microseconds)
  }`;
  const mixed = (anyNegative && anyPositive) || (hasYearMonth && (fields.days !== 0 || hasTime));
  if (mixed) {
    const yearSign = fields.years < 0 || fields.months < 0 ? "-" : "+";
    const daySign = fields.days < 0 ? "-" : "+";
    const timeSign = timeParts.some((value) => value < 0) ? "-" : "+";
    return `${yearSign}${Math.abs(fields.years)}-${Math.abs(fields.months)} ${daySign}${
      absolute(fields.days)
    } ${timeSign}${clock}`;
  }
  const sign = anyNegative ? "-" : "";
  if (hasYearMonth) return `${sign}${Math.abs(fields.years)}-${Math.abs(fields.months)}`;
  if (fields.days !== 0) return `${sign}${Math.abs(fields.days)}${hasTime ? ` ${clock}` : " 0:00:00"}`;
  return sign + clock;
}
