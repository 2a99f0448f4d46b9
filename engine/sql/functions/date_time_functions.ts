/**
 * Functions on dates, times, timestamps and intervals. The present time is the transaction's (`now`) or the
 * statement's, which the context has; only `clock_timestamp` and `timeofday` ask further.
 */
import {
  addInterval,
  addIntervalTz,
  addToTime,
  age,
  binTimestamp,
  dateFromTimestampTz,
  extractFromDate,
  extractFromInterval,
  extractFromTime,
  extractFromTimestamp,
  extractFromTimestampTz,
  instantInZone,
  intervalPart,
  isInfinite,
  localInZone,
  makeDate,
  makeInterval,
  makeTime,
  makeTimestamp,
  timeFromTimestamp,
  timestampFromDate,
  timestampFromEpoch,
  timestampTzFromDate,
  truncateInterval,
  truncateTimestamp,
  truncateTimestampTz,
  zoneForConversion,
  zoneFromInterval,
  zoneOfConstructor,
} from "../../types/date_time.ts";
import { formatTimestampTz } from "../../types/date_time_format.ts";
import type { Decimal } from "../../types/decimal.ts";
import { Interval } from "../../types/interval.ts";
import { roundMicroseconds } from "../../types/interval_text.ts";
import { type TimeZone, timeZone } from "../../types/time_zone.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import type { EvaluationContext, FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload } from "./overload.ts";

const common = { category: "date/time" } as const;

function zoneOf(context: EvaluationContext): TimeZone {
  return timeZone(context.timeZone);
}

/** The local time of the transaction. */
function localNow(context: EvaluationContext): NumberOrBigint {
  return zoneOf(context).toLocal(context.transactionTimestamp);
}

/** A function of the present time, alone and with a number of digits of the seconds. */
function present(
  name: string,
  returns: string,
  summary: string,
  read: (context: EvaluationContext) => NumberOrBigint,
): Overload[] {
  const overload: Overload = { ...common, name, takes: "", returns, summary, volatility: "stable" };
  const rounded = (context: EvaluationContext, digits: number) =>
    roundMicroseconds(read(context), Math.max(0, Math.min(6, digits)));
  return [{ ...overload, runIn: read }, { ...overload, takes: "i32", runIn: rounded }];
}

const presentTimes: readonly Overload[] = [
  ...["now", "transaction_timestamp"].map((name): Overload => ({
    ...common,
    name,
    takes: "",
    returns: "timestamptz",
    volatility: "stable",
    raises: "nothing",
    summary: "When the transaction began.",
    runIn: (context) => context.transactionTimestamp,
    inline: () => "context.transactionTimestamp",
  })),
  ...present(
    "current_timestamp",
    "timestamptz",
    "When the transaction began.",
    (context) => context.transactionTimestamp,
  ).map((overload): Overload => ({ ...overload, raises: "nothing" })),
  ...present("localtimestamp", "timestamp", "When the transaction began, in local time.", localNow),
  ...["current_time", "localtime"].flatMap((name) =>
    present(
      name,
      "time",
      "Local time of day when the transaction began.",
      (context) => timeFromTimestamp(localNow(context)) ?? 0,
    )
  ),
  {
    ...common,
    name: "current_date",
    takes: "",
    returns: "date",
    volatility: "stable",
    summary: "Local date when the transaction began.",
    runIn: (context) => dateFromTimestampTz(context.transactionTimestamp, zoneOf(context)),
  },
  {
    ...common,
    name: "statement_timestamp",
    takes: "",
    returns: "timestamptz",
    volatility: "stable",
    summary: "When the statement began.",
    runIn: (context) => context.statementTimestamp,
  },
  {
    ...common,
    name: "clock_timestamp",
    takes: "",
    returns: "timestamptz",
    volatility: "volatile",
    summary: "The time now.",
    runIn: (context) => context.clockTimestamp(),
  },
  {
    ...common,
    name: "timeofday",
    takes: "",
    returns: "text",
    volatility: "volatile",
    summary: "The time now as text.",
    runIn: (context) =>
      formatTimestampTz(context.clockTimestamp(), zoneOf(context), { format: "Postgres", order: "MDY" }),
  },
];

