/** Values in the encoding PLAIN, one after the other, and what is put back into it: BYTE_STREAM_SPLIT. */
import type { PhysicalName } from "./metadata.ts";
import {
  type BytesVector,
  bytesVector,
  type NumberVector,
  numberVector,
  setInt64,
  ValueError,
  type Vector,
} from "./vector.ts";

/** Reads the values of a page, piece by piece. */
export interface ValueReader {
  /** Where {@link read} puts values. */
  readonly vector: Vector;
  /** Length of the longest value of the page if values can be longer together than the page is; else 0. */
  readonly maxLength: number;
  /** Puts the next values at the vector's beginning. Raises {@link ValueError} when there are fewer. */
  read(count: number): void;
}

/** The bytes of values, and what they are. */
export interface ValueBytes {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly type: PhysicalName;
  /** Length of FIXED_LEN_BYTE_ARRAY. */
  readonly typeLength: number;
  /** The most values that are read at once. */
  readonly capacity: number;
}

/** Bytes of a value; 0 for those without a fixed size, BOOLEAN included. */
export function fixedSize(type: PhysicalName, typeLength: number): number {
  switch (type) {
    case "INT32":
    case "FLOAT":
      return 4;
    case "INT64":
    case "DOUBLE":
      return 8;
    case "INT96":
      return 12;
    case "FIXED_LEN_BYTE_ARRAY":
      return typeLength;
    default:
      return 0;
  }
}

/** The reader of PLAIN. */
export function plainReader(values: ValueBytes): ValueReader {
  switch (values.type) {
    case "BOOLEAN":
      return new BooleanReader(values);
    case "BYTE_ARRAY":
      return new ByteArrayReader(values);
    case "INT96":
    case "FIXED_LEN_BYTE_ARRAY":
      return new FixedBytesReader(values);
    default:
      return new NumberReader(values);
  }
}

/** The reader of BYTE_STREAM_SPLIT: the first bytes of all values, then the second ones, … */
export function streamSplitReader(values: ValueBytes): ValueReader {
  const { bytes, start, end, type, typeLength } = values;
  const size = fixedSize(type, typeLength);
  const count = (end - start) / size;
  if (size === 0 || !Number.isInteger(count)) {
    throw new ValueError("the page's size is no multiple of a value's");
  }
  const joined = new Uint8Array(end - start);
  for (let stream = 0, from = start; stream < size; stream++) {
    for (let to = stream; to < joined.length; to += size) joined[to] = bytes[from++] as number;
  }
  return plainReader({ ...values, bytes: joined, start: 0, end: joined.length });
}

const TOO_FEW = "there are fewer values than the page's header says";

class NumberReader implements ValueReader {
  readonly maxLength = 0;
  readonly vector: NumberVector;
  readonly #view: DataView;
  readonly #type: PhysicalName;
  readonly #size: number;
  readonly #end: number;
  #position: number;

  constructor({ bytes, start, end, type, capacity }: ValueBytes) {
    this.vector = numberVector(capacity);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#type = type;
    this.#size = fixedSize(type, 0);
    this.#position = start;
    this.#end = end;
  }

  read(count: number): void {
    const end = this.#position + count * this.#size;
    if (end > this.#end) throw new ValueError(TOO_FEW);
    const view = this.#view;
    const { vector } = this;
    const { data } = vector;
    let at = this.#position;
    switch (this.#type) {
      case "INT32":
        for (let index = 0; index < count; index++, at += 4) data[index] = view.getInt32(at, true);
        break;
      case "FLOAT":
        for (let index = 0; index < count; index++, at += 4) data[index] = view.getFloat32(at, true);
        break;
      case "DOUBLE":
        for (let index = 0; index < count; index++, at += 8) data[index] = view.getFloat64(at, true);
        break;
      default:
        vector.big = null;
        for (let index = 0; index < count; index++, at += 8) {
          const high = view.getInt32(at + 4, true);
          if (high >= -2097152 + 1 && high < 2097152) {
            data[index] = high * 4294967296 + view.getUint32(at, true);
          } else setInt64(vector, index, view.getInt32(at, true), high);
        }
    }
    this.#position = end;
  }
}

class BooleanReader implements ValueReader {
  readonly maxLength = 0;
  readonly vector: NumberVector;
  readonly #bytes: Uint8Array;
  readonly #endBit: number;
  #bit: number;

  constructor({ bytes, start, end, capacity }: ValueBytes) {
    this.vector = numberVector(capacity);
    this.#bytes = bytes;
    this.#bit = start * 8;
    this.#endBit = end * 8;
  }

  read(count: number): void {
    if (this.#bit + count > this.#endBit) throw new ValueError(TOO_FEW);
    for (let index = 0; index < count; index++, this.#bit++) {
      // Not an operator on 32 bits: positions in bits may exceed them.
      const byte = this.#bytes[Math.floor(this.#bit / 8)] as number;
      this.vector.data[index] = byte >>> this.#bit % 8 & 1;
    }
  }
}

class ByteArrayReader implements ValueReader {
  readonly maxLength = 0;
  readonly vector: BytesVector;
  readonly #view: DataView;
  readonly #end: number;
  #position: number;

  constructor({ bytes, start, end, capacity }: ValueBytes) {
    this.vector = bytesVector(bytes, capacity);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = start;
    this.#end = end;
  }

  read(count: number): void {
    const { starts, ends } = this.vector;
    const view = this.#view;
    const last = this.#end;
    let at = this.#position;
    for (let index = 0; index < count; index++) {
      if (at + 4 > last) throw new ValueError(TOO_FEW);
      const start = at + 4;
      at = start + view.getUint32(at, true);
      if (at > last) throw new ValueError("a text is longer than its page");
      starts[index] = start;
      ends[index] = at;
    }
    this.#position = at;
  }
}

class FixedBytesReader implements ValueReader {
  readonly maxLength = 0;
  readonly vector: BytesVector;
  readonly #size: number;
  readonly #end: number;
  #position: number;

  constructor({ bytes, start, end, type, typeLength, capacity }: ValueBytes) {
    this.vector = bytesVector(bytes, capacity);
    this.#size = fixedSize(type, typeLength);
    this.#position = start;
    this.#end = end;
  }

  read(count: number): void {
    const { starts, ends } = this.vector;
    const size = this.#size;
    if (this.#position + count * size > this.#end) throw new ValueError(TOO_FEW);
    for (let index = 0; index < count; index++) {
      starts[index] = this.#position;
      ends[index] = this.#position += size;
    }
  }
}
