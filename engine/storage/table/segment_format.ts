/**
 * The description that ends a segment file: how each column is laid out, what its blocks hold (zone maps), statistics
 * of the whole column, and the Bloom filter on row ids. See `docs/segments.md`.
 */
import { assert } from "../../base/assert.ts";
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import type { StoredValue } from "../../operations/effect.ts";
import { BloomFilter } from "./bloom_filter.ts";
import { DistinctSketch } from "./distinct_sketch.ts";
import { type Element, ELEMENTS } from "./number_block.ts";

/** Code points of a text's prefix that a zone keeps. */
export const ZONE_TEXT_LENGTH = 8;

/** How a column is kept in all blocks of a segment. */
export type ColumnLayout =
  | { readonly kind: "constant"; readonly value: StoredValue }
  /** Row ids only: row r has the id base + r. */
  | { readonly kind: "sequence"; readonly base: number; readonly element: Element }
  | {
    readonly kind: "number";
    readonly element: Element;
    readonly nulls: boolean;
    readonly big: boolean;
    readonly firstChunk: number;
  }
  | { readonly kind: "bytes"; readonly isText: boolean; readonly nulls: boolean; readonly firstChunk: number }
  | {
    readonly kind: "dictionary";
    readonly wide: boolean;
    readonly nulls: boolean;
    readonly firstChunk: number;
    readonly dictionaryChunk: number;
  };

/** What the blocks of a column hold. A block that holds nothing but NULL has any bounds. */
export interface ColumnZones {
  /** NULLs per block. */
  readonly nullCounts: Uint16Array;
  /** Of numbers; a NaN maximum means "unknown". Empty for other columns. */
  readonly minima: Float64Array;
  readonly maxima: Float64Array;
  /** Of texts: prefixes of the least and greatest; empty for other columns. */
  readonly lows: readonly string[];
  readonly highs: readonly string[];
  /** Whether the greatest text goes on after its prefix. */
  readonly cut: Uint8Array;
}

/** A column of a segment. */
export interface SegmentColumnDescription {
  readonly columnId: number;
  readonly layout: ColumnLayout;
  readonly zones: ColumnZones;
  readonly nullCount: number;
  readonly minimum: StoredValue;
  readonly maximum: StoredValue;
  /** Bytes of all values (8 per number). */
  readonly valueBytes: number;
  readonly sketch: DistinctSketch;
}

/** The description of a segment. */
export interface SegmentDescription {
  readonly rowCount: number;
  readonly minimumId: number | bigint;
  readonly maximumId: number | bigint;
  readonly columns: readonly SegmentColumnDescription[];
  /** On row ids; null when ids are a sequence. */
  readonly bloom: BloomFilter | null;
}

/** Encodes a description. */
export function encodeSegmentDescription(description: SegmentDescription): Uint8Array {
  const writer = new ByteWriter(4096);
  writer.writeVarint(description.rowCount);
  writer.writeSignedVarint(description.minimumId);
  writer.writeSignedVarint(description.maximumId);
  writer.writeVarint(description.columns.length);
  for (const column of description.columns) writeColumn(writer, column);
  writer.writeVarint(description.bloom?.words.length ?? 0);
  if (description.bloom !== null) writeArray(writer, description.bloom.words);
  return writer.finish();
}

/** Decodes a description. */
export function decodeSegmentDescription(bytes: Uint8Array): SegmentDescription {
  const reader = new ByteReader(bytes);
  const rowCount = reader.readVarint();
  const minimumId = reader.readSignedVarint();
  const maximumId = reader.readSignedVarint();
  const columns: SegmentColumnDescription[] = [];
  for (let left = reader.readVarint(); left > 0; left--) columns.push(readColumn(reader));
  const words = reader.readVarint();
  const bloom = words === 0 ? null : new BloomFilter(new Uint32Array(readArray(reader, words * 4)));
  reader.expectEnd();
  return { rowCount, minimumId, maximumId, columns, bloom };
}

function writeColumn(writer: ByteWriter, column: SegmentColumnDescription): void {
  writer.writeSignedVarint(column.columnId);
  writeLayout(writer, column.layout);
  const zones = column.zones;
  writer.writeVarint(zones.nullCounts.length);
  writer.writeVarint(zones.minima.length);
  writer.writeVarint(zones.lows.length);
  writeArray(writer, zones.nullCounts);
  writeArray(writer, zones.minima);
  writeArray(writer, zones.maxima);
  for (const low of zones.lows) writer.writeText(low);
  for (const high of zones.highs) writer.writeText(high);
  writer.writeBytes(zones.cut);
  writer.writeVarint(column.nullCount);
  writeStored(writer, column.minimum);
  writeStored(writer, column.maximum);
  writer.writeVarint(column.valueBytes);
  writeSketch(writer, column.sketch.registers);
}

function readColumn(reader: ByteReader): SegmentColumnDescription {
  const columnId = Number(reader.readSignedVarint());
  const layout = readLayout(reader);
  const nullBlocks = reader.readVarint();
  const numberBlocks = reader.readVarint();
  const textBlocks = reader.readVarint();
  const nullCounts = new Uint16Array(readArray(reader, nullBlocks * 2));
  const minima = new Float64Array(readArray(reader, numberBlocks * 8));
  const maxima = new Float64Array(readArray(reader, numberBlocks * 8));
  const lows: string[] = [];
  const highs: string[] = [];
  for (let index = 0; index < textBlocks; index++) lows.push(reader.readText());
  for (let index = 0; index < textBlocks; index++) highs.push(reader.readText());
  const cut = reader.readBytes(textBlocks).slice();
  return {
    columnId,
    layout,
    zones: { nullCounts, minima, maxima, lows, highs, cut },
    nullCount: reader.readVarint(),
    minimum: readStored(reader),
    maximum: readStored(reader),
    valueBytes: reader.readVarint(),
    sketch: new DistinctSketch(readSketch(reader)),
  };
}

