/**
 * From text to value and back, for every type: PostgreSQL's input and output functions.
 *
 * What texts mean can depend on the session: its time zone, DateStyle and IntervalStyle, and the transaction's time
 * for inputs such as `now`. Names of relations and types (`regclass`, …) need the catalog, which lies above this
 * layer, so callers pass functions for them; without those, such values are their numbers.
 */
import { formatInternalChar, parseInternalChar } from "./internal_char.ts";
import { enumLabel, enumValue } from "./enum_type.ts";
import { unreachable } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { formatDate, formatTime, formatTimestamp, formatTimestampTz, ISO_MDY } from "./date_time_format.ts";
import type { DateStyle } from "./date_time_format.ts";
import { parseDate, parseTime, parseTimestamp, parseTimestampTz } from "./date_time_parse.ts";
import { Decimal } from "./decimal.ts";
import type { Interval } from "./interval.ts";
import { formatInterval, parseInterval } from "./interval_text.ts";
import type { IntervalStyle } from "./interval_text.ts";
import { canonicalJsonb, validateJson } from "./json.ts";
import { parseJsonPath } from "./json_path_parser.ts";
import { formatJsonPath } from "./json_path_syntax.ts";
import { checkNumericRange, formatScaled } from "./number_or_bigint.ts";
import {
  formatBytea,
  formatFloat32,
  formatFloat64,
  invalidText,
  parseBoolean,
  parseBytea,
  parseFloatText,
  parseInteger,
  parseUuid,
} from "./scalar_text.ts";
import { formatArray, parseArray, SqlArray } from "./sql_array.ts";
import { intervalRange } from "./sql_type.ts";
import type { SqlType } from "./sql_type.ts";
import { characterLength, requireWellFormed, truncateName } from "./text.ts";
import { UTC } from "./time_zone.ts";
import type { TimeZone } from "./time_zone.ts";
import { applyTypeModifier, fitNumeric } from "./type_modifier.ts";
import type { NumberOrBigint, SqlRecord, SqlValue } from "./value.ts";

/** The types whose values name objects of the catalog. */
export type ObjectTypeKind = "regclass" | "regtype" | "regproc" | "regnamespace";

/** What texts depend on besides the type. */
export interface TextOptions {
  /** The transaction's time, in microseconds since 2000-01-01 UTC. */
  readonly now: NumberOrBigint;
  /** The session's time zone. */
  readonly timeZone: TimeZone;
  /** How dates and timestamps are printed and read. */
  readonly dateStyle: DateStyle;
  /** How intervals are printed. */
  readonly intervalStyle: IntervalStyle;
  /** How byte strings are printed; hex unless set. */
  readonly byteaOutput?: "hex" | "escape";
  /** The object identifier of a name; raises when there is no such object. */
  readonly lookupObject?: (kind: ObjectTypeKind, name: string) => number;
  /** The name of an object identifier, or undefined when there is no such object. */
  readonly objectName?: (kind: ObjectTypeKind, oid: number) => string | undefined;
}

/** UTC, ISO dates, the postgres interval style, and 2000-01-01 as the present time. */
export const DEFAULT_TEXT_OPTIONS: TextOptions = {
  now: 0,
  timeZone: UTC,
  dateStyle: ISO_MDY,
  intervalStyle: "postgres",
};

function dateTimeContext(options: TextOptions) {
  return { now: options.now, zone: options.timeZone, order: options.dateStyle.order };
}

/** The value of a text, as an input of the type (typmods applied as on assignment); 22P02 and others. */
export function parseText(
  type: SqlType,
  text: string,
  options: TextOptions = DEFAULT_TEXT_OPTIONS,
): SqlValue {
  switch (type.kind) {
    case "bool":
      return parseBoolean(text);
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
    case "oid":
      return parseInteger(type.kind, text);
    case "f32":
    case "f64":
      return parseFloatText(text, type.kind === "f32");
    case "numeric":
      return parseNumeric(type, text);
    case "text":
    case "unknown":
      return checkText(text);
    case "varchar":
    case "char":
      return applyTypeModifier(type, checkText(text), false);
    case "name":
      return truncateName(checkText(text));
    case "internal_char":
      return parseInternalChar(text);
    case "bytea":
    case "bytes":
      return applyTypeModifier(type, parseBytea(text), false);
    case "date":
      return parseDate(text, dateTimeContext(options));
    case "time":
      return applyTypeModifier(type, parseTime(text, dateTimeContext(options)), false);
    case "timestamp":
      return applyTypeModifier(type, parseTimestamp(text, dateTimeContext(options)), false);
    case "timestamptz":
      return applyTypeModifier(type, parseTimestampTz(text, dateTimeContext(options)), false);
    case "interval":
      return applyTypeModifier(type, parseInterval(text, intervalRange(type), options.intervalStyle), false);
    case "uuid":
      return parseUuid(text);
    case "json":
      validateJson(text);
      return checkText(text);
    case "jsonb":
      return canonicalJsonb(text);
    case "jsonpath":
      return formatJsonPath(parseJsonPath(text));
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
      return parseObject(type.kind, text, options);
    case "enum":
      return enumValue(type, text);
    case "array":
      if (type.vector === true) return parseVector(type.element, text, options);
      return parseArray(text, (element) => parseText(type.element, element, options));
    case "record":
      throw new DatabaseError(
        SQLSTATE.featureNotSupported,
        "input of anonymous composite types is not implemented",
      );
    case "void":
      return "";
    default:
      return unreachable(type);
  }
}

