/**
 * Encoding blocks of numbers. A column of a segment has one element type for all its blocks, so that every decoded
 * vector has the same shape; a block is stored raw (and then decoded without a copy) or in a smaller form where there
 * is one.
 *
 *     chunk    u8 encoding, u8 flags (1: NULL bitmap, 2: big values), u16 reserved 0, u32 count of runs or 0
 *              [NULL bitmap: 1 bit a row, padded to 8 bytes]
 *              data, padded to 8 bytes
 *              [big values: varint count, then varint row and signed varint value each]
 *
 * `constant` and `sequence` store one f64 (the sequence is base, base + 1, …); `frame8` and `frame16` an f64 base and
 * one unsigned offset a row; `runs` an f64 value per run, then a u16 length less one per run. NULL rows hold 0 in raw
 * data.
 */
import { assert } from "../../base/assert.ts";
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import type { NumberArray } from "../access/vector.ts";

/** Element types of number columns, by code. */
export const ELEMENTS = ["i8", "u8", "i16", "u16", "i32", "u32", "f32", "f64"] as const;

/** An element type. */
export type Element = typeof ELEMENTS[number];

const ENCODINGS = ["raw", "constant", "frame8", "frame16", "runs", "sequence"] as const;
type Encoding = typeof ENCODINGS[number];

const FLAG_NULLS = 1;
const FLAG_BIG = 2;
const HEADER_BYTES = 8;

/** Rows of one block, gathered for encoding. NULL rows hold 0. */
export interface NumberBlock {
  readonly data: Float64Array;
  readonly rowCount: number;
  /** 1 where NULL; null: there is none. */
  readonly nulls: Uint8Array | null;
  readonly big: ReadonlyMap<number, bigint> | null;
}

/** A decoded block. */
export interface DecodedNumbers {
  readonly data: NumberArray;
  readonly nulls: Uint8Array | null;
  readonly big: ReadonlyMap<number, bigint> | null;
}

/** What decides the element type of a column. */
export interface NumberRange {
  readonly minimum: number;
  readonly maximum: number;
  /** Every value is an integer other than -0. */
  readonly integral: boolean;
  /** Every value is exact as a 32-bit float. */
  readonly single: boolean;
}

/** The smallest element type that holds the range exactly. */
export function chooseElement(range: NumberRange): Element {
  const { minimum, maximum } = range;
  if (range.integral) {
    if (minimum >= -128 && maximum <= 127) return "i8";
    if (minimum >= 0 && maximum <= 255) return "u8";
    if (minimum >= -32768 && maximum <= 32767) return "i16";
    if (minimum >= 0 && maximum <= 65535) return "u16";
    if (minimum >= -2147483648 && maximum <= 2147483647) return "i32";
    if (minimum >= 0 && maximum <= 4294967295) return "u32";
  }
  return range.single ? "f32" : "f64";
}

/** An array of the element type. */
export function allocateElements(element: Element, count: number): NumberArray {
  switch (element) {
    case "i8":
      return new Int8Array(count);
    case "u8":
      return new Uint8Array(count);
    case "i16":
      return new Int16Array(count);
    case "u16":
      return new Uint16Array(count);
    case "i32":
      return new Int32Array(count);
    case "u32":
      return new Uint32Array(count);
    case "f32":
      return new Float32Array(count);
    case "f64":
      return new Float64Array(count);
  }
}

function viewElements(element: Element, bytes: Uint8Array, at: number, count: number): NumberArray {
  const offset = bytes.byteOffset + at;
  switch (element) {
    case "i8":
      return new Int8Array(bytes.buffer, offset, count);
    case "u8":
      return new Uint8Array(bytes.buffer, offset, count);
    case "i16":
      return new Int16Array(bytes.buffer, offset, count);
    case "u16":
      return new Uint16Array(bytes.buffer, offset, count);
    case "i32":
      return new Int32Array(bytes.buffer, offset, count);
    case "u32":
      return new Uint32Array(bytes.buffer, offset, count);
    case "f32":
      return new Float32Array(bytes.buffer, offset, count);
    case "f64":
      return new Float64Array(bytes.buffer, offset, count);
  }
}

/** Bytes of one element. */
export function elementBytes(element: Element): number {
  switch (element) {
    case "i8":
    case "u8":
      return 1;
    case "i16":
    case "u16":
      return 2;
    case "i32":
    case "u32":
    case "f32":
      return 4;
    case "f64":
      return 8;
  }
}

/** Rounds up to a multiple of 8. */
export function padded(length: number): number {
  return (length + 7) & ~7;
}

