/**
 * The Model Context Protocol over streamable HTTP, from a web request to a response; sockets, and who may speak at
 * all, are the caller's.
 *
 * Clients of the revision of 2026 and later ask without a session, each request for itself. Older ones begin with
 * `initialize` and get a session, so that a cancellation, which is a request of its own to them, finds what it is
 * for. Sessions are few and cost little: what is known of the package is shared. When there are
 * `LANG_LIMITS.mcpSessions`, the one that was quiet for the longest time ends.
 */
import type {
  McpHttpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { LANG_LIMITS } from "../../limits.ts";

/** Where the protocol is spoken. */
export const ENDPOINT_PATH = "/mcp";

/** What an endpoint is given. */
export interface EndpointOptions {
  /** The implementation of the protocol. */
  readonly sdk: typeof import("./sdk.ts");
  /** Makes a server for a session, or for one request. */
  readonly createServer: () => McpServer;
  /** A name that nobody can guess. */
  readonly newSessionId: () => string;
  /** Called with warnings of the protocol's implementation. */
  readonly onError?: (error: Error) => void;
  readonly maximumSessions?: number;
}

interface Session {
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
}

/** Answers requests to {@link ENDPOINT_PATH}. */
export class HttpEndpoint {
  readonly #options: EndpointOptions;
  readonly #modern: McpHttpHandler;
  /** By their names, the one that was quiet longest first. */
  readonly #sessions = new Map<string, Session>();

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#modern = options.sdk.createMcpHandler(options.createServer, {
      legacy: "reject",
      maxRequestBodySize: LANG_LIMITS.maximumMcpMessageBytes,
      ...(options.onError === undefined ? {} : { onerror: options.onError }),
    });
  }

  /** How many sessions there are. */
  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Answers a request whose body, if it has one, was read: `body` is its value. */
  async respond(request: Request, body: unknown): Promise<Response> {
    if (await this.#options.sdk.isLegacyRequest(request, body)) {
      return await this.#respondInSession(request, body);
    }
    return await this.#modern.fetch(request, { parsedBody: body });
  }

  /** Ends all sessions and whatever is being answered. */
  async close(): Promise<void> {
    await this.#modern.close();
    for (const { server } of [...this.#sessions.values()]) await server.close();
    this.#sessions.clear();
  }

  async #respondInSession(request: Request, body: unknown): Promise<Response> {
    const name = request.headers.get("mcp-session-id");
    if (name !== null) {
      const session = this.#sessions.get(name);
      if (session === undefined) return jsonRpcError(404, -32_001, "Cannot find the session: it has ended");
      this.#sessions.delete(name);
      this.#sessions.set(name, session);
      return await session.transport.handleRequest(request, { parsedBody: body });
    }
    if (request.method !== "POST") {
      return jsonRpcError(400, -32_000, "Cannot answer the request: it names no session");
    }
    return await this.#open(request, body);
  }

  async #open(request: Request, body: unknown): Promise<Response> {
    const server = this.#options.createServer();
    const transport: WebStandardStreamableHTTPServerTransport = new this.#options.sdk
      .WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: this.#options.newSessionId,
      onsessioninitialized: (name) => this.#keep(name, { server, transport }),
    });
    await server.connect(transport);
    const forget = transport.onclose;
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
      forget?.();
    };
    const response = await transport.handleRequest(request, { parsedBody: body });
    // Whatever was no `initialize` made no session.
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  #keep(name: string, session: Session): void {
    this.#sessions.set(name, session);
    const maximum = this.#options.maximumSessions ?? LANG_LIMITS.mcpSessions;
    for (const [oldest, { server }] of this.#sessions) {
      if (this.#sessions.size <= maximum) break;
      this.#sessions.delete(oldest);
      server.close().catch((error: unknown) => {
        if (error instanceof Error) this.#options.onError?.(error);
      });
    }
  }
}

/** An answer to a request that no server saw. */
export function jsonRpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}
