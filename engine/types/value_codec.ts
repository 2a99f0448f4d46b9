/**
 * The storage encoding of SQL values: compact, deterministic, and independent of the machine.
 *
 * Equal JavaScript forms give equal bytes, always; the encoding does not carry the type, which the schema has. By kind:
 * booleans one byte; integers zigzag LEB128, except that dates and timestamps, which can be infinite, have a lead byte
 * (0 finite, 1 infinity, 2 -infinity); floats IEEE 754 little-endian; texts and bytes with their length in front;
 * decimals a lead byte (0 NaN, 1 infinity, 2 -infinity, 3 finite), scale and coefficient; intervals their three parts;
 * arrays the number of dimensions, per dimension length and lower bound, then the nullable elements. Nullable values
 * have a lead byte, 0 for null and 1 otherwise.
 */
import { unreachable } from "../base/assert.ts";
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { Decimal } from "./decimal.ts";
import { Interval } from "./interval.ts";
import { SqlArray } from "./sql_array.ts";
import type { SqlType } from "./sql_type.ts";
import { uuidFromBytes, uuidToBytes } from "./scalar_text.ts";
import type { NumberOrBigint, SqlRecord, SqlValue } from "./value.ts";

/** Writes a mixed integer as zigzag LEB128. */
export function writeNumberOrBigint(writer: ByteWriter, value: NumberOrBigint): void {
  writer.writeSignedVarint(value);
}

/** Reads what {@link writeNumberOrBigint} wrote. */
export function readNumberOrBigint(reader: ByteReader): NumberOrBigint {
  return reader.readSignedVarint();
}

/** Writes a value that is not null. */
export function encodeValue(type: SqlType, value: SqlValue, writer: ByteWriter): void {
  switch (type.kind) {
    case "bool":
      writer.writeU8(value === true ? 1 : 0);
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
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
    case "enum":
    case "time":
      writer.writeSignedVarint(value as NumberOrBigint);
      return;
    case "date":
    case "timestamp":
    case "timestamptz":
      if (value === Infinity || value === -Infinity) writer.writeU8(value === Infinity ? 1 : 2);
      else {
        writer.writeU8(0);
        writer.writeSignedVarint(value as NumberOrBigint);
      }
      return;
    case "numeric":
      if (type.scale !== undefined) writer.writeSignedVarint(value as NumberOrBigint);
      else writeDecimal(writer, value as Decimal);
      return;
    case "f32":
      writer.writeF32(value as number);
      return;
    case "f64":
      writer.writeF64(value as number);
      return;
    case "text":
    case "name":
    case "varchar":
    case "char":
    case "json":
    case "jsonb":
    case "jsonpath":
    case "internal_char":
    case "unknown":
      writer.writeText(value as string);
      return;
    case "uuid":
      writer.writeBytes(uuidToBytes(value as string));
      return;
    case "bytea":
    case "bytes":
      writer.writeSizedBytes(value as Uint8Array);
      return;
    case "interval": {
      const interval = value as Interval;
      writer.writeSignedVarint(interval.months);
      writer.writeSignedVarint(interval.days);
      writer.writeSignedVarint(interval.microseconds);
      return;
    }
    case "array":
      writeArray(writer, type.element, value as SqlArray);
      return;
    case "record":
      type.fields.forEach((field, index) =>
        encodeNullable(field.type, (value as SqlRecord).recordValues[index] ?? null, writer)
      );
      return;
    case "void":
      return;
    default:
      unreachable(type);
  }
}

/** Reads a value that {@link encodeValue} wrote; `dataCorrupted` when the bytes are none. */
export function decodeValue(type: SqlType, reader: ByteReader): SqlValue {
  switch (type.kind) {
    case "bool":
      return reader.readU8() !== 0;
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64":
    case "oid":
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
    case "enum":
    case "time":
      return reader.readSignedVarint();
    case "date":
    case "timestamp":
    case "timestamptz": {
      const lead = reader.readU8();
      if (lead > 2) throw corrupted(`${type.kind} of form ${lead}`);
      return lead === 0 ? reader.readSignedVarint() : lead === 1 ? Infinity : -Infinity;
    }
    case "numeric":
      return type.scale !== undefined ? reader.readSignedVarint() : readDecimal(reader);
    case "f32":
      return reader.readF32();
    case "f64":
      return reader.readF64();
    case "text":
    case "name":
    case "varchar":
    case "char":
    case "json":
    case "jsonb":
    case "jsonpath":
    case "internal_char":
    case "unknown":
      return reader.readText();
    case "uuid":
      return uuidFromBytes(reader.readBytes(16));
    case "bytea":
    case "bytes":
      return reader.readSizedBytes().slice();
    case "interval": {
      const months = Number(reader.readSignedVarint());
      const days = Number(reader.readSignedVarint());
      return new Interval(months, days, reader.readSignedVarint());
    }
    case "array":
      return readArray(reader, type.element);
    case "record":
      return { recordValues: type.fields.map((field) => decodeNullable(field.type, reader)) };
    case "void":
      return "";
    default:
      return unreachable(type);
  }
}

