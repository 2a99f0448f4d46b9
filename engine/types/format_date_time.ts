/**
 * Templates of dates and times: `to_char`, `to_timestamp` and `to_date`.
 *
 * A template is split once into nodes (fields with their modifiers, separators, other characters) and remembered.
 * Formatting writes each field of a broken-down time; parsing follows PostgreSQL: outside FX mode spaces before
 * fields are skipped, a separator in the template matches a separator or nothing, and any other character skips one.
 * Limits: English names only; `TM` is accepted and changes nothing; `SP` is ignored, as in PostgreSQL.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import {
  checkTimestamp,
  civilFromDays,
  dayOfMicroseconds,
  dayOfWeek,
  daysFromCivil,
  daysInMonth,
  isoWeek,
  isoYearStart,
  JULIAN_DAY_2000,
  MICROSECONDS_PER_HOUR,
  MICROSECONDS_PER_MINUTE,
  MICROSECONDS_PER_SECOND,
  microsecondsFromDay,
  timeOfMicroseconds,
} from "./calendar.ts";
import { DAY_NAMES, MONTH_NAMES } from "./date_time_tokens.ts";
import type { Interval } from "./interval.ts";
import { divide, modulo, subtract } from "./mixed_integer.ts";
import { numericOffset } from "./time_zone.ts";
import type { TimeZone } from "./time_zone.ts";
import type { MixedInteger } from "./value.ts";

/** Field names, longer ones before their beginnings. Case matters: it decides the case of the output. */
const FIELDS: readonly string[] = [
  "A.D.,A.M.,AD,AM,B.C.,BC,CC,DAY,DDD,DD,DY,Day,Dy,D,FF1,FF2,FF3,FF4,FF5,FF6,FX,HH24,HH12,HH,IDDD,ID,IW,IYYY,IYY,IY,I",
  "J,MI,MM,MONTH,MON,MS,Month,Mon,OF,P.M.,PM,Q,RM,SSSSS,SSSS,SS,TZH,TZM,TZ,US,WW,W,Y,YYYY,YYY,YY,Y",
  "a.d.,a.m.,ad,am,b.c.,bc,cc,day,ddd,dd,dy,d,ff1,ff2,ff3,ff4,ff5,ff6,fx,hh24,hh12,hh,iddd,id,iw,iyyy,iyy,iy,i",
  "j,mi,mm,month,mon,ms,of,p.m.,pm,q,rm,sssss,ssss,ss,tzh,tzm,tz,us,ww,w,yyyy,yyy,yy,y",
].join(",").split(",").concat(["Y,YYY", "y,yyy"]).filter((name, index, all) => all.indexOf(name) === index)
  .sort((left, right) => right.length - left.length);

type Node =
  | {
    readonly kind: "field";
    /** Upper case, for deciding what the field is. */
    readonly name: string;
    /** As written, for deciding the case of names. */
    readonly written: string;
    readonly fill: boolean;
    readonly ordinal: "" | "TH" | "th";
  }
  | { readonly kind: "separator" | "character"; readonly text: string };

const templates = new Map<string, readonly Node[]>();
const MAXIMUM_TEMPLATES = 200;

function parseTemplate(template: string): readonly Node[] {
  const known = templates.get(template);
  if (known !== undefined) return known;
  const nodes: Node[] = [];
  let position = 0;
  while (position < template.length) {
    let fill = false;
    const start = position;
    for (
      let prefix = template.slice(position, position + 2);;
      prefix = template.slice(position, position + 2)
    ) {
      if (prefix === "FM" || prefix === "fm") fill = true;
      else if (prefix !== "TM" && prefix !== "tm") break;
      position += 2;
    }
    const field = FIELDS.find((name) => template.startsWith(name, position));
    if (field !== undefined) {
      position += field.length;
      let ordinal: "" | "TH" | "th" = "";
      const suffix = template.slice(position, position + 2);
      if (suffix === "TH" || suffix === "th") {
        ordinal = suffix;
        position += 2;
      } else if (suffix === "SP") position += 2;
      nodes.push({ kind: "field", name: field.toUpperCase(), written: field, fill, ordinal });
      continue;
    }
    if (position > start) continue;
    if (template[position] === '"') {
      position++;
      while (position < template.length && template[position] !== '"') {
        if (template[position] === "\\" && position + 1 < template.length) position++;
        const text = String.fromCodePoint(template.codePointAt(position) ?? 0);
        nodes.push({ kind: "character", text });
        position += text.length;
      }
      position++;
      continue;
    }
    if (template[position] === "\\" && template[position + 1] === '"') position++;
    const text = String.fromCodePoint(template.codePointAt(position) ?? 0);
    nodes.push({ kind: isSeparator(text) ? "separator" : "character", text });
    position += text.length;
  }
  if (templates.size >= MAXIMUM_TEMPLATES) templates.clear();
  templates.set(template, nodes);
  return nodes;
}

