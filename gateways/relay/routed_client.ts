/**
 * A client's socket in a router's thread, and its stream to the thread that has the sessions: what the client sends
 * goes on at once, as far as the window allows, and what it is sent is written as it comes.
 *
 * Invariants: no more than a window's bytes wait for the socket, and no more than what the socket has handed out at
 * once wait for the window.
 */
import type { Socket } from "node:net";
import { sayFarewell } from "../shared/farewell.ts";
import { GATEWAY_LIMITS } from "../shared/limits.ts";
import type { RelayLink } from "./relay_link.ts";
import { type StreamEnd, THREAD_WINDOW_BYTES } from "./relay_stream.ts";

/** What a client's end of a stream needs. */
export interface RoutedClientOptions {
  readonly link: Pick<RelayLink, "sendBytes" | "sendEnd" | "sendRead" | "sendClose">;
  readonly number: number;
  readonly socket: Socket;
  /** What has come of the client already. */
  readonly first: Uint8Array;
  onGone(client: RoutedClient): void;
}

/** See the head of the file. */
export class RoutedClient implements StreamEnd {
  readonly #socket: Socket;
  readonly #options: RoutedClientOptions;
  #allowance = THREAD_WINDOW_BYTES;
  /** What the client has sent and the window does not allow yet. */
  #unsent: Uint8Array[] = [];
  #hasEnded = false;
  /** What is on its way to the client, and what has left and was not said. */
  #unwrittenBytes = 0;
  #unsaidBytes = 0;
  /** The other side is done with the stream. */
  #isClosed = false;
  #isGone = false;

  constructor(options: RoutedClientOptions) {
    const { socket, first } = options;
    this.#socket = socket;
    this.#options = options;
    if (first.length > 0) this.#unsent.push(first);
    socket.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose);
  }

  /** Begins, when the link knows the stream. */
  start(): void {
    const socket = this.#socket;
    if (socket.destroyed) return this.#onClose();
    this.#hasEnded = socket.readableEnded;
    this.#pass();
    if (this.#unsent.length === 0) socket.resume();
  }

  /** Whether all that the client is to be sent has left. */
  get isWritten(): boolean {
    return this.#unwrittenBytes === 0;
  }

  // --- what the client sends ---

  readonly #onData = (bytes: Uint8Array): void => {
    if (this.#isClosed) return;
    this.#unsent.push(bytes);
    this.#pass();
    if (this.#unsent.length > 0) this.#socket.pause();
  };

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    this.#pass();
  };

  #pass(): void {
    if (this.#isClosed) return;
    const { link, number } = this.#options;
    for (let first = this.#unsent[0]; first !== undefined; first = this.#unsent[0]) {
      const count = Math.min(first.length, this.#allowance);
      if (count === 0) return;
      this.#allowance -= count;
      void link.sendBytes(number, count === first.length ? first : first.subarray(0, count));
      if (count === first.length) this.#unsent.shift();
      else this.#unsent[0] = first.subarray(count);
    }
    if (this.#hasEnded) void link.sendEnd(number);
  }

  allowed(count: number): void {
    this.#allowance += count;
    if (this.#unsent.length === 0) return;
    this.#pass();
    if (this.#unsent.length === 0) this.#socket.resume();
  }

  // --- what it is sent ---

  received(bytes: Uint8Array): boolean {
    this.#unwrittenBytes += bytes.length;
    if (this.#unwrittenBytes + this.#unsaidBytes > THREAD_WINDOW_BYTES) return false;
    const { length } = bytes;
    this.#socket.write(bytes.slice(), () => this.#wasWritten(length));
    return true;
  }

  #wasWritten(count: number): void {
    this.#unwrittenBytes -= count;
    this.#unsaidBytes += count;
    if (this.#unsaidBytes < THREAD_WINDOW_BYTES / 2 || this.#isClosed) return;
    this.#options.link.sendRead(this.#options.number, this.#unsaidBytes);
    this.#unsaidBytes = 0;
  }

  ended(): void {
    this.#socket.end();
  }

  closed(): void {
    this.#isClosed = true;
    this.#unsent = [];
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), GATEWAY_LIMITS.farewell.totalMilliseconds);
    socket.once("close", () => clearTimeout(timer));
    // The last words first, which a client that reads slowly has not taken yet.
    socket.end(() => sayFarewell(socket));
  }

  lost(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }

  readonly #onClose = (): void => {
    if (this.#isGone) return;
    this.#isGone = true;
    const { link, number, onGone } = this.#options;
    if (!this.#isClosed) link.sendClose(number);
    this.#isClosed = true;
    onGone(this);
  };
}
