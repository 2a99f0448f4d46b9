/**
 * Bytes on their way to a client: a growing buffer into which answers are written in place, and from which the socket
 * takes what may be sent.
 *
 * What was written is held until it is released. A release names the op that must be durable before the bytes may
 * leave the process; bytes leave in order, so the first op that is not durable yet holds back everything behind it.
 * Positions are absolute: they count the bytes since the connection began and stay valid while bytes are taken.
 *
 * Integers are big-endian. Limit: the buffer holds at most 2^31 - 1 bytes.
 */
import { assert } from "../../engine/base/assert.ts";
import { countCharacters } from "../../engine/base/bytes.ts";
import { characterLength } from "../../engine/types/text.ts";

const encoder = new TextEncoder();
/** Up to this many units a loop over the text beats the call into the encoder. */
const SHORT_TEXT_UNITS = 48;
const INITIAL_BYTES = 2048;
const EMPTY = new Uint8Array(0);
/** A buffer that has grown beyond this is not kept for the next answers. */
const KEPT_BYTES = 1 << 20;

/**
 * Bytes on their way to a client: a growing buffer into which answers are written in place, and from which the socket
 * takes what may be sent.
 */
export class OutputBuffer {
  /** Nothing until something is written: many connections come and go with hardly a word. */
  #bytes: Uint8Array<ArrayBuffer> = EMPTY;
  #view: DataView = new DataView(this.#bytes.buffer);
  #length = 0;
  /** Absolute position of the buffer's first byte. */
  #base = 0;
  #released = 0;
  /** Positions from which bytes wait, and for which op; both ascending. */
  #gatePositions: number[] = [];
  #gateOps: number[] = [];
  #spare: Uint8Array<ArrayBuffer> | null = null;

  /** Absolute position of the next byte. */
  get position(): number {
    return this.#base + this.#length;
  }

  /** Bytes written and not taken yet. */
  get pendingBytes(): number {
    return this.#length;
  }

  /** Bytes released and not taken yet. */
  get releasedBytes(): number {
    return this.#released - this.#base;
  }

  /** Makes room for so many more bytes. */
  reserve(extra: number): void {
    if (this.#length + extra > this.#bytes.length) this.#grow(extra);
  }

  /** Writes one byte. */
  writeU8(value: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length++] = value;
  }

