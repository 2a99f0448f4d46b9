/**
 * Reads the parameters of a Bind message. Integers and texts, which most parameters are, are read from the bytes
 * directly; everything else goes through the types' own input functions.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { decodeBinary } from "../../engine/types/binary_io.ts";
import type { SqlType } from "../../engine/types/sql_type.ts";
import { parseText, type TextOptions } from "../../engine/types/text_io.ts";
import type { SqlValue } from "../../engine/types/value.ts";
import { decodeText, type MessageReader } from "./message_reader.ts";

/** Longest run of digits that is surely a safe integer. */
const SAFE_DIGITS = 15;

/** Column formats of a result: all text, all binary, or one code per column. */
export type ResultFormats = "text" | "binary" | Uint8Array;

/** Reads the parameter formats and parameters. `typesOf` the statement; `statementName` for messages. */
export function readParameters(
  reader: MessageReader,
  types: readonly SqlType[],
  options: { readonly statementName: string; readonly textOptions: () => TextOptions },
): SqlValue[] {
  const formatCount = reader.readU16();
  let only = 0;
  let formats: Uint8Array | null = null;
  if (formatCount === 1) only = readFormat(reader);
  else if (formatCount > 1) {
    formats = new Uint8Array(formatCount);
    for (let i = 0; i < formatCount; i++) formats[i] = readFormat(reader);
  }
  const count = reader.readU16();
  if (formatCount > 1 && formatCount !== count) {
    throw new DatabaseError(
      SQLSTATE.protocolViolation,
      `bind message has ${formatCount} parameter formats but ${count} parameters`,
    );
  }
  if (count !== types.length) {
    throw new DatabaseError(
      SQLSTATE.protocolViolation,
      `bind message supplies ${count} parameters, but prepared statement "${options.statementName}" requires ${types.length}`,
    );
  }
  const values: SqlValue[] = new Array(count);
  for (let i = 0; i < count; i++) {
    const length = reader.readI32();
    if (length === -1) {
      values[i] = null;
      continue;
    }
    const start = reader.start, end = start + length;
    if (length < 0 || end > reader.end) {
      throw new DatabaseError(SQLSTATE.protocolViolation, "insufficient data left in message");
    }
    reader.start = end;
    const binary = (formats === null ? only : formats[i]) === 1;
    values[i] = binary
      ? decodeBinaryParameter(types[i] as SqlType, reader.bytes, start, end, i)
      : decodeTextParameter(types[i] as SqlType, reader.bytes, start, end, options.textOptions);
  }
  return values;
}

/** Reads the result formats that end a Bind message. Raises 08P01 when their number does not fit. */
export function readResultFormats(reader: MessageReader, columnCount: number): ResultFormats {
  const count = reader.readU16();
  if (count === 0) return "text";
  if (count === 1) return readFormat(reader) === 1 ? "binary" : "text";
  if (count !== columnCount) {
    throw new DatabaseError(
      SQLSTATE.protocolViolation,
      `bind message has ${count} result formats but query has ${columnCount} columns`,
    );
  }
  const formats = new Uint8Array(count);
  for (let i = 0; i < count; i++) formats[i] = readFormat(reader);
  if (formats.every((format) => format === 0)) return "text";
  return formats.every((format) => format === 1) ? "binary" : formats;
}

/** The format code of a column. */
export function formatCode(formats: ResultFormats, column: number): number {
  return formats === "text" ? 0 : formats === "binary" ? 1 : formats[column] ?? 0;
}

function readFormat(reader: MessageReader): number {
  const code = reader.readI16();
  if (code !== 0 && code !== 1) {
    throw new DatabaseError(SQLSTATE.invalidParameterValue, `unsupported format code: ${code}`);
  }
  return code;
}

function decodeTextParameter(
  type: SqlType,
  bytes: Uint8Array,
  start: number,
  end: number,
  textOptions: () => TextOptions,
): SqlValue {
  switch (type.kind) {
    case "i16":
    case "i32":
    case "i64": {
      const value = readDigits(bytes, start, end);
      if (
        value !== null &&
        (type.kind === "i64" || (type.kind === "i32" ? value === (value | 0) : value === (value << 16 >> 16)))
      ) return value;
      break;
    }
    case "text":
      return decodeText(bytes, start, end);
  }
  return parseText(type, decodeText(bytes, start, end), textOptions());
}

/** A short plain decimal integer, or null for any other text. */
function readDigits(bytes: Uint8Array, start: number, end: number): number | null {
  const negative = bytes[start] === 0x2d;
  const first = negative ? start + 1 : start;
  if (first === end || end - first > SAFE_DIGITS) return null;
  let value = 0;
  for (let at = first; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return negative && value !== 0 ? -value : value;
}

function decodeBinaryParameter(
  type: SqlType,
  bytes: Uint8Array,
  start: number,
  end: number,
  index: number,
): SqlValue {
  const length = end - start;
  switch (type.kind) {
    case "i32":
      if (length === 4) return readI32(bytes, start);
      break;
    case "i64": {
      if (length !== 8) break;
      const high = readI32(bytes, start), low = readI32(bytes, start + 4) >>> 0;
      const value = high * 0x1_0000_0000 + low;
      if (Number.isSafeInteger(value)) return value;
      break;
    }
    case "i16":
      if (length === 2) return ((bytes[start] as number) << 24 >> 16) | (bytes[start + 1] as number);
      break;
    case "text":
      return decodeText(bytes, start, end);
  }
  try {
    return decodeBinary(type, bytes.subarray(start, end));
  } catch (thrown) {
    if (
      thrown instanceof DatabaseError && thrown.code === SQLSTATE.invalidBinaryRepresentation &&
      thrown.message === "incorrect binary data format"
    ) {
      throw new DatabaseError(
        thrown.code,
        `${thrown.message} in bind parameter ${index + 1}`,
        thrown.fields(),
      );
    }
    throw thrown;
  }
}

function readI32(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) << 24 | (bytes[at + 1] as number) << 16 | (bytes[at + 2] as number) << 8 |
    (bytes[at + 3] as number);
}
