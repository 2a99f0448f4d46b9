/**
 * Conversions among numbers and booleans: integers, scaled and unscaled `numeric`, floats, object identifiers.
 */
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { Decimal } from "../../types/decimal.ts";
import {
  checkInteger,
  checkNumericRange,
  integerFromFloat,
  type IntegerKind,
  isIntegerKind,
  multiply,
  powerOfTen,
  rescale,
  scaledToNumber,
} from "../../types/number_or_bigint.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { parseFloatText } from "../../types/scalar_text.ts";
import { fitNumeric } from "../../types/type_modifier.ts";
import type { NumberOrBigint } from "../../types/value.ts";
import type { Conversion } from "./casts.ts";
import { convertsImplicitly, displayName } from "./type_family.ts";

type NumericType = SqlType & { readonly kind: "numeric" };

/** The integer types whose values are always plain numbers, with the number of bits of their magnitude. */
const plainIntegerBits: ReadonlyMap<string, number> = new Map([
  ["i8", 7],
  ["i16", 15],
  ["i32", 31],
  ["u8", 8],
  ["u16", 16],
  ["u32", 32],
]);

function integerKind(type: SqlType): IntegerKind | undefined {
  if (isIntegerKind(type.kind)) return type.kind;
  switch (type.kind) {
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
      return "oid";
    default:
      return undefined;
  }
}

/** The conversion between two number types (or bool); undefined when one of them is neither. */
export function numberConversion(from: SqlType, to: SqlType): Conversion | undefined {
  const target = integerKind(to);
  const source = integerKind(from);
  if (target !== undefined) {
    if (source !== undefined) return integerToInteger(source, target);
    switch (from.kind) {
      case "numeric":
        return numericToInteger(from, target);
      case "f32":
      case "f64":
        return { run: (value: number) => integerFromFloat(target, value) };
      case "bool":
        // As PostgreSQL has it, of all integers only the plain one converts from and to truth.
        if (target !== "i32") return undefined;
        return { run: (value: boolean) => value ? 1 : 0, inline: (argument) => `(${argument} ? 1 : 0)` };
      default:
        return undefined;
    }
  }
  switch (to.kind) {
    case "bool":
      if (source !== "i32") return undefined;
      return { run: (value: NumberOrBigint) => value !== 0, inline: (argument) => `(${argument} !== 0)` };
    case "numeric":
      return toNumeric(from, source, to);
    case "f32":
    case "f64":
      return toFloat(from, source, to.kind);
    default:
      return undefined;
  }
}

function integerToInteger(source: IntegerKind, target: IntegerKind): Conversion {
  if (source === target || convertsImplicitly(source, target) && target !== "oid") return {};
  if (target === "oid" && (source === "u8" || source === "u16" || source === "u32")) return {};
  if (target === "oid" && (source === "i64" || source === "u64")) return { run: checkIdentifier };
  if (target === "oid") return { run: identifierOfBits };
  if (source === "oid" && target === "i32") return { run: (value: number) => value | 0 };
  return { run: (value: NumberOrBigint) => checkInteger(target, value) };
}

/** The bits of an integer as an identifier, so that -1 is the greatest. */
function identifierOfBits(value: NumberOrBigint): NumberOrBigint {
  return value < 0 ? Number(value) + 2 ** 32 : value;
}

function checkIdentifier(value: NumberOrBigint): NumberOrBigint {
  if (value >= 0 && value <= 4_294_967_295) return value;
  throw new DatabaseError(SQLSTATE.numericValueOutOfRange, "OID out of range");
}

function numericToInteger(from: NumericType, target: IntegerKind): Conversion {
  const { scale } = from;
  if (scale === undefined) {
    const name = displayName(target);
    return { run: (value: Decimal) => checkInteger(target, value.toInteger(name)) };
  }
  return { run: (value: NumberOrBigint) => checkInteger(target, rescale(value, scale, 0)) };
}

function toNumeric(from: SqlType, source: IntegerKind | undefined, to: NumericType): Conversion | undefined {
  if (source !== undefined) return integerToNumeric(source, to);
  switch (from.kind) {
    case "numeric":
      return numericToNumeric(from, to);
    case "f32":
    case "f64": {
      const digits = from.kind === "f32" ? 6 : 15;
      const shape = decimalToNumeric(to);
      return { run: (value: number) => shape(Decimal.fromNumber(value, digits)) };
    }
    default:
      return undefined;
  }
}