// deno-lint-ignore no-explicit-any -- the form of the value follows from the key next to it
type Extract = (context: EvaluationContext, field: string, value: any) => Decimal | null;

const extracts: readonly (readonly [key: string, extract: Extract, stable: boolean])[] = [
  ["date", (_context, field, value: number) => extractFromDate(field, value), false],
  ["timestamp", (_context, field, value: NumberOrBigint) => extractFromTimestamp(field, value), false],
  [
    "timestamptz",
    (context, field, value: NumberOrBigint) => extractFromTimestampTz(field, value, zoneOf(context)),
    true,
  ],
  ["time", (_context, field, value: number) => extractFromTime(field, value), false],
  ["interval", (_context, field, value: Interval) => extractFromInterval(field, value), false],
];

const fields: readonly Overload[] = extracts.flatMap(([key, extract, stable]): Overload[] => {
  const volatility = stable ? "stable" : "immutable";
  return [
    {
      ...common,
      name: "extract",
      takes: `text, ${key}`,
      returns: "numeric",
      volatility,
      mayReturnNull: true,
      summary: "A field, written extract(field from value).",
      runIn: extract,
    },
    {
      ...common,
      name: "date_part",
      takes: `text, ${key}`,
      returns: "f64",
      volatility,
      mayReturnNull: true,
      summary: "A field as a floating-point number.",
      // Of a date it reads the timestamp at the date's start, so that all fields of a timestamp are there.
      runIn: key === "date"
        ? (_context, field: string, value: number) =>
          extractFromTimestamp(field, timestampFromDate(value))?.toNumber() ?? null
        : key === "interval"
        ? (_context, field: string, value: Interval) => intervalPart(field, value)
        : (context, field: string, value) => extract(context, field, value)?.toNumber() ?? null,
    },
  ];
});

const truncations: readonly Overload[] = [
  {
    ...common,
    name: "date_trunc",
    takes: "text, timestamp",
    returns: "timestamp",
    summary: "Cut to a field.",
    run: (field: string, value: NumberOrBigint) => truncateTimestamp(field, value),
  },
  {
    ...common,
    name: "date_trunc",
    takes: "text, timestamptz",
    returns: "timestamptz",
    volatility: "stable",
    summary: "Cut to a field, in local time.",
    runIn: (context, field: string, value: NumberOrBigint) =>
      truncateTimestampTz(field, value, zoneOf(context)),
  },
  {
    ...common,
    name: "date_trunc",
    takes: "text, timestamptz, text",
    returns: "timestamptz",
    summary: "Cut to a field, in the time of a zone.",
    run: (field: string, value: NumberOrBigint, zone: string) =>
      isInfinite(value) ? value : truncateTimestampTz(field, value, zoneForConversion(zone)),
  },
  {
    ...common,
    name: "date_trunc",
    takes: "text, interval",
    returns: "interval",
    summary: "Cut to a field.",
    run: truncateInterval,
  },
  ...["timestamp", "timestamptz"].map((key): Overload => ({
    ...common,
    name: "date_bin",
    takes: `interval, ${key}, ${key}`,
    returns: key,
    summary: "Start of the stride, counted from an origin, in which a time lies.",
    run: binTimestamp,
  })),
];

const ages: readonly Overload[] = [
  {
    ...common,
    name: "age",
    takes: "timestamp, timestamp",
    returns: "interval",
    summary: "Difference in years, months and days.",
    run: age,
  },
  {
    ...common,
    name: "age",
    takes: "timestamptz, timestamptz",
    returns: "interval",
    volatility: "stable",
    summary: "Difference in years, months and days.",
    runIn: (context, left: NumberOrBigint, right: NumberOrBigint) => {
      const zone = zoneOf(context);
      return age(zone.toLocal(left), zone.toLocal(right));
    },
  },
  {
    ...common,
    name: "age",
    takes: "timestamp",
    returns: "interval",
    volatility: "stable",
    summary: "Difference to the current date.",
    runIn: (context, value: NumberOrBigint) => age(startOfToday(context), value),
  },
  {
    ...common,
    name: "age",
    takes: "timestamptz",
    returns: "interval",
    volatility: "stable",
    summary: "Difference to the current date.",
    runIn: (context, value: NumberOrBigint) => age(startOfToday(context), zoneOf(context).toLocal(value)),
  },
];

