/**
 * PostgreSQL's binary formats of values (its send and receive functions), for every type.
 *
 * The native types travel as the next wider signed type, `u64` as numeric; see `typeOid`. All integers are big-endian.
 * Times are microseconds and dates days since 2000-01-01, infinities the extreme integers. Malformed input raises
 * 22P03, ill-formed UTF-8 22021.
 */
import { internalCharByte, internalCharOf } from "./internal_char.ts";
import { enumLabel, enumValue } from "./enum_type.ts";
import { unreachable } from "../base/assert.ts";
import { ByteReader, ByteWriter, decodeUtf8Strict, invalidUtf8 } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { checkDate, checkTimestamp, MICROSECONDS_PER_DAY } from "./calendar.ts";
import { Decimal } from "./decimal.ts";
import { Interval } from "./interval.ts";
import { canonicalJsonb, validateJson } from "./json.ts";
import { parseJsonPath } from "./json_path_parser.ts";
import { formatJsonPath } from "./json_path_syntax.ts";
import { absolute, checkInteger, normalize } from "./number_or_bigint.ts";
import { uuidFromBytes, uuidToBytes } from "./scalar_text.ts";
import { SqlArray } from "./sql_array.ts";
import type { SqlType } from "./sql_type.ts";
import { padCharacters } from "./text_io.ts";
import { applyTypeModifier, fitNumeric, toDecimal } from "./type_modifier.ts";
import { typeOid } from "./type_names.ts";
import type { NumberOrBigint, SqlRecord, SqlValue } from "./value.ts";

const MAX_I64 = 9223372036854775807n;
const MIN_I64 = -9223372036854775808n;
const DATE_INFINITY = 0x7fffffff;
const DATE_NEGATIVE_INFINITY = -0x80000000;

const NUMERIC_NEGATIVE = 0x4000;
const NUMERIC_NAN = 0xc000;
const NUMERIC_INFINITY = 0xd000;
const NUMERIC_NEGATIVE_INFINITY = 0xf000;

const scratch = new ByteWriter(1024);

/** The binary form of a value that is not null. */
export function encodeBinary(type: SqlType, value: SqlValue): Uint8Array {
  scratch.reset();
  writeBinary(type, value, scratch);
  return scratch.finish();
}

/** Appends the binary form of a value that is not null, without a length. */
export function writeBinary(type: SqlType, value: SqlValue, writer: ByteWriter): void {
  switch (type.kind) {
    case "bool":
      writer.writeU8(value === true ? 1 : 0);
      return;
    case "i8":
    case "i16":
    case "u8":
      writer.writeI16BigEndian(value as number);
      return;
    case "i32":
    case "u16":
      writer.writeI32BigEndian(value as number);
      return;
    case "oid":
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
      writer.writeU32BigEndian(value as number);
      return;
    case "i64":
    case "u32":
    case "time":
      writer.writeI64BigEndian(value as NumberOrBigint);
      return;
    case "u64":
      writeNumeric(writer, Decimal.fromInteger(value as NumberOrBigint));
      return;
    case "f32":
      writer.writeF32BigEndian(value as number);
      return;
    case "f64":
      writer.writeF64BigEndian(value as number);
      return;
    case "numeric":
      writeNumeric(writer, toDecimal(type, value as NumberOrBigint | Decimal));
      return;
    case "text":
    case "unknown":
    case "varchar":
    case "name":
    case "json":
      writer.writeUtf8(value as string);
      return;
    case "internal_char":
      writer.writeU8(internalCharByte(value as string));
      return;
    case "char":
      writer.writeUtf8(padCharacters(value as string, type.length));
      return;
    case "jsonb":
    case "jsonpath":
      writer.writeU8(1);
      writer.writeUtf8(value as string);
      return;
    case "enum":
      writer.writeUtf8(enumLabel(type, value as number));
      return;
    case "bytea":
    case "bytes":
      writer.writeBytes(value as Uint8Array);
      return;
    case "uuid":
      writer.writeBytes(uuidToBytes(value as string));
      return;
    case "date":
      writer.writeI32BigEndian(
        value === Infinity ? DATE_INFINITY : value === -Infinity ? DATE_NEGATIVE_INFINITY : value as number,
      );
      return;
    case "timestamp":
    case "timestamptz":
      writer.writeI64BigEndian(
        value === Infinity ? MAX_I64 : value === -Infinity ? MIN_I64 : value as NumberOrBigint,
      );
      return;
    case "interval": {
      const interval = value as Interval;
      writer.writeI64BigEndian(interval.microseconds);
      writer.writeI32BigEndian(interval.days);
      writer.writeI32BigEndian(interval.months);
      return;
    }
    case "array":
      writeArray(writer, type.element, value as SqlArray);
      return;
    case "record":
      writer.writeI32BigEndian(type.fields.length);
      type.fields.forEach((field, index) => {
        writer.writeU32BigEndian(typeOid(field.type));
        writeSized(writer, field.type, (value as SqlRecord).recordValues[index] ?? null);
      });
      return;
    case "void":
      return;
    default:
      unreachable(type);
  }
}

