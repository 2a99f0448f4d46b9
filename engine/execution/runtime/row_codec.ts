/** Rows of a {@link RowBuffer} as bytes, column by column, for files in which a statement keeps what it cannot hold. */
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import { decodeNullable, encodeNullable } from "../../types/value_codec.ts";
import type { SqlType } from "../../types/sql_type.ts";
import type { SqlValue } from "../../types/value.ts";
import type { ColumnBuffer, ColumnLayout, RowBuffer } from "./row_buffer.ts";

/** A column of rows that may be written to a file. */
export interface SpilledColumn extends ColumnLayout {
  readonly type: SqlType;
}

/** Larger ones are not kept for the next block. */
const MAX_WRITER_BYTES = 1 << 20;
let writer = new ByteWriter(1 << 16);

/** The rows `order[from]` up to `order[to]`; valid until the next call. */
export function encodeRows(
  { columns }: RowBuffer,
  layout: readonly SpilledColumn[],
  { order, from, to }: { readonly order: Int32Array; readonly from: number; readonly to: number },
): Uint8Array {
  if (writer.length > MAX_WRITER_BYTES) writer = new ByteWriter(1 << 16);
  writer.reset();
  columns.forEach((column, position) => {
    const { data, nulls } = column;
    for (let index = from; nulls !== null && index < to; index++) {
      writer.writeU8(nulls[order[index] as number] as number);
    }
    if (data instanceof Int32Array) {
      for (let index = from; index < to; index++) writer.writeI32(data[order[index] as number] as number);
    } else if (data instanceof Uint8Array) {
      for (let index = from; index < to; index++) writer.writeU8(data[order[index] as number] as number);
    } else if (data instanceof Float64Array) {
      for (let index = from; index < to; index++) writer.writeF64(data[order[index] as number] as number);
      if (column.storage === "number_or_bigint") encodeBig(column, order, from, to);
    } else {
      const { type } = layout[position] as SpilledColumn;
      for (let index = from; index < to; index++) {
        encodeNullable(type, data[order[index] as number] as SqlValue, writer);
      }
    }
  });
  return writer.view();
}

function encodeBig({ big }: ColumnBuffer, order: Int32Array, from: number, to: number): void {
  const rows: number[] = [];
  for (let index = from; big !== null && index < to; index++) {
    if (big.has(order[index] as number)) rows.push(index);
  }
  writer.writeU32(rows.length);
  for (const index of rows) {
    writer.writeU32(index - from);
    writer.writeSignedVarint(big?.get(order[index] as number) ?? 0n);
  }
}

/** Puts `count` rows of {@link encodeRows} into a buffer that has room for them, from row `at` on. */
export function decodeRows(
  { columns }: RowBuffer,
  layout: readonly SpilledColumn[],
  bytes: Uint8Array,
  { at, count }: { readonly at: number; readonly count: number },
): void {
  const reader = new ByteReader(bytes);
  const end = at + count;
  columns.forEach((column, position) => {
    const { data, nulls } = column;
    for (let row = at; nulls !== null && row < end; row++) nulls[row] = reader.readU8();
    if (data instanceof Int32Array) {
      for (let row = at; row < end; row++) data[row] = reader.readI32();
    } else if (data instanceof Uint8Array) {
      for (let row = at; row < end; row++) data[row] = reader.readU8();
    } else if (data instanceof Float64Array) {
      for (let row = at; row < end; row++) data[row] = reader.readF64();
      if (column.storage === "number_or_bigint") decodeBig(column, reader, at, end);
    } else {
      const { type } = layout[position] as SpilledColumn;
      for (let row = at; row < end; row++) data[row] = decodeNullable(type, reader);
    }
  });
  reader.expectEnd();
}

/** Copies rows of a buffer into another one that has room for them, from row `at` on. */
export function copyRows(
  from: RowBuffer,
  rows: { readonly from: number; readonly to: number },
  { buffer, at }: { readonly buffer: RowBuffer; readonly at: number },
  layout: readonly SpilledColumn[],
): void {
  const count = rows.to - rows.from;
  const order = Int32Array.from({ length: count }, (_, row) => rows.from + row);
  // What has been read may be kept for longer than the writer's bytes.
  const bytes = encodeRows(from, layout, { order, from: 0, to: count }).slice();
  decodeRows(buffer, layout, bytes, { at, count });
}

function decodeBig(column: ColumnBuffer, reader: ByteReader, at: number, end: number): void {
  for (let row = at; column.big !== null && row < end; row++) column.big.delete(row);
  for (let left = reader.readU32(); left > 0; left--) {
    const row = at + reader.readU32();
    column.putBig(row, BigInt(reader.readSignedVarint()));
  }
}
