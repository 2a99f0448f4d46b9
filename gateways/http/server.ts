/**
 * The HTTP listener: `/v1/sql`, `/v1/op`, `/v1/health`, `/v1/metrics`, `/v1/ws`.
 *
 * The same paths are served in clear text and, on an address of their own, over TLS.
 *
 * It uses `node:http` rather than `Deno.serve`, because only there the number of connections can be held and
 * a WebSocket gets the close codes of its own protocol. A connection beyond the cap is answered 503 and closed before
 * anything of it is read. Invariants: with a token set nothing but `/v1/health` is answered without it; every failure
 * has the failure object as its body; an answer that tells of an entry leaves when that entry is durable.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { assert } from "../../engine/base/assert.ts";
import { encodeUtf8 } from "../../engine/base/bytes.ts";
import { SQLSTATE } from "../../engine/base/errors.ts";
import { LIMITS } from "../../engine/base/limits.ts";
import type { TurnTimes } from "../../engine/host/turn_watch.ts";
import { busyPoll } from "../../engine/host/busy_poll.ts";
import { turnWork } from "../../engine/host/turn_work.ts";
import type { Engine } from "../../engine/session/engine.ts";
import type { SessionEncryption } from "../../engine/system_catalog/catalog_context.ts";
import type { TlsServer } from "../shared/byte_stream.ts";
import { sayFarewell } from "../shared/farewell.ts";
import { GATEWAY_LIMITS } from "../shared/limits.ts";
import { noPrimary, type RelayedClient, type RelayPort } from "../shared/relay_port.ts";
import { DurabilityWatch } from "../shared/operation/outbox.ts";
import { socketOver } from "../shared/stream_socket.ts";
import { failureReply, type HttpReply, JSON_TYPE, readBody, sendReply } from "./exchange.ts";
import { failureBody, failureFor, type HttpFailure, httpFailure } from "./failure.ts";
import { METRICS_CONTENT_TYPE, metricsText, RequestCounters } from "./metrics.ts";
import { Forwarding } from "./forward.ts";
import { answerOperation } from "./operation_endpoint.ts";
import { readOperationRequest } from "./operation_request.ts";
import {
  clientSequenceOf,
  contentTypeOf,
  countedPath,
  isolationHeader,
  minOpHeader,
  partialHeader,
  pathOf,
  readFromHeader,
  type RequestHead,
  type Route,
  routeOf,
  TokenCheck,
  wantsLines,
} from "./request_head.ts";
import { Pipeline } from "./pipeline.ts";
import { readSqlRequest } from "./sql_request.ts";
import { checkUpgrade, WebSockets } from "./web_socket.ts";

/** Where a listener is bound. */
export interface HttpAddress {
  readonly hostname: string;
  readonly port: number;
}

/** How to start the listener. */
export interface HttpServerOptions {
  readonly engine: Engine;
  /** Port 0: any free one; null: nothing is served in clear text, see {@link HttpServer.listenTls}. */
  readonly address: HttpAddress | null;
  /** The bearer token; null: open. */
  readonly token: string | null;
  /** The program's version, shown by `/v1/health`. */
  readonly version: string;
  readonly maximumConnections?: number;
  readonly maximumBodyBytes?: number;
  readonly maximumRequestsInFlight?: number;
  /** Receives bugs that statements ran into; the client is sent XX000. */
  readonly onInternalError?: (error: unknown) => void;
  /** Where sessions are, when the server is a member of a cluster. */
  readonly relay?: RelayPort;
  /** Of the thread's event loop, for `/v1/metrics`. */
  readonly turns?: TurnTimes;
  /** Further gauges, and counters that end with `_total`, for `/v1/metrics`, by name without `db_`. */
  readonly otherMetrics?: () => Readonly<Record<string, number>>;
  readonly heartbeatMilliseconds?: number;
}