  /** Writes two bytes. */
  writeI16(value: number): void {
    if (this.#length + 2 > this.#bytes.length) this.#grow(2);
    const bytes = this.#bytes, at = this.#length;
    bytes[at] = value >>> 8;
    bytes[at + 1] = value;
    this.#length = at + 2;
  }

  /** Writes four bytes; unsigned values are taken modulo 2^32. */
  writeI32(value: number): void {
    if (this.#length + 4 > this.#bytes.length) this.#grow(4);
    const bytes = this.#bytes, at = this.#length;
    bytes[at] = value >>> 24;
    bytes[at + 1] = value >>> 16;
    bytes[at + 2] = value >>> 8;
    bytes[at + 3] = value;
    this.#length = at + 4;
  }

  /** Writes eight bytes of a safe integer or a bigint. */
  writeI64(value: number | bigint): void {
    if (this.#length + 8 > this.#bytes.length) this.#grow(8);
    if (typeof value === "number") {
      const high = Math.floor(value / 0x1_0000_0000);
      this.#view.setInt32(this.#length, high);
      this.#view.setUint32(this.#length + 4, value - high * 0x1_0000_0000);
    } else this.#view.setBigInt64(this.#length, value);
    this.#length += 8;
  }

  writeF32(value: number): void {
    this.reserve(4);
    this.#view.setFloat32(this.#length, value);
    this.#length += 4;
  }

  writeF64(value: number): void {
    this.reserve(8);
    this.#view.setFloat64(this.#length, value);
    this.#length += 8;
  }

  /** Writes part of a byte array. */
  writeBytes(source: Uint8Array, start = 0, end: number = source.length): void {
    const size = end - start;
    if (this.#length + size > this.#bytes.length) this.#grow(size);
    if (size <= 24) {
      const bytes = this.#bytes;
      let at = this.#length;
      for (let i = start; i < end; i++) bytes[at++] = source[i] as number;
    } else {this.#bytes.set(
        start === 0 && end === source.length ? source : source.subarray(start, end),
        this.#length,
      );}
    this.#length += size;
  }

  /** Writes a text in UTF-8; lone surrogates become U+FFFD. */
  writeText(text: string): void {
    const units = text.length;
    if (this.#length + units * 3 > this.#bytes.length) this.#grow(units * 3);
    if (units <= SHORT_TEXT_UNITS) {
      const bytes = this.#bytes;
      let at = this.#length;
      let i = 0;
      for (; i < units; i++) {
        const code = text.charCodeAt(i);
        if (code >= 0x80) break;
        bytes[at++] = code;
      }
      if (i === units) {
        this.#length = at;
        return;
      }
    }
    this.#length += encoder.encodeInto(text, this.#bytes.subarray(this.#length)).written;
  }

  /** Writes the decimal digits of an integer. */
  writeIntegerText(value: number | bigint): void {
    if (typeof value === "bigint") {
      this.writeText(value.toString());
      return;
    }
    if (this.#length + 20 > this.#bytes.length) this.#grow(20);
    let rest = value;
    if (rest < 0) {
      this.#bytes[this.#length++] = 0x2d;
      rest = -rest;
    }
    if (rest < 1e9) this.#writeDigits(rest, digitCount(rest));
    else {
      // Two halves of at most 9 digits each: all arithmetic stays within 32 bits.
      const high = Math.floor(rest / 1e9);
      this.#writeDigits(high, digitCount(high));
      this.#writeDigits(rest - high * 1e9, 9);
    }
  }

  /** A four-byte length, and behind it the decimal digits. */
  writeSizedIntegerText(value: number | bigint): void {
    this.reserve(24);
    const at = this.#length;
    this.#length = at + 4;
    this.writeIntegerText(value);
    this.#patch(at, this.#length - at - 4);
  }

  /** A four-byte length, and behind it the text in UTF-8. */
  writeSizedText(text: string): void {
    this.reserve(4 + text.length * 3);
    const at = this.#length;
    this.#length = at + 4;
    this.writeText(text);
    this.#patch(at, this.#length - at - 4);
  }

  /** A four-byte length, and behind it a text with spaces up to this many characters. */
  writeSizedCharacters(text: string, characters: number): void {
    this.reserve(4 + text.length * 3 + characters);
    const at = this.#length;
    this.#length = at + 4;
    this.writeText(text);
    const isAscii = this.#length - at - 4 === text.length;
    this.#pad(at, characters - (isAscii ? text.length : characterLength(text)));
  }

  /** The same of a text in UTF-8. */
  writeSizedCharactersUtf8(source: Uint8Array, start: number, end: number, characters: number): void {
    this.reserve(4 + end - start + characters);
    const at = this.#length;
    this.#length = at + 4;
    this.writeBytes(source, start, end);
    this.#pad(at, characters - countCharacters(source, start, end));
  }

  /** Ends a text, whose length is at that place, with spaces. */
  #pad(at: number, spaces: number): void {
    const bytes = this.#bytes;
    for (let left = spaces; left > 0; left--) bytes[this.#length++] = 0x20;
    this.#patch(at, this.#length - at - 4);
  }

  /** Overwrites one byte at an absolute position that was not taken yet. */
  patchU8(position: number, value: number): void {
    this.#bytes[position - this.#base] = value;
  }

  /** Overwrites four bytes at an absolute position that was not taken yet. */
  patchI32(position: number, value: number): void {
    this.#patch(position - this.#base, value);
  }

  /** A copy of what was written since an absolute position that was not taken yet. */
  copyFrom(position: number): Uint8Array {
    return this.#bytes.slice(position - this.#base, this.#length);
  }

  /** Whether something behind an absolute position may have been sent. */
  isReleased(position: number): boolean {
    return this.#released > position;
  }

  /** Takes back everything behind an absolute position; nothing of it may have been released. */
  truncate(position: number): void {
    assert(position >= this.#released, "only bytes that are not released yet can be taken back");
    assert(position <= this.position, "a buffer is truncated to a position that it has reached");
    this.#length = position - this.#base;
  }

  /** Lets everything written so far be sent as soon as the op is durable; 0: at once. */
  release(op: number, durableOp: number): void {
    const { position } = this;
    if (op > durableOp && op > (this.#gateOps.at(-1) ?? 0)) {
      this.#gatePositions.push(this.#released);
      this.#gateOps.push(op);
    }
    this.#released = position;
  }

  /** true: released bytes wait for an op to become durable. */
  isGated(durableOp: number): boolean {
    return this.#gateOps.length > 0 && (this.#gateOps.at(-1) as number) > durableOp;
  }

  /** Takes back what was not released, and what waits for an op, which will never become durable. */
  keepDurable(durableOp: number): void {
    const first = this.#gateOps.findIndex((op) => op > durableOp);
    if (first >= 0) {
      this.#released = this.#gatePositions[first] as number;
      this.#gateOps.length = this.#gatePositions.length = first;
    }
    this.#length = this.#released - this.#base;
  }

  /** What may be sent now, or null. The bytes belong to the caller until {@link recycle}. */
  take(durableOp: number): Uint8Array<ArrayBuffer> | null {
    let satisfied = 0;
    while (satisfied < this.#gateOps.length && (this.#gateOps[satisfied] as number) <= durableOp) satisfied++;
    if (satisfied > 0) {
      this.#gateOps.splice(0, satisfied);
      this.#gatePositions.splice(0, satisfied);
    }
    const end = Math.min(this.#released, this.#gatePositions[0] ?? Infinity) - this.#base;
    if (end <= 0) return null;
    const taken = this.#bytes.subarray(0, end);
    const rest = this.#length - end;
    let next = this.#spare;
    this.#spare = null;
    if (next === null || next.length < rest) {
      next = rest === 0 ? EMPTY : new Uint8Array(Math.max(INITIAL_BYTES, rest * 2));
    }
    if (rest > 0) next.set(this.#bytes.subarray(end, this.#length));
    this.#bytes = next;
    this.#view = new DataView(next.buffer);
    this.#length = rest;
    this.#base += end;
    return taken;
  }

  /** Gives back what {@link take} answered, when it has been sent. */
  recycle(taken: Uint8Array<ArrayBuffer>): void {
    if (taken.buffer.byteLength <= KEPT_BYTES) this.#spare = new Uint8Array(taken.buffer);
  }

  #writeDigits(value: number, count: number): void {
    const bytes = this.#bytes, start = this.#length;
    let rest = value | 0;
    for (let at = start + count - 1; at >= start; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = 48 + rest - tenth * 10;
      rest = tenth;
    }
    this.#length = start + count;
  }

  #patch(at: number, value: number): void {
    const bytes = this.#bytes;
    bytes[at] = value >>> 24;
    bytes[at + 1] = value >>> 16;
    bytes[at + 2] = value >>> 8;
    bytes[at + 3] = value;
  }

  #grow(extra: number): void {
    const grown = new Uint8Array(Math.max(INITIAL_BYTES, this.#length + extra, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

/** Decimal digits of an integer from 0 below 10^9. */
function digitCount(value: number): number {
  if (value < 1e4) return value < 1e2 ? (value < 10 ? 1 : 2) : value < 1e3 ? 3 : 4;
  if (value < 1e6) return value < 1e5 ? 5 : 6;
  return value < 1e7 ? 7 : value < 1e8 ? 8 : 9;
}
