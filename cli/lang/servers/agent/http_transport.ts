/**
 * The agent over HTTP: `POST /v1/agent` for one request, `POST /v1/agent/batch` for the lines of one session, `GET
 * /v1/agent/version`.
 *
 * Before anything else, Host and Origin are held to be this server's own, and the token is asked for where there is
 * one. It stands on `node:http`, where the number of connections and the time that heads and bodies may take can be
 * held.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { LANG_LIMITS } from "../../../../lang/limits.ts";
import { readRequest } from "../../../../lang/servers/agent/request_reader.ts";
import { RunningRequests } from "../../../../lang/servers/agent/running_requests.ts";
import { PROTOCOL_VERSION } from "../../../../lang/servers/agent/schema.ts";
import { AgentSession } from "../../../../lang/servers/agent/session.ts";
import type { AgentEnvironment } from "../../../../lang/servers/agent/environment.ts";
import type { ErrorCode } from "../../../../lang/servers/agent/lines.ts";
import { CommandError } from "../../../../lang/commands/command_error.ts";
import { CLI_LIMITS } from "../../../shared/limits.ts";
import { messageOf } from "../../shared/disk_files.ts";
import { hasToken, hostRefusal } from "../../shared/loopback_guard.ts";
import { ByteBudget, lineOf, type ReadLine } from "./line_reader.ts";
import { failureLines, problemOf, serveLines } from "./line_service.ts";
import type { Recorder } from "./recorder.ts";

/** How long a refused client may take to read the reason. */
const GOODBYE_MILLISECONDS = 2_000;

const LINES_TYPE = "application/x-ndjson";

/** How to serve. */
export interface HttpOptions {
  readonly hostname: string;
  /** 0: any free one. */
  readonly port: number;
  /** Null: nobody is asked. */
  readonly token: string | null;
  /** Whether only this machine can connect, so that Host must name it. */
  readonly isLoopback: boolean;
  readonly recorder: Recorder | null;
}

/** A server that runs. */
export interface AgentHttpServer {
  readonly port: number;
  readonly finished: Promise<void>;
  close(): void;
}

/** Binds the port and serves it. */
export async function serveHttp(
  environment: AgentEnvironment,
  options: HttpOptions,
): Promise<AgentHttpServer> {
  const service = new HttpService(environment, options);
  await service.listen();
  return service;
}

/** A request that is refused before a session sees it. */
class Refusal extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

class HttpService implements AgentHttpServer {
  readonly finished: Promise<void>;
  readonly #environment: AgentEnvironment;
  readonly #options: HttpOptions;
  readonly #server: Server;
  readonly #running = new RunningRequests();
  readonly #budget = new ByteBudget(CLI_LIMITS.agentRequestBytes);
  readonly #sockets = new Set<Socket>();

