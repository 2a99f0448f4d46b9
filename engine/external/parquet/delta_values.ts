/**
 * Values as differences: DELTA_BINARY_PACKED (integers), DELTA_LENGTH_BYTE_ARRAY (texts, their lengths first) and
 * DELTA_BYTE_ARRAY (what a text shares with the one before).
 *
 * Integers of 64 bits are two halves of 32, so that no bigint is made for each. The encoding can say billions of values
 * in few bytes; like all readers, these hand out piece by piece.
 */
import type { ValueBytes, ValueReader } from "./plain_values.ts";
import {
  type BytesVector,
  bytesVector,
  type NumberVector,
  numberVector,
  setInt64,
  ValueError,
} from "./vector.ts";

const MAX_BLOCK_VALUES = 1 << 20;
/** Values of one page whose lengths are looked through before the first is read. */
const MAX_PREFIXED_VALUES = 1 << 24;
const TOO_FEW = "there are fewer values than the page's header says";

/** DELTA_BINARY_PACKED. */
export class DeltaReader implements ValueReader {
  readonly maxLength = 0;
  readonly vector: NumberVector;
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #isInt32: boolean;
  readonly #blockValues: number;
  readonly #miniblocks: number;
  /** Values that have not been read. */
  left: number;
  #position: number;
  #isFirst = true;
  #low: number;
  #high: number;
  #minimumLow = 0;
  #minimumHigh = 0;
  #widths = 0;
  #miniblock: number;
  #miniblockLeft = 0;
  #width = 0;
  #bit = 0;
  #byte = 0;
  // Halves of the number read last.
  #readLow = 0;
  #readHigh = 0;

  constructor({ bytes, start, end, type, capacity }: ValueBytes) {
    this.vector = numberVector(capacity);
    this.#bytes = bytes;
    this.#position = start;
    this.#end = end;
    this.#isInt32 = type !== "INT64";
    this.#blockValues = this.#unsigned();
    this.#miniblocks = this.#unsigned();
    this.left = this.#unsigned();
    const perMiniblock = this.#blockValues / this.#miniblocks;
    if (
      this.#blockValues > MAX_BLOCK_VALUES || this.#blockValues < 1 || !(perMiniblock >= 8) ||
      perMiniblock % 8 !== 0
    ) throw new ValueError("blocks of differences have a wrong size");
    this.#zigzag();
    this.#low = this.#readLow;
    this.#high = this.#readHigh;
    this.#miniblock = this.#miniblocks;
  }

