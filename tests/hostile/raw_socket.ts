/** A TCP client that says what a test wants, as fast as the server takes it, and perhaps never listens. */
import { connect, type Socket } from "node:net";

const encoder = new TextEncoder();

/** A TCP client that says what a test wants, as fast as the server takes it, and perhaps never listens. */
export class RawSocket implements Disposable {
  readonly #socket: Socket;
  readonly #closed: Promise<void>;
  readonly #waiting = new Set<(isSent: boolean) => void>();
  #text = "";
  #isListening = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {});
    socket.once("close", () => {
      for (const done of this.#waiting) done(false);
    });
  }

  static open(port: number): Promise<RawSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port, noDelay: true }, () => {
        socket.removeListener("error", reject);
        resolve(new RawSocket(socket));
      });
      socket.once("error", reject);
    });
  }

  /** Everything received so far, as Latin-1. */
  get text(): string {
    return this.#text;
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** Begins to listen. */
  listen(): this {
    if (this.#isListening) return this;
    this.#isListening = true;
    // One character for each byte: what `TextDecoder` calls Latin-1 is another table.
    this.#socket.on("data", (data: Uint8Array) => {
      for (const byte of data) this.#text += String.fromCharCode(byte);
    });
    return this;
  }

  /**
   * Resolves when the system has taken the bytes; false when the server has closed instead or takes none for a while.
   */
  send(bytes: Uint8Array | string, patienceMilliseconds = 1000): Promise<boolean> {
    if (this.#socket.destroyed || !this.#socket.writable) return Promise.resolve(false);
    return new Promise((resolve) => {
      const done = (isSent: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve(isSent);
      };
      const timer = setTimeout(() => done(false), patienceMilliseconds);
      this.#waiting.add(done);
      this.#socket.write(
        typeof bytes === "string" ? encoder.encode(bytes) : bytes,
        (error?: Error | null) => done(error === undefined || error === null),
      );
    });
  }

  /** All that the server says until it closes. */
  async rest(): Promise<string> {
    this.listen();
    await this.#closed;
    return this.#text;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
