/**
 * Cuts a stream of bytes into frames: a little-endian u32 length and that many bytes.
 *
 * A frame that lies within one piece of input is handed out as a view of it; one that is spread over several pieces is put
 * together once it is complete, so that a length alone never makes memory be taken.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";

/** See the file's head. */
export class FrameReader {
  /** The largest frame that is accepted, in bytes. */
  maximumBytes: number;
  #parts: Uint8Array[] = [];
  #partBytes = 0;

  constructor(maximumBytes: number) {
    this.maximumBytes = maximumBytes;
  }

  /**
   * Takes a piece of input and calls back for each frame that is complete, in order; the frame is valid during the call.
   * `accept` answers false to stop there. Raises 54000 for a frame that is too long.
   */
  feed(piece: Uint8Array, accept: (frame: Uint8Array) => boolean): void {
    let input = piece;
    if (this.#parts.length > 0) {
      this.#parts.push(piece.slice());
      this.#partBytes += piece.length;
      if (this.#partBytes < this.#neededBytes()) return;
      input = this.#join();
    }
    let at = 0;
    while (input.length - at >= 4) {
      const size = lengthAt(input, at);
      if (size > this.maximumBytes) throw this.#tooLong(size);
      if (input.length - at - 4 < size) break;
      if (!accept(input.subarray(at + 4, at + 4 + size))) return;
      at += 4 + size;
    }
    if (at === input.length) return;
    const rest = input === piece ? input.slice(at) : input.subarray(at);
    this.#parts = [rest];
    this.#partBytes = rest.length;
  }

  /** Bytes of the frame that is incomplete. */
  get pendingBytes(): number {
    return this.#partBytes;
  }

  /** How many bytes there must be before it is worth looking again. */
  #neededBytes(): number {
    const first = this.#parts[0];
    if (first === undefined || first.length < 4) return 4;
    return 4 + Math.min(lengthAt(first, 0), this.maximumBytes);
  }

  #join(): Uint8Array {
    const joined = new Uint8Array(this.#partBytes);
    let at = 0;
    for (const part of this.#parts) {
      joined.set(part, at);
      at += part.length;
    }
    this.#parts = [];
    this.#partBytes = 0;
    return joined;
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
