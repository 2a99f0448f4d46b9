/**
 * The PostgreSQL listener: sockets, and the connections behind them.
 *
 * Each socket has one reader. What a read brings is processed at once and answered with one write; at most one write
 * is under way per socket. Answers that wait for the log are sent when a group commit has made their ops durable: the
 * listener is called once per group commit and looks at the waiting connections only.
 */
import { DatabaseError, SQLSTATE, type SqlState } from "../../engine/base/errors.ts";
import { busyPoll } from "../../engine/host/busy_poll.ts";
import { LIMITS } from "../../engine/base/limits.ts";
import {
  type ByteListener,
  type ByteStream,
  isHandshake,
  type SecurableStream,
  type TlsServer,
} from "../shared/byte_stream.ts";
import { BEGINNING } from "../shared/beginning.ts";
import type { EnginePort } from "../shared/engine_port.ts";
import { joinStreams, plainConversation } from "../shared/join_streams.ts";
import { noPrimary, type RelayedStream, type RelayPort } from "../shared/relay_port.ts";
import { adminShutdown, Connection, type RelayRequest } from "./connection.ts";
import type { ConnectionContext } from "./connection_context.ts";
import { PG_LIMITS } from "./limits.ts";
import { MessageWriter } from "./message_writer.ts";
import { ReadBuffers } from "./read_buffers.ts";
import { RelayedConversation } from "./relayed_conversation.ts";
import { ScramVerifier } from "./scram.ts";

/** How to start the listener. */
export interface PgServerOptions {
  readonly engine: EnginePort;
  /** Port 0: any free one. */
  readonly address: { readonly hostname: string; readonly port: number };
  /** Where clients come from, in the place of a socket at the address. */
  readonly listener?: ByteListener;
  /** The password of every user; null: no authentication. */
  readonly token: string | null;
  /** Sessions at the same time; one more gets 53300. */
  readonly maximumConnections?: number;
  /** A session that says nothing for so long gets 57014; none by default. */
  readonly idleTimeoutMilliseconds?: number;
  /** Version of the product, sent to clients as the parameter `db_version`. */
  readonly version?: string;
  /** Encrypts connections whose clients ask for it; without it SSLRequest is declined. */
  readonly tls?: TlsServer;
  /** Sessions in clear text are refused with 28000. */
  readonly requiresTls?: boolean;
  /** Where sessions are, when the server is a member of a cluster. */
  readonly relay?: RelayPort;
  /** Told of errors that are bugs of this program. */
  readonly onInternalError?: (error: unknown) => void;
}

/** A running listener. */
export interface PgServer {
  /** Where it listens, with the port that was chosen. */
  readonly address: { readonly hostname: string; readonly port: number };
  /** Sessions that are open. */
  readonly sessionCount: number;
  /** Stops accepting, gives sessions so long to finish what they are doing, then ends them. */
  close(drainMilliseconds?: number): Promise<void>;
}

/** Starts listening. Rejects when the address is in use. */
export function startPgServer(options: PgServerOptions): Promise<PgServer> {
  return openListener(options).then((listener) => new Server(options, listener));
}

/** Only sockets of `node:net` can be encrypted later; those of Deno are faster (6 % for point reads). */
async function openListener(options: PgServerOptions): Promise<ByteListener> {
  if (options.listener !== undefined) return options.listener;
  if (options.tls !== undefined) return await options.tls.listen(options.address);
  const listener = Deno.listen({ ...options.address, transport: "tcp" });
  return {
    addr: listener.addr,
    accept: async () => {
      const connection = await listener.accept();
      connection.setNoDelay(true);
      return connection;
    },
    close: () => listener.close(),
  };
}

const SWEEP_MILLISECONDS = 1000;
/** How often a closing server looks whether its last bytes have been sent. */
const CLOSE_POLL_MILLISECONDS = 5;

class Server implements PgServer, ConnectionContext {
  readonly engine: EnginePort;
  readonly verifier: ScramVerifier | null;
  readonly offersTls: boolean;
  readonly address: { readonly hostname: string; readonly port: number };
  readonly requiresTls: boolean;
  readonly relay: RelayPort | null;
  readonly version: string | null;
  readonly readBuffers = new ReadBuffers();
  sessionCount = 0;
  isDraining = false;
  readonly #maximumConnections: number;
  readonly #idleTimeoutMilliseconds: number | null;
  readonly #onInternalError: (error: unknown) => void;
  readonly #listener: ByteListener;
  readonly #sockets = new Set<Socket>();
  #waiting: Socket[] = [];
  #closing: Promise<void> | null = null;
  readonly #stopListening: () => void;
  readonly #sweeper: ReturnType<typeof setInterval>;

