/**
 * Reading dates, times and timestamps in all forms that PostgreSQL accepts.
 *
 * ISO 8601 texts take a fast path over character codes. Everything else is split into fields (`date_time_tokens.ts`)
 * and decoded field by field with PostgreSQL's rules: which of day, month and year a number is depends on its length,
 * on what is known already, and on the DateStyle's order. `now` and its like take the time from the context, never
 * from a clock.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import {
  daysFromCivil,
  daysInMonth,
  isTimestampInRange,
  JULIAN_DAY_2000,
  MAX_DATE,
  MICROSECONDS_PER_DAY,
  MICROSECONDS_PER_HOUR,
  MICROSECONDS_PER_MINUTE,
  MICROSECONDS_PER_SECOND,
  microsecondsFromDay,
  MINIMUM_DATE,
} from "./calendar.ts";
import { dayOfMicroseconds, timeOfMicroseconds, UNIX_EPOCH_DAYS } from "./calendar.ts";
import type { DateOrder } from "./date_time_format.ts";
import { dateTimeKeyword, splitFields } from "./date_time_tokens.ts";
import type { Field, ReservedName } from "./date_time_tokens.ts";
import { roundHalfEven, subtract } from "./number_or_bigint.ts";
import { abbreviationZone, findTimeZone } from "./time_zone.ts";
import type { TimeZone } from "./time_zone.ts";
import type { NumberOrBigint } from "./value.ts";

/** What reading depends on besides the text. */
export interface DateTimeContext {
  /** The transaction's time, in microseconds since 2000-01-01 UTC. */
  readonly now: NumberOrBigint;
  /** The session's time zone. */
  readonly zone: TimeZone;
  /** The order of day and month in dates of digits. */
  readonly order: DateOrder;
}

type Failure = "format" | "field" | "monthDay" | "zone" | "range" | { readonly unknownZone: string };

class DecodeFailure extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super();
    this.failure = failure;
  }
}

function toDatabaseError(failure: Failure, typeName: string, text: string): DatabaseError {
  if (typeof failure === "object") {
    return new DatabaseError(
      SQLSTATE.invalidParameterValue,
      `time zone "${failure.unknownZone}" not recognized`,
    );
  }
  switch (failure) {
    case "format":
      return new DatabaseError(
        SQLSTATE.invalidDatetimeFormat,
        `invalid input syntax for type ${typeName}: "${text}"`,
      );
    case "field":
      return new DatabaseError(
        SQLSTATE.datetimeFieldOverflow,
        `date/time field value out of range: "${text}"`,
      );
    case "monthDay":
      return new DatabaseError(
        SQLSTATE.datetimeFieldOverflow,
        `date/time field value out of range: "${text}"`,
        { hint: 'Perhaps you need a different "datestyle" setting.' },
      );
    case "zone":
      return new DatabaseError(
        SQLSTATE.invalidTimeZoneDisplacementValue,
        `time zone displacement out of range: "${text}"`,
      );
    case "range":
      return new DatabaseError(
        SQLSTATE.datetimeFieldOverflow,
        `${typeName === "date" ? "date" : "timestamp"} out of range: "${text}"`,
      );
  }
}

function attempt<T>(typeName: string, text: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DecodeFailure) throw toDatabaseError(error.failure, typeName, text);
    throw error;
  }
}

/** Parses a date to days since 2000-01-01, or an infinity; 22007, 22008. */
export function parseDate(text: string, context: DateTimeContext): number {
  if (text.length === 10) {
    const days = isoDate(text, 0);
    if (days !== undefined) return days;
  }
  return attempt("date", text, () => {
    const decoded = new Decoder(text, context, true).decode();
    if (typeof decoded === "number") return decoded;
    if (decoded.days < MINIMUM_DATE || decoded.days > MAX_DATE) throw new DecodeFailure("range");
    return decoded.days;
  });
}