/** Few registers that are set are written one by one: their number plus one, then u16 place and u8 rank each. */
function writeSketch(writer: ByteWriter, registers: Uint8Array): void {
  let set = 0;
  for (const register of registers) if (register !== 0) set++;
  if (set * 3 >= registers.length) {
    writer.writeVarint(0);
    writer.writeBytes(registers);
    return;
  }
  writer.writeVarint(set + 1);
  registers.forEach((register, place) => {
    if (register === 0) return;
    writer.writeU16(place);
    writer.writeU8(register);
  });
}

function readSketch(reader: ByteReader): Uint8Array {
  const count = reader.readVarint();
  if (count === 0) return reader.readBytes(DistinctSketch.byteLength).slice();
  const registers = new Uint8Array(DistinctSketch.byteLength);
  for (let left = count - 1; left > 0; left--) {
    const place = reader.readU16();
    registers[place] = reader.readU8();
  }
  return registers;
}

function writeArray(writer: ByteWriter, array: Uint16Array | Uint32Array | Float64Array): void {
  writer.writeBytes(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
}

/** A copy of the next bytes in a buffer of its own. */
function readArray(reader: ByteReader, byteLength: number): ArrayBuffer {
  const copy = new Uint8Array(byteLength);
  copy.set(reader.readBytes(byteLength));
  return copy.buffer;
}

function writeLayout(writer: ByteWriter, layout: ColumnLayout): void {
  switch (layout.kind) {
    case "constant":
      writer.writeU8(0);
      writeStored(writer, layout.value);
      break;
    case "sequence":
      writer.writeU8(1);
      writer.writeF64(layout.base);
      writer.writeU8(ELEMENTS.indexOf(layout.element));
      break;
    case "number":
      writer.writeU8(2);
      writer.writeU8(ELEMENTS.indexOf(layout.element));
      writer.writeU8((layout.nulls ? 1 : 0) | (layout.big ? 2 : 0));
      writer.writeVarint(layout.firstChunk);
      break;
    case "bytes":
      writer.writeU8(3);
      writer.writeU8((layout.nulls ? 1 : 0) | (layout.isText ? 2 : 0));
      writer.writeVarint(layout.firstChunk);
      break;
    case "dictionary":
      writer.writeU8(4);
      writer.writeU8((layout.nulls ? 1 : 0) | (layout.wide ? 2 : 0));
      writer.writeVarint(layout.firstChunk);
      writer.writeVarint(layout.dictionaryChunk);
      break;
  }
}

function readElement(reader: ByteReader): Element {
  const element = ELEMENTS[reader.readU8()];
  assert(element !== undefined, "a verified description names known element types");
  return element;
}

function readLayout(reader: ByteReader): ColumnLayout {
  const kind = reader.readU8();
  switch (kind) {
    case 0:
      return { kind: "constant", value: readStored(reader) };
    case 1:
      return { kind: "sequence", base: reader.readF64(), element: readElement(reader) };
    case 2: {
      const element = readElement(reader);
      const flags = reader.readU8();
      const firstChunk = reader.readVarint();
      return { kind: "number", element, nulls: (flags & 1) !== 0, big: (flags & 2) !== 0, firstChunk };
    }
    case 3: {
      const flags = reader.readU8();
      return {
        kind: "bytes",
        nulls: (flags & 1) !== 0,
        isText: (flags & 2) !== 0,
        firstChunk: reader.readVarint(),
      };
    }
    default: {
      assert(kind === 4, `unknown column layout ${kind}`);
      const flags = reader.readU8();
      const firstChunk = reader.readVarint();
      const dictionaryChunk = reader.readVarint();
      return {
        kind: "dictionary",
        nulls: (flags & 1) !== 0,
        wide: (flags & 2) !== 0,
        firstChunk,
        dictionaryChunk,
      };
    }
  }
}

/** Writes a stored value with its kind. */
export function writeStored(writer: ByteWriter, value: StoredValue): void {
  if (value === null) writer.writeU8(0);
  else if (typeof value === "number") {
    writer.writeU8(1);
    writer.writeF64(value);
  } else if (typeof value === "bigint") {
    writer.writeU8(2);
    writer.writeSignedVarint(value);
  } else if (typeof value === "string") {
    writer.writeU8(3);
    writer.writeText(value);
  } else {
    writer.writeU8(4);
    writer.writeSizedBytes(value);
  }
}

/** Reads what {@link writeStored} wrote. */
export function readStored(reader: ByteReader): StoredValue {
  const kind = reader.readU8();
  switch (kind) {
    case 0:
      return null;
    case 1:
      return reader.readF64();
    case 2:
      return reader.readSignedVarint();
    case 3:
      return reader.readText();
    default:
      assert(kind === 4, `unknown value kind ${kind}`);
      return reader.readSizedBytes().slice();
  }
}
