/**
 * A router's thread: listens at the ports that it hears of, which other routers share, has the sockets of the clients
 * that come there, and passes what they say on a link through shared memory to the thread that has the sessions.
 *
 * Limit: as many connections as the process may have files; how many sessions there may be the gateways say.
 */
import { createServer, type Server, type Socket } from "node:net";
import { Doorbell } from "../../engine/host/doorbell.ts";
import { RingConnection } from "../../engine/host/ring_connection.ts";
import type { TlsServer } from "../shared/byte_stream.ts";
import { listen } from "../shared/listen.ts";
import { negotiate, type Negotiated } from "./negotiation.ts";
import { RelayLink } from "./relay_link.ts";
import { THREAD_WINDOW_BYTES } from "./relay_stream.ts";
import { RoutedClient } from "./routed_client.ts";
import type { FromRouter, RoutedListener, RoutedProtocol, TlsCounts, ToRouter } from "./router_words.ts";

/** What a router's thread is handed when it starts. */
export interface HandedToRouter {
  readonly rings: { readonly toMain: SharedArrayBuffer; readonly toRouter: SharedArrayBuffer };
  readonly bells: { readonly main: SharedArrayBuffer; readonly router: SharedArrayBuffer };
}

/** TLS in a router's thread. */
export interface RouterTls {
  readonly server: TlsServer & TlsCounts;
  /** From now on it has this certificate, PEM. */
  use(chain: string, key: string): void;
}

/** Loads TLS, which is not needed without a certificate. */
export type LoadTls = () => Promise<RouterTls>;

/** How long clients that have everything may take to close their side, and how often that is looked at. */
const CLOSE_MILLISECONDS = 100, CLOSE_POLL_MILLISECONDS = 5;
const NOTHING = new Uint8Array(0);

/** Runs in the thread, until it is ended from outside. */
export function runRouter({ rings, bells }: HandedToRouter, loadTls: LoadTls): void {
  const bell = new Doorbell(bells.router);
  const connection = new RingConnection({
    writes: rings.toMain,
    reads: rings.toRouter,
    bell,
    otherBell: new Doorbell(bells.main),
  });
  new Router(connection, loadTls);
}

/** See the head of the file. */
class Router {
  readonly #link: RelayLink;
  readonly #loadTls: LoadTls;
  readonly #listeners = new Map<RoutedProtocol, Server>();
  readonly #clients = new Set<RoutedClient>();
  /** null: clients are not encrypted. */
  #tls: Promise<RouterTls> | null = null;
  /** What was said of it. */
  #counted = "0 0 0";

  constructor(connection: RingConnection, loadTls: LoadTls) {
    this.#loadTls = loadTls;
    this.#link = new RelayLink(connection, NOTHING, {
      endOfTurn: () => new Promise((resolve) => setImmediate(resolve)),
      gatewayOf: () => null,
      windowBytes: THREAD_WINDOW_BYTES,
      onWords: (words) => this.#told(words as ToRouter),
      onViolation: (why) => {
        throw new Error(`the link between threads is broken: ${why}`);
      },
    });
    void this.#link.run();
  }

  #say(words: FromRouter): void {
    this.#link.say(words);
  }

  #told(words: ToRouter): void {
    switch (words.kind) {
      case "listen":
        return void this.#listen(words.listener);
      case "close":
        return void this.#listeners.get(words.protocol)?.close();
      case "certificate":
        return this.#certify(words.chain, words.key);
      case "finish":
        return void this.#finish();
    }
  }

  async #listen({ protocol, address }: RoutedListener): Promise<void> {
    const server = createServer(
      { noDelay: true, keepAlive: true, allowHalfOpen: true },
      (socket) => void this.#take(socket, protocol),
    );
    this.#listeners.set(protocol, server);
    try {
      await listen(server, address, { reusePort: true });
      this.#say({ kind: "listening", protocol });
    } catch (error) {
      const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
      this.#say({ kind: "refused", protocol, code: String(code), message: String(message) });
    }
  }

  #certify(chain: string, key: string): void {
    this.#tls = (this.#tls ?? this.#loadTls()).then((tls) => {
      tls.use(chain, key);
      return tls;
    });
  }

  async #take(socket: Socket, protocol: RoutedProtocol): Promise<void> {
    // Whatever is wrong with the socket, `close` follows.
    socket.on("error", () => {});
    const tls = this.#tls;
    if (tls === null) return this.#open({ socket, secured: null, first: NOTHING }, protocol);
    const { server } = await tls;
    const negotiated = await negotiate(socket, protocol, server);
    this.#count(server);
    if (negotiated === null) return;
    this.#open(negotiated, protocol);
    if (negotiated.secured !== null) negotiated.socket.once("close", () => this.#count(server));
  }

  #open({ socket, secured, first }: Negotiated, protocol: RoutedProtocol): void {
    const link = this.#link;
    const stream = { protocol, encryption: secured?.encryption ?? null, endPoint: secured?.endPoint ?? null };
    const onGone = (gone: RoutedClient) => void this.#clients.delete(gone);
    const client = link.openAs(
      stream,
      (number) => new RoutedClient({ link, number, socket, first, onGone }),
    );
    this.#clients.add(client);
    client.start();
  }

  #count({ connections, handshakes, failures }: TlsCounts): void {
    const text = `${connections} ${handshakes} ${failures}`;
    if (text === this.#counted) return;
    this.#counted = text;
    this.#say({ kind: "tls", counts: { connections, handshakes, failures } });
  }

  /** Clients that close their side at once have read everything. */
  async #finish(): Promise<void> {
    const clients = () => [...this.#clients];
    while (clients().some((client) => !client.isWritten)) await pause(CLOSE_POLL_MILLISECONDS);
    const end = performance.now() + CLOSE_MILLISECONDS;
    while (this.#clients.size > 0 && performance.now() < end) await pause(CLOSE_POLL_MILLISECONDS);
    this.#say({ kind: "finished" });
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