/** Parses a time of day to microseconds; a date and a zone in front and behind are ignored. */
export function parseTime(text: string, context: DateTimeContext): number {
  const fast = isoTime(text, 0, text.length);
  if (fast !== undefined) return fast;
  return attempt("time", text, () => {
    const decoded = new Decoder(text, context, false).decode();
    if (typeof decoded === "number" || decoded.time === undefined) throw new DecodeFailure("format");
    return decoded.time;
  });
}

/** Parses a timestamp without time zone; a zone in the text is ignored. */
export function parseTimestamp(text: string, context: DateTimeContext): NumberOrBigint {
  const fast = isoTimestamp(text);
  if (fast !== undefined && fast.offset === undefined) return fast.local;
  return attempt("timestamp", text, () => {
    const decoded = new Decoder(text, context, true).decode();
    if (typeof decoded === "number") return decoded;
    return inRange(microsecondsFromDay(checkDays(decoded.days), decoded.time ?? 0));
  });
}

/** Parses a timestamp with time zone to an instant; without a zone in the text the session's is meant. */
export function parseTimestampTz(text: string, context: DateTimeContext): NumberOrBigint {
  const fast = isoTimestamp(text);
  if (fast !== undefined) {
    return fast.offset === undefined
      ? context.zone.fromLocal(fast.local)
      : subtract(fast.local, fast.offset * MICROSECONDS_PER_SECOND);
  }
  return attempt("timestamp with time zone", text, () => {
    const decoded = new Decoder(text, context, true).decode();
    if (typeof decoded === "number") return decoded;
    const local = microsecondsFromDay(checkDays(decoded.days), decoded.time ?? 0);
    const zone = decoded.zone ?? context.zone;
    const instant = decoded.offset === undefined
      ? zone.fromLocal(local)
      : subtract(local, decoded.offset * MICROSECONDS_PER_SECOND);
    return inRange(instant);
  });
}

function checkDays(days: number): number {
  // Far outside, before microseconds are counted.
  if (Math.abs(days) > 200_000_000) throw new DecodeFailure("range");
  return days;
}

function inRange(value: NumberOrBigint): NumberOrBigint {
  if (!isTimestampInRange(value)) throw new DecodeFailure("range");
  return value;
}