/** Writes a bitmap of NULL flags. */
export function writeBitmap(target: Uint8Array, at: number, nulls: Uint8Array, rowCount: number): void {
  for (let row = 0; row < rowCount; row++) {
    if (nulls[row] === 1) target[at + (row >>> 3)] = (target[at + (row >>> 3)] as number) | (1 << (row & 7));
  }
}

/** Reads a bitmap of NULL flags. */
export function readBitmap(source: Uint8Array, at: number, rowCount: number): Uint8Array {
  const nulls = new Uint8Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    nulls[row] = ((source[at + (row >>> 3)] as number) >>> (row & 7)) & 1;
  }
  return nulls;
}

interface Shape {
  readonly encoding: Encoding;
  readonly dataBytes: number;
  readonly runs: number;
}

function chooseShape(block: NumberBlock, element: Element): Shape {
  const { data, rowCount } = block;
  const first = data[0] as number;
  let minimum = first;
  let maximum = first;
  let integral = true;
  let sequence = true;
  let runs = 1;
  let previous = first;
  for (let row = 0; row < rowCount; row++) {
    const value = data[row] as number;
    if (!Object.is(value, previous)) {
      runs++;
      previous = value;
    }
    if (value < minimum) minimum = value;
    if (value > maximum) maximum = value;
    if (value !== first + row) sequence = false;
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) integral = false;
  }
  if (runs === 1) return { encoding: "constant", dataBytes: 8, runs: 0 };
  if (sequence && integral) return { encoding: "sequence", dataBytes: 8, runs: 0 };
  const width = elementBytes(element);
  let best: Shape = { encoding: "raw", dataBytes: padded(rowCount * width), runs: 0 };
  const consider = (encoding: Encoding, dataBytes: number, count: number): void => {
    // A smaller form costs a copy when decoded: it has to be worth that.
    if (dataBytes * 4 <= best.dataBytes * 3) best = { encoding, dataBytes, runs: count };
  };
  if (integral && maximum - minimum <= 255) consider("frame8", 8 + padded(rowCount), 0);
  else if (integral && maximum - minimum <= 65535) consider("frame16", 8 + padded(rowCount * 2), 0);
  consider("runs", runs * 8 + padded(runs * 2), runs);
  return best;
}

/** Encodes a block of at least one row as a chunk. */
export function encodeNumbers(block: NumberBlock, element: Element): Uint8Array {
  const { data, rowCount } = block;
  const shape = chooseShape(block, element);
  const nullBytes = block.nulls === null ? 0 : padded((rowCount + 7) >>> 3);
  const big = block.big !== null && block.big.size > 0 ? encodeBig(block.big) : null;
  const dataAt = HEADER_BYTES + nullBytes;
  const bigAt = dataAt + shape.dataBytes;
  const chunk = new Uint8Array(bigAt + (big?.length ?? 0));
  const view = new DataView(chunk.buffer);
  chunk[0] = ENCODINGS.indexOf(shape.encoding);
  chunk[1] = (block.nulls === null ? 0 : FLAG_NULLS) | (big === null ? 0 : FLAG_BIG);
  view.setUint32(4, shape.runs, true);
  if (block.nulls !== null) writeBitmap(chunk, HEADER_BYTES, block.nulls, rowCount);
  if (big !== null) chunk.set(big, bigAt);
  switch (shape.encoding) {
    case "raw":
      viewElements(element, chunk, dataAt, rowCount).set(data.subarray(0, rowCount));
      break;
    case "constant":
    case "sequence":
      view.setFloat64(dataAt, data[0] as number, true);
      break;
    case "frame8":
    case "frame16": {
      let base = data[0] as number;
      for (let row = 1; row < rowCount; row++) base = Math.min(base, data[row] as number);
      view.setFloat64(dataAt, base, true);
      const offsets = viewElements(shape.encoding === "frame8" ? "u8" : "u16", chunk, dataAt + 8, rowCount);
      for (let row = 0; row < rowCount; row++) offsets[row] = (data[row] as number) - base;
      break;
    }
    case "runs": {
      let run = 0;
      for (let row = 0; row < rowCount;) {
        const value = data[row] as number;
        let end = row + 1;
        while (end < rowCount && Object.is(data[end], value)) end++;
        view.setFloat64(dataAt + run * 8, value, true);
        view.setUint16(dataAt + shape.runs * 8 + run * 2, end - row - 1, true);
        run++;
        row = end;
      }
      break;
    }
  }
  return chunk;
}

function encodeBig(big: ReadonlyMap<number, bigint>): Uint8Array {
  const writer = new ByteWriter();
  writer.writeVarint(big.size);
  for (const row of [...big.keys()].sort((left, right) => left - right)) {
    writer.writeVarint(row);
    writer.writeSignedVarint(big.get(row) ?? 0n);
  }
  return writer.finish();
}

/** Where the data of a chunk without NULLs begins. */
export const NUMBER_DATA_AT = HEADER_BYTES;

