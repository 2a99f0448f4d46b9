/**
 * From values of a Parquet column's natural type to those of the SQL column, as an assignment would convert them.
 * Common pairs of types are converted without making values; all others go through {@link convertValue}.
 */
import { decodeUtf8Strict, encodeUtf8, invalidUtf8 } from "../../base/bytes.ts";
import { dateFromTimestamp, timestampFromDate } from "../../types/date_time.ts";
import { canonicalJsonb } from "../../types/json.ts";
import {
  checkInteger,
  INTEGER_RANGES,
  integerFromFloat,
  isIntegerKind,
  numericFieldOverflow,
  rescale,
} from "../../types/number_or_bigint.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { fromStored, toStored } from "../../types/stored_value.ts";
import { formatText, parseText } from "../../types/text_io.ts";
import { applyTypeModifier } from "../../types/type_modifier.ts";
import type { NumberOrBigint, SqlValue } from "../../types/value.ts";
import { bytesOf, type Conversion } from "./natural_values.ts";
import { integerAt, numberVector, setInteger, type Vector } from "./vector.ts";

/** How the values of a column get into another: as they are, converted, or not at all. */
export type TargetConversion =
  | { readonly kind: "same" }
  /** The bytes as they are, or shortened, but they have to be UTF-8 without zeros. */
  | { readonly kind: "text"; readonly convert: Conversion | null }
  | { readonly kind: "convert"; readonly convert: Conversion }
  | { readonly kind: "impossible" };

const TEXT_KINDS: ReadonlySet<string> = new Set(["text", "varchar", "char", "name"]);
const NUMBER_KINDS: ReadonlySet<string> = new Set(["numeric", "f32", "f64"]);
const TIMESTAMPS: ReadonlySet<string> = new Set(["timestamp", "timestamptz"]);

function isNumber(kind: string): boolean {
  return NUMBER_KINDS.has(kind) || isIntegerKind(kind);
}

/** Whether values of a type may be assigned to a column of another. */
function isAssignable(from: string, to: string): boolean {
  if (from === to || from === "unknown" || from === "text" || TEXT_KINDS.has(to)) return true;
  if (isNumber(from)) return isNumber(to);
  if (from === "json") return to === "jsonb";
  if (from === "bytea") return to === "bytes";
  if (from === "date") return TIMESTAMPS.has(to);
  return TIMESTAMPS.has(from) && (TIMESTAMPS.has(to) || to === "date");
}

/** See {@link TargetConversion}. */
export function targetConversion(from: SqlType, to: SqlType): TargetConversion {
  if (!isAssignable(from.kind, to.kind)) return { kind: "impossible" };
  if (isIntegerKind(from.kind) && isIntegerKind(to.kind)) return integers(from.kind, to.kind);
  if (isIntegerKind(from.kind) || from.kind === "numeric") {
    if (
      to.kind === "numeric" && to.scale !== undefined && (from.kind !== "numeric" || from.scale !== undefined)
    ) {
      const scale = from.kind === "numeric" ? from.scale ?? 0 : 0;
      const digits = from.kind === "numeric" ? from.precision ?? 38 : 20;
      return scaled({ scale, digits }, { scale: to.scale, precision: to.precision });
    }
  }
  if (from.kind === to.kind) {
    const sameForm = from.kind !== "numeric" && to.kind !== "varchar" && to.kind !== "char" &&
      !("precision" in to);
    if (from.kind === "text") return { kind: "text", convert: null };
    if (from.kind === "json") return general(from, to);
    if (sameForm && !("fields" in to) && !("length" in to)) return { kind: "same" };
  }
  if (from.kind === "f32" && to.kind === "f64") return { kind: "same" };
  if (from.kind === "text" && to.kind === "varchar" && to.length === undefined) {
    return { kind: "text", convert: null };
  }
  if (from.kind === "bytea" && to.kind === "text") return { kind: "text", convert: null };
  if (TIMESTAMPS.has(from.kind) && TIMESTAMPS.has(to.kind) && !("precision" in to)) return { kind: "same" };
  if (from.kind === "text" && (to.kind === "varchar" || to.kind === "char")) {
    return { kind: "text", convert: shortTexts(to) };
  }
  return general(from, to);
}

function integers(from: keyof typeof INTEGER_RANGES, to: keyof typeof INTEGER_RANGES): TargetConversion {
  const [low, high] = INTEGER_RANGES[to];
  const [fromLow, fromHigh] = INTEGER_RANGES[from];
  if (fromLow >= low && fromHigh <= high) return { kind: "same" };
  const [safeLow, safeHigh] = [Number(low), Number(high)];
  const convert: Conversion = (vector, count) => {
    if (vector.kind !== "number") return vector;
    const { data } = vector;
    for (let index = 0; index < count; index++) {
      const value = data[index] as number;
      if (!(value >= safeLow && value <= safeHigh)) checkInteger(to, integerAt(vector, index));
    }
    return vector;
  };
  return { kind: "convert", convert };
}

