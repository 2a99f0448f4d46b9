/**
 * The client's end of one connection: handshake, frames out, replies in.
 *
 * Requests that are made in one turn of the event loop leave in one write. When the connection ends, for whatever
 * reason, `onClose` is called once, with the error that the server sent last if it sent one.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { ByteWriter } from "../../engine/base/bytes.ts";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import { LIMITS } from "../../engine/base/limits.ts";
import { PROTOCOL_VERSION, type Reply, type Request } from "../shared/operation/operation.ts";
import { writeRequest } from "../shared/operation/operation_codec.ts";
import { writeFramed } from "../shared/operation/operation_connection.ts";
import type { ReadFrom } from "../shared/relay_port.ts";
import { decodeReply, errorOf, REPLY_CODES } from "../shared/operation/reply_codec.ts";
import type { ClientTls } from "./client_api.ts";
import { openSocket, tlsFailure } from "./client_socket.ts";
import { FrameReader, plainBytes } from "./frame_reader.ts";
import {
  clientProof,
  decodeServerHello,
  decodeWelcome,
  encodeClientHello,
  encodeClientProof,
  NONCE_BYTES,
  sameProof,
  type ServerHello,
  serverProof,
  type ToldPrimary,
  type Welcome,
} from "./handshake.ts";

/** How to reach a server. */
export interface ConnectionRequest {
  readonly hostname: string;
  readonly port: number;
  readonly token: string | null;
  /** null: in clear text. */
  readonly tls: ClientTls | null;
  /** Names the program that connects. */
  readonly name: string;
  readonly readFrom: ReadFrom;
  readonly timeoutMilliseconds: number;
  /** Begins to connect; over the system's sockets unless given. */
  readonly openSocket?: typeof openSocket;
}

/** Who hears of what a connection brings. */
export interface ConnectionListener {
  onReply(reply: Reply): void;
  onClose(error: DatabaseError): void;
}

/** Written at once when so much has been collected. */
const FLUSH_BYTES = 256 * 1024;

/** The client's end of one connection: handshake, frames out, replies in. */
export class ClientConnection {
  /** The version of the server program. */
  readonly serverVersion: string;
  /** Where its session is, in a cluster. */
  readonly cluster: ToldPrimary | null;
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  readonly #writer = new ByteWriter(4096);
  readonly #columnCounts = new Map<bigint, number>();
  #listener: ConnectionListener | null = null;
  #isFlushScheduled = false;
  #isClosed = false;
  #lastError: DatabaseError | null = null;
  #drainWaiters: (() => void)[] = [];

  private constructor(socket: Socket, reader: FrameReader, hello: ServerHello, { cluster }: Welcome) {
    this.#socket = socket;
    this.#reader = reader;
    this.serverVersion = hello.serverVersion;
    this.cluster = cluster;
  }

  /**
   * Connects and authenticates. Raises 08000 when the server cannot be reached, 28P01 for a wrong token, and others.
   */
  static open(request: ConnectionRequest): Promise<ClientConnection> {
    return new Promise((resolve, reject) => {
      const { hostname, port, token, name, readFrom } = request;
      const place = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
      const nonce = new Uint8Array(randomBytes(NONCE_BYTES));
      const reader = new FrameReader(LIMITS.maximumFrameBytes);
      const socket = (request.openSocket ?? openSocket)(request);
      let hello: ServerHello | null = null;
      let connection: ClientConnection | null = null;
      let isFailing = false;
      const fail = (error: DatabaseError): void => {
        clearTimeout(timer);
        socket.destroy();
        reject(error);
      };
      const unreachable = (why: string): DatabaseError =>
        new DatabaseError(SQLSTATE.connectionException, `Cannot connect to ${place}: ${why}`, {
          hint: "Is dbd running, and does it listen there?",
        });
      const timer = setTimeout(
        () => fail(unreachable(`no answer within ${request.timeoutMilliseconds / 1000} s`)),
        request.timeoutMilliseconds,
      );
      socket.once(request.tls === null ? "connect" : "secureConnect", () => {
        socket.write(framed(encodeClientHello({ version: PROTOCOL_VERSION, nonce, name, readFrom })));
      });
      const shake = (frame: Uint8Array): void => {
        if (frame[0] === REPLY_CODES.error) {
          const reply = decodeReply(frame, () => 0);
          if (reply.kind === "error") throw errorOf(reply.failure);
        }
        if (hello === null) {
          hello = decodeServerHello(frame);
          if (hello.authentication === "none") return;
          if (token === null) {
            throw new DatabaseError(SQLSTATE.invalidAuthorizationSpecification, `${place} asks for a token`, {
              hint: "Give it with --token or in DB_TOKEN.",
            });
          }
          socket.write(framed(encodeClientProof(clientProof(token, { client: nonce, server: hello.nonce }))));
          return;
        }
        const welcome = decodeWelcome(frame);
        if (hello.authentication !== "none") {
          const expected = serverProof(token ?? "", { client: nonce, server: hello.nonce });
          if (welcome.proof === null || !sameProof(welcome.proof, expected)) {
            throw new DatabaseError(
              SQLSTATE.invalidAuthorizationSpecification,
              `${place} does not know the token: it is not the server it claims to be`,
            );
          }
        }
        clearTimeout(timer);
        connection = new ClientConnection(socket, reader, hello, welcome);
        resolve(connection);
      };
      socket.on("data", (bytes: Uint8Array) => {
        try {
          reader.feed(plainBytes(bytes), (frame) => {
            if (connection === null) shake(frame);
            else connection.#receive(frame);
            return !socket.destroyed;
          });
        } catch (error) {
          if (!(error instanceof DatabaseError)) throw error;
          // The beginning of another protocol, read as the length of a frame.
          const isOther = hello === null && error.code === SQLSTATE.programLimitExceeded;
          if (connection === null) fail(isOther ? unreachable("it speaks another protocol") : error);
          else connection.#fail(error);
        }
      });
      socket.on("drain", () => {
        if (connection !== null) connection.#drained();
      });
      socket.on("error", (error: Error) => {
        if (connection !== null) return;
        const { tls } = request;
        if (tls === null) fail(unreachable(reasonOf(error)));
        else {
          isFailing = true;
          tlsFailure({ hostname, port, tls }, error).then((failure) => {
            fail(
              failure === null ? unreachable(reasonOf(error)) : new DatabaseError(
                SQLSTATE.sqlclientUnableToEstablishSqlconnection,
                `Cannot connect to ${place}: ${failure.why}`,
                { hint: failure.hint, cause: error },
              ),
            );
          });
        }
      });
      socket.on("close", () => {
        if (connection !== null) connection.#closed();
        else if (!isFailing) fail(unreachable("the connection was closed during the handshake"));
      });
    });
  }

