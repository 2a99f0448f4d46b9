/**
 * Reads the primitives of WebAssembly's binary format: bytes, LEB128 numbers, names. Every read is checked against the
 * end of the part being read, which is the module, a section or a body.
 */
import { decodeUtf8Strict } from "../base/bytes.ts";
import { ModuleError } from "./module_error.ts";

/** A cursor over a module. */
export class ModuleReader {
  readonly bytes: Uint8Array;
  /** Offset of the next byte. */
  position = 0;
  /** Offset behind the last byte that may be read. */
  end: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  /** Refuses the module because of what is at an offset. */
  fail(message: string, offset: number = this.position): never {
    throw new ModuleError(message, offset);
  }

  /** Whether everything is read. */
  get isAtEnd(): boolean {
    return this.position >= this.end;
  }

  /** One byte. */
  byte(): number {
    if (this.position >= this.end) this.fail("unexpected end");
    return this.bytes[this.position++] ?? 0;
  }

  /** A number of 32 bits without a sign. */
  unsigned(): number {
    const first = this.position < this.end ? this.bytes[this.position] ?? 0 : 0x80;
    if (first < 0x80) {
      this.position++;
      return first;
    }
    const start = this.position;
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      if (shift === 28 && byte > 0x0f) {
        this.fail(byte & 0x80 ? "integer representation too long" : "integer too large", start);
      }
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value >>> 0;
  }

  /** A number of 32 bits with a sign. */
  signed(): number {
    const start = this.position;
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      if (shift === 28) {
        if (byte & 0x80) this.fail("integer representation too long", start);
        const unused = byte & 0x78;
        if (unused !== 0 && unused !== 0x78) this.fail("integer too large", start);
        return value | (byte << 28);
      }
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value << (25 - shift)) >> (25 - shift);
    }
    return value;
  }

  /** Passes over a number of 64 bits with a sign. */
  skipSigned64(): void {
    const start = this.position;
    for (let count = 1; count <= 10; count++) {
      const byte = this.byte();
      if (count === 10) {
        if (byte & 0x80) this.fail("integer representation too long", start);
        if (byte !== 0 && byte !== 0x7f) this.fail("integer too large", start);
      }
      if (byte < 0x80) return;
    }
  }

  /** The type of a block: a number of 33 bits with a sign. */
  blockType(): number {
    const start = this.position;
    let value = 0;
    for (let shift = 0, factor = 1; shift < 35; shift += 7, factor *= 128) {
      const byte = this.byte();
      if (shift === 28) {
        if (byte & 0x80) this.fail("integer representation too long", start);
        const unused = byte & 0x70;
        if (unused !== 0 && unused !== 0x70) this.fail("integer too large", start);
      }
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return byte & 0x40 ? value - factor * 128 : value;
    }
    return value;
  }

  /** So many bytes, as a view. */
  take(count: number): Uint8Array {
    if (count > this.end - this.position) this.fail("unexpected end");
    this.position += count;
    return this.bytes.subarray(this.position - count, this.position);
  }

  /** Passes over so many bytes. */
  skip(count: number): void {
    if (count > this.end - this.position) this.fail("unexpected end");
    this.position += count;
  }

  /** A name in UTF-8. */
  name(): string {
    const length = this.unsigned();
    const start = this.position;
    const text = decodeUtf8Strict(this.take(length));
    return text ?? this.fail("malformed UTF-8 encoding", start);
  }

  /** How many entries follow, each of at least a byte. */
  count(limit: number, what: string): number {
    const start = this.position;
    const count = this.unsigned();
    if (count > limit) this.fail(`too many ${what}: ${count}, the limit is ${limit}`, start);
    if (count > this.end - this.position) this.fail("unexpected end", start);
    return count;
  }
}
