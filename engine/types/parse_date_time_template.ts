/**
 * `to_timestamp` and `to_date`: reading a text by a template.
 *
 * As in PostgreSQL, outside FX mode spaces before fields are skipped, a separator in the template matches a separator
 * or nothing, and any other character skips one. Fields that contradict each other are refused.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import {
  checkTimestamp,
  civilFromDays,
  daysFromCivil,
  daysInMonth,
  isoYearStart,
  JULIAN_DAY_2000,
  MAX_DATE,
  MICROSECONDS_PER_HOUR,
  MICROSECONDS_PER_MINUTE,
  MICROSECONDS_PER_SECOND,
  microsecondsFromDay,
  MINIMUM_DATE,
} from "./calendar.ts";
import { DAY_NAMES, MONTH_NAMES } from "./date_time_tokens.ts";
import { roundMicroseconds } from "./interval_text.ts";
import { subtract } from "./number_or_bigint.ts";
import type { TimeZone } from "./time_zone.ts";
import type { NumberOrBigint } from "./value.ts";
import { isSeparator, parseTemplate, ROMAN_MONTHS } from "./date_time_template.ts";
import type { FieldNode, TemplateNode } from "./date_time_template.ts";

/** What a template found in a text. */
interface Parsed {
  year?: number;
  yearDigits?: number;
  century?: number;
  beforeChrist?: boolean;
  month?: number;
  day?: number;
  dayOfYear?: number;
  weekOfYear?: number;
  weekOfMonth?: number;
  weekday?: number;
  julian?: number;
  isoYear?: number;
  isoWeek?: number;
  isoDayOfYear?: number;
  hours?: number;
  twelveHours?: boolean;
  minutes?: number;
  seconds?: number;
  secondsOfDay?: number;
  microseconds?: number;
  /** The digits of the seconds that are kept. */
  precision?: number;
  afternoon?: boolean;
  zoneSign?: number;
  zoneHours?: number;
  zoneMinutes?: number;
}

/** to_timestamp of a text: the instant that the template reads, in the zone unless the text has an offset. */
export function parseTimestampTemplate(text: string, template: string, zone: TimeZone): NumberOrBigint {
  const parsed = new TemplateParser(text, template).parse();
  const exact = microsecondsFromDay(daysOfParsed(parsed, text), timeOfParsed(parsed, text));
  const local = roundMicroseconds(exact, parsed.precision ?? 6);
  if (parsed.zoneHours !== undefined || parsed.zoneMinutes !== undefined) {
    return checkTimestamp(subtract(local, offsetOfParsed(parsed) * MICROSECONDS_PER_SECOND));
  }
  return checkTimestamp(zone.fromLocal(local));
}

/** to_date of a text. */
export function parseDateTemplate(text: string, template: string): number {
  const parsed = new TemplateParser(text, template).parse();
  timeOfParsed(parsed, text);
  const days = daysOfParsed(parsed, text);
  if (days >= MINIMUM_DATE && days <= MAX_DATE) return days;
  throw new DatabaseError(SQLSTATE.datetimeFieldOverflow, `date out of range: "${text}"`);
}

/**
 * What a template gave: days of a date, microseconds of a time of day, seconds east of Greenwich; null: no field for
 * it.
 */
export interface DateTimeParts {
  readonly days: number | null;
  readonly time: number | null;
  readonly offset: number | null;
}

const TIME_FIELDS = /^(HH|HH12|HH24|MI|SS|SSSS|SSSSS|MS|US|FF[1-6]|A\.?M\.?|P\.?M\.?)$/;
const ZONE_FIELDS = /^(TZ|TZH|TZM|OF)$/;

/**
 * Reads a text as SQL/JSON's `.datetime()` does: separators and characters must be those of the template, and the
 * whole text must be read.
 */
