/**
 * A growable byte writer and a bounds-checked byte reader: the base of every encoding of the database.
 *
 * Integers are little-endian unless the method's name ends in `BigEndian` (PostgreSQL's wire format). Variable-length
 * integers are LEB128. Texts are UTF-8 with their byte length in front; a writer makes U+FFFD of lone surrogates.
 * Invariant: a reader never reads outside its range; a damaged input raises `DatabaseError` with `dataCorrupted`,
 * never a RangeError. Limit: one writer holds at most 2^31 - 1 bytes.
 */
import { decodeAscii } from "./ascii_text.ts";
import { DatabaseError, SQLSTATE } from "./errors.ts";

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Up to this many units a JavaScript loop beats the call into the encoder. */
const SHORT_TEXT_UNITS = 48;

/** The UTF-8 bytes of a text. */
export function encodeUtf8(text: string): Uint8Array {
  return textEncoder.encode(text);
}

/** Of the array whose characters were counted last. */
let counted: DataView = new DataView(new ArrayBuffer(0));
/** The bits of four bytes that ASCII has not. */
const BEYOND_ASCII = 0x80808080;

/** The number of characters (code points) of UTF-8. */
export function countCharacters(bytes: Uint8Array, start: number, end: number): number {
  const ascii = asciiBytes(bytes, start, end);
  let count = end - start;
  for (let index = start + ascii; index < end; index++) {
    if (((bytes[index] as number) & 0xc0) === 0x80) count--;
  }
  return count;
}

/** How many bytes at the beginning are ASCII, at least; sixteen are looked at at a time. */
function asciiBytes({ buffer, byteOffset }: Uint8Array, start: number, end: number): number {
  if (counted.buffer !== buffer) counted = new DataView(buffer);
  let at = byteOffset + start;
  for (const last = byteOffset + end - 16; at <= last; at += 16) {
    const bits = counted.getInt32(at) | counted.getInt32(at + 4) | counted.getInt32(at + 8) |
      counted.getInt32(at + 12);
    if ((bits & BEYOND_ASCII) !== 0) break;
  }
  return at - byteOffset - start;
}

/** The text of UTF-8 bytes; malformed sequences become U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  return decodeRange(bytes, 0, bytes.length);
}

/** The text of UTF-8 bytes, or undefined when they are not well-formed UTF-8. */
export function decodeUtf8Strict(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The error for bytes that are no UTF-8: 22021, with the bytes where decoding fails, as PostgreSQL shows them. */
export function invalidUtf8(bytes: Uint8Array): DatabaseError {
  const shown = [...firstInvalid(bytes)].map((byte) => `0x${byte.toString(16).padStart(2, "0")}`).join(" ");
  return new DatabaseError(
    SQLSTATE.characterNotInRepertoire,
    `invalid byte sequence for encoding "UTF8": ${shown}`,
  );
}

function firstInvalid(bytes: Uint8Array): Uint8Array {
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at] as number;
    // As many bytes as the first one announces.
    const length = lead >= 0xc0 && lead < 0xe0
      ? 2
      : lead >= 0xe0 && lead < 0xf0
      ? 3
      : lead >= 0xf0 && lead < 0xf8
      ? 4
      : 1;
    const sequence = bytes.subarray(at, at + length);
    if (decodeUtf8Strict(sequence) === undefined) return sequence;
    at += length;
  }
  return Uint8Array.of(0);
}

/** The number of bytes that the text takes in UTF-8. */
export function utf8ByteLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    if (code < 0x800) length += 1;
    else {
      length += 2;
      // A surrogate pair is two units and four bytes.
      if (code >= 0xd800 && code < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) index++;
    }
  }
  return length;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}

/** Whether two byte arrays hold the same bytes. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}

/** Compares byte arrays as unsigned bytes, a prefix before its extension. */
export function compareBytes(left: Uint8Array, right: Uint8Array): -1 | 0 | 1 {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index++) {
    const a = left[index] as number;
    const b = right[index] as number;
    if (a !== b) return a < b ? -1 : 1;
  }
  return left.length === right.length ? 0 : left.length < right.length ? -1 : 1;
}

function decodeRange(bytes: Uint8Array, start: number, end: number): string {
  return decodeAscii(bytes, start, end) ?? textDecoder.decode(bytes.subarray(start, end));
}

