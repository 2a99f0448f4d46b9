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
import { denoNetwork, SocketConnection } from "../../engine/host/deno_network.ts";
import type { NetworkConnection, NetworkListener, PeerCertificate } from "../../engine/host/network.ts";
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
import { socketOver } from "../shared/stream_socket.ts";

const FIRST_BYTES_MILLISECONDS = 10_000;
const MAX_UNDECIDED = 256;
const FIRST_BUFFER_BYTES = 4096;

/** Takes a client's connection, of which so much has been read. */
export type ClientListener = (socket: Socket, received: Uint8Array) => void;

/** Takes the connection of another member. */
export type PeerListener = (connection: NetworkConnection, received: Uint8Array) => void;

/** What a door needs. */
export interface DoorOptions {
  /** TLS between members; null: they speak clear text. */
  readonly security: PeerSecurity | null;
  /** Whether clients may encrypt their connections. */
  readonly offersTls: boolean;
  readonly onPeer: PeerListener;
  /** Takes clients until there is another listener. */
  readonly onEarlyClient: ClientListener;
  /** Writes one line for people. */
  readonly log: (line: string) => void;
}

/** A connection, as far as it is ended here. */
interface Caller {
  destroy(): void;
}

/** See the head of the file. */
export class MemberDoor {
  /** null: connections are handed in by {@link take} alone. */
  #server: Server | NetworkListener | null = null;
  readonly #callers = new Set<Caller>();
  /** Connections whose first bytes have not come, the oldest first. */
  readonly #undecided = new Set<Caller>();
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
    if (options.security === null && !options.offersTls) {
      // Only sockets of `node:net` can be encrypted later; those of Deno cost less for each message of a member.
      const listener = door.#server = await denoNetwork().listen(address);
      door.#address = listener.local;
      void door.#accept(listener);
      return door;
    }
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
    this.#await(socket);
    socket.once("close", () => this.#forget(socket));
    firstBytesOf(socket, (received) => {
      this.#undecided.delete(socket);
      this.#decide(socket, received);
    });
  }

  async #accept(listener: NetworkListener): Promise<void> {
    for (let next = await listener.accept(); next !== null; next = await listener.accept()) {
      if (next instanceof SocketConnection) void this.#meet(next);
    }
  }

  /** The same for a connection of Deno, which a client's becomes a socket over. */
  async #meet(connection: SocketConnection): Promise<void> {
    const { remote, socket: stream } = connection;
    const caller = { destroy: () => connection.close() };
    this.#await(caller);
    const received = await firstBytes(connection);
    this.#undecided.delete(caller);
    const close = (): void => {
      this.#forget(caller);
      connection.close();
    };
    if (received === null) return close();
    const take = this.#memberListener(received);
    if (take !== null) {
      take({
        remote,
        read: (target) => connection.read(target),
        write: (bytes) => connection.write(bytes),
        close,
      }, received);
      return;
    }
    const socket = socketOver({
      read: (target) => connection.read(target),
      write: (bytes) => stream.write(bytes),
      closeWrite: () => stream.closeWrite(),
      // Its end may have come from here already.
      close: () => connection.close(),
    }, { allowHalfOpen: true, remote });
    socket.on("error", () => {}).once("close", () => this.#forget(caller));
    this.#decide(socket, received);
  }

  /** Members get in however many come and say nothing. */
  #await(caller: Caller): void {
    const [oldest] = this.#undecided;
    if (oldest !== undefined && this.#undecided.size >= MAX_UNDECIDED) {
      this.#undecided.delete(oldest);
      oldest.destroy();
    }
    this.#callers.add(caller);
    this.#undecided.add(caller);
  }

  #forget(caller: Caller): void {
    this.#callers.delete(caller);
    this.#undecided.delete(caller);
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
    } else if (this.#memberListener(received) === null) {
      this.#onClient(socket, received);
    } else if (security !== null) this.#refuse(socket, "speaks clear text, this one TLS");
    else this.#admit(socket, received, null);
  }

  /** Takes what another member says. */
  #admit(socket: Socket, received: Uint8Array, certificate: PeerCertificate | null): void {
    const take = this.#memberListener(received);
    if (take === null) socket.destroy();
    else take(memberConnection(socket, certificate), received);
  }

  /** Who takes what another member says; null: no member says that. */
  #memberListener(received: Uint8Array): PeerListener | null {
    if (isPeerHello(received)) return this.#options.onPeer;
    return relayHelloState(received) === "whole" ? this.#onRelayed : null;
  }

  async #secure(security: PeerSecurity, plain: Socket, received: Uint8Array): Promise<void> {
    try {
      const { socket, certificate } = await security.accept(plain, received);
      this.#callers.add(socket);
      socket.once("close", () => this.#callers.delete(socket));
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
    const closed = new Promise<void>((resolve) => {
      if (server !== null && "once" in server) server.close(() => resolve());
      else {
        server?.close();
        resolve();
      }
    });
    for (const caller of this.#callers) caller.destroy();
    await closed;
  }
}

/** Whether a connection's first bytes tell a member from a client. */
function tell(received: Uint8Array): boolean {
  const isShort = received.length < PEER_HELLO_HEAD_BYTES;
  if (isShort && (isPeerHello(received) || isSecureFrame(received))) return false;
  return relayHelloState(received) !== "partial";
}

/** Collects what tells a member from a client. */
function firstBytesOf(socket: Socket, decide: (received: Uint8Array) => void): void {
  let received = new Uint8Array(0);
  const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_MILLISECONDS);
  const onData = (bytes: Uint8Array): void => {
    received = joined(received, bytes);
    if (!tell(received)) return;
    clearTimeout(timer);
    socket.off("data", onData).off("close", onClose);
    decide(received);
  };
  const onClose = (): void => clearTimeout(timer);
  socket.on("data", onData).on("close", onClose);
  // Whatever is wrong with the socket, `close` follows.
  socket.on("error", () => {});
}

/** The same of a connection; null: it ends before. */
async function firstBytes(connection: NetworkConnection): Promise<Uint8Array | null> {
  let received = new Uint8Array(0);
  const timer = setTimeout(() => connection.close(), FIRST_BYTES_MILLISECONDS);
  try {
    const buffer = new Uint8Array(FIRST_BUFFER_BYTES);
    do {
      const count = await connection.read(buffer);
      if (count === null) return null;
      received = joined(received, buffer.subarray(0, count));
    } while (!tell(received));
    return received;
  } catch {
    // Whatever is wrong with a connection ends it.
    return null;
  } finally {
    clearTimeout(timer);
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
