/**
 * Index files: the entries of one index over one segment, sorted by key and row, in blocks of 4 096.
 *
 *     number block   u32 rows[n] padded to 8, then keys (i32 or f64)[n]; NaN is NULL
 *     text block     u32 rows[n] padded to 8, u32 offsets[n + 1] (in units), u16 units of all keys
 *
 * The description holds the form, the entry count, the first key of each block and the Bloom filter on whole keys.
 */
import { assert } from "../../base/assert.ts";
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import { BloomFilter } from "./bloom_filter.ts";
import { padded } from "./number_block.ts";

/** Whose keys a file holds. */
export interface IndexDescription {
  readonly entryCount: number;
  /** Number keys of this width, or text keys. */
  readonly form: "i32" | "f64" | "text";
  /** One of these holds the first key of each block. */
  readonly firstNumbers: Float64Array;
  readonly firstTexts: readonly string[];
  readonly bloom: BloomFilter;
}

/** A decoded block. */
export interface IndexBlock {
  readonly rows: Uint32Array;
  readonly numbers: Int32Array | Float64Array | null;
  readonly offsets: Uint32Array | null;
  readonly units: Uint16Array | null;
}

const FORMS = ["i32", "f64", "text"] as const;

/** Encodes a description. */
export function encodeIndexDescription(description: IndexDescription): Uint8Array {
  const writer = new ByteWriter(4096);
  writer.writeU8(FORMS.indexOf(description.form));
  writer.writeVarint(description.entryCount);
  if (description.form === "text") {
    writer.writeVarint(description.firstTexts.length);
    for (const text of description.firstTexts) {
      writer.writeVarint(text.length);
      for (let index = 0; index < text.length; index++) writer.writeU16(text.charCodeAt(index));
    }
  } else {
    writer.writeVarint(description.firstNumbers.length);
    for (const number of description.firstNumbers) writer.writeF64(number);
  }
  writer.writeVarint(description.bloom.words.length);
  const { words } = description.bloom;
  writer.writeBytes(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
  return writer.finish();
}

/** Decodes a description. */
export function decodeIndexDescription(bytes: Uint8Array): IndexDescription {
  const reader = new ByteReader(bytes);
  const form = FORMS[reader.readU8()];
  assert(form !== undefined, "a verified description names a known form");
  const entryCount = reader.readVarint();
  const blocks = reader.readVarint();
  const firstTexts: string[] = [];
  const firstNumbers = new Float64Array(form === "text" ? 0 : blocks);
  for (let block = 0; block < blocks; block++) {
    if (form !== "text") {
      firstNumbers[block] = reader.readF64();
      continue;
    }
    let text = "";
    for (let left = reader.readVarint(); left > 0; left--) text += String.fromCharCode(reader.readU16());
    firstTexts.push(text);
  }
  const words = new Uint32Array(reader.readVarint());
  new Uint8Array(words.buffer).set(reader.readBytes(words.byteLength));
  reader.expectEnd();
  return { entryCount, form, firstNumbers, firstTexts, bloom: new BloomFilter(words) };
}

/** Encodes a block of number keys. */
export function encodeNumberEntries(rows: Uint32Array, keys: Float64Array, narrow: boolean): Uint8Array {
  const count = rows.length;
  const keysAt = padded(count * 4);
  const chunk = new Uint8Array(keysAt + count * (narrow ? 4 : 8));
  new Uint32Array(chunk.buffer, 0, count).set(rows);
  if (narrow) new Int32Array(chunk.buffer, keysAt, count).set(keys);
  else new Float64Array(chunk.buffer, keysAt, count).set(keys);
  return chunk;
}

/** Encodes a block of text keys. */
export function encodeTextEntries(rows: Uint32Array, keys: readonly string[]): Uint8Array {
  const count = rows.length;
  let length = 0;
  for (const key of keys) length += key.length;
  const offsetsAt = padded(count * 4);
  const unitsAt = offsetsAt + (count + 1) * 4;
  const chunk = new Uint8Array(unitsAt + length * 2);
  new Uint32Array(chunk.buffer, 0, count).set(rows);
  const offsets = new Uint32Array(chunk.buffer, offsetsAt, count + 1);
  const units = new Uint16Array(chunk.buffer, unitsAt, length);
  let at = 0;
  for (let index = 0; index < count; index++) {
    const key = keys[index] as string;
    for (let unit = 0; unit < key.length; unit++) units[at++] = key.charCodeAt(unit);
    offsets[index + 1] = at;
  }
  return chunk;
}

/** The text key at a place of a block of such keys. */
export function textOfEntry({ offsets, units }: IndexBlock, at: number): string {
  assert(offsets !== null && units !== null, "a block of text keys");
  const start = offsets[at] as number;
  const end = offsets[at + 1] as number;
  // One call makes a short key at once; a long one could be more than a call's arguments.
  if (end - start <= 64) {
    return String.fromCharCode.apply(null, units.subarray(start, end) as unknown as number[]);
  }
  let text = "";
  for (let index = start; index < end; index++) text += String.fromCharCode(units[index] as number);
  return text;
}

/** Decodes a block. */
export function decodeEntries(chunk: Uint8Array, form: IndexDescription["form"], count: number): IndexBlock {
  const at = chunk.byteOffset;
  const rows = new Uint32Array(chunk.buffer, at, count);
  const keysAt = at + padded(count * 4);
  switch (form) {
    case "i32":
      return { rows, numbers: new Int32Array(chunk.buffer, keysAt, count), offsets: null, units: null };
    case "f64":
      return { rows, numbers: new Float64Array(chunk.buffer, keysAt, count), offsets: null, units: null };
    case "text": {
      const offsets = new Uint32Array(chunk.buffer, keysAt, count + 1);
      const units = new Uint16Array(chunk.buffer, keysAt + (count + 1) * 4, offsets[count] as number);
      return { rows, numbers: null, offsets, units };
    }
  }
}