function writeSized(writer: ByteWriter, type: SqlType, value: SqlValue): void {
  const at = writer.length;
  writer.writeI32BigEndian(-1);
  if (value === null) return;
  writeBinary(type, value, writer);
  writer.patchI32BigEndian(at, writer.length - at - 4);
}

function writeArray(writer: ByteWriter, element: SqlType, array: SqlArray): void {
  writer.writeI32BigEndian(array.dimensions.length);
  writer.writeI32BigEndian(array.elements.includes(null) ? 1 : 0);
  writer.writeU32BigEndian(typeOid(element));
  array.dimensions.forEach((length, index) => {
    writer.writeI32BigEndian(length);
    writer.writeI32BigEndian(array.lowerBounds[index] ?? 1);
  });
  for (const item of array.elements) writeSized(writer, element, item);
}

/** Digits in base 10000 around the decimal point, without zeros at either end. */
function writeNumeric(writer: ByteWriter, value: Decimal): void {
  if (value.form !== "finite") {
    writer.writeI16BigEndian(0);
    writer.writeI16BigEndian(0);
    writer.writeU16BigEndian(
      value.form === "nan"
        ? NUMERIC_NAN
        : value.form === "infinity"
        ? NUMERIC_INFINITY
        : NUMERIC_NEGATIVE_INFINITY,
    );
    // PostgreSQL sends a display scale with infinities; receivers ignore it.
    writer.writeI16BigEndian(value.form === "nan" ? 0 : 0x20);
    return;
  }
  const digits = String(absolute(value.coefficient));
  const whole = digits.length > value.scale ? digits.slice(0, digits.length - value.scale) : "";
  const fraction = digits.slice(whole.length).padStart(value.scale, "0");
  const paddedWhole = whole.padStart(Math.ceil(whole.length / 4) * 4, "0");
  const padded = paddedWhole + fraction.padEnd(Math.ceil(fraction.length / 4) * 4, "0");
  const groups: number[] = [];
  for (let index = 0; index < padded.length; index += 4) groups.push(Number(padded.slice(index, index + 4)));
  let weight = paddedWhole.length / 4 - 1;
  let start = 0;
  let end = groups.length;
  while (start < end && groups[start] === 0) {
    start++;
    weight--;
  }
  while (end > start && groups[end - 1] === 0) end--;
  writer.writeI16BigEndian(end - start);
  writer.writeI16BigEndian(start === end ? 0 : weight);
  writer.writeU16BigEndian(value.coefficient < 0 ? NUMERIC_NEGATIVE : 0);
  writer.writeI16BigEndian(value.scale);
  for (let index = start; index < end; index++) writer.writeI16BigEndian(groups[index] ?? 0);
}

function malformed(): DatabaseError {
  return new DatabaseError(SQLSTATE.invalidBinaryRepresentation, "incorrect binary data format");
}