function digitsAt(text: string, position: number, count: number): number {
  let value = 0;
  for (let index = position; index < position + count; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** `YYYY-MM-DD` at a position, or undefined. */
function isoDate(text: string, position: number): number | undefined {
  if (text.charCodeAt(position + 4) !== 45 || text.charCodeAt(position + 7) !== 45) return undefined;
  const year = digitsAt(text, position, 4);
  const month = digitsAt(text, position + 5, 2);
  const day = digitsAt(text, position + 8, 2);
  if (year < 1 || month < 1 || month > 12 || day < 1 || (day > 28 && day > daysInMonth(year, month))) {
    return undefined;
  }
  return daysFromCivil(year, month, day);
}

/** `HH:MM:SS[.ffffff]` between two positions, or undefined. */
function isoTime(text: string, start: number, end: number): number | undefined {
  const length = end - start;
  if (length < 8 || text.charCodeAt(start + 2) !== 58 || text.charCodeAt(start + 5) !== 58) return undefined;
  const hours = digitsAt(text, start, 2);
  const minutes = digitsAt(text, start + 3, 2);
  const seconds = digitsAt(text, start + 6, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) return undefined;
  let fraction = 0;
  if (length > 8) {
    const digits = length - 9;
    if (text.charCodeAt(start + 8) !== 46 || digits < 1 || digits > 6) return undefined;
    fraction = digitsAt(text, start + 9, digits);
    if (fraction < 0) return undefined;
    for (let index = digits; index < 6; index++) fraction *= 10;
  }
  return hours * MICROSECONDS_PER_HOUR + minutes * MICROSECONDS_PER_MINUTE +
    seconds * MICROSECONDS_PER_SECOND +
    fraction;
}

/** `YYYY-MM-DD[ T]HH:MM:SS[.ffffff][Z|±HH[[:]MM]]`, or undefined. */
function isoTimestamp(text: string): { local: NumberOrBigint; offset: number | undefined } | undefined {
  const length = text.length;
  if (length < 10) return undefined;
  const days = isoDate(text, 0);
  if (days === undefined) return undefined;
  if (length === 10) return { local: microsecondsFromDay(days, 0), offset: undefined };
  const separator = text.charCodeAt(10);
  if (separator !== 32 && separator !== 84) return undefined;
  let end = 19;
  if (text.charCodeAt(19) === 46) {
    end = 20;
    while (end < length && text.charCodeAt(end) >= 48 && text.charCodeAt(end) <= 57) end++;
  }
  const time = isoTime(text, 11, end);
  if (time === undefined) return undefined;
  let offset: number | undefined;
  if (end < length) {
    offset = isoOffset(text, end, length);
    if (offset === undefined) return undefined;
  }
  return { local: microsecondsFromDay(days, time), offset };
}

function isoOffset(text: string, start: number, end: number): number | undefined {
  const sign = text.charCodeAt(start);
  const length = end - start;
  if (sign === 90 && length === 1) return 0;
  if (sign !== 43 && sign !== 45) return undefined;
  const hours = digitsAt(text, start + 1, 2);
  let minutes = 0;
  if (length === 6 && text.charCodeAt(start + 3) === 58) minutes = digitsAt(text, start + 4, 2);
  else if (length === 5) minutes = digitsAt(text, start + 3, 2);
  else if (length !== 3) return undefined;
  if (hours < 0 || hours > 15 || minutes < 0 || minutes > 59) return undefined;
  const seconds = hours * 3600 + minutes * 60;
  return sign === 45 ? 0 - seconds : seconds;
}

/** Seconds east of UTC of `+hh`, `-hh:mm`, `+hhmm` or `+hh:mm:ss`; undefined when the text is none. */
export function parseOffset(text: string): number | "out of range" | undefined {
  const match = /^([+-])(\d+)(?::(\d{1,2}))?(?::(\d{1,2}))?$/.exec(text);
  if (match === null) return undefined;
  const digits = match[2] ?? "";
  let hours = Number(digits);
  let minutes = Number(match[3] ?? 0);
  if (match[3] === undefined && digits.length > 2) {
    hours = Number(digits.slice(0, -2));
    minutes = Number(digits.slice(-2));
  }
  const seconds = Number(match[4] ?? 0);
  if (hours > 15 || minutes > 59 || seconds > 59) return "out of range";
  const total = hours * 3600 + minutes * 60 + seconds;
  return match[1] === "-" ? 0 - total : total;
}

interface Decoded {
  readonly days: number;
  readonly time: number | undefined;
  readonly offset: number | undefined;
  readonly zone: TimeZone | undefined;
}

const DATE_PARTS = ["year", "month", "day"] as const;
type Part =
  | typeof DATE_PARTS[number]
  | "dayOfYear"
  | "time"
  | "zone"
  | "meridiem"
  | "era"
  | "weekday"
  | "special"
  | "julian";

class Decoder {
  readonly #fields: Field[];
  readonly #context: DateTimeContext;
  readonly #needsDate: boolean;
  readonly #seen = new Set<Part>();
  #year = 0;
  #month = 0;
  #day = 0;
  #dayOfYear = 0;
  #hours = 0;
  #minutes = 0;
  #seconds = 0;
  #microseconds = 0;
  #offset: number | undefined;
  #zone: TimeZone | undefined;
  #zoneIsAbbreviated = false;
  #beforeChrist = false;
  #afternoon: boolean | undefined;
  #twoDigitYear = false;
  #textMonth = false;
  #days: number | undefined;
  #special: "epoch" | "infinity" | "-infinity" | undefined;
  /** What the word before the present field said the field is. */
  #expects: "julian" | "time" | "year" | "month" | "day" | "hour" | "second" | undefined;

  constructor(text: string, context: DateTimeContext, needsDate: boolean) {
    const fields = splitFields(text);
    if (fields === undefined || fields.length === 0) throw new DecodeFailure("format");
    this.#fields = fields;
    this.#context = context;
    this.#needsDate = needsDate;
  }

  decode(): Decoded | number {
    this.#fields.forEach((field, index) => this.#field(field, index));
    if (this.#expects !== undefined) throw new DecodeFailure("format");
    switch (this.#special) {
      case "infinity":
        return Infinity;
      case "-infinity":
        return -Infinity;
      case "epoch":
        return { days: 0 - UNIX_EPOCH_DAYS, time: 0, offset: 0, zone: undefined };
    }
    this.#finishClock();
    const hasTime = this.#seen.has("time");
    if (this.#needsDate && !this.#hasDate()) throw new DecodeFailure("format");
    if (!this.#needsDate && !hasTime) throw new DecodeFailure("format");
    const partialDate = !this.#hasDate() && DATE_PARTS.some((part) => this.#seen.has(part));
    if (partialDate) throw new DecodeFailure("format");
    // The offset of a named zone depends on the date.
    if (
      !this.#hasDate() && this.#zone !== undefined && this.#zone.fixedOffset === undefined &&
      !this.#zoneIsAbbreviated
    ) {
      throw new DecodeFailure("format");
    }
    const days = this.#hasDate() ? this.#finishDate() : dayOfMicroseconds(this.#localNow());
    const time = this.#hours * MICROSECONDS_PER_HOUR + this.#minutes * MICROSECONDS_PER_MINUTE +
      this.#seconds * MICROSECONDS_PER_SECOND + this.#microseconds;
    if (time > MICROSECONDS_PER_DAY) throw new DecodeFailure("field");
    return { days, time: hasTime ? time : undefined, offset: this.#offset, zone: this.#zone };
  }

  #localNow(): NumberOrBigint {
    return this.#context.zone.toLocal(this.#context.now);
  }

  #hasDate(): boolean {
    return DATE_PARTS.every((part) => this.#seen.has(part));
  }

  #mark(...parts: Part[]): void {
    for (const part of parts) {
      if (this.#seen.has(part)) throw new DecodeFailure("format");
      this.#seen.add(part);
    }
  }

  #field(field: Field, index: number): void {
    const { kind, text } = field;
    switch (kind) {
      case "date":
        return this.#dateField(text);
      case "time":
        if (this.#expects === "time") this.#expects = undefined;
        if (this.#expects !== undefined) throw new DecodeFailure("format");
        return this.#clock(text);
      case "zone":
        return this.#zoneOffset(text);
      case "number":
        return this.#numberField(text);
      case "word":
      case "special":
        return this.#word(text, index);
    }
  }

  #dateField(text: string): void {
    if (this.#expects === "julian") {
      this.#expects = undefined;
      const match = /^(\d+)(-\d+)$/.exec(text);
      if (match === null) throw new DecodeFailure("format");
      this.#julian(match[1] ?? "");
      return this.#zoneOffset(match[2] ?? "");
    }
    if (!this.#hasDate() && this.#expects === undefined) return this.#dateParts(text);
    if (/^\d/.test(text) || this.#expects !== undefined) {
      if (this.#expects !== undefined && this.#expects !== "time") throw new DecodeFailure("format");
      this.#expects = undefined;
      const dash = text.indexOf("-");
      if (dash < 0) throw new DecodeFailure("format");
      this.#zoneOffset(text.slice(dash));
      return this.#runTogether(text.slice(0, dash));
    }
    this.#namedZone(text);
  }

  #namedZone(text: string): void {
    const zone = findTimeZone(text);
    if (zone === undefined) {
      throw new DecodeFailure(text.includes("/") ? { unknownZone: text } : "format");
    }
    this.#mark("zone");
    this.#zone = zone;
  }

  #zoneOffset(text: string): void {
    const offset = parseOffset(text);
    if (offset === undefined) throw new DecodeFailure("format");
    if (offset === "out of range") throw new DecodeFailure("zone");
    if (this.#zone !== undefined && this.#zone.fixedOffset === 0) {
      // POSIX style: UTC+3 is three hours west.
      this.#zone = undefined;
      this.#offset = 0 - offset;
      return;
    }
    this.#mark("zone");
    this.#offset = offset;
  }

  /** A date with separators: its fields are numbers and at most one month name. */
  #dateParts(text: string): void {
    const parts = text.match(/\d+|[a-z\x80-\uffff]+/g) ?? [];
    // Only a zone may precede a whole date.
    if ((["time", "meridiem", "era", "weekday", "special"] as const).some((part) => this.#seen.has(part))) {
      throw new DecodeFailure("format");
    }
    const numbers: string[] = [];
    for (const part of parts) {
      if (/^\d/.test(part)) {
        numbers.push(part);
        continue;
      }
      const keyword = dateTimeKeyword(part);
      if (keyword?.kind === "ignored") continue;
      if (keyword?.kind !== "month") {
        if (numbers.length === 0 && parts[0] === part) return this.#namedZone(text);
        throw new DecodeFailure("format");
      }
      this.#mark("month");
      this.#month = keyword.month;
      this.#textMonth = true;
    }
    for (const number of numbers) this.#dateNumber(number);
    if (!this.#hasDate() && !this.#seen.has("dayOfYear")) throw new DecodeFailure("format");
  }

  #clock(text: string): void {
    const match = /^(\d+):(\d+)(?::(\d+))?(?:\.(\d*))?$/.exec(text);
    if (match === null) throw new DecodeFailure("format");
    this.#mark("time");
    this.#hours = Number(match[1]);
    this.#minutes = Number(match[2]);
    this.#seconds = Number(match[3] ?? 0);
    if (match[3] === undefined && match[4] !== undefined) {
      // Two parts and a fraction are minutes and seconds.
      this.#seconds = this.#minutes;
      this.#minutes = this.#hours;
      this.#hours = 0;
    }
    this.#microseconds = fractionMicroseconds(match[4]);
    this.#checkClock();
  }

  #checkClock(): void {
    if (this.#minutes > 59 || this.#seconds > 60 || this.#hours > 24) throw new DecodeFailure("field");
  }

  #numberField(text: string): void {
    const expects = this.#expects;
    this.#expects = undefined;
    switch (expects) {
      case "julian":
        return this.#julian(text);
      case "time":
        return this.#runTogether(text);
      case "year":
      case "month":
      case "day":
        if (!/^\d+$/.test(text)) throw new DecodeFailure("format");
        return this.#setPart(expects, Number(text), text.length);
      case "hour":
        this.#hours = Number(text);
        return;
      case "second":
        this.#seconds = Math.floor(Number(text));
        this.#microseconds = fractionMicroseconds(text.split(".")[1]);
        return;
      case undefined:
        break;
    }
    const point = text.indexOf(".");
    const datePending = !this.#hasDate();
    if (point >= 0 && datePending && this.#needsDate) return this.#dateParts(text);
    if (point > 2) return this.#runTogether(text);
    if (text.length >= 6 && (datePending || !this.#seen.has("time"))) return this.#runTogether(text);
    const numeric = (field: Field): boolean =>
      field.kind !== "word" && field.kind !== "special" && field.kind !== "zone";
    const alone = !this.#needsDate && this.#fields.filter(numeric).length === 1;
    if (alone && text.length === 4) return this.#runTogether(text);
    this.#dateNumber(text);
  }

  #julian(text: string): void {
    this.#mark("year", "month", "day");
    const value = Number(text);
    if (!Number.isFinite(value)) throw new DecodeFailure("format");
    const whole = Math.floor(value);
    this.#days = whole - JULIAN_DAY_2000;
    if (!text.includes(".")) return;
    this.#mark("time");
    const time = roundHalfEven((value - whole) * MICROSECONDS_PER_DAY);
    this.#setClock(time);
  }

  #setClock(time: number): void {
    this.#hours = Math.floor(time / MICROSECONDS_PER_HOUR);
    this.#minutes = Math.floor(time / MICROSECONDS_PER_MINUTE) % 60;
    this.#seconds = Math.floor(time / MICROSECONDS_PER_SECOND) % 60;
    this.#microseconds = time % MICROSECONDS_PER_SECOND;
  }

  /** One number of a date: what it is follows from what is known. */
  #dateNumber(text: string): void {
    const value = Number(text);
    const length = text.length;
    const { order } = this.#context;
    const has = (part: Part): boolean => this.#seen.has(part);
    const [year, month, day] = [has("year"), has("month"), has("day")];
    if (length === 3 && year && !month && !day && value >= 1 && value <= 366) {
      this.#mark("month", "day", "dayOfYear");
      this.#dayOfYear = value;
      return;
    }
    if (year && month && day) return this.#runTogether(text);
    if (!year && !month && !day) {
      const part = length >= 3 || order === "YMD" ? "year" : order === "DMY" ? "day" : "month";
      return this.#setPart(part, value, length);
    }
    if (year && !month) return this.#setPart("month", value, length);
    if (!year && month && !day) {
      const isYear = this.#textMonth && (length >= 3 || order === "YMD");
      return this.#setPart(isYear ? "year" : "day", value, length);
    }
    if (year && month && !day) {
      if (this.#textMonth && length >= 3 && this.#twoDigitYear) {
        this.#mark("day");
        this.#day = this.#year;
        this.#year = value;
        this.#twoDigitYear = false;
        return;
      }
      return this.#setPart("day", value, length);
    }
    if (!month) return this.#setPart("month", value, length);
    return this.#setPart("year", value, length);
  }

  #setPart(part: "year" | "month" | "day", value: number, length: number): void {
    this.#mark(part);
    if (part === "year") {
      this.#year = value;
      this.#twoDigitYear = length <= 2;
    } else if (part === "month") this.#month = value;
    else this.#day = value;
  }

  /** `YYYYMMDD`, `YYMMDD`, `HHMMSS`, `HHMM`, the times with a fraction. */
  #runTogether(text: string): void {
    const match = /^(\d+)(?:\.(\d*))?$/.exec(text);
    if (match === null) throw new DecodeFailure("format");
    const digits = match[1] ?? "";
    const fraction = match[2];
    if (fraction === undefined && !this.#hasDate() && this.#expectsDate() && digits.length >= 6) {
      this.#mark("year", "month", "day");
      this.#day = Number(digits.slice(-2));
      this.#month = Number(digits.slice(-4, -2));
      this.#year = Number(digits.slice(0, -4));
      this.#twoDigitYear = digits.length === 6;
      return;
    }
    if (this.#seen.has("time") || (digits.length !== 6 && digits.length !== 4)) {
      throw new DecodeFailure("format");
    }
    this.#mark("time");
    this.#hours = Number(digits.slice(0, 2));
    this.#minutes = Number(digits.slice(2, 4));
    this.#seconds = Number(digits.slice(4) || "0");
    this.#microseconds = fractionMicroseconds(fraction);
    this.#checkClock();
  }

  #expectsDate(): boolean {
    return this.#needsDate;
  }

  #word(text: string, index: number): void {
    const keyword = dateTimeKeyword(text);
    const zone = abbreviationZone(text);
    if (keyword === undefined || (zone !== undefined && keyword.kind === "weekday")) {
      if (zone === undefined) return this.#namedZone(text);
      this.#mark("zone");
      // Zulu keeps its zone, so that a POSIX offset may follow; so does one whose offset depends on the date.
      if (zone.fixedOffset === 0 || zone.fixedOffset === undefined) this.#zone = zone;
      else this.#offset = zone.fixedOffset;
      this.#zoneIsAbbreviated = true;
      return;
    }
    switch (keyword.kind) {
      case "month":
        if (
          this.#seen.has("month") && !this.#textMonth && !this.#seen.has("day") && this.#month >= 1 &&
          this.#month <= 31
        ) {
          // The number before was the day.
          this.#seen.delete("month");
          this.#mark("day");
          this.#day = this.#month;
        }
        this.#mark("month");
        this.#textMonth = true;
        this.#month = keyword.month;
        return;
      case "meridiem":
        this.#mark("meridiem");
        this.#afternoon = keyword.afternoon;
        return;
      case "era":
        this.#mark("era");
        this.#beforeChrist = keyword.beforeChrist;
        return;
      case "unit":
        this.#expects = keyword.name;
        return;
      case "isoTime": {
        const next = this.#fields[index + 1]?.kind;
        if (
          (this.#needsDate && !this.#hasDate()) || (next !== "number" && next !== "time" && next !== "date")
        ) {
          throw new DecodeFailure("format");
        }
        this.#expects = "time";
        return;
      }
      case "daylight":
        if (this.#offset === undefined) throw new DecodeFailure("format");
        this.#offset += 3600;
        return;
      case "weekday":
        this.#mark("weekday");
        return;
      case "ignored":
        return;
      case "reserved":
        return this.#reserved(keyword.name);
    }
  }

  #reserved(name: ReservedName): void {
    switch (name) {
      case "now": {
        this.#mark("year", "month", "day", "time", "zone");
        const local = this.#localNow();
        this.#days = dayOfMicroseconds(local);
        this.#setClock(timeOfMicroseconds(local));
        this.#offset = this.#context.zone.offsetAt(this.#context.now);
        return;
      }
      case "today":
      case "tomorrow":
      case "yesterday":
        this.#mark("year", "month", "day");
        this.#days = dayOfMicroseconds(this.#localNow()) +
          (name === "today" ? 0 : name === "tomorrow" ? 1 : -1);
        return;
      case "allballs":
        this.#mark("time", "zone");
        this.#offset = 0;
        return;
      case "epoch":
      case "infinity":
      case "-infinity":
        if (!this.#needsDate) throw new DecodeFailure("format");
        // Other fields must make sense but do not count, except that no second such word and no whole date may follow.
        this.#mark("special");
        this.#special = name;
    }
  }

  #finishClock(): void {
    if (this.#afternoon === undefined) return;
    if (!this.#seen.has("time")) throw new DecodeFailure("format");
    if (this.#hours > 12) throw new DecodeFailure("field");
    if (this.#afternoon && this.#hours !== 12) this.#hours += 12;
    else if (!this.#afternoon && this.#hours === 12) this.#hours = 0;
  }

  #finishDate(): number {
    if (this.#days !== undefined) return this.#days;
    let year = this.#year;
    if (this.#beforeChrist) {
      if (year <= 0) throw new DecodeFailure("field");
      year = 1 - year;
    } else if (this.#twoDigitYear) year += year < 70 ? 2000 : 1900;
    else if (year <= 0) throw new DecodeFailure("field");
    if (this.#seen.has("dayOfYear")) {
      return daysFromCivil(year, 1, this.#dayOfYear);
    }
    if (this.#month < 1 || this.#month > 12 || this.#day < 1 || this.#day > 31) {
      throw new DecodeFailure("monthDay");
    }
    if (this.#day > daysInMonth(year, this.#month)) throw new DecodeFailure("field");
    return daysFromCivil(year, this.#month, this.#day);
  }
}

function fractionMicroseconds(digits: string | undefined): number {
  if (digits === undefined || digits === "") return 0;
  return roundHalfEven(Number(`0.${digits}`) * MICROSECONDS_PER_SECOND);
}