/** The text of a value that is not null, as the type's output. */
export function formatText(
  type: SqlType,
  value: SqlValue,
  options: TextOptions = DEFAULT_TEXT_OPTIONS,
): string {
  switch (type.kind) {
    case "bool":
      return value === true ? "t" : "f";
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
    case "oid":
      return String(value);
    case "f64":
      return formatFloat64(value as number);
    case "f32":
      return formatFloat32(value as number);
    case "numeric":
      return type.scale === undefined
        ? (value as Decimal).toString()
        : formatScaled(value as NumberOrBigint, type.scale);
    case "text":
    case "unknown":
    case "varchar":
    case "name":
    case "uuid":
    case "json":
    case "jsonb":
    case "jsonpath":
      return value as string;
    case "internal_char":
      return formatInternalChar(value as string);
    case "char":
      return padCharacters(value as string, type.length);
    case "bytea":
    case "bytes":
      return formatBytea(value as Uint8Array, options.byteaOutput);
    case "date":
      return formatDate(value as number, options.dateStyle);
    case "time":
      return formatTime(value as number);
    case "timestamp":
      return formatTimestamp(value as NumberOrBigint, options.dateStyle);
    case "timestamptz":
      return formatTimestampTz(value as NumberOrBigint, options.timeZone, options.dateStyle);
    case "interval":
      return formatInterval(value as Interval, options.intervalStyle);
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
      if (value === 0) return "-";
      return options.objectName?.(type.kind, value as number) ?? String(value);
    case "enum":
      return enumLabel(type, value as number);
    case "array":
      if (type.vector === true) return (value as SqlArray).elements.join(" ");
      return formatArray(value as SqlArray, (element) => formatText(type.element, element, options));
    case "record":
      return formatRecord(type.fields.map((field) => field.type), value as SqlRecord, options);
    case "void":
      return "";
    default:
      return unreachable(type);
  }
}

function checkText(text: string): string {
  if (!text.includes("\0")) return requireWellFormed(text);
  throw new DatabaseError(
    SQLSTATE.characterNotInRepertoire,
    'invalid byte sequence for encoding "UTF8": 0x00',
  );
}

/** A CHAR(n) value with the spaces that its type says. */
export function padCharacters(text: string, length: number): string {
  const missing = length - characterLength(text);
  return missing > 0 ? text + " ".repeat(missing) : text;
}

function parseNumeric(
  type: SqlType & { readonly kind: "numeric" },
  text: string,
): NumberOrBigint | Decimal {
  const { precision, scale } = type;
  if (scale !== undefined) {
    const scaled = parseShortScaled(text, scale);
    if (scaled !== undefined) {
      return precision === undefined ? scaled : checkNumericRange(scaled, precision, scale);
    }
  }
  return fitNumeric(type, Decimal.fromString(text));
}

/** Plain digits with at most `scale` after the point and 15 in all; undefined for everything else. */
function parseShortScaled(text: string, scale: number): number | undefined {
  const length = text.length;
  if (length === 0 || length > 16) return undefined;
  const negative = text.charCodeAt(0) === 45;
  let value = 0;
  let point = -1;
  let digits = 0;
  for (let index = negative ? 1 : 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code === 46 && point < 0) point = index;
    else {
      const digit = code - 48;
      if (!(digit >= 0 && digit <= 9)) return undefined;
      value = value * 10 + digit;
      digits++;
    }
  }
  const fraction = point < 0 ? 0 : length - 1 - point;
  if (digits === 0 || fraction > scale || digits + scale - fraction > 15) return undefined;
  for (let index = fraction; index < scale; index++) value *= 10;
  return negative ? 0 - value : value;
}

/** Numbers separated by spaces; the first has the index 0. */
function parseVector(element: SqlType, text: string, options: TextOptions): SqlArray {
  const parts = text.trim().split(/\s+/).filter((part) => part !== "");
  if (parts.length === 0) return SqlArray.EMPTY;
  return new SqlArray(parts.map((part) => parseText(element, part, options)), [parts.length], [0]);
}

function parseObject(kind: ObjectTypeKind, text: string, options: TextOptions): number {
  const trimmed = text.trim();
  if (trimmed === "-") return 0;
  if (/^\d+$/.test(trimmed)) return Number(parseInteger("oid", trimmed));
  if (options.lookupObject === undefined) throw invalidText(kind, text);
  return options.lookupObject(kind, trimmed);
}

function formatRecord(types: readonly SqlType[], record: SqlRecord, options: TextOptions): string {
  const parts = record.recordValues.map((value, index) => {
    const type = types[index];
    if (value === null || type === undefined) return "";
    const text = formatText(type, value, options);
    if (text !== "" && !/["\\(),\s]/.test(text)) return text;
    return `"${text.replace(/["\\]/g, "$&$&")}"`;
  });
  return `(${parts.join(",")})`;
}