function startOfToday(context: EvaluationContext): NumberOrBigint {
  const zone = zoneOf(context);
  return zone.toLocal(timestampTzFromDate(dateFromTimestampTz(context.transactionTimestamp, zone), zone));
}

const timestampParts = "i32, i32, i32, i32, i32, f64";

function makeLocal(
  year: number,
  month: number,
  day: number,
  hours: number,
  minutes: number,
  seconds: number,
): NumberOrBigint {
  return makeTimestamp({ year, month, day, hours, minutes, seconds });
}

const intervalParts = ["i32", "i32", "i32", "i32", "i32", "i32", "f64"];

const constructors: readonly Overload[] = [
  {
    ...common,
    name: "make_date",
    takes: "i32, i32, i32",
    returns: "date",
    summary: "A date of its parts.",
    run: makeDate,
  },
  {
    ...common,
    name: "make_time",
    takes: "i32, i32, f64",
    returns: "time",
    summary: "A time of its parts.",
    run: makeTime,
  },
  {
    ...common,
    name: "make_timestamp",
    takes: timestampParts,
    returns: "timestamp",
    summary: "A timestamp of its parts.",
    run: makeLocal,
  },
  {
    ...common,
    name: "make_timestamptz",
    takes: timestampParts,
    returns: "timestamptz",
    volatility: "stable",
    summary: "An instant of the parts of its local time.",
    runIn: (context, ...parts: [number, number, number, number, number, number]) =>
      instantInZone(makeLocal(...parts), zoneOf(context)),
  },
  {
    ...common,
    name: "make_timestamptz",
    takes: `${timestampParts}, text`,
    returns: "timestamptz",
    summary: "An instant of the parts of its time in a zone.",
    run: (...args: [number, number, number, number, number, number, string]) => {
      const [year, month, day, hours, minutes, seconds, zone] = args;
      return instantInZone(makeLocal(year, month, day, hours, minutes, seconds), zoneOfConstructor(zone));
    },
  },
  ...Array.from({ length: intervalParts.length + 1 }, (_, count): Overload => ({
    ...common,
    name: "make_interval",
    takes: intervalParts.slice(0, count).join(", "),
    returns: "interval",
    summary: "An interval of years, months, weeks, days, hours, minutes and seconds.",
    run: (years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0) =>
      makeInterval({ years, months, weeks, days, hours, minutes, seconds }),
  })),
  {
    ...common,
    name: "justify_hours",
    takes: "interval",
    returns: "interval",
    summary: "24 hours become a day.",
    run: (interval: Interval) => interval.justifyHours(),
  },
  {
    ...common,
    name: "justify_days",
    takes: "interval",
    returns: "interval",
    summary: "30 days become a month.",
    run: (interval: Interval) => interval.justifyDays(),
  },
  {
    ...common,
    name: "justify_interval",
    takes: "interval",
    returns: "interval",
    summary: "24 hours become a day, 30 days a month, and the signs agree.",
    run: (interval: Interval) => interval.justify(),
  },
  {
    ...common,
    name: "to_timestamp",
    takes: "f64",
    returns: "timestamptz",
    summary: "The instant of seconds since 1970-01-01 UTC.",
    run: timestampFromEpoch,
  },
  ...["date", "timestamp", "timestamptz"].map((takes): Overload => ({
    ...common,
    name: "isfinite",
    takes,
    returns: "bool",
    summary: "Whether a time is not infinite.",
    run: (value: NumberOrBigint) => value !== Infinity && value !== -Infinity,
    inline: ([value]) => `(${value} !== Infinity && ${value} !== -Infinity)`,
  })),
  {
    ...common,
    name: "isfinite",
    takes: "interval",
    returns: "bool",
    summary: "Whether an interval is not infinite; always.",
    run: () => true,
  },
];

