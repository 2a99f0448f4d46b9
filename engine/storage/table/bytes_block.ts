/**
 * Encoding blocks of text and bytes.
 *
 *     plain       u32 flags (1: NULL bitmap), u32 reserved 0, [bitmap padded to 8], u32 offsets[rows + 1] padded to 8, bytes
 *     codes       u32 flags, u32 reserved 0, [bitmap padded to 8], u8 or u16 codes[rows]
 *     dictionary  u32 count, u32 reserved 0, u32 offsets[count + 1] padded to 8, bytes; entries in byte order
 *
 * Plain blocks are decoded without a copy: starts and ends are two views of the offsets.
 */
import { decodeTextRange } from "./delta_column.ts";
import { noNulls, padded, readBitmap, writeBitmap } from "./number_block.ts";

const HEADER_BYTES = 8;

/** Rows of one block, gathered for encoding: row r is `bytes[offsets[r] … offsets[r + 1])`. */
export interface BytesBlock {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly rowCount: number;
  readonly nulls: Uint8Array | null;
}

/** A decoded plain block. */
export interface DecodedBytes {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly nulls: Uint8Array | null;
}

/** A decoded dictionary, both as strings and as UTF-8. */
export interface Dictionary {
  readonly texts: readonly string[];
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

function startChunk(nulls: Uint8Array | null, rowCount: number, dataBytes: number): [Uint8Array, number] {
  const dataAt = HEADER_BYTES + (nulls === null ? 0 : padded((rowCount + 7) >>> 3));
  const chunk = new Uint8Array(dataAt + dataBytes);
  if (nulls !== null) {
    chunk[0] = 1;
    writeBitmap(chunk, HEADER_BYTES, nulls, rowCount);
  }
  return [chunk, dataAt];
}

function startDecode(chunk: Uint8Array, rowCount: number, nullable: boolean): [Uint8Array | null, number] {
  if (chunk[0] === 1) {
    return [readBitmap(chunk, HEADER_BYTES, rowCount), HEADER_BYTES + padded((rowCount + 7) >>> 3)];
  }
  return [nullable ? noNulls(rowCount) : null, HEADER_BYTES];
}

/** Encodes a plain block. */
export function encodeBytes(block: BytesBlock): Uint8Array {
  const { rowCount, offsets } = block;
  const length = offsets[rowCount] as number;
  const offsetBytes = padded((rowCount + 1) * 4);
  const [chunk, dataAt] = startChunk(block.nulls, rowCount, offsetBytes + length);
  new Uint32Array(chunk.buffer, dataAt, rowCount + 1).set(offsets.subarray(0, rowCount + 1));
  chunk.set(block.bytes.subarray(0, length), dataAt + offsetBytes);
  return chunk;
}

/** Decodes a plain block. */
export function decodeBytes(chunk: Uint8Array, rowCount: number, nullable: boolean): DecodedBytes {
  const [nulls, dataAt] = startDecode(chunk, rowCount, nullable);
  const at = chunk.byteOffset + dataAt;
  return {
    bytes: chunk.subarray(dataAt + padded((rowCount + 1) * 4)),
    starts: new Uint32Array(chunk.buffer, at, rowCount),
    ends: new Uint32Array(chunk.buffer, at + 4, rowCount),
    nulls,
  };
}

/** Reads one value of a plain block from as little of its chunk as possible; null: NULL. */
export function readBytesAt(
  read: (start: number, end: number) => Uint8Array,
  row: { readonly at: number; readonly rowCount: number; readonly nullable: boolean },
): Uint8Array | null {
  const { at, rowCount } = row;
  let dataAt = HEADER_BYTES;
  if (row.nullable) {
    const bitmapBytes = padded((rowCount + 7) >>> 3);
    const head = read(0, HEADER_BYTES + bitmapBytes);
    if (head[0] === 1) {
      if ((((head[HEADER_BYTES + (at >>> 3)] as number) >>> (at & 7)) & 1) === 1) return null;
      dataAt += bitmapBytes;
    }
  }
  const offsets = read(dataAt + at * 4, dataAt + at * 4 + 8);
  const view = new DataView(offsets.buffer, offsets.byteOffset, 8);
  const textsAt = dataAt + padded((rowCount + 1) * 4);
  return read(textsAt + view.getUint32(0, true), textsAt + view.getUint32(4, true));
}

/** Encodes a block of dictionary codes. */
export function encodeCodes(
  codes: Uint16Array,
  nulls: Uint8Array | null,
  rowCount: number,
  wide: boolean,
): Uint8Array {
  const [chunk, dataAt] = startChunk(nulls, rowCount, rowCount * (wide ? 2 : 1));
  const target = wide
    ? new Uint16Array(chunk.buffer, dataAt, rowCount)
    : new Uint8Array(chunk.buffer, dataAt, rowCount);
  target.set(codes.subarray(0, rowCount));
  return chunk;
}

/** Decodes a block of dictionary codes. */
export function decodeCodes(
  chunk: Uint8Array,
  rowCount: number,
  shape: { readonly nullable: boolean; readonly wide: boolean },
): { readonly codes: Uint8Array | Uint16Array; readonly nulls: Uint8Array | null } {
  const [nulls, dataAt] = startDecode(chunk, rowCount, shape.nullable);
  const at = chunk.byteOffset + dataAt;
  return {
    codes: shape.wide
      ? new Uint16Array(chunk.buffer, at, rowCount)
      : new Uint8Array(chunk.buffer, at, rowCount),
    nulls,
  };
}

/** Encodes a dictionary whose entries are in byte order. */
export function encodeDictionary(entries: readonly Uint8Array[]): Uint8Array {
  const offsetBytes = padded((entries.length + 1) * 4);
  let length = 0;
  for (const entry of entries) length += entry.length;
  const chunk = new Uint8Array(8 + offsetBytes + length);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, entries.length, true);
  let at = 0;
  entries.forEach((entry, index) => {
    chunk.set(entry, 8 + offsetBytes + at);
    at += entry.length;
    view.setUint32(8 + (index + 1) * 4, at, true);
  });
  return chunk;
}

/** Decodes a dictionary. */
export function decodeDictionary(chunk: Uint8Array): Dictionary {
  const count = new DataView(chunk.buffer, chunk.byteOffset).getUint32(0, true);
  const offsets = new Uint32Array(chunk.buffer, chunk.byteOffset + 8, count + 1);
  const bytes = chunk.subarray(8 + padded((count + 1) * 4));
  const texts: string[] = [];
  for (let index = 0; index < count; index++) {
    texts.push(decodeTextRange(bytes, offsets[index] as number, offsets[index + 1] as number));
  }
  return { texts, bytes, offsets };
}
