/**
 * From physical values to those of a column's natural type, in their stored form: days and microseconds since 2000
 * instead of 1970, unsigned integers, decimals of bytes, and so on. Nothing is lost but digits of seconds below the
 * microsecond, which are rounded.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { Interval } from "../../types/interval.ts";
import {
  bigPowerOfTen,
  checkInteger,
  divideRounded,
  isIntegerKind,
  normalize,
} from "../../types/number_or_bigint.ts";
import { uuidFromBytes } from "../../types/scalar_text.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { toStored } from "../../types/stored_value.ts";
import type { TimeUnit } from "./metadata.ts";
import type { Leaf } from "./schema.ts";
import {
  type BytesVector,
  bytesVector,
  integerAt,
  type NumberVector,
  numberVector,
  setInteger,
  ValueError,
  type Vector,
} from "./vector.ts";

/** Turns the first values of a vector into others, in the same vector or one of its own. */
export type Conversion = (vector: Vector, count: number) => Vector;

const DAYS_TO_2000 = 10_957;
const MICROSECONDS_TO_2000 = 946_684_800_000_000;
const DAY_MICROSECONDS = 86_400_000_000;
/** Dates and timestamps that PostgreSQL has: 4714-11-24 BC to 5874897-12-31 and 294276-12-31. */
const FIRST_DAY = -2_451_545, LAST_DAY = 2_145_031_948;
const FIRST_MICROSECOND = FIRST_DAY * DAY_MICROSECONDS;
const LAST_MICROSECOND = 9_223_371_331_200_000_000n;
/** Julian day of 2000-01-01. */
const JULIAN_DAYS_TO_2000 = 2_451_545;

/** What makes values of a leaf its natural type's; null: they are. */
export function naturalConversion(leaf: Leaf): Conversion | null {
  const { physical, annotation } = leaf;
  const type = leaf.type as SqlType;
  switch (type.kind) {
    case "u8":
    case "u16":
    case "u32":
    case "i8":
    case "i16":
      return smallIntegers(type);
    case "u64":
      return unsigned64;
    case "date":
      return dates;
    case "time":
      return times(annotation !== null && "unit" in annotation ? annotation.unit : "microseconds");
    case "timestamp":
    case "timestamptz":
      if (physical === "INT96") return int96Timestamps;
      return timestamps(annotation !== null && "unit" in annotation ? annotation.unit : "microseconds");
    case "numeric":
      return decimals(type, physical !== "INT32" && physical !== "INT64");
    case "f32":
      return physical === "FLOAT" ? null : halfFloats;
    case "uuid":
      return uuids;
    case "interval":
      return intervals;
    default:
      return null;
  }
}

function numbers(vector: Vector): NumberVector {
  if (vector.kind !== "number") throw new ValueError("the values are of another kind");
  return vector;
}

function ranges(vector: Vector): BytesVector {
  if (vector.kind !== "bytes") throw new ValueError("the values are of another kind");
  return vector;
}

function smallIntegers(type: SqlType): Conversion {
  const { kind } = type;
  return (vector, count) => {
    const { data } = numbers(vector);
    for (let index = 0; index < count; index++) {
      const value = data[index] as number;
      if (kind === "u32") data[index] = value >>> 0;
      else if (isIntegerKind(kind)) checkInteger(kind, value);
    }
    return vector;
  };
}

function unsigned64(vector: Vector, count: number): Vector {
  const target = numbers(vector);
  for (let index = 0; index < count; index++) {
    const value = integerAt(target, index);
    if (value < 0) setInteger(target, index, BigInt.asUintN(64, BigInt(value)));
  }
  return vector;
}

function dates(vector: Vector, count: number): Vector {
  const { data } = numbers(vector);
  for (let index = 0; index < count; index++) {
    const days = (data[index] as number) - DAYS_TO_2000;
    if (days < FIRST_DAY || days > LAST_DAY) throw outOfRange("date");
    data[index] = days;
  }
  return vector;
}

function outOfRange(type: string): DatabaseError {
  return new DatabaseError(SQLSTATE.datetimeFieldOverflow, `${type} out of range`);
}

function inMicroseconds(value: number | bigint, unit: TimeUnit): number | bigint {
  if (unit === "microseconds") return value;
  if (unit === "nanoseconds") return divideRounded(value, 1000);
  const product = typeof value === "number" ? value * 1000 : NaN;
  return Number.isSafeInteger(product) ? product : normalize(BigInt(value) * 1000n);
}

function times(unit: TimeUnit): Conversion {
  return (vector, count) => {
    const target = numbers(vector);
    for (let index = 0; index < count; index++) {
      const time = inMicroseconds(integerAt(target, index), unit);
      if (typeof time !== "number" || time < 0 || time > DAY_MICROSECONDS) throw outOfRange("time");
      target.data[index] = time;
    }
    return vector;
  };
}

function timestamps(unit: TimeUnit): Conversion {
  return (vector, count) => {
    const target = numbers(vector);
    const { data } = target;
    for (let index = 0; index < count; index++) {
      const value = data[index] as number;
      if (unit === "microseconds" && value > -9e15 + MICROSECONDS_TO_2000 && value < 9e15) {
        data[index] = value - MICROSECONDS_TO_2000;
      } else setInteger(target, index, since2000(inMicroseconds(integerAt(target, index), unit)));
    }
    return vector;
  };
}

