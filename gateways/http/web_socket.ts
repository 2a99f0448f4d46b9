/**
 * `GET /v1/ws`: the binary protocol's messages over a WebSocket (RFC 6455), subprotocol `db-op-v1`, without the length
 * prefix and without a handshake of their own: the upgrade has authenticated.
 *
 * Closes: 1003 for a text frame, 1002 for a message that cannot be decoded or a violation of RFC 6455, 1009 for one
 * that is too long, 1013 when replies would make the send queue longer than `LIMITS.webSocketSendQueue` messages and
 * the client takes none for a second (the rows of one statement wait for the client instead), 1011 when a ping has no
 * pong for 60 s, 1001 when the server stops.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { SQLSTATE } from "../../engine/base/errors.ts";
import { LIMITS } from "../../engine/base/limits.ts";
import type { Engine } from "../../engine/session/engine.ts";
import type { SessionEncryption } from "../../engine/system_catalog/catalog_context.ts";
import {
  type ConnectionTransport,
  framedMessages,
  OperationConnection,
} from "../shared/operation/operation_connection.ts";
import { InputFlow } from "../shared/input_flow.ts";
import type { ReadFrom } from "../shared/relay_port.ts";
import type { DurabilityWatch } from "../shared/operation/outbox.ts";
import { httpFailure } from "./failure.ts";
import { headerOf, type RequestHead } from "./request_head.ts";

/** The subprotocol's name. */
export const SUBPROTOCOL = "db-op-v1";

/** How the listener is set up. */
export interface WebSocketOptions {
  readonly engine: Engine;
  readonly watch: DurabilityWatch;
  readonly onInternalError: (error: unknown) => void;
  readonly heartbeatMilliseconds?: number;
  readonly maximumMessageBytes?: number;
}

const HEARTBEAT_MILLISECONDS = 30_000;
/** Heartbeats without a pong before the connection is given up. */
const MISSED_HEARTBEATS = 2;
/** How long a full send queue may stand still while further requests wait for room in it. */
const STALL_MILLISECONDS = 1_000;
const GOODBYE_MILLISECONDS = 2_000;
/** A client that was slow gets more time to come to the close frame. */
const SLOW_GOODBYE_MILLISECONDS = 15_000;

/** A token of RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Raises 426 or 400 unless the head is a proper opening handshake for the subprotocol. Whatever passes here must pass
 * `npm:ws` too, which answers in a form of its own: of white space only blanks and tabs may be around a value.
 */
export function checkUpgrade(head: RequestHead): void {
  const upgrade = { Upgrade: "websocket", Connection: "Upgrade" };
  const tokens = (name: string): string[] =>
    (headerOf(head, name) ?? "").split(",").map((token) => token.replace(/^[ \t]+|[ \t]+$/g, "")).filter((
      token,
    ) => token !== "");
  const has = (name: string, wanted: string): boolean =>
    tokens(name).some((token) => token.toLowerCase() === wanted);
  if (headerOf(head, "upgrade")?.toLowerCase() !== "websocket" || !has("connection", "upgrade")) {
    throw httpFailure(426, SQLSTATE.protocolViolation, "this is the address of a WebSocket", {
      headers: upgrade,
    });
  }
  if (headerOf(head, "sec-websocket-version") !== "13") {
    throw httpFailure(
      426,
      SQLSTATE.protocolViolation,
      "only version 13 of the WebSocket protocol is spoken",
      {
        headers: { ...upgrade, "Sec-WebSocket-Version": "13" },
      },
    );
  }
  if (!/^[A-Za-z0-9+/]{21}[AQgw]==$/.test(headerOf(head, "sec-websocket-key") ?? "")) {
    throw httpFailure(400, SQLSTATE.protocolViolation, "Sec-WebSocket-Key must be 16 bytes in Base64");
  }
  const protocols = tokens("sec-websocket-protocol");
  if (!protocols.every((each) => TOKEN.test(each)) || new Set(protocols).size < protocols.length) {
    throw httpFailure(400, SQLSTATE.protocolViolation, "Sec-WebSocket-Protocol must list different names");
  }
  if (!protocols.includes(SUBPROTOCOL)) {
    throw httpFailure(426, SQLSTATE.protocolViolation, `the subprotocol ${SUBPROTOCOL} must be offered`, {
      headers: upgrade,
    });
  }
}

/** All WebSockets of a listener. */
export class WebSockets {
  readonly #options: WebSocketOptions;
  readonly #server: WebSocketServer;
  readonly #links = new Set<Link>();

