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
import { ByteReader, ByteWriter } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { Decimal } from "./decimal.ts";
import { Interval } from "./interval.ts";
import { SqlArray } from "./sql_array.ts";
import { elementOf, fieldTypesOf, physicalTypeOf } from "./physical_type.ts";
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
  switch (physicalTypeOf(type).class) {
    case "boolean":
      return writer.writeU8(value === true ? 1 : 0);
    case "integer":
      if (mayBeInfinite(type)) {
        if (value === Infinity || value === -Infinity) return writer.writeU8(value === Infinity ? 1 : 2);
        writer.writeU8(0);
      }
      return writer.writeSignedVarint(value as NumberOrBigint);
    case "float":
      return type.kind === "f32" ? writer.writeF32(value as number) : writer.writeF64(value as number);
    case "decimal":
      return writeDecimal(writer, value as Decimal);
    case "text":
      if (type.kind === "uuid") return writer.writeBytes(uuidToBytes(value as string));
      return writer.writeText(value as string);
    case "bytes":
      return writer.writeSizedBytes(value as Uint8Array);
    case "interval": {
      const interval = value as Interval;
      writer.writeSignedVarint(interval.months);
      writer.writeSignedVarint(interval.days);
      return writer.writeSignedVarint(interval.microseconds);
    }
    case "array":
      return writeArray(writer, elementOf(type), value as SqlArray);
    case "record":
      return fieldTypesOf(type).forEach((field, index) =>
        encodeNullable(field, (value as SqlRecord).recordValues[index] ?? null, writer)
      );
    case "void":
  }
}

/** Whether a type of integers has infinities, which are marked by a byte of their own. */
function mayBeInfinite(type: SqlType): boolean {
  return type.kind === "date" || type.kind === "timestamp" || type.kind === "timestamptz";
}

/** Reads a value that {@link encodeValue} wrote; `dataCorrupted` when the bytes are none. */
export function decodeValue(type: SqlType, reader: ByteReader): SqlValue {
  switch (physicalTypeOf(type).class) {
    case "boolean":
      return reader.readU8() !== 0;
    case "integer":
      if (mayBeInfinite(type)) {
        const lead = reader.readU8();
        if (lead > 2) throw corrupted(`${type.kind} of form ${lead}`);
        if (lead > 0) return lead === 1 ? Infinity : -Infinity;
      }
      return reader.readSignedVarint();
    case "float":
      return type.kind === "f32" ? reader.readF32() : reader.readF64();
    case "decimal":
      return readDecimal(reader);
    case "text":
      return type.kind === "uuid" ? uuidFromBytes(reader.readBytes(16)) : reader.readText();
    case "bytes":
      return reader.readSizedBytes().slice();
    case "interval": {
      const months = Number(reader.readSignedVarint());
      const days = Number(reader.readSignedVarint());
      return new Interval(months, days, reader.readSignedVarint());
    }
    case "array":
      return readArray(reader, elementOf(type));
    case "record":
      return { recordValues: fieldTypesOf(type).map((field) => decodeNullable(field, reader)) };
    case "void":
      return "";
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
