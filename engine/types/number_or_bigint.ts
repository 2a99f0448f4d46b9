/**
 * Arithmetic on mixed integers: a number when the value is a safe integer, otherwise a bigint, always normalized.
 *
 * The fast path is a number operation and a range test: when the exact result of adding, subtracting or multiplying
 * two safe integers is not safe, the rounded double is not safe either (rounding is monotone and 2^53 is a double),
 * so the test after the operation is exact. Invariants: results are normalized and never -0; an operation named after
 * a width raises 22003 instead of wrapping. The plain operations (`add`, `multiply`, …) have no range and serve
 * scaled numerics, whose columns are checked by {@link checkNumericRange}.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { NumberOrBigint } from "./value.ts";

const MAX_SAFE = Number.MAX_SAFE_INTEGER;
const MAX_SAFE_BIG = 9007199254740991n;
const MAX_I64 = 9223372036854775807n;
const MIN_I64 = -9223372036854775808n;
const MAX_U64 = 18446744073709551615n;

/** The largest scale whose power of ten is a safe integer. */
const MAX_NUMBER_SCALE = 15;
const POWERS: readonly number[] = Array.from({ length: MAX_NUMBER_SCALE + 1 }, (_, index) => 10 ** index);
const BIG_POWERS: bigint[] = [1n];
/** The largest exponent whose power is kept for good. */
const MAX_KEPT_EXPONENT = 2000;
/** The last power beyond: one function's calls ask for the same again and again. */
let lastHuge = { exponent: -1, power: 0n };

/** 10^exponent as a bigint. */
export function bigPowerOfTen(exponent: number): bigint {
  const known = BIG_POWERS[exponent];
  if (known !== undefined) return known;
  if (exponent > MAX_KEPT_EXPONENT) {
    if (lastHuge.exponent !== exponent) lastHuge = { exponent, power: 10n ** BigInt(exponent) };
    return lastHuge.power;
  }
  for (let index = BIG_POWERS.length; index <= exponent; index++) {
    BIG_POWERS.push((BIG_POWERS[index - 1] ?? 1n) * 10n);
  }
  return BIG_POWERS[exponent] ?? 1n;
}

/** 10^exponent as a mixed integer. */
export function powerOfTen(exponent: number): NumberOrBigint {
  return POWERS[exponent] ?? bigPowerOfTen(exponent);
}

/** The integer types with a range, by {@link import("./sql_type.ts").SqlTypeKind}. */
export type IntegerKind = "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "oid";

/** The name of each integer type in messages, as PostgreSQL words it where it has the type. */
export const INTEGER_NAMES: Readonly<Record<IntegerKind, string>> = {
  i8: "i8",
  i16: "smallint",
  i32: "integer",
  i64: "bigint",
  u8: "u8",
  u16: "u16",
  u32: "u32",
  u64: "u64",
  oid: "oid",
};

/** The lowest and highest value of each integer type. */
export const INTEGER_RANGES: Readonly<Record<IntegerKind, readonly [NumberOrBigint, NumberOrBigint]>> = {
  i8: [-128, 127],
  i16: [-32768, 32767],
  i32: [-2147483648, 2147483647],
  i64: [MIN_I64, MAX_I64],
  u8: [0, 255],
  u16: [0, 65535],
  u32: [0, 4294967295],
  u64: [0, MAX_U64],
  oid: [0, 4294967295],
};

/** Whether a kind of type is one of integers. */
export function isIntegerKind(kind: string): kind is IntegerKind {
  return Object.hasOwn(INTEGER_RANGES, kind);
}

/** The error of a value outside its integer type, such as `integer out of range`. */
export function integerOutOfRange(kind: IntegerKind): DatabaseError {
  return new DatabaseError(SQLSTATE.numericValueOutOfRange, `${INTEGER_NAMES[kind]} out of range`);
}

/** The error of a division by zero. */
export function divisionByZero(): DatabaseError {
  return new DatabaseError(SQLSTATE.divisionByZero, "division by zero");
}

/** The mixed integer of a bigint. */
export function normalize(value: bigint): NumberOrBigint {
  return value <= MAX_SAFE_BIG && value >= -MAX_SAFE_BIG ? Number(value) : value;
}

/** The mixed integer of a number that is integral, however large. */
export function fromIntegralNumber(value: number): NumberOrBigint {
  return value <= MAX_SAFE && value >= -MAX_SAFE ? value + 0 : BigInt(value);
}

