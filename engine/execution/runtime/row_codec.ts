/**
 * Rows of a {@link RowBuffer} as bytes, column by column, for files in which a statement keeps what it cannot hold.
 *
 * Each array is behind the one before, from a multiple of eight bytes on, as it is in memory: only this process reads
 * it. So numbers are copied from array to array, and not written one by one.
 */
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import { decodeNullable, encodeNullable } from "../../types/value_codec.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ColumnBuffer, ColumnLayout, RowBuffer } from "./row_buffer.ts";

/** A column of rows that may be written to a file. */
export interface SpilledColumn extends ColumnLayout {
  readonly type: SqlType;
}

type Numbers = Int32Array | Float64Array | Uint8Array;

/** Rows `order[from]` up to `order[to]`. */
export interface ChosenRows {
  readonly order: Int32Array;
  readonly from: number;
  readonly to: number;
  /** The order is that of the rows themselves. */
  readonly inPlace?: true;
}

const ALIGNMENT = 8;
const FIRST_BYTES = 1 << 16;
/** Larger ones are not kept for the next block. */
const MAX_KEPT_BYTES = 1 << 20;
let block = new ArrayBuffer(FIRST_BYTES);
let length = 0;
let writer = new ByteWriter(FIRST_BYTES);

const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** Makes room for so many bytes at the end of the block; the answer is where they begin. */
function extend(bytes: number): number {
  const begin = length;
  length += aligned(bytes);
  if (length > block.byteLength) {
    const larger = new ArrayBuffer(Math.max(length, 2 * block.byteLength));
    new Uint8Array(larger).set(new Uint8Array(block, 0, begin));
    block = larger;
  }
  return begin;
}

/** Forgets all encoded rows. */
export function beginBlocks(): void {
  if (block.byteLength > MAX_KEPT_BYTES) block = new ArrayBuffer(FIRST_BYTES);
  if (writer.length > MAX_KEPT_BYTES) writer = new ByteWriter(FIRST_BYTES);
  length = 0;
}

/** What {@link encodeRows} has made since {@link beginBlocks}, which is valid until it is called again. */
export function encodedBlocks(): Uint8Array {
  return new Uint8Array(block, 0, length);
}

/** Puts the rows as one more block behind those before; the answer is where it ends. */
export function encodeRows(
  { columns }: RowBuffer,
  layout: readonly SpilledColumn[],
  rows: ChosenRows,
): number {
  columns.forEach((column, position) => {
    const { data, nulls } = column;
    if (nulls !== null) putBytes(nulls, rows);
    if (data instanceof Int32Array) putIntegers(data, rows);
    else if (data instanceof Uint8Array) putBytes(data, rows);
    else if (data instanceof Float64Array) {
      putFloats(data, rows);
      if (column.storage === "number_or_bigint") putWritten(() => encodeBig(column, rows));
    } else {
      const { type } = layout[position] as SpilledColumn;
      putWritten(() => encodeValues(data, type, rows));
    }
  });
  return length;
}

// One function for each kind of array: one for all would be slow.
function putIntegers(from: Int32Array, { order, from: begin, to, inPlace }: ChosenRows): void {
  const at = extend((to - begin) * 4);
  const target = new Int32Array(block, at, to - begin);
  if (inPlace === true) return target.set(from.subarray(begin, to));
  for (let index = begin; index < to; index++) target[index - begin] = from[order[index] as number] as number;
}

function putFloats(from: Float64Array, { order, from: begin, to, inPlace }: ChosenRows): void {
  const at = extend((to - begin) * 8);
  const target = new Float64Array(block, at, to - begin);
  if (inPlace === true) return target.set(from.subarray(begin, to));
  for (let index = begin; index < to; index++) target[index - begin] = from[order[index] as number] as number;
}

function putBytes(from: Uint8Array, { order, from: begin, to, inPlace }: ChosenRows): void {
  const at = extend(to - begin);
  const target = new Uint8Array(block, at, to - begin);
  if (inPlace === true) return target.set(from.subarray(begin, to));
  for (let index = begin; index < to; index++) target[index - begin] = from[order[index] as number] as number;
}

/** Puts what `write` gives to the writer, with its length in front. */
function putWritten(write: () => void): void {
  writer.reset();
  write();
  const bytes = writer.view();
  const at = extend(4 + bytes.length);
  new Uint32Array(block, at, 1)[0] = bytes.length;
  new Uint8Array(block, at + 4, bytes.length).set(bytes);
}

