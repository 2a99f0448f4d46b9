/**
 * Stored values as bytes, each with a tag that says its form, so that a reader needs no definition of the table.
 *
 * | tag | then | value |
 * |---|---|---|
 * | 00 | | NULL |
 * | 01 | zigzag LEB128 | integer (a JavaScript number: a safe integer) |
 * | 02 | 8 bytes, little-endian | float (a number that is no safe integer, or -0) |
 * | 03 | zigzag LEB128, at most `maximumIntegerBytes` | bigint |
 * | 04 | LEB128 length, UTF-8 | text |
 * | 05 | LEB128 length, bytes | bytes |
 * | 10 … 7f | | integer tag - 0x10: 0 to 111 |
 * | 80 … ff | UTF-8 | text of tag - 0x80 bytes |
 *
 * Invariants: one value has one encoding (NaN is canonical; integers in 0 … 111 and texts up to 127 bytes take the
 * short form); decoding gives the same JavaScript value and raises `dataCorrupted` for anything else, a bigint that is
 * a safe integer included.
 */
import { assert, unreachable } from "../base/assert.ts";
import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import { utf8ByteLength } from "../base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { RowId, StoredRow, StoredValue } from "./effect.ts";

const TAG_NULL = 0x00;
const TAG_INTEGER = 0x01;
const TAG_FLOAT = 0x02;
const TAG_BIGINT = 0x03;
const TAG_TEXT = 0x04;
const TAG_BYTES = 0x05;
const TAG_SMALL_INTEGER = 0x10;
const SMALL_INTEGERS = 0x70;
const TAG_SHORT_TEXT = 0x80;
const SHORT_TEXT_BYTES = 0x80;

const MINIMUM_ROW_ID = -(1n << 63n);
/** The largest id of a row. */
export const MAX_ROW_ID = (1n << 63n) - 1n;

/** Appends a value. */
export function writeValue(writer: ByteWriter, value: StoredValue): void {
  switch (typeof value) {
    case "number":
      if (Number.isSafeInteger(value) && (value !== 0 || Object.is(value, 0))) {
        if (value >= 0 && value < SMALL_INTEGERS) {
          writer.writeU8(TAG_SMALL_INTEGER + value);
        } else {
          writer.writeU8(TAG_INTEGER);
          writer.writeSignedVarint(value);
        }
      } else {
        writer.writeU8(TAG_FLOAT);
        writeFloat(writer, value);
      }
      return;
    case "string":
      writeTextValue(writer, value);
      return;
    case "bigint":
      assert(!isSafe(value), `bigint ${value} is not normalized`);
      writer.writeU8(TAG_BIGINT);
      writer.writeSignedVarint(value);
      return;
    case "object":
      if (value === null) {
        writer.writeU8(TAG_NULL);
      } else {
        writer.writeU8(TAG_BYTES);
        writer.writeSizedBytes(value);
      }
      return;
    default:
      unreachable(value);
  }
}

/** A NaN may carry any payload in memory; the canonical one is written, so that equal values have equal bytes. */
function writeFloat(writer: ByteWriter, value: number): void {
  if (!Number.isNaN(value)) {
    writer.writeF64(value);
    return;
  }
  writer.writeU32(0);
  writer.writeU32(0x7ff8_0000);
}

function writeTextValue(writer: ByteWriter, value: string): void {
  if (value.length < SHORT_TEXT_BYTES) {
    const length = utf8ByteLength(value);
    if (length < SHORT_TEXT_BYTES) {
      writer.writeU8(TAG_SHORT_TEXT + length);
      writer.writeUtf8(value);
      return;
    }
  }
  writer.writeU8(TAG_TEXT);
  writer.writeText(value);
}

/** Reads what {@link writeValue} wrote. */
export function readValue(reader: ByteReader): StoredValue {
  const tag = reader.readU8();
  if (tag >= TAG_SHORT_TEXT) return reader.readUtf8(tag - TAG_SHORT_TEXT);
  if (tag >= TAG_SMALL_INTEGER) return tag - TAG_SMALL_INTEGER;
  switch (tag) {
    case TAG_NULL:
      return null;
    case TAG_INTEGER: {
      const value = reader.readSignedVarint();
      if (typeof value !== "number") throw corrupted("an integer outside the safe integers");
      return value;
    }
    case TAG_FLOAT:
      return reader.readF64();
    case TAG_BIGINT:
      return readBigInteger(reader);
    case TAG_TEXT:
      return reader.readText();
    case TAG_BYTES:
      return reader.readSizedBytes().slice();
    default:
      throw corrupted(`unknown value tag ${tag}`);
  }
}

/** Reads a zigzag integer that must lie outside the safe integers. */
export function readBigInteger(reader: ByteReader): bigint {
  const zigzag = reader.readBigVarint(LIMITS.maximumIntegerBytes);
  const value = (zigzag & 1n) === 0n ? zigzag >> 1n : -((zigzag + 1n) >> 1n);
  if (isSafe(value)) throw corrupted("a small integer in the form of a large one");
  return value;
}

/** Appends a row id: zigzag LEB128. */
export function writeRowId(writer: ByteWriter, id: RowId): void {
  if (typeof id === "number") {
    assert(Number.isSafeInteger(id), `row id ${id} is not a safe integer`);
  } else {
    assert(id >= MINIMUM_ROW_ID && id <= MAX_ROW_ID, `row id ${id} is out of range`);
    assert(!isSafe(id), `row id ${id} is not normalized`);
  }
  writer.writeSignedVarint(id);
}

function isSafe(value: bigint): boolean {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= -BigInt(Number.MAX_SAFE_INTEGER);
}

/** Reads what {@link writeRowId} wrote. */
export function readRowId(reader: ByteReader): RowId {
  const short = reader.readShortVarint();
  if (short >= 0) return (short >>> 1) ^ -(short & 1);
  let zigzag = 0;
  let factor = 1;
  for (let count = 0; count < 7; count++) {
    const byte = reader.readU8();
    zigzag += (byte & 0x7f) * factor;
    if (byte < 0x80) return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    factor *= 128;
  }
  // Ten LEB128 bytes carry the 64 bits of a row id, and six more that must be 0.
  const big = BigInt(zigzag) + (reader.readBigVarint(3) << 49n);
  const id = (big & 1n) === 0n ? big >> 1n : -((big + 1n) >> 1n);
  if (id < MINIMUM_ROW_ID || id > MAX_ROW_ID) throw corrupted(`row id ${id}`);
  return isSafe(id) ? Number(id) : id;
}

/** Appends a row: the number of values and the values. */
export function writeRow(writer: ByteWriter, row: StoredRow): void {
  writer.writeVarint(row.length);
  for (let index = 0; index < row.length; index++) writeValue(writer, row[index] as StoredValue);
}

/** Reads what {@link writeRow} wrote. */
export function readRow(reader: ByteReader): StoredRow {
  const count = reader.readVarint();
  if (count > LIMITS.maximumTableColumns * 2) throw corrupted(`a row of ${count} values`);
  const row = new Array<StoredValue>(count);
  for (let index = 0; index < count; index++) row[index] = readValue(reader);
  return row;
}

/** The error for bytes that no writer makes. */
export function corrupted(what: string): DatabaseError {
  return new DatabaseError(SQLSTATE.dataCorrupted, `Cannot decode entry: ${what}`);
}
