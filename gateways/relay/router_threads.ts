/**
 * The routers of a server: threads that have the sockets of its clients, so that the thread with the sessions makes no
 * system calls for them. To gateways they are listeners, whose streams are links' through shared memory.
 *
 * A router whose thread ends by an error takes its connections with it, and is started again.
 */
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { ByteRing } from "../../engine/host/byte_ring.ts";
import { startThread, type Thread } from "../../engine/host/deno_threads.ts";
import { Doorbell, ownBell } from "../../engine/host/doorbell.ts";
import { RingConnection } from "../../engine/host/ring_connection.ts";
import type { ByteListener, ByteStream } from "../shared/byte_stream.ts";
import type { ListenerAddress } from "../shared/listen.ts";
import { RelayLink } from "./relay_link.ts";
import { THREAD_WINDOW_BYTES } from "./relay_stream.ts";
import type { HandedToRouter } from "./router.ts";
import type { FromRouter, RoutedListener, RoutedProtocol, TlsCounts, ToRouter } from "./router_words.ts";

const RING_BYTES = 1 << 20;
/** What clients that do not read have to take their last words when the server stops. */
const FINISH_MILLISECONDS = 2_000;
/** A router that fails at once is not started again and again without a pause. */
const RESTART_MILLISECONDS = 1_000;
const NOTHING = new Uint8Array(0);
const NEVER: TlsCounts = { connections: 0, handshakes: 0, failures: 0 };

/** What the routers need. */
export interface RouterThreadsOptions {
  readonly count: number;
  /** The address of the code that a thread runs. */
  readonly source: string;
  /** The certificate in use, PEM; null: clients are not encrypted. */
  readonly certificate: (() => { readonly chain: string; readonly key: string }) | null;
  /** Resolves at the end of the turn of the event loop. */
  endOfTurn(): Promise<void>;
  /** Writes one line for people. */
  log(line: string): void;
}

/** See the head of the file. */
export class RouterThreads {
  readonly #options: RouterThreadsOptions;
  readonly #listeners = new Map<RoutedProtocol, ThreadListener>();
  readonly #routers: RouterThread[] = [];
  readonly #restarts = new Set<ReturnType<typeof setTimeout>>();
  #isClosed = false;

  constructor(options: RouterThreadsOptions) {
    this.#options = options;
    for (let index = 0; index < options.count; index++) this.#routers.push(this.#start(index));
  }

