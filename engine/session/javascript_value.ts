/**
 * Between SQL values and the plain JavaScript values that library and client users see.
 *
 * Out: integers are numbers, or bigints beyond ±(2^53 - 1); NUMERIC, dates, times and intervals are text in
 * PostgreSQL's form (exact, never a binary float); json and jsonb are parsed; arrays are arrays; bytea is Uint8Array.
 * In: the same, and besides Date for times, strings for anything, objects for json.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { SqlArray } from "../types/sql_array.ts";
import type { SqlType } from "../types/sql_type.ts";
import { formatText, parseText, type TextOptions } from "../types/text_io.ts";
import { formatType } from "../types/type_names.ts";
import type { SqlValue } from "../types/value.ts";

/** A value in a row, or a parameter, as JavaScript has it. */
export type JavaScriptValue =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Instant
  | readonly JavaScriptValue[]
  | { readonly [key: string]: unknown };

/** A moment that can name itself, such as JavaScript's Date. */
export interface Instant {
  /** The moment in ISO 8601 form. */
  toISOString(): string;
}

/** A row as an object keyed by column name. */
export type Row = Record<string, JavaScriptValue>;

/** The JavaScript form of a value. */
export function toJavaScript(type: SqlType, value: SqlValue, options: TextOptions): JavaScriptValue {
  if (value === null) return null;
  switch (type.kind) {
    case "bool":
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
    case "oid":
    case "f32":
    case "f64":
      return value as boolean | number | bigint;
    case "bytea":
    case "bytes":
      return value as Uint8Array;
    case "json":
    case "jsonb":
      return JSON.parse(value as string) as JavaScriptValue;
    case "array":
      return value instanceof SqlArray ? nested(type.element, value, 0, { next: 0 }, options) : null;
    default:
      return formatText(type, value, options);
  }
}

function nested(
  element: SqlType,
  array: SqlArray,
  dimension: number,
  cursor: { next: number },
  options: TextOptions,
): JavaScriptValue[] {
  const result: JavaScriptValue[] = [];
  for (let i = 0; i < (array.dimensions[dimension] ?? 0); i++) {
    result.push(
      dimension < array.dimensions.length - 1
        ? nested(element, array, dimension + 1, cursor, options)
        : toJavaScript(element, array.elements[cursor.next++] ?? null, options),
    );
  }
  return result;
}

/** The SQL value of a parameter. Raises 22P02, 22003 and the like as the text form would. */
export function fromJavaScript(type: SqlType, value: JavaScriptValue, options: TextOptions): SqlValue {
  if (value === null || value === undefined) return null;
  if (type.kind === "bool" && typeof value === "boolean") return value;
  if (type.kind === "bytea" && value instanceof Uint8Array) return value;
  if ((type.kind === "f64") && typeof value === "number") return value;
  if (type.kind === "json" || type.kind === "jsonb") {
    return parseText(type, typeof value === "string" ? value : JSON.stringify(value), options);
  }
  if (Array.isArray(value)) {
    if (type.kind !== "array") throw mismatch(type, "an array");
    return arrayOf(type.element, value, options);
  }
  if (typeof value === "object") {
    if (isInstant(value)) return parseText(type, value.toISOString(), options);
    if (value instanceof Uint8Array) return parseText(type, "\\x" + value.toHex(), options);
    throw mismatch(type, "an object");
  }
  return parseText(type, String(value), options);
}

function arrayOf(element: SqlType, values: readonly JavaScriptValue[], options: TextOptions): SqlArray {
  if (values.some((value) => Array.isArray(value))) {
    return SqlArray.ofArrays(values.map((value) => {
      if (!Array.isArray(value)) throw mismatch(element, "an array of unequal depth");
      return arrayOf(element, value, options);
    }));
  }
  return SqlArray.of(values.map((value) => fromJavaScript(element, value, options)));
}

function isInstant(value: object): value is Instant {
  return "toISOString" in value && typeof value.toISOString === "function";
}

function mismatch(type: SqlType, what: string): DatabaseError {
  return new DatabaseError(
    SQLSTATE.datatypeMismatch,
    `cannot pass ${what} for a parameter of type ${formatType(type)}`,
  );
}