/** A listener that runs. */
export interface HttpServer {
  /** Where clear text is served. */
  readonly address: HttpAddress;
  /** Connections of both kinds. */
  readonly connections: number;
  /** Serves over TLS as well; answers where. Rejects when the address is not available. */
  listenTls(tls: TlsServer, address: HttpAddress): Promise<HttpAddress>;
  /** Serves a client of whom so much has been read, on a socket that came from elsewhere. */
  take(socket: Socket, received: Uint8Array): void;
  /** Stops accepting, lets running requests finish within the time, and closes every connection. */
  close(drainMilliseconds: number): Promise<void>;
}

/** Starts listening. Rejects when the address is not available. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const gateway = new Gateway(options);
  if (options.address !== null) await gateway.listen(options.address);
  return gateway;
}

/** The application protocol, as registered for ALPN. */
const APPLICATION_PROTOCOL = "http/1.1";

class Gateway implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #engine: Engine;
  readonly #tokens: TokenCheck;
  readonly #counters = new RequestCounters();
  readonly #watch: DurabilityWatch;
  readonly #webSockets: WebSockets;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #encryptions = new WeakMap<Socket, SessionEncryption>();
  /** Ends with the newest request of each connection. */
  readonly #pipelines = new WeakMap<Socket, Pipeline>();
  /** The newest request of each connection. */
  readonly #latest = new WeakMap<Socket, IncomingMessage>();
  /** Connections that another member passes on. */
  readonly #relayed = new WeakSet<Socket>();
  readonly #forwarding: Forwarding | null;
  readonly #stopRelayed: () => void;
  readonly #startedAt = performance.now();
  readonly #onInternalError: (error: unknown) => void;
  /** Listens nowhere: it serves what is handed in. */
  #handedServer: Server | null = null;
  #inFlight = 0;
  /** Handshakes of connections that are refused after them. */
  #refusals = 0;
  #isClosing = false;
  #idleListeners: (() => void)[] = [];

  constructor(options: HttpServerOptions) {
    assert(options.token !== "", "an empty token would let everybody in");
    this.#options = options;
    this.#engine = options.engine;
    this.#tokens = new TokenCheck(options.token);
    this.#watch = new DurabilityWatch(options.engine);
    this.#onInternalError = options.onInternalError ?? (() => {});
    this.#forwarding = options.relay === undefined ? null : new Forwarding(options.relay);
    this.#stopRelayed = options.relay?.take("http", (client) => this.#takeRelayed(client)) ?? (() => {});
    this.#webSockets = new WebSockets({
      engine: options.engine,
      watch: this.#watch,
      onInternalError: this.#onInternalError,
      ...(options.heartbeatMilliseconds === undefined
        ? {}
        : { heartbeatMilliseconds: options.heartbeatMilliseconds }),
    });
  }

  get address(): HttpAddress {
    const [first] = this.#servers;
    assert(first !== undefined, "a gateway listens somewhere");
    return addressOf(first);
  }

  get connections(): number {
    return this.#sockets.size;
  }

  async listen(address: HttpAddress): Promise<void> {
    await this.#listen(address, null);
  }

  listenTls(tls: TlsServer, address: HttpAddress): Promise<HttpAddress> {
    return this.#listen(address, tls);
  }

  #listen(address: HttpAddress, tls: TlsServer | null): Promise<HttpAddress> {
    const server = this.#server(tls);
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: address.hostname, port: address.port, backlog: 1024 }, () => {
        server.removeListener("error", reject);
        this.#servers.push(server);
        resolve(addressOf(server));
      });
    });
  }

  #server(tls: TlsServer | null): Server {
    const http = createServer({
      keepAliveTimeout: GATEWAY_LIMITS.httpKeepAliveMilliseconds,
      headersTimeout: GATEWAY_LIMITS.httpHeadMilliseconds,
      requestTimeout: GATEWAY_LIMITS.httpRequestMilliseconds,
      maxHeaderSize: GATEWAY_LIMITS.maximumHttpHeadBytes,
      // The check is made here, for an answer with a failure object.
      requireHostHeader: false,
    });
    http.on("request", (request, response) => this.#serve(request, response, false));
    http.on("checkContinue", (request, response) => this.#serve(request, response, true));
    http.on("checkExpectation", (request, response) => {
      const failure = httpFailure(417, SQLSTATE.protocolViolation, "only 100-continue can be expected");
      this.#counters.count(countedPath(headOf(request)), this.#fail(request, response, failure), 0);
    });
    http.on("upgrade", (request, socket, head) => {
      // What the connection has asked for before is answered before.
      const before = this.#pipelines.get(request.socket)?.settled ?? null;
      if (before === null) this.#upgrade(request, socket, head);
      else {
        socket.pause();
        before.then(() => {
          this.#upgrade(request, socket, head);
          socket.resume();
        });
      }
    });
    http.on("clientError", (error, socket) => refuseSocket(socket, malformed(error)));
    this.#admitConnections(http, tls);
    return http;
  }

  async close(drainMilliseconds: number): Promise<void> {
    this.#isClosing = true;
    this.#stopRelayed();
    const closed = Promise.all(
      this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
    );
    const draining = this.#webSockets.close(drainMilliseconds);
    if (this.#inFlight > 0 && drainMilliseconds > 0) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([
        new Promise<void>((resolve) => this.#idleListeners.push(resolve)),
        new Promise<void>((resolve) => timer = setTimeout(resolve, drainMilliseconds)),
      ]);
      clearTimeout(timer);
    }
    await draining;
    for (const socket of this.#sockets) socket.destroySoon();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, GATEWAY_LIMITS.farewell.silenceMilliseconds);
    await closed;
    clearTimeout(timer);
    this.#watch.close();
  }

  /** Puts a gate in front of the listener that `node:http` has for new connections: the cap, and TLS. */
  #admitConnections(http: Server, tls: TlsServer | null): void {
    const [attach] = http.listeners("connection");
    assert(attach !== undefined, "node:http listens for connections");
    http.removeAllListeners("connection");
    const keep = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    };
    const serve = (socket: Socket): void => {
      socket.on("error", () => {});
      socket.setKeepAlive(true);
      attach.call(http, socket);
      this.#boundHead(socket);
    };
    http.on("connection", (socket: Socket) => {
      const isWelcome = this.#sockets.size < (this.#options.maximumConnections ?? LIMITS.httpConnections);
      if (tls === null) {
        if (isWelcome) {
          keep(socket);
          serve(socket);
        } else refuseSocket(socket, tooManyConnections());
        return;
      }
      // A refusal takes a handshake, too.
      if (!isWelcome && this.#refusals >= GATEWAY_LIMITS.extraHandshakes) {
        socket.destroy();
        return;
      }
      if (isWelcome) keep(socket);
      else this.#refusals++;
      tls.secure(socket, { protocols: [APPLICATION_PROTOCOL], received: null }).then(
        ({ socket: secured, encryption }) => {
          this.#sockets.delete(socket);
          if (!isWelcome) refuseSocket(secured, tooManyConnections());
          else {
            this.#encryptions.set(secured, encryption);
            keep(secured);
            serve(secured);
          }
        },
      ).catch((error: unknown) => {
        if (!(error instanceof Deno.errors.ConnectionReset)) this.#onInternalError(error);
      }).finally(() => {
        if (!isWelcome) this.#refusals--;
      });
    });
  }

  /** Serves a client that another member passes on. */
  #takeRelayed({ stream, connection }: RelayedClient): void {
    if (this.#isClosing) return connection.close();
    const socket = socketOver(connection, { allowHalfOpen: true });
    this.#relayed.add(socket);
    if (stream.encryption !== null) this.#encryptions.set(socket, stream.encryption);
    this.take(socket, new Uint8Array(0));
  }

  take(socket: Socket, received: Uint8Array): void {
    if (this.#handedServer === null) {
      this.#handedServer = this.#server(null);
      // `node:http` ends each connection of a server that does not listen after one answer.
      Object.defineProperty(this.#handedServer, "listening", { get: () => !this.#isClosing });
    }
    socket.pause();
    if (received.length > 0) socket.unshift(received);
    this.#handedServer.emit("connection", socket);
    socket.resume();
  }

  /** The parser bounds single fields only: a head that goes on and on is ended here. */
  #boundHead(socket: Socket): void {
    let headBytes = 0;
    let seen: IncomingMessage | undefined;
    const onData = (data: Uint8Array): void => {
      // The parser has seen the data before.
      const latest = this.#latest.get(socket);
      const isHead = latest === seen && latest?.complete !== false;
      seen = latest;
      headBytes = isHead ? headBytes + data.length : 0;
      if (headBytes <= GATEWAY_LIMITS.maximumUnfinishedHeadBytes) return;
      // Neither this nor the parser is to see any more of it.
      socket.removeAllListeners("data");
      refuseSocket(
        socket,
        httpFailure(431, SQLSTATE.programLimitExceeded, "the header fields are too long"),
      );
    };
    socket.on("data", onData);
    socket.once("upgraded", () => socket.removeListener("data", onData));
  }

  #pipelineOf(socket: Socket): Pipeline {
    let pipeline = this.#pipelines.get(socket);
    if (pipeline === undefined) {
      pipeline = new Pipeline(socket, () => this.#engine.yieldToLoop());
      this.#pipelines.set(socket, pipeline);
    }
    return pipeline;
  }

  async #serve(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Promise<void> {
    const startedAt = performance.now();
    const head = headOf(request);
    let status: number;
    this.#latest.set(request.socket, request);
    this.#inFlight++;
    const endTurn = await this.#pipelineOf(request.socket).turn();
    turnWork.began("HTTP request");
    turnWork.requests++;
    try {
      // Nobody waits for it any more, or it is behind one that was refused.
      if (request.socket.destroyed || request.socket.writableEnded) {
        throw httpFailure(400, SQLSTATE.connectionException, "the connection is lost");
      }
      requireHost(request);
      const route = routeOf(head, this.#tokens);
      status = await this.#answer({ request, response, head, route, expectsContinue });
    } catch (error) {
      status = this.#fail(request, response, error);
    } finally {
      busyPoll.answered(request.socket);
      endTurn();
      this.#inFlight--;
      if (this.#inFlight === 0) {
        for (const listener of this.#idleListeners.splice(0)) listener();
      }
    }
    this.#counters.count(countedPath(head), status, (performance.now() - startedAt) / 1000);
  }

  #answer(exchange: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly head: RequestHead;
    readonly route: Route;
    readonly expectsContinue: boolean;
  }): Promise<number> | number {
    const { response, head, route } = exchange;
    switch (route) {
      case "health":
        return send(response, this.#health());
      case "metrics":
        return send(response, this.#metrics());
      case "ws":
        checkUpgrade(head);
        throw httpFailure(426, SQLSTATE.protocolViolation, "this is the address of a WebSocket");
      case "sql":
      case "op":
        return this.#operate(exchange, route);
    }
  }

  async #operate(exchange: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly head: RequestHead;
    readonly expectsContinue: boolean;
  }, route: "sql" | "op"): Promise<number> {
    const { request, response, head } = exchange;
    if (this.#inFlight > (this.#options.maximumRequestsInFlight ?? LIMITS.httpRequestsInFlight)) {
      throw httpFailure(429, SQLSTATE.insufficientResources, "too many requests are being answered", {
        headers: { "Retry-After": "1" },
      });
    }
    this.#requireReady();
    const readFrom = readFromHeader(head);
    if (readFrom === "primary" && this.#isForPrimary(request)) {
      if (exchange.expectsContinue) inviteBody(request, response);
      return await this.#forwardingTo().request(
        request,
        response,
        this.#encryptions.get(request.socket) ?? null,
      );
    }
    const sqlType = route === "sql" ? contentTypeOf(head, ["text/plain", "application/json"]) : null;
    const opType = route === "op"
      ? contentTypeOf(head, ["application/octet-stream", "application/json"])
      : null;
    const headerClient = clientSequenceOf(head);
    const minOp = minOpHeader(head);
    const mayBePartial = partialHeader(head);
    const isolation = isolationHeader(head);
    if (exchange.expectsContinue) inviteBody(request, response);
    const body = await readBody(request, this.#options.maximumBodyBytes ?? LIMITS.maximumHttpBodyBytes);
    this.#requireReady();
    const { operation, client } = sqlType !== null
      ? { operation: readSqlRequest(body, sqlType), client: null }
      : readOperationRequest(body, opType ?? "application/json");
    return await answerOperation({
      engine: this.#engine,
      response,
      operation,
      client: headerClient ?? client,
      encryption: this.#encryptions.get(request.socket) ?? null,
      readFrom,
      minOp,
      mayBePartial,
      isolation,
      lines: wantsLines(head),
      onInternalError: this.#onInternalError,
    });
  }

  /** Whether the session is another member's. Raises 57P03 when nobody knows. */
  #isForPrimary({ socket }: IncomingMessage): boolean {
    return this.#options.relay?.route({ isRelayed: this.#relayed.has(socket) }) === "primary";
  }

  #forwardingTo(): Forwarding {
    assert(this.#forwarding !== null, "only a member of a cluster passes requests on");
    return this.#forwarding;
  }

  #requireReady(): void {
    if (!this.#isClosing && !this.#engine.isFailed) return;
    throw httpFailure(
      503,
      SQLSTATE.cannotConnectNow,
      this.#isClosing ? "the server is shutting down" : "the node has stopped after a failed write",
      { headers: { "Retry-After": "1" } },
    );
  }

  #health(): HttpReply {
    this.#requireReady();
    const { role, viewNumber, lastOp, clusterVersion, versions, cluster } = this.#engine;
    if (cluster?.isAvailable === false) {
      const present = cluster.members.filter(({ isConnected }) => isConnected).length;
      const count = cluster.members.length;
      throw noPrimary(
        present * 2 > count ? "" : `: only ${present} of ${count} members reach each other here`,
      );
    }
    const primary = cluster?.members.find(({ index }) => index === cluster.primaryIndex);
    const body = {
      status: "ok",
      role,
      view: viewNumber,
      op_number: cluster?.commitNumber ?? lastOp,
      version: this.#options.version,
      cluster_version: cluster?.clusterVersion ?? clusterVersion,
      spoken_version: versions.newest,
      ...(primary === undefined ? {} : {
        member: cluster?.index,
        primary: { member: primary.index, address: primary.address },
      }),
    };
    return { status: 200, contentType: JSON_TYPE, body: JSON.stringify(body) + "\n" };
  }

  #metrics(): HttpReply {
    const memory = Deno.memoryUsage();
    const body = metricsText(this.#engine, this.#counters, {
      version: this.#options.version,
      connections: this.connections,
      webSockets: this.#webSockets.count,
      requestsInFlight: this.#inFlight,
      uptimeSeconds: (performance.now() - this.#startedAt) / 1000,
      residentBytes: memory.rss,
      heapBytes: memory.heapUsed,
      turns: this.#options.turns ?? null,
      others: this.#options.otherMetrics?.() ?? {},
    });
    return { status: 200, contentType: METRICS_CONTENT_TYPE, body };
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): number {
    const failure = failureFor(error);
    if (failure.error.code === SQLSTATE.internalError) this.#onInternalError(failure.error.cause ?? error);
    const reply = failureReply(failure);
    if (request.complete) sendReply(response, reply);
    else {
      // What is left of the body is not worth reading; the answer says that the connection ends.
      sendReply(response, { ...reply, headers: { ...reply.headers, Connection: "close" } });
      const { socket } = request;
      request.resume();
      // `node:http` would close both directions as soon as the answer is sent.
      socket.destroySoon = () => {
        socket.end();
        sayFarewell(socket);
      };
    }
    return failure.status;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Uint8Array): void {
    const requestHead = headOf(request);
    try {
      requireHost(request);
      const route = routeOf(requestHead, this.#tokens);
      if (route !== "ws") {
        throw httpFailure(400, SQLSTATE.protocolViolation, `${pathOf(requestHead.target)} is no WebSocket`, {
          hint: "Send the request without the Upgrade header.",
        });
      }
      this.#requireReady();
      checkUpgrade(requestHead);
      const encryption = this.#encryptions.get(request.socket) ?? null;
      const readFrom = readFromHeader(requestHead);
      if (readFrom === "primary" && this.#isForPrimary(request)) {
        const refusal = refusalBytes(failureFor(noPrimary()));
        this.#forwardingTo().upgrade(request, socket, { head, encryption, refusal }).catch(
          (error: unknown) => {
            this.#refuseUpgrade(requestHead, socket, error);
          },
        );
        return;
      }
      socket.emit("upgraded");
      this.#counters.count("/v1/ws", 101, 0);
      this.#webSockets.accept(request, socket, { head, encryption, readFrom });
    } catch (error) {
      this.#refuseUpgrade(requestHead, socket, error);
    }
  }

  #refuseUpgrade(head: RequestHead, socket: Duplex, error: unknown): void {
    const failure = failureFor(error);
    this.#counters.count(countedPath(head), failure.status, 0);
    refuseSocket(socket, failure);
  }
}

