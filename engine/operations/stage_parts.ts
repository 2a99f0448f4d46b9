/** Cuts encoded effects, which come piece by piece, into the parts that entries bring to the stage. */
import { STAGE_ROW_BYTES } from "../catalog/stage_table.ts";
import type { Effect } from "./effect.ts";

/** See the head of the file. */
export class StageParts {
  readonly #partBytes: number;
  #buffer: Uint8Array;
  /** What of the buffer is not taken. */
  #start = 0;
  #end = 0;
  /** Bytes of all parts that were taken. */
  takenBytes = 0;

  /** `partBytes`: of each part but the last, a multiple of the bytes of a row. */
  constructor(partBytes: number) {
    this.#partBytes = partBytes;
    this.#buffer = new Uint8Array(4 * partBytes);
  }

  /** Copies the piece. */
  add(piece: Uint8Array): void {
    const waiting = this.#end - this.#start;
    if (this.#end + piece.length > this.#buffer.length) {
      const needed = waiting + piece.length;
      const buffer = needed > this.#buffer.length ? new Uint8Array(2 * needed) : this.#buffer;
      buffer.set(this.#buffer.subarray(this.#start, this.#end));
      this.#buffer = buffer;
      this.#start = 0;
      this.#end = waiting;
    }
    this.#buffer.set(piece, this.#end);
    this.#end += piece.length;
  }

  /** The next whole part; where all has come, `isLast`, what is left as well. Its bytes are good until the next add. */
  take(isLast: boolean): Extract<Effect, { kind: "stage" }> | null {
    const length = Math.min(this.#end - this.#start, this.#partBytes);
    if (length === 0 || length < this.#partBytes && !isLast) return null;
    const bytes = this.#buffer.subarray(this.#start, this.#start + length);
    const at = this.takenBytes / STAGE_ROW_BYTES;
    this.#start += length;
    this.takenBytes += length;
    return { kind: "stage", at, bytes };
  }
}
