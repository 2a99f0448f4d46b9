/**
 * The address of a member of a cluster: other members and clients of the binary protocol come to it. Which of them a
 * connection is, its first bytes tell.
 *
 * With TLS between members, those that speak clear text are refused; what clients speak is another matter.
 *
 * It is open before the engine is: members must find each other first. Clients that come as early are refused, 57P03.
 *
 * Limits: the first bytes must come within ten seconds, and of 256 connections that wait for them the oldest goes when
 * another comes; members' handshakes and clients have limits of their own.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { NetworkConnection, PeerCertificate } from "../../engine/host/network.ts";
import { PeerMisfit } from "../../engine/replication/peers/peer_handshake.ts";
import {
  encodeRefusal,
  isPeerHello,
  isSecureFrame,
  PEER_HELLO_HEAD_BYTES,
  SECURE_FRAME,
} from "../../engine/replication/peers/peer_hello.ts";
import { framed } from "../../engine/replication/peers/peer_input.ts";
import { sayFarewell } from "../shared/farewell.ts";
import { memberConnection } from "./member_network.ts";
import { listen, type ListenerAddress } from "../shared/listen.ts";
import type { PeerSecurity } from "../shared/peer_security.ts";
import { relayHelloState } from "../shared/relay_hello.ts";

const FIRST_BYTES_MILLISECONDS = 10_000;
const MAX_UNDECIDED = 256;

/** Takes a client's connection, of which so much has been read. */
export type ClientListener = (socket: Socket, received: Uint8Array) => void;

/** Takes the connection of another member. */
export type PeerListener = (connection: NetworkConnection, received: Uint8Array) => void;

/** What a door needs. */
export interface DoorOptions {
  /** TLS between members; null: they speak clear text. */
  readonly security: PeerSecurity | null;
  readonly onPeer: PeerListener;
  /** Takes clients until there is another listener. */
  readonly onEarlyClient: ClientListener;
  /** Writes one line for people. */
  readonly log: (line: string) => void;
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
  #onRelayed: PeerListener = (connection) => connection.close();
  readonly #options: DoorOptions;

  /** A door that listens nowhere. */
  constructor(options: DoorOptions) {
    this.#options = options;
    this.#onClient = options.onEarlyClient;
  }

  /** Starts listening. Rejects when the address is not available. */
  static async open(address: ListenerAddress, options: DoorOptions): Promise<MemberDoor> {
    const door = new MemberDoor(options);
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
      this.#decide(socket, received);
    });
  }

  get address(): ListenerAddress {
    return this.#address;
  }

  /** Gives clients to another listener from now on. */
  set onClient(listener: ClientListener) {
    this.#onClient = listener;
  }

  /** Gives connections over which other members pass clients on to this listener: what was read has a whole hello. */
  set onRelayed(listener: PeerListener) {
    this.#onRelayed = listener;
  }

  #decide(socket: Socket, received: Uint8Array): void {
    const { security } = this.#options;
    if (isSecureFrame(received)) {
      if (security !== null) void this.#secure(security, socket, received.subarray(SECURE_FRAME.length));
      else this.#refuse(socket, "speaks TLS, this one does not");
    } else if (!isPeerHello(received) && relayHelloState(received) !== "whole") {
      this.#onClient(socket, received);
    } else if (security !== null) this.#refuse(socket, "speaks clear text, this one TLS");
    else this.#admit(socket, received, null);
  }

  /** Takes what another member says. */
  #admit(socket: Socket, received: Uint8Array, certificate: PeerCertificate | null): void {
    const take = isPeerHello(received)
      ? this.#options.onPeer
      : relayHelloState(received) === "whole"
      ? this.#onRelayed
      : null;
    if (take === null) socket.destroy();
    else take(memberConnection(socket, certificate), received);
  }

  async #secure(security: PeerSecurity, plain: Socket, received: Uint8Array): Promise<void> {
    try {
      const { socket, certificate } = await security.accept(plain, received);
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      firstBytesOf(socket, (first) => this.#admit(socket, first, certificate));
    } catch (error) {
      if (!(error instanceof PeerMisfit)) throw error;
      this.#options.log(error.message);
    }
  }

  #refuse(socket: Socket, why: string): void {
    const place = socket.remoteAddress ?? "an unknown address";
    this.#options.log(`a member at ${place} ${why}: give all members --peer-ca, --peer-cert and --peer-key`);
    socket.end(framed(encodeRefusal("secure")));
    sayFarewell(socket);
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
    const isShort = received.length < PEER_HELLO_HEAD_BYTES;
    if (isShort && (isPeerHello(received) || isSecureFrame(received))) return;
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
