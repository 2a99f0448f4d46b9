/**
 * Conversions among date, time, timestamp, timestamptz and interval. Those from or to `timestamptz` depend on the
 * session's time zone and are therefore stable, not immutable.
 */
import type { SqlType } from "../../types/sql_type.ts";
import type { MixedInteger } from "../../types/value.ts";
import type { Interval } from "../../types/interval.ts";
import {
  dateFromTimestamp,
  intervalFromTime,
  timeFromInterval,
  timeFromTimestamp,
  timestampFromDate,
  timestampFromTimestamptz,
  timestamptzFromTimestamp,
} from "./date_time_conversion.ts";
import type { Conversion } from "./casts.ts";

/** The conversion between two types of date and time; undefined when there is none. */
export function dateTimeConversion(from: SqlType, to: SqlType): Conversion | undefined {
  switch (`${from.kind}>${to.kind}`) {
    case "date>timestamp":
      return { run: timestampFromDate };
    case "date>timestamptz":
      return {
        runIn: (context, value: number) =>
          timestamptzFromTimestamp(timestampFromDate(value), context.timeZone),
        volatility: "stable",
      };
    case "timestamp>timestamptz":
      return {
        runIn: (context, value: MixedInteger) => timestamptzFromTimestamp(value, context.timeZone),
        volatility: "stable",
      };
    case "timestamptz>timestamp":
      return {
        runIn: (context, value: MixedInteger) => timestampFromTimestamptz(value, context.timeZone),
        volatility: "stable",
      };
    case "timestamptz>date":
      return {
        runIn: (context, value: MixedInteger) =>
          dateFromTimestamp(timestampFromTimestamptz(value, context.timeZone)),
        volatility: "stable",
      };
    case "timestamptz>time":
      return {
        runIn: (context, value: MixedInteger) =>
          timeFromTimestamp(timestampFromTimestamptz(value, context.timeZone)),
        volatility: "stable",
        mayReturnNull: true,
      };
    case "timestamp>date":
      return { run: dateFromTimestamp };
    case "timestamp>time":
      return { run: timeFromTimestamp, mayReturnNull: true };
    case "time>interval":
      return { run: intervalFromTime };
    case "interval>time":
      return { run: (value: Interval) => timeFromInterval(value) };
    default:
      return undefined;
  }
}