/** AT TIME ZONE with a zone given as text or interval. */
function zoneConversions<Zone>(key: string, find: (zone: Zone) => TimeZone): Overload[] {
  return [
    {
      ...common,
      name: "timezone",
      takes: `${key}, timestamp`,
      returns: "timestamptz",
      summary: "The instant of a local time in a zone (AT TIME ZONE).",
      run: (zone: Zone, value: NumberOrBigint) =>
        isInfinite(value) ? value : instantInZone(value, find(zone)),
    },
    {
      ...common,
      name: "timezone",
      takes: `${key}, timestamptz`,
      returns: "timestamp",
      summary: "The local time in a zone (AT TIME ZONE).",
      run: (zone: Zone, value: NumberOrBigint) => isInfinite(value) ? value : localInZone(value, find(zone)),
    },
  ];
}

const zones: readonly Overload[] = [
  ...zoneConversions("text", zoneForConversion),
  ...zoneConversions("interval", zoneFromInterval),
];

type Point = NumberOrBigint | null;

/** SQL's OVERLAPS over half-open periods; a period may be given backwards, or by one point when the other is NULL. */
function overlap(start1: Point, end1: Point, start2: Point, end2: Point): boolean | null {
  const first = ordered(start1, end1);
  const second = ordered(start2, end2);
  if (first === null || second === null) return null;
  const [s1, e1] = first;
  const [s2, e2] = second;
  if (s1 > s2) {
    if (e2 === null) return null;
    if (s1 < e2) return true;
    return e1 === null ? null : false;
  }
  if (s1 < s2) {
    if (e1 === null) return null;
    if (s2 < e1) return true;
    return e2 === null ? null : false;
  }
  return e1 === null || e2 === null ? null : true;
}

function ordered(start: Point, end: Point): readonly [NumberOrBigint, Point] | null {
  if (start === null) return end === null ? null : [end, null];
  if (end === null) return [start, null];
  return start > end ? [end, start] : [start, end];
}

function overlaps(
  key: string,
  plus: (context: EvaluationContext, point: NumberOrBigint, length: Interval) => NumberOrBigint,
): Overload[] {
  const shared = {
    ...common,
    name: "overlaps",
    returns: "bool",
    strict: false,
    summary: "Whether two periods overlap, written (a, b) OVERLAPS (c, d).",
    volatility: key === "timestamptz" ? "stable" : "immutable",
  } as const;
  const end = (context: EvaluationContext, start: Point, value: SqlValue): Point => {
    if (value instanceof Interval) return start === null ? null : plus(context, start, value);
    return typeof value === "number" || typeof value === "bigint" ? value : null;
  };
  return [[key, key], [key, "interval"], ["interval", key], ["interval", "interval"]].map((
    [first, second],
  ) => ({
    ...shared,
    takes: `${key}, ${first}, ${key}, ${second}`,
    runIn: (context, start1: Point, end1: SqlValue, start2: Point, end2: SqlValue) =>
      overlap(start1, end(context, start1, end1), start2, end(context, start2, end2)),
  }));
}

const periods: readonly Overload[] = [
  ...overlaps("time", (_context, point, length) => addToTime(Number(point), length)),
  ...overlaps("timestamp", (_context, point, length) => addInterval(point, length)),
  ...overlaps("timestamptz", (context, point, length) => addIntervalTz(point, length, zoneOf(context))),
];

/** Functions on dates and times. */
export const dateTimeFunctions: readonly FunctionDefinition[] = [
  ...presentTimes,
  ...fields,
  ...truncations,
  ...ages,
  ...constructors,
  ...zones,
  ...periods,
].map(defineFunction);
