/**
 * A socket of `node:net` or `node:tls` as a {@link ByteStream}.
 *
 * Invariant: at most one read and one write are under way.
 */
import type { Socket } from "node:net";
import { ByteQueue } from "./byte_queue.ts";
import type { ByteStream } from "./byte_stream.ts";

/** Bytes that wait to be read beyond which the socket is paused. */
const PAUSE_BYTES = 128 * 1024;

/** A socket as a stream of bytes. */
export class SocketStream implements ByteStream {
  readonly #socket: Socket;
  readonly #unread = new ByteQueue(() => this.#resume());
  #isPaused = false;

  /** `received`: what was read of the socket before. */
  constructor(socket: Socket, received: Uint8Array | null = null) {
    this.#socket = socket;
    if (received !== null) this.#unread.push(received);
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("error", this.#onError);
    socket.on("close", this.#onEnd);
  }

  read(target: Uint8Array): Promise<number | null> {
    return this.#unread.read(target);
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
    return this.#unread.takeAll();
  }

  #resume(): void {
    if (!this.#isPaused || this.#unread.byteCount > 0) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  readonly #onData = (chunk: Uint8Array): void => {
    this.#unread.push(chunk);
    if (this.#unread.byteCount <= PAUSE_BYTES || this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  };

  readonly #onEnd = (): void => this.#unread.end();

  readonly #onError = (error: Error): void => this.#unread.end(disconnected(error));
}

/** Whatever is wrong with a socket, or with the records on it, ends the connection in the same way. */
function disconnected(error: Error): Error {
  return new Deno.errors.ConnectionReset(error.message, { cause: error });
}