/** The value itself when the type can hold it; otherwise 22003. */
export function checkInteger(kind: IntegerKind, value: NumberOrBigint): NumberOrBigint {
  switch (kind) {
    case "i32":
      if (value >= -2147483648 && value <= 2147483647) return value;
      break;
    case "i64":
      if (typeof value === "number" || (value >= MIN_I64 && value <= MAX_I64)) return value;
      break;
    case "u64":
      if (value >= 0 && (typeof value === "number" || value <= MAX_U64)) return value;
      break;
    default: {
      const [low, high] = INTEGER_RANGES[kind];
      if (value >= low && value <= high) return value;
    }
  }
  throw integerOutOfRange(kind);
}

function checkI64(value: bigint): NumberOrBigint {
  if (value > MAX_I64 || value < MIN_I64) throw integerOutOfRange("i64");
  return normalize(value);
}

/** Sum without a range. */
export function add(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  if (typeof left === "number" && typeof right === "number") {
    const sum = left + right;
    if (sum <= MAX_SAFE && sum >= -MAX_SAFE) return sum;
  }
  return normalize(BigInt(left) + BigInt(right));
}

/** Difference without a range. */
export function subtract(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  if (typeof left === "number" && typeof right === "number") {
    const difference = left - right;
    if (difference <= MAX_SAFE && difference >= -MAX_SAFE) return difference;
  }
  return normalize(BigInt(left) - BigInt(right));
}

/** Product without a range. */
export function multiply(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  if (typeof left === "number" && typeof right === "number") {
    const product = left * right;
    // Adding 0 turns -0 into 0.
    if (product <= MAX_SAFE && product >= -MAX_SAFE) return product + 0;
  }
  return normalize(BigInt(left) * BigInt(right));
}

/** Quotient cut toward zero, without a range; 22012 on a zero divisor. */
export function divide(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  if (right === 0) throw divisionByZero();
  // Without its remainder the dividend is a multiple of the divisor, so the floating-point quotient is exact.
  if (typeof left === "number" && typeof right === "number") {
    const remainder = left % right;
    return (left - remainder) / right + 0;
  }
  return normalize(BigInt(left) / BigInt(right));
}

/** Remainder with the sign of the dividend; 22012 on a zero divisor. */
export function modulo(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  if (right === 0) throw divisionByZero();
  if (typeof left === "number" && typeof right === "number") return left % right + 0;
  return normalize(BigInt(left) % BigInt(right));
}

/** The negated value. */
export function negate(value: NumberOrBigint): NumberOrBigint {
  return typeof value === "number" ? 0 - value : normalize(-value);
}

/** The absolute value. */
export function absolute(value: NumberOrBigint): NumberOrBigint {
  return value < 0 ? negate(value) : value;
}

