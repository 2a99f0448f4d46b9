/**
 * Time zones: the offset from UTC at an instant or at a local time, and the abbreviation to print.
 *
 * Zones are those of the IANA database as the platform's `Intl` knows them, fixed offsets, and POSIX forms such as
 * `<+03>-03` and `UTC+3` (whose sign counts west, as POSIX says). Asking Intl is slow, so each zone remembers for
 * every UTC day that was asked the offset at its start, and the instant of the change when there is one within it.
 * Limits: before 1800 and after 2400 the rules of an equivalent year are used.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { daysFromCivil, MICROSECONDS_PER_SECOND } from "./calendar.ts";
import { dayOfMicroseconds, timeOfMicroseconds, UNIX_EPOCH_DAYS } from "./calendar.ts";
import { add, divide, subtract } from "./number_or_bigint.ts";
import { abbreviatedZone, abbreviationOffset, zoneAbbreviation } from "./time_zone_abbreviations.ts";
import type { NumberOrBigint } from "./value.ts";

const SECONDS_PER_DAY = 86400;
/** How many days a zone remembers before it forgets all and starts anew. */
const REMEMBERED_DAYS = 20000;
/** How many zones are kept; there are about 600 names. */
const REMEMBERED_ZONES = 2000;

/** Offsets within one UTC day: `before` up to the second `change` of the day, `after` from it on. */
interface DayOffsets {
  readonly before: number;
  readonly after: number;
  readonly change: number;
}

/** A time zone; get one from {@link timeZone}. */
export class TimeZone {
  /** The name as PostgreSQL's TimeZone setting shows it. */
  readonly name: string;
  /** The constant offset in seconds east of UTC, or undefined when it changes. */
  readonly fixedOffset: number | undefined;
  /** The offset at seconds since 1970-01-01 UTC; undefined when it is constant. */
  readonly #rule: ((unixSeconds: number) => number) | undefined;
  readonly #days = new Map<number, DayOffsets>();
  #lastDay = NaN;
  #last: DayOffsets = { before: 0, after: 0, change: 0 };

  /** Only for this file; zones come from {@link timeZone} and {@link fixedTimeZone}. */
  constructor(
    name: string,
    fixedOffset: number | undefined,
    rule: ((unixSeconds: number) => number) | undefined,
  ) {
    this.name = name;
    this.fixedOffset = fixedOffset;
    this.#rule = rule;
  }

  /** Seconds east of UTC at an instant in microseconds since 2000-01-01 UTC. */
  offsetAt(instant: NumberOrBigint): number {
    if (this.fixedOffset !== undefined) return this.fixedOffset;
    const day = dayOfMicroseconds(instant);
    const offsets = day === this.#lastDay ? this.#last : this.#offsetsOfDay(day);
    if (offsets.before === offsets.after) return offsets.before;
    return timeOfMicroseconds(instant) < offsets.change * MICROSECONDS_PER_SECOND
      ? offsets.before
      : offsets.after;
  }

  /**
   * Seconds east of UTC at a local time in microseconds. A local time that does not exist takes the offset before
   * the change, one that exists twice the offset after it, as in PostgreSQL.
   */
  offsetAtLocal(local: NumberOrBigint): number {
    if (this.fixedOffset !== undefined) return this.fixedOffset;
    const before = this.offsetAt(subtract(local, SECONDS_PER_DAY * MICROSECONDS_PER_SECOND));
    const after = this.offsetAt(add(local, SECONDS_PER_DAY * MICROSECONDS_PER_SECOND));
    if (before === after) return before;
    const afterHolds = this.offsetAt(subtract(local, after * MICROSECONDS_PER_SECOND)) === after;
    return afterHolds ? after : before;
  }

  /** The local time at an instant, both in microseconds; infinities stay. */
  toLocal(instant: NumberOrBigint): NumberOrBigint {
    if (instant === Infinity || instant === -Infinity) return instant;
    return add(instant, this.offsetAt(instant) * MICROSECONDS_PER_SECOND);
  }

  /** The instant of a local time, both in microseconds; infinities stay. */
  fromLocal(local: NumberOrBigint): NumberOrBigint {
    if (local === Infinity || local === -Infinity) return local;
    return subtract(local, this.offsetAtLocal(local) * MICROSECONDS_PER_SECOND);
  }

