/**
 * Fitting values to the limits that a column's type declares: lengths, precision and scale, digits of the seconds.
 *
 * An assignment refuses what does not fit (22001, 22003), except that spaces beyond the length are dropped, as the
 * SQL standard says. An explicit cast cuts texts. Numbers are rounded half away from zero in both cases. `Decimal`
 * values become scaled integers when the type has a static scale.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { Decimal, decimalExponent } from "./decimal.ts";
import { Interval } from "./interval.ts";
import { restrictInterval, roundInterval, roundMicroseconds } from "./interval_text.ts";
import { checkNumericRange, formatScaled, numericFieldOverflow } from "./number_or_bigint.ts";
import { SqlArray } from "./sql_array.ts";
import { intervalRange, temporalPrecision } from "./sql_type.ts";
import type { SqlType, WideNumericType } from "./sql_type.ts";
import { characterLength, takeCharacters, trimTrailingSpaces } from "./text.ts";
import { formatType } from "./type_names.ts";
import type { NumberOrBigint, SqlValue } from "./value.ts";

/** The value as a column of the type holds it. The value has the type's kind already. */
export function applyTypeModifier(type: SqlType, value: SqlValue, explicit: boolean): SqlValue {
  if (value === null) return null;
  switch (type.kind) {
    case "varchar":
      return type.length === undefined ? value : fitText(type, value as string, type.length, explicit);
    case "char":
      return trimTrailingSpaces(fitText(type, trimTrailingSpaces(value as string), type.length, explicit));
    case "bytes": {
      const bytes = value as Uint8Array;
      if (bytes.length <= type.length) return bytes;
      if (explicit) return bytes.slice(0, type.length);
      throw tooLong(type);
    }
    case "numeric":
      return fitNumeric(type, value as NumberOrBigint | Decimal);
    case "time":
    case "timestamp":
    case "timestamptz": {
      const precision = temporalPrecision(type);
      return precision === undefined ? value : roundMicroseconds(value as NumberOrBigint, precision);
    }
    case "interval": {
      if (!(value instanceof Interval)) return value;
      const fields = intervalRange(type);
      const kept = fields === undefined ? value : restrictInterval(value, fields);
      const precision = temporalPrecision(type);
      return precision === undefined ? kept : roundInterval(kept, precision);
    }
    case "array":
      return value instanceof SqlArray
        ? value.map((element) => applyTypeModifier(type.element, element, explicit))
        : value;
    default:
      return value;
  }
}

function tooLong(type: SqlType): DatabaseError {
  return new DatabaseError(SQLSTATE.stringDataRightTruncation, `value too long for type ${formatType(type)}`);
}

function fitText(type: SqlType, text: string, length: number, explicit: boolean): string {
  // There are never more characters than units.
  if (text.length <= length || characterLength(text) <= length) return text;
  const kept = takeCharacters(text, length);
  if (!explicit && /[^ ]/.test(text.slice(kept.length))) throw tooLong(type);
  return kept;
}

/** A decimal, or an integer already at the type's scale, as the numeric type holds it; 22003 when it does not fit. */
export function fitNumeric(
  type: SqlType & { readonly kind: "numeric" },
  value: NumberOrBigint | Decimal,
): NumberOrBigint | Decimal {
  const { precision, scale } = type;
  if (scale === undefined) {
    const decimal = value instanceof Decimal ? value : Decimal.fromInteger(value);
    return "declaredScale" in type ? fitWideNumeric(type, decimal) : decimal;
  }
  if (!(value instanceof Decimal)) {
    return precision === undefined ? value : checkNumericRange(value, precision, scale);
  }
  if (!value.isFinite) {
    const what = value.isNaN ? "NaN" : "an infinite value";
    throw new DatabaseError(SQLSTATE.numericValueOutOfRange, "numeric field overflow", {
      detail: `A field with precision ${precision ?? "unlimited"}, scale ${scale} cannot hold ${what}.`,
    });
  }
  const scaled = value.toScaled(scale);
  return precision === undefined ? scaled : checkNumericRange(scaled, precision, scale);
}

/** A decimal rounded to the declared scale of a wide type; 22003 when it has too many digits then. NaN fits. */
export function fitWideNumeric(type: WideNumericType, value: Decimal): Decimal {
  const { precision, declaredScale: scale } = type;
  if (value.isNaN) return value;
  if (!value.isFinite) {
    throw new DatabaseError(SQLSTATE.numericValueOutOfRange, "numeric field overflow", {
      detail: `A field with precision ${precision}, scale ${scale} cannot hold an infinite value.`,
    });
  }
  const rounded = value.round(scale);
  if (!rounded.isZero && decimalExponent(rounded) > precision - scale) {
    throw numericFieldOverflow(precision, scale);
  }
  return rounded;
}

/** The decimal of a numeric value, whether its type has a static scale or not. */
export function toDecimal(type: { readonly scale?: number }, value: NumberOrBigint | Decimal): Decimal {
  return value instanceof Decimal ? value : Decimal.of(value, type.scale ?? 0);
}

/** The text of a numeric value, whether its type has a static scale or not. */
export function numericText(type: { readonly scale?: number }, value: NumberOrBigint | Decimal): string {
  return value instanceof Decimal ? value.toString() : formatScaled(value, type.scale ?? 0);
}
