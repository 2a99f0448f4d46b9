/**
 * Turns of the event loop in which the network is looked at.
 *
 * The platform's scheduler looks at sockets only when it has nothing else to do, or at every 61st task. A task that
 * yields with `setImmediate` is always there again, so that between two looks it runs for 61 slices; so does one that
 * waits for another thread, whenever that is quick; with `setTimeout` it gives a millisecond away each time. Here it
 * waits for a byte that it sends to itself over a loopback connection: the scheduler must look at the network to
 * bring it, which takes some 20 microseconds. Where the network is not permitted there are no clients to be kept
 * waiting, and `setImmediate` does.
 */

/** Turns of the event loop in which the network is looked at. */
export class LoopTurns {
  #waiting: (() => void)[] = [];
  #connection: Loopback | null = null;
  #turning: Promise<void> | null = null;
  /** No connection is opened: this is being closed, or it cannot be done here. */
  #isWithout = false;

  /** Resolves after everything that was ready in the event loop, network included, has had its turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#turning ??= this.#turn();
    });
  }

  /** Releases the connection; later turns do without. */
  async close(): Promise<void> {
    this.#isWithout = true;
    await this.#turning;
    this.#connection?.close();
    this.#connection = null;
  }

  async #turn(): Promise<void> {
    while (this.#waiting.length > 0) {
      const due = this.#waiting;
      this.#waiting = [];
      await this.#pass();
      for (const resolve of due) resolve();
    }
    // At once, for who was resolved just now may come again before a promise of this function's end could say so.
    this.#turning = null;
  }

  async #pass(): Promise<void> {
    if (this.#connection === null && !this.#isWithout) {
      this.#connection = mayUseLoopback() ? await Loopback.open() : null;
      this.#isWithout = this.#connection === null;
    }
    if (this.#connection === null) await new Promise((resolve) => setImmediate(resolve));
    else await this.#connection.roundTrip();
  }
}

function mayUseLoopback(): boolean {
  return Deno.permissions.querySync({ name: "net", host: "127.0.0.1" }).state === "granted";
}

/** Both ends of a connection. */
class Loopback {
  readonly #from: Deno.TcpConn;
  readonly #to: Deno.TcpConn;
  readonly #byte = new Uint8Array(1);

  private constructor(from: Deno.TcpConn, to: Deno.TcpConn) {
    this.#from = from;
    this.#to = to;
  }

  /** Null: it cannot be had. */
  static async open(): Promise<Loopback | null> {
    try {
      using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const accepted = listener.accept();
      const from = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
      const loopback = new Loopback(from, await accepted);
      if (loopback.#isOwn()) return loopback;
      loopback.close();
      return null;
    } catch (_error) {
      // No loopback interface, or no file descriptor left: turns are then less fair, which is no reason to fail.
      return null;
    }
  }

  /** Whether no other connection has come to the listener first. */
  #isOwn(): boolean {
    const { remoteAddr } = this.#to;
    const { localAddr } = this.#from;
    return remoteAddr.transport === "tcp" && localAddr.transport === "tcp" &&
      remoteAddr.port === localAddr.port;
  }

  /** Sends a byte and takes it. It is asked for first, so that it cannot be there without a look at the network. */
  async roundTrip(): Promise<void> {
    const arrival = this.#to.read(this.#byte);
    await this.#from.write(this.#byte);
    await arrival;
  }

  close(): void {
    this.#from.close();
    this.#to.close();
  }
}