function since2000(microseconds: number | bigint): number | bigint {
  const value = normalize(BigInt(microseconds) - BigInt(MICROSECONDS_TO_2000));
  if (value < FIRST_MICROSECOND || value >= LAST_MICROSECOND) throw outOfRange("timestamp");
  return value;
}

/** Nanoseconds of the day and the Julian day. */
function int96Timestamps(vector: Vector, count: number): Vector {
  const { bytes, starts } = ranges(vector);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const target = numberVector(count);
  for (let index = 0; index < count; index++) {
    const at = starts[index] as number;
    const nanoseconds = normalize(view.getBigInt64(at, true));
    const day = view.getInt32(at + 8, true) - JULIAN_DAYS_TO_2000;
    const microseconds = day * DAY_MICROSECONDS + Number(divideRounded(nanoseconds, 1000));
    if (Number.isSafeInteger(microseconds)) target.data[index] = microseconds;
    else {
      const exact = BigInt(day) * BigInt(DAY_MICROSECONDS) + BigInt(divideRounded(nanoseconds, 1000));
      if (exact < FIRST_MICROSECOND || exact >= LAST_MICROSECOND) throw outOfRange("timestamp");
      setInteger(target, index, normalize(exact));
    }
  }
  return target;
}

function decimals(type: SqlType, areBytes: boolean): Conversion {
  const precision = type.kind === "numeric" ? type.precision ?? 38 : 38;
  const limit = bigPowerOfTen(precision);
  const safeLimit = Number(limit);
  const check = (value: number | bigint): void => {
    if (value >= limit || value <= -limit) {
      throw new ValueError(`a DECIMAL has more than ${precision} digits`);
    }
  };
  if (areBytes) {
    return (vector, count) => {
      const source = ranges(vector);
      const target = numberVector(count);
      for (let index = 0; index < count; index++) {
        const value = bigEndian(source.bytes, source.starts[index] as number, source.ends[index] as number);
        check(value);
        setInteger(target, index, value);
      }
      return target;
    };
  }
  return (vector, count) => {
    const target = numbers(vector);
    const { data } = target;
    for (let index = 0; index < count; index++) {
      const value = data[index] as number;
      if (!(value < safeLimit && value > -safeLimit)) check(integerAt(target, index));
    }
    return vector;
  };
}

/** A two's complement number, most significant byte first. */
function bigEndian(bytes: Uint8Array, start: number, end: number): number | bigint {
  if (start === end) throw new ValueError("a DECIMAL has no bytes");
  const sign = (bytes[start] as number) << 24 >> 31;
  let from = start;
  // Bytes that only repeat the sign.
  while (
    from < end - 1 && bytes[from] === (sign & 255) && ((bytes[from + 1] as number) << 24 >> 31) === sign
  ) from++;
  if (end - from > 17) throw new ValueError("a DECIMAL has more than 38 digits");
  if (end - from <= 6) {
    let value = sign;
    for (; from < end; from++) value = value * 256 + (bytes[from] as number);
    return value + 0;
  }
  let value = BigInt(sign);
  for (; from < end; from++) value = value << 8n | BigInt(bytes[from] as number);
  return normalize(value);
}

function halfFloats(vector: Vector, count: number): Vector {
  const { bytes, starts } = ranges(vector);
  const target = numberVector(count);
  for (let index = 0; index < count; index++) {
    const at = starts[index] as number;
    const half = (bytes[at] as number) | (bytes[at + 1] as number) << 8;
    const exponent = half >> 10 & 31, fraction = half & 1023;
    const size = exponent === 31
      ? fraction === 0 ? Infinity : NaN
      : exponent === 0
      ? fraction * 2 ** -24
      : (1024 + fraction) * 2 ** (exponent - 25);
    target.data[index] = half >> 15 === 1 ? -size : size;
  }
  return target;
}

/** A vector of values that are made one by one. */
export function bytesOf(count: number, value: (index: number) => Uint8Array): BytesVector {
  const target = bytesVector(new Uint8Array(Math.max(256, count * 40)), count);
  let length = 0;
  for (let index = 0; index < count; index++) {
    const piece = value(index);
    if (length + piece.length > target.bytes.length) {
      const larger = new Uint8Array(Math.max(length + piece.length, target.bytes.length * 2));
      larger.set(target.bytes.subarray(0, length));
      target.bytes = larger;
    }
    target.bytes.set(piece, length);
    target.starts[index] = length;
    target.ends[index] = length += piece.length;
  }
  return target;
}

const encoder = new TextEncoder();

function uuids(vector: Vector, count: number): Vector {
  const { bytes, starts, ends } = ranges(vector);
  return bytesOf(count, (index) => encoder.encode(uuidFromBytes(bytes.subarray(starts[index], ends[index]))));
}

/** Months, days and milliseconds, each of 32 bits without a sign. */
function intervals(vector: Vector, count: number): Vector {
  const { bytes, starts } = ranges(vector);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bytesOf(count, (index) => {
    const at = starts[index] as number;
    const interval = Interval.of(
      view.getUint32(at, true),
      view.getUint32(at + 4, true),
      view.getUint32(at + 8, true) * 1000,
    );
    return toStored({ kind: "interval" }, interval) as Uint8Array;
  });
}