  constructor(options: PgServerOptions, listener: ByteListener) {
    this.engine = options.engine;
    const randomBytes = (count: number): Uint8Array => options.engine.randomBytes(count);
    this.verifier = options.token === null ? null : new ScramVerifier(options.token, randomBytes);
    this.offersTls = options.tls !== undefined;
    this.requiresTls = options.requiresTls === true;
    this.relay = options.relay ?? null;
    this.version = options.version ?? null;
    this.#maximumConnections = options.maximumConnections ?? LIMITS.pgConnections;
    this.#idleTimeoutMilliseconds = options.idleTimeoutMilliseconds ?? null;
    this.#onInternalError = options.onInternalError ?? (() => {});
    this.#listener = listener;
    const { hostname, port } = listener.addr as Deno.NetAddr;
    this.address = { hostname, port };
    const stopDurable = options.engine.onDurable(() => this.#durable());
    const stopRelayed = this.relay?.take("pg", ({ stream, connection }) => {
      this.#admitStream(connection, stream);
    });
    this.#stopListening = () => {
      stopDurable();
      stopRelayed?.();
    };
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MILLISECONDS);
    this.#accept();
  }

  admit(): boolean {
    if (this.sessionCount >= this.#maximumConnections) return false;
    this.sessionCount++;
    return true;
  }

  leave(): void {
    this.sessionCount--;
  }

  onInternalError(error: unknown): void {
    this.#onInternalError(error);
  }

  /** The socket has output that waits for the log. */
  awaitDurability(socket: Socket): void {
    this.#waiting.push(socket);
  }

  forget(socket: Socket): void {
    this.#sockets.delete(socket);
  }

  close(drainMilliseconds = 0): Promise<void> {
    return this.#closing ??= this.#close(drainMilliseconds);
  }

  async #close(drainMilliseconds: number): Promise<void> {
    this.isDraining = true;
    this.#listener.close();
    for (const socket of [...this.#sockets]) {
      if (socket.isRelayed) socket.destroy();
      else socket.connection.drain();
    }
    await this.#until(() => this.#all((socket) => socket.connection.hasEnded), drainMilliseconds);
    for (const socket of [...this.#sockets]) socket.connection.terminate(adminShutdown());
    await this.#until(
      () => this.#all(({ connection }) => connection.hasEnded && connection.isFlushed),
      PG_LIMITS.lingerMilliseconds,
    );
    // Clients that close their side at once have read everything.
    await this.#until(() => this.#sockets.size === 0, PG_LIMITS.closeMilliseconds);
    for (const socket of [...this.#sockets]) socket.destroy();
    clearInterval(this.#sweeper);
    this.#stopListening();
  }

  #all(condition: (socket: Socket) => boolean): boolean {
    for (const socket of this.#sockets) if (!condition(socket)) return false;
    return true;
  }

  async #until(condition: () => boolean, milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds;
    while (!condition() && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MILLISECONDS));
    }
  }

  async #accept(): Promise<void> {
    for (let accepted = 0;;) {
      let connection: ByteStream;
      try {
        connection = await this.#listener.accept();
      } catch (error) {
        if (this.isDraining) return;
        // Out of file descriptors, or a client that left while it was accepted: others may still come.
        if (error instanceof Deno.errors.BadResource) {
          this.#onInternalError(error);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MILLISECONDS));
        continue;
      }
      this.#admitStream(connection, null);
      // Connections that wait already are accepted without a turn of the event loop, and clients that only come and
      // go would be the only ones that are heard.
      if (++accepted % PG_LIMITS.acceptsPerTurn === 0) await this.engine.yieldToLoop();
    }
  }

  #admitStream(stream: ByteStream, relayed: RelayedStream | null): void {
    // The other members go on passing clients on until they know of the next primary.
    if (this.isDraining) {
      return refuse(stream, SQLSTATE.cannotConnectNow, "the database system is shutting down");
    }
    // Too many even for a proper refusal after the startup packet.
    if (this.#sockets.size >= this.#maximumConnections + PG_LIMITS.extraStartingConnections) {
      return refuse(stream, SQLSTATE.tooManyConnections, "sorry, too many clients already");
    }
    const socket = new Socket(this, stream, relayed);
    this.#sockets.add(socket);
    socket.serve();
  }

  /** A group commit has become durable. */
  #durable(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const socket of waiting) socket.durable();
  }

  #sweep(): void {
    const now = performance.now();
    for (const socket of [...this.#sockets]) {
      // The primary watches over it.
      if (socket.isRelayed) continue;
      const silence = socket.silence(now);
      const { connection } = socket;
      if (socket.hasReadAll && silence > PG_LIMITS.lingerMilliseconds && !connection.awaitsDurability) {
        socket.destroy();
      } else if (connection.hasEnded) {
        if (silence > PG_LIMITS.lingerMilliseconds && !connection.awaitsDurability) socket.destroy();
      } else if (!connection.isReady) {
        if (now - socket.openedAt > PG_LIMITS.authenticationMilliseconds) {
          connection.terminate(
            new DatabaseError(SQLSTATE.queryCanceled, "canceling authentication due to timeout"),
          );
        }
      } else if (
        this.#idleTimeoutMilliseconds !== null && silence > this.#idleTimeoutMilliseconds &&
        (!connection.isBusy || !connection.isFlushed)
      ) {
        connection.terminate(
          new DatabaseError(SQLSTATE.queryCanceled, "terminating connection due to idle timeout"),
        );
      }
    }
  }
}

