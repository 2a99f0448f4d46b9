/**
 * The requests of one connection that are on their way: they are carried out one after the other, in the order in
 * which they came, and others get their turn in between. A client that sends more than a few ahead is not read until
 * they are answered, for each of them takes memory, and counts among those that all clients together may have.
 *
 * Limit: what came in one piece with the last request that is wanted has been parsed by then, so that some hundreds
 * of small requests may wait. `node:http` feeds its parser from the connection's handle, past the socket: pausing the
 * socket would not stop it (seen in Deno 2.9.6), so the handle is stopped as well where there is one.
 */
import type { Socket } from "node:net";
import { LIMITS } from "../../engine/base/limits.ts";

/**
 * The requests of one connection that are on their way: they are carried out one after the other, in the order in
 * which they came, and others get their turn in between.
 */
export class Pipeline {
  readonly #socket: Socket;
  readonly #yieldToLoop: () => Promise<void>;
  #waiting = 0;
  #last: Promise<void> | null = null;
  #isHeld = false;

  constructor(socket: Socket, yieldToLoop: () => Promise<void>) {
    this.#socket = socket;
    this.#yieldToLoop = yieldToLoop;
  }

  /** Resolves when all that has come is answered; null when it is already. */
  get settled(): Promise<void> | null {
    return this.#last;
  }

  /** Waits for a request's turn; answers how to end it. */
  async turn(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#waiting++;
    this.#hold();
    if (before !== null) {
      await before;
      await this.#yieldToLoop();
    }
    return () => {
      this.#waiting--;
      if (this.#last === promise) this.#last = null;
      this.#release();
      resolve();
    };
  }

  #hold(): void {
    if (this.#isHeld || this.#waiting <= LIMITS.httpPipelinedRequests) return;
    this.#isHeld = true;
    this.#socket.pause();
    stopReading(this.#socket, true);
  }

  #release(): void {
    if (!this.#isHeld || this.#waiting > LIMITS.httpPipelinedRequests / 2) return;
    this.#isHeld = false;
    stopReading(this.#socket, false);
    this.#socket.resume();
  }
}

/**
 * Stops the flow of bytes, or lets it go on. While it is stopped, whatever else would begin it (reading a body does)
 * changes nothing.
 */
function stopReading(socket: Socket, isStopped: boolean): void {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (typeof handle !== "object" || handle === null || socket.destroyed) return;
  if (isStopped) {
    call(handle, "readStop");
    Reflect.set(handle, "readStart", () => 0);
  } else {
    Reflect.deleteProperty(handle, "readStart");
    call(handle, "readStart");
  }
}

function call(handle: object, method: string): void {
  const found: unknown = Reflect.get(handle, method);
  if (typeof found === "function") Reflect.apply(found, handle, []);
}
