/** A client that says exactly what a test wants, over a real socket. */
import { concat, messagesOf, type ServerMessage, startup } from "../../../gateways/pg/testing/wire.ts";

/** A client that says exactly what a test wants, over a real socket. */
export class RawClient implements Disposable {
  #connection: Deno.Conn;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #isClosed = false;

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  static async connect(port: number): Promise<RawClient> {
    return new RawClient(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** Connects and starts a session without a password. */
  static async start(port: number): Promise<RawClient> {
    const client = await RawClient.connect(port);
    await client.send(startup({ user: "test" }));
    await client.until("Z");
    return client;
  }

  async send(...bytes: readonly Uint8Array[]): Promise<void> {
    const all = concat(...bytes);
    for (let at = 0; at < all.length;) at += await this.#connection.write(all.subarray(at));
  }

  /** Reads messages up to one of the types, or to the end of the stream. */
  async until(...types: readonly string[]): Promise<ServerMessage[]> {
    for (;;) {
      const whole = wholeMessages(this.#buffer, types);
      if (whole !== null) {
        const messages = messagesOf(this.#buffer.subarray(0, whole));
        this.#buffer = this.#buffer.slice(whole);
        return messages;
      }
      if (!await this.#more()) {
        const messages = messagesOf(this.#buffer);
        this.#buffer = new Uint8Array(0);
        return messages;
      }
    }
  }

  /** Shakes hands as a client of TLS, on a connection without unread bytes. */
  async startTls(options: Deno.StartTlsOptions): Promise<void> {
    const secured = await Deno.startTls(this.#connection as Deno.TcpConn, options);
    this.#connection = secured;
    await secured.handshake();
  }

  /** One byte that is no message: the answer to a request for encryption. */
  async byte(): Promise<number | undefined> {
    while (this.#buffer.length === 0 && await this.#more());
    const [first] = this.#buffer;
    this.#buffer = this.#buffer.slice(1);
    return first;
  }

  /** Everything up to the end of the stream. */
  async rest(): Promise<Uint8Array> {
    while (await this.#more());
    return this.#buffer;
  }

  /** Says that nothing more will be sent. */
  async finish(): Promise<void> {
    await this.#connection.closeWrite();
  }

  [Symbol.dispose](): void {
    if (!this.#isClosed) this.#connection.close();
    this.#isClosed = true;
  }

  async #more(): Promise<boolean> {
    const piece = new Uint8Array(65_536);
    let count: number | null;
    try {
      count = await this.#connection.read(piece);
    } catch (error) {
      if (
        error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe ||
        error instanceof Deno.errors.UnexpectedEof
      ) return false;
      throw error;
    }
    if (count === null) return false;
    const grown = new Uint8Array(this.#buffer.length + count);
    grown.set(this.#buffer);
    grown.set(piece.subarray(0, count), this.#buffer.length);
    this.#buffer = grown;
    return true;
  }
}

/** The size of the messages up to the first of one of the types; null when it is not there yet. */
function wholeMessages(bytes: Uint8Array, types: readonly string[]): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 5 <= bytes.length;) {
    const next = at + 1 + view.getInt32(at + 1);
    if (next > bytes.length) return null;
    if (types.includes(String.fromCharCode(bytes[at] as number))) return next;
    at = next;
  }
  return null;
}
