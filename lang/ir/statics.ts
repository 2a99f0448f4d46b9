/**
 * Static data: texts and lists that are known when the program is compiled, cells of variants without fields, and
 * words that the run-time needs.
 *
 * What is counted has a count so high that it never comes to zero, and never to one, so that nobody writes it.
 */
import { BLOCK_HEADER, type Layout } from "./layout.ts";
import type { DataSegment, IrExpression, IrLocal } from "./node.ts";

/** The count of what is never freed. */
const IMMORTAL = 1 << 30;
/** Addresses below are never used, so that 0 is no pointer and an empty block has the length 0. */
const FIRST_ADDRESS = 16;
/** Longer lists are made when the program runs. */
const MAX_LIST_BYTES = 1 << 16;
/** Runs of so many zeros split a segment. */
const ZERO_RUN = 16;

/** The static part of memory. */
export class Statics {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #end = FIRST_ADDRESS;
  readonly #texts = new Map<string, number>();
  readonly #cells = new Map<number, number>();
  readonly #closures = new Map<number, number>();
  readonly #lists = new Map<string, number>();
  readonly #addresses = new WeakMap<IrLocal, number>();

  /** Zeroed memory of so many bytes. */
  reserve(bytes: number, alignment = 8): number {
    const address = Math.ceil(this.#end / alignment) * alignment;
    this.#end = address + bytes;
    if (this.#end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#end));
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return address;
  }

  /** A block of these bytes. */
  text(text: string): number {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const bytes = new TextEncoder().encode(text);
    const address = this.#block(bytes.length, bytes.length);
    this.#bytes.set(bytes, address + BLOCK_HEADER);
    this.#texts.set(text, address);
    return address;
  }

  /** A cell of a variant without fields. */
  constantCell(tag: number): number {
    return this.#once(this.#cells, tag, [tag]);
  }

  /** A closure that captures nothing. */
  constantClosure(code: number): number {
    return this.#once(this.#closures, code, [code, 0]);
  }

  #once(table: Map<number, number>, key: number, words: readonly number[]): number {
    const known = table.get(key);
    if (known !== undefined) return known;
    const address = this.reserve(4 + words.length * 4);
    this.#view.setInt32(address, IMMORTAL, true);
    for (const [index, word] of words.entries()) this.#view.setInt32(address + 4 + index * 4, word, true);
    table.set(key, address);
    return address;
  }

  #block(length: number, bytes: number): number {
    const address = this.reserve(BLOCK_HEADER + bytes);
    this.#view.setInt32(address, IMMORTAL, true);
    this.#view.setInt32(address + 4, length, true);
    this.#view.setInt32(address + 8, length, true);
    return address;
  }

  /** Remembers that a variable holds a static address. */
  note(local: IrLocal, address: number): void {
    this.#addresses.set(local, address);
  }

  #constantOf(value: IrExpression): number | bigint | null {
    if (value.kind === "const") return value.value;
    if (value.kind === "get") return this.#addresses.get(value.local) ?? null;
    return null;
  }

  /** A list of values that are all known, or null. */
  constantList(element: Layout, values: readonly (readonly IrExpression[])[]): number | null {
    if (values.length * element.size > MAX_LIST_BYTES) return null;
    const constants: (number | bigint)[][] = [];
    for (const value of values) {
      const parts: (number | bigint)[] = [];
      for (const part of value) {
        const known = this.#constantOf(part);
        if (known === null) return null;
        parts.push(known);
      }
      constants.push(parts);
    }
    const key = `${element.key}|${
      constants.map((parts) => parts.map((part) => Object.is(part, -0) ? "-0" : part).join()).join(";")
    }`;
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const address = this.#block(values.length, values.length * element.size);
    for (const [index, parts] of constants.entries()) {
      const at = address + BLOCK_HEADER + index * element.size;
      for (const [slot, part] of parts.entries()) {
        this.#put(at + (element.offsets[slot] ?? 0), element.slots[slot]?.store ?? "i32.store", part);
      }
    }
    this.#lists.set(key, address);
    return address;
  }

  #put(at: number, store: string, value: number | bigint): void {
    switch (store) {
      case "i32.store8":
        this.#view.setUint8(at, Number(value));
        return;
      case "i32.store16":
        this.#view.setUint16(at, Number(value), true);
        return;
      case "i64.store":
        this.#view.setBigInt64(at, BigInt(value), true);
        return;
      case "f64.store":
        this.#view.setFloat64(at, Number(value), true);
        return;
      case "f32.store":
        this.#view.setFloat32(at, Number(value), true);
        return;
      default:
        this.#view.setInt32(at, Number(value), true);
    }
  }

  /** First address behind the static data. */
  get end(): number {
    return Math.ceil(this.#end / 8) * 8;
  }

  /** The data that is not zero. */
  segments(): DataSegment[] {
    const segments: DataSegment[] = [];
    let start = -1;
    let zeros = 0;
    const close = (end: number): void => {
      if (start >= 0) segments.push({ address: start, bytes: this.#bytes.slice(start, end) });
      start = -1;
    };
    for (let at = 0; at < this.#end; at++) {
      if (this.#bytes[at] !== 0) {
        if (start < 0) start = at;
        zeros = 0;
      } else if (start >= 0 && ++zeros >= ZERO_RUN) {
        close(at - zeros + 1);
        zeros = 0;
      }
    }
    close(this.#end - zeros);
    return segments;
  }
}
