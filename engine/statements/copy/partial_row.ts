/**
 * The bytes of COPY data that have arrived and could not be parsed yet: a row that is not whole.
 *
 * Bytes are copied once when they arrive and once more when all of them are wanted in one piece, however small the
 * chunks are: a long row is a list of pieces until then. Limit: `LIMITS.maximumCopyRowBytes`.
 */
import { assert } from "../../base/assert.ts";
import { LIMITS } from "../../base/limits.ts";
import { rowTooLong, withContext } from "./copy_options.ts";

/** Up to this size there is one piece, which grows. */
const PIECE_BYTES = 1 << 20;
const SMALLEST_PIECE_BYTES = 4096;

/** See the file's head. */
export class PartialRow {
  readonly #place: () => string;
  /** All full but for the last. */
  #pieces: Uint8Array[] = [new Uint8Array(0)];
  /** Bytes in use of the last piece. */
  #lastLength = 0;
  #length = 0;

  /** `place` names the row in errors. */
  constructor(place: () => string) {
    this.#place = place;
  }

  /** How many bytes there are. */
  get length(): number {
    return this.#length;
  }

  /** Adds a copy of the bytes. Raises 54000 when the row gets too long. */
  append(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > LIMITS.maximumCopyRowBytes) throw withContext(rowTooLong(), this.#place());
    let last = this.#pieces.at(-1) as Uint8Array;
    let from = 0;
    if (this.#lastLength + bytes.length > last.length) {
      if (needed <= PIECE_BYTES) {
        const larger = new Uint8Array(Math.max(needed, last.length * 2, SMALLEST_PIECE_BYTES));
        larger.set(last.subarray(0, this.#lastLength));
        this.#pieces = [larger];
        last = larger;
      } else {
        from = last.length - this.#lastLength;
        last.set(bytes.subarray(0, from), this.#lastLength);
        last = new Uint8Array(Math.max(bytes.length - from, PIECE_BYTES));
        this.#pieces.push(last);
        this.#lastLength = 0;
      }
    }
    last.set(from === 0 ? bytes : bytes.subarray(from), this.#lastLength);
    this.#lastLength += bytes.length - from;
    this.#length = needed;
  }

  /** All bytes in one piece, valid until the next change. */
  joined(): Uint8Array {
    if (this.#pieces.length > 1) {
      const whole = new Uint8Array(this.#length);
      let at = 0;
      for (const piece of this.#pieces) {
        const used = piece === this.#pieces.at(-1) ? piece.subarray(0, this.#lastLength) : piece;
        whole.set(used, at);
        at += used.length;
      }
      this.#pieces = [whole];
      this.#lastLength = this.#length;
    }
    return (this.#pieces[0] as Uint8Array).subarray(0, this.#length);
  }

  /** Forgets bytes at the start; all must be in one piece. */
  drop(count: number): void {
    assert(this.#pieces.length === 1, "what was parsed was in one piece");
    assert(count <= this.#length, "no more is forgotten than there is");
    const [piece] = this.#pieces as [Uint8Array];
    this.#length -= count;
    if (piece.length > PIECE_BYTES && this.#length <= PIECE_BYTES) {
      this.#pieces = [piece.slice(count, count + this.#length)];
    } else if (count > 0) piece.copyWithin(0, count, count + this.#length);
    this.#lastLength = this.#length;
  }
}