function integerToNumeric(source: IntegerKind, to: NumericType): Conversion {
  const { scale, precision } = to;
  if (scale === undefined) return { run: (value: NumberOrBigint) => fitNumeric(to, value) };
  const checked = precision !== undefined && precision - scale < integerDigits(source);
  if (checked) {
    return { run: (value: NumberOrBigint) => checkNumericRange(rescale(value, 0, scale), precision, scale) };
  }
  if (scale === 0) return {};
  const factor = powerOfTen(scale);
  const run = (value: NumberOrBigint) => multiply(value, factor);
  const bits = plainIntegerBits.get(source);
  const exact = bits !== undefined && typeof factor === "number" &&
    factor * 2 ** bits <= Number.MAX_SAFE_INTEGER;
  return exact ? { run, inline: (argument) => `(${argument} * ${factor})` } : { run };
}

/** Digits of the largest value of an integer type. */
function integerDigits(kind: IntegerKind): number {
  switch (kind) {
    case "i8":
    case "u8":
      return 3;
    case "i16":
    case "u16":
      return 5;
    case "i32":
    case "u32":
    case "oid":
      return 10;
    case "i64":
      return 19;
    case "u64":
      return 20;
  }
}

function numericToNumeric(from: NumericType, to: NumericType): Conversion {
  const sourceScale = from.scale;
  const { scale, precision } = to;
  if (sourceScale === undefined) {
    if (scale === undefined && !("declaredScale" in to)) return {};
    const shape = decimalToNumeric(to);
    return { run: shape };
  }
  if (scale === undefined) {
    return { run: (value: NumberOrBigint) => fitNumeric(to, Decimal.of(value, sourceScale)) };
  }
  const checked = precision !== undefined &&
    (from.precision === undefined || from.precision - sourceScale > precision - scale ||
      (scale < sourceScale && from.precision - sourceScale >= precision - scale));
  if (checked) {
    return {
      run: (value: NumberOrBigint) => checkNumericRange(rescale(value, sourceScale, scale), precision, scale),
    };
  }
  if (scale === sourceScale) return {};
  return { run: (value: NumberOrBigint) => rescale(value, sourceScale, scale) };
}

/** Rounds to the scale of a type and checks its precision; numerics without scale take everything. */
function decimalToNumeric(to: NumericType): (value: Decimal) => Decimal | NumberOrBigint {
  return to.scale === undefined && !("declaredScale" in to)
    ? (value) => value
    : (value) => fitNumeric(to, value);
}

function toFloat(
  from: SqlType,
  source: IntegerKind | undefined,
  kind: "f32" | "f64",
): Conversion | undefined {
  const single = kind === "f32";
  if (source !== undefined) {
    if (single) return { run: integerToSingle };
    if (plainIntegerBits.has(source) || source === "oid") return {};
    return { run: (value: NumberOrBigint) => Number(value), inline: (argument) => `Number(${argument})` };
  }
  switch (from.kind) {
    case "numeric": {
      const { scale } = from;
      if (scale === undefined) return { run: single ? decimalToSingle : decimalToDouble };
      return single
        ? { run: (value: NumberOrBigint) => decimalToSingle(Decimal.of(value, scale)) }
        : { run: (value: NumberOrBigint) => scaledToNumber(value, scale) };
    }
    case "f64":
      return single ? { run: narrowFloat } : {};
    case "f32":
      return {};
    default:
      return undefined;
  }
}

/** An integer beyond 2^53 is rounded once, from its digits. */
function integerToSingle(value: NumberOrBigint): number {
  return typeof value === "number" ? Math.fround(value) : parseFloatText(String(value), true);
}

function decimalToDouble(value: Decimal): number {
  const double = value.toNumber();
  // The text's reader raises the error of a number that is too large or too small.
  return value.isFinite && (double === 0 || !Number.isFinite(double))
    ? parseFloatText(value.toString()) + 0
    : double;
}

function decimalToSingle(value: Decimal): number {
  return value.isFinite ? parseFloatText(value.toString(), true) + 0 : value.toNumber();
}

/** A double as a single; 22003 when it is too large or vanishes. */
export function narrowFloat(value: number): number {
  const single = Math.fround(value);
  if (!Number.isFinite(single) && Number.isFinite(value)) {
    throw new DatabaseError(SQLSTATE.numericValueOutOfRange, "value out of range: overflow");
  }
  if (single === 0 && value !== 0) {
    throw new DatabaseError(SQLSTATE.numericValueOutOfRange, "value out of range: underflow");
  }
  return single;
}