function isSeparator(text: string): boolean {
  return /^[\x20-\x7e\s]$/.test(text) && !/[A-Za-z0-9]/.test(text);
}

/** A point in time, or an interval, in parts. */
interface BrokenDown {
  readonly isInterval: boolean;
  /** Astronomical. */
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly microseconds: number;
  readonly offset: number;
  readonly abbreviation: string;
}

function breakDown(local: MixedInteger, offset: number, abbreviation: string): BrokenDown {
  const days = dayOfMicroseconds(local);
  const time = timeOfMicroseconds(local);
  return {
    isInterval: false,
    ...civilFromDays(days),
    days,
    hours: Math.floor(time / MICROSECONDS_PER_HOUR),
    minutes: Math.floor(time / MICROSECONDS_PER_MINUTE) % 60,
    seconds: Math.floor(time / MICROSECONDS_PER_SECOND) % 60,
    microseconds: time % MICROSECONDS_PER_SECOND,
    offset,
    abbreviation,
  };
}

/** to_char of a timestamp without time zone; null for infinities and an empty template, as in PostgreSQL. */
export function formatTimestampTemplate(value: MixedInteger, template: string): string | null {
  if (value === Infinity || value === -Infinity) return null;
  return formatNodes(parseTemplate(template), breakDown(value, 0, ""));
}

/** to_char of a timestamp with time zone, seen in a zone. */
export function formatTimestampTzTemplate(
  value: MixedInteger,
  template: string,
  zone: TimeZone,
): string | null {
  if (value === Infinity || value === -Infinity) return null;
  const parts = breakDown(zone.toLocal(value), zone.offsetAt(value), zone.abbreviationAt(value));
  return formatNodes(parseTemplate(template), parts);
}

/** to_char of an interval. */
export function formatIntervalTemplate(interval: Interval, template: string): string {
  const years = Math.trunc(interval.months / 12);
  const time = interval.microseconds;
  const inHour = Number(modulo(time, MICROSECONDS_PER_HOUR));
  return formatNodes(parseTemplate(template), {
    isInterval: true,
    year: years,
    month: interval.months - years * 12,
    day: interval.days,
    days: years * 360 + (interval.months - years * 12) * 30 + interval.days,
    hours: Number(divide(time, MICROSECONDS_PER_HOUR)),
    minutes: Math.trunc(inHour / MICROSECONDS_PER_MINUTE),
    seconds: Math.trunc(inHour / MICROSECONDS_PER_SECOND) % 60,
    microseconds: inHour % MICROSECONDS_PER_SECOND,
    offset: 0,
    abbreviation: "",
  });
}

function formatNodes(nodes: readonly Node[], parts: BrokenDown): string {
  let text = "";
  for (const node of nodes) {
    if (node.kind !== "field") text += node.text;
    else text += formatField(node, parts);
  }
  return text;
}

type FieldNode = Extract<Node, { kind: "field" }>;

function zeroPad(value: number, width: number, fill: boolean): string {
  if (fill) return String(value);
  return value < 0 ? `-${String(-value).padStart(width, "0")}` : String(value).padStart(width, "0");
}

function withOrdinal(text: string, ordinal: "" | "TH" | "th"): string {
  if (ordinal === "") return text;
  const tens = text.length > 1 && text[text.length - 2] === "1";
  const last = text[text.length - 1];
  const suffix = tens ? "th" : last === "1" ? "st" : last === "2" ? "nd" : last === "3" ? "rd" : "th";
  return text + (ordinal === "TH" ? suffix.toUpperCase() : suffix);
}

/** A name in the case that the field is written in: `MONTH`, `Month`, `month`. */
function inCase(name: string, written: string): string {
  if (written === written.toUpperCase()) return name.toUpperCase();
  return written === written.toLowerCase() ? name.toLowerCase() : name;
}