  constructor(environment: AgentEnvironment, options: HttpOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#server = createServer({
      keepAliveTimeout: CLI_LIMITS.agentKeepAliveMilliseconds,
      headersTimeout: CLI_LIMITS.agentHeadMilliseconds,
      requestTimeout: CLI_LIMITS.agentRequestMilliseconds,
      maxHeaderSize: CLI_LIMITS.maximumAgentHeadBytes,
      // Missing, it is refused as a wrong one is.
      requireHostHeader: false,
    });
    // Who has said all that it wants to say may still read.
    Object.assign(this.#server, { httpAllowHalfOpen: true });
    this.#server.on("request", (request, response) => void this.#serve(request, response));
    this.#capConnections();
    this.finished = new Promise((resolve) => this.#server.once("close", () => resolve()));
  }

  get port(): number {
    const bound = this.#server.address();
    return bound !== null && typeof bound === "object" ? bound.port : this.#options.port;
  }

  listen(): Promise<void> {
    const { hostname, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once("error", (error) =>
        reject(
          new CommandError(
            `Cannot listen on port ${port} of ${hostname}: ${listenReason(error)}`,
            "`--port` takes another one; `--port 0` any free one.",
          ),
        ));
      this.#server.listen({ host: hostname, port, backlog: 1024 }, () => resolve());
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** A gate in front of the listener that `node:http` has for new connections. */
  #capConnections(): void {
    const [attach] = this.#server.listeners("connection");
    this.#server.removeAllListeners("connection");
    this.#server.on("connection", (socket: Socket) => {
      if (this.#sockets.size >= CLI_LIMITS.agentConnections) {
        socket.on("error", () => {});
        socket.end("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        return letGo(socket);
      }
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      socket.on("error", () => {});
      attach?.call(this.#server, socket);
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    try {
      await this.#answer(request, response);
    } catch (error) {
      // What has begun cannot say that it failed but by breaking off.
      if (response.headersSent) return void response.destroy();
      const refusal = error instanceof Refusal
        ? error
        : new Refusal(500, "internal", "Cannot answer the request: this is a bug in lang");
      refuse(request, response, refusal);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { token, isLoopback, hostname } = this.#options;
    const isOwnName = request.headers.host === `${hostname}:${this.port}`;
    const foreign = hostRefusal(headersOf(request), { allowsAnyHost: !isLoopback || isOwnName });
    if (foreign !== null) throw new Refusal(403, "forbidden", foreign);
    if (token !== null && !hasToken(request.headers.authorization ?? null, token)) {
      throw new Refusal(401, "unauthorized", "Cannot answer the request: it carries no valid token", {
        "WWW-Authenticate": "Bearer",
      });
    }
    const [path] = (request.url ?? "").split("?");
    switch (path) {
      case "/v1/agent":
        requireMethod(request, ["POST"]);
        return await this.#one(request, response);
      case "/v1/agent/batch":
        requireMethod(request, ["POST"]);
        return await this.#batch(request, response);
      case "/v1/agent/version":
        requireMethod(request, ["GET", "HEAD"]);
        return sendWhole(response, 200, {
          type: "application/json",
          body: `${
            JSON.stringify({ agent_protocol: PROTOCOL_VERSION, lang_version: this.#environment.langVersion })
          }\n`,
        });
      default:
        throw new Refusal(404, "not_found", "Cannot answer the request: there is no such path");
    }
  }

  /** One request, in a session of its own. */
  async #one(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = lineOf(await this.#body(request));
    const failure = line === null ? null : problemOf(line);
    const text = line?.kind === "line" ? line.text : "";
    const session = new AgentSession(this.#environment, { running: this.#running });
    response.once("close", () => session.abandon());
    const answer = await (failure === null ? session.submit(text) : session.submitRead(failure));
    if (answer === null) return;
    this.#options.recorder?.session().record(text, answer.lines);
    sendWhole(response, answer.end === "failure" ? 400 : 200, {
      type: LINES_TYPE,
      body: `${answer.lines.join("\n")}\n`,
    });
  }

  /** The lines of one session. */
  async #batch(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const lines = linesOf(await this.#body(request));
    const session = new AgentSession(this.#environment, { running: this.#running });
    response.once("close", () => session.abandon());
    let hasEnded = false;
    response.writeHead(hasProtocolError(lines) ? 400 : 200, {
      "Content-Type": LINES_TYPE,
      "Cache-Control": "no-store",
    });
    await serveLines(session, {
      lines: untilEnd(lines, () => hasEnded),
      write: (text) => writeLines(response, text),
      stopReading: () => hasEnded = true,
    }, this.#options.recorder?.session() ?? null);
    response.end();
  }

  /** Reads a body within the limits. */
  #body(request: IncomingMessage): Promise<Uint8Array[]> {
    const tooLarge = (): Refusal =>
      new Refusal(
        413,
        "too_large",
        `Cannot take the request: its body is longer than ${LANG_LIMITS.maximumRequestBytes} bytes`,
      );
    if (Number(request.headers["content-length"] ?? 0) > LANG_LIMITS.maximumRequestBytes) {
      return Promise.reject(tooLarge());
    }
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array[]>();
    const parts: Uint8Array[] = [];
    let length = 0;
    const fail = (refusal: Refusal): void => {
      parts.length = 0;
      request.removeAllListeners("data");
      reject(refusal);
    };
    request.on("data", (part: Uint8Array) => {
      if (length + part.length > LANG_LIMITS.maximumRequestBytes) return fail(tooLarge());
      if (!this.#budget.take(part.length)) {
        return fail(new Refusal(503, "busy", "Cannot take the request: too much of others is being read"));
      }
      length += part.length;
      parts.push(part);
    });
    request.on("end", () => resolve([...parts]));
    const broken = (): void =>
      fail(new Refusal(400, "bad_request", "Cannot take the request: it ended before its body did"));
    request.on("error", broken);
    request.on("close", broken);
    const halfClosed = (): void => {
      if (!request.complete) broken();
    };
    request.socket.on("end", halfClosed);
    return promise.finally(() => {
      request.socket.removeListener("end", halfClosed);
      this.#budget.give(length);
    });
  }
}

function listenReason(error: Error): string {
  return "code" in error && error.code === "EADDRINUSE" ? "the port is in use" : messageOf(error);
}

function headersOf(request: IncomingMessage): Headers {
  const headers = new Headers();
  const { host, origin } = request.headers;
  if (host !== undefined) headers.set("host", host);
  if (typeof origin === "string") headers.set("origin", origin);
  return headers;
}

function requireMethod(request: IncomingMessage, methods: readonly string[]): void {
  if (methods.includes(request.method ?? "")) return;
  throw new Refusal(
    405,
    "method_not_allowed",
    `Cannot answer the request: this path takes ${methods.join(", ")}`,
    { Allow: methods.join(", ") },
  );
}

/** The lines of a body, as a connection would give them. */
function linesOf(parts: readonly Uint8Array[]): ReadLine[] {
  const whole = lineOf(parts);
  if (whole === null || whole.kind !== "line") return [];
  if (!whole.isUtf8) return [whole];
  return whole.text.split("\n").filter((text) => text.trim() !== "").map((text) => ({
    kind: "line",
    text,
    isUtf8: true,
  }));
}

function* untilEnd(lines: readonly ReadLine[], hasEnded: () => boolean): Iterable<ReadLine> {
  for (const line of lines) {
    if (hasEnded()) return;
    yield line;
  }
}

/** Whether a batch ends with a protocol error, which its status must say before it begins. */
function hasProtocolError(lines: readonly ReadLine[]): boolean {
  for (const line of lines) {
    if (problemOf(line) !== null || line.kind !== "line") return true;
    const read = readRequest(line.text);
    if (read.kind === "failure") return true;
    if (read.request.op === "halt") return false;
  }
  return false;
}

function sendWhole(
  response: ServerResponse,
  status: number,
  { type, body, headers = {} }: {
    readonly type: string;
    readonly body: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
): void {
  if (response.destroyed || response.headersSent) return;
  const bytes = new TextEncoder().encode(body);
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": bytes.length,
    "Cache-Control": "no-store",
    ...headers,
  });
  response.end(bytes);
}

function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const { status, code, message, headers } = refusal;
  const isWhole = request.complete;
  sendWhole(response, status, {
    type: LINES_TYPE,
    body: failureLines(code, message),
    headers: isWhole ? headers : { ...headers, Connection: "close" },
  });
  if (isWhole) return;
  // What is left of the body is not worth reading.
  request.resume();
  letGo(request.socket);
}

/** Closes a connection whose other side has been sent the reason, and may stay open forever. */
function letGo(socket: Socket): void {
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), GOODBYE_MILLISECONDS);
  socket.once("close", () => clearTimeout(timer));
}

/** Writes, and waits until there is room for more. */
function writeLines(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) return Promise.reject(new Error("Cannot write: the connection is closed"));
  if (response.write(text)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.removeListener("drain", done);
      response.removeListener("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