export function readDateTimeTemplate(text: string, template: string): DateTimeParts {
  const nodes = parseTemplate(template);
  let isDated = false, isTimed = false, isZoned = false;
  for (const node of nodes) {
    if (node.kind === "field") {
      if (TIME_FIELDS.test(node.name)) isTimed = true;
      else if (ZONE_FIELDS.test(node.name)) isZoned = true;
      else if (node.name !== "FX") isDated = true;
    } else if (!node.quoted && !"-./,':; ".includes(node.text)) {
      throw new DatabaseError(
        SQLSTATE.invalidDatetimeFormat,
        `invalid datetime format separator: "${node.text}"`,
      );
    }
  }
  const parsed = nodes.length === 0 ? {} : new TemplateParser(text, template).parse({ strict: true });
  if (!isDated && !isTimed) throw templateError("datetime format is not dated and not timed");
  if (isZoned && !isTimed) throw templateError("datetime format is zoned but not timed");
  const days = isDated ? daysOfParsed(parsed, text) : null;
  if (days !== null && !(days >= MINIMUM_DATE && days <= MAX_DATE)) {
    throw new DatabaseError(SQLSTATE.datetimeFieldOverflow, `date out of range: "${text}"`);
  }
  const time = timeOfParsed(parsed, text);
  return { days, time: isTimed ? time : null, offset: isZoned ? offsetOfParsed(parsed) : null };
}

function templateError(message: string): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidDatetimeFormat, message);
}

function offsetOfParsed(parsed: Parsed): number {
  return (parsed.zoneSign ?? 1) * ((parsed.zoneHours ?? 0) * 3600 + (parsed.zoneMinutes ?? 0) * 60);
}

function fieldOutOfRange(text: string): DatabaseError {
  return new DatabaseError(SQLSTATE.datetimeFieldOverflow, `date/time field value out of range: "${text}"`);
}

/** The astronomical year; undefined when the text has none. Zero counts as none, for every field. */
function yearOfParsed(parsed: Parsed): number | undefined {
  const year = (parsed.year ?? 0) === 0 ? parsed.isoYear ?? 0 : parsed.year ?? 0;
  const isBeforeChrist = parsed.beforeChrist === true;
  const century = isBeforeChrist ? -(parsed.century ?? 0) : parsed.century ?? 0;
  if (year === 0) {
    if (century === 0) return undefined;
    return century > 0 ? (century - 1) * 100 + 1 : century * 100 + 1;
  }
  if (century !== 0 && (parsed.yearDigits ?? 4) <= 2) {
    const inCentury = year % 100;
    // A year that ends in 00 closes its century.
    if (inCentury === 0) return century > 0 ? century * 100 : century * 100 + 1;
    return century > 0 ? (century - 1) * 100 + inCentury : (century + 1) * 100 - inCentury + 1;
  }
  const signed = isBeforeChrist ? -year : year;
  return signed < 0 ? signed + 1 : signed;
}

function daysOfParsed(parsed: Parsed, text: string): number {
  const given = yearOfParsed(parsed);
  // Without a year it is 1 BC, which prints as 0001 BC, as in PostgreSQL.
  const year = given ?? 0;
  const isIso = parsed.isoYear !== undefined || parsed.isoWeek !== undefined ||
    parsed.isoDayOfYear !== undefined;
  if ((parsed.isoWeek ?? 0) !== 0) {
    const monday = isoYearStart(year) + ((parsed.isoWeek ?? 0) - 1) * 7;
    return monday + ((parsed.weekday ?? 0) === 0 ? 0 : (parsed.weekday ?? 0) - 1);
  }
  let dayOfYear = parsed.dayOfYear ?? parsed.isoDayOfYear ?? 0;
  if ((parsed.weekOfYear ?? 0) !== 0) dayOfYear = ((parsed.weekOfYear ?? 0) - 1) * 7 + 1;
  const date = (parsed.julian ?? 0) === 0
    ? { year, month: 1, day: 1 }
    : civilFromDays((parsed.julian ?? 0) - JULIAN_DAY_2000);
  let { month, day } = date;
  if ((parsed.month ?? 0) !== 0) month = parsed.month ?? 1;
  if ((parsed.weekOfMonth ?? 0) !== 0) day = ((parsed.weekOfMonth ?? 0) - 1) * 7 + 1;
  else if ((parsed.day ?? 0) !== 0) day = parsed.day ?? 1;
  if (dayOfYear !== 0 && (month <= 1 || day <= 1)) {
    if (given === undefined && parsed.beforeChrist !== true) {
      throw new DatabaseError(
        SQLSTATE.invalidDatetimeFormat,
        "cannot calculate day of year without year information",
      );
    }
    if (isIso) return isoYearStart(year) + dayOfYear - 1;
    if (dayOfYear < 1 || dayOfYear > (daysInMonth(year, 2) === 29 ? 366 : 365)) throw fieldOutOfRange(text);
    const counted = civilFromDays(daysFromCivil(year, 1, dayOfYear));
    if (month <= 1) month = counted.month;
    if (day <= 1) day = counted.day;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31) throw fieldOutOfRange(text);
  // A day that its month does not have is refused in a year only; without one it runs on into the next month.
  if (given !== undefined && day > daysInMonth(date.year, month)) throw fieldOutOfRange(text);
  return daysFromCivil(date.year, month, day);
}