  /** Who hears of replies from now on. */
  listen(listener: ConnectionListener): void {
    this.#listener = listener;
    if (this.#isClosed) listener.onClose(this.closeError);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a request, with others of the same turn. Answers false when the socket is behind. */
  send(request: Request): boolean {
    if (this.#isClosed) return true;
    writeFramed(this.#writer, (writer) => writeRequest(writer, request));
    if (this.#writer.length >= FLUSH_BYTES) this.#flush();
    else if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      queueMicrotask(() => {
        this.#isFlushScheduled = false;
        this.#flush();
      });
    }
    return this.#socket.writableLength < FLUSH_BYTES;
  }

  /** Resolves when the socket has taken what was sent, or is closed. */
  drained(): Promise<void> {
    if (this.#isClosed || this.#socket.writableLength < FLUSH_BYTES) return Promise.resolve();
    return new Promise((resolve) => this.#drainWaiters.push(resolve));
  }

  /** Stops or resumes reading. */
  setPaused(paused: boolean): void {
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Closes the connection; replies that are under way are lost. */
  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.destroySoon();
    return closed;
  }

  #flush(): void {
    if (this.#writer.length === 0 || this.#isClosed) return;
    const bytes = this.#writer.finish();
    this.#writer.reset();
    this.#socket.write(bytes);
  }

  #receive(frame: Uint8Array): void {
    const reply = decodeReply(frame, (number) => this.#columnCounts.get(number) ?? 0);
    if (reply.kind === "columns") this.#columnCounts.set(reply.number, reply.columns.length);
    else if (reply.kind === "end" || reply.kind === "error") this.#columnCounts.delete(reply.number);
    if (reply.kind === "error" && reply.number === 0n) this.#lastError = errorOf(reply.failure);
    else this.#listener?.onReply(reply);
  }

  #fail(error: DatabaseError): void {
    this.#lastError = error;
    this.#socket.destroy();
  }

  #drained(): void {
    const waiters = this.#drainWaiters;
    this.#drainWaiters = [];
    for (const resolve of waiters) resolve();
  }

  #closed(): void {
    this.#isClosed = true;
    this.#drained();
    this.#listener?.onClose(this.closeError);
  }

  /** Why it was closed. */
  get closeError(): DatabaseError {
    return this.#lastError ??
      new DatabaseError(SQLSTATE.connectionException, "the server closed the connection");
  }
}

function framed(message: Uint8Array): Uint8Array {
  const writer = new ByteWriter(message.length + 4);
  writeFramed(writer, (each) => each.writeBytes(message));
  return writer.finish();
}

function reasonOf(error: Error): string {
  const code = "code" in error ? String(error.code) : "";
  switch (code) {
    case "ECONNREFUSED":
      return "connection refused";
    case "ENOTFOUND":
      return "the host name is not known";
    case "ETIMEDOUT":
      return "no answer";
    default:
      return error.message;
  }
}