  /** Opens a listener that all routers share. Rejects when the address is in use. */
  async listen(protocol: RoutedProtocol, wanted: ListenerAddress): Promise<ByteListener<ByteStream>> {
    // Whoever shares a port with this server is of this server: nobody else may be there already.
    const probe = Deno.listen({ ...wanted, transport: "tcp" });
    const { hostname, port } = probe.addr;
    probe.close();
    const listener = new ThreadListener({ protocol, address: { hostname, port } }, () => {
      this.#listeners.delete(protocol);
      for (const router of this.#routers) router.say({ kind: "close", protocol });
    });
    this.#listeners.set(protocol, listener);
    try {
      await Promise.all(this.#routers.map((router) => router.listen(listener.routed)));
    } catch (error) {
      listener.close();
      throw error;
    }
    return listener;
  }

  /** How often clients of all of them were encrypted. */
  get tls(): TlsCounts {
    const sum = (of: (counts: TlsCounts) => number) =>
      this.#routers.reduce((total, { tls }) => total + of(tls), 0);
    return {
      connections: sum(({ connections }) => connections),
      handshakes: sum(({ handshakes }) => handshakes),
      failures: sum(({ failures }) => failures),
    };
  }

  /** The certificate was replaced. */
  certificateChanged(): void {
    for (const router of this.#routers) router.tellCertificate();
  }

  /** Ends the threads when clients have what they were sent; gateways are done with their streams. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    await Promise.all(this.#routers.map((router) => router.finish()));
  }

  #start(index: number): RouterThread {
    const { log } = this.#options;
    const router = new RouterThread(`router ${index}`, {
      ...this.#options,
      past: this.#routers[index]?.tls ?? NEVER,
      take: (protocol, stream) => this.#listeners.get(protocol)?.take(stream) ?? false,
      onFailed: (message) => {
        if (this.#isClosed) return;
        log(`router ${index} has ended, and its connections with it: ${message}; it is started again`);
        const timer = setTimeout(() => {
          this.#restarts.delete(timer);
          this.#restart(index);
        }, RESTART_MILLISECONDS);
        this.#restarts.add(timer);
      },
    });
    return router;
  }

  #restart(index: number): void {
    const router = this.#routers[index] = this.#start(index);
    for (const { routed } of this.#listeners.values()) {
      router.listen(routed).catch((error) => {
        this.#options.log(`router ${index} cannot listen: ${String(error.message)}`);
      });
    }
  }
}

interface RouterThreadOptions extends RouterThreadsOptions {
  /** What the handshakes of the thread before it have come to. */
  readonly past: TlsCounts;
  /** A client has come; false: nobody takes it any more. */
  take(protocol: RoutedProtocol, stream: ByteStream): boolean;
  onFailed(message: string): void;
}

/** One of them, as this thread sees it. */
class RouterThread {
  readonly #thread: Thread;
  readonly #connection: RingConnection;
  readonly #link: RelayLink;
  readonly #options: RouterThreadOptions;
  /** Who waits for a listener. */
  readonly #opening = new Map<RoutedProtocol, PromiseWithResolvers<void>>();
  readonly #finished = Promise.withResolvers<void>();
  #hasEnded = false;
  /** What its clients' handshakes have come to. */
  tls: TlsCounts;

  constructor(name: string, options: RouterThreadOptions) {
    this.#options = options;
    this.tls = { ...options.past, connections: 0 };
    const rings = { toMain: ByteRing.memory(RING_BYTES), toRouter: ByteRing.memory(RING_BYTES) };
    const routerBell = new Doorbell();
    this.#connection = new RingConnection({
      writes: rings.toRouter,
      reads: rings.toMain,
      bell: ownBell,
      otherBell: routerBell,
    });
    this.#link = new RelayLink(this.#connection, NOTHING, {
      endOfTurn: () => options.endOfTurn(),
      gatewayOf: ({ protocol, encryption, endPoint }) => (stream) => {
        const secured = encryption === null ? null : { encryption, endPoint };
        if (protocol === "http" || !options.take(protocol, Object.assign(stream, { secured }))) {
          stream.close();
        }
      },
      windowBytes: THREAD_WINDOW_BYTES,
      onWords: (words) => this.#heard(words as FromRouter),
      onViolation: (why) => this.#fail(why),
    });
    const handed: HandedToRouter = { rings, bells: { main: ownBell.memory, router: routerBell.memory } };
    this.#thread = startThread(options.source, name, handed);
    this.#thread.onError = (message) => this.#fail(message);
    void this.#link.run().then(() => this.#fail("its link is broken"));
    this.tellCertificate();
  }

  say(words: ToRouter): void {
    this.#link.say(words);
  }

  listen(listener: RoutedListener): Promise<void> {
    const opening = Promise.withResolvers<void>();
    this.#opening.set(listener.protocol, opening);
    this.say({ kind: "listen", listener });
    return opening.promise;
  }

  /** Lets clients take what they were sent, and ends the thread. */
  async finish(): Promise<void> {
    this.say({ kind: "finish" });
    const timer = setTimeout(() => this.#finished.resolve(), FINISH_MILLISECONDS);
    await this.#finished.promise;
    clearTimeout(timer);
    this.#end();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#finished.resolve();
    this.#link.close();
    this.#thread.stop();
  }

  #fail(message: string): void {
    if (this.#hasEnded) return;
    this.#end();
    for (const opening of this.#opening.values()) {
      opening.reject(new DatabaseError(SQLSTATE.internalError, `a router has ended: ${message}`));
    }
    this.#options.onFailed(message);
  }

  /** For the handshakes from now on. */
  tellCertificate(): void {
    const { certificate } = this.#options;
    if (certificate === null) return;
    const { chain, key } = certificate();
    this.say({ kind: "certificate", chain, key });
  }

  #heard(words: FromRouter): void {
    if (words.kind === "finished") return this.#finished.resolve();
    if (words.kind === "tls") {
      const { connections, handshakes, failures } = words.counts;
      const { past } = this.#options;
      this.tls = {
        connections,
        handshakes: past.handshakes + handshakes,
        failures: past.failures + failures,
      };
      return;
    }
    const opening = this.#opening.get(words.protocol);
    this.#opening.delete(words.protocol);
    if (words.kind === "listening") opening?.resolve();
    else opening?.reject(Object.assign(new Error(words.message), { code: words.code }));
  }
}

/** Where a gateway accepts the clients that come to all routers. */
class ThreadListener implements ByteListener<ByteStream> {
  readonly routed: RoutedListener;
  readonly addr: Deno.NetAddr;
  readonly #onClose: () => void;
  readonly #come: ByteStream[] = [];
  #acceptor: PromiseWithResolvers<ByteStream> | null = null;
  #isClosed = false;

  constructor(routed: RoutedListener, onClose: () => void) {
    this.routed = routed;
    this.addr = { transport: "tcp", ...routed.address };
    this.#onClose = onClose;
  }

  accept(): Promise<ByteStream> {
    if (this.#isClosed) return Promise.reject(closed());
    const stream = this.#come.shift();
    if (stream !== undefined) return Promise.resolve(stream);
    this.#acceptor = Promise.withResolvers();
    return this.#acceptor.promise;
  }

  take(stream: ByteStream): boolean {
    if (this.#isClosed) return false;
    const acceptor = this.#acceptor;
    this.#acceptor = null;
    if (acceptor === null) this.#come.push(stream);
    else acceptor.resolve(stream);
    return true;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    for (const stream of this.#come.splice(0)) stream.close();
    this.#acceptor?.reject(closed());
  }
}

function closed(): Error {
  return new Deno.errors.BadResource("the listener is closed");
}
