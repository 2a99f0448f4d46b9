/**
 * Byte streams between hosts of a simulation, as sockets of `node:net` look to those that use them: bytes come in
 * order, late, not at all while a direction is cut, and a connection breaks when one of its processes ends.
 *
 * A process that is killed is noticed soon, for its system goes on; a machine without power is noticed when it is
 * there again and knows nothing of the connection.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** Clients are on machines of their own. */
export const CLIENT_HOST = -1;

/** What streams need of their world. */
export interface StreamSurroundings {
  /** Runs later, whatever becomes of hosts. */
  after(microseconds: number, run: () => void): void;
  /** Runs as soon as the host is not held up; never when its process has ended. */
  onHost(host: number, process: object, run: () => void): void;
  /** Microseconds on the way from one host to another. */
  delay(): number;
  isCut(from: number, to: number): boolean;
  /** The process that runs on a host now; null: none. */
  process(host: number): object | null;
}

/** Takes a connection that has come. */
export type SocketListener = (socket: Socket) => void;

const RETRY_MICROSECONDS = 50_000;
/** Bytes on their way beyond which a writer waits. */
const WINDOW_BYTES = 256 * 1024;

type Item = Uint8Array | "end" | "close" | "reset";

/** See the head of the file. */
export class StreamNetwork {
  readonly surroundings: StreamSurroundings;
  readonly #listeners = new Map<string, SocketListener>();
  readonly #sockets = new Set<SimulatedSocket>();

  constructor(surroundings: StreamSurroundings) {
    this.surroundings = surroundings;
  }

  /** Takes connections to a port of a host until its process ends. */
  listen(host: number, port: number, listener: SocketListener): void {
    this.#listeners.set(`${host}:${port}`, listener);
  }

  /** Begins to connect. As with `node:net`, a socket ends its direction with the other's unless it is half-open. */
  connect(
    from: number,
    to: number,
    port: number,
    options: { readonly allowHalfOpen: boolean } = { allowHalfOpen: false },
  ): Socket {
    const { surroundings } = this;
    const process = surroundings.process(from);
    const near = new SimulatedSocket(this, from, process ?? {}, options);
    this.#sockets.add(near);
    near.connecting = true;
    const reach = (): void => {
      if (near.destroyed || near.isDead) return;
      if (surroundings.isCut(from, to) || surroundings.isCut(to, from)) {
        surroundings.after(RETRY_MICROSECONDS, reach);
        return;
      }
      const listener = this.#listeners.get(`${to}:${port}`);
      const there = surroundings.process(to);
      if (there === null || listener === undefined) {
        near.onOwnHost(() => near.destroy(socketError("ECONNREFUSED")));
        return;
      }
      surroundings.onHost(to, there, () => {
        if (near.destroyed || near.isDead) return;
        const far = new SimulatedSocket(this, to, there, { allowHalfOpen: true });
        this.#sockets.add(far);
        near.peer = far;
        far.peer = near;
        near.onOwnHost(() => {
          near.connecting = false;
          near.emit("connect");
          near.flushHeld();
        });
        listener(far as unknown as Socket);
      });
    };
    surroundings.after(surroundings.delay(), reach);
    return near as unknown as Socket;
  }

  /** A process has ended: its sockets say nothing any more, and their peers notice, at once or after a time. */
  processEnded(host: number, process: object, noticedAfter: number): void {
    for (const key of [...this.#listeners.keys()]) {
      if (key.startsWith(`${host}:`)) this.#listeners.delete(key);
    }
    for (const socket of [...this.#sockets]) {
      if (socket.process !== process) continue;
      socket.isDead = true;
      this.#sockets.delete(socket);
      const { peer } = socket;
      if (peer !== null) this.surroundings.after(noticedAfter, () => peer.receive("reset"));
    }
  }

  forget(socket: SimulatedSocket): void {
    this.#sockets.delete(socket);
  }
}

function socketError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** One end of a connection. */
export class SimulatedSocket extends Duplex {
  readonly host: number;
  readonly process: object;
  readonly remoteAddress = "10.0.0.1";
  readonly remotePort = 1;
  peer: SimulatedSocket | null = null;
  connecting = false;
  /** Its process has ended. */
  isDead = false;
  readonly #network: StreamNetwork;
  /** What this end has sent and the other has not got. */
  #onTheWay: Item[] = [];
  #bytesOnTheWay = 0;
  #isCarrying = false;
  #writer: (() => void) | null = null;
  /** The other end has closed: what is written now breaks the connection. */
  #isPeerGone = false;
  #hasEnded = false;

  constructor(
    network: StreamNetwork,
    host: number,
    process: object,
    options: { readonly allowHalfOpen: boolean },
  ) {
    super(options);
    this.#network = network;
    this.host = host;
    this.process = process;
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

  /** Drivers call it on a socket that they are given. */
  connect(): this {
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  override _read(): void {
    // Bytes are pushed as they come.
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.#isPeerGone) return done(socketError("EPIPE"));
    this.#bytesOnTheWay += chunk.length;
    this.#send(new Uint8Array(chunk));
    if (this.#bytesOnTheWay < WINDOW_BYTES) done();
    else this.#writer = done;
  }

  override _final(done: () => void): void {
    this.#send("end");
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isPeerGone) this.#send("close");
    this.#network.forget(this);
    done(error);
  }

  /** Runs on this end's host, while its process lives. */
  onOwnHost(run: () => void): void {
    if (this.isDead) return;
    this.#network.surroundings.onHost(this.host, this.process, () => {
      if (!this.isDead) run();
    });
  }

  /** The connection is there: sends what was written before. */
  flushHeld(): void {
    if (this.#onTheWay.length > 0) this.#carry();
  }

  #send(item: Item): void {
    // What an ended process still wants to say is not said.
    if (this.isDead || this.#network.surroundings.process(this.host) !== this.process) return;
    this.#onTheWay.push(item);
    if (this.peer !== null && !this.connecting) this.#carry();
  }

  #carry(): void {
    if (this.#isCarrying) return;
    this.#isCarrying = true;
    const { surroundings } = this.#network;
    const arrive = (): void => {
      const { peer } = this;
      if (peer === null || peer.isDead) return;
      if (surroundings.isCut(this.host, peer.host)) {
        surroundings.after(RETRY_MICROSECONDS, arrive);
        return;
      }
      this.#isCarrying = false;
      const items = this.#onTheWay;
      this.#onTheWay = [];
      this.#bytesOnTheWay = 0;
      peer.onOwnHost(() => {
        for (const item of items) peer.receive(item);
      });
      const writer = this.#writer;
      this.#writer = null;
      if (writer !== null) this.onOwnHost(writer);
    };
    surroundings.after(surroundings.delay(), arrive);
  }

  /** Something has come from the other end. */
  receive(item: Item): void {
    if (this.isDead || this.destroyed) return;
    if (item === "reset") {
      this.#isPeerGone = true;
      this.onOwnHost(() => this.destroy(socketError("ECONNRESET")));
    } else if (typeof item === "string") {
      if (item === "close") this.#isPeerGone = true;
      if (!this.#hasEnded) this.push(null);
      this.#hasEnded = true;
    } else this.push(item);
  }
}