/** Writes a value that may be null. */
export function encodeNullable(type: SqlType, value: SqlValue, writer: ByteWriter): void {
  if (value === null) writer.writeU8(0);
  else {
    writer.writeU8(1);
    encodeValue(type, value, writer);
  }
}

/** Reads what {@link encodeNullable} wrote. */
export function decodeNullable(type: SqlType, reader: ByteReader): SqlValue {
  const lead = reader.readU8();
  if (lead > 1) throw corrupted(`null marker ${lead}`);
  return lead === 0 ? null : decodeValue(type, reader);
}

const scratch = new ByteWriter(256);

/** The encoded bytes of one value that is not null, as storage class `bytes` keeps it. */
export function encodeValueBytes(type: SqlType, value: SqlValue): Uint8Array {
  if (value instanceof Uint8Array) return value;
  scratch.reset();
  encodeValue(type, value, scratch);
  return scratch.finish();
}

/** The value of what {@link encodeValueBytes} answered. */
export function decodeValueBytes(type: SqlType, bytes: Uint8Array): SqlValue {
  if (type.kind === "bytea" || type.kind === "bytes") return bytes;
  const reader = new ByteReader(bytes);
  const value = decodeValue(type, reader);
  reader.expectEnd();
  return value;
}

function writeDecimal(writer: ByteWriter, value: Decimal): void {
  switch (value.form) {
    case "nan":
      writer.writeU8(0);
      return;
    case "infinity":
      writer.writeU8(1);
      return;
    case "-infinity":
      writer.writeU8(2);
      return;
    case "finite":
      writer.writeU8(3);
      writer.writeVarint(value.scale);
      writer.writeSignedVarint(value.coefficient);
  }
}

function readDecimal(reader: ByteReader): Decimal {
  const form = reader.readU8();
  switch (form) {
    case 0:
      return Decimal.NAN;
    case 1:
      return Decimal.INFINITY;
    case 2:
      return Decimal.NEGATIVE_INFINITY;
    case 3: {
      const scale = reader.readVarint();
      return Decimal.of(reader.readSignedVarint(), scale);
    }
    default:
      throw corrupted(`decimal of form ${form}`);
  }
}

function writeArray(writer: ByteWriter, element: SqlType, array: SqlArray): void {
  writer.writeVarint(array.dimensions.length);
  array.dimensions.forEach((length, index) => {
    writer.writeVarint(length);
    writer.writeSignedVarint(array.lowerBounds[index] ?? 1);
  });
  for (const item of array.elements) encodeNullable(element, item, writer);
}

function readArray(reader: ByteReader, element: SqlType): SqlArray {
  const count = reader.readVarint();
  if (count === 0) return SqlArray.EMPTY;
  if (count > 6) throw corrupted(`array of ${count} dimensions`);
  const dimensions: number[] = [];
  const lowerBounds: number[] = [];
  let length = 1;
  for (let index = 0; index < count; index++) {
    const dimension = reader.readVarint();
    dimensions.push(dimension);
    lowerBounds.push(Number(reader.readSignedVarint()));
    length *= dimension;
  }
  if (length > reader.remaining) throw corrupted(`array of ${length} elements`);
  const elements: SqlValue[] = [];
  for (let index = 0; index < length; index++) elements.push(decodeNullable(element, reader));
  return new SqlArray(elements, dimensions, lowerBounds);
}

function corrupted(what: string): DatabaseError {
  return new DatabaseError(SQLSTATE.dataCorrupted, `Cannot decode value: ${what}`);
}
