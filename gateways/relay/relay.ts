/**
 * The way of a member's clients to the primary: a stream of their bytes to its member port, which hands it to the
 * gateway of their protocol there.
 *
 * Login is between client and primary; TLS ends here, and the primary learns of it from the first frame. When the
 * primary changes, streams to the former one end: it may be cut off, and would say nothing for ever.
 */
import { connect, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { NetworkAddress, PeerCertificate } from "../../engine/host/network.ts";
import { placeOf } from "../../engine/replication/peer_connections.ts";
import type { PeerHello } from "../../engine/replication/peer_hello.ts";
import type { ByteStream } from "../shared/byte_stream.ts";
import { writeAll } from "../shared/join_streams.ts";
import type { PeerSecurity } from "../shared/peer_security.ts";
import { decodeRelayHello, encodeRelayHello } from "../shared/relay_hello.ts";
import { SocketStream } from "../shared/socket_stream.ts";
import {
  noPrimary,
  type RelayedClient,
  type RelayedProtocol,
  type RelayedStream,
  type RelayPort,
} from "../shared/relay_port.ts";

const CONNECT_MILLISECONDS = 2_000;
/** What a former primary has to tell its clients what became of their requests. */
const LAST_WORDS_MILLISECONDS = 150;

/** Where the primary is: this member, which serves; another, by its index; or nobody knows. */
export type RelayTarget = "here" | { readonly index: number } | null;

/** How other members are reached. */
export interface Dialer {
  /** Begins to connect; `node:http` needs such a socket. */
  connect(address: NetworkAddress): Socket;
  /** Resolves with a stream when it is connected. */
  open(address: NetworkAddress): Promise<ByteStream>;
}

/** Reaches members that speak TLS. */
export function securedDialer(security: PeerSecurity): Dialer {
  return {
    connect: (address) => security.dial(address),
    open: (address) =>
      new Promise((resolve, reject) => {
        const socket = security.dial(address);
        socket.once("secureConnect", () => resolve(new SocketStream(socket)));
        socket.on("error", reject);
        socket.once("close", () => reject(noPrimary()));
      }),
  };
}

const TCP_DIALER: Dialer = {
  connect: ({ hostname, port }) => connect({ host: hostname, port, noDelay: true }),
  open: async ({ hostname, port }) => {
    const connection = await Deno.connect({ hostname, port, transport: "tcp" });
    connection.setNoDelay(true);
    return connection;
  },
};

/** What a relay needs. */
export interface RelayOptions {
  /** The index of this member. */
  readonly index: number;
  readonly token: string | null;
  /** The other members; `PeerConnections` is such. */
  readonly peers: {
    /** What a connected member has said of itself; null when it is not connected. */
    hello(index: number): Pick<PeerHello, "process"> | null;
    address(index: number): NetworkAddress;
    /** Names this start of this member's program. */
    readonly process: Uint8Array;
  };
  /** Writes one line for people. */
  log(line: string): void;
  /** Where the primary is now; null also when it is not connected. */
  target(): RelayTarget;
  /** Over TCP unless given. */
  readonly dialer?: Dialer;
}

/** See the head of the file. */
export class Relay implements RelayPort {
  readonly #options: RelayOptions;
  readonly #dialer: Dialer;
  /** Streams and sockets to the primary, with its index. */
  readonly #open = new Map<{ close(): void }, number>();
  readonly #listeners = new Map<RelayedProtocol, (client: RelayedClient) => void>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#dialer = options.dialer ?? TCP_DIALER;
  }

  get self(): { readonly index: number; readonly address: string } {
    const { index, peers } = this.#options;
    return { index, address: placeOf(peers.address(index)) };
  }

  /** Streams to the primary that are open. */
  get connections(): number {
    return this.#open.size;
  }

  route({ isRelayed }: { readonly isRelayed: boolean }): "here" | "primary" {
    const target = this.#options.target();
    if (target === "here") return "here";
    if (target === null || isRelayed) throw noPrimary();
    return "primary";
  }

  connect(stream: RelayedStream): Socket {
    const { index, address, hello } = this.#wayTo(stream);
    const socket = this.#dialer.connect(address);
    const entry = { close: () => socket.destroy() };
    this.#open.set(entry, index);
    const timer = setTimeout(entry.close, CONNECT_MILLISECONDS);
    socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", () => clearTimeout(timer));
    socket.once("close", () => {
      clearTimeout(timer);
      this.#open.delete(entry);
    });
    // Whatever is wrong with the socket, `close` follows.
    socket.on("error", () => {});
    socket.write(hello);
    return socket;
  }

  async open(stream: RelayedStream): Promise<ByteStream> {
    const { index, address, hello } = this.#wayTo(stream);
    let isLate = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) =>
      timer = setTimeout(() => resolve(null), CONNECT_MILLISECONDS)
    );
    // Of a connection that is there too late, or goes to a member that is not the primary any more, nothing is left.
    const isWanted = () => !isLate && isTarget(this.#options.target(), index);
    const connecting = this.#dialer.open(address).then(async (connection) => {
      const opened = new TrackedStream(connection, () => this.#open.delete(opened));
      this.#open.set(opened, index);
      if (isWanted()) await writeAll(opened, hello).catch(() => opened.close());
      if (!isWanted()) opened.close();
      return opened.isClosed ? null : opened;
    }).catch(() => null);
    const opened = await Promise.race([connecting, late]);
    clearTimeout(timer);
    isLate = opened === null;
    if (opened === null) throw noPrimary();
    return opened;
  }

  #wayTo(
    stream: RelayedStream,
  ): { readonly index: number; readonly address: NetworkAddress; readonly hello: Uint8Array } {
    const { index: from, token, peers } = this.#options;
    const target = this.#options.target();
    if (target === null || target === "here") throw noPrimary();
    const { index } = target;
    const peer = peers.hello(index);
    if (peer === null) throw noPrimary();
    const hello = encodeRelayHello(stream, { from, to: index, process: peer.process, token });
    const { hostname, port } = peers.address(index);
    return { index, address: { hostname, port }, hello };
  }

  take(protocol: RelayedProtocol, listener: (client: RelayedClient) => void): () => void {
    this.#listeners.set(protocol, listener);
    return () => this.#listeners.delete(protocol);
  }

  /**
   * Hands a stream that another member passes on to the gateway that it belongs to; `received` has its first frame
   * whole. What cannot be taken is closed without a byte, by which the other knows that nothing of it was looked at.
   */
  accept(socket: Socket, received: Uint8Array, certificate: PeerCertificate | null = null): void {
    const { index, token, peers } = this.#options;
    try {
      const { from, stream, rest } = decodeRelayHello(received, { to: index, process: peers.process, token });
      if (certificate?.isFor(peers.address(from).hostname) === false) {
        throw new DatabaseError(
          SQLSTATE.invalidAuthorizationSpecification,
          `a relayed stream of member ${from} comes with a certificate for ${certificate.names}`,
        );
      }
      const listener = this.#listeners.get(stream.protocol);
      if (listener === undefined) socket.destroy();
      else listener({ stream, socket, received: rest, member: from });
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      socket.destroy();
      this.#options.log(error.message);
    }
  }

  /** To be called when {@link RelayOptions.target} may have changed: what goes to another member than it ends soon. */
  targetChanged(): void {
    if (this.#former().length === 0) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      for (const open of this.#former()) open.close();
    }, LAST_WORDS_MILLISECONDS);
    this.#timers.add(timer);
  }

  /** The streams to another member than the primary. */
  #former(): { close(): void }[] {
    const target = this.#options.target();
    return [...this.#open].filter(([, index]) => !isTarget(target, index)).map(([open]) => open);
  }

  /** Ends all streams. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const open of this.#open.keys()) open.close();
  }
}

function isTarget(target: RelayTarget, index: number): boolean {
  return target !== null && target !== "here" && target.index === index;
}

/** A connection that says when it is closed. */
class TrackedStream implements ByteStream {
  readonly #connection: ByteStream;
  readonly #onClose: () => void;
  #isClosed = false;

  constructor(connection: ByteStream, onClose: () => void) {
    this.#connection = connection;
    this.#onClose = onClose;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  read(target: Uint8Array): Promise<number | null> {
    return this.#connection.read(target);
  }

  write(bytes: Uint8Array): Promise<number> {
    return this.#connection.write(bytes);
  }

  closeWrite(): Promise<void> {
    return this.#connection.closeWrite();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    this.#connection.close();
  }
}
