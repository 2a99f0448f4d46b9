/**
 * A {@link ByteStream} as a socket of `node:net` looks to those that use it, the reverse of `SocketStream`.
 *
 * Invariant: at most one read of the stream is under way, and none while nobody wants its bytes.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { ByteStream } from "./byte_stream.ts";

const BUFFER_BYTES = 64 * 1024;
/** A read that brings more gives its buffer away. */
const COPIED_BYTES = BUFFER_BYTES / 4;

interface SocketOptions {
  readonly allowHalfOpen: boolean;
  /** Where the other end is, if it is known. */
  readonly remote?: { readonly hostname: string; readonly port: number };
}

/**
 * A stream as a socket; one that is still to be opened emits `connect` when it is, or `error`. Unless it is half-open,
 * a socket ends its direction with the other's.
 */
export function socketOver(
  stream: ByteStream | Promise<ByteStream>,
  options: SocketOptions,
): Socket {
  return new StreamSocket(stream, options) as unknown as Socket;
}

class StreamSocket extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  connecting = false;
  #stream: ByteStream | null = null;
  readonly #opening: Promise<ByteStream>;
  #buffer: Uint8Array | null = null;
  #isReading = false;

  constructor(stream: ByteStream | Promise<ByteStream>, { allowHalfOpen, remote }: SocketOptions) {
    super({ allowHalfOpen });
    this.remoteAddress = remote?.hostname;
    this.remotePort = remote?.port;
    this.#opening = Promise.resolve(stream);
    if (stream instanceof Promise) {
      this.connecting = true;
      stream.then((opened) => this.#opened(opened), (error) => this.destroy(error));
    } else this.#stream = stream;
  }

  #opened(stream: ByteStream): void {
    if (this.destroyed) return stream.close();
    this.connecting = false;
    this.#stream = stream;
    this.emit("connect");
  }

  // What `node:net` has besides.

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  override _read(): void {
    if (!this.#isReading) void this.#pass();
  }

  async #pass(): Promise<void> {
    this.#isReading = true;
    try {
      const stream = await this.#opening;
      for (let isWanted = true; isWanted && !this.destroyed;) {
        const buffer = this.#buffer ??= new Uint8Array(BUFFER_BYTES);
        const count = await stream.read(buffer);
        if (this.destroyed) return;
        if (count === null) {
          this.push(null);
          return;
        }
        if (count > COPIED_BYTES) this.#buffer = null;
        isWanted = this.push(count > COPIED_BYTES ? buffer.subarray(0, count) : buffer.slice(0, count));
      }
      this.#isReading = false;
    } catch (error) {
      this.destroy(asError(error));
    }
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    this.#writeAll(chunk).then(() => done(), (error) => done(asError(error)));
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    const stream = this.#stream ?? await this.#opening;
    for (let at = 0; at < bytes.length;) at += await stream.write(bytes.subarray(at));
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#opening.then((stream) => stream.closeWrite()).then(() => done(), (error) => done(asError(error)));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stream?.close();
    done(error);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
