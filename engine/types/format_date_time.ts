/**
 * `to_char` of timestamps and intervals: each field of the template is written from a broken-down time.
 *
 * Limits: English names only; with `TM` they are not padded; `SP` is ignored, as in PostgreSQL.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import {
  civilFromDays,
  dayOfMicroseconds,
  dayOfWeek,
  daysFromCivil,
  isoWeek,
  isoYearStart,
  JULIAN_DAY_2000,
  MICROSECONDS_PER_HOUR,
  MICROSECONDS_PER_MINUTE,
  MICROSECONDS_PER_SECOND,
  timeOfMicroseconds,
} from "./calendar.ts";
import { DAY_NAMES, MONTH_NAMES } from "./date_time_tokens.ts";
import type { Interval } from "./interval.ts";
import { divide, modulo } from "./number_or_bigint.ts";
import { numericOffset } from "./time_zone.ts";
import type { TimeZone } from "./time_zone.ts";
import type { NumberOrBigint } from "./value.ts";
import { parseTemplate, ROMAN_MONTHS } from "./date_time_template.ts";
import type { FieldNode, TemplateNode } from "./date_time_template.ts";

/** A point in time, or an interval, in parts. */
interface BrokenDown {
  readonly isInterval: boolean;
  /** Astronomical. */
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly days: number;
  /** The day in the calendar; of an interval the day that its parts would name. */
  readonly calendarDays: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly microseconds: number;
  readonly offset: number;
  readonly abbreviation: string;
}

function breakDown(local: NumberOrBigint, offset: number, abbreviation: string): BrokenDown {
  const days = dayOfMicroseconds(local);
  const time = timeOfMicroseconds(local);
  return {
    isInterval: false,
    ...civilFromDays(days),
    days,
    calendarDays: days,
    hours: Math.floor(time / MICROSECONDS_PER_HOUR),
    minutes: Math.floor(time / MICROSECONDS_PER_MINUTE) % 60,
    seconds: Math.floor(time / MICROSECONDS_PER_SECOND) % 60,
    microseconds: time % MICROSECONDS_PER_SECOND,
    offset,
    abbreviation,
  };
}

/** to_char of a timestamp without time zone; null for infinities and an empty template, as in PostgreSQL. */
export function formatTimestampTemplate(value: NumberOrBigint, template: string): string | null {
  if (value === Infinity || value === -Infinity || template === "") return null;
  return formatNodes(parseTemplate(template), breakDown(value, 0, ""));
}

/** to_char of a timestamp with time zone, seen in a zone. */
export function formatTimestampTzTemplate(
  value: NumberOrBigint,
  template: string,
  zone: TimeZone,
): string | null {
  if (value === Infinity || value === -Infinity || template === "") return null;
  const parts = breakDown(zone.toLocal(value), zone.offsetAt(value), zone.abbreviationAt(value));
  return formatNodes(parseTemplate(template), parts);
}

/** to_char of an interval; null with an empty template. */
export function formatIntervalTemplate(interval: Interval, template: string): string | null {
  if (template === "") return null;
  const years = Math.trunc(interval.months / 12);
  const time = interval.microseconds;
  const inHour = Number(modulo(time, MICROSECONDS_PER_HOUR));
  return formatNodes(parseTemplate(template), {
    isInterval: true,
    year: years,
    month: interval.months - years * 12,
    day: interval.days,
    days: years * 360 + (interval.months - years * 12) * 30 + interval.days,
    calendarDays: julianDay(years, interval.months - years * 12, interval.days) - JULIAN_DAY_2000,
    hours: Number(divide(time, MICROSECONDS_PER_HOUR)),
    minutes: Math.trunc(inHour / MICROSECONDS_PER_MINUTE),
    seconds: Math.trunc(inHour / MICROSECONDS_PER_SECOND) % 60,
    microseconds: inHour % MICROSECONDS_PER_SECOND,
    offset: 0,
    abbreviation: "",
  });
}

/** The Julian day of a date whose parts may be anything (months count from 1); divisions cut toward zero. */
function julianDay(year: number, month: number, day: number): number {
  const [shiftedYear, shiftedMonth] = month > 2 ? [year + 4800, month + 1] : [year + 4799, month + 13];
  const century = Math.trunc(shiftedYear / 100);
  return shiftedYear * 365 - 32167 + Math.trunc(shiftedYear / 4) - century + Math.trunc(century / 4) +
    Math.trunc(7834 * shiftedMonth / 256) + day;
}

