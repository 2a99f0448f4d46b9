/**
 * Arithmetic with timestamps and intervals, truncation and fields.
 * The expected values are PostgreSQL 15's.
 */
import assert from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import * as dateTime from "./date_time.ts";
import { formatTimestamp, formatTimestampTz } from "./date_time_format.ts";
import { formatInterval, parseInterval } from "./interval_text.ts";
import { DEFAULT_TEXT_OPTIONS, parseText } from "./text_io.ts";
import { timeZone } from "./time_zone.ts";
import type { NumberOrBigint } from "./value.ts";

/** The answer of a function, or the code and message of the error it raises. */
function outcome(run: () => string | null): string {
  try {
    return run() ?? "NULL";
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const detail = error.detail === undefined ? "" : ` D: ${error.detail}`;
    return `ERROR ${error.code}: ${error.message}${detail}`;
  }
}

/** Operation, operands, TimeZone, result or error. */
const CASES: readonly (readonly [string, string, string, string, string])[] = [
  ["ts+", "2020-01-01 12:00", "1 mon -1 day +00:00:01", "UTC", "2020-01-31 12:00:01"],
  ["ts+", "2004-08-31 05:06:07", "1 mon -1 day +00:00:01", "UTC", "2004-09-29 05:06:08"],
  ["ts+", "2000-02-29 00:00:00", "1 mon", "UTC", "2000-03-29 00:00:00"],
  ["ts+", "2000-02-29 00:00:00", "1 day", "UTC", "2000-03-01 00:00:00"],
  ["ts+", "2001-02-16 20:38:40.123456", "25 hours", "UTC", "2001-02-17 21:38:40.123456"],
  ["ts+", "0044-03-15 01:02:03 BC", "1 mon", "UTC", "0044-04-15 01:02:03 BC"],
  ["ts+", "2000-02-29 00:00:00", "1 year", "UTC", "2001-02-28 00:00:00"],
  ["ts+", "2004-08-31 05:06:07", "1.5 days", "UTC", "2004-09-01 17:06:07"],
  ["ts+", "0044-03-15 01:02:03 BC", "1 day", "UTC", "0044-03-16 01:02:03 BC"],
  ["ts+", "0044-03-15 01:02:03 BC", "1.5 days", "UTC", "0044-03-16 13:02:03 BC"],
  ["ts+", "2001-02-16 20:38:40.123456", "1 day", "UTC", "2001-02-17 20:38:40.123456"],
  ["ts+", "2020-01-01 12:00", "1 mon", "UTC", "2020-02-01 12:00:00"],
  ["ts+", "2000-02-29 00:00:00", "1 mon -1 day +00:00:01", "UTC", "2000-03-28 00:00:01"],
  ["ts+", "0001-01-01 00:00", "-3 days -4 hours", "UTC", "0001-12-28 20:00:00 BC"],
  ["ts+", "1900-01-01", "13 months", "UTC", "1901-02-01 00:00:00"],
  ["ts+", "0001-01-01 00:00", "1 day", "UTC", "0001-01-02 00:00:00"],
  ["ts+", "1900-01-01", "1 mon -1 day +00:00:01", "UTC", "1900-01-31 00:00:01"],
  ["ts+", "2001-02-16 20:38:40.123456", "1 year", "UTC", "2002-02-16 20:38:40.123456"],
  ["ts+", "0001-01-01 00:00", "1 year", "UTC", "0002-01-01 00:00:00"],
  ["ts+", "1999-12-31 23:59:59.999999", "1.5 days", "UTC", "2000-01-02 11:59:59.999999"],
  ["tz+", "2021-03-13 12:00", "1 mon", "America/New_York", "2021-04-13 12:00:00-04"],
  ["tz+", "2021-03-13 12:00", "1 year", "America/New_York", "2022-03-13 12:00:00-04"],
  ["tz+", "2021-03-13 12:00", "-3 days -4 hours", "America/New_York", "2021-03-10 08:00:00-05"],
  ["tz+", "2021-03-13 12:00", "13 months", "America/New_York", "2022-04-13 12:00:00-04"],
  ["tz+", "2021-03-13 12:00", "1.5 days", "America/New_York", "2021-03-15 00:00:00-04"],
  ["tz+", "2021-11-06 12:00", "1 mon", "America/New_York", "2021-12-06 12:00:00-05"],
  ["tz+", "2021-11-06 12:00", "1 year", "America/New_York", "2022-11-06 12:00:00-05"],
  ["tz+", "2021-11-06 12:00", "-3 days -4 hours", "America/New_York", "2021-11-03 08:00:00-04"],
  ["tz+", "2021-11-06 12:00", "13 months", "America/New_York", "2022-12-06 12:00:00-05"],
  ["tz+", "2021-11-06 12:00", "1.5 days", "America/New_York", "2021-11-08 00:00:00-05"],
  ["tz+", "2021-03-14 00:30", "1 mon", "America/New_York", "2021-04-14 00:30:00-04"],
  ["tz+", "2021-03-14 00:30", "1 year", "America/New_York", "2022-03-14 00:30:00-04"],
  ["tz+", "2021-03-14 00:30", "-3 days -4 hours", "America/New_York", "2021-03-10 20:30:00-05"],
  ["tz+", "2021-03-14 00:30", "13 months", "America/New_York", "2022-04-14 00:30:00-04"],
  ["tz+", "2021-03-14 00:30", "1.5 days", "America/New_York", "2021-03-15 12:30:00-04"],
  ["tz+", "2021-01-31 10:00", "1 mon", "America/New_York", "2021-02-28 10:00:00-05"],
  ["tz+", "2021-01-31 10:00", "1 year", "America/New_York", "2022-01-31 10:00:00-05"],
  ["tz+", "2021-01-31 10:00", "-3 days -4 hours", "America/New_York", "2021-01-28 06:00:00-05"],
  ["tz+", "2021-01-31 10:00", "13 months", "America/New_York", "2022-02-28 10:00:00-05"],
  ["tz+", "2021-01-31 10:00", "1.5 days", "America/New_York", "2021-02-01 22:00:00-05"],
  ["ts-", "0001-01-01 00:00", "1900-01-01", "UTC", "-693595 days"],
  ["ts-", "2023-07-04 00:00:00", "2000-02-29 00:00:00", "UTC", "8526 days"],
  ["ts-", "0001-01-01 00:00", "2023-07-04 00:00:00", "UTC", "-738704 days"],
  ["ts-", "2000-02-29 00:00:00", "2020-01-01 12:00", "UTC", "-7246 days -12:00:00"],
  ["ts-", "1999-12-31 23:59:59.999999", "1900-01-01", "UTC", "36523 days 23:59:59.999999"],
  ["ts-", "2000-02-29 00:00:00", "0044-03-15 01:02:03 BC", "UTC", "746175 days 22:57:57"],
  ["ts-", "2001-02-16 20:38:40.123456", "0001-01-01 00:00", "UTC", "730531 days 20:38:40.123456"],
  ["ts-", "0001-01-01 00:00", "2001-02-16 20:38:40.123456", "UTC", "-730531 days -20:38:40.123456"],
  ["ts-", "2020-01-01 12:00", "2020-01-01 12:00", "UTC", "00:00:00"],
  ["ts-", "2020-01-01 12:00", "2000-02-29 00:00:00", "UTC", "7246 days 12:00:00"],
  ["ts-", "0044-03-15 01:02:03 BC", "1999-12-31 23:59:59.999999", "UTC", "-746116 days -22:57:56.999999"],
  ["ts-", "1999-12-31 23:59:59.999999", "2000-02-29 00:00:00", "UTC", "-59 days -00:00:00.000001"],
  ["ts-", "2004-08-31 05:06:07", "2004-08-31 05:06:07", "UTC", "00:00:00"],
  ["age", "0044-03-15 01:02:03 BC", "2020-01-01 12:00", "UTC", "-2062 years -9 mons -17 days -10:57:57"],
  ["age", "2023-07-04 00:00:00", "2000-02-29 00:00:00", "UTC", "23 years 4 mons 4 days"],
  ["age", "0001-01-01 00:00", "2020-01-01 12:00", "UTC", "-2019 years -12:00:00"],
  ["age", "2020-01-01 12:00", "0001-01-01 00:00", "UTC", "2019 years 12:00:00"],
  [
    "age",
    "2020-01-01 12:00",
    "2001-02-16 20:38:40.123456",
    "UTC",
    "18 years 10 mons 12 days 15:21:19.876544",
  ],
  ["age", "2000-02-29 00:00:00", "1900-01-01", "UTC", "100 years 1 mon 28 days"],
  ["age", "2004-08-31 05:06:07", "2023-07-04 00:00:00", "UTC", "-18 years -10 mons -3 days -18:53:53"],
  ["age", "2023-07-04 00:00:00", "2004-08-31 05:06:07", "UTC", "18 years 10 mons 3 days 18:53:53"],
  ["age", "1900-01-01", "2023-07-04 00:00:00", "UTC", "-123 years -6 mons -3 days"],
  [
    "age",
    "2001-02-16 20:38:40.123456",
    "1999-12-31 23:59:59.999999",
    "UTC",
    "1 year 1 mon 15 days 20:38:40.123457",
  ],
  [
    "age",
    "2001-02-16 20:38:40.123456",
    "2020-01-01 12:00",
    "UTC",
    "-18 years -10 mons -12 days -15:21:19.876544",
  ],
  ["age", "0044-03-15 01:02:03 BC", "2023-07-04 00:00:00", "UTC", "-2066 years -3 mons -19 days -22:57:57"],
  ["age", "2004-08-31 05:06:07", "2004-08-31 05:06:07", "UTC", "00:00:00"],
  ["age", "1999-12-31 23:59:59.999999", "1999-12-31 23:59:59.999999", "UTC", "00:00:00"],
  ["age", "2020-01-01 12:00", "2023-07-04 00:00:00", "UTC", "-3 years -6 mons -2 days -12:00:00"],
  ["age", "2023-07-04 00:00:00", "2020-01-01 12:00", "UTC", "3 years 6 mons 2 days 12:00:00"],
  ["age", "2020-01-01 12:00", "2000-02-29 00:00:00", "UTC", "19 years 10 mons 1 day 12:00:00"],
  ["age", "1900-01-01", "2004-08-31 05:06:07", "UTC", "-104 years -7 mons -30 days -05:06:07"],
  ["age", "2000-02-29 00:00:00", "2023-07-04 00:00:00", "UTC", "-23 years -4 mons -4 days"],
  [
    "age",
    "2004-08-31 05:06:07",
    "2001-02-16 20:38:40.123456",
    "UTC",
    "3 years 6 mons 14 days 08:27:26.876544",
  ],
  ["trunc", "month", "infinity", "UTC", "infinity"],
  ["trunc", "century", "2020-01-01 12:00", "UTC", "2001-01-01 00:00:00"],
  ["trunc", "year", "2023-07-04 00:00:00", "UTC", "2023-01-01 00:00:00"],
  ["trunc", "microseconds", "2004-08-31 05:06:07", "UTC", "2004-08-31 05:06:07"],
  ["trunc", "year", "2001-02-16 20:38:40.123456", "UTC", "2001-01-01 00:00:00"],
  ["trunc", "second", "infinity", "UTC", "infinity"],
  [
    "trunc",
    "dow",
    "2023-07-04 00:00:00",
    "UTC",
    'ERROR 22023: unit "dow" not recognized for type timestamp without time zone',
  ],
  ["trunc", "month", "0044-03-15 01:02:03 BC", "UTC", "0044-03-01 00:00:00 BC"],
  ["trunc", "week", "0044-03-15 01:02:03 BC", "UTC", "0044-03-11 00:00:00 BC"],
  ["trunc", "decade", "2001-02-16 20:38:40.123456", "UTC", "2000-01-01 00:00:00"],
  ["trunc", "second", "2001-02-16 20:38:40.123456", "UTC", "2001-02-16 20:38:40"],
  [
    "trunc",
    "dow",
    "2004-08-31 05:06:07",
    "UTC",
    'ERROR 22023: unit "dow" not recognized for type timestamp without time zone',
  ],
  ["trunc", "month", "2000-02-29 00:00:00", "UTC", "2000-02-01 00:00:00"],
  ["trunc", "century", "2001-02-16 20:38:40.123456", "UTC", "2001-01-01 00:00:00"],
  ["trunc", "decade", "1900-01-01", "UTC", "1900-01-01 00:00:00"],
  ["trunc", "hour", "2004-08-31 05:06:07", "UTC", "2004-08-31 05:00:00"],
  ["trunc", "century", "0044-03-15 01:02:03 BC", "UTC", "0100-01-01 00:00:00 BC"],
  [
    "trunc",
    "isoyear",
    "1900-01-01",
    "UTC",
    'ERROR 22023: unit "isoyear" not recognized for type timestamp without time zone',
  ],
  ["trunc", "milliseconds", "2001-02-16 20:38:40.123456", "UTC", "2001-02-16 20:38:40.123"],
  ["trunc", "millennium", "2001-02-16 20:38:40.123456", "UTC", "2001-01-01 00:00:00"],
  ["trunc", "quarter", "2020-01-01 12:00", "UTC", "2020-01-01 00:00:00"],
  ["trunc", "microseconds", "2000-02-29 00:00:00", "UTC", "2000-02-29 00:00:00"],
  [
    "trunc",
    "foo",
    "1900-01-01",
    "UTC",
    'ERROR 22023: unit "foo" not recognized for type timestamp without time zone',
  ],
  ["trunc", "second", "0044-03-15 01:02:03 BC", "UTC", "0044-03-15 01:02:03 BC"],
  ["trunc", "minute", "1900-01-01", "UTC", "1900-01-01 00:00:00"],
  ["trunc", "milliseconds", "2023-07-04 00:00:00", "UTC", "2023-07-04 00:00:00"],
  ["trunc", "week", "2023-07-04 00:00:00", "UTC", "2023-07-03 00:00:00"],
  ["trunc", "month", "2023-07-04 00:00:00", "UTC", "2023-07-01 00:00:00"],
  ["trunc", "hour", "2001-02-16 20:38:40.123456", "UTC", "2001-02-16 20:00:00"],
  [
    "trunc",
    "dow",
    "1999-12-31 23:59:59.999999",
    "UTC",
    'ERROR 22023: unit "dow" not recognized for type timestamp without time zone',
  ],
  [
    "trunctz",
    "foo",
    "2021-03-14 10:00",
    "America/New_York",
    'ERROR 22023: unit "foo" not recognized for type timestamp with time zone',
  ],
  [
    "trunctz",
    "isoyear",
    "2021-11-07 05:30+00",
    "America/New_York",
    'ERROR 22023: unit "isoyear" not recognized for type timestamp with time zone',
  ],
  ["trunctz", "year", "2021-11-07 06:30+00", "America/New_York", "2021-01-01 00:00:00-05"],
  ["trunctz", "quarter", "2021-11-07 05:30+00", "America/New_York", "2021-10-01 00:00:00-04"],
  [
    "trunctz",
    "dow",
    "2021-11-07 05:30+00",
    "America/New_York",
    'ERROR 22023: unit "dow" not recognized for type timestamp with time zone',
  ],
  ["trunctz", "second", "2021-03-14 10:00", "America/New_York", "2021-03-14 10:00:00-04"],
  ["trunctz", "millennium", "2021-11-07 05:30+00", "America/New_York", "2001-01-01 00:00:00-05"],
  ["trunctz", "hour", "2021-03-14 10:00", "America/New_York", "2021-03-14 10:00:00-04"],
  ["trunctz", "millennium", "2021-03-14 10:00", "America/New_York", "2001-01-01 00:00:00-05"],
  ["trunctz", "milliseconds", "2021-11-07 06:30+00", "America/New_York", "2021-11-07 01:30:00-05"],
  ["trunctz", "minute", "2021-11-07 05:30+00", "America/New_York", "2021-11-07 01:30:00-04"],
  ["trunctz", "microseconds", "2021-11-07 05:30+00", "America/New_York", "2021-11-07 01:30:00-04"],
  ["trunctz", "microseconds", "2021-03-14 10:00", "America/New_York", "2021-03-14 10:00:00-04"],
  ["trunctz", "decade", "2021-11-07 05:30+00", "America/New_York", "2020-01-01 00:00:00-05"],
  ["trunctz", "month", "2021-11-07 06:30+00", "America/New_York", "2021-11-01 00:00:00-04"],
  ["trunciv", "year", "-1234 months -17 days -25:26:27.891234", "UTC", "-102 years"],
  [
    "trunciv",
    "milliseconds",
    "1234 months 17 days 25:26:27.891234",
    "UTC",
    "102 years 10 mons 17 days 25:26:27.891",
  ],
  ["trunciv", "minute", "1234 months 17 days 25:26:27.891234", "UTC", "102 years 10 mons 17 days 25:26:00"],
  [
    "trunciv",
    "week",
    "1234 months 17 days 25:26:27.891234",
    "UTC",
    'ERROR 0A000: unit "week" not supported for type interval D: Months usually have fractional weeks.',
  ],
  ["trunciv", "decade", "1234 months 17 days 25:26:27.891234", "UTC", "100 years"],
  ["trunciv", "day", "-1234 months -17 days -25:26:27.891234", "UTC", "-102 years -10 mons -17 days"],
  ["trunciv", "century", "1234 months 17 days 25:26:27.891234", "UTC", "100 years"],
  [
    "trunciv",
    "milliseconds",
    "-1234 months -17 days -25:26:27.891234",
    "UTC",
    "-102 years -10 mons -17 days -25:26:27.891",
  ],
  [
    "trunciv",
    "week",
    "-1234 months -17 days -25:26:27.891234",
    "UTC",
    'ERROR 0A000: unit "week" not supported for type interval D: Months usually have fractional weeks.',
  ],
  ["trunciv", "month", "1234 months 17 days 25:26:27.891234", "UTC", "102 years 10 mons"],
  ["trunciv", "year", "1234 months 17 days 25:26:27.891234", "UTC", "102 years"],
  [
    "trunciv",
    "microseconds",
    "-1234 months -17 days -25:26:27.891234",
    "UTC",
    "-102 years -10 mons -17 days -25:26:27.891234",
  ],
  [
    "trunciv",
    "isoyear",
    "-1234 months -17 days -25:26:27.891234",
    "UTC",
    'ERROR 22023: unit "isoyear" not recognized for type interval',
  ],
  ["trunciv", "day", "1234 months 17 days 25:26:27.891234", "UTC", "102 years 10 mons 17 days"],
  ["trunciv", "decade", "-1234 months -17 days -25:26:27.891234", "UTC", "-100 years"],
  ["extract", "isodow", "0001-01-01 00:00", "UTC", "1"],
  [
    "extract",
    "foo",
    "1999-12-31 23:59:59.999999",
    "UTC",
    'ERROR 22023: unit "foo" not recognized for type timestamp without time zone',
  ],
  ["extract", "day", "1999-12-31 23:59:59.999999", "UTC", "31"],
  [
    "extract",
    "foo",
    "2004-08-31 05:06:07",
    "UTC",
    'ERROR 22023: unit "foo" not recognized for type timestamp without time zone',
  ],
  ["extract", "minute", "0001-01-01 00:00", "UTC", "0"],
  [
    "extract",
    "foo",
    "infinity",
    "UTC",
    'ERROR 22023: unit "foo" not recognized for type timestamp without time zone',
  ],
  ["extract", "microseconds", "1900-01-01", "UTC", "0"],
  [
    "extract",
    "timezone_minute",
    "1999-12-31 23:59:59.999999",
    "UTC",
    'ERROR 0A000: unit "timezone_minute" not supported for type timestamp without time zone',
  ],
  ["extract", "dow", "2020-01-01 12:00", "UTC", "3"],
  ["extract", "second", "0044-03-15 01:02:03 BC", "UTC", "3.000000"],
  ["extract", "isoyear", "1900-01-01", "UTC", "1900"],
  [
    "extract",
    "timezone_minute",
    "1900-01-01",
    "UTC",
    'ERROR 0A000: unit "timezone_minute" not supported for type timestamp without time zone',
  ],
  ["extract", "hour", "1999-12-31 23:59:59.999999", "UTC", "23"],
  ["extract", "epoch", "0001-01-01 00:00", "UTC", "-62135596800.000000"],
  [
    "extract",
    "foo",
    "1900-01-01",
    "UTC",
    'ERROR 22023: unit "foo" not recognized for type timestamp without time zone',
  ],
  ["extract", "epoch", "infinity", "UTC", "Infinity"],
  ["extract", "quarter", "2020-01-01 12:00", "UTC", "1"],
  [
    "extract",
    "timezone_hour",
    "2000-02-29 00:00:00",
    "UTC",
    'ERROR 0A000: unit "timezone_hour" not supported for type timestamp without time zone',
  ],
  ["extract", "julian", "0001-01-01 00:00", "UTC", "1721426.0000000000000000000000000000"],
  [
    "extract",
    "timezone_hour",
    "2004-08-31 05:06:07",
    "UTC",
    'ERROR 0A000: unit "timezone_hour" not supported for type timestamp without time zone',
  ],
  ["extract", "julian", "1900-01-01", "UTC", "2415021.0000000000000000000000000000"],
  ["extract", "decade", "1999-12-31 23:59:59.999999", "UTC", "199"],
  ["extract", "day", "2023-07-04 00:00:00", "UTC", "4"],
  [
    "extract",
    "timezone",
    "1900-01-01",
    "UTC",
    'ERROR 0A000: unit "timezone" not supported for type timestamp without time zone',
  ],
  [
    "extract",
    "timezone",
    "0044-03-15 01:02:03 BC",
    "UTC",
    'ERROR 0A000: unit "timezone" not supported for type timestamp without time zone',
  ],
  ["extract", "microseconds", "0001-01-01 00:00", "UTC", "0"],
  ["extract", "month", "2000-02-29 00:00:00", "UTC", "2"],
  [
    "extract",
    "timezone",
    "0001-01-01 00:00",
    "UTC",
    'ERROR 0A000: unit "timezone" not supported for type timestamp without time zone',
  ],
  [
    "extract",
    "timezone_minute",
    "2023-07-04 00:00:00",
    "UTC",
    'ERROR 0A000: unit "timezone_minute" not supported for type timestamp without time zone',
  ],
  ["extract", "quarter", "2023-07-04 00:00:00", "UTC", "3"],
  ["extract", "doy", "2004-08-31 05:06:07", "UTC", "244"],
  [
    "extract",
    "timezone",
    "2004-08-31 05:06:07",
    "UTC",
    'ERROR 0A000: unit "timezone" not supported for type timestamp without time zone',
  ],
  ["extract", "day", "1900-01-01", "UTC", "1"],
  ["extract", "julian", "2020-01-01 12:00", "UTC", "2458850.50000000000000000000"],
  ["extract", "day", "2001-02-16 20:38:40.123456", "UTC", "16"],
  [
    "extract",
    "timezone_minute",
    "2020-01-01 12:00",
    "UTC",
    'ERROR 0A000: unit "timezone_minute" not supported for type timestamp without time zone',
  ],
  ["extract", "dow", "infinity", "UTC", "NULL"],
  ["extract", "microseconds", "2001-02-16 20:38:40.123456", "UTC", "40123456"],
  ["extract", "dow", "0001-01-01 00:00", "UTC", "1"],
  [
    "extract",
    "timezone_hour",
    "1999-12-31 23:59:59.999999",
    "UTC",
    'ERROR 0A000: unit "timezone_hour" not supported for type timestamp without time zone',
  ],
  ["extract", "minute", "2001-02-16 20:38:40.123456", "UTC", "38"],
  ["extract", "julian", "0044-03-15 01:02:03 BC", "UTC", "1705428.04309027777777777778"],
  ["extract", "hour", "2004-08-31 05:06:07", "UTC", "5"],
  ["extract", "isoyear", "2004-08-31 05:06:07", "UTC", "2004"],
  ["extract", "second", "1999-12-31 23:59:59.999999", "UTC", "59.999999"],
  ["extract", "century", "2023-07-04 00:00:00", "UTC", "21"],
  ["extract", "dow", "infinity", "UTC", "NULL"],
  ["extract", "hour", "0044-03-15 01:02:03 BC", "UTC", "1"],
  [
    "extract",
    "timezone",
    "1999-12-31 23:59:59.999999",
    "UTC",
    'ERROR 0A000: unit "timezone" not supported for type timestamp without time zone',
  ],
  ["extract", "century", "infinity", "UTC", "Infinity"],
  ["extract", "millennium", "2000-02-29 00:00:00", "UTC", "2"],
  ["extract", "minute", "infinity", "UTC", "NULL"],
  ["extract", "isoyear", "2004-08-31 05:06:07", "UTC", "2004"],
  [
    "extract",
    "timezone_minute",
    "2004-08-31 05:06:07",
    "UTC",
    'ERROR 0A000: unit "timezone_minute" not supported for type timestamp without time zone',
  ],
  ["extract", "doy", "0044-03-15 01:02:03 BC", "UTC", "74"],
  ["extracttz", "day", "infinity", "Asia/Kolkata", "NULL"],
  ["extracttz", "quarter", "2021-03-14 10:00", "Asia/Kolkata", "1"],
  ["extracttz", "milliseconds", "2021-03-14 10:00", "Asia/Kolkata", "0.000"],
  ["extracttz", "timezone_hour", "1850-01-01 00:00:00", "Asia/Kolkata", "5"],
  ["extracttz", "isoyear", "1850-01-01 00:00:00", "Asia/Kolkata", "1850"],
  [
    "extracttz",
    "foo",
    "infinity",
    "Asia/Kolkata",
    'ERROR 22023: unit "foo" not recognized for type timestamp with time zone',
  ],
  ["extracttz", "century", "1850-01-01 00:00:00", "Asia/Kolkata", "19"],
  ["extracttz", "isodow", "infinity", "Asia/Kolkata", "NULL"],
  ["extracttz", "timezone_hour", "2021-03-14 10:00", "Asia/Kolkata", "5"],
  ["extracttz", "month", "1850-01-01 00:00:00", "Asia/Kolkata", "1"],
  ["extracttz", "isoyear", "2021-03-14 10:00", "Asia/Kolkata", "2021"],
  ["extracttz", "century", "2021-03-14 10:00", "Asia/Kolkata", "21"],
  ["extracttz", "timezone", "infinity", "Asia/Kolkata", "NULL"],
  ["extracttz", "julian", "1850-01-01 00:00:00", "Asia/Kolkata", "2396759.0000000000000000000000000000"],
  ["extracttz", "isodow", "2021-03-14 10:00", "Asia/Kolkata", "7"],
  ["extracttz", "microseconds", "1850-01-01 00:00:00", "Asia/Kolkata", "0"],
  ["extracttz", "minute", "infinity", "Asia/Kolkata", "NULL"],
  ["extracttz", "microseconds", "2021-03-14 10:00", "Asia/Kolkata", "0"],
  ["extracttz", "isoyear", "2021-03-14 10:00", "Asia/Kolkata", "2021"],
  ["extracttz", "isoyear", "infinity", "Asia/Kolkata", "Infinity"],
  [
    "extractiv",
    "timezone_hour",
    "0",
    "UTC",
    'ERROR 0A000: unit "timezone_hour" not supported for type interval',
  ],
  ["extractiv", "foo", "0", "UTC", 'ERROR 22023: unit "foo" not recognized for type interval'],
  [
    "extractiv",
    "timezone",
    "-1234 months -17 days -25:26:27.891234",
    "UTC",
    'ERROR 0A000: unit "timezone" not supported for type interval',
  ],
  ["extractiv", "hour", "-1234 months -17 days -25:26:27.891234", "UTC", "-25"],
  ["extractiv", "decade", "-1234 months -17 days -25:26:27.891234", "UTC", "-10"],
  ["extractiv", "century", "0", "UTC", "0"],
  [
    "extractiv",
    "dow",
    "-1234 months -17 days -25:26:27.891234",
    "UTC",
    'ERROR 0A000: unit "dow" not supported for type interval',
  ],
  ["extractiv", "decade", "0", "UTC", "0"],
  [
    "extractiv",
    "isoyear",
    "1234 months 17 days 25:26:27.891234",
    "UTC",
    'ERROR 0A000: unit "isoyear" not supported for type interval',
  ],
  [
    "extractiv",
    "dow",
    "1234 months 17 days 25:26:27.891234",
    "UTC",
    'ERROR 0A000: unit "dow" not supported for type interval',
  ],
  ["extractiv", "epoch", "-1234 months -17 days -25:26:27.891234", "UTC", "-3246355587.891234"],
  [
    "extractiv",
    "foo",
    "1234 months 17 days 25:26:27.891234",
    "UTC",
    'ERROR 22023: unit "foo" not recognized for type interval',
  ],
  ["extractiv", "millennium", "0", "UTC", "0"],
  ["extractiv", "hour", "1234 months 17 days 25:26:27.891234", "UTC", "25"],
  ["extractiv", "day", "0", "UTC", "0"],
  [
    "extractiv",
    "doy",
    "-1234 months -17 days -25:26:27.891234",
    "UTC",
    'ERROR 0A000: unit "doy" not supported for type interval',
  ],
  ["extractiv", "decade", "1234 months 17 days 25:26:27.891234", "UTC", "10"],
  [
    "extractiv",
    "timezone_minute",
    "0",
    "UTC",
    'ERROR 0A000: unit "timezone_minute" not supported for type interval',
  ],
  ["extractiv", "day", "-1234 months -17 days -25:26:27.891234", "UTC", "-17"],
  ["extractiv", "dow", "0", "UTC", 'ERROR 0A000: unit "dow" not supported for type interval'],
  ["extractiv", "second", "0", "UTC", "0.000000"],
  [
    "extractiv",
    "timezone_hour",
    "-1234 months -17 days -25:26:27.891234",
    "UTC",
    'ERROR 0A000: unit "timezone_hour" not supported for type interval',
  ],
  ["extractiv", "hour", "0", "UTC", "0"],
  ["extractiv", "julian", "0", "UTC", 'ERROR 0A000: unit "julian" not supported for type interval'],
  ["extractiv", "isoyear", "0", "UTC", 'ERROR 0A000: unit "isoyear" not supported for type interval'],
  ["extractiv", "year", "1234 months 17 days 25:26:27.891234", "UTC", "102"],
  [
    "extractiv",
    "foo",
    "-1234 months -17 days -25:26:27.891234",
    "UTC",
    'ERROR 22023: unit "foo" not recognized for type interval',
  ],
  ["extractiv", "milliseconds", "1234 months 17 days 25:26:27.891234", "UTC", "27891.234"],
  ["extractiv", "minute", "0", "UTC", "0"],
  ["extractiv", "timezone", "0", "UTC", 'ERROR 0A000: unit "timezone" not supported for type interval'],
  ["extractd", "epoch", "infinity", "UTC", "Infinity"],
  ["extractd", "hour", "2001-02-16", "UTC", 'ERROR 0A000: unit "hour" not supported for type date'],
  ["extractd", "julian", "infinity", "UTC", "Infinity"],
  [
    "extractd",
    "timezone_minute",
    "2001-02-16",
    "UTC",
    'ERROR 0A000: unit "timezone_minute" not supported for type date',
  ],
  ["extractd", "doy", "0044-03-15 BC", "UTC", "74"],
  ["extractd", "isoyear", "0044-03-15 BC", "UTC", "-44"],
  [
    "extractd",
    "timezone_hour",
    "infinity",
    "UTC",
    'ERROR 0A000: unit "timezone_hour" not supported for type date',
  ],
  ["extractd", "timezone", "2001-02-16", "UTC", 'ERROR 0A000: unit "timezone" not supported for type date'],
  ["extractd", "dow", "0044-03-15 BC", "UTC", "5"],
  [
    "extractd",
    "microseconds",
    "0044-03-15 BC",
    "UTC",
    'ERROR 0A000: unit "microseconds" not supported for type date',
  ],
  ["extractd", "century", "infinity", "UTC", "Infinity"],
  [
    "extractd",
    "timezone",
    "0044-03-15 BC",
    "UTC",
    'ERROR 0A000: unit "timezone" not supported for type date',
  ],
  ["extractd", "isoyear", "infinity", "UTC", "Infinity"],
  ["extractd", "doy", "2001-02-16", "UTC", "47"],
  ["extractd", "foo", "2001-02-16", "UTC", 'ERROR 22023: unit "foo" not recognized for type date'],
  ["extractd", "decade", "infinity", "UTC", "Infinity"],
  ["extractd", "second", "0044-03-15 BC", "UTC", 'ERROR 0A000: unit "second" not supported for type date'],
  ["extractd", "second", "2001-02-16", "UTC", 'ERROR 0A000: unit "second" not supported for type date'],
  ["extractd", "day", "0044-03-15 BC", "UTC", "15"],
  [
    "extractd",
    "microseconds",
    "infinity",
    "UTC",
    'ERROR 0A000: unit "microseconds" not supported for type date',
  ],
  ["extractd", "millennium", "2001-02-16", "UTC", "3"],
  ["extractd", "year", "2001-02-16", "UTC", "2001"],
  ["extractd", "isodow", "0044-03-15 BC", "UTC", "5"],
  [
    "extractd",
    "timezone_hour",
    "2001-02-16",
    "UTC",
    'ERROR 0A000: unit "timezone_hour" not supported for type date',
  ],
  ["extractd", "julian", "0044-03-15 BC", "UTC", "1705428"],
  ["iv*", "1 mon", "0.5", "UTC", "15 days"],
  ["iv*", "1 mon", "-1", "UTC", "-1 mons"],
  ["iv*", "1 mon", "3.7", "UTC", "3 mons 21 days"],
  ["iv*", "1 day", "2", "UTC", "2 days"],
  ["iv*", "1 day", "1.5", "UTC", "1 day 12:00:00"],
  ["iv*", "1 day", "0.1", "UTC", "02:24:00"],
  ["iv*", "1 day", "0", "UTC", "00:00:00"],
  ["iv*", "1 year 2 mons 3 days 04:05:06", "0.5", "UTC", "7 mons 1 day 14:02:33"],
  ["iv*", "1 year 2 mons 3 days 04:05:06", "-1", "UTC", "-1 years -2 mons -3 days -04:05:06"],
  ["iv*", "1 year 2 mons 3 days 04:05:06", "3.7", "UTC", "4 years 3 mons 35 days 17:30:52.2"],
  ["iv*", "00:00:01", "2", "UTC", "00:00:02"],
  ["iv*", "00:00:01", "1.5", "UTC", "00:00:01.5"],
  ["iv*", "00:00:01", "0.1", "UTC", "00:00:00.1"],
  ["iv*", "00:00:01", "0", "UTC", "00:00:00"],
  ["iv*", "-1 mon -1 day", "0.5", "UTC", "-15 days -12:00:00"],
  ["iv*", "-1 mon -1 day", "-1", "UTC", "1 mon 1 day"],
  ["iv*", "-1 mon -1 day", "3.7", "UTC", "-3 mons -24 days -16:48:00"],
  ["iv/", "1 mon", "2", "UTC", "15 days"],
  ["iv/", "1 mon", "3", "UTC", "10 days"],
  ["iv/", "1 mon", "0", "UTC", "ERROR 22012: division by zero"],
  ["iv/", "1 day", "2", "UTC", "12:00:00"],
  ["iv/", "1 day", "3", "UTC", "08:00:00"],
  ["iv/", "1 day", "0", "UTC", "ERROR 22012: division by zero"],
  ["iv/", "1 year 2 mons 3 days 04:05:06", "2", "UTC", "7 mons 1 day 14:02:33"],
  ["iv/", "1 year 2 mons 3 days 04:05:06", "3", "UTC", "4 mons 21 days 01:21:42"],
  ["iv/", "1 year 2 mons 3 days 04:05:06", "0", "UTC", "ERROR 22012: division by zero"],
  ["iv/", "00:00:01", "2", "UTC", "00:00:00.5"],
  ["iv/", "00:00:01", "3", "UTC", "00:00:00.333333"],
  ["iv/", "00:00:01", "0", "UTC", "ERROR 22012: division by zero"],
  ["iv/", "-1 mon -1 day", "2", "UTC", "-15 days -12:00:00"],
  ["iv/", "-1 mon -1 day", "3", "UTC", "-10 days -08:00:00"],
  ["iv/", "-1 mon -1 day", "0", "UTC", "ERROR 22012: division by zero"],
  ["just", "1 mon -1 hour", "", "UTC", "29 days 23:00:00"],
  ["just", "-35 days +25 hours", "", "UTC", "-1 mons -3 days -23:00:00"],
  ["just", "27 hours -1 day", "", "UTC", "03:00:00"],
  ["just", "-1 mon 29 days 23:59", "", "UTC", "-00:01:00"],
  ["just", "-45 days -1 sec", "", "UTC", "-1 mons -15 days -00:00:01"],
  ["justh", "35 days 25 hours", "", "UTC", "36 days 01:00:00"],
  ["justh", "1 year -40 days", "", "UTC", "1 year -40 days"],
  ["justh", "0", "", "UTC", "00:00:00"],
  ["justh", "45 days", "", "UTC", "45 days"],
  ["justd", "1 mon -1 hour", "", "UTC", "1 mon -01:00:00"],
  ["justd", "-35 days +25 hours", "", "UTC", "-1 mons -5 days +25:00:00"],
  ["justd", "27 hours -1 day", "", "UTC", "-1 days +27:00:00"],
  ["justd", "-1 mon 29 days 23:59", "", "UTC", "-1 days +23:59:00"],
  ["justd", "-45 days -1 sec", "", "UTC", "-1 mons -15 days -00:00:01"],
];

