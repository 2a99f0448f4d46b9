/**
 * A two-way stream of bytes between two threads through rings in memory that both share, as a connection.
 *
 * Invariants: at most one read and one write are under way. What has come is read in a turn of the event loop of its
 * own, so that who sends without pause leaves turns to others, and the more there is to do, the more a read brings.
 */
import { ByteRing } from "./byte_ring.ts";
import type { Attended, Doorbell } from "./doorbell.ts";
import type { NetworkConnection } from "./network.ts";

/** What an end of the stream needs. */
export interface RingEnd {
  readonly writes: SharedArrayBuffer;
  readonly reads: SharedArrayBuffer;
  /** That of this thread, and that of the other one. */
  readonly bell: Doorbell;
  readonly otherBell: Doorbell;
}

/** See the head of the file. */
export class RingConnection implements NetworkConnection, Attended {
  readonly remote = { hostname: "a thread", port: 0 };
  readonly #out: ByteRing;
  readonly #in: ByteRing;
  readonly #end: RingEnd;
  #reader: { readonly target: Uint8Array; resolve(count: number | null): void } | null = null;
  #writer: { rest: Uint8Array; resolve(): void } | null = null;
  #isClosed = false;

  constructor(end: RingEnd) {
    this.#out = new ByteRing(end.writes);
    this.#in = new ByteRing(end.reads);
    this.#end = end;
    end.bell.attend(this);
  }

  read(target: Uint8Array): Promise<number | null> {
    if (this.#isClosed) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#reader = { target, resolve };
      if (this.#in.available > 0) this.#end.bell.ring();
    });
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const taken = this.#out.write(bytes);
    this.#end.otherBell.ring();
    if (taken === bytes.length) return Promise.resolve();
    return new Promise((resolve) => {
      this.#writer = { rest: bytes.subarray(taken), resolve };
      this.#writeRest();
    });
  }

  /** Nothing is read any more; the other end learns of it in another way. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#end.bell.leave(this);
    this.#reader?.resolve(null);
    this.#writer?.resolve();
    this.#reader = this.#writer = null;
  }

  hasWork(): boolean {
    return this.#reader !== null && this.#in.available > 0 || this.#writer !== null && this.#out.room > 0;
  }

  work(): void {
    this.#writeRest();
    const reader = this.#reader;
    if (reader !== null && this.#in.available > 0) {
      this.#reader = null;
      reader.resolve(this.#in.read(reader.target));
    }
    if (this.#in.takeWish()) this.#end.otherBell.ring();
  }

  #writeRest(): void {
    const writer = this.#writer;
    while (writer !== null) {
      const taken = this.#out.write(writer.rest);
      if (taken > 0) this.#end.otherBell.ring();
      if (taken === writer.rest.length) {
        this.#writer = null;
        writer.resolve();
        return;
      }
      writer.rest = writer.rest.subarray(taken);
      this.#out.wantRoom();
      // The reader may have made room before it could know.
      if (this.#out.room === 0) return;
    }
  }
}
