/**
 * Bytes that have come and are to be read: the receiving half of a `ByteStream`.
 *
 * Invariants: at most one read waits, and only while the queue is empty; what has come before the end, or before the
 * failure, is read first, and of these two the first one counts.
 */
import { assert } from "../../engine/base/assert.ts";

interface Reader {
  readonly target: Uint8Array;
  readonly resolve: (count: number | null) => void;
  readonly reject: (error: Error) => void;
}

/** See the head of the file. */
export class ByteQueue {
  readonly #onRead: (count: number) => void;
  #chunks: Uint8Array[] = [];
  #byteCount = 0;
  #reader: Reader | null = null;
  #end: { readonly error: Error | null } | null = null;

  /** `onRead`: so many bytes were read, and are counted no more. */
  constructor(onRead: (count: number) => void) {
    this.#onRead = onRead;
  }

  /** How many bytes wait to be read. */
  get byteCount(): number {
    return this.#byteCount;
  }

  /** Whether no more bytes are taken. */
  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** Fills part of the target; null at the end. */
  read(target: Uint8Array): Promise<number | null> {
    assert(this.#reader === null, "one read at a time");
    if (this.#byteCount > 0) return Promise.resolve(this.#take(target));
    if (this.#end === null) {
      return new Promise((resolve, reject) => this.#reader = { target, resolve, reject });
    }
    const { error } = this.#end;
    return error === null ? Promise.resolve(null) : Promise.reject(error);
  }

  /** Bytes have come, and are the queue's now, or copied unless `isOwn`. After the end they are ignored. */
  push(bytes: Uint8Array, isOwn = true): void {
    if (this.#end !== null || bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#byteCount += bytes.length;
    const reader = this.#reader;
    this.#reader = null;
    reader?.resolve(this.#take(reader.target));
    // A read waits only while there is nothing else: what it has left is of these bytes.
    const left = isOwn ? undefined : this.#chunks.pop();
    if (left !== undefined) this.#chunks.push(left.slice());
  }

  /** No more bytes will come: for an error, or because all have. */
  end(error: Error | null = null): void {
    this.#end ??= { error };
    const reader = this.#reader;
    this.#reader = null;
    if (error === null) reader?.resolve(null);
    else reader?.reject(error);
  }

  /** Takes all that was not read. */
  takeAll(): Uint8Array[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#byteCount = 0;
    return chunks;
  }

  #take(target: Uint8Array): number {
    const [chunk] = this.#chunks;
    assert(chunk !== undefined, "there is something to read");
    const count = Math.min(chunk.length, target.length);
    if (count === chunk.length) {
      target.set(chunk);
      this.#chunks.shift();
    } else {
      target.set(chunk.subarray(0, count));
      this.#chunks[0] = chunk.subarray(count);
    }
    this.#byteCount -= count;
    this.#onRead(count);
    return count;
  }
}