  /** What to print for the zone at an instant: `CET`, `EST`, `+05`, `+0545`. */
  abbreviationAt(instant: NumberOrBigint): string {
    const offset = this.offsetAt(instant);
    if (this.fixedOffset !== undefined) {
      const posix = /^<([^>]+)>/.exec(this.name);
      if (posix !== null) return posix[1] ?? "";
      return offset === 0
        ? (this.name === "GMT" || this.name === "Etc/GMT" ? "GMT" : "UTC")
        : numericOffset(offset);
    }
    // Offsets with seconds are local mean time, from before zones were introduced.
    if (offset % 60 !== 0) return "LMT";
    const unixSeconds = Number(divide(instant, MICROSECONDS_PER_SECOND)) + UNIX_EPOCH_DAYS * SECONDS_PER_DAY;
    // The time zone database names zones without letters `+0545`.
    return zoneAbbreviation(this.name, offset, unixSeconds) ?? numericOffset(offset).replaceAll(":", "");
  }

  /** Whether daylight saving holds: the offset is above the year's lowest one. */
  isDaylightAt(instant: NumberOrBigint): boolean {
    if (this.fixedOffset !== undefined) return false;
    const quarter = 91 * SECONDS_PER_DAY * MICROSECONDS_PER_SECOND;
    const here = this.offsetAt(instant);
    return [-3, -2, -1, 1, 2, 3].some((count) => this.offsetAt(add(instant, count * quarter)) < here);
  }

  #offsetsOfDay(day: number): DayOffsets {
    let offsets = this.#days.get(day);
    if (offsets === undefined) {
      if (this.#days.size >= REMEMBERED_DAYS) this.#days.clear();
      offsets = this.#calculateDay(equivalentDay(day));
      this.#days.set(day, offsets);
    }
    this.#lastDay = day;
    this.#last = offsets;
    return offsets;
  }

  #calculateDay(day: number): DayOffsets {
    const start = (day + UNIX_EPOCH_DAYS) * SECONDS_PER_DAY;
    const before = this.#askOffset(start);
    const after = this.#askOffset(start + SECONDS_PER_DAY - 1);
    if (before === after) return { before, after, change: 0 };
    let low = 0;
    let high = SECONDS_PER_DAY - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#askOffset(start + middle) === before) low = middle;
      else high = middle;
    }
    return { before, after, change: high };
  }

  #askOffset(unixSeconds: number): number {
    return this.#rule === undefined ? 0 : this.#rule(unixSeconds);
  }
}

/** The offset that a formatter of local times shows. */
function offsetShown(formatter: Intl.DateTimeFormat, unixSeconds: number): number {
  let year = 0;
  let month = 0;
  let day = 0;
  let seconds = 0;
  for (const { type, value } of formatter.formatToParts(unixSeconds * 1000)) {
    if (type === "year") year = Number(value);
    else if (type === "month") month = Number(value);
    else if (type === "day") day = Number(value);
    else if (type === "hour") seconds += (Number(value) % 24) * 3600;
    else if (type === "minute") seconds += Number(value) * 60;
    else if (type === "second") seconds += Number(value);
  }
  const localDays = daysFromCivil(year, month, day) + UNIX_EPOCH_DAYS;
  return localDays * SECONDS_PER_DAY + seconds - unixSeconds;
}

const FIRST_DAY = daysFromCivil(1800, 1, 1);
const LAST_DAY = daysFromCivil(2400, 1, 1);
const DAYS_PER_CYCLE = 146097;

function equivalentDay(day: number): number {
  if (day < FIRST_DAY) return FIRST_DAY;
  if (day < LAST_DAY) return day;
  return day - (Math.floor((day - LAST_DAY) / DAYS_PER_CYCLE) + 1) * DAYS_PER_CYCLE;
}

/** `+05`, `-03:30`, `+00:19:32`: hours and what more is needed. */
export function numericOffset(seconds: number): string {
  const magnitude = Math.abs(seconds);
  const hours = Math.floor(magnitude / 3600);
  const minutes = Math.floor(magnitude / 60) % 60;
  const rest = magnitude % 60;
  let text = (seconds < 0 ? "-" : "+") + (hours < 10 ? `0${hours}` : `${hours}`);
  if (minutes !== 0 || rest !== 0) text += minutes < 10 ? `:0${minutes}` : `:${minutes}`;
  if (rest !== 0) text += rest < 10 ? `:0${rest}` : `:${rest}`;
  return text;
}

/** Coordinated Universal Time. */
export const UTC: TimeZone = new TimeZone("UTC", 0, undefined);

const zones = new Map<string, TimeZone | undefined>([["UTC", UTC]]);

/** The zone of that many seconds east of UTC, named as PostgreSQL names it, `<+03>-03`. */
export function fixedTimeZone(seconds: number): TimeZone {
  const name = `<${numericOffset(seconds)}>${numericOffset(-seconds)}`;
  let zone = zones.get(name);
  if (zone === undefined) {
    zone = new TimeZone(name, seconds + 0, undefined);
    remember(name, zone);
  }
  return zone;
}