function evaluate(operation: string, left: string, right: string, zoneName: string): string | null {
  const zone = timeZone(zoneName);
  const options = { ...DEFAULT_TEXT_OPTIONS, timeZone: zone };
  const timestamp = (text: string) => parseText({ kind: "timestamp" }, text, options) as NumberOrBigint;
  const instant = (text: string) => parseText({ kind: "timestamptz" }, text, options) as NumberOrBigint;
  switch (operation) {
    case "ts+":
      return formatTimestamp(dateTime.addInterval(timestamp(left), parseInterval(right)));
    case "tz+":
      return formatTimestampTz(dateTime.addIntervalTz(instant(left), parseInterval(right), zone), zone);
    case "ts-":
      return formatInterval(dateTime.subtractTimestamps(timestamp(left), timestamp(right)));
    case "age":
      return formatInterval(dateTime.age(timestamp(left), timestamp(right)));
    case "trunc":
      return formatTimestamp(dateTime.truncateTimestamp(left, timestamp(right)));
    case "trunctz":
      return formatTimestampTz(dateTime.truncateTimestampTz(left, instant(right), zone), zone);
    case "trunciv":
      return formatInterval(dateTime.truncateInterval(left, parseInterval(right)));
    case "extract":
      return dateTime.extractFromTimestamp(left, timestamp(right))?.toString() ?? null;
    case "extracttz":
      return dateTime.extractFromTimestampTz(left, instant(right), zone)?.toString() ?? null;
    case "extractiv":
      return dateTime.extractFromInterval(left, parseInterval(right)).toString();
    case "extractd":
      return dateTime.extractFromDate(left, parseText({ kind: "date" }, right) as number)?.toString() ?? null;
    case "iv*":
      return formatInterval(parseInterval(left).multiply(Number(right)));
    case "iv/":
      return formatInterval(parseInterval(left).divide(Number(right)));
    case "just":
      return formatInterval(parseInterval(left).justify());
    case "justh":
      return formatInterval(parseInterval(left).justifyHours());
    default:
      return formatInterval(parseInterval(left).justifyDays());
  }
}