function timeOfParsed(parsed: Parsed, text: string): number {
  if (parsed.secondsOfDay !== undefined) {
    if (parsed.secondsOfDay < 0 || parsed.secondsOfDay >= 86400) throw fieldOutOfRange(text);
    return parsed.secondsOfDay * MICROSECONDS_PER_SECOND + (parsed.microseconds ?? 0);
  }
  let hours = parsed.hours ?? 0;
  if (parsed.twelveHours === true) {
    if (hours < 1 || hours > 12) {
      throw new DatabaseError(
        SQLSTATE.invalidDatetimeFormat,
        `hour "${hours}" is invalid for the 12-hour clock`,
        { hint: "Use the 24-hour clock, or give an hour between 1 and 12." },
      );
    }
    if (parsed.afternoon === true && hours < 12) hours += 12;
    else if (parsed.afternoon === false && hours === 12) hours = 0;
  }
  if ((parsed.microseconds ?? 0) >= MICROSECONDS_PER_SECOND) throw fieldOutOfRange(text);
  const minutes = parsed.minutes ?? 0;
  const seconds = parsed.seconds ?? 0;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) {
    throw fieldOutOfRange(text);
  }
  return hours * MICROSECONDS_PER_HOUR + minutes * MICROSECONDS_PER_MINUTE +
    seconds * MICROSECONDS_PER_SECOND + (parsed.microseconds ?? 0);
}

/** Fields that count in years and months, and those that count in years of whole weeks; no text is read by both. */
const GREGORIAN_FIELDS = new Set(
  ["Y,YYY", "YYYY", "YYY", "YY", "Y", "MM", "RM", "DDD", "DD", "D", "WW", "W", "MONTH", "MON"],
);
const ISO_FIELDS = new Set(["IYYY", "IYY", "IY", "I", "IW", "IDDD", "ID"]);

/** The most digits of each numeric field. */
const WIDTHS: Readonly<Record<string, number>> = {
  HH: 2,
  HH12: 2,
  HH24: 2,
  MI: 2,
  SS: 2,
  MS: 3,
  US: 6,
  FF1: 1,
  FF2: 2,
  FF3: 3,
  FF4: 4,
  FF5: 5,
  FF6: 6,
  SSSS: 5,
  SSSSS: 5,
  MM: 2,
  DDD: 3,
  IDDD: 3,
  DD: 2,
  D: 1,
  ID: 1,
  WW: 2,
  IW: 2,
  W: 1,
  Q: 1,
  CC: 2,
  YYYY: 4,
  YYY: 3,
  YY: 2,
  Y: 1,
  IYYY: 4,
  IYY: 3,
  IY: 2,
  I: 1,
  J: 7,
  TZM: 2,
};

class TemplateParser {
  readonly #text: string;
  readonly #nodes: readonly TemplateNode[];
  readonly #parsed: Parsed = {};
  #position = 0;
  #exact = false;
  #strict = false;