/** Whether the head is of a chunk whose elements are in it as they are, without NULLs and big values. */
export function isPlainNumbers(head: Uint8Array): boolean {
  return ENCODINGS[head[0] as number] === "raw" && head[1] === 0;
}

/** Chunks of one value or of a sequence are not longer. */
export const BASE_CHUNK_BYTES = HEADER_BYTES + 8;

/** The first value of a chunk that is one value, or a sequence, without NULLs and big values; null: it is another. */
export function baseOfNumbers(
  chunk: Uint8Array,
): { readonly value: number; readonly isSequence: boolean } | null {
  const encoding = ENCODINGS[chunk[0] as number];
  if (chunk[1] !== 0 || (encoding !== "constant" && encoding !== "sequence")) return null;
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return { value: view.getFloat64(HEADER_BYTES, true), isSequence: encoding === "sequence" };
}

/** An element by its bytes. */
export function readElement(bytes: Uint8Array, element: Element): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (element) {
    case "i8":
      return view.getInt8(0);
    case "u8":
      return view.getUint8(0);
    case "i16":
      return view.getInt16(0, true);
    case "u16":
      return view.getUint16(0, true);
    case "i32":
      return view.getInt32(0, true);
    case "u32":
      return view.getUint32(0, true);
    case "f32":
      return view.getFloat32(0, true);
    case "f64":
      return view.getFloat64(0, true);
  }
}

/** Decodes a chunk. `shape.nulls` and `shape.big` ask for these also when the block itself has none. */
export function decodeNumbers(
  chunk: Uint8Array,
  element: Element,
  rowCount: number,
  shape: { readonly nulls: boolean; readonly big: boolean },
): DecodedNumbers {
  const encoding = ENCODINGS[chunk[0] as number];
  const flags = chunk[1] as number;
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const runs = view.getUint32(4, true);
  const hasNulls = (flags & FLAG_NULLS) !== 0;
  const dataAt = HEADER_BYTES + (hasNulls ? padded((rowCount + 7) >>> 3) : 0);
  const width = elementBytes(element);
  let data: NumberArray;
  let dataBytes = 8;
  switch (encoding) {
    case "raw":
      data = viewElements(element, chunk, dataAt, rowCount);
      dataBytes = padded(rowCount * width);
      break;
    case "constant":
      data = allocateElements(element, rowCount);
      data.fill(view.getFloat64(dataAt, true));
      break;
    case "sequence": {
      data = allocateElements(element, rowCount);
      const base = view.getFloat64(dataAt, true);
      for (let row = 0; row < rowCount; row++) data[row] = base + row;
      break;
    }
    case "frame8":
    case "frame16": {
      const narrow = encoding === "frame8";
      data = allocateElements(element, rowCount);
      addBase(
        data,
        viewElements(narrow ? "u8" : "u16", chunk, dataAt + 8, rowCount),
        view.getFloat64(dataAt, true),
      );
      dataBytes = 8 + padded(rowCount * (narrow ? 1 : 2));
      break;
    }
    case "runs": {
      data = allocateElements(element, rowCount);
      let row = 0;
      for (let run = 0; run < runs; run++) {
        const end = row + view.getUint16(dataAt + runs * 8 + run * 2, true) + 1;
        data.fill(view.getFloat64(dataAt + run * 8, true), row, end);
        row = end;
      }
      dataBytes = runs * 8 + padded(runs * 2);
      break;
    }
    default:
      assert(false, `unknown number encoding ${chunk[0]}`);
  }
  return {
    data,
    nulls: hasNulls ? readBitmap(chunk, HEADER_BYTES, rowCount) : shape.nulls ? noNulls(rowCount) : null,
    big: (flags & FLAG_BIG) !== 0 ? decodeBig(chunk, dataAt + dataBytes) : shape.big ? NO_BIG : null,
  };
}

function addBase(data: NumberArray, offsets: NumberArray, base: number): void {
  for (let row = 0; row < data.length; row++) data[row] = base + (offsets[row] as number);
}

const NO_BIG: ReadonlyMap<number, bigint> = new Map();
const NO_NULLS = new Uint8Array(4096);

/** Flags of a block without NULLs. */
export function noNulls(rowCount: number): Uint8Array {
  return NO_NULLS.length === rowCount ? NO_NULLS : NO_NULLS.subarray(0, rowCount);
}

function decodeBig(chunk: Uint8Array, at: number): ReadonlyMap<number, bigint> {
  const reader = new ByteReader(chunk, at);
  const big = new Map<number, bigint>();
  for (let left = reader.readVarint(); left > 0; left--) {
    const row = reader.readVarint();
    big.set(row, BigInt(reader.readSignedVarint()));
  }
  return big;
}