Deno.test("date_time.ts calculates as PostgreSQL does", () => {
  for (const [operation, left, right, zone, expected] of CASES) {
    const result = outcome(() => evaluate(operation, left, right, zone));
    assert.equal(result, expected, `${operation} ${left} ${right} ${zone}`);
  }
});

Deno.test("makeDate(), makeTime() and makeTimestamp() check their parts", () => {
  assert.equal(dateTime.makeDate(2000, 1, 2), 1);
  assert.equal(dateTime.makeDate(-44, 3, 15), parseText({ kind: "date" }, "0044-03-15 BC"));
  assert.throws(() => dateTime.makeDate(2013, 2, 30), /date field value out of range: 2013-02-30/);
  assert.equal(dateTime.makeTime(8, 20, 0.5), 30000500000);
  assert.throws(() => dateTime.makeTime(24, 0, 1), /time field value out of range/);
  const parts = { year: 2000, month: 1, day: 1, hours: 0, minutes: 0, seconds: 1.5 };
  assert.equal(dateTime.makeTimestamp(parts), 1500000);
});

Deno.test("binTimestamp() counts strides from the origin", () => {
  const stamp = (text: string) => parseText({ kind: "timestamp" }, text) as NumberOrBigint;
  const bin = (stride: string, source: string, origin: string): string =>
    formatTimestamp(dateTime.binTimestamp(parseInterval(stride), stamp(source), stamp(origin)));
  assert.equal(bin("15 min", "2020-02-11 15:44:17", "2001-01-01"), "2020-02-11 15:30:00");
  assert.equal(bin("15 min", "2020-02-11 15:44:17", "2001-01-01 00:02:30"), "2020-02-11 15:32:30");
  assert.equal(bin("1 day", "1999-12-31 12:00", "2000-01-01"), "1999-12-31 00:00:00");
});
