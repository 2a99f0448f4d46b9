/**
 * Cuts a stream of bytes into protocol messages, and reads their fields.
 *
 * A message that lies in one piece within the bytes fed is read where it is, without a copy; only what is left over
 * when the caller takes its buffer back ({@link MessageReader.retain}) is kept, and a message that comes in pieces is
 * put together. Type and length are checked as soon as they are there: nothing is collected for a message that is not
 * acceptable.
 *
 * The reader is a cursor: after `next`, the `read…` methods walk through the current message. Fields beyond its end
 * raise 08P01, ill-formed UTF-8 22021.
 */
import { decodeAscii } from "../../engine/base/ascii_text.ts";
import { invalidUtf8 } from "../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { PG_LIMITS } from "./limits.ts";
import { FRONTEND, isFrontendMessage } from "./protocol.ts";

const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
const lenientDecoder = new TextDecoder();
const EMPTY = new Uint8Array(0);
const SHORT_TEXT_BYTES = 48;

/** Cuts a stream of bytes into protocol messages, and reads their fields. */
export class MessageReader {
  /** false: packets without a type byte, as at the start of a connection. */
  hasTypes = false;
  /** Longest acceptable length field. */
  maximumBytes: number = PG_LIMITS.maximumStartupBytes;
  /** Type of the current message; 0 for a startup packet. */
  type = 0;
  /** The buffer that holds the current message; see {@link start} and {@link end}. */
  bytes: Uint8Array = EMPTY;
  /** Where the next field is read. */
  start = 0;
  /** End of the current message. */
  end = 0;
  /** Where the current message begins, its header included. */
  #messageStart = 0;
  #chunk: Uint8Array = EMPTY;
  #chunkStart = 0;
  #carry: Uint8Array = EMPTY;
  #carryStart = 0;
  #carryEnd = 0;

  /** Bytes that belong to no processed message. */
  get bufferedBytes(): number {
    return this.#carryEnd - this.#carryStart + this.#chunk.length - this.#chunkStart;
  }