/** Collects bytes at the end of a growing buffer. */
export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  /** A writer with room for that many bytes before it grows. */
  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** The number of bytes written. */
  get length(): number {
    return this.#length;
  }

  /** Forgets what was written and keeps the buffer. */
  reset(): void {
    this.#length = 0;
  }

  /** Cuts the written bytes back to a former length. */
  truncate(length: number): void {
    if (length < this.#length) this.#length = length;
  }

  /** A copy of the written bytes. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** The written bytes without copying: valid until the next write or reset. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Makes room for that many more bytes. */
  reserve(extra: number): void {
    const needed = this.#length + extra;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2, 64));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  /** Writes one byte (the low 8 bits). */
  writeU8(value: number): void {
    if (this.#length === this.#bytes.length) this.reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Writes an unsigned 16-bit integer, little-endian. */
  writeU16(value: number): void {
    this.reserve(2);
    this.#view.setUint16(this.#length, value, true);
    this.#length += 2;
  }

  /** Writes an unsigned 32-bit integer, little-endian. */
  writeU32(value: number): void {
    this.reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  /** Writes a signed 32-bit integer, little-endian. */
  writeI32(value: number): void {
    this.reserve(4);
    this.#view.setInt32(this.#length, value, true);
    this.#length += 4;
  }

  /** Writes an unsigned 64-bit integer, little-endian. */
  writeU64(value: bigint): void {
    this.reserve(8);
    this.#view.setBigUint64(this.#length, value, true);
    this.#length += 8;
  }

  /** Writes a signed 64-bit integer, little-endian. */
  writeI64(value: bigint): void {
    this.reserve(8);
    this.#view.setBigInt64(this.#length, value, true);
    this.#length += 8;
  }

  /** Writes a floating-point 32-bit number, little-endian. */
  writeF32(value: number): void {
    this.reserve(4);
    this.#view.setFloat32(this.#length, value, true);
    this.#length += 4;
  }

  /** Writes a floating-point 64-bit number, little-endian. */
  writeF64(value: number): void {
    this.reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** Writes a signed 16-bit integer, big-endian. */
  writeI16BigEndian(value: number): void {
    this.reserve(2);
    this.#view.setInt16(this.#length, value);
    this.#length += 2;
  }

  /** Writes an unsigned 16-bit integer, big-endian. */
  writeU16BigEndian(value: number): void {
    this.reserve(2);
    this.#view.setUint16(this.#length, value);
    this.#length += 2;
  }

  /** Writes a signed 32-bit integer, big-endian. */
  writeI32BigEndian(value: number): void {
    this.reserve(4);
    this.#view.setInt32(this.#length, value);
    this.#length += 4;
  }

  /** Writes an unsigned 32-bit integer, big-endian. */
  writeU32BigEndian(value: number): void {
    this.reserve(4);
    this.#view.setUint32(this.#length, value);
    this.#length += 4;
  }

  /** Writes a 64-bit integer given as a number (a safe integer) or a bigint. */
  writeI64BigEndian(value: number | bigint): void {
    this.reserve(8);
    if (typeof value === "number") {
      const high = Math.floor(value / 0x1_0000_0000);
      this.#view.setInt32(this.#length, high);
      this.#view.setUint32(this.#length + 4, value - high * 0x1_0000_0000);
    } else {
      this.#view.setBigInt64(this.#length, value);
    }
    this.#length += 8;
  }

  /** Writes a floating-point 32-bit number, big-endian. */
  writeF32BigEndian(value: number): void {
    this.reserve(4);
    this.#view.setFloat32(this.#length, value);
    this.#length += 4;
  }

  /** Writes a floating-point 64-bit number, big-endian. */
  writeF64BigEndian(value: number): void {
    this.reserve(8);
    this.#view.setFloat64(this.#length, value);
    this.#length += 8;
  }

  /** Overwrites four bytes written earlier, for lengths known only afterwards. */
  patchU32(position: number, value: number): void {
    this.#view.setUint32(position, value, true);
  }

  /** Like {@link patchU32}, big-endian. */
  patchI32BigEndian(position: number, value: number): void {
    this.#view.setInt32(position, value);
  }

  /** Writes a non-negative safe integer as LEB128, 1 to 8 bytes. */
  writeVarint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      if (rest < 0x8000_0000) {
        this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
        rest >>>= 7;
      } else {
        this.#bytes[this.#length++] = (rest % 128) | 0x80;
        rest = Math.floor(rest / 128);
      }
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Writes a non-negative bigint as LEB128. */
  writeBigVarint(value: bigint): void {
    // Four groups of 7 bits are seven hexadecimal digits. Shifts of the whole number would take quadratic time.
    const digits = value.toString(16);
    let end = digits.length;
    for (; end > 7; end -= 7) {
      let four = parseInt(digits.slice(end - 7, end), 16);
      for (let group = 0; group < 4; group++, four >>>= 7) this.writeU8((four & 0x7f) | 0x80);
    }
    this.writeVarint(parseInt(digits.slice(0, end), 16));
  }

  /** Writes a signed integer of any size, zigzag LEB128; numbers and bigints of one value give the same bytes. */
  writeSignedVarint(value: number | bigint): void {
    if (typeof value === "number" && value < 0x10_0000_0000_0000 && value > -0x10_0000_0000_0000) {
      this.writeVarint(value < 0 ? -2 * value - 1 : 2 * value);
    } else {
      const big = BigInt(value);
      this.writeBigVarint(big < 0n ? -2n * big - 1n : 2n * big);
    }
  }

  /** Writes the bytes as they are, without a length. */
  writeBytes(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Writes the length and the bytes. */
  writeSizedBytes(bytes: Uint8Array): void {
    this.writeVarint(bytes.length);
    this.writeBytes(bytes);
  }

  /** Writes the text's UTF-8 bytes without a length; answers their number. */
  writeUtf8(text: string): number {
    const units = text.length;
    const start = this.#length;
    this.reserve(units * 3);
    if (units <= SHORT_TEXT_UNITS) {
      const bytes = this.#bytes;
      let position = start;
      for (let index = 0; index < units; index++) {
        const code = text.charCodeAt(index);
        if (code >= 0x80) break;
        bytes[position++] = code;
      }
      if (position - start === units) {
        this.#length = position;
        return units;
      }
    }
    const { written } = textEncoder.encodeInto(text, this.#bytes.subarray(start));
    this.#length = start + written;
    return written;
  }

  /** Writes the text's byte length as LEB128 and its UTF-8 bytes. */
  writeText(text: string): void {
    if (text.length <= SHORT_TEXT_UNITS) {
      // One length byte is enough for up to 127 bytes; three bytes a unit is the most, so check afterwards.
      const at = this.#length;
      this.writeU8(0);
      const written = this.writeUtf8(text);
      if (written < 0x80) {
        this.#bytes[at] = written;
        return;
      }
      this.#length = at;
    }
    this.writeVarint(utf8ByteLength(text));
    this.writeUtf8(text);
  }
}

/** Reads what a {@link ByteWriter} wrote, in the same order. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #end: number;
  #position: number;

  /** Reads the bytes from `start` up to `end`. */
  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = start;
    this.#end = Math.min(end, bytes.length);
  }

  /** Where the next read starts, counted from the start of the array. */
  get position(): number {
    return this.#position;
  }

  /** How many bytes are left. */
  get remaining(): number {
    return this.#end - this.#position;
  }

  /** Whether everything was read. */
  get atEnd(): boolean {
    return this.#position >= this.#end;
  }

  /** Raises `dataCorrupted` unless everything was read. */
  expectEnd(): void {
    if (this.#position !== this.#end) throw corrupted(`${this.remaining} unexpected bytes at the end`);
  }

  /** Skips that many bytes. */
  skip(count: number): void {
    this.#advance(count);
  }

  #advance(count: number): number {
    const start = this.#position;
    if (!(count >= 0) || count > this.#end - start) {
      throw corrupted(`${count} bytes wanted at ${start}, ${this.#end - start} left`);
    }
    this.#position = start + count;
    return start;
  }

  /** Reads an unsigned 8-bit integer, little-endian. */
  readU8(): number {
    const at = this.#position;
    if (at >= this.#end) throw corrupted(`1 byte wanted at ${at}, 0 left`);
    this.#position = at + 1;
    return this.#bytes[at] as number;
  }

  /** Reads an unsigned 16-bit integer, little-endian. */
  readU16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  /** Reads an unsigned 32-bit integer, little-endian. */
  readU32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  /** Reads a signed 32-bit integer, little-endian. */
  readI32(): number {
    return this.#view.getInt32(this.#advance(4), true);
  }

  /** Reads an unsigned 64-bit integer, little-endian. */
  readU64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  /** Reads a signed 64-bit integer, little-endian. */
  readI64(): bigint {
    return this.#view.getBigInt64(this.#advance(8), true);
  }

  /** Reads a floating-point 32-bit number, little-endian. */
  readF32(): number {
    return this.#view.getFloat32(this.#advance(4), true);
  }

  /** Reads a floating-point 64-bit number, little-endian. */
  readF64(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** Reads a signed 16-bit integer, big-endian. */
  readI16BigEndian(): number {
    return this.#view.getInt16(this.#advance(2));
  }

  /** Reads an unsigned 16-bit integer, big-endian. */
  readU16BigEndian(): number {
    return this.#view.getUint16(this.#advance(2));
  }

  /** Reads a signed 32-bit integer, big-endian. */
  readI32BigEndian(): number {
    return this.#view.getInt32(this.#advance(4));
  }

  /** Reads an unsigned 32-bit integer, big-endian. */
  readU32BigEndian(): number {
    return this.#view.getUint32(this.#advance(4));
  }

  /** Reads a signed 64-bit integer, big-endian. */
  readI64BigEndian(): bigint {
    return this.#view.getBigInt64(this.#advance(8));
  }

  /** Reads a floating-point 32-bit number, big-endian. */
  readF32BigEndian(): number {
    return this.#view.getFloat32(this.#advance(4));
  }

  /** Reads a floating-point 64-bit number, big-endian. */
  readF64BigEndian(): number {
    return this.#view.getFloat64(this.#advance(8));
  }

  /**
   * Reads a LEB128 integer of at most four bytes; -1, and nothing is read, when it is longer or close to the end.
   * Most are short, and small integers are quicker than floating-point numbers.
   */
  readShortVarint(): number {
    const bytes = this.#bytes;
    const at = this.#position;
    if (at + 4 > this.#end) return -1;
    let byte = bytes[at] as number;
    let value = byte & 0x7f;
    if (byte >= 0x80) {
      byte = bytes[at + 1] as number;
      value |= (byte & 0x7f) << 7;
      if (byte >= 0x80) {
        byte = bytes[at + 2] as number;
        value |= (byte & 0x7f) << 14;
        if (byte >= 0x80) {
          byte = bytes[at + 3] as number;
          if (byte >= 0x80) return -1;
          this.#position = at + 4;
          return value | (byte << 21);
        }
        this.#position = at + 3;
      } else this.#position = at + 2;
    } else this.#position = at + 1;
    return value;
  }

  /** Reads a LEB128 integer that must be a safe integer. */
  readVarint(): number {
    const short = this.readShortVarint();
    if (short >= 0) return short;
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 8; count++) {
      const byte = this.readU8();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw corrupted("variable-length integer is too large");
        return value;
      }
      factor *= 128;
    }
    throw corrupted("variable-length integer is too long");
  }

  /** Reads a LEB128 integer of any size up to `maximumBytes` bytes. */
  readBigVarint(maximumBytes = 1 << 20): bigint {
    let value = 0n;
    for (let count = 0; count < Math.min(maximumBytes, 16); count++) {
      const byte = this.readU8();
      value |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return value;
    }
    // What is longer by its hexadecimal digits, as it is written.
    let digits = "";
    let four = 0;
    for (let count = 16; count < maximumBytes; count++) {
      const byte = this.readU8();
      four |= (byte & 0x7f) << (7 * (count & 3));
      if (byte < 0x80) return value | (BigInt("0x" + four.toString(16) + digits) << 112n);
      if ((count & 3) < 3) continue;
      digits = four.toString(16).padStart(7, "0") + digits;
      four = 0;
    }
    throw corrupted("variable-length integer is too long");
  }

  /** Reads what `writeSignedVarint` wrote: a number when it is a safe integer, else a bigint. */
  readSignedVarint(): number | bigint {
    const short = this.readShortVarint();
    if (short >= 0) return (short >>> 1) ^ -(short & 1);
    const start = this.#position;
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 7; count++) {
      const byte = this.readU8();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      factor *= 128;
    }
    this.#position = start;
    const zigzag = this.readBigVarint();
    const big = (zigzag & 1n) === 0n ? zigzag >> 1n : -((zigzag + 1n) >> 1n);
    return big <= 9007199254740991n && big >= -9007199254740991n ? Number(big) : big;
  }

  /** The next bytes as a view into the input. */
  readBytes(count: number): Uint8Array {
    const start = this.#advance(count);
    return this.#bytes.subarray(start, start + count);
  }

  /** Reads what `writeSizedBytes` wrote, as a view into the input. */
  readSizedBytes(): Uint8Array {
    return this.readBytes(this.readVarint());
  }

  /** Reads that many bytes as UTF-8; others are damage. */
  readUtf8(count: number): string {
    const start = this.#advance(count);
    const ascii = decodeAscii(this.#bytes, start, start + count);
    if (ascii !== null) return ascii;
    const encoded = this.#bytes.subarray(start, start + count);
    const text = textDecoder.decode(encoded);
    // The strict decoder is slower: it is asked only where something may have been replaced.
    if (text.includes("\ufffd") && decodeUtf8Strict(encoded) === undefined) throw this.malformedText(encoded);
    return text;
  }

  /** The error for a text that is not UTF-8. */
  protected malformedText(_bytes: Uint8Array): DatabaseError {
    return corrupted("a text is not UTF-8");
  }

  /** Reads what `writeText` wrote. */
  readText(): string {
    return this.readUtf8(this.readVarint());
  }
}

function corrupted(what: string): DatabaseError {
  return new DatabaseError(SQLSTATE.dataCorrupted, `Cannot decode bytes: ${what}`);
}
