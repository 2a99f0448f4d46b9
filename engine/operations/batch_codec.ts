/**
 * Columnar batches as bytes: each column as one run of raw little-endian numbers or UTF-8, so that a bulk load costs
 * little more than copying memory.
 *
 * A batch is: LEB128 row count; ids; LEB128 column count; columns. Numbers (ids, int and float columns, offsets) are a
 * form byte and the array: 0 = 64-bit floats, 1 = i8, 2 = i16, 3 = i32, 4 = consecutive integers (the first alone, as
 * a 64-bit float). A column is a class byte (0 int, 1 float, 2 text, 3 bytes), a null flag and, when it is 1, one byte
 * a row, then the class's own part: `int` numbers and the list of big values (count, then row and value each);
 * `float` numbers; `text` and `bytes` the numbers of the row lengths, then the bytes.
 * Invariant: decoded arrays are copies, aligned and independent of the input. A decoded batch obeys RowBatch's rules.
 */
import { assert } from "../base/assert.ts";
import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import { LIMITS } from "../base/limits.ts";
import type { BatchColumn, RowBatch } from "./effect.ts";
import { corrupted, readBigInteger } from "./value_codec.ts";

const FORM_FLOAT64 = 0;
const FORM_INT8 = 1;
const FORM_INT16 = 2;
const FORM_INT32 = 3;
const FORM_CONSECUTIVE = 4;

/** What a row takes in memory besides its values. */
const ROW_WEIGHT = 32;

const CLASSES = ["int", "float", "text", "bytes"] as const;

assert(new Uint8Array(new Uint16Array([1]).buffer)[0] === 1, "the machine is little-endian");

/** About the bytes that {@link writeBatch} appends: integers of up to 32 bits are expected. */
export function batchBytes(batch: RowBatch): number {
  let bytes = 64;
  for (const column of batch.columns) {
    if (column.nulls !== null) bytes += batch.rowCount;
    bytes += column.storageClass === "float" ? batch.rowCount * 8 : batch.rowCount * 4;
    if ("bytes" in column) bytes += column.bytes.length;
  }
  return bytes + batch.rowCount * 4;
}

/** About what the rows take in memory until they are in a segment, a table's indexes left out. */
export function batchWeight({ rowCount, columns }: RowBatch): number {
  let bytes = rowCount * (ROW_WEIGHT + columns.length * 8);
  for (const column of columns) if ("bytes" in column) bytes += column.bytes.length;
  return bytes;
}

/** Appends a batch. */
export function writeBatch(writer: ByteWriter, batch: RowBatch): void {
  const { rowCount, ids, columns } = batch;
  assert(ids.length >= rowCount, `${ids.length} ids for ${rowCount} rows`);
  assert(rowCount <= LIMITS.maximumBatchRows, `a batch of ${rowCount} rows`);
  writer.writeVarint(rowCount);
  writeNumbers(writer, ids.subarray(0, rowCount));
  writer.writeVarint(columns.length);
  for (const column of columns) writeColumn(writer, column, rowCount);
}

/** Appends a list of row ids: LEB128 count, then the numbers. */
export function writeIds(writer: ByteWriter, ids: Float64Array): void {
  assert(ids.length <= LIMITS.maximumBatchRows, `a list of ${ids.length} ids`);
  writer.writeVarint(ids.length);
  writeNumbers(writer, ids);
}

/** Reads what {@link writeIds} wrote. */
export function readIds(reader: ByteReader): Float64Array {
  const count = reader.readVarint();
  if (count > LIMITS.maximumBatchRows) throw corrupted(`a list of ${count} ids`);
  const ids = readNumbers(reader, count);
  for (const id of ids) if (!Number.isSafeInteger(id) || Object.is(id, -0)) throw corrupted(`row id ${id}`);
  return ids;
}

function writeColumn(writer: ByteWriter, column: BatchColumn, rowCount: number): void {
  writer.writeU8(CLASSES.indexOf(column.storageClass));
  if (column.nulls === null) {
    writer.writeU8(0);
  } else {
    writer.writeU8(1);
    writer.writeBytes(column.nulls.subarray(0, rowCount));
  }
  switch (column.storageClass) {
    case "int": {
      writeNumbers(writer, column.data.subarray(0, rowCount));
      const big = column.big;
      writer.writeVarint(big === null ? 0 : big.size);
      if (big !== null) {
        for (const [row, value] of [...big].sort(([left], [right]) => left - right)) {
          writer.writeVarint(row);
          writer.writeSignedVarint(value);
        }
      }
      return;
    }
    case "float":
      writeNumbers(writer, column.data.subarray(0, rowCount));
      return;
    default: {
      const { offsets, bytes } = column;
      const lengths = new Float64Array(rowCount);
      for (let row = 0; row < rowCount; row++) {
        lengths[row] = (offsets[row + 1] as number) - (offsets[row] as number);
      }
      writeNumbers(writer, lengths);
      const first = offsets[0] ?? 0;
      const last = offsets[rowCount] ?? 0;
      writer.writeVarint(last - first);
      writer.writeBytes(bytes.subarray(first, last));
    }
  }
}