  /** Gives more bytes; they are looked at until {@link retain}. */
  feed(bytes: Uint8Array): void {
    if (this.#chunkStart < this.#chunk.length) this.retain();
    this.#chunk = bytes;
    this.#chunkStart = 0;
  }

  /** Keeps what is left of the bytes fed, whose buffer may then be used for others. */
  retain(): void {
    if (this.#chunkStart < this.#chunk.length) this.#move(this.#chunk.length - this.#chunkStart);
    this.#chunk = EMPTY;
    this.#chunkStart = 0;
  }

  /** Goes on to the next message if all of it is there. Raises 08P01 for what can be none. */
  next(): boolean {
    const header = this.hasTypes ? 5 : 4;
    if (this.#carryStart === this.#carryEnd) {
      this.#carryStart = this.#carryEnd = 0;
      const size = this.#size(this.#chunk, this.#chunkStart, this.#chunk.length);
      if (size < 0 || this.#chunk.length - this.#chunkStart < size) return false;
      this.#enter(this.#chunk, this.#chunkStart, size, header);
      this.#chunkStart += size;
      return true;
    }
    for (let wanted = header;;) {
      const missing = wanted - (this.#carryEnd - this.#carryStart);
      if (missing > 0) {
        const available = Math.min(missing, this.#chunk.length - this.#chunkStart);
        if (available > 0) this.#move(available);
      }
      const size = this.#size(this.#carry, this.#carryStart, this.#carryEnd);
      if (this.#carryEnd - this.#carryStart < wanted) return false;
      if (wanted >= size) {
        this.#enter(this.#carry, this.#carryStart, size, header);
        this.#carryStart += size;
        return true;
      }
      wanted = size;
    }
  }

  /** The current message with its header and all that has come after it, which is processed elsewhere. */
  takeAll(): Uint8Array {
    const message = this.bytes.slice(this.#messageStart, this.end);
    const carried = this.#carry.subarray(this.#carryStart, this.#carryEnd);
    const rest = this.#chunk.subarray(this.#chunkStart);
    const all = new Uint8Array(message.length + carried.length + rest.length);
    all.set(message);
    all.set(carried, message.length);
    all.set(rest, message.length + carried.length);
    this.#carryStart = this.#carryEnd;
    this.#chunkStart = this.#chunk.length;
    return all;
  }

  /** Whether Sync is what comes next, apart from Close and Flush. Messages that have not arrived count as others. */
  isSyncNext(): boolean {
    if (this.#carryStart < this.#carryEnd) return this.#carry[this.#carryStart] === FRONTEND.sync;
    const chunk = this.#chunk;
    for (let at = this.#chunkStart; at < chunk.length;) {
      const type = chunk[at];
      if (type === FRONTEND.sync) return true;
      if (type !== FRONTEND.close && type !== FRONTEND.flush) return false;
      if (at + 5 > chunk.length) return false;
      const length = readI32At(chunk, at + 1);
      if (length < 4) return false;
      at += 1 + length;
    }
    return false;
  }

  readU8(): number {
    if (this.start >= this.end) throw insufficientData();
    return this.bytes[this.start++] as number;
  }

  readI16(): number {
    return this.readU16() << 16 >> 16;
  }

  readU16(): number {
    const at = this.start;
    if (at + 2 > this.end) throw insufficientData();
    this.start = at + 2;
    return (this.bytes[at] as number) << 8 | (this.bytes[at + 1] as number);
  }

  readI32(): number {
    const at = this.start;
    if (at + 4 > this.end) throw insufficientData();
    this.start = at + 4;
    return readI32At(this.bytes, at);
  }

  /** So many bytes, where they are: valid only while the message is processed. */
  readBytes(count: number): Uint8Array {
    const at = this.start;
    if (count < 0 || at + count > this.end) throw insufficientData();
    this.start = at + count;
    return this.bytes.subarray(at, at + count);
  }

  /** A text that ends with a zero byte. */
  readText(): string {
    const { bytes, start, end } = this;
    let at = start;
    if (end - start > SHORT_TEXT_BYTES) {
      at = bytes.indexOf(0, start);
      if (at < 0 || at >= end) {
        throw new DatabaseError(SQLSTATE.protocolViolation, "invalid string in message");
      }
    } else {
      while (at < end && bytes[at] !== 0) at++;
      if (at === end) throw new DatabaseError(SQLSTATE.protocolViolation, "invalid string in message");
    }
    this.start = at + 1;
    return decodeText(bytes, start, at);
  }

  /** Raises 08P01 unless the whole message was read. */
  expectEnd(): void {
    if (this.start !== this.end) {
      throw new DatabaseError(SQLSTATE.protocolViolation, "invalid message format");
    }
  }

  #enter(bytes: Uint8Array, at: number, size: number, header: number): void {
    this.type = this.hasTypes ? bytes[at] as number : 0;
    this.bytes = bytes;
    this.#messageStart = at;
    this.start = at + header;
    this.end = at + size;
  }

  /** Size of the message at a place; -1 while its header is not complete. Checks the header. */
  #size(bytes: Uint8Array, start: number, end: number): number {
    let at = start;
    if (this.hasTypes) {
      if (at >= end) return -1;
      const type = bytes[at++] as number;
      if (!isFrontendMessage(type)) {
        throw new DatabaseError(SQLSTATE.protocolViolation, `invalid frontend message type ${type}`);
      }
    }
    if (at + 4 > end) return -1;
    const length = readI32At(bytes, at);
    // A packet without a type has a code of four bytes behind its length.
    if (length < (this.hasTypes ? 4 : 8) || length > this.maximumBytes) {
      throw new DatabaseError(
        SQLSTATE.protocolViolation,
        this.hasTypes ? "invalid message length" : "invalid length of startup packet",
      );
    }
    return at - start + length;
  }

  /** Moves bytes of the chunk behind what is kept. */
  #move(count: number): void {
    const kept = this.#carryEnd - this.#carryStart;
    if (this.#carryEnd + count > this.#carry.length) {
      if (kept + count <= this.#carry.length / 2) {
        this.#carry.copyWithin(0, this.#carryStart, this.#carryEnd);
      } else {
        const grown = new Uint8Array(Math.max(1024, (kept + count) * 2));
        grown.set(this.#carry.subarray(this.#carryStart, this.#carryEnd));
        this.#carry = grown;
      }
      this.#carryStart = 0;
      this.#carryEnd = kept;
    }
    this.#carry.set(this.#chunk.subarray(this.#chunkStart, this.#chunkStart + count), this.#carryEnd);
    this.#carryEnd += count;
    this.#chunkStart += count;
  }
}

/** The text of UTF-8 bytes. Raises 22021 for others, and for zero bytes. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  if (start === end) return "";
  const ascii = decodeAscii(bytes, start, end);
  if (ascii !== null && !ascii.includes("\0")) return ascii;
  let text: string;
  try {
    const encoded = bytes.subarray(start, end);
    // The lenient decoder takes a third of the time. It replaces what is wrong, and drops a byte order mark at the
    // start.
    text = bytes[start] === 0xef ? strictDecoder.decode(encoded) : lenientDecoder.decode(encoded);
    if (text.includes("\ufffd")) text = strictDecoder.decode(encoded);
  } catch {
    // The error names the bytes, which the decoder's own does not.
    throw invalidUtf8(bytes.subarray(start, end));
  }
  if (text.includes("\0")) {
    throw new DatabaseError(
      SQLSTATE.characterNotInRepertoire,
      'invalid byte sequence for encoding "UTF8": 0x00',
    );
  }
  return text;
}

function readI32At(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) << 24 | (bytes[at + 1] as number) << 16 | (bytes[at + 2] as number) << 8 |
    (bytes[at + 3] as number);
}

function insufficientData(): DatabaseError {
  return new DatabaseError(SQLSTATE.protocolViolation, "insufficient data left in message");
}
