/**
 * Arithmetic with dates, times, timestamps and intervals. Adding months or days to a `timestamptz` moves the local
 * time of the session's zone, so those operators are stable, not immutable.
 */
import { checkTimestamp } from "../../types/calendar.ts";
import {
  addDays,
  addInterval,
  addIntervalTz,
  addToTime,
  isInfinite,
  subtractDates,
  subtractFromTime,
  subtractInterval,
  subtractIntervalTz,
  subtractTimes,
  subtractTimestamps,
  timestampFromDate,
} from "../../types/date_time.ts";
import type { Interval } from "../../types/interval.ts";
import { add } from "../../types/number_or_bigint.ts";
import { timeZone } from "../../types/time_zone.ts";
import type { NumberOrBigint } from "../../types/value.ts";
import type { EvaluationContext, FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload } from "./overload.ts";

const addition = { name: "+", category: "date/time", summary: "Sum." } as const;
const subtraction = { name: "-", category: "date/time", summary: "Difference." } as const;

function dateWithTime(date: number, time: number): NumberOrBigint {
  const start = timestampFromDate(date);
  return isInfinite(start) ? start : checkTimestamp(add(start, time));
}

const zoneAddition = (context: EvaluationContext, value: NumberOrBigint, interval: Interval) =>
  addIntervalTz(value, interval, timeZone(context.timeZone));

const zoneSubtraction = (context: EvaluationContext, value: NumberOrBigint, interval: Interval) =>
  subtractIntervalTz(value, interval, timeZone(context.timeZone));

/** An addition of two types and its mirror image. */
// deno-lint-ignore no-explicit-any -- the forms of the two types
function commutative(left: string, right: string, returns: string, run: (a: any, b: any) => any): Overload[] {
  return [
    { ...addition, takes: `${left}, ${right}`, returns, run },
    { ...addition, takes: `${right}, ${left}`, returns, run: (b, a) => run(a, b) },
  ];
}

const overloads: readonly Overload[] = [
  ...commutative("date", "i32", "date", addDays),
  ...commutative(
    "date",
    "interval",
    "timestamp",
    (date: number, interval: Interval) => addInterval(timestampFromDate(date), interval),
  ),
  ...commutative("date", "time", "timestamp", dateWithTime),
  ...commutative("time", "interval", "time", addToTime),
  ...commutative("timestamp", "interval", "timestamp", addInterval),
  {
    ...addition,
    takes: "timestamptz, interval",
    returns: "timestamptz",
    volatility: "stable",
    runIn: zoneAddition,
  },
  {
    ...addition,
    takes: "interval, timestamptz",
    returns: "timestamptz",
    volatility: "stable",
    runIn: (context, interval: Interval, value: NumberOrBigint) => zoneAddition(context, value, interval),
  },
  {
    ...addition,
    takes: "interval, interval",
    returns: "interval",
    run: (left: Interval, right: Interval) => left.add(right),
  },
  { ...subtraction, takes: "date, date", returns: "i32", run: subtractDates },
  {
    ...subtraction,
    takes: "date, i32",
    returns: "date",
    run: (date: number, days: number) => addDays(date, -days),
  },
  {
    ...subtraction,
    takes: "date, interval",
    returns: "timestamp",
    run: (date: number, interval: Interval) => subtractInterval(timestampFromDate(date), interval),
  },
  { ...subtraction, takes: "time, time", returns: "interval", run: subtractTimes },
  {
    ...subtraction,
    takes: "time, interval",
    returns: "time",
    run: subtractFromTime,
  },
  { ...subtraction, takes: "timestamp, timestamp", returns: "interval", run: subtractTimestamps },
  { ...subtraction, takes: "timestamptz, timestamptz", returns: "interval", run: subtractTimestamps },
  { ...subtraction, takes: "timestamp, interval", returns: "timestamp", run: subtractInterval },
  {
    ...subtraction,
    takes: "timestamptz, interval",
    returns: "timestamptz",
    volatility: "stable",
    runIn: zoneSubtraction,
  },
  {
    ...subtraction,
    takes: "interval, interval",
    returns: "interval",
    run: (left: Interval, right: Interval) => left.subtract(right),
  },
  {
    name: "-",
    category: "date/time",
    takes: "interval",
    returns: "interval",
    summary: "Negation.",
    run: (interval: Interval) => interval.negate(),
  },
  {
    name: "*",
    category: "date/time",
    takes: "interval, f64",
    returns: "interval",
    summary: "Product with a factor.",
    run: (interval: Interval, factor: number) => interval.multiply(factor),
  },
  {
    name: "*",
    category: "date/time",
    takes: "f64, interval",
    returns: "interval",
    summary: "Product with a factor.",
    run: (factor: number, interval: Interval) => interval.multiply(factor),
  },
  {
    name: "/",
    category: "date/time",
    takes: "interval, f64",
    returns: "interval",
    summary: "Quotient by a divisor.",
    run: (interval: Interval, divisor: number) => interval.divide(divisor),
  },
];

/** Operators on dates, times and intervals besides the comparisons. */
export const dateTimeOperators: readonly FunctionDefinition[] = overloads.map(defineFunction);