function encodeValues(data: readonly unknown[], type: SqlType, { order, from, to }: ChosenRows): void {
  for (let index = from; index < to; index++) {
    encodeNullable(type, data[order[index] as number] as SqlValue, writer);
  }
}

function encodeBig({ big }: ColumnBuffer, { order, from, to }: ChosenRows): void {
  for (let index = from; big !== null && index < to; index++) {
    const value = big.get(order[index] as number);
    if (value === undefined) continue;
    writer.writeU32(index - from);
    writer.writeSignedVarint(value);
  }
}

/** Reads the arrays of a block, which begins at a multiple of eight bytes of its memory, one behind the other. */
class BlockReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The next elements of an array. */
  readInto(target: Numbers, at: number, count: number): void {
    const { buffer, byteOffset } = this.#bytes;
    const begin = byteOffset + this.#take(count * target.BYTES_PER_ELEMENT);
    if (target instanceof Int32Array) target.set(new Int32Array(buffer, begin, count), at);
    else if (target instanceof Float64Array) target.set(new Float64Array(buffer, begin, count), at);
    else target.set(new Uint8Array(buffer, begin, count), at);
  }

  /** What {@link putWritten} has put there. */
  readWritten(): ByteReader {
    const [bytes = 0] = new Uint32Array(this.#bytes.buffer, this.#bytes.byteOffset + this.#at, 1);
    const begin = this.#take(4 + bytes) + 4;
    return new ByteReader(this.#bytes.subarray(begin, begin + bytes));
  }

  #take(bytes: number): number {
    const begin = this.#at;
    this.#at += aligned(bytes);
    return begin;
  }
}

/** Puts `count` rows of {@link encodeRows} into a buffer that has room for them, from row `at` on. */
export function decodeRows(
  { columns }: RowBuffer,
  layout: readonly SpilledColumn[],
  bytes: Uint8Array,
  { at, count }: { readonly at: number; readonly count: number },
): void {
  const reader = new BlockReader(bytes);
  columns.forEach((column, position) => {
    const { data, nulls } = column;
    if (nulls !== null) reader.readInto(nulls, at, count);
    if (Array.isArray(data)) {
      decodeValues(data, (layout[position] as SpilledColumn).type, reader.readWritten(), { at, count });
      return;
    }
    reader.readInto(data, at, count);
    if (column.storage === "number_or_bigint") decodeBig(column, reader.readWritten(), { at, count });
  });
}

function decodeValues(
  data: unknown[],
  type: SqlType,
  reader: ByteReader,
  { at, count }: { readonly at: number; readonly count: number },
): void {
  for (let row = at; row < at + count; row++) data[row] = decodeNullable(type, reader);
  reader.expectEnd();
}

function decodeBig(
  column: ColumnBuffer,
  reader: ByteReader,
  { at, count }: { readonly at: number; readonly count: number },
): void {
  for (let row = at; column.big !== null && row < at + count; row++) column.big.delete(row);
  while (reader.remaining > 0) {
    const row = at + reader.readU32();
    column.putBig(row, BigInt(reader.readSignedVarint()));
  }
}

/** Copies rows of a buffer into another one of the same columns, which has room for them, from row `at` on. */
export function copyRows(
  from: RowBuffer,
  rows: { readonly from: number; readonly to: number },
  { buffer, at }: { readonly buffer: RowBuffer; readonly at: number },
): void {
  from.columns.forEach((column, position) => {
    const target = buffer.columns[position] as ColumnBuffer;
    const { data, nulls, big } = column;
    if (nulls !== null) target.nulls?.set(nulls.subarray(rows.from, rows.to), at);
    if (!Array.isArray(target.data)) {
      target.data.set((data as Numbers).subarray(rows.from, rows.to), at);
      for (let row = rows.from; row < rows.to && (big !== null || target.big !== null); row++) {
        const value = big?.get(row);
        if (value === undefined) target.big?.delete(at + row - rows.from);
        else target.putBig(at + row - rows.from, value);
      }
      return;
    }
    for (let row = rows.from; row < rows.to; row++) {
      target.data[at + row - rows.from] = (data as readonly unknown[])[row];
    }
  });
}
