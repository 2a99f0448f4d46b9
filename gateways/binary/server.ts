/**
 * The listener of the binary protocol: sockets in, frames to {@link OperationConnection}s.
 *
 * Limits: `LIMITS.binaryConnections` connections, beyond which one is sent 53300 and closed; ten seconds for the
 * handshake, that of TLS included; frames of 1 KiB until it is done. A connection always gets an error message before
 * it is closed. With TLS, a client chooses by its first bytes whether it speaks clear text.
 */
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { assert } from "../../engine/base/assert.ts";
import { ByteWriter } from "../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { LIMITS } from "../../engine/base/limits.ts";
import type { Engine } from "../../engine/session/engine.ts";
import type { SessionEncryption } from "../../engine/system_catalog/catalog_context.ts";
import { BEGINNING } from "../shared/beginning.ts";
import {
  type ByteListener,
  type ByteStream,
  isHandshake,
  type Secured,
  type TlsServer,
} from "../shared/byte_stream.ts";
import { sayFarewell } from "../shared/farewell.ts";
import { GATEWAY_LIMITS } from "../shared/limits.ts";
import { InputFlow } from "../shared/input_flow.ts";
import { listen, type ListenerAddress } from "../shared/listen.ts";
import { PROTOCOL_VERSION } from "../shared/operation/operation.ts";
import { OperationConnection, writeFramed } from "../shared/operation/operation_connection.ts";
import { DurabilityWatch } from "../shared/operation/outbox.ts";
import { joinStreams, plainConversation } from "../shared/join_streams.ts";
import { noPrimary, type RelayedClient, type RelayedStream, type RelayPort } from "../shared/relay_port.ts";
import { SocketStream } from "../shared/socket_stream.ts";
import { socketOver } from "../shared/stream_socket.ts";
import { failureOf, writeReply } from "../shared/operation/reply_codec.ts";
import { FrameReader, plainBytes } from "./frame_reader.ts";
import {
  type ClientHello,
  clientProof,
  decodeClientHello,
  decodeClientProof,
  encodeServerHello,
  encodeWelcome,
  NONCE_BYTES,
  sameProof,
  serverProof,
  type ToldPrimary,
} from "./handshake.ts";
import { type ClientListener, MemberDoor } from "./member_door.ts";

const NOTHING = new Uint8Array(0);

/** How to start a server. */
export interface BinaryServerOptions {
  readonly engine: Engine;
  /** Port 0: any free one. A member of a cluster has a door, where clients come after it was opened. */
  readonly address: ListenerAddress | MemberDoor;
  /** Where clients come from, in the place of a socket at the address. */
  readonly listener?: ByteListener;
  /** The shared secret; null: open. */
  readonly token: string | null;
  /** The program's version, sent in the hello. */
  readonly version: string;
  readonly maximumConnections?: number;
  readonly maximumFrameBytes?: number;
  /** Encrypts connections that begin with a handshake of TLS; without it they are refused. */
  readonly tls?: TlsServer;
  /** Clients in clear text are refused with 28000. */
  readonly requiresTls?: boolean;
  /** Receives bugs that statements ran into. */
  readonly onInternalError?: (error: unknown) => void;
  /** Where sessions are, when the server is a member of a cluster. */
  readonly relay?: RelayPort;
}

/** A server that is listening. */
export interface BinaryServer {
  readonly address: ListenerAddress;
  readonly connections: number;
  /** Stops accepting, lets what is running finish within the time, and closes every connection. */
  close(drainMilliseconds: number): Promise<void>;
}

