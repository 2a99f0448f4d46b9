/**
 * A client's stream on a link: its bytes, its ends, and how far each side may go ahead.
 *
 * Invariants: at most one read and one write are under way; no more than a window's bytes are on their way to a side
 * that has not read them, so that a client that does not read holds up nobody else on the link.
 */
import { ByteQueue } from "../shared/byte_queue.ts";
import type { ByteStream } from "../shared/byte_stream.ts";

/** What may be sent before the other side says that it has read some of it, which it does at half of that. */
export const WINDOW_BYTES = 64 * 1024;
/** The same between threads, each of which must be woken to go on. */
export const THREAD_WINDOW_BYTES = 256 * 1024;

/** What a stream asks of its link; a frame leaves with what else is sent in the turn. */
export interface StreamLink {
  /** Resolves when the bytes have left. */
  sendBytes(stream: number, bytes: Uint8Array): Promise<void>;
  /** Ends the own direction. */
  sendEnd(stream: number): Promise<void>;
  /** So many more bytes may come. */
  sendRead(stream: number, count: number): void;
  /** This side is done with the stream. */
  sendClose(stream: number): void;
}

/** What a link tells the end of a stream on its side. */
export interface StreamEnd {
  /** Bytes have come, and are copied; false: more than the window allows. */
  received(bytes: Uint8Array): boolean;
  /** The other side has ended its direction. */
  ended(): void;
  /** The other side has read so much more. */
  allowed(count: number): void;
  /** The other side is done with the stream. */
  closed(): void;
  /** The link is gone: what was sent may not have come. */
  lost(error: Error): void;
}

/** See the head of the file. */
export class RelayStream implements ByteStream, StreamEnd {
  readonly #link: StreamLink;
  readonly #number: number;
  readonly #unread = new ByteQueue((count) => this.#wasRead(count));
  /** What was read and not said yet. */
  #unsaidBytes = 0;
  readonly #windowBytes: number;
  #allowance: number;
  /** Who waits for an allowance. */
  #writer: PromiseWithResolvers<void> | null = null;
  /** Nothing that is written is read any more. */
  #isOver: Error | null = null;
  #isClosed = false;

  constructor(link: StreamLink, number: number, windowBytes: number) {
    this.#link = link;
    this.#number = number;
    this.#windowBytes = this.#allowance = windowBytes;
  }

  read(target: Uint8Array): Promise<number | null> {
    return this.#unread.read(target);
  }

  write(bytes: Uint8Array): Promise<number> {
    if (this.#isOver !== null) return Promise.reject(this.#isOver);
    const count = Math.min(bytes.length, this.#allowance);
    if (count === 0 && bytes.length > 0) {
      const writer = this.#writer = Promise.withResolvers<void>();
      return writer.promise.then(() => this.write(bytes));
    }
    this.#allowance -= count;
    const part = count === bytes.length ? bytes : bytes.subarray(0, count);
    return this.#link.sendBytes(this.#number, part).then(() => count);
  }

  async closeWrite(): Promise<void> {
    if (this.#isOver === null) await this.#link.sendEnd(this.#number);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isOver === null) this.#link.sendClose(this.#number);
    this.lost(new Deno.errors.Interrupted("the stream is closed"));
  }

  received(bytes: Uint8Array): boolean {
    if (this.#unread.hasEnded) return true;
    if (this.#unread.byteCount + bytes.length + this.#unsaidBytes > this.#windowBytes) return false;
    this.#unread.push(bytes, false);
    return true;
  }

  ended(): void {
    this.#unread.end();
  }

  allowed(count: number): void {
    this.#allowance += count;
    const writer = this.#writer;
    this.#writer = null;
    writer?.resolve();
  }

  /** One that ends without an end has lost its client. */
  closed(): void {
    this.lost(new Deno.errors.BrokenPipe("the other end of the stream is closed"));
  }

  lost(error: Error): void {
    this.#isOver ??= error;
    this.#unread.end(error);
    const writer = this.#writer;
    this.#writer = null;
    writer?.resolve();
  }

  #wasRead(count: number): void {
    this.#unsaidBytes += count;
    if (this.#unsaidBytes < this.#windowBytes / 2 || this.#isOver !== null) return;
    this.#link.sendRead(this.#number, this.#unsaidBytes);
    this.#unsaidBytes = 0;
  }
}
