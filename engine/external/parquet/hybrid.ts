/**
 * Small integers in few bits: levels, and indices into dictionaries.
 *
 * {@link HybridReader} reads runs of equal values and groups of bit-packed ones (the encoding RLE), least significant
 * bit first; {@link BitPackedReader} the older BIT_PACKED, most significant bit first, without runs. Both hand out
 * values piece by piece, so that a run of a billion values takes no memory.
 */
import { ValueError } from "./vector.ts";

/** Reads integers of at most 32 bits. */
export interface IntegerReader {
  /** Writes the next values to the beginning of the target. Raises {@link ValueError} when there are fewer. */
  read(target: Int32Array, count: number): void;
  /** The value of the next ones, if all are known to be equal without reading them; they are passed over then. */
  runOf(count: number): number | undefined;
}

/** See the file's head. */
export class HybridReader implements IntegerReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #width: number;
  #position: number;
  #runLeft = 0;
  #runValue = 0;
  #packedLeft = 0;
  #bit = 0;

  constructor(bytes: Uint8Array, start: number, end: number, width: number) {
    this.#bytes = bytes;
    this.#position = start;
    this.#end = end;
    this.#width = width;
  }

  runOf(count: number): number | undefined {
    if (this.#width === 0) return 0;
    if (this.#runLeft === 0 && this.#packedLeft === 0) this.#nextRun();
    if (this.#runLeft < count) return undefined;
    this.#runLeft -= count;
    return this.#runValue;
  }

  read(target: Int32Array, count: number): void {
    if (this.#width === 0) {
      target.fill(0, 0, count);
      return;
    }
    for (let at = 0; at < count;) {
      if (this.#runLeft > 0) {
        const size = Math.min(this.#runLeft, count - at);
        target.fill(this.#runValue, at, at + size);
        this.#runLeft -= size;
        at += size;
      } else if (this.#packedLeft > 0) {
        const size = Math.min(this.#packedLeft, count - at);
        this.#unpack(target, at, size);
        this.#packedLeft -= size;
        at += size;
      } else this.#nextRun();
    }
  }

  #nextRun(): void {
    let head = 0;
    for (let shift = 0;; shift += 7) {
      const byte = this.#position < this.#end ? this.#bytes[this.#position++] as number : undefined;
      if (byte === undefined || shift > 28) {
        throw new ValueError("there are fewer values than the page's header says");
      }
      head += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    const count = Math.floor(head / 2);
    if (head % 2 === 1) {
      // Groups of eight; the last may be cut off behind the last value.
      const available = this.#end - this.#position;
      const values = Math.min(count * 8, Math.floor(available * 8 / this.#width));
      this.#packedLeft = values;
      this.#bit = this.#position * 8;
      this.#position += Math.min(available, count * this.#width);
      if (values === 0 && count > 0) throw new ValueError("a run of values is cut off");
      return;
    }
    const size = this.#width + 7 >> 3;
    if (this.#end - this.#position < size) throw new ValueError("a run of values is cut off");
    let value = 0;
    for (let index = 0; index < size; index++) {
      value |= (this.#bytes[this.#position++] as number) << 8 * index;
    }
    if (this.#width < 32 && value >>> this.#width !== 0) throw new ValueError("a value has too many bits");
    this.#runLeft = count;
    this.#runValue = value;
  }

  #unpack(target: Int32Array, start: number, count: number): void {
    const bytes = this.#bytes;
    const width = this.#width;
    let position = this.#bit >>> 3, used = this.#bit & 7;
    // The position in bits exceeds 32 bits in pages of more than half a gigabyte only, which no limit allows.
    if (width <= 24) {
      const mask = (1 << width) - 1;
      let held = (bytes[position++] as number) >>> used, bits = 8 - used;
      for (let at = start, end = start + count; at < end; at++) {
        while (bits < width) {
          held |= (bytes[position++] as number) << bits;
          bits += 8;
        }
        target[at] = held & mask;
        held >>>= width;
        bits -= width;
      }
    } else {
      for (let at = start, end = start + count; at < end; at++) {
        let value = 0;
        for (let bit = 0; bit < width; bit++) {
          if ((bytes[position] as number) >>> used & 1) value |= 1 << bit;
          if (++used === 8) {
            used = 0;
            position++;
          }
        }
        target[at] = value;
      }
    }
    this.#bit += count * width;
  }
}

/** See the file's head. */
export class BitPackedReader implements IntegerReader {
  readonly #bytes: Uint8Array;
  readonly #endBit: number;
  readonly #width: number;
  #bit: number;

  constructor(bytes: Uint8Array, start: number, end: number, width: number) {
    this.#bytes = bytes;
    this.#bit = start * 8;
    this.#endBit = end * 8;
    this.#width = width;
  }

  runOf(): number | undefined {
    return undefined;
  }

  read(target: Int32Array, count: number): void {
    if (this.#bit + count * this.#width > this.#endBit) {
      throw new ValueError("there are fewer values than the page's header says");
    }
    let bit = this.#bit;
    for (let at = 0; at < count; at++) {
      let value = 0;
      for (let index = 0; index < this.#width; index++, bit++) {
        value = value << 1 | (this.#bytes[bit >>> 3] as number) >>> 7 - (bit & 7) & 1;
      }
      target[at] = value;
    }
    this.#bit = bit;
  }
}