function scaled(
  from: { readonly scale: number; readonly digits: number },
  to: { readonly scale: number; readonly precision: number | undefined },
): TargetConversion {
  const precision = to.precision ?? 38;
  const always = to.scale >= from.scale && precision - to.scale >= from.digits - from.scale;
  if (always && to.scale === from.scale) return { kind: "same" };
  const factor = 10 ** (to.scale - from.scale);
  const safeLimit = Math.min(10 ** precision, Number.MAX_SAFE_INTEGER);
  const exactLimit = 10n ** BigInt(precision);
  const convert: Conversion = (vector, count) => {
    if (vector.kind !== "number") return vector;
    const { data } = vector;
    for (let index = 0; index < count; index++) {
      const value = (data[index] as number) * factor;
      if (factor >= 1 && value < safeLimit && value > -safeLimit) data[index] = value;
      else {
        const exact = rescale(integerAt(vector, index), from.scale, to.scale);
        if (exact >= exactLimit || exact <= -exactLimit) throw numericFieldOverflow(precision, to.scale);
        setInteger(vector, index, exact);
      }
    }
    return vector;
  };
  return { kind: "convert", convert };
}

/** VARCHAR(n) and CHAR(n): few bytes fit as they are, without the spaces at the end of a CHAR. */
function shortTexts(to: SqlType): Conversion {
  const trims = to.kind === "char";
  const limit = "length" in to ? to.length ?? Infinity : Infinity;
  return (vector, count) => {
    if (vector.kind !== "bytes") return vector;
    const { bytes, starts, ends } = vector;
    let isShort = true;
    for (let index = 0; index < count; index++) {
      const start = starts[index] as number;
      let end = ends[index] as number;
      if (trims) {
        while (end > start && bytes[end - 1] === 32) end--;
        ends[index] = end;
      }
      if (end - start > limit) isShort = false;
    }
    if (isShort) return vector;
    return bytesOf(count, (index) => {
      const text = textOf(bytes.subarray(starts[index], ends[index]));
      return encodeUtf8(parseText(to, text) as string);
    });
  };
}

/** The text of bytes; 22021 when they are not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  const text = decodeUtf8Strict(bytes);
  if (text === undefined) throw invalidUtf8(bytes);
  return text;
}

/** A text as it is stored: UTF-8 without zeros. Raises 22021. */
export function checkStoredText(bytes: Uint8Array): void {
  parseText({ kind: "text" }, textOf(bytes));
}

function general(from: SqlType, to: SqlType): TargetConversion {
  const toNumbers = storageClassOf(to) === "int" || storageClassOf(to) === "float";
  const convert: Conversion = (vector, count) => {
    const one = (index: number): SqlValue => convertValue(from, to, valueAt(from, vector, index));
    if (!toNumbers) {
      return bytesOf(count, (index) => {
        const stored = toStored(to, one(index));
        return typeof stored === "string" ? encodeUtf8(stored) : stored as Uint8Array;
      });
    }
    const target = numberVector(count);
    for (let index = 0; index < count; index++) {
      setInteger(target, index, toStored(to, one(index)) as NumberOrBigint);
    }
    return target;
  };
  return { kind: "convert", convert };
}

/** The value at a position of a vector of stored values. */
export function valueAt(type: SqlType, vector: Vector, index: number): SqlValue {
  if (vector.kind === "number") {
    const value = vector.data[index] as number;
    return fromStored(type, value === value ? value : vector.big?.get(index) ?? value);
  }
  const bytes = vector.bytes.slice(vector.starts[index], vector.ends[index]);
  return fromStored(type, storageClassOf(type) === "text" ? textOf(bytes) : bytes);
}

/** A value as an assignment to another type makes it. Raises the type's errors. */
export function convertValue(from: SqlType, to: SqlType, value: SqlValue): SqlValue {
  if (value === null) return null;
  if (from.kind === "bytea" && TEXT_KINDS.has(to.kind)) return parseText(to, textOf(value as Uint8Array));
  if (from.kind === "text") return parseText(to, value as string);
  // As the cast writes it, which is not as it is printed.
  if (from.kind === "bool" && TEXT_KINDS.has(to.kind)) {
    return parseText(to, value === true ? "true" : "false");
  }
  if (TEXT_KINDS.has(to.kind)) return parseText(to, formatText(from, value));
  if (isIntegerKind(to.kind)) {
    if (from.kind === "f32" || from.kind === "f64") return integerFromFloat(to.kind, value as number);
    if (from.kind === "numeric") {
      return checkInteger(to.kind, rescale(value as NumberOrBigint, from.scale ?? 0, 0));
    }
  }
  if (isNumber(from.kind) && isNumber(to.kind)) return parseText(to, formatText(from, value));
  if (from.kind === "json") {
    return to.kind === "jsonb" ? canonicalJsonb(value as string) : parseText(to, value as string);
  }
  if (from.kind === "date" && TIMESTAMPS.has(to.kind)) {
    return applyTypeModifier(to, timestampFromDate(value as number), false);
  }
  if (to.kind === "date" && TIMESTAMPS.has(from.kind)) return dateFromTimestamp(value as NumberOrBigint);
  return applyTypeModifier(to, value, false);
}