function addressOf(server: Server): HttpAddress {
  const bound = server.address();
  assert(bound !== null && typeof bound === "object", "a listening server has an address");
  return { hostname: bound.address, port: bound.port };
}

function send(response: ServerResponse, reply: HttpReply): number {
  sendReply(response, reply);
  return reply.status;
}

function headOf(request: IncomingMessage): RequestHead {
  return { method: request.method ?? "GET", target: request.url ?? "/", headers: request.headers };
}

/** Answers 100, at once or, behind other answers of the connection, when it is this one's turn. */
function inviteBody(request: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) response.writeContinue();
  else {
    response.once("socket", () => {
      if (!request.complete && !response.headersSent) response.writeContinue();
    });
  }
}

/** Raises 400 for a request of HTTP 1.1 without the header that RFC 9112 demands of it. */
function requireHost(request: IncomingMessage): void {
  if (request.headers.host !== undefined || request.httpVersion === "1.0") return;
  throw httpFailure(400, SQLSTATE.protocolViolation, "the Host header is missing");
}

function tooManyConnections(): HttpFailure {
  return httpFailure(503, SQLSTATE.tooManyConnections, "too many connections", {
    headers: { "Retry-After": "1" },
  });
}

/** A head that is not HTTP. */
function malformed(error: Error): HttpFailure {
  const code = "code" in error ? String(error.code) : "";
  if (code === "HPE_HEADER_OVERFLOW") {
    return httpFailure(431, SQLSTATE.programLimitExceeded, "the header fields are too long");
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return httpFailure(408, SQLSTATE.protocolViolation, "the request took too long to arrive");
  }
  return httpFailure(400, SQLSTATE.protocolViolation, "this is not an HTTP request");
}

/** Answers on a bare socket and closes it, with time for the client to read. */
function refuseSocket(socket: Duplex, failure: HttpFailure): void {
  // What the parser still finds wrong in the rest of the input has been answered.
  if (socket.writableEnded) return;
  socket.on("error", () => {});
  if (socket.writable) socket.end(refusalBytes(failure));
  sayFarewell(socket);
}

/** A whole answer, after which the connection ends. */
function refusalBytes(failure: HttpFailure): Uint8Array {
  const body = failureBody(failure.error);
  const headers = {
    "Content-Type": JSON_TYPE,
    "Content-Length": String(new TextEncoder().encode(body).length),
    ...failure.headers,
    Connection: failure.headers.Connection ?? "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return encodeUtf8(
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ""}\r\n${lines}\r\n${body}`,
  );
}