  #hasGregorian = false;
  #hasIso = false;

  constructor(text: string, template: string) {
    this.#text = text;
    this.#nodes = parseTemplate(template);
  }

  /** `strict`: as `.datetime()` reads, where every separator must be there and nothing may be left. */
  parse({ strict } = { strict: false }): Parsed {
    let skipped = 0;
    this.#strict = strict;
    this.#exact = strict || this.#nodes.some((node) => node.kind === "field" && node.name === "FX");
    for (const [index, node] of this.#nodes.entries()) {
      if (!this.#exact && (node.kind === "field" || index === 0)) skipped += this.#skipSpaces();
      if (node.kind === "field") {
        if (node.name === "FX") continue;
        if (strict) this.#requireMore();
        if (this.#position >= this.#text.length) break;
        this.#requireOneCalendar(node);
        this.#field(node, this.#nodes[index + 1], skipped);
        skipped = this.#exact ? 0 : this.#skipSpaces();
      } else if (strict) this.#literal(node);
      else if (node.kind === "separator") {
        if (this.#exact) this.#position += 1;
        else {
          skipped--;
          if (this.#position < this.#text.length && isSeparator(this.#text[this.#position] ?? "")) {
            this.#position++;
            skipped++;
          }
        }
      } else if (this.#exact || skipped <= 0) this.#passLiteral(node.text);
      else skipped--;
    }
    if (strict) {
      this.#skipSpaces();
      if (this.#position < this.#text.length) {
        throw templateError("trailing characters remain in input string after datetime format");
      }
    }
    return this.#parsed;
  }

  #requireMore(): void {
    if (this.#position >= this.#text.length) {
      throw templateError("input string is too short for datetime format");
    }
  }

  /** As many characters of the input as a literal has, whichever they are. */
  #passLiteral(text: string): void {
    for (const _character of text) {
      this.#position += (this.#text.codePointAt(this.#position) ?? 0) > 0xffff ? 2 : 1;
    }
  }

  #literal(node: Exclude<TemplateNode, FieldNode>): void {
    this.#requireMore();
    if (!this.#text.startsWith(node.text, this.#position)) {
      throw templateError(`unmatched format ${node.kind} "${node.text}"`);
    }
    this.#position += node.text.length;
  }

  #requireOneCalendar(node: FieldNode): void {
    const { name } = node;
    this.#hasGregorian ||= GREGORIAN_FIELDS.has(name);
    this.#hasIso ||= ISO_FIELDS.has(name);
    if (!this.#hasGregorian || !this.#hasIso) return;
    throw new DatabaseError(SQLSTATE.invalidDatetimeFormat, "invalid combination of date conventions", {
      hint: "Do not mix Gregorian and ISO week date conventions in a formatting template.",
    });
  }

  #skipSpaces(): number {
    const start = this.#position;
    while (/^\s$/.test(this.#text[this.#position] ?? "")) this.#position++;
    return this.#position - start;
  }

  #invalid(value: string, field: string, detail: string): DatabaseError {
    return new DatabaseError(SQLSTATE.invalidDatetimeFormat, `invalid value "${value}" for "${field}"`, {
      detail,
    });
  }

  /** A number: at most the field's width when a digit may follow it, otherwise all digits. */
  #number(node: FieldNode, next: TemplateNode | undefined): { value: number; length: number } {
    const width = WIDTHS[node.name] ?? 1;
    this.#skipSpaces();
    const digitsFollow = next !== undefined &&
      (next.kind === "field" ? WIDTHS[next.name] !== undefined : /^\d$/.test(next.text));
    const greedy = node.fill || !digitsFollow || node.ordinal !== "";
    const rest = this.#text.slice(this.#position);
    const source = greedy ? rest : rest.slice(0, width);
    const match = (this.#strict ? /^\s*[+-]?\d+/ : /^[+-]?\d+/).exec(source);
    if (match === null) {
      throw this.#invalid(
        rest.slice(0, width),
        node.written,
        "Value must be an integer.",
      );
    }
    if (
      !greedy && match[0].length < width && rest.length >= width && !/^\s/.test(rest[match[0].length] ?? " ")
    ) {
      throw new DatabaseError(
        SQLSTATE.invalidDatetimeFormat,
        `invalid value "${source}" for "${node.written}"`,
        {
          detail: `Field requires ${width} characters, but only ${match[0].length} could be parsed.`,
          hint: 'If your source string is not fixed-width, try using the "FM" modifier.',
        },
      );
    }
    this.#position += match[0].length;
    if (node.ordinal !== "") this.#position += 2;
    const value = this.#integer(node, Number(match[0]));
    return { value, length: match[0].replace(/^\s*[+-]?/, "").length };
  }