/** Starts listening. Rejects when the address is not available. */
export async function startBinaryServer(options: BinaryServerOptions): Promise<BinaryServer> {
  assert(options.token !== "", "an empty token would let everybody in");
  const watch = new DurabilityWatch(options.engine);
  const links = new Set<Link>();
  const maximum = options.maximumConnections ?? LIMITS.binaryConnections;
  const take: ClientTaker = (socket, { received = NOTHING, relayed = null, secured }): void => {
    if (links.size >= maximum) {
      refuseClient(socket, new DatabaseError(SQLSTATE.tooManyConnections, "sorry, too many clients already"));
      return;
    }
    const link = new Link(socket, options, watch, { received, relayed, secured });
    links.add(link);
    socket.once("close", () => links.delete(link));
  };
  const { address, close } = options.listener === undefined
    ? await clientsAt(options.address, (socket, received) => take(socket, { received }))
    : clientsOf(options.listener, take);
  const stopRelayed = options.relay?.take(
    "binary",
    (relayed) => take(socketOver(relayed.connection, { allowHalfOpen: true }), { relayed }),
  );
  return {
    address,
    get connections() {
      return links.size;
    },
    async close(drainMilliseconds) {
      const closed = close();
      stopRelayed?.();
      await Promise.all([...links].map((link) => link.shutDown(drainMilliseconds)));
      for (const link of links) link.sayFarewell();
      const timer = setTimeout(() => {
        for (const link of links) link.destroy();
      }, GATEWAY_LIMITS.farewell.silenceMilliseconds);
      await closed;
      clearTimeout(timer);
      watch.close();
    },
  };
}