function formatNodes(nodes: readonly TemplateNode[], parts: BrokenDown): string {
  let text = "";
  for (const node of nodes) {
    if (node.kind !== "field") text += node.text;
    else text += formatField(node, parts);
  }
  return text;
}

function zeroPad(value: number, width: number, fill: boolean): string {
  if (fill) return String(value);
  return value < 0 ? `-${String(-value).padStart(width, "0")}` : String(value).padStart(width, "0");
}

/** Padded to a width that includes the sign. */
function signedPad(value: number, width: number): string {
  return value < 0 ? `-${String(-value).padStart(width - 1, "0")}` : String(value).padStart(width, "0");
}

function withOrdinal(text: string, ordinal: "" | "TH" | "th"): string {
  return ordinal === "" ? text : text + ordinalSuffix(text, ordinal);
}

/** What makes an ordinal number of digits: `st`, `nd`, `rd` or `th`, in the case of the pattern. */
export function ordinalSuffix(digits: string, pattern: string): string {
  const last = digits.at(-2) === "1" ? "" : digits.at(-1);
  const suffix = last === "1" ? "st" : last === "2" ? "nd" : last === "3" ? "rd" : "th";
  return pattern === "TH" ? suffix.toUpperCase() : suffix;
}

/** A name in the case that the field is written in: `MONTH`, `Month`, `month`. */
function inCase(name: string, written: string): string {
  if (written === written.toUpperCase()) return name.toUpperCase();
  return written === written.toLowerCase() ? name.toLowerCase() : name;
}

function notForIntervals(): DatabaseError {
  return new DatabaseError(
    SQLSTATE.invalidDatetimeFormat,
    "invalid format specification for an interval value",
    { hint: "Intervals are not tied to specific calendar dates." },
  );
}

const NOT_FOR_INTERVALS = new Set([
  "A.D.",
  "AD",
  "B.C.",
  "BC",
  "DAY",
  "DY",
  "TZ",
  "TZH",
  "TZM",
  "OF",
  "D",
  "ID",
  "MONTH",
  "MON",
]);

function formatField(node: FieldNode, parts: BrokenDown): string {
  const { name, written, fill, ordinal } = node;
  if (parts.isInterval && NOT_FOR_INTERVALS.has(name)) throw notForIntervals();
  const number = (value: number, width: number): string => withOrdinal(zeroPad(value, width, fill), ordinal);
  // FM leaves the zeros of fractions.
  const fraction = (value: number, width: number): string => withOrdinal(signedPad(value, width), ordinal);
  const lower = written[0] === written[0]?.toLowerCase();
  // Years BC count from 1.
  const eraYear = parts.isInterval || parts.year > 0 ? parts.year : 1 - parts.year;
  switch (name) {
    case "FX":
      return "";
    case "A.M.":
    case "P.M.": {
      const text = parts.hours % 24 >= 12 ? "P.M." : "A.M.";
      return lower ? text.toLowerCase() : text;
    }
    case "AM":
    case "PM": {
      const text = parts.hours % 24 >= 12 ? "PM" : "AM";
      return lower ? text.toLowerCase() : text;
    }
    case "A.D.":
    case "B.C.": {
      const text = parts.year <= 0 ? "B.C." : "A.D.";
      return lower ? text.toLowerCase() : text;
    }
    case "AD":
    case "BC": {
      const text = parts.year <= 0 ? "BC" : "AD";
      return lower ? text.toLowerCase() : text;
    }
    case "HH":
    case "HH12": {
      const hours = parts.hours % 12 === 0 ? 12 : parts.hours % 12;
      // The place for the sign of a negative interval is there for 12 as well.
      return number(hours, parts.hours < 0 && hours > 0 ? 3 : 2);
    }
    case "HH24":
      return number(parts.hours, 2);
    case "MI":
      return number(parts.minutes, 2);
    case "SS":
      return number(parts.seconds, 2);
    case "MS":
    case "FF3":
      return fraction(Math.trunc(parts.microseconds / 1000), 3);
    case "US":
    case "FF6":
      return fraction(parts.microseconds, 6);
    case "FF1":
      return fraction(Math.trunc(parts.microseconds / 100000), 1);
    case "FF2":
      return fraction(Math.trunc(parts.microseconds / 10000), 2);
    case "FF4":
      return fraction(Math.trunc(parts.microseconds / 100), 4);
    case "FF5":
      return fraction(Math.trunc(parts.microseconds / 10), 5);
    case "SSSS":
    case "SSSSS":
      return withOrdinal(String(parts.hours * 3600 + parts.minutes * 60 + parts.seconds), ordinal);
    case "TZ":
      return lower ? parts.abbreviation.toLowerCase() : parts.abbreviation;
    case "TZH":
      return `${parts.offset < 0 ? "-" : "+"}${zeroPad(Math.trunc(Math.abs(parts.offset) / 3600), 2, fill)}`;
    case "TZM":
      return zeroPad(Math.trunc(Math.abs(parts.offset) / 60) % 60, 2, fill);
    case "OF": {
      const text = numericOffset(parts.offset);
      return text.length > 6 ? text.slice(0, 6) : text;
    }
    default:
      return formatDateField(node, parts, eraYear);
  }
}