const ROMAN = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

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
    case "HH12":
      return number(parts.hours % 12 === 0 ? 12 : parts.hours % 12, 2);
    case "HH24":
      return number(parts.hours, 2);
    case "MI":
      return number(parts.minutes, 2);
    case "SS":
      return number(parts.seconds, 2);
    case "MS":
    case "FF3":
      return number(Math.trunc(parts.microseconds / 1000), 3);
    case "US":
    case "FF6":
      return number(parts.microseconds, 6);
    case "FF1":
      return number(Math.trunc(parts.microseconds / 100000), 1);
    case "FF2":
      return number(Math.trunc(parts.microseconds / 10000), 2);
    case "FF4":
      return number(Math.trunc(parts.microseconds / 100), 4);
    case "FF5":
      return number(Math.trunc(parts.microseconds / 10), 5);
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
  const padded = (text: string, width: number): string => fill ? text : text.padEnd(width);
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
      return number(parts.days - isoYearStart(isoWeek(parts.days).year) + 1, 3);
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
      return number(isoWeek(parts.days).week, 2);
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
      return withOrdinal(`${thousands},${zeroPad(eraYear - thousands * 1000, 3, false)}`, ordinal);
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
      const isoYear = isoWeek(parts.days).year;
      const shown = isoYear > 0 ? isoYear : 1 - isoYear;
      return number(shown % 10 ** name.length, name.length);
    }
    case "RM": {
      const roman = ROMAN[(parts.month + 11) % 12] ?? "";
      if (parts.month === 0) return "";
      return padded(written === "rm" ? roman.toLowerCase() : roman, 4);
    }
    case "J":
      return withOrdinal(String(parts.days + JULIAN_DAY_2000), ordinal);
    default:
      return "";
  }
}

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
  afternoon?: boolean;
  zoneSign?: number;
  zoneHours?: number;
  zoneMinutes?: number;
}

/** to_timestamp of a text: the instant that the template reads, in the zone unless the text has an offset. */
export function parseTimestampTemplate(text: string, template: string, zone: TimeZone): MixedInteger {
  const parsed = new TemplateParser(text, template).parse();
  const local = microsecondsFromDay(daysOfParsed(parsed, text), timeOfParsed(parsed, text));
  if (parsed.zoneHours !== undefined || parsed.zoneMinutes !== undefined) {
    const seconds = (parsed.zoneSign ?? 1) *
      ((parsed.zoneHours ?? 0) * 3600 + (parsed.zoneMinutes ?? 0) * 60);
    return checkTimestamp(subtract(local, seconds * MICROSECONDS_PER_SECOND));
  }
  return checkTimestamp(zone.fromLocal(local));
}

/** to_date of a text. */
export function parseDateTemplate(text: string, template: string): number {
  const parsed = new TemplateParser(text, template).parse();
  timeOfParsed(parsed, text);
  return daysOfParsed(parsed, text);
}

function fieldOutOfRange(text: string): DatabaseError {
  return new DatabaseError(SQLSTATE.datetimeFieldOverflow, `date/time field value out of range: "${text}"`);
}

function yearOfParsed(parsed: Parsed): number | undefined {
  let year = parsed.year;
  if (parsed.century !== undefined) {
    const century = parsed.beforeChrist === true ? -parsed.century : parsed.century;
    if (year !== undefined && (parsed.yearDigits ?? 4) <= 2) {
      year = century >= 0 ? (century - 1) * 100 + year % 100 : (century + 1) * 100 - year % 100 + 1;
      // A year that ends in 00 closes its century.
      if (year % 100 === 0 && century >= 0) year += 100;
    } else if (year === undefined) year = century >= 0 ? (century - 1) * 100 + 1 : century * 100 + 1;
    return year;
  }
  if (year === undefined) return undefined;
  if (parsed.beforeChrist === true && year > 0) return 1 - year;
  return year < 0 ? year + 1 : year;
}

function daysOfParsed(parsed: Parsed, text: string): number {
  if (parsed.julian !== undefined) return parsed.julian - JULIAN_DAY_2000;
  if (parsed.isoYear !== undefined) return isoDays(parsed, text);
  // Without a year it is 1 BC, which prints as 0001 BC, as in PostgreSQL.
  const year = yearOfParsed(parsed) ?? 0;
  if (parsed.weekOfYear !== undefined && parsed.dayOfYear === undefined) {
    if (parsed.weekOfYear < 1 || parsed.weekOfYear > 53) throw fieldOutOfRange(text);
    return daysFromCivil(year, 1, 1) + (parsed.weekOfYear - 1) * 7;
  }
  if (parsed.dayOfYear !== undefined && parsed.month === undefined && parsed.day === undefined) {
    const last = daysInMonth(year, 2) === 29 ? 366 : 365;
    if (parsed.year === undefined) {
      throw new DatabaseError(
        SQLSTATE.invalidDatetimeFormat,
        "cannot calculate day of year without year information",
      );
    }
    if (parsed.dayOfYear < 1 || parsed.dayOfYear > last) throw fieldOutOfRange(text);
    return daysFromCivil(year, 1, parsed.dayOfYear);
  }
  const month = parsed.month ?? 1;
  const day = parsed.day ?? (parsed.weekOfMonth === undefined ? 1 : (parsed.weekOfMonth - 1) * 7 + 1);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) throw fieldOutOfRange(text);
  return daysFromCivil(year, month, day);
}