/** Order of two mixed integers. */
export function compareNumbersOrBigints(left: NumberOrBigint, right: NumberOrBigint): -1 | 0 | 1 {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Sum of two `bigint`s; 22003 when it overflows. */
export function addI64(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  if (typeof left === "number" && typeof right === "number") {
    const sum = left + right;
    if (sum <= MAX_SAFE && sum >= -MAX_SAFE) return sum;
  }
  return checkI64(BigInt(left) + BigInt(right));
}

/** Difference of two `bigint`s; 22003 when it overflows. */
export function subtractI64(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  if (typeof left === "number" && typeof right === "number") {
    const difference = left - right;
    if (difference <= MAX_SAFE && difference >= -MAX_SAFE) return difference;
  }
  return checkI64(BigInt(left) - BigInt(right));
}

/** Product of two `bigint`s; 22003 when it overflows. */
export function multiplyI64(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  if (typeof left === "number" && typeof right === "number") {
    const product = left * right;
    if (product <= MAX_SAFE && product >= -MAX_SAFE) return product + 0;
  }
  return checkI64(BigInt(left) * BigInt(right));
}

/** Quotient of two `bigint`s cut toward zero; 22012 on zero, 22003 for the one case that overflows. */
export function divideI64(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  if (right === 0) throw divisionByZero();
  if (typeof left === "number" && typeof right === "number") {
    const remainder = left % right;
    return (left - remainder) / right + 0;
  }
  return checkI64(BigInt(left) / BigInt(right));
}

/** Remainder of two `bigint`s with the sign of the dividend; 22012 on zero. */
export function moduloI64(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  return modulo(left, right);
}

/** The negated `bigint`; 22003 for the lowest value. */
export function negateI64(value: NumberOrBigint): NumberOrBigint {
  return typeof value === "number" ? 0 - value : checkI64(-value);
}

/** The absolute value of a `bigint`; 22003 for the lowest value. */
export function absoluteI64(value: NumberOrBigint): NumberOrBigint {
  return value < 0 ? negateI64(value) : value;
}

/** Sum of two values of an integer type; 22003 when it overflows. */
export function addInteger(kind: IntegerKind, left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  return checkInteger(kind, add(left, right));
}

/** Difference of two values of an integer type; 22003 when it overflows. */
export function subtractInteger(
  kind: IntegerKind,
  left: NumberOrBigint,
  right: NumberOrBigint,
): NumberOrBigint {
  return checkInteger(kind, subtract(left, right));
}

/** Product of two values of an integer type; 22003 when it overflows. */
export function multiplyInteger(
  kind: IntegerKind,
  left: NumberOrBigint,
  right: NumberOrBigint,
): NumberOrBigint {
  return checkInteger(kind, multiply(left, right));
}

/** Quotient of two values of an integer type, cut toward zero; 22012, 22003. */
export function divideInteger(
  kind: IntegerKind,
  left: NumberOrBigint,
  right: NumberOrBigint,
): NumberOrBigint {
  return checkInteger(kind, divide(left, right));
}

/** The negated value of an integer type; 22003 when it does not exist. */
export function negateInteger(kind: IntegerKind, value: NumberOrBigint): NumberOrBigint {
  return checkInteger(kind, negate(value));
}

/** Sum of two `integer`s; 22003 when it overflows. */
export function addI32(left: number, right: number): number {
  const sum = left + right;
  if (sum > 2147483647 || sum < -2147483648) throw integerOutOfRange("i32");
  return sum;
}

/** Difference of two `integer`s; 22003 when it overflows. */
export function subtractI32(left: number, right: number): number {
  const difference = left - right;
  if (difference > 2147483647 || difference < -2147483648) throw integerOutOfRange("i32");
  return difference;
}

/** Product of two `integer`s; 22003 when it overflows. */
export function multiplyI32(left: number, right: number): number {
  const product = left * right;
  if (product > 2147483647 || product < -2147483648) throw integerOutOfRange("i32");
  return product + 0;
}

/** Quotient of two `integer`s cut toward zero; 22012, 22003. */
export function divideI32(left: number, right: number): number {
  if (right === 0) throw divisionByZero();
  const quotient = Math.trunc(left / right) + 0;
  if (quotient > 2147483647) throw integerOutOfRange("i32");
  return quotient;
}

/** Remainder of two `integer`s with the sign of the dividend; 22012 on zero. */
export function moduloI32(left: number, right: number): number {
  if (right === 0) throw divisionByZero();
  return left % right + 0;
}

/** The negated `integer`; 22003 for the lowest value. */
export function negateI32(value: number): number {
  if (value === -2147483648) throw integerOutOfRange("i32");
  return 0 - value;
}

/** Sum of two `smallint`s; 22003 when it overflows. */
export function addI16(left: number, right: number): number {
  return checkI16(left + right);
}

/** Difference of two `smallint`s; 22003 when it overflows. */
export function subtractI16(left: number, right: number): number {
  return checkI16(left - right);
}

/** Product of two `smallint`s; 22003 when it overflows. */
export function multiplyI16(left: number, right: number): number {
  return checkI16(left * right + 0);
}

/** Quotient of two `smallint`s cut toward zero; 22012, 22003. */
export function divideI16(left: number, right: number): number {
  if (right === 0) throw divisionByZero();
  return checkI16(Math.trunc(left / right) + 0);
}

/** The negated `smallint`; 22003 for the lowest value. */
export function negateI16(value: number): number {
  return checkI16(0 - value);
}

function checkI16(value: number): number {
  if (value > 32767 || value < -32768) throw integerOutOfRange("i16");
  return value;
}

/** A floating value as an integer type, rounded half to even as PostgreSQL casts; 22003 outside, and for NaN. */
export function integerFromFloat(kind: IntegerKind, value: number): NumberOrBigint {
  if (!Number.isFinite(value)) throw integerOutOfRange(kind);
  return checkInteger(kind, fromIntegralNumber(roundHalfEven(value)));
}

/** The nearest integral number, halves to the even neighbor. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const fraction = value - floor;
  if (fraction < 0.5) return floor + 0;
  if (fraction > 0.5) return floor + 1 + 0;
  return (floor % 2 === 0 ? floor : floor + 1) + 0;
}

/** Quotient rounded half away from zero; the divisor is positive. */
export function divideRounded(value: NumberOrBigint, divisor: NumberOrBigint): NumberOrBigint {
  if (typeof value === "number" && typeof divisor === "number") {
    const remainder = value % divisor;
    const quotient = (value - remainder) / divisor;
    if (remainder * 2 >= divisor) return quotient + 1;
    if (remainder * -2 >= divisor) return quotient - 1;
    return quotient + 0;
  }
  const big = BigInt(value);
  const by = BigInt(divisor);
  const quotient = big / by;
  const remainder = big % by;
  if (remainder * 2n >= by) return normalize(quotient + 1n);
  if (remainder * -2n >= by) return normalize(quotient - 1n);
  return normalize(quotient);
}

/** A scaled value brought from one scale to another, rounding half away from zero. */
export function rescale(value: NumberOrBigint, fromScale: number, toScale: number): NumberOrBigint {
  if (fromScale === toScale) return value;
  if (toScale > fromScale) return multiply(value, powerOfTen(toScale - fromScale));
  return divideRounded(value, powerOfTen(fromScale - toScale));
}

/** A scaled value brought to a lower scale, cutting toward zero; to a higher one exactly. */
export function truncateScale(value: NumberOrBigint, fromScale: number, toScale: number): NumberOrBigint {
  if (toScale >= fromScale) return rescale(value, fromScale, toScale);
  return divide(value, powerOfTen(fromScale - toScale));
}

/** Sum of two scaled values; its scale is the larger one. */
export function addScaled(
  left: NumberOrBigint,
  leftScale: number,
  right: NumberOrBigint,
  rightScale: number,
): NumberOrBigint {
  const scale = Math.max(leftScale, rightScale);
  return add(rescale(left, leftScale, scale), rescale(right, rightScale, scale));
}

/** Difference of two scaled values; its scale is the larger one. */
export function subtractScaled(
  left: NumberOrBigint,
  leftScale: number,
  right: NumberOrBigint,
  rightScale: number,
): NumberOrBigint {
  const scale = Math.max(leftScale, rightScale);
  return subtract(rescale(left, leftScale, scale), rescale(right, rightScale, scale));
}

/** Product of two scaled values; its scale is the sum of theirs. */
export function multiplyScaled(left: NumberOrBigint, right: NumberOrBigint): NumberOrBigint {
  return multiply(left, right);
}

/** Order of two scaled values of different scales. */
export function compareScaled(
  left: NumberOrBigint,
  leftScale: number,
  right: NumberOrBigint,
  rightScale: number,
): -1 | 0 | 1 {
  const scale = Math.max(leftScale, rightScale);
  return compareNumbersOrBigints(rescale(left, leftScale, scale), rescale(right, rightScale, scale));
}

/** The value itself when `numeric(precision, scale)` can hold it; otherwise 22003 `numeric field overflow`. */
export function checkNumericRange(value: NumberOrBigint, precision: number, scale: number): NumberOrBigint {
  const limit = powerOfTen(precision);
  if (value < limit && value > negate(limit)) return value;
  throw numericFieldOverflow(precision, scale);
}

/** The error of a value too large for its `numeric(precision, scale)`. */
export function numericFieldOverflow(precision: number, scale: number): DatabaseError {
  const digits = precision - scale;
  return new DatabaseError(SQLSTATE.numericValueOutOfRange, "numeric field overflow", {
    detail: `A field with precision ${precision}, scale ${scale} must round to an absolute value less than ${
      digits === 0 ? "1" : `10^${digits}`
    }.`,
  });
}

/** The decimal text of a scaled value, with exactly `scale` digits after the point. */
export function formatScaled(value: NumberOrBigint, scale: number): string {
  if (scale === 0) return String(value);
  if (typeof value === "number" && scale <= MAX_NUMBER_SCALE) {
    const power = POWERS[scale] as number;
    const magnitude = value < 0 ? -value : value;
    const fraction = magnitude % power;
    const whole = (magnitude - fraction) / power;
    const digits = String(fraction);
    const text = `${whole}.${digits.length < scale ? digits.padStart(scale, "0") : digits}`;
    return value < 0 ? `-${text}` : text;
  }
  const digits = String(value < 0 ? negate(value) : value).padStart(scale + 1, "0");
  const point = digits.length - scale;
  return `${value < 0 ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The nearest double to value / 10^scale. */
export function scaledToNumber(value: NumberOrBigint, scale: number): number {
  if (scale === 0) return Number(value);
  // Both operands are exact, so the division rounds once: the result is the nearest double.
  if (typeof value === "number" && scale <= MAX_NUMBER_SCALE) return value / (POWERS[scale] as number);
  return Number(formatScaled(value, scale));
}
