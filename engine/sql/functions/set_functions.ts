/**
 * generate_series for integers, numerics and timestamps.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { Decimal } from "../../types/decimal.ts";
import { Interval } from "../../types/interval.ts";
import { add } from "../../types/number_or_bigint.ts";
import { timeZone } from "../../types/time_zone.ts";
import { addInterval, addIntervalTz } from "../../types/date_time.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import type { FunctionDefinition } from "./definition.ts";
import { defineFunction, type Overload } from "./overload.ts";

const series = { name: "generate_series", category: "set-returning" } as const;
const greatestI32 = 2_147_483_647;
const greatestI64 = 9_223_372_036_854_775_807n;

function zeroStep(): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidParameterValue, "step size cannot equal zero");
}

function* integers(
  start: NumberOrBigint,
  stop: NumberOrBigint,
  step: NumberOrBigint,
  greatest: NumberOrBigint,
): Iterable<readonly SqlValue[]> {
  if (step === 0) throw zeroStep();
  const least = -BigInt(greatest) - 1n;
  for (let value = start; step > 0 ? value <= stop : value >= stop;) {
    yield [value];
    value = add(value, step);
    // The series ends silently where the type does, as in PostgreSQL.
    if (value > greatest || value < least) return;
  }
}

function* decimals(start: Decimal, stop: Decimal, step: Decimal): Iterable<readonly SqlValue[]> {
  for (const [what, value] of [["start", start], ["stop", stop], ["step size", step]] as const) {
    if (!value.isFinite) {
      throw new DatabaseError(
        SQLSTATE.invalidParameterValue,
        `${what}${what === "step size" ? "" : " value"} cannot be ${value.isNaN ? "NaN" : "infinity"}`,
      );
    }
  }
  if (step.isZero) throw zeroStep();
  for (let value = start; step.sign > 0 ? value.compare(stop) <= 0 : value.compare(stop) >= 0;) {
    yield [value];
    value = value.add(step);
  }
}

function* timestamps(
  start: NumberOrBigint,
  stop: NumberOrBigint,
  step: Interval,
  advance: (value: NumberOrBigint, step: Interval) => NumberOrBigint,
): Iterable<readonly SqlValue[]> {
  const sign = step.compare(Interval.ZERO);
  if (sign === 0) throw zeroStep();
  for (let value = start; sign > 0 ? value <= stop : value >= stop; value = advance(value, step)) {
    yield [value];
  }
}

function integerSeries(key: "i32" | "i64"): Overload[] {
  const greatest = key === "i32" ? greatestI32 : greatestI64;
  return [
    {
      ...series,
      takes: `${key}, ${key}`,
      returns: key,
      summary: "The numbers from start to stop as rows.",
      rows: (_context, start: NumberOrBigint, stop: NumberOrBigint) => integers(start, stop, 1, greatest),
    },
    {
      ...series,
      takes: `${key}, ${key}, ${key}`,
      returns: key,
      summary: "The numbers from start to stop by steps as rows.",
      rows: (_context, start: NumberOrBigint, stop: NumberOrBigint, step: NumberOrBigint) =>
        integers(start, stop, step, greatest),
    },
  ];
}

const overloads: readonly Overload[] = [
  ...integerSeries("i32"),
  ...integerSeries("i64"),
  ...["numeric, numeric", "numeric, numeric, numeric"].map((takes): Overload => ({
    ...series,
    takes,
    returns: "numeric",
    summary: "The numbers from start to stop by steps as rows.",
    rows: (_context, start: Decimal, stop: Decimal, step: Decimal = Decimal.ONE) =>
      decimals(start, stop, step),
  })),
  {
    ...series,
    takes: "timestamp, timestamp, interval",
    returns: "timestamp",
    summary: "The times from start to stop by steps as rows.",
    rows: (_context, start: NumberOrBigint, stop: NumberOrBigint, step: Interval) =>
      timestamps(start, stop, step, addInterval),
  },
  {
    ...series,
    takes: "timestamptz, timestamptz, interval",
    returns: "timestamptz",
    volatility: "stable",
    summary: "The times from start to stop by steps as rows.",
    rows: (context, start: NumberOrBigint, stop: NumberOrBigint, step: Interval) => {
      const zone = timeZone(context.timeZone);
      return timestamps(start, stop, step, (value, by) => addIntervalTz(value, by, zone));
    },
  },
];

/** Set-returning functions that belong to no type's file. */
export const setFunctions: readonly FunctionDefinition[] = overloads.map(defineFunction);
