/**
 * Cuts what a member sends into frames: a little-endian u32 length and that many bytes.
 *
 * Memory follows the longest frame that is allowed, not the length that a frame claims: the buffer grows when the bytes
 * are there or the length is within the limit of the moment.
 */
import type { NetworkConnection } from "../../host/network.ts";
import { corruptedReplication } from "./header_codec.ts";

const FIRST_BUFFER_BYTES = 4096;
const BUFFER_BYTES = 256 * 1024;

/** Bytes of the length in front of a frame. */
export const LENGTH_BYTES = 4;

/** The frames that come from a connection. */
export class PeerInput {
  /** The longest frame that is accepted, its length not counted. */
  maximumBytes: number;
  readonly #connection: NetworkConnection;
  #buffer: Uint8Array;
  #start = 0;
  #end = 0;

  /** `received`: what was read of the connection before; `firstBytes`: how much it reads at once in the beginning. */
  constructor(
    connection: NetworkConnection,
    received: Uint8Array,
    maximumBytes: number,
    firstBytes = FIRST_BUFFER_BYTES,
  ) {
    this.#connection = connection;
    this.maximumBytes = maximumBytes;
    this.#buffer = new Uint8Array(Math.max(firstBytes, received.length));
    this.#buffer.set(received);
    this.#end = received.length;
  }

  /** The next frame, if all of it is there; its bytes are its own. Raises XX001 for one that is too long. */
  take(): Uint8Array | null {
    return this.takeView()?.slice() ?? null;
  }

  /** The same as a view that is good until more is read. */
  takeView(): Uint8Array | null {
    const available = this.#end - this.#start;
    if (available < LENGTH_BYTES) return null;
    const length = new DataView(this.#buffer.buffer).getUint32(this.#start, true);
    if (length > this.maximumBytes) throw corruptedReplication(`a frame of ${length} bytes`);
    if (available < LENGTH_BYTES + length) return null;
    const from = this.#start + LENGTH_BYTES;
    this.#start = from + length;
    return this.#buffer.subarray(from, this.#start);
  }

  /** Reads more; false at the end of the stream. */
  async fill(): Promise<boolean> {
    this.#makeRoom();
    const count = await this.#connection.read(this.#buffer.subarray(this.#end));
    if (count === null) return false;
    this.#end += count;
    return true;
  }

  /** The next frame, waited for; null at the end of the stream. */
  async next(): Promise<Uint8Array | null> {
    for (;;) {
      const frame = this.take();
      if (frame !== null) return frame;
      if (!await this.fill()) return null;
    }
  }

  #makeRoom(): void {
    if (this.#start === this.#end) this.#start = this.#end = 0;
    if (this.#end < this.#buffer.length) return;
    const kept = this.#buffer.subarray(this.#start, this.#end);
    const isFull = kept.length > this.#buffer.length / 2;
    // A connection that only shakes hands does with a small one.
    const target = isFull ? new Uint8Array(Math.max(BUFFER_BYTES, this.#buffer.length * 2)) : this.#buffer;
    if (isFull) target.set(kept);
    else target.copyWithin(0, this.#start, this.#end);
    this.#buffer = target;
    this.#end -= this.#start;
    this.#start = 0;
  }
}

/** A frame with its length in front. */
export function framed(frame: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(LENGTH_BYTES + frame.length);
  new DataView(bytes.buffer).setUint32(0, frame.length, true);
  bytes.set(frame, LENGTH_BYTES);
  return bytes;
}