/** The value of a binary form, typmods applied as on assignment; 22P03 when the bytes are none. */
export function decodeBinary(type: SqlType, bytes: Uint8Array): SqlValue {
  const reader = new ByteReader(bytes);
  let value: SqlValue;
  try {
    value = readBinary(type, reader);
    reader.expectEnd();
  } catch (error) {
    if (error instanceof DatabaseError && error.code === SQLSTATE.dataCorrupted) throw malformed();
    throw error;
  }
  return value;
}

function readText(reader: ByteReader): string {
  const bytes = reader.readBytes(reader.remaining);
  const text = decodeUtf8Strict(bytes);
  if (text === undefined) throw invalidUtf8(bytes);
  if (text.includes("\0")) {
    throw new DatabaseError(
      SQLSTATE.characterNotInRepertoire,
      'invalid byte sequence for encoding "UTF8": 0x00',
    );
  }
  return text;
}

function readBinary(type: SqlType, reader: ByteReader): SqlValue {
  switch (type.kind) {
    case "bool":
      return reader.readU8() !== 0;
    case "i8":
    case "u8":
      return checkInteger(type.kind, reader.readI16BigEndian());
    case "i16":
      return reader.readI16BigEndian();
    case "u16":
      return checkInteger("u16", reader.readI32BigEndian());
    case "i32":
      return reader.readI32BigEndian();
    case "oid":
    case "regclass":
    case "regtype":
    case "regproc":
    case "regnamespace":
      return reader.readU32BigEndian();
    case "i64":
      return normalize(reader.readI64BigEndian());
    case "u32":
      return checkInteger("u32", normalize(reader.readI64BigEndian()));
    case "u64":
      return checkInteger("u64", readNumeric(reader).toInteger());
    case "f32":
      return reader.readF32BigEndian();
    case "f64":
      return reader.readF64BigEndian();
    case "numeric":
      return fitNumeric(type, readNumeric(reader));
    case "text":
    case "unknown":
    case "name":
      return readText(reader);
    case "internal_char":
      return internalCharOf(reader.readU8());
    case "varchar":
    case "char":
      return applyTypeModifier(type, readText(reader), false);
    case "json": {
      const text = readText(reader);
      validateJson(text);
      return text;
    }
    case "jsonb": {
      const version = reader.readU8();
      if (version !== 1) {
        throw new DatabaseError(
          SQLSTATE.invalidBinaryRepresentation,
          `unsupported jsonb version number ${version}`,
        );
      }
      return canonicalJsonb(readText(reader));
    }
    case "jsonpath": {
      const version = reader.readU8();
      if (version !== 1) {
        throw new DatabaseError(
          SQLSTATE.invalidBinaryRepresentation,
          `unsupported jsonpath version number ${version}`,
        );
      }
      return formatJsonPath(parseJsonPath(readText(reader)));
    }
    case "enum":
      return enumValue(type, readText(reader));
    case "bytea":
    case "bytes":
      return applyTypeModifier(type, reader.readBytes(reader.remaining).slice(), false);
    case "uuid":
      return uuidFromBytes(reader.readBytes(16));
    case "date": {
      const days = reader.readI32BigEndian();
      if (days === DATE_INFINITY) return Infinity;
      return days === DATE_NEGATIVE_INFINITY ? -Infinity : checkDate(days);
    }
    case "time": {
      const time = normalize(reader.readI64BigEndian());
      if (time < 0 || time > MICROSECONDS_PER_DAY) {
        throw new DatabaseError(SQLSTATE.datetimeFieldOverflow, "time out of range");
      }
      return applyTypeModifier(type, time, false);
    }
    case "timestamp":
    case "timestamptz": {
      const microseconds = reader.readI64BigEndian();
      if (microseconds === MAX_I64) return Infinity;
      if (microseconds === MIN_I64) return -Infinity;
      return applyTypeModifier(type, checkTimestamp(normalize(microseconds)), false);
    }
    case "interval": {
      const microseconds = normalize(reader.readI64BigEndian());
      const days = reader.readI32BigEndian();
      const months = reader.readI32BigEndian();
      return applyTypeModifier(type, new Interval(months, days, microseconds), false);
    }
    case "array":
      return readArray(reader, type.element);
    case "record":
      return readRecord(reader, type.fields.map((field) => field.type));
    case "void":
      return "";
    default:
      return unreachable(type);
  }
}