  constructor(options: WebSocketOptions) {
    this.#options = options;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: options.maximumMessageBytes ?? LIMITS.maximumWebSocketMessageBytes,
      handleProtocols: () => SUBPROTOCOL,
    });
  }

  get count(): number {
    return this.#links.size;
  }

  /** Takes over a socket whose head has passed {@link checkUpgrade}. */
  accept(
    request: IncomingMessage,
    socket: Duplex,
    { head, encryption, readFrom }: {
      readonly head: Uint8Array;
      readonly encryption: SessionEncryption | null;
      readonly readFrom: ReadFrom;
    },
  ): void {
    this.#server.handleUpgrade(
      request,
      socket,
      head as Parameters<WebSocketServer["handleUpgrade"]>[2],
      (webSocket) => {
        const link = new Link(webSocket, this.#options, { encryption, readFrom });
        this.#links.add(link);
        webSocket.once("close", () => this.#links.delete(link));
      },
    );
  }

  /** Lets running requests finish within the time and closes all. */
  async close(drainMilliseconds: number): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.shutDown(drainMilliseconds)));
    this.#server.close();
  }
}

class Link {
  readonly #webSocket: WebSocket;
  readonly #connection: OperationConnection;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #closed: Promise<void>;
  #missed = 0;
  /** Messages given to the socket that it has not taken yet. */
  #queued = 0;
  #stall: ReturnType<typeof setTimeout> | null = null;
  readonly #flow: InputFlow;
  #isEnding = false;

  constructor(
    webSocket: WebSocket,
    options: WebSocketOptions,
    session: { readonly encryption: SessionEncryption | null; readonly readFrom: ReadFrom },
  ) {
    this.#webSocket = webSocket;
    this.#flow = new InputFlow({
      setStopped: (isStopped) => {
        if (isStopped) webSocket.pause();
        else webSocket.resume();
      },
      nextSlice: (took) => options.engine.slices.next(took),
    });
    // Messages are what is counted here: with a full queue statements wait and requests are not begun.
    const backlog = (): number => this.#queued >= LIMITS.webSocketSendQueue ? Number.MAX_SAFE_INTEGER : 0;
    const transport: ConnectionTransport = {
      send: (messages) => this.#send(messages),
      get backlogBytes() {
        return backlog();
      },
      setPaused: (paused) => this.#flow.setHeld(paused),
      end: (reason) => this.#end(reason === "violation" ? 1002 : 1001),
    };
    this.#connection = new OperationConnection({
      engine: options.engine,
      watch: options.watch,
      onInternalError: options.onInternalError,
      transport,
      ...session,
    });
    this.#heartbeat = setInterval(
      () => this.#beat(),
      options.heartbeatMilliseconds ?? HEARTBEAT_MILLISECONDS,
    );
    this.#closed = new Promise((resolve) => webSocket.once("close", () => resolve()));
    webSocket.on("message", (data, isBinary) => this.#receive(data, isBinary));
    webSocket.on("pong", () => {
      this.#missed = 0;
    });
    // The library closes with the code that belongs to the error (1002, 1009).
    webSocket.on("error", () => {});
    webSocket.on("close", () => {
      clearInterval(this.#heartbeat);
      if (this.#stall !== null) clearTimeout(this.#stall);
      this.#connection.closed();
    });
  }

  async shutDown(drainMilliseconds: number): Promise<void> {
    await this.#connection.shutDown(drainMilliseconds);
    await this.#closed;
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#isEnding) return;
    if (!isBinary) {
      this.#end(1003);
      return;
    }
    const bytes = bytesOf(data);
    this.#flow.process(bytes.length, () => {
      this.#connection.receive(bytes);
      this.#connection.flush();
    });
    this.#watchStall();
  }

  #send(messages: Uint8Array): void {
    for (const message of framedMessages(messages)) {
      if (this.#webSocket.readyState !== this.#webSocket.OPEN) return;
      this.#queued++;
      this.#webSocket.send(message, () => this.#sent());
    }
    this.#watchStall();
  }

  #sent(): void {
    this.#queued--;
    if (this.#stall !== null) {
      clearTimeout(this.#stall);
      this.#stall = null;
    }
    if (this.#queued < LIMITS.webSocketSendQueue) this.#connection.flush();
    this.#watchStall();
  }

  /** The queue is full and more is to come: a client that takes nothing for a while is let go. */
  #watchStall(): void {
    if (this.#queued < LIMITS.webSocketSendQueue || this.#connection.waitingRequests === 0) return;
    this.#stall ??= setTimeout(() => this.#end(1013), STALL_MILLISECONDS);
  }

  #beat(): void {
    if (this.#missed >= MISSED_HEARTBEATS) {
      this.#end(1011);
      return;
    }
    this.#missed++;
    this.#webSocket.ping();
  }

  #end(code: number): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#webSocket.close(code);
    const patience = code === 1013 ? SLOW_GOODBYE_MILLISECONDS : GOODBYE_MILLISECONDS;
    const timer = setTimeout(() => this.#webSocket.terminate(), patience);
    this.#webSocket.once("close", () => clearTimeout(timer));
  }
}

function bytesOf(data: RawData): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (Array.isArray(data)) return new Uint8Array(data.flatMap((part) => [...part]));
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