/** One socket. */
class Socket {
  readonly connection: Connection;
  readonly openedAt = performance.now();
  /** The session is at another member. */
  isRelayed = false;
  /**
   * Bytes have gone in either direction since the last sweep; asking the clock for each would cost more than it is
   * worth.
   */
  #isActive = false;
  /** The first sweep after bytes went in either direction. */
  #lastActivity = this.openedAt;
  readonly #server: Server;
  #stream: ByteStream;
  #writing: Uint8Array<ArrayBuffer> | null = null;
  #written = 0;
  #isReceiving = false;
  /** The first bytes may begin a handshake of TLS. */
  #mayEncrypt: boolean;
  #isWaiting = false;
  #isHalfClosed = false;
  #isDestroyed = false;
  /** The client has closed its direction. */
  #hasReadAll = false;

  /** `relayed`: another member passes its client on. */
  constructor(server: Server, stream: ByteStream, relayed: RelayedStream | null) {
    this.#server = server;
    this.#stream = stream;
    // Where the socket is elsewhere, encryption is.
    this.#mayEncrypt = server.offersTls && relayed === null && stream.secured === undefined;
    this.connection = new Connection(server, { wake: () => this.#wake() });
    if (relayed !== null) this.connection.relayedFrom(relayed);
    else if (stream.secured !== undefined) this.connection.secured(stream.secured);
  }

  /** Reads until the end. */
  async serve(): Promise<void> {
    const { connection } = this;
    const { readBuffers } = this.#server;
    let buffer = readBuffers.first();
    let isGone = false;
    let busyMilliseconds = 0;
    try {
      for (;;) {
        const count = await this.#stream.read(buffer);
        if (count === null) break;
        if (connection.hasEnded) continue;
        this.#isActive = true;
        if (this.#mayEncrypt) {
          this.#mayEncrypt = false;
          // As with `sslnegotiation=direct`: a handshake without a request for it.
          if (isHandshake(buffer.subarray(0, count))) {
            await this.#startTls(buffer.slice(0, count));
            continue;
          }
        }
        const began = count < PG_LIMITS.bulkReadBytes ? 0 : performance.now();
        this.#isReceiving = true;
        connection.receive(buffer.subarray(0, count));
        this.#isReceiving = false;
        this.#flush();
        if (count >= PG_LIMITS.bulkReadBytes) busyMilliseconds += performance.now() - began;
        buffer = readBuffers.next(buffer, count);
        if (connection.wantsTls) await this.#startTls(null);
        if (connection.relayRequest !== null && await this.#relay(connection.relayRequest)) {
          isGone = true;
          break;
        }
        while (connection.isPaused) {
          await connection.resumed();
          busyMilliseconds = 0;
        }
        // A read of what has come already is no turn of the event loop: a client that sends without pause, as COPY
        // does, would be the only one that is heard.
        if (busyMilliseconds < PG_LIMITS.bulkTurnMilliseconds) continue;
        await this.#server.engine.slices.next(busyMilliseconds * 1000);
        busyMilliseconds = 0;
      }
    } catch (error) {
      this.#isReceiving = false;
      isGone = true;
      if (!isDisconnect(error)) this.#server.onInternalError(error);
    }
    readBuffers.giveBack(buffer);
    this.#hasReadAll = true;
    if (isGone || this.#isHalfClosed) this.destroy();
    else {
      // The client may only have closed its own direction and still want the answers.
      connection.finishInput();
      this.#flush();
    }
  }

  /** For how many milliseconds nothing has been sent or received, as far as sweeps can tell. */
  silence(now: number): number {
    if (this.#isActive) this.#lastActivity = now;
    this.#isActive = false;
    return now - this.#lastActivity;
  }

  /** true: the client has closed its direction, and waits for the last answers at most. */
  get hasReadAll(): boolean {
    return this.#hasReadAll;
  }

  /** The log has advanced. */
  durable(): void {
    this.#isWaiting = false;
    this.#wake();
    if (this.#server.isDraining) this.connection.drain();
  }

  /** Closes the socket at once. */
  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#server.forget(this);
    this.connection.close();
    try {
      this.#stream.close();
    } catch (error) {
      if (!isDisconnect(error)) throw error;
    }
  }

  #wake(): void {
    // While bytes are being processed, their answers are still growing.
    if (!this.#isReceiving) this.#flush();
  }

  /** Sends what may be sent, unless a write is under way. */
  #flush(): void {
    if (this.#writing !== null || this.#isDestroyed) return;
    const { connection } = this;
    const bytes = connection.takeOutput();
    if (bytes !== null) {
      this.#writing = bytes;
      this.#written = 0;
      this.#stream.write(bytes).then(this.#onWritten, this.#onWriteError);
      if (!connection.isBusy) busyPoll.answered(this);
    } else if (connection.awaitsDurability) {
      if (!this.#isWaiting) {
        this.#isWaiting = true;
        this.#server.awaitDurability(this);
      }
    } else if (connection.hasEnded) this.#halfClose();
  }

  readonly #onWritten = (count: number): void => {
    const bytes = this.#writing;
    if (bytes === null) return;
    this.#written += count;
    if (this.#written < bytes.length) {
      this.#stream.write(bytes.subarray(this.#written)).then(this.#onWritten, this.#onWriteError);
      return;
    }
    this.#writing = null;
    this.#isActive = true;
    this.connection.sent(bytes);
    this.#flush();
  };

  readonly #onWriteError = (error: unknown): void => {
    if (!isDisconnect(error)) this.#server.onInternalError(error);
    this.destroy();
  };

  /** Closing outright could make the system throw away the last bytes; the client closes its side first. */
  #halfClose(): void {
    if (this.#isHalfClosed) return;
    if (this.#hasReadAll) {
      this.destroy();
      return;
    }
    this.#isHalfClosed = true;
    this.#isActive = true;
    this.#stream.closeWrite().catch(() => this.destroy());
  }

  /** Passes the client on to the primary until both are done; false: it could not be reached, as the client is sent. */
  async #relay({ stream, first, expectsAnswer }: RelayRequest): Promise<boolean> {
    const { connection } = this;
    const { relay } = this.#server;
    connection.relayRequest = null;
    try {
      if (relay === null) throw noPrimary();
      const primary = await relay.open(stream);
      await this.#flushed();
      if (this.#isDestroyed) {
        primary.close();
        return true;
      }
      this.isRelayed = true;
      const conversation = expectsAnswer ? new RelayedConversation(fatal) : plainConversation(null);
      await joinStreams(this.#stream, primary, { first, conversation });
      return true;
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      connection.terminate(error);
      return false;
    }
  }

  /** What was answered has left. */
  async #flushed(): Promise<void> {
    while (!this.connection.isFlushed && !this.#isDestroyed) {
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }

  /** Encrypts the connection; `received` is the beginning of a handshake that nobody asked for. */
  async #startTls(received: Uint8Array | null): Promise<void> {
    const { connection } = this;
    connection.wantsTls = true;
    // The `S` must have left in clear text.
    await this.#flushed();
    if (this.#isDestroyed) return;
    const { stream, encryption, endPoint } = await (this.#stream as SecurableStream).secure({
      protocols: [BEGINNING.pg.application],
      requiresProtocol: received !== null,
      received,
    });
    this.#stream = stream;
    if (this.#isDestroyed) stream.close();
    connection.tlsStarted(encryption, endPoint);
  }
}

function refuse(connection: ByteStream, code: SqlState, message: string): void {
  connection.write(fatal(new DatabaseError(code, message))).catch(() => 0).finally(() => connection.close());
}

/** An error that ends a connection, as its client is sent it. */
function fatal(error: DatabaseError): Uint8Array {
  const writer = new MessageWriter();
  writer.writeError(error, "FATAL");
  writer.release(0, 0);
  return writer.take(0) ?? new Uint8Array(0);
}

/** Whether an error of a socket only says that its client, or the server itself, has closed it. */
function isDisconnect(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.ConnectionAborted || error instanceof Deno.errors.BadResource ||
    error instanceof Deno.errors.Interrupted || error instanceof Deno.errors.NotConnected ||
    error instanceof Deno.errors.UnexpectedEof || error instanceof Deno.errors.TimedOut;
}
