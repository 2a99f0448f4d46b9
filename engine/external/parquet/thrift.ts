/**
 * The compact protocol of Thrift, in which Parquet's footer and page headers are written (Thrift's
 * `doc/specs/thrift-compact-protocol.md`): only what reading needs.
 *
 * Invariant: nothing is allocated by a number of the input; lists are read element by element, and every element takes
 * at least a byte. Limits: 32 levels of structures.
 */
import { PARQUET_LIMITS } from "./limits.ts";

/** The bytes are no compact Thrift, or not all of it. */
export class ThriftError extends Error {
  /** Whether more bytes could make it whole. */
  readonly isTruncated: boolean;

  constructor(message: string, isTruncated = false) {
    super(message);
    this.isTruncated = isTruncated;
  }
}

/** Types as the compact protocol numbers them. */
export const THRIFT = {
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

const decoder = new TextDecoder();

/** Reads values one after the other. */
export class ThriftReader {
  position: number;
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #depth = 0;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.position = start;
    this.#end = end;
  }

  /**
   * Reads a structure: calls `field` with each field's id and type, which reads its value or answers false to have it
   * skipped.
   */
  struct(field: (id: number, type: number) => boolean): void {
    this.#enter();
    for (let last = 0;;) {
      const head = this.#byte();
      if (head === 0) break;
      const type = head & 15;
      const id = head >> 4 === 0 ? this.integer() : last + (head >> 4);
      last = id;
      if (!field(id, type)) this.skip(type);
    }
    this.#depth--;
  }

  /** Reads a list; `element` reads each. */
  list(element: (type: number) => void): void {
    this.#enter();
    const { size, type } = this.#listHead();
    for (let index = 0; index < size; index++) element(type);
    this.#depth--;
  }

  /** A number of at most 64 bits; one beyond 2^53 is refused, as no size or count of a readable file is. */
  integer(): number {
    let value = 0, scale = 1;
    for (let count = 0; count < 10; count++) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) {
        if (value > Number.MAX_SAFE_INTEGER) throw new ThriftError("a number is too large");
        return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      }
    }
    throw new ThriftError("a number is too long");
  }

  /** An integer field of any width. */
  number(type: number): number {
    if (type === THRIFT.byte) return this.#byte() << 24 >> 24;
    if (type < THRIFT.i16 || type > THRIFT.i64) throw new ThriftError("a number is expected");
    return this.integer();
  }

  /** A truth value in a structure, whose type is its value. */
  boolean(type: number): boolean {
    if (type !== THRIFT.true && type !== THRIFT.false) throw new ThriftError("a truth value is expected");
    return type === THRIFT.true;
  }

  /** A text. */
  text(type: number): string {
    if (type !== THRIFT.binary) throw new ThriftError("a text is expected");
    const length = this.#unsigned();
    const start = this.position;
    this.#advance(length);
    return decoder.decode(this.#bytes.subarray(start, this.position));
  }

  /** Refuses a field that is not of the type. */
  expect(type: number, expected: number): void {
    if (type !== expected) throw new ThriftError("a field has another type than the format says");
  }

  /** Passes a value over. */
  skip(type: number): void {
    switch (type) {
      case THRIFT.true:
      case THRIFT.false:
        return;
      case THRIFT.byte:
        return this.#advance(1);
      case THRIFT.i16:
      case THRIFT.i32:
      case THRIFT.i64:
        return this.#skipNumber();
      case THRIFT.double:
        return this.#advance(8);
      case THRIFT.binary:
        return this.#advance(this.#unsigned());
      case THRIFT.list:
      case THRIFT.set:
        return this.list((element) => this.#skipElement(element));
      case THRIFT.map:
        return this.#skipMap();
      case THRIFT.struct:
        return this.struct(() => false);
      default:
        throw new ThriftError(`there is no type ${type}`);
    }
  }

  #skipElement(type: number): void {
    // In lists and maps a truth value is a byte.
    if (type === THRIFT.true || type === THRIFT.false) this.#advance(1);
    else this.skip(type);
  }

  #skipMap(): void {
    this.#enter();
    const size = this.#unsigned();
    if (size > 0) {
      const types = this.#byte();
      for (let index = 0; index < size; index++) {
        this.#skipElement(types >> 4);
        this.#skipElement(types & 15);
      }
    }
    this.#depth--;
  }

  #listHead(): { readonly size: number; readonly type: number } {
    const head = this.#byte();
    const size = head >> 4 === 15 ? this.#unsigned() : head >> 4;
    if (size > this.#end - this.position) throw new ThriftError("a list is longer than its bytes", true);
    return { size, type: head & 15 };
  }

  #enter(): void {
    if (++this.#depth > PARQUET_LIMITS.maximumMetadataDepth) {
      throw new ThriftError("structures are nested too deep");
    }
  }

  #byte(): number {
    if (this.position >= this.#end) throw new ThriftError("the bytes end too early", true);
    return this.#bytes[this.position++] as number;
  }

  #advance(count: number): void {
    if (count > this.#end - this.position) throw new ThriftError("the bytes end too early", true);
    this.position += count;
  }

  #skipNumber(): void {
    for (let count = 0; count < 10; count++) if (this.#byte() < 128) return;
    throw new ThriftError("a number is too long");
  }

  #unsigned(): number {
    let value = 0, scale = 1;
    for (let count = 0; count < 5; count++) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) return value;
    }
    throw new ThriftError("a size is too long");
  }
}
