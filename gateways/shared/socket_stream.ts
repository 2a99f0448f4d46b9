/**
 * A socket of `node:net` or `node:tls` as a {@link ByteStream}.
 *
 * Invariant: at most one read and one write are under way.
 */
import type { Socket } from "node:net";
import { assert } from "../../engine/base/assert.ts";
import type { ByteStream } from "./byte_stream.ts";

/** Bytes that wait to be read beyond which the socket is paused. */
const PAUSE_BYTES = 128 * 1024;

interface Reader {
  readonly target: Uint8Array;
  readonly resolve: (count: number | null) => void;
  readonly reject: (error: Error) => void;
}

/** A socket as a stream of bytes. */
export class SocketStream implements ByteStream {
  readonly #socket: Socket;
  #chunks: Uint8Array[] = [];
  #chunkBytes = 0;
  #reader: Reader | null = null;
  #hasEnded = false;
  #isPaused = false;
  #error: Error | null = null;

  /** `received`: what was read of the socket before. */
  constructor(socket: Socket, received: Uint8Array | null = null) {
    this.#socket = socket;
    if (received !== null && received.length > 0) {
      this.#chunks.push(received);
      this.#chunkBytes = received.length;
    }
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("error", this.#onError);
    socket.on("close", this.#onEnd);
  }

  read(target: Uint8Array): Promise<number | null> {
    assert(this.#reader === null, "one read at a time");
    const [chunk] = this.#chunks;
    if (chunk !== undefined) return Promise.resolve(this.#take(chunk, target));
    if (this.#error !== null) return Promise.reject(this.#error);
    if (this.#hasEnded) return Promise.resolve(null);
    return new Promise((resolve, reject) => this.#reader = { target, resolve, reject });
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => {
        if (error === null || error === undefined) resolve(bytes.length);
        else reject(disconnected(error));
      });
    });
  }

  closeWrite(): Promise<void> {
    this.#socket.end();
    return Promise.resolve();
  }

  close(): void {
    this.#socket.destroy();
    this.#onEnd();
  }

  /** Gives the socket up; answers what was received and not read. */
  detach(): Uint8Array[] {
    this.#socket.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onEnd);
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }

  #take(chunk: Uint8Array, target: Uint8Array): number {
    const count = Math.min(chunk.length, target.length);
    if (count === chunk.length) {
      target.set(chunk);
      this.#chunks.shift();
    } else {
      target.set(chunk.subarray(0, count));
      this.#chunks[0] = chunk.subarray(count);
    }
    this.#chunkBytes -= count;
    if (this.#isPaused && this.#chunkBytes === 0) {
      this.#isPaused = false;
      this.#socket.resume();
    }
    return count;
  }

  readonly #onData = (chunk: Uint8Array): void => {
    const reader = this.#reader;
    this.#chunks.push(chunk);
    this.#chunkBytes += chunk.length;
    if (reader !== null) {
      this.#reader = null;
      reader.resolve(this.#take(this.#chunks[0] ?? chunk, reader.target));
    }
    if (this.#chunkBytes > PAUSE_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#socket.pause();
    }
  };

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    const reader = this.#reader;
    this.#reader = null;
    reader?.resolve(null);
  };

  readonly #onError = (error: Error): void => {
    this.#error = disconnected(error);
    const reader = this.#reader;
    this.#reader = null;
    reader?.reject(this.#error);
  };
}

/** Whatever is wrong with a socket, or with the records on it, ends the connection in the same way. */
function disconnected(error: Error): Error {
  return new Deno.errors.ConnectionReset(error.message, { cause: error });
}