function readSized(reader: ByteReader, type: SqlType): SqlValue {
  const length = reader.readI32BigEndian();
  if (length === -1) return null;
  return decodeBinary(type, reader.readBytes(length));
}

function readArray(reader: ByteReader, element: SqlType): SqlArray {
  const count = reader.readI32BigEndian();
  reader.readI32BigEndian();
  const oid = reader.readU32BigEndian();
  if (oid !== typeOid(element)) {
    throw new DatabaseError(
      SQLSTATE.datatypeMismatch,
      `binary data has array element type ${oid} instead of expected ${typeOid(element)}`,
    );
  }
  if (count < 0 || count > 6) {
    throw new DatabaseError(SQLSTATE.invalidBinaryRepresentation, `invalid number of dimensions: ${count}`);
  }
  if (count === 0) return SqlArray.EMPTY;
  const dimensions: number[] = [];
  const lowerBounds: number[] = [];
  let length = 1;
  for (let index = 0; index < count; index++) {
    const dimension = reader.readI32BigEndian();
    if (dimension < 0) throw malformed();
    dimensions.push(dimension);
    lowerBounds.push(reader.readI32BigEndian());
    length *= dimension;
  }
  // Each element takes at least its four bytes of length.
  if (length * 4 > reader.remaining) throw malformed();
  if (length === 0) return SqlArray.EMPTY;
  const elements: SqlValue[] = [];
  for (let index = 0; index < length; index++) elements.push(readSized(reader, element));
  return new SqlArray(elements, dimensions, lowerBounds);
}

function readRecord(reader: ByteReader, types: readonly SqlType[]): SqlRecord {
  const count = reader.readI32BigEndian();
  if (count !== types.length) {
    throw new DatabaseError(
      SQLSTATE.datatypeMismatch,
      `wrong number of columns: ${count}, expected ${types.length}`,
    );
  }
  const recordValues = types.map((type) => {
    reader.readU32BigEndian();
    return readSized(reader, type);
  });
  return { recordValues };
}

function readNumeric(reader: ByteReader): Decimal {
  const count = reader.readU16BigEndian();
  const weight = reader.readI16BigEndian();
  const sign = reader.readU16BigEndian();
  const scale = reader.readU16BigEndian();
  if (count * 2 > reader.remaining) throw malformed();
  switch (sign) {
    case NUMERIC_NAN:
      return Decimal.NAN;
    case NUMERIC_INFINITY:
      return Decimal.INFINITY;
    case NUMERIC_NEGATIVE_INFINITY:
      return Decimal.NEGATIVE_INFINITY;
    case 0:
    case NUMERIC_NEGATIVE:
      break;
    default:
      throw new DatabaseError(
        SQLSTATE.invalidBinaryRepresentation,
        'invalid sign in external "numeric" value',
      );
  }
  if (scale > 16383) {
    throw new DatabaseError(
      SQLSTATE.invalidBinaryRepresentation,
      'invalid scale in external "numeric" value',
    );
  }
  let digits = "";
  for (let index = 0; index < count; index++) {
    const digit = reader.readI16BigEndian();
    if (digit < 0 || digit > 9999) {
      throw new DatabaseError(
        SQLSTATE.invalidBinaryRepresentation,
        'invalid digit in external "numeric" value',
      );
    }
    digits += String(digit).padStart(4, "0");
  }
  const exponent = (weight + 1) * 4 - digits.length;
  const text = `${sign === NUMERIC_NEGATIVE ? "-" : ""}${digits === "" ? "0" : digits}e${exponent}`;
  // Digits beyond the declared scale are cut, as PostgreSQL does.
  return Decimal.fromString(text).trunc(scale);
}