  read(count: number): void {
    if (count > this.left) throw new ValueError(TOO_FEW);
    const { vector } = this;
    vector.big = null;
    for (let index = 0; index < count; index++) {
      if (this.#isFirst) this.#isFirst = false;
      else this.#addDifference();
      if (this.#isInt32) vector.data[index] = this.#low;
      else setInt64(vector, index, this.#low, this.#high);
    }
    this.left -= count;
  }

  /** Where the values end; the reader is not moved. */
  endOfValues(): number {
    const before = this.#position;
    let left = this.left - 1;
    while (left > 0) {
      this.#beginBlock();
      for (let index = 0; index < this.#miniblocks && left > 0; index++) {
        const width = this.#bytes[this.#widths + index] as number;
        this.#position += width * this.#blockValues / this.#miniblocks / 8;
        left -= this.#blockValues / this.#miniblocks;
      }
      if (this.#position > this.#end) throw new ValueError(TOO_FEW);
    }
    const end = this.#position;
    this.#position = before;
    return end;
  }

  #addDifference(): void {
    if (this.#miniblockLeft === 0) this.#nextMiniblock();
    this.#miniblockLeft--;
    this.#unpack();
    const differenceLow = this.#readLow + (this.#minimumLow >>> 0);
    const carry = differenceLow >= 4294967296 ? 1 : 0;
    const differenceHigh = this.#readHigh + this.#minimumHigh + carry | 0;
    const low = (this.#low >>> 0) + (differenceLow >>> 0);
    this.#high = this.#high + differenceHigh + (low >= 4294967296 ? 1 : 0) | 0;
    this.#low = low | 0;
  }

  #beginBlock(): void {
    this.#zigzag();
    this.#minimumLow = this.#readLow;
    this.#minimumHigh = this.#readHigh;
    this.#widths = this.#position;
    this.#position += this.#miniblocks;
    if (this.#position > this.#end) throw new ValueError(TOO_FEW);
  }

  #nextMiniblock(): void {
    if (this.#miniblock === this.#miniblocks) {
      this.#beginBlock();
      this.#miniblock = 0;
    }
    this.#width = this.#bytes[this.#widths + this.#miniblock++] as number;
    this.#miniblockLeft = this.#blockValues / this.#miniblocks;
    if (this.#width > 64) throw new ValueError("a difference has more than 64 bits");
    this.#byte = this.#position;
    this.#bit = 0;
    this.#position += this.#width * this.#miniblockLeft / 8;
    if (this.#position > this.#end) throw new ValueError(TOO_FEW);
  }

  /** The next number of the miniblock, as two unsigned halves. */
  #unpack(): void {
    const width = this.#width;
    this.#readLow = this.#bits(Math.min(width, 32));
    this.#readHigh = width > 32 ? this.#bits(width - 32) : 0;
  }

  #bits(width: number): number {
    let value = 0, scale = 1, left = width;
    while (left > 0) {
      const size = Math.min(left, 8 - this.#bit);
      value += ((this.#bytes[this.#byte] as number) >>> this.#bit & (1 << size) - 1) * scale;
      scale *= 1 << size;
      left -= size;
      this.#bit += size;
      if (this.#bit === 8) {
        this.#bit = 0;
        this.#byte++;
      }
    }
    return value;
  }

  #unsigned(): number {
    let value = 0, scale = 1;
    for (let count = 0; count < 5; count++) {
      const byte = this.#next();
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) return value;
    }
    throw new ValueError("a size is too long");
  }

  /** A zigzag number of 64 bits, as two signed halves. */
  #zigzag(): void {
    let low = 0, high = 0;
    for (let shift = 0;; shift += 7) {
      const byte = this.#next();
      if (shift < 28) low |= (byte & 127) << shift;
      else if (shift === 28) {
        low |= (byte & 127) << 28;
        high = (byte & 127) >> 4;
      } else if (shift < 64) high |= (byte & 127) << shift - 32;
      else throw new ValueError("a number is too long");
      if (byte < 128) break;
    }
    const sign = -(low & 1);
    this.#readLow = ((low >>> 1 | high << 31) ^ sign) | 0;
    this.#readHigh = (high >>> 1 ^ sign) | 0;
  }

  #next(): number {
    if (this.#position >= this.#end) throw new ValueError(TOO_FEW);
    return this.#bytes[this.#position++] as number;
  }
}

/** DELTA_LENGTH_BYTE_ARRAY. */
export class DeltaLengthReader implements ValueReader {
  readonly maxLength = 0;
  readonly vector: BytesVector;
  readonly #lengths: DeltaReader;
  readonly #end: number;
  #position: number;

  constructor(values: ValueBytes) {
    this.vector = bytesVector(values.bytes, values.capacity);
    this.#lengths = new DeltaReader({ ...values, type: "INT32" });
    this.#position = this.#lengths.endOfValues();
    this.#end = values.end;
  }

  /** Values that have not been read. */
  get left(): number {
    return this.#lengths.left;
  }

  read(count: number): void {
    const { starts, ends } = this.vector;
    this.#lengths.read(count);
    const lengths = this.#lengths.vector.data;
    let at = this.#position;
    for (let index = 0; index < count; index++) {
      const length = lengths[index] as number;
      if (length < 0 || length > this.#end - at) throw new ValueError("a text is longer than its page");
      starts[index] = at;
      ends[index] = at += length;
    }
    this.#position = at;
  }
}

/** DELTA_BYTE_ARRAY. */
export class DeltaByteArrayReader implements ValueReader {
  readonly maxLength: number;
  readonly vector: BytesVector;
  readonly #prefixes: DeltaReader;
  readonly #suffixes: DeltaLengthReader;
  readonly #fixedLength: number | null;
  #before = new Uint8Array(0);

  constructor(values: ValueBytes) {
    this.#fixedLength = values.type === "FIXED_LEN_BYTE_ARRAY" ? values.typeLength : null;
    this.vector = bytesVector(new Uint8Array(0), values.capacity);
    this.#prefixes = new DeltaReader({ ...values, type: "INT32" });
    const start = this.#prefixes.endOfValues();
    this.#suffixes = new DeltaLengthReader({ ...values, start });
    this.maxLength = longestOf(values, start);
  }

  read(count: number): void {
    this.#prefixes.read(count);
    this.#suffixes.read(count);
    const prefixes = this.#prefixes.vector.data;
    const suffixes = this.#suffixes.vector;
    let size = 0;
    for (let index = 0; index < count; index++) {
      size += (prefixes[index] as number) + (suffixes.ends[index] as number) -
        (suffixes.starts[index] as number);
    }
    const bytes = new Uint8Array(size);
    let before = this.#before, beforeStart = 0, beforeEnd = before.length, at = 0;
    for (let index = 0; index < count; index++) {
      const start = at;
      const prefix = prefixes[index] as number;
      const from = suffixes.starts[index] as number, to = suffixes.ends[index] as number;
      for (let offset = 0; offset < prefix; offset++) bytes[at++] = before[beforeStart + offset] as number;
      for (let offset = from; offset < to; offset++) bytes[at++] = suffixes.bytes[offset] as number;
      if (prefix > beforeEnd - beforeStart) {
        throw new ValueError("a text shares more than the one before has");
      }
      if (this.#fixedLength !== null && at - start !== this.#fixedLength) {
        throw new ValueError("a value has a wrong length");
      }
      this.vector.starts[index] = start;
      this.vector.ends[index] = at;
      before = bytes;
      beforeStart = start;
      beforeEnd = at;
    }
    this.#before = before.slice(beforeStart, beforeEnd);
    this.vector.bytes = bytes;
  }
}

/** The longest value, by a look at all lengths: prefixes let values be longer together than their page. */
function longestOf(values: ValueBytes, suffixStart: number): number {
  const capacity = 1024;
  const prefixes = new DeltaReader({ ...values, type: "INT32", capacity });
  const suffixes = new DeltaLengthReader({ ...values, start: suffixStart, capacity });
  if (prefixes.left !== suffixes.left) throw new ValueError("texts and what they share are not equally many");
  if (prefixes.left > MAX_PREFIXED_VALUES) throw new ValueError("the page has too many values");
  let longest = 0, before = 0;
  while (prefixes.left > 0) {
    const count = Math.min(capacity, prefixes.left);
    prefixes.read(count);
    suffixes.read(count);
    for (let index = 0; index < count; index++) {
      const prefix = prefixes.vector.data[index] as number;
      if (prefix < 0 || prefix > before) throw new ValueError("a text shares more than the one before has");
      before = prefix + (suffixes.vector.ends[index] as number) - (suffixes.vector.starts[index] as number);
      if (before > longest) longest = before;
    }
  }
  return longest;
}