function formatDateField(node: FieldNode, parts: BrokenDown, eraYear: number): string {
  const { name, written, fill, ordinal } = node;
  const number = (value: number, width: number): string => withOrdinal(zeroPad(value, width, fill), ordinal);
  const padded = (text: string, width: number): string => fill || node.translated ? text : text.padEnd(width);
  switch (name) {
    case "MONTH":
      return parts.month <= 0 ? "" : padded(inCase(MONTH_NAMES[parts.month - 1] ?? "", written), 9);
    case "MON":
      return parts.month <= 0 ? "" : inCase((MONTH_NAMES[parts.month - 1] ?? "").slice(0, 3), written);
    case "MM":
      return number(parts.month, 2);
    case "DAY":
      return padded(inCase(DAY_NAMES[dayOfWeek(parts.days)] ?? "", written), 9);
    case "DY":
      return inCase((DAY_NAMES[dayOfWeek(parts.days)] ?? "").slice(0, 3), written);
    case "DDD":
      return number(
        parts.isInterval ? parts.days : parts.days - daysFromCivil(parts.year, 1, 1) + 1,
        parts.days < 0 && parts.isInterval ? 2 : 3,
      );
    case "IDDD":
      return number(parts.calendarDays - isoYearStart(isoWeek(parts.calendarDays).year) + 1, 3);
    case "DD":
      return number(parts.day, parts.day < 0 ? 1 : 2);
    case "D":
      return number(dayOfWeek(parts.days) + 1, 0);
    case "ID":
      return number((dayOfWeek(parts.days) + 6) % 7 + 1, 0);
    case "WW":
      return number(
        Math.trunc((parts.isInterval ? parts.days : parts.days - daysFromCivil(parts.year, 1, 1)) / 7) + 1,
        2,
      );
    case "IW":
      return number(isoWeek(parts.calendarDays).week, 2);
    case "W":
      return number(Math.trunc((parts.day - 1) / 7) + 1, 0);
    case "Q":
      return parts.month === 0 ? "" : number(Math.trunc((parts.month - 1) / 3) + 1, 0);
    case "CC": {
      const century = parts.isInterval
        ? Math.trunc(parts.year / 100)
        : parts.year > 0
        ? Math.ceil(parts.year / 100)
        : -Math.ceil((1 - parts.year) / 100);
      return number(century, century < 0 ? 2 : 2);
    }
    case "Y,YYY": {
      const thousands = Math.trunc(eraYear / 1000);
      return withOrdinal(`${thousands},${signedPad(eraYear - thousands * 1000, 3)}`, ordinal);
    }
    case "YYYY":
      return number(eraYear, 4);
    case "YYY":
      return number(eraYear % 1000, 3);
    case "YY":
      return number(eraYear % 100, 2);
    case "Y":
      return number(eraYear % 10, 1);
    case "IYYY":
    case "IYY":
    case "IY":
    case "I": {
      const isoYear = isoWeek(parts.calendarDays).year;
      const shown = isoYear > 0 || parts.isInterval ? isoYear : 1 - isoYear;
      const value = name === "IYYY" ? shown : shown % 10 ** name.length;
      const width = fill ? 0 : name.length + (parts.year < 0 ? 1 : 0);
      return parts.isInterval ? withOrdinal(signedPad(value, width), ordinal) : number(value, name.length);
    }
    case "RM": {
      // Of an interval, months before zero count from the year's end, and whole years show its last or first month.
      const index = parts.month !== 0
        ? (parts.month > 0 ? parts.month - 1 : parts.month + 12)
        : parts.year > 0
        ? 11
        : 0;
      const roman = ROMAN_MONTHS[index] ?? "";
      if (parts.month === 0 && parts.year === 0) return "";
      return padded(written === "rm" ? roman.toLowerCase() : roman, 4);
    }
    case "J":
      return withOrdinal(String(parts.calendarDays + JULIAN_DAY_2000), ordinal);
    default:
      return "";
  }
}

export { parseDateTemplate, parseTimestampTemplate } from "./parse_date_time_template.ts";
