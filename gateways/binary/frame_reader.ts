/**
 * Cuts a stream of bytes into frames: a little-endian u32 length and that many bytes.
 *
 * A frame that lies within one piece of input is handed out as a view of it; one that is spread over several pieces
 * is put together in a buffer that grows with what has arrived, so that neither a length alone nor many tiny pieces
 * make memory be taken beyond twice the bytes that were sent.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";

const EMPTY = new Uint8Array(0);

/** Cuts a stream of bytes into frames: a little-endian u32 length and that many bytes. */
export class FrameReader {
  /** The largest frame that is accepted, in bytes. */
  maximumBytes: number;
  /** The frame that is incomplete, in front of free space. */
  #pending: Uint8Array = EMPTY;
  #pendingBytes = 0;

  constructor(maximumBytes: number) {
    this.maximumBytes = maximumBytes;
  }

  /**
   * Takes a piece of input and calls back for each frame that is complete, in order; the frame is valid during the
   * call. `accept` answers false to stop there. Raises 54000 for a frame that is too long.
   */
  feed(piece: Uint8Array, accept: (frame: Uint8Array) => boolean): void {
    let at = 0;
    if (this.#pendingBytes > 0) {
      at = this.#complete(piece);
      const needed = this.#neededBytes();
      if (this.#pendingBytes < needed) return;
      const frame = this.#pending.subarray(4, needed);
      this.#pending = EMPTY;
      this.#pendingBytes = 0;
      if (!accept(frame)) return;
    }
    while (piece.length - at >= 4) {
      const size = this.#sizeAt(piece, at);
      if (piece.length - at - 4 < size) break;
      if (!accept(piece.subarray(at + 4, at + 4 + size))) return;
      at += 4 + size;
    }
    if (at < piece.length) this.#append(piece.subarray(at));
  }

  /** Bytes of the frame that is incomplete. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Moves as much of the piece to the incomplete frame as belongs to it; answers how much that is. */
  #complete(piece: Uint8Array): number {
    let at = 0;
    // The length first: only with it is it known how much more belongs to the frame.
    for (let needed = this.#neededBytes(); this.#pendingBytes < needed && at < piece.length;) {
      const count = Math.min(needed - this.#pendingBytes, piece.length - at);
      this.#append(piece.subarray(at, at + count));
      at += count;
      needed = this.#neededBytes();
    }
    return at;
  }

  /** Bytes of the incomplete frame with its length; 4 while not even that is there. */
  #neededBytes(): number {
    return this.#pendingBytes < 4 ? 4 : 4 + this.#sizeAt(this.#pending, 0);
  }

  #append(bytes: Uint8Array): void {
    const length = this.#pendingBytes + bytes.length;
    if (length > this.#pending.length) {
      const grown = new Uint8Array(Math.max(length, 64, this.#pending.length * 2));
      grown.set(this.#pending.subarray(0, this.#pendingBytes));
      this.#pending = grown;
    }
    this.#pending.set(bytes, this.#pendingBytes);
    this.#pendingBytes = length;
  }

  #sizeAt(bytes: Uint8Array, at: number): number {
    const size = lengthAt(bytes, at);
    if (size > this.maximumBytes) throw this.#tooLong(size);
    return size;
  }

  #tooLong(size: number): DatabaseError {
    return new DatabaseError(
      SQLSTATE.programLimitExceeded,
      `a frame of ${size} bytes is longer than the limit of ${this.maximumBytes} bytes`,
    );
  }
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) | (bytes[at + 1] as number) << 8 | (bytes[at + 2] as number) << 16 |
    (bytes[at + 3] as number) << 24) >>> 0;
}

/** A Node `Buffer` as the array that it is: its `slice` would not copy. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
