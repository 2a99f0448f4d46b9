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

/** `makeRoom` answers that many bytes, which need not be zero. */
function startChunk(
  nulls: Uint8Array | null,
  rowCount: number,
  dataBytes: number,
  makeRoom: (bytes: number) => Uint8Array = (bytes) => new Uint8Array(bytes),
): [Uint8Array, number] {
  const dataAt = HEADER_BYTES + (nulls === null ? 0 : padded((rowCount + 7) >>> 3));
  const chunk = makeRoom(dataAt + dataBytes);
  chunk.fill(0, 0, dataAt);
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

/** Blocks that are larger have memory of their own. */
const MAX_SCRATCH_BYTES = 16 << 20;
let scratch = new Uint8Array(1 << 16);

/** Memory that is used again for the next block: to touch fresh pages costs more than to fill them. */
function scratchOf(bytes: number): Uint8Array {
  if (bytes > MAX_SCRATCH_BYTES) return new Uint8Array(bytes);
  if (bytes > scratch.length) scratch = new Uint8Array(Math.min(MAX_SCRATCH_BYTES, bytes * 2));
  return scratch.subarray(0, bytes);
}

/**
 * Begins a plain block whose row r is `[offsets[r] … offsets[r + 1])` of the bytes that the caller puts at `textsAt`.
 * The chunk is good until the next one is begun.
 */
export function startBytes(
  offsets: Uint32Array,
  nulls: Uint8Array | null,
): { readonly chunk: Uint8Array; readonly textsAt: number } {
  const rowCount = offsets.length - 1;
  const offsetBytes = padded(offsets.byteLength);
  const [chunk, dataAt] = startChunk(nulls, rowCount, offsetBytes + (offsets[rowCount] as number), scratchOf);
  const textsAt = dataAt + offsetBytes;
  // The offsets may end before the padding does.
  chunk.fill(0, textsAt - 8, textsAt);
  new Uint32Array(chunk.buffer, chunk.byteOffset + dataAt, offsets.length).set(offsets);
  return { chunk, textsAt };
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
