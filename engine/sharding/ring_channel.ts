/**
 * Messages between two threads through rings in memory that both share, one for each direction. A message that is
 * larger than the ring, or finds it full, goes in pieces, when the reader has made room.
 */
import { assertDefined } from "../base/assert.ts";
import { ByteRing } from "../host/byte_ring.ts";
import type { Attended, Doorbell } from "../host/doorbell.ts";
import { FRAME_BYTES, MessageDecoder, MessageEncoder } from "./message_codec.ts";

/** The size of a ring. */
export const RING_BYTES = 1 << 20;
/** Messages up to here are read into the same memory again. */
const SMALL_BYTES = 1 << 16;

/** The memory of both directions. */
export interface Rings {
  readonly toShard: SharedArrayBuffer;
  readonly toRouter: SharedArrayBuffer;
}

/** What an end of a channel needs. */
export interface ChannelEnd<Received> {
  readonly writes: SharedArrayBuffer;
  readonly reads: SharedArrayBuffer;
  /** That of this thread, and that of the other one. */
  readonly bell: Doorbell;
  readonly otherBell: Doorbell;
  onMessage(message: Received): void;
}

/** See the file's head. */
export class RingChannel<Sent, Received> implements Attended {
  readonly #out: ByteRing;
  readonly #in: ByteRing;
  readonly #end: ChannelEnd<Received>;
  readonly #encoder = new MessageEncoder();
  readonly #decoder = new MessageDecoder();
  /** What had no room yet, in order. */
  #waiting: Uint8Array[] = [];
  #drained: PromiseWithResolvers<void> | null = null;
  readonly #small = new Uint8Array(SMALL_BYTES);
  readonly #frame = new Uint8Array(FRAME_BYTES);
  readonly #frameView = new DataView(this.#frame.buffer);
  /** The message that is being read, and how much of it has come. */
  #message: Uint8Array | null = null;
  #read = 0;

  constructor(end: ChannelEnd<Received>) {
    this.#out = new ByteRing(end.writes);
    this.#in = new ByteRing(end.reads);
    this.#end = end;
    end.bell.attend(this);
  }

  /** Sends a message, whose content may change afterwards; when it is `late` the other thread need not wake for it. */
  send(message: Sent, isLate = false): void {
    const bytes = this.#encoder.encode(message);
    const taken = this.#waiting.length === 0 ? this.#out.write(bytes) : 0;
    if (taken < bytes.length) {
      this.#waiting.push(bytes.slice(taken));
      this.#writeWaiting();
    }
    if (!isLate) this.ring();
  }

  /** Wakes the other thread. */
  ring(): void {
    this.#end.otherBell.ring();
  }

  /** Resolves when all that was sent is in the ring; null: it is. */
  drained(): Promise<void> | null {
    if (this.#waiting.length === 0) return null;
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  /** Nothing comes any more. */
  close(): void {
    this.#end.bell.leave(this);
  }

  hasWork(): boolean {
    return this.#in.available > 0 || this.#waiting.length > 0 && this.#out.room > 0;
  }

  work(): void {
    if (this.#waiting.length > 0) this.#writeWaiting();
    this.#readAll();
    if (this.#in.takeWish()) this.#end.otherBell.ring();
  }

  #writeWaiting(): void {
    let hasWritten = false;
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined) break;
      const taken = this.#out.write(first);
      hasWritten ||= taken > 0;
      if (taken === first.length) this.#waiting.shift();
      else {
        this.#waiting[0] = first.subarray(taken);
        this.#out.wantRoom();
        // The reader may have made room before it could know.
        if (this.#out.room === 0) break;
      }
    }
    if (hasWritten) this.#end.otherBell.ring();
    if (this.#waiting.length > 0) return;
    this.#drained?.resolve();
    this.#drained = null;
  }

  #readAll(): void {
    for (;;) {
      if (this.#message === null) {
        if (this.#in.available < FRAME_BYTES) return;
        this.#in.read(this.#frame);
        const length = this.#frameView.getUint32(0, true);
        this.#message = length <= SMALL_BYTES ? this.#small.subarray(0, length) : new Uint8Array(length);
        this.#read = 0;
      }
      const message = assertDefined(this.#message, "a message");
      this.#read += this.#in.read(this.#read === 0 ? message : message.subarray(this.#read));
      if (this.#read < message.length) return;
      this.#message = null;
      this.#end.onMessage(this.#decoder.decode(message) as Received);
    }
  }
}