  #integer(node: FieldNode, value: number): number {
    if (value >= -2147483648 && value <= 2147483647) return value;
    throw new DatabaseError(
      SQLSTATE.datetimeFieldOverflow,
      `value for "${node.written}" in source string is out of range`,
      { detail: "Value must be in the range -2147483648 to 2147483647." },
    );
  }

  #oneOf(node: FieldNode, names: readonly string[], lengths: "full" | "short"): number {
    const rest = this.#text.slice(this.#position).toLowerCase();
    for (const [index, name] of names.entries()) {
      const wanted = (lengths === "short" ? name.slice(0, 3) : name).toLowerCase();
      if (rest.startsWith(wanted)) {
        this.#position += wanted.length;
        return index;
      }
    }
    const word = /^\S*/.exec(this.#text.slice(this.#position))?.[0] ?? "";
    throw this.#invalid(
      word,
      node.written,
      "The given value did not match any of the allowed values for this field.",
    );
  }

  #set<K extends keyof Parsed>(node: FieldNode, key: K, value: NonNullable<Parsed[K]>): void {
    const present = this.#parsed[key];
    if (present !== undefined && present !== 0 && present !== value) {
      throw new DatabaseError(
        SQLSTATE.invalidDatetimeFormat,
        `conflicting values for "${node.written}" field in formatting string`,
        { detail: "This value contradicts a previous setting for the same field type." },
      );
    }
    this.#parsed[key] = value;
  }

  #field(node: FieldNode, next: TemplateNode | undefined, skipped: number): void {
    switch (node.name) {
      case "A.M.":
      case "P.M.":
        return this.#set(node, "afternoon", this.#oneOf(node, ["a.m.", "p.m."], "full") === 1);
      case "AM":
      case "PM":
        return this.#set(node, "afternoon", this.#oneOf(node, ["am", "pm"], "full") === 1);
      case "A.D.":
      case "B.C.":
        return this.#set(node, "beforeChrist", this.#oneOf(node, ["a.d.", "b.c."], "full") === 1);
      case "AD":
      case "BC":
        return this.#set(node, "beforeChrist", this.#oneOf(node, ["ad", "bc"], "full") === 1);
      case "MONTH":
        return this.#set(node, "month", this.#oneOf(node, MONTH_NAMES, "full") + 1);
      case "MON":
        return this.#set(node, "month", this.#oneOf(node, MONTH_NAMES, "short") + 1);
      case "DAY":
        this.#oneOf(node, DAY_NAMES, "full");
        return;
      case "DY":
        this.#oneOf(node, DAY_NAMES, "short");
        return;
      case "RM": {
        const longestFirst = [...ROMAN_MONTHS].sort((left, right) => right.length - left.length);
        const found = longestFirst[this.#oneOf(node, longestFirst, "full")] ?? "I";
        return this.#set(node, "month", ROMAN_MONTHS.indexOf(found) + 1);
      }
      case "TZ":
      case "OF":
        throw new DatabaseError(
          SQLSTATE.featureNotSupported,
          `formatting field "${node.written}" is only supported in to_char`,
        );
      case "TZH":
        return this.#zoneHours(node, skipped);
      case "Y,YYY": {
        const match = /^(\d+),(\d{3})/.exec(this.#text.slice(this.#position));
        if (match === null) {
          throw new DatabaseError(SQLSTATE.invalidDatetimeFormat, 'invalid input string for "Y,YYY"');
        }
        this.#position += match[0].length;
        this.#parsed.yearDigits = 4;
        return this.#set(node, "year", this.#integer(node, Number(match[1]) * 1000 + Number(match[2])));
      }
      default:
        return this.#numberField(node, this.#number(node, next));
    }
  }

  #zoneHours(node: FieldNode, skipped: number): void {
    const match = (this.#strict ? /^([+ -]?)\s*([+-]?\d{1,2})/ : /^([+-]?)(\d{1,2})/).exec(
      this.#text.slice(this.#position),
    );
    if (match === null) {
      throw this.#invalid(
        this.#text.slice(this.#position, this.#position + 3),
        node.written,
        "Value must be an integer.",
      );
    }
    const start = this.#position;
    this.#position += match[0].length;
    // A minus may have been taken for the template's separator.
    const swallowed = match[1] === "" && skipped > 0 && this.#text[start - 1] === "-";
    this.#parsed.zoneSign = match[1] === "-" || swallowed ? -1 : 1;
    this.#set(node, "zoneHours", Number(match[2]));
  }

  #numberField(node: FieldNode, { value, length }: { value: number; length: number }): void {
    const fraction = (digits: number): number => {
      if (value >= 10 ** digits) throw fieldOutOfRange(this.#text);
      return value * 10 ** (6 - Math.min(length, digits));
    };
    switch (node.name) {
      case "HH":
      case "HH12":
        this.#parsed.twelveHours = true;
        return this.#set(node, "hours", value);
      case "HH24":
        return this.#set(node, "hours", value);
      case "MI":
        return this.#set(node, "minutes", value);
      case "SS":
        return this.#set(node, "seconds", value);
      case "MS":
        return this.#set(node, "microseconds", fraction(3));
      case "FF1":
      case "FF2":
      case "FF3":
      case "FF4":
      case "FF5":
      case "FF6":
        this.#parsed.precision = Number(node.name[2]);
        return this.#set(node, "microseconds", fraction(6));
      case "US":
        return this.#set(node, "microseconds", fraction(6));
      case "SSSS":
      case "SSSSS":
        return this.#set(node, "secondsOfDay", value);
      case "TZM":
        return this.#set(node, "zoneMinutes", value);
      case "MM":
        return this.#set(node, "month", value);
      case "DD":
        return this.#set(node, "day", value);
      case "DDD":
        return this.#set(node, "dayOfYear", value);
      case "IDDD":
        return this.#set(node, "isoDayOfYear", value);
      case "D":
        // Sunday is 1 here and 7 in ISO.
        return this.#set(node, "weekday", value === 1 ? 7 : value - 1);
      case "ID":
        return this.#set(node, "weekday", Math.min(value, 7));
      case "WW":
        return this.#set(node, "weekOfYear", value);
      case "IW":
        return this.#set(node, "isoWeek", value);
      case "W":
        return this.#set(node, "weekOfMonth", value);
      case "CC":
        return this.#set(node, "century", value);
      case "YYYY":
      case "YYY":
      case "YY":
      case "Y":
        this.#parsed.yearDigits = node.name === "YYYY" ? 4 : Math.min(length, node.name.length);
        return this.#set(node, "year", node.name !== "YYYY" && length < 4 ? completeYear(value) : value);
      case "IYYY":
      case "IYY":
      case "IY":
      case "I":
        return this.#set(node, "isoYear", node.name !== "IYYY" && length < 4 ? completeYear(value) : value);
      case "J":
        return this.#set(node, "julian", value);
      default:
        return;
    }
  }
}

/** A year of fewer than four digits: the one nearest to 2020. */
function completeYear(year: number): number {
  if (year < 70) return year + 2000;
  if (year < 100) return year + 1900;
  if (year < 520) return year + 2000;
  return year < 1000 ? year + 1000 : year;
}
