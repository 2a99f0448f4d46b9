/**
 * SQL values as JSON: numbers where a JSON number is read back as exactly the same value, strings otherwise.
 *
 * A decimal number survives the way through a double when it has at most 15 significant digits, so those are numbers
 * (with their own digits: `12.50`). Of longer ones those are numbers that survive without the zeros at their end; the
 * others are strings. NaN and the infinities are strings, bytes `\x…` hex,
 * times ISO 8601, JSON and arrays themselves, everything else PostgreSQL's text.
 */
import { formatFloat32 } from "../../../engine/types/scalar_text.ts";
import { formatInterval } from "../../../engine/types/interval_text.ts";
import type { Interval } from "../../../engine/types/interval.ts";
import { SqlArray } from "../../../engine/types/sql_array.ts";
import type { SqlType } from "../../../engine/types/sql_type.ts";
import { formatText, type TextOptions } from "../../../engine/types/text_io.ts";
import { ISO_MDY } from "../../../engine/types/date_time_format.ts";
import type { SqlValue } from "../../../engine/types/value.ts";
import type { JsonBuffer } from "./json_buffer.ts";

const EXACT_DIGITS = 15;

/** Writes a value that is not null. */
export function writeJsonValue(
  buffer: JsonBuffer,
  type: SqlType,
  value: SqlValue,
  options: TextOptions,
): void {
  switch (type.kind) {
    case "bool":
      buffer.text(value === true ? "true" : "false");
      return;
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
    case "oid":
      writeJsonInteger(buffer, value as number | bigint);
      return;
    case "f64":
      writeFloat(buffer, value as number, String(value));
      return;
    case "f32":
      writeFloat(buffer, value as number, formatFloat32(value as number));
      return;
    case "numeric":
      writeDecimalText(buffer, formatText(type, value, options));
      return;
    case "json":
    case "jsonb":
      buffer.json(value as string);
      return;
    case "array":
      if (value instanceof SqlArray) writeArray(buffer, type.element, value, options);
      else buffer.text("null");
      return;
    case "timestamp":
    case "timestamptz":
      buffer.string(isoTimestamp(formatText(type, value, { ...options, dateStyle: ISO_MDY })));
      return;
    case "date":
      buffer.string(formatText(type, value, { ...options, dateStyle: ISO_MDY }));
      return;
    case "interval":
      buffer.string(formatInterval(value as Interval, "iso_8601"));
      return;
    case "bytea":
    case "bytes":
      buffer.string("\\x" + (value as Uint8Array).toHex());
      return;
    default:
      buffer.string(formatText(type, value, options));
  }
}

/** An integer: a number when a double holds it, else a string. */
export function writeJsonInteger(buffer: JsonBuffer, value: number | bigint): void {
  if (typeof value === "number") buffer.text(String(value));
  else buffer.string(value.toString());
}

function writeFloat(buffer: JsonBuffer, value: number, text: string): void {
  if (Number.isFinite(value)) buffer.text(Object.is(value, -0) ? "-0" : text.replace("e+", "e"));
  else buffer.string(Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

function writeDecimalText(buffer: JsonBuffer, text: string): void {
  if (!/^-?\d/.test(text)) return buffer.string(text);
  if (significantDigits(text) <= EXACT_DIGITS) return buffer.text(text);
  const shortest = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  if (significantDigits(shortest) <= EXACT_DIGITS || String(Number(shortest)) === shortest) {
    buffer.text(shortest);
  } else buffer.string(text);
}

function significantDigits(text: string): number {
  return text.replace(/^-?0*\.?0*/, "").replace(".", "").length;
}

/** `2024-02-29 12:00:00+00` as ISO 8601; infinities and years before Christ stay as PostgreSQL writes them. */
export function isoTimestamp(text: string): string {
  const match = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(:?\d\d)?(:?\d\d)?)?$/.exec(text);
  if (match === null) return text;
  const [, date, time, hours, minutes = ":00", seconds] = match;
  if (hours === undefined) return `${date}T${time}`;
  if (hours === "+00" && minutes === ":00" && seconds === undefined) return `${date}T${time}Z`;
  return `${date}T${time}${hours}${minutes.startsWith(":") ? minutes : `:${minutes}`}`;
}

function writeArray(buffer: JsonBuffer, element: SqlType, array: SqlArray, options: TextOptions): void {
  let next = 0;
  const writeDimension = (dimension: number): void => {
    buffer.byte(0x5b);
    for (let index = 0; index < (array.dimensions[dimension] ?? 0); index++) {
      if (index > 0) buffer.byte(0x2c);
      if (dimension < array.dimensions.length - 1) {
        writeDimension(dimension + 1);
        continue;
      }
      const item = array.elements[next++] ?? null;
      if (item === null) buffer.text("null");
      else writeJsonValue(buffer, element, item, options);
    }
    buffer.byte(0x5d);
  };
  writeDimension(0);
}
