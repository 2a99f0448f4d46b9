/**
 * The values that storage may keep for a column of a type. Arithmetic checks its results where it computes them; this
 * is the second line of defense, asked on every write and by the verification of a database, so that a result that
 * has escaped its check is refused instead of stored.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import {
  MAX_DATE,
  MAX_TIMESTAMP,
  MICROSECONDS_PER_DAY,
  MINIMUM_DATE,
  MINIMUM_TIMESTAMP,
} from "./calendar.ts";
import { INTEGER_RANGES } from "./number_or_bigint.ts";
import type { SqlType } from "./sql_type.ts";
import { storageClassOf } from "./physical_type.ts";
import type { StoredValue } from "./stored_value.ts";

/** Both ends belong to it; numbers where they are safe integers, bigints beyond. */
export interface StoredRange {
  readonly low: number | bigint;
  readonly high: number | bigint;
  /** Dates and timestamps may be infinite. */
  readonly hasInfinity: boolean;
}

function finite(low: number | bigint, high: number | bigint): StoredRange {
  return { low, high, hasInfinity: false };
}

const SIMPLE_RANGES: Readonly<Record<string, StoredRange>> = {
  bool: finite(0, 1),
  ...Object.fromEntries(
    Object.entries(INTEGER_RANGES).map(([kind, [low, high]]) => [kind, finite(low, high)]),
  ),
  regclass: finite(...INTEGER_RANGES.oid),
  regtype: finite(...INTEGER_RANGES.oid),
  regproc: finite(...INTEGER_RANGES.oid),
  regnamespace: finite(...INTEGER_RANGES.oid),
  enum: finite(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  time: finite(0, MICROSECONDS_PER_DAY),
  date: { low: MINIMUM_DATE, high: MAX_DATE, hasInfinity: true },
  timestamp: { low: MINIMUM_TIMESTAMP, high: MAX_TIMESTAMP, hasInfinity: true },
  timestamptz: { low: MINIMUM_TIMESTAMP, high: MAX_TIMESTAMP, hasInfinity: true },
};

const numericRanges = new Map<number, StoredRange>();

function numericRange(precision: number): StoredRange {
  let range = numericRanges.get(precision);
  if (range === undefined) {
    const most = 10n ** BigInt(precision) - 1n;
    const high = most <= Number.MAX_SAFE_INTEGER ? Number(most) : most;
    numericRanges.set(precision, range = finite(-high, high));
  }
  return range;
}

/** The bounds of a type of storage class int; undefined for the other classes, whose values have no bounds. */
export function storedRangeOf(type: SqlType): StoredRange | undefined {
  if (type.kind !== "numeric") return SIMPLE_RANGES[type.kind];
  return type.scale === undefined || type.precision === undefined ? undefined : numericRange(type.precision);
}

/** Whether a column of the type may hold the value. */
export function isStorable(type: SqlType, value: StoredValue): boolean {
  if (value === null) return true;
  switch (storageClassOf(type)) {
    case "int":
      return isStorableInteger(storedRangeOf(type), value);
    case "float":
      return typeof value === "number" && (type.kind !== "f32" || Object.is(Math.fround(value), value));
    case "text":
      return typeof value === "string";
    case "bytes":
      return value instanceof Uint8Array;
  }
}

function isStorableInteger(range: StoredRange | undefined, value: StoredValue): boolean {
  if (typeof value === "number") {
    if (value === Infinity || value === -Infinity) return range?.hasInfinity === true;
    // A number beyond the safe integers stands for several; it must be a bigint.
    if (!Number.isSafeInteger(value)) return false;
  } else if (
    typeof value !== "bigint" || Number.isSafeInteger(Number(value)) && BigInt(Number(value)) === value
  ) {
    return false;
  }
  return range === undefined || value >= range.low && value <= range.high;
}

/** The error of a value that a column may not hold: a bug of the program, reported before anything is written. */
export function notStorable(
  relation: string,
  column: string,
  typeName: string,
  value: StoredValue,
): DatabaseError {
  return new DatabaseError(
    SQLSTATE.internalError,
    `Cannot store ${
      shown(value)
    } in column "${column}" of relation "${relation}": it is not a value of type ${typeName}`,
    { hint: "This is a bug of the database: nothing was written; please report the statement." },
  );
}

function shown(value: StoredValue): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return typeof value === "string" ? "a text" : `${value}`;
}
