/**
 * A TCP proxy between two members, which cuts, slows and delays what passes: one for each pair that dials.
 *
 * A cut direction keeps its bytes back, as a network that loses packets does to a connection that lives; `break` ends
 * the connections that there are. Everything is put right by `heal`.
 */

/** What happens to the bytes of one direction. */
interface Direction {
  isCut: boolean;
  delayMilliseconds: number;
  /** Infinity: not throttled. */
  bytesPerSecond: number;
  /** Resolved, and made anew, when one of these changes. */
  changed: PromiseWithResolvers<void>;
}

/** From the member that dials to the one that is dialed, or back. */
export type ProxyDirection = "there" | "back";

const PIECE_BYTES = 16 * 1024;

function untouched(): Direction {
  return {
    isCut: false,
    delayMilliseconds: 0,
    bytesPerSecond: Infinity,
    changed: Promise.withResolvers<void>(),
  };
}

/** See the head of the file. */
export class FaultProxy implements Disposable {
  readonly #listener: Deno.TcpListener;
  readonly #target: () => number;
  readonly #directions = { there: untouched(), back: untouched() };
  readonly #connections = new Set<Deno.TcpConn>();
  #isClosed = false;

  /** Forwards to the port that `target` answers when a connection comes. */
  constructor(target: () => number) {
    this.#target = target;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    void this.#accept();
  }

  /** Where members dial. */
  get address(): string {
    return `127.0.0.1:${this.#listener.addr.port}`;
  }

  /** Bytes of the direction come no more, until it is healed. */
  cut(direction: ProxyDirection): void {
    this.#change(direction, { isCut: true });
  }

  /** Bytes of both directions come later. */
  delay(milliseconds: number): void {
    for (const direction of ["there", "back"] as const) {
      this.#change(direction, { delayMilliseconds: milliseconds });
    }
  }

  /** Both directions bring only so many bytes in a second. */
  throttle(bytesPerSecond: number): void {
    for (const direction of ["there", "back"] as const) this.#change(direction, { bytesPerSecond });
  }

  /** Ends the connections that there are. */
  break(): void {
    for (const connection of this.#connections) close(connection);
    this.#connections.clear();
  }

  heal(): void {
    for (const direction of ["there", "back"] as const) {
      this.#change(direction, { isCut: false, delayMilliseconds: 0, bytesPerSecond: Infinity });
    }
  }

  #change(name: ProxyDirection, change: Partial<Direction>): void {
    const direction = this.#directions[name];
    Object.assign(direction, change);
    const { changed } = direction;
    direction.changed = Promise.withResolvers();
    changed.resolve();
  }

  async #accept(): Promise<void> {
    try {
      for await (const dialer of this.#listener) void this.#forward(dialer);
    } catch (error) {
      if (!this.#isClosed) throw error;
    }
  }

  async #forward(dialer: Deno.TcpConn): Promise<void> {
    try {
      const dialed = await Deno.connect({ hostname: "127.0.0.1", port: this.#target() });
      for (const connection of [dialer, dialed]) {
        connection.setNoDelay(true);
        this.#connections.add(connection);
      }
      await Promise.race([this.#pump(dialer, dialed, "there"), this.#pump(dialed, dialer, "back")]);
      close(dialed);
      this.#connections.delete(dialed);
    } catch {
      // The member is not there, or its connection was broken.
    }
    close(dialer);
    this.#connections.delete(dialer);
  }

  async #pump(from: Deno.TcpConn, to: Deno.TcpConn, name: ProxyDirection): Promise<void> {
    const piece = new Uint8Array(PIECE_BYTES);
    for (;;) {
      const count = await from.read(piece).catch(() => null);
      if (count === null) return;
      const bytes = piece.slice(0, count);
      const { delayMilliseconds, bytesPerSecond } = this.#directions[name];
      const wait = delayMilliseconds + (bytesPerSecond === Infinity ? 0 : count * 1000 / bytesPerSecond);
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      while (this.#directions[name].isCut) await this.#directions[name].changed.promise;
      for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
    }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#listener.close();
    this.heal();
    this.break();
  }
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
