/**
 * Byte streams between hosts of a simulation: bytes come in order, late, not at all while a direction is cut, and a
 * connection breaks when one of its processes ends.
 *
 * A process that is killed is noticed soon, for its system goes on; a machine without power is noticed when it is
 * there again and knows nothing of the connection.
 */
import type { Socket } from "node:net";
import { ByteQueue } from "../../../gateways/shared/byte_queue.ts";
import type { ByteStream } from "../../../gateways/shared/byte_stream.ts";
import { socketOver } from "../../../gateways/shared/stream_socket.ts";

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
export type StreamListener = (stream: ByteStream) => void;

const RETRY_MICROSECONDS = 50_000;
/** Bytes on their way beyond which a writer waits. */
const WINDOW_BYTES = 256 * 1024;

type Item = Uint8Array | "end" | "close" | "reset";

/** See the head of the file. */
export class StreamNetwork {
  readonly surroundings: StreamSurroundings;
  readonly #listeners = new Map<string, StreamListener>();
  readonly #streams = new Set<SimulatedStream>();

  constructor(surroundings: StreamSurroundings) {
    this.surroundings = surroundings;
  }

  /** Takes connections to a port of a host until its process ends. */
  listen(host: number, port: number, listener: StreamListener): void {
    this.#listeners.set(`${host}:${port}`, listener);
  }

  /** Begins to connect. As with `node:net`, a socket ends its direction with the other's unless it is half-open. */
  connect(
    from: number,
    to: number,
    port: number,
    options: { readonly allowHalfOpen: boolean } = { allowHalfOpen: false },
  ): Socket {
    return socketOver(this.#open(from, to, port), options);
  }

  #open(from: number, to: number, port: number): Promise<ByteStream> {
    const { surroundings } = this;
    const { promise, resolve, reject } = Promise.withResolvers<ByteStream>();
    const near = this.#add(from, surroundings.process(from) ?? {});
    const reach = (): void => {
      if (near.isDead) return;
      if (surroundings.isCut(from, to) || surroundings.isCut(to, from)) {
        surroundings.after(RETRY_MICROSECONDS, reach);
        return;
      }
      const listener = this.#listeners.get(`${to}:${port}`);
      const there = surroundings.process(to);
      if (there === null || listener === undefined) {
        near.onOwnHost(() => reject(socketError("ECONNREFUSED")));
        return;
      }
      surroundings.onHost(to, there, () => {
        if (near.isDead) return;
        const far = this.#add(to, there);
        near.peer = far;
        far.peer = near;
        near.onOwnHost(() => resolve(near));
        listener(far);
      });
    };
    surroundings.after(surroundings.delay(), reach);
    return promise;
  }

  #add(host: number, process: object): SimulatedStream {
    const stream = new SimulatedStream(this, host, process);
    this.#streams.add(stream);
    return stream;
  }

  /** A process has ended: its streams say nothing any more, and their peers notice, at once or after a time. */
  processEnded(host: number, process: object, noticedAfter: number): void {
    for (const key of [...this.#listeners.keys()]) {
      if (key.startsWith(`${host}:`)) this.#listeners.delete(key);
    }
    for (const stream of [...this.#streams]) {
      if (stream.process !== process) continue;
      stream.isDead = true;
      this.#streams.delete(stream);
      const { peer } = stream;
      if (peer !== null) this.surroundings.after(noticedAfter, () => peer.receive("reset"));
    }
  }

  forget(stream: SimulatedStream): void {
    this.#streams.delete(stream);
  }
}

const ERRORS = {
  ECONNREFUSED: Deno.errors.ConnectionRefused,
  ECONNRESET: Deno.errors.ConnectionReset,
  EPIPE: Deno.errors.BrokenPipe,
} as const;

/** An error as streams of Deno have it, with the code that sockets of `node:net` have. */
function socketError(code: keyof typeof ERRORS): Error {
  return Object.assign(new ERRORS[code](code), { code });
}

/** One end of a connection. */
class SimulatedStream implements ByteStream {
  readonly host: number;
  readonly process: object;
  peer: SimulatedStream | null = null;
  /** Its process has ended. */
  isDead = false;
  readonly #network: StreamNetwork;
  readonly #unread = new ByteQueue(() => {});
  /** What this end has sent and the other has not got. */
  #onTheWay: Item[] = [];
  #bytesOnTheWay = 0;
  #isCarrying = false;
  #writer: (() => void) | null = null;
  /** The other end has closed: what is written now breaks the connection. */
  #isPeerGone = false;
  #isClosed = false;

  constructor(network: StreamNetwork, host: number, process: object) {
    this.#network = network;
    this.host = host;
    this.process = process;
  }

  read(target: Uint8Array): Promise<number | null> {
    return this.#unread.read(target);
  }

  write(bytes: Uint8Array): Promise<number> {
    if (this.#isPeerGone) return Promise.reject(socketError("EPIPE"));
    this.#bytesOnTheWay += bytes.length;
    this.#send(new Uint8Array(bytes));
    if (this.#bytesOnTheWay < WINDOW_BYTES) return Promise.resolve(bytes.length);
    return new Promise((resolve) => this.#writer = () => resolve(bytes.length));
  }

  closeWrite(): Promise<void> {
    this.#send("end");
    return Promise.resolve();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isPeerGone) this.#send("close");
    this.#unread.end(new Deno.errors.Interrupted("the stream is closed"));
    this.#network.forget(this);
  }

  /** Runs on this end's host, while its process lives. */
  onOwnHost(run: () => void): void {
    if (this.isDead) return;
    this.#network.surroundings.onHost(this.host, this.process, () => {
      if (!this.isDead) run();
    });
  }

  #send(item: Item): void {
    // What an ended process still wants to say is not said.
    if (this.isDead || this.#network.surroundings.process(this.host) !== this.process) return;
    this.#onTheWay.push(item);
    this.#carry();
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
    if (this.isDead || this.#isClosed) return;
    if (item === "reset") {
      this.#isPeerGone = true;
      this.onOwnHost(() => this.#unread.end(socketError("ECONNRESET")));
    } else if (typeof item === "string") {
      if (item === "close") this.#isPeerGone = true;
      this.#unread.end();
    } else this.#unread.push(item);
  }
}
