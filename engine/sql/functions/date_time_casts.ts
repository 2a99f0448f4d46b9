/**
 * Conversions among date, time, timestamp, timestamptz and interval. Those from or to `timestamptz` depend on the
 * session's time zone and are therefore stable, not immutable.
 */
import {
  comparedTimestampFromDate,
  comparedTimestampTzFromDate,
  dateFromTimestamp,
  dateFromTimestampTz,
  instantInZone,
  localInZone,
  timeFromInterval,
  timeFromTimestamp,
  timestampFromDate,
  timestampTzFromDate,
} from "../../types/date_time.ts";
import { Interval } from "../../types/interval.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { type TimeZone, timeZone } from "../../types/time_zone.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import type { Conversion } from "./casts.ts";

/** A conversion that depends on the session's zone. */
// deno-lint-ignore no-explicit-any -- dates are numbers, timestamps mixed integers
function inZone(run: (value: any, zone: TimeZone) => SqlValue): Conversion {
  return { runIn: (context, value) => run(value, timeZone(context.timeZone)), volatility: "stable" };
}

/** The conversion of an operand of a comparison, where it differs from the one of a value. */
export function comparedDateTime(from: SqlType, to: SqlType): Conversion | undefined {
  switch (`${from.kind}>${to.kind}`) {
    case "date>timestamp":
      return { run: comparedTimestampFromDate };
    case "date>timestamptz":
      return inZone(comparedTimestampTzFromDate);
    case "timestamp>timestamptz":
      // An instant beyond all others is still in its place.
      return inZone((local: NumberOrBigint, zone) => zone.fromLocal(local));
    default:
      return undefined;
  }
}

/** The conversion between two types of date and time; undefined when there is none. */
export function dateTimeConversion(from: SqlType, to: SqlType): Conversion | undefined {
  switch (`${from.kind}>${to.kind}`) {
    case "date>timestamp":
      return { run: timestampFromDate };
    case "date>timestamptz":
      return inZone(timestampTzFromDate);
    case "timestamp>timestamptz":
      return inZone(instantInZone);
    case "timestamptz>timestamp":
      return inZone(localInZone);
    case "timestamptz>date":
      return inZone(dateFromTimestampTz);
    case "timestamptz>time":
      return {
        ...inZone((value: NumberOrBigint, zone) => timeFromTimestamp(zone.toLocal(value))),
        mayReturnNull: true,
      };
    case "timestamp>date":
      return { run: dateFromTimestamp };
    case "timestamp>time":
      return { run: timeFromTimestamp, mayReturnNull: true };
    case "time>interval":
      return { run: (value: number) => new Interval(0, 0, value) };
    case "interval>time":
      return { run: timeFromInterval };
    default:
      return undefined;
  }
}
