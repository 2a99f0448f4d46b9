/**
 * The address of a member of a cluster: other members and clients of the binary protocol come to it. Which of them a
 * connection is, its first bytes tell.
 *
 * It is open before the engine is: members must find each other first. Clients that come as early are refused, 57P03.
 *
 * Limits: the first bytes must come within ten seconds, and of 256 connections that wait for them the oldest goes when
 * another comes; members' handshakes and clients have limits of their own.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { NetworkConnection } from "../../engine/host/network.ts";
import { isPeerHello, PEER_HELLO_HEAD_BYTES } from "../../engine/replication/peer_hello.ts";
import { writeAll } from "../shared/join_streams.ts";
import { listen, type ListenerAddress } from "../shared/listen.ts";
import { relayHelloState } from "../shared/relay_hello.ts";
import { SocketStream } from "../shared/socket_stream.ts";

const FIRST_BYTES_MILLISECONDS = 10_000;
const MAX_UNDECIDED = 256;

/** Takes a client's connection, of which so much has been read. */
export type ClientListener = (socket: Socket, received: Uint8Array) => void;

/** Another member's connection over a socket of `node:net`. */
function memberConnection(socket: Socket): NetworkConnection {
  const stream = new SocketStream(socket);
  return {
    remote: { hostname: socket.remoteAddress ?? "an unknown address", port: socket.remotePort ?? 0 },
    read: (target) => stream.read(target),
    write: (bytes) => writeAll(stream, bytes),
    close: () => stream.close(),
  };
}

/** See the head of the file. */
export class MemberDoor {
  /** null: connections are handed in by {@link take} alone. */
  #server: Server | null = null;
  readonly #sockets = new Set<Socket>();
  /** Connections whose first bytes have not come, the oldest first. */
  readonly #undecided = new Set<Socket>();
  #address: ListenerAddress = { hostname: "", port: 0 };
  #onClient: ClientListener;
  #onRelayed: ClientListener = (socket) => socket.destroy();

  readonly #onPeer: (connection: NetworkConnection, received: Uint8Array) => void;

  /** A door that listens nowhere. */
  constructor(
    onPeer: (connection: NetworkConnection, received: Uint8Array) => void,
    onEarlyClient: ClientListener,
  ) {
    this.#onPeer = onPeer;
    this.#onClient = onEarlyClient;
  }

  /** Starts listening. Rejects when the address is not available. */
  static async open(
    address: ListenerAddress,
    onPeer: (connection: NetworkConnection, received: Uint8Array) => void,
    onEarlyClient: ClientListener,
  ): Promise<MemberDoor> {
    const door = new MemberDoor(onPeer, onEarlyClient);
    // A relayed client may close its direction and wait for the answers.
    const server = createServer(
      { noDelay: true, keepAlive: true, allowHalfOpen: true },
      (socket) => door.take(socket),
    );
    door.#server = server;
    door.#address = await listen(server, address);
    return door;
  }

  /** Takes a connection of whom its first bytes will tell. */
  take(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#undecided.delete(socket);
    });
    // Members get in however many come and say nothing.
    const [oldest] = this.#undecided;
    if (oldest !== undefined && this.#undecided.size >= MAX_UNDECIDED) {
      this.#undecided.delete(oldest);
      oldest.destroy();
    }
    this.#undecided.add(socket);
    firstBytesOf(socket, (received) => {
      this.#undecided.delete(socket);
      if (isPeerHello(received)) this.#onPeer(memberConnection(socket), received);
      else if (relayHelloState(received) === "whole") this.#onRelayed(socket, received);
      else this.#onClient(socket, received);
    });
  }

  get address(): ListenerAddress {
    return this.#address;
  }

  /** Gives clients to another listener from now on. */
  set onClient(listener: ClientListener) {
    this.#onClient = listener;
  }

  /** Gives clients that other members pass on to this listener: what was read has the first frame whole. */
  set onRelayed(listener: ClientListener) {
    this.#onRelayed = listener;
  }

  /** Stops listening and ends all connections. */
  async close(): Promise<void> {
    const server = this.#server;
    const closed = server === null
      ? Promise.resolve()
      : new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** Collects what tells a member from a client. */
function firstBytesOf(socket: Socket, decide: (received: Uint8Array) => void): void {
  let received = new Uint8Array(0);
  const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_MILLISECONDS);
  const onData = (bytes: Uint8Array): void => {
    const joined = new Uint8Array(received.length + bytes.length);
    joined.set(received);
    joined.set(bytes, received.length);
    received = joined;
    if (received.length < PEER_HELLO_HEAD_BYTES && isPeerHello(received)) return;
    if (relayHelloState(received) === "partial") return;
    clearTimeout(timer);
    socket.off("data", onData).off("close", onClose);
    decide(received);
  };
  const onClose = (): void => clearTimeout(timer);
  socket.on("data", onData).on("close", onClose);
  // Whatever is wrong with the socket, `close` follows.
  socket.on("error", () => {});
}
