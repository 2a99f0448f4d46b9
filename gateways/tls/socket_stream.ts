/**
 * A socket of `node:net` or `node:tls` as a {@link ByteStream}: only such a socket, unlike `Deno.TcpConn`, can become
 * an encrypted one on the server's side.
 *
 * Invariant: at most one read and one write are under way.
 */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { assert } from "../../engine/base/assert.ts";
import type {
  ByteStream,
  HandshakeRequest,
  SecurableStream,
  Secured,
  TlsServer,
} from "../shared/byte_stream.ts";

/** Bytes that wait to be read beyond which the socket is paused. */
const PAUSE_BYTES = 128 * 1024;

interface Reader {
  readonly target: Uint8Array;
  readonly resolve: (count: number | null) => void;
  readonly reject: (error: Error) => void;
}

/** A socket as a stream of bytes. */
export class SocketStream implements SecurableStream {
  readonly #socket: Socket;
  readonly #server: TlsServer;
  #chunks: Uint8Array[] = [];
  #chunkBytes = 0;
  #reader: Reader | null = null;
  #hasEnded = false;
  #isPaused = false;
  #error: Error | null = null;

  constructor(socket: Socket, server: TlsServer) {
    this.#socket = socket;
    this.#server = server;
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

  async secure(request: HandshakeRequest): Promise<Secured & { readonly stream: ByteStream }> {
    const socket = this.#socket;
    socket.off("data", this.#onData);
    socket.off("end", this.#onEnd);
    socket.off("close", this.#onEnd);
    // What has come since is the client's as well: in clear text it fails the handshake.
    const received = Buffer.concat([
      ...(request.received === null ? [] : [request.received]),
      ...this.#chunks,
    ]);
    this.#chunks = [];
    const secured = await this.#server.secure(socket, { ...request, received });
    return {
      stream: new SocketStream(secured.socket, this.#server),
      encryption: secured.encryption,
      endPoint: secured.endPoint,
    };
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
