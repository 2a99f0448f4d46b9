/**
 * Date and time items of SQL/JSON paths: what `.datetime()` reads, how such items compare, and their JSON text.
 *
 * An item keeps the offset that it was written with. Items with and without time zone compare only where the
 * session's time zone may be asked (the functions with `_tz`); elsewhere that is an error even for silent callers, as
 * in PostgreSQL.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { MICROSECONDS_PER_SECOND } from "./calendar.ts";
import { dateFromTimestamp, timestampFromDate } from "./date_time.ts";
import { formatDate, formatTime, formatTimestamp } from "./date_time_format.ts";
import { add, compareNumbersOrBigints, subtract } from "./number_or_bigint.ts";
import { readDateTimeTemplate } from "./parse_date_time_template.ts";
import type { TimeZone } from "./time_zone.ts";
import type { NumberOrBigint } from "./value.ts";

/** SQL names of the types, which `.type()` answers. */
const TYPE_NAMES = {
  date: "date",
  time: "time without time zone",
  timetz: "time with time zone",
  timestamp: "timestamp without time zone",
  timestamptz: "timestamp with time zone",
} as const;

/** What a date and time item is. */
export type PathDateTimeType = keyof typeof TYPE_NAMES;

/** The session's time zone, and its now, which decides the offset of a time without date. */
export interface PathTimeZone {
  readonly zone: TimeZone;
  readonly now: number;
}

/** An item that `.datetime()` made. */
export class PathDateTime {
  readonly type: PathDateTimeType;
  /** Days of a date, microseconds of the others; of a timestamptz in UTC, of a timetz local. */
  readonly value: NumberOrBigint;
  /** Seconds east of Greenwich, for the types with time zone. */
  readonly offset: number;

  constructor(type: PathDateTimeType, value: NumberOrBigint, offset: number) {
    this.type = type;
    this.value = value;
    this.offset = offset;
  }

  get typeName(): string {
    return TYPE_NAMES[this.type];
  }

  /** In the form of XML Schema, which PostgreSQL gives to dates and times in JSON. */
  toString(): string {
    switch (this.type) {
      case "date":
        return formatDate(Number(this.value));
      case "time":
        return formatTime(Number(this.value));
      case "timetz":
        return formatTime(Number(this.value)) + offsetText(this.offset);
      case "timestamp":
        return formatTimestamp(this.value).replace(" ", "T");
      case "timestamptz": {
        const local = add(this.value, this.offset * MICROSECONDS_PER_SECOND);
        const [, text = "", era = ""] = /^(.*?)( BC)?$/.exec(formatTimestamp(local).replace(" ", "T")) ?? [];
        return text + offsetText(this.offset) + era;
      }
    }
  }
}

function offsetText(seconds: number): string {
  const size = Math.abs(seconds);
  const parts = [Math.floor(size / 3600), Math.floor(size / 60) % 60];
  if (size % 60 !== 0) parts.push(size % 60);
  return (seconds < 0 ? "-" : "+") + parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/** What `.datetime()` without a template reads, in this order. */
const FORMATS: readonly string[] = [
  "yyyy-mm-dd",
  ...["TZH:TZM", "TZH"].flatMap((zone) => [`HH24:MI:SS.US${zone}`, `HH24:MI:SS${zone}`]),
  "HH24:MI:SS.US",
  "HH24:MI:SS",
  ...[" ", '"T"'].flatMap((between) =>
    ["TZH:TZM", "TZH", ""].flatMap((zone) =>
      [".US", ""].map((fraction) => `yyyy-mm-dd${between}HH24:MI:SS${fraction}${zone}`)
    )
  ),
];

/** Reads a text by a template, or by the standard's forms. Raises 22007 and 22008, or 22031 when no form fits. */
export function readPathDateTime(text: string, template: string | null): PathDateTime {
  if (template !== null) return itemOf(text, template);
  for (const format of FORMATS) {
    try {
      return itemOf(text, format);
    } catch (error) {
      // Not of this form: perhaps of the next one.
      if (!(error instanceof DatabaseError)) throw error;
    }
  }
  throw new DatabaseError(
    SQLSTATE.invalidSqlJsonDatetime,
    `datetime format is not recognized: "${text}"`,
    { hint: "Use a datetime template argument to specify the input data format." },
  );
}

function itemOf(text: string, template: string): PathDateTime {
  const { days, time, offset } = readDateTimeTemplate(text, template);
  if (days === null) {
    return offset === null
      ? new PathDateTime("time", time ?? 0, 0)
      : new PathDateTime("timetz", time ?? 0, offset);
  }
  if (time === null) return new PathDateTime("date", days, 0);
  const local = add(timestampFromDate(days), time);
  return offset === null
    ? new PathDateTime("timestamp", local, 0)
    : new PathDateTime("timestamptz", subtract(local, offset * MICROSECONDS_PER_SECOND), offset);
}

/** The order of two items; undefined for those that do not compare. Raises 0A000 where a time zone is needed. */
export function comparePathDateTimes(
  left: PathDateTime,
  right: PathDateTime,
  session: PathTimeZone | null,
): number | undefined {
  const isTime = (item: PathDateTime): boolean => item.type === "time" || item.type === "timetz";
  if (isTime(left) !== isTime(right)) return undefined;
  if (left.type === right.type && left.type !== "timetz") {
    return compareNumbersOrBigints(left.value, right.value);
  }
  if (isTime(left)) {
    const first = withOffset(left, session), second = withOffset(right, session);
    const utc = (item: PathDateTime): NumberOrBigint =>
      subtract(item.value, item.offset * MICROSECONDS_PER_SECOND);
    // Times at the same instant are ordered by their zones, from east to west.
    return compareNumbersOrBigints(utc(first), utc(second)) ||
      compareNumbersOrBigints(second.offset, first.offset);
  }
  const isZoned = left.type === "timestamptz" || right.type === "timestamptz";
  return compareNumbersOrBigints(instantOf(left, isZoned, session), instantOf(right, isZoned, session));
}

function withOffset(item: PathDateTime, session: PathTimeZone | null): PathDateTime {
  if (item.type === "timetz") return item;
  if (session === null) throw zoneNeeded("time", "timetz");
  const today = dateFromTimestamp(session.zone.toLocal(session.now));
  const local = add(timestampFromDate(today), item.value);
  return new PathDateTime("timetz", item.value, session.zone.offsetAtLocal(local));
}

function instantOf(item: PathDateTime, isZoned: boolean, session: PathTimeZone | null): NumberOrBigint {
  if (item.type === "timestamptz") return item.value;
  if (isZoned && session === null) throw zoneNeeded(item.type, "timestamptz");
  const local = item.type === "date" ? timestampFromDate(Number(item.value)) : item.value;
  return isZoned && session !== null ? session.zone.fromLocal(local) : local;
}

function zoneNeeded(from: string, to: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.featureNotSupported,
    `cannot convert value from ${from} to ${to} without time zone usage`,
    { hint: "Use *_tz() function for time zone support." },
  );
}
