/**
 * The address of a member of a cluster: other members and clients of the binary protocol come to it. Which of them a
 * connection is, its first bytes tell.
 *
 * It is open before the engine is: members must find each other first. Clients that come as early are refused, 57P03.
 *
 * Limits: the first bytes must come within ten seconds; other members' handshakes have limits of their own.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { NetworkAddress, NetworkConnection } from "../../engine/host/network.ts";
import { isPeerHello, PEER_HELLO_HEAD_BYTES } from "../../engine/replication/peer_hello.ts";
import { listen, type ListenerAddress } from "../shared/listen.ts";

const FIRST_BYTES_MILLISECONDS = 10_000;

/** Takes a client's connection, of which so much has been read. */
export type ClientListener = (socket: Socket, received: Uint8Array) => void;

/** Another member's connection over a socket of `node:net`; at most one read and one write are under way. */
class MemberSocket implements NetworkConnection {
  readonly remote: NetworkAddress;
  readonly #socket: Socket;
  #chunks: Uint8Array[] = [];
  #waiting: (() => void) | null = null;
  #hasEnded = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.remote = { hostname: socket.remoteAddress ?? "an unknown address", port: socket.remotePort ?? 0 };
    const end = () => {
      this.#hasEnded = true;
      this.#wake();
    };
    socket.on("data", (bytes: Uint8Array) => {
      this.#chunks.push(bytes);
      socket.pause();
      this.#wake();
    });
    socket.on("end", end);
    socket.on("close", end);
  }

  async read(target: Uint8Array): Promise<number | null> {
    for (;;) {
      const [chunk] = this.#chunks;
      if (chunk !== undefined) {
        const count = Math.min(chunk.length, target.length);
        target.set(chunk.subarray(0, count));
        if (count === chunk.length) this.#chunks.shift();
        else this.#chunks[0] = chunk.subarray(count);
        return count;
      }
      if (this.#hasEnded) return null;
      this.#socket.resume();
      await new Promise<void>((resolve) => this.#waiting = resolve);
    }
  }

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => error instanceof Error ? reject(error) : resolve());
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = null;
  }
}

/** See the head of the file. */
export class MemberDoor {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #address: ListenerAddress = { hostname: "", port: 0 };
  #onClient: ClientListener;

  private constructor(
    onPeer: (connection: NetworkConnection, received: Uint8Array) => void,
    onEarlyClient: ClientListener,
  ) {
    this.#onClient = onEarlyClient;
    this.#server = createServer({ noDelay: true, keepAlive: true }, (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      firstBytesOf(socket, (received) => {
        if (isPeerHello(received)) onPeer(new MemberSocket(socket), received);
        else this.#onClient(socket, received);
      });
    });
  }

  /** Starts listening. Rejects when the address is not available. */
  static async open(
    address: ListenerAddress,
    onPeer: (connection: NetworkConnection, received: Uint8Array) => void,
    onEarlyClient: ClientListener,
  ): Promise<MemberDoor> {
    const door = new MemberDoor(onPeer, onEarlyClient);
    door.#address = await listen(door.#server, address);
    return door;
  }

  get address(): ListenerAddress {
    return this.#address;
  }

  /** Gives clients to another listener from now on. */
  set onClient(listener: ClientListener) {
    this.#onClient = listener;
  }

  /** Stops listening and ends all connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
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
    clearTimeout(timer);
    socket.off("data", onData).off("close", onClose);
    decide(received);
  };
  const onClose = (): void => clearTimeout(timer);
  socket.on("data", onData).on("close", onClose);
  // Whatever is wrong with the socket, `close` follows.
  socket.on("error", () => {});
}