/** Picks the smallest form that holds all values exactly. */
function writeNumbers(writer: ByteWriter, data: Float64Array): void {
  const count = data.length;
  const first = count > 0 ? data[0] as number : 0;
  let minimum = first;
  let maximum = first;
  let exact = true;
  let consecutive = count > 0;
  for (let index = 0; index < count; index++) {
    const value = data[index] as number;
    // Fails for NaN, fractions, -0 and whatever exceeds 32 bits; large consecutive ids are seen below.
    const isNegativeZero = value === 0 && 1 / value < 0;
    if (value !== (value | 0) || isNegativeZero) {
      exact = false;
      if (!consecutive) break;
    }
    if (value !== first + index || isNegativeZero) consecutive = false;
    if (value < minimum) minimum = value;
    if (value > maximum) maximum = value;
  }
  if (
    consecutive && Number.isSafeInteger(first) && Number.isSafeInteger(first + count)
  ) {
    writer.writeU8(FORM_CONSECUTIVE);
    writer.writeF64(first);
  } else if (!exact) {
    writer.writeU8(FORM_FLOAT64);
    writer.writeBytes(asBytes(data));
  } else if (minimum >= -0x80 && maximum <= 0x7f) {
    writer.writeU8(FORM_INT8);
    writer.writeBytes(asBytes(new Int8Array(data)));
  } else if (minimum >= -0x8000 && maximum <= 0x7fff) {
    writer.writeU8(FORM_INT16);
    writer.writeBytes(asBytes(new Int16Array(data)));
  } else {
    writer.writeU8(FORM_INT32);
    writer.writeBytes(asBytes(new Int32Array(data)));
  }
}

function asBytes(array: Float64Array | Int8Array | Int16Array | Int32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Reads what {@link writeBatch} wrote. */
export function readBatch(reader: ByteReader): RowBatch {
  const rowCount = reader.readVarint();
  if (rowCount > LIMITS.maximumBatchRows) throw corrupted(`a batch of ${rowCount} rows`);
  const ids = readNumbers(reader, rowCount);
  for (let row = 0; row < rowCount; row++) {
    const id = ids[row] as number;
    if (!Number.isSafeInteger(id) || Object.is(id, -0)) throw corrupted(`row id ${id}`);
  }
  const columnCount = reader.readVarint();
  if (columnCount > LIMITS.maximumTableColumns * 2) throw corrupted(`a batch of ${columnCount} columns`);
  const columns: BatchColumn[] = [];
  for (let index = 0; index < columnCount; index++) columns.push(readColumn(reader, rowCount));
  return { rowCount, ids, columns };
}

function readColumn(reader: ByteReader, rowCount: number): BatchColumn {
  const storageClass = CLASSES[reader.readU8()];
  const nullFlag = reader.readU8();
  if (nullFlag > 1) throw corrupted(`null flag ${nullFlag}`);
  const nulls = nullFlag === 0 ? null : reader.readBytes(rowCount).slice();
  if (nulls !== null) {
    for (let row = 0; row < rowCount; row++) {
      if ((nulls[row] as number) > 1) throw corrupted("a null mark above 1");
    }
  }
  switch (storageClass) {
    case "int": {
      const data = readNumbers(reader, rowCount);
      const big = readBigValues(reader, data);
      for (let row = 0; row < rowCount; row++) {
        const value = data[row] as number;
        if (Number.isSafeInteger(value) || value === Infinity || value === -Infinity) continue;
        if (!(Number.isNaN(value) && (nulls?.[row] === 1 || big?.has(row)))) {
          throw corrupted(`${value} in an integer column`);
        }
      }
      return { storageClass, data, nulls, big };
    }
    case "float":
      return { storageClass, data: readNumbers(reader, rowCount), nulls };
    case "text":
    case "bytes": {
      const lengths = readNumbers(reader, rowCount);
      const byteCount = reader.readVarint();
      const offsets = new Uint32Array(rowCount + 1);
      let offset = 0;
      for (let row = 0; row < rowCount; row++) {
        const length = lengths[row] as number;
        if (!(length >= 0 && length <= byteCount - offset && Number.isInteger(length))) {
          throw corrupted(`a value of ${length} bytes`);
        }
        offset += length;
        offsets[row + 1] = offset;
      }
      if (offset !== byteCount) throw corrupted(`${byteCount} bytes for values of ${offset} bytes`);
      return { storageClass, offsets, bytes: reader.readBytes(byteCount).slice(), nulls };
    }
    default:
      throw corrupted("an unknown storage class");
  }
}

function readBigValues(reader: ByteReader, data: Float64Array): Map<number, bigint> | null {
  const count = reader.readVarint();
  if (count === 0) return null;
  const big = new Map<number, bigint>();
  for (let index = 0; index < count; index++) {
    const row = reader.readVarint();
    if (!(row < data.length) || !Number.isNaN(data[row]) || big.has(row)) {
      throw corrupted(`a big value at row ${row}`);
    }
    big.set(row, readBigInteger(reader));
  }
  return big;
}

function readNumbers(reader: ByteReader, count: number): Float64Array {
  const form = reader.readU8();
  switch (form) {
    case FORM_FLOAT64:
      // The copy starts at offset 0 of its own buffer, so it is aligned.
      return new Float64Array(reader.readBytes(count * 8).slice().buffer);
    case FORM_INT8:
      return new Float64Array(new Int8Array(reader.readBytes(count).slice().buffer));
    case FORM_INT16:
      return new Float64Array(new Int16Array(reader.readBytes(count * 2).slice().buffer));
    case FORM_INT32:
      return new Float64Array(new Int32Array(reader.readBytes(count * 4).slice().buffer));
    case FORM_CONSECUTIVE: {
      const first = reader.readF64();
      if (!Number.isSafeInteger(first) || !Number.isSafeInteger(first + count)) {
        throw corrupted(`consecutive integers from ${first}`);
      }
      const data = new Float64Array(count);
      for (let index = 0; index < count; index++) data[index] = first + index;
      return data;
    }
    default:
      throw corrupted(`unknown number form ${form}`);
  }
}