/** Takes clients' connections at an address. */
async function clientsAt(
  place: ListenerAddress | MemberDoor,
  take: ClientListener,
): Promise<{ readonly address: ListenerAddress; close(): Promise<void> }> {
  if (place instanceof MemberDoor) {
    place.onClient = take;
    return {
      address: place.address,
      close: () => {
        place.onClient = (socket) =>
          refuseClient(socket, new DatabaseError(SQLSTATE.adminShutdown, "the server is shutting down"));
        return Promise.resolve();
      },
    };
  }
  const server = createServer({ noDelay: true, keepAlive: true }, (socket) => take(socket, NOTHING));
  return {
    address: await listen(server, place),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Takes a new client. */
type ClientTaker = (socket: Socket, client: {
  readonly received?: Uint8Array;
  /** It comes from another member. */
  readonly relayed?: RelayedClient;
  /** What it was encrypted with elsewhere; absent: nothing was decided. */
  readonly secured?: Secured | null;
}) => void;

/** Takes clients whose sockets are elsewhere. */
function clientsOf(
  listener: ByteListener,
  take: ClientTaker,
): { readonly address: ListenerAddress; close(): Promise<void> } {
  const open = new Set<Socket>();
  const accept = async (): Promise<void> => {
    for (;;) {
      const stream: ByteStream = await listener.accept();
      const socket = socketOver(stream, { allowHalfOpen: true });
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      take(socket, { secured: stream.secured ?? null });
    }
  };
  const accepted = accept().catch((error: unknown) => {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  });
  const { hostname, port } = listener.addr as Deno.NetAddr;
  return {
    address: { hostname, port },
    close: async () => {
      listener.close();
      await accepted;
      await Promise.all([...open].map((socket) => new Promise((resolve) => socket.once("close", resolve))));
    },
  };
}

/** One socket: the handshake, then a connection. */
class Link {
  /** The encrypted one as soon as there is one. */
  #socket: Socket;
  readonly #options: BinaryServerOptions;
  readonly #watch: DurabilityWatch;
  readonly #reader = new FrameReader(GATEWAY_LIMITS.maximumHandshakeBytes);
  readonly #nonce = new Uint8Array(randomBytes(NONCE_BYTES));
  readonly #timer: ReturnType<typeof setTimeout>;
  #encryption: SessionEncryption | null = null;
  #isEncrypting = false;
  /** Its socket is here. */
  readonly #mayEncrypt: boolean;
  /** Nothing has been received yet. */
  #isNew = true;
  #hello: ClientHello | null = null;
  #connection: OperationConnection | null = null;
  #isEnding = false;
  #isLeaving = false;
  /** What came before the hello was whole, in case another member is to have it. */
  #early: Uint8Array[] = [];
  /** Another member passes its client on: which. */
  readonly #relayingMember: number | null;
  /** The session is at another member. */
  #isRelayed = false;
  readonly #flow: InputFlow;

  constructor(
    socket: Socket,
    options: BinaryServerOptions,
    watch: DurabilityWatch,
    { received, relayed, secured }: {
      readonly received: Uint8Array;
      readonly relayed: RelayedClient | null;
      readonly secured: Secured | null | undefined;
    },
  ) {
    this.#relayingMember = relayed?.member ?? null;
    this.#encryption = relayed?.stream.encryption ?? secured?.encryption ?? null;
    this.#mayEncrypt = relayed === null && secured === undefined;
    this.#socket = socket;
    this.#options = options;
    this.#watch = watch;
    this.#flow = new InputFlow({
      setStopped: (isStopped) => {
        if (isStopped) this.#socket.pause();
        else this.#socket.resume();
      },
      nextSlice: (took) => options.engine.slices.next(took),
    });
    this.#timer = setTimeout(() => {
      this.#fail(new DatabaseError(SQLSTATE.protocolViolation, "the handshake took too long"));
    }, BEGINNING.binary.milliseconds);
    this.#listenTo(socket);
    if (received.length > 0) this.#onData(received);
  }

  #listenTo(socket: Socket): void {
    socket.on("data", this.#onData);
    socket.on("drain", () => this.#connection?.flush());
    // Whatever is wrong with the socket, `close` follows.
    socket.on("error", () => {});
    socket.on("end", this.#onEnd);
    socket.on("close", () => {
      clearTimeout(this.#timer);
      this.#isEnding = true;
      this.#connection?.closed();
    });
  }

  readonly #onEnd = (): void => {
    this.#socket.end();
  };

  readonly #onData = (bytes: Uint8Array): void => {
    if (this.#isNew) {
      this.#isNew = false;
      const { tls, requiresTls } = this.#options;
      if (tls !== undefined && this.#mayEncrypt && isHandshake(bytes)) {
        this.#encrypt(tls, bytes);
        return;
      }
      if (requiresTls === true && this.#encryption === null) {
        this.#fail(
          new DatabaseError(
            SQLSTATE.invalidAuthorizationSpecification,
            "no encryption: the server refuses clients in clear text",
            { hint: "Connect with TLS: dbcli --tls." },
          ),
        );
        return;
      }
    }
    this.#flow.process(bytes.length, () => this.#receive(plainBytes(bytes)));
  };

  #encrypt(tls: TlsServer, received: Uint8Array): void {
    const plain = this.#socket;
    this.#isEncrypting = true;
    plain.off("data", this.#onData).off("end", this.#onEnd);
    tls.secure(plain, { protocols: [BEGINNING.binary.application], received }).then(
      ({ socket, encryption }) => {
        this.#isEncrypting = false;
        this.#socket = socket;
        this.#encryption = encryption;
        this.#listenTo(socket);
      },
    ).catch((error: unknown) => {
      if (!(error instanceof Deno.errors.ConnectionReset)) this.#options.onInternalError?.(error);
    });
  }

  async shutDown(drainMilliseconds: number): Promise<void> {
    if (this.#isRelayed) this.destroy();
    else if (this.#connection !== null) await this.#connection.shutDown(drainMilliseconds);
    else this.#fail(new DatabaseError(SQLSTATE.adminShutdown, "the server is shutting down"));
  }

  /** Closes the socket at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Closes the socket even if the client does not read what it was sent. */
  sayFarewell(): void {
    if (this.#isLeaving || this.#isRelayed) return;
    this.#isLeaving = true;
    sayFarewell(this.#socket);
  }

  #receive(bytes: Uint8Array): void {
    if (this.#isEnding) return;
    if (this.#hello === null) this.#early.push(bytes.slice());
    try {
      this.#reader.feed(bytes, (frame) => {
        if (this.#connection !== null) this.#connection.receive(frame);
        else this.#shake(frame);
        return !this.#isEnding && !this.#isRelayed;
      });
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      this.#fail(error);
      return;
    }
    this.#connection?.flush();
  }

  #shake(frame: Uint8Array): void {
    const { token, version } = this.#options;
    if (this.#hello === null) {
      this.#hello = decodeClientHello(frame);
      if (this.#isForPrimary(this.#hello)) {
        void this.#relay();
        return;
      }
      this.#early = [];
      this.#send(encodeServerHello({
        version: PROTOCOL_VERSION,
        authentication: token === null ? "none" : "hmac-sha-256",
        nonce: this.#nonce,
        serverVersion: version,
      }));
      if (this.#hello.version !== PROTOCOL_VERSION) {
        throw new DatabaseError(
          SQLSTATE.featureNotSupported,
          `protocol version ${this.#hello.version} is not supported; this server speaks ${PROTOCOL_VERSION}`,
        );
      }
      if (token === null) this.#welcome(null);
      return;
    }
    assert(token !== null, "without a token the hello is all");
    const nonces = { client: this.#hello.nonce, server: this.#nonce };
    if (!sameProof(decodeClientProof(frame), clientProof(token, nonces))) {
      throw new DatabaseError(SQLSTATE.invalidPassword, "the token is wrong", {
        hint: "Start the client with the token that the server was started with.",
      });
    }
    this.#welcome(serverProof(token, nonces));
  }

  /** Whether the session is another member's. Raises 57P03 when nobody knows. */
  #isForPrimary({ readFrom }: ClientHello): boolean {
    const { relay } = this.#options;
    return readFrom === "primary" && relay?.route({ isRelayed: this.#relayingMember !== null }) === "primary";
  }

  /** Passes the client on to the primary until both are done. */
  async #relay(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isRelayed = true;
    const socket = this.#socket;
    socket.off("data", this.#onData).off("end", this.#onEnd);
    const client = new SocketStream(socket);
    const refusal = errorFrame(noPrimary());
    try {
      const { relay } = this.#options;
      if (relay === undefined) throw noPrimary();
      const stream: RelayedStream = { protocol: "binary", encryption: this.#encryption, endPoint: null };
      const primary = await relay.open(stream);
      await joinStreams(client, primary, {
        first: new Uint8Array(Buffer.concat(this.#early)),
        conversation: plainConversation(refusal),
      });
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      refuseClient(socket, error);
    }
  }

  #welcome(proof: Uint8Array | null): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#connection = new OperationConnection({
      encryption: this.#encryption,
      readFrom: this.#hello?.readFrom ?? "primary",
      engine: this.#options.engine,
      watch: this.#watch,
      onInternalError: this.#options.onInternalError ?? (() => {}),
      transport: {
        send: (messages) => {
          socket.write(messages);
        },
        get backlogBytes() {
          return socket.writableLength;
        },
        setPaused: (paused) => this.#flow.setHeld(paused),
        end: () => this.#end(),
      },
    });
    this.#reader.maximumBytes = this.#options.maximumFrameBytes ?? LIMITS.maximumFrameBytes;
    this.#send(encodeWelcome({ session: this.#connection.session.processId, proof, cluster: this.#cluster }));
  }

  /** Where the session is, so that the client can come here without the way through another member. */
  get #cluster(): ToldPrimary | null {
    const self = this.#options.relay?.self;
    if (self === undefined || this.#hello?.readFrom !== "primary") return null;
    return { member: this.#relayingMember ?? self.index, primary: self.index, address: self.address };
  }

  #send(message: Uint8Array): void {
    const writer = new ByteWriter(message.length + 4);
    writeFramed(writer, (each) => each.writeBytes(message));
    this.#socket.write(writer.finish());
  }

  #fail(error: DatabaseError): void {
    if (this.#isEnding) return;
    // Between clear text and TLS there is no way to say anything.
    if (this.#isEncrypting) {
      this.#socket.destroy();
      return;
    }
    this.#socket.write(errorFrame(error));
    this.#end();
  }

  #end(): void {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    this.#socket.end();
    this.#flow.setHeld(false);
    this.sayFarewell();
  }
}

/** Sends a client the error and closes its connection. */
export function refuseClient(socket: Socket, error: DatabaseError): void {
  socket.on("error", () => {});
  socket.end(errorFrame(error));
  sayFarewell(socket);
}

function errorFrame(error: DatabaseError): Uint8Array {
  const writer = new ByteWriter(128);
  writeFramed(writer, (each) => {
    writeReply(each, { kind: "error", number: 0n, status: "idle", failure: failureOf(error) });
  });
  return writer.finish();
}
