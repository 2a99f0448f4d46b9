/**
 * What sockets read into: a small buffer each, and a large one from here as soon as a read fills it. Large ones are
 * used again when their connection has ended, for they are the largest thing that a connection takes and lie outside
 * of the collector's heap, which learns late that hundreds of them are garbage.
 *
 * Limit: as many are kept as {@link PG_LIMITS.keptReadBuffers} says. A buffer may hold what its last connection has
 * sent; nothing looks beyond the bytes of a read.
 */
import { assert } from "../../engine/base/assert.ts";
import { PG_LIMITS } from "./limits.ts";

/** What sockets read into: a small buffer each, and a large one from here as soon as a read fills it. */
export class ReadBuffers {
  readonly #free: Uint8Array[] = [];

  /** The buffer of a new connection. */
  first(): Uint8Array {
    return new Uint8Array(PG_LIMITS.firstReadBytes);
  }

  /** The buffer for the next read: a large one after a read that filled a small one. */
  next(buffer: Uint8Array, count: number): Uint8Array {
    assert(count <= buffer.length, "a read brings no more than its buffer holds");
    if (count < PG_LIMITS.firstReadBytes || buffer.length === PG_LIMITS.readBytes) return buffer;
    return this.#free.pop() ?? new Uint8Array(PG_LIMITS.readBytes);
  }

  /** Takes the buffer of a connection that reads no more. */
  giveBack(buffer: Uint8Array): void {
    assert(!this.#free.includes(buffer), "a buffer is given back once");
    if (buffer.length === PG_LIMITS.readBytes && this.#free.length < PG_LIMITS.keptReadBuffers) {
      this.#free.push(buffer);
    }
  }
}
