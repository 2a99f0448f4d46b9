/**
 * The way of a member's clients to the primary: a stream of their bytes to its member port, which hands it to the
 * gateway of their protocol there.
 *
 * Login is between client and primary; TLS ends here, and the primary learns of it from the first frame. When the
 * primary changes, streams to the former one end: it may be cut off, and would say nothing for ever.
 */
import { connect, type Socket } from "node:net";
import { DatabaseError } from "../../engine/base/errors.ts";
import type { NetworkAddress } from "../../engine/host/network.ts";
import type { PeerHello } from "../../engine/replication/peer_hello.ts";
import type { ByteStream } from "../shared/byte_stream.ts";
import { decodeRelayHello, encodeRelayHello } from "../shared/relay_hello.ts";
import {
  noPrimary,
  type RelayedClient,
  type RelayedProtocol,
  type RelayedStream,
  type RelayPort,
} from "../shared/relay_port.ts";
import { SocketStream } from "../shared/socket_stream.ts";

const CONNECT_MILLISECONDS = 2_000;

/** Where the primary is: this member, which serves; another, by its index; or nobody knows. */
export type RelayTarget = "here" | { readonly index: number } | null;

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
  /** Where the primary is now. */
  target(): RelayTarget;
}

/** See the head of the file. */
export class Relay implements RelayPort {
  readonly #options: RelayOptions;
  readonly #sockets = new Map<Socket, number>();
  readonly #listeners = new Map<RelayedProtocol, (client: RelayedClient) => void>();

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Streams to the primary that are open. */
  get connections(): number {
    return this.#sockets.size;
  }

  route({ isRelayed }: { readonly isRelayed: boolean }): "here" | "primary" {
    const target = this.#options.target();
    if (target === "here") return "here";
    if (target === null || isRelayed) throw noPrimary();
    return "primary";
  }

  connect(stream: RelayedStream): Socket {
    const { index, token, peers } = this.#options;
    const target = this.#options.target();
    if (target === null || target === "here") throw noPrimary();
    const hello = peers.hello(target.index);
    if (hello === null) throw noPrimary();
    const { hostname, port } = peers.address(target.index);
    const socket = connect({ host: hostname, port, noDelay: true });
    this.#sockets.set(socket, target.index);
    const timer = setTimeout(
      () => socket.destroy(new Error("the primary does not answer")),
      CONNECT_MILLISECONDS,
    );
    socket.once("connect", () => clearTimeout(timer));
    socket.once("close", () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
    // Whatever is wrong with the socket, `close` follows.
    socket.on("error", () => {});
    socket.write(encodeRelayHello(stream, { from: index, to: target.index, process: hello.process, token }));
    return socket;
  }

  async open(stream: RelayedStream): Promise<ByteStream> {
    const socket = this.connect(stream);
    const opened = new SocketStream(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("close", () => reject(noPrimary()));
    });
    return opened;
  }

  take(protocol: RelayedProtocol, listener: (client: RelayedClient) => void): () => void {
    this.#listeners.set(protocol, listener);
    return () => this.#listeners.delete(protocol);
  }

  /**
   * Hands a stream that another member passes on to the gateway that it belongs to; `received` has its first frame
   * whole. What cannot be taken is closed without a byte, by which the other knows that nothing of it was looked at.
   */
  accept(socket: Socket, received: Uint8Array): void {
    const { index, token, peers } = this.#options;
    try {
      const { stream, rest } = decodeRelayHello(received, { to: index, process: peers.process, token });
      const listener = this.#listeners.get(stream.protocol);
      if (listener === undefined) socket.destroy();
      else listener({ stream, socket, received: rest });
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      socket.destroy();
      this.#options.log(error.message);
    }
  }

  /** To be called when the primary may have changed: ends what goes to another member than it. */
  targetChanged(): void {
    const target = this.#options.target();
    for (const [socket, index] of this.#sockets) {
      if (target === null || target === "here" || target.index !== index) socket.destroy();
    }
  }

  /** Ends all streams. */
  close(): void {
    for (const socket of this.#sockets.keys()) socket.destroy();
  }
}