/** The zone of a name, ignoring case, or undefined. */
export function findTimeZone(name: string): TimeZone | undefined {
  const known = zones.get(name);
  if (known !== undefined || zones.has(name)) return known;
  const zone = createZone(name);
  remember(name, zone);
  return zone;
}

/** Moscow's standard time: four hours from 2011-03-27 to 2014-10-26, else three; also while summer time holds. */
const MOSCOW_STANDARD_TIME = new TimeZone(
  "MSK",
  undefined,
  (seconds) => (seconds >= 1_301_180_400 && seconds < 1_414_274_400 ? 4 : 3) * 3600,
);

/** The zone that an abbreviation of input in lower case means, or undefined when it is none. */
export function abbreviationZone(abbreviation: string): TimeZone | undefined {
  if (abbreviation === "msk") return MOSCOW_STANDARD_TIME;
  const zone = abbreviatedZone(abbreviation);
  if (zone !== undefined) return findTimeZone(zone);
  const offset = abbreviationOffset(abbreviation);
  return offset === undefined ? undefined : offset === 0 ? UTC : fixedTimeZone(offset);
}

/** The zone of a name; 22023 `time zone "…" not recognized`. */
export function timeZone(name: string): TimeZone {
  const zone = findTimeZone(name);
  if (zone !== undefined) return zone;
  throw new DatabaseError(SQLSTATE.invalidParameterValue, `time zone "${name}" not recognized`);
}

function remember(name: string, zone: TimeZone | undefined): void {
  if (zones.size >= REMEMBERED_ZONES) zones.clear();
  zones.set(name, zone);
}

const UTC_NAMES = new Set([
  "utc",
  "uct",
  "z",
  "zulu",
  "universal",
  "etc/utc",
  "etc/uct",
  "etc/universal",
  "etc/zulu",
]);
const GMT_NAMES = new Set(["gmt", "gmt0", "greenwich", "etc/gmt", "etc/gmt0", "etc/greenwich"]);

function createZone(name: string): TimeZone | undefined {
  const lower = name.toLowerCase();
  if (UTC_NAMES.has(lower)) return new TimeZone(lower.startsWith("etc/") ? name : "UTC", 0, undefined);
  if (GMT_NAMES.has(lower)) return new TimeZone(lower.startsWith("etc/") ? "Etc/GMT" : "GMT", 0, undefined);
  const etc = /^etc\/gmt([+-])(\d{1,2})$/.exec(lower);
  if (etc !== null) {
    return new TimeZone(
      `Etc/GMT${etc[1]}${etc[2]}`,
      (etc[1] === "+" ? -1 : 1) * Number(etc[2]) * 3600,
      undefined,
    );
  }
  return posixZone(name) ?? ianaZone(name);
}

function posixZone(name: string): TimeZone | undefined {
  const match = /^(?:<[+-]?[A-Za-z0-9:]+>|[A-Za-z]{3,}|)([+-]?)(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2}))?$/.exec(
    name,
  );
  if (match === null) return undefined;
  const [minutes, rest] = [Number(match[3] ?? 0), Number(match[4] ?? 0)];
  const seconds = Number(match[2]) * 3600 + minutes * 60 + rest;
  if (seconds > 168 * 3600 || minutes > 59 || rest > 60) return undefined;
  return new TimeZone(name, (match[1] === "-" ? seconds : -seconds) + 0, undefined);
}

/** The names of three letters in the IANA database. Intl knows others, which PostgreSQL does not. */
const SHORT_NAMES = new Set("cet eet est gmt hst met mst prc roc rok uct utc wet".split(" "));

function ianaZone(name: string): TimeZone | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(name)) return undefined;
  const isForeign = /^[a-z]{3}$/i.test(name)
    ? !SHORT_NAMES.has(name.toLowerCase())
    : /^(systemv\/|etc\/unknown$)/i.test(name);
  if (isForeign) return undefined;
  try {
    const formatter = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    // Intl renames some zones to their present link; the case of the asked name is what is to be shown.
    return new TimeZone(canonicalCase(name), undefined, (seconds) => offsetShown(formatter, seconds));
  } catch {
    return undefined;
  }
}

let casing: Map<string, string> | undefined;

function canonicalCase(name: string): string {
  casing ??= new Map(Intl.supportedValuesOf("timeZone").map((known) => [known.toLowerCase(), known]));
  const known = casing.get(name.toLowerCase());
  if (known !== undefined) return known;
  return /[A-Z]/.test(name) ? name : name.replace(/(^|[/_-])[a-z]/g, (part) => part.toUpperCase());
}