function isoDays(parsed: Parsed, text: string): number {
  const start = isoYearStart(parsed.isoYear ?? 1);
  if (parsed.isoDayOfYear !== undefined) return start + parsed.isoDayOfYear - 1;
  const week = parsed.isoWeek ?? 1;
  if (week < 1 || week > 53) throw fieldOutOfRange(text);
  return start + (week - 1) * 7 + ((parsed.weekday ?? 1) - 1);
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
  const minutes = parsed.minutes ?? 0;
  const seconds = parsed.seconds ?? 0;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) {
    throw fieldOutOfRange(text);
  }
  return hours * MICROSECONDS_PER_HOUR + minutes * MICROSECONDS_PER_MINUTE +
    seconds * MICROSECONDS_PER_SECOND + (parsed.microseconds ?? 0);
}

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
  readonly #nodes: readonly Node[];
  readonly #parsed: Parsed = {};
  #position = 0;
  #exact = false;

  constructor(text: string, template: string) {
    this.#text = text;
    this.#nodes = parseTemplate(template);
  }

  parse(): Parsed {
    let skipped = 0;
    this.#exact = this.#nodes.some((node) => node.kind === "field" && node.name === "FX");
    for (const [index, node] of this.#nodes.entries()) {
      if (!this.#exact && (node.kind === "field" || index === 0)) skipped += this.#skipSpaces();
      if (node.kind === "field") {
        if (node.name === "FX") continue;
        if (this.#position >= this.#text.length) break;
        this.#field(node, this.#nodes[index + 1], skipped);
        skipped = this.#exact ? 0 : this.#skipSpaces();
      } else if (node.kind === "separator") {
        if (this.#exact) this.#position += 1;
        else {
          skipped--;
          if (this.#position < this.#text.length && isSeparator(this.#text[this.#position] ?? "")) {
            this.#position++;
            skipped++;
          }
        }
      } else if (this.#exact || skipped <= 0) this.#position += node.text.length;
      else skipped--;
    }
    return this.#parsed;
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
  #number(node: FieldNode, next: Node | undefined): { value: number; length: number } {
    const width = WIDTHS[node.name] ?? 1;
    const digitsFollow = next !== undefined &&
      (next.kind === "field" ? WIDTHS[next.name] !== undefined : /^\d$/.test(next.text));
    const greedy = node.fill || !digitsFollow || node.ordinal !== "";
    const rest = this.#text.slice(this.#position);
    const source = greedy ? rest : rest.slice(0, width);
    const match = /^[+-]?\d+/.exec(source);
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
    return { value: Number(match[0]), length: match[0].replace(/^[+-]/, "").length };
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
    if (present !== undefined && present !== value) {
      throw new DatabaseError(
        SQLSTATE.invalidDatetimeFormat,
        `conflicting values for "${node.written}" field in formatting string`,
        { detail: "This value contradicts a previous setting for the same field type." },
      );
    }
    this.#parsed[key] = value;
  }

  #field(node: FieldNode, next: Node | undefined, skipped: number): void {
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
        const longestFirst = [...ROMAN].sort((left, right) => right.length - left.length);
        const found = longestFirst[this.#oneOf(node, longestFirst, "full")] ?? "I";
        return this.#set(node, "month", ROMAN.indexOf(found) + 1);
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
        return this.#set(node, "year", Number(match[1]) * 1000 + Number(match[2]));
      }
      default:
        return this.#numberField(node, this.#number(node, next));
    }
  }

  #zoneHours(node: FieldNode, skipped: number): void {
    const match = /^([+-]?)(\d{1,2})/.exec(this.#text.slice(this.#position));
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
    const fraction = (digits: number): number =>
      length <= digits ? value * 10 ** (6 - length) : Math.round(value * 10 ** (6 - length));
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
      case "US":
      case "FF1":
      case "FF2":
      case "FF3":
      case "FF4":
      case "FF5":
      case "FF6":
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
        return this.#set(node, "weekday", value);
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
