/**
 * `lang mcp --http`: the protocol on a port of the loopback address.
 *
 * Before anything is read: a foreign `Host` or `Origin` is 403, a missing token 401, another path 404. Bodies are at
 * most `LANG_LIMITS.maximumMcpMessageBytes` (413), have `LANG_LIMITS.mcpBodyMilliseconds` to arrive (408), and only
 * `LANG_LIMITS.mcpBodies` arrive at a time (503), so that clients, however many and slow, hold a bounded part of
 * memory. There are no headers that let a page of another site read an answer.
 */
import { LANG_LIMITS } from "../../../../lang/limits.ts";
import {
  ENDPOINT_PATH,
  type HttpEndpoint,
  jsonRpcError,
} from "../../../../lang/servers/mcp/http_endpoint.ts";
import { hasToken, hostRefusal } from "../../shared/loopback_guard.ts";

/** What the door of a server asks and holds. */
export interface DoorOptions {
  /** The implementation of the protocol. */
  readonly sdk: typeof import("../../../../lang/servers/mcp/sdk.ts");
  readonly endpoint: HttpEndpoint;
  /** What every request must carry; null when nothing. */
  readonly token: string | null;
  readonly maximumBodies?: number;
  readonly bodyTimeoutMilliseconds?: number;
}

/** A function that answers requests as `Deno.serve` hands them over. */
export function httpDoor(options: DoorOptions): (request: Request) => Promise<Response> {
  const { endpoint, sdk, token } = options;
  const maximumBodies = options.maximumBodies ?? LANG_LIMITS.mcpBodies;
  const timeout = options.bodyTimeoutMilliseconds ?? LANG_LIMITS.mcpBodyMilliseconds;
  let bodies = 0;
  return async (request) => {
    const refused = refusal(request, token);
    if (refused !== null) return refused;
    if (request.method !== "POST") return await endpoint.respond(request, undefined);
    if (bodies >= maximumBodies) {
      return jsonRpcError(503, -32_000, "Cannot take the request: too many others are being sent");
    }
    bodies++;
    let body: unknown;
    try {
      const read = await withTimeout(
        sdk.readRequestBody(request, LANG_LIMITS.maximumMcpMessageBytes),
        timeout,
      );
      if (read === null) {
        return closing(jsonRpcError(408, -32_000, "Cannot take the request: its body takes too long"));
      }
      if (read.tooLarge) {
        return closing(
          jsonRpcError(
            413,
            -32_000,
            `Cannot take the request: its body is over ${LANG_LIMITS.maximumMcpMessageBytes} bytes`,
          ),
        );
      }
      body = JSON.parse(read.text);
    } catch {
      return jsonRpcError(400, -32_700, "Cannot read the request: its body is no JSON");
    } finally {
      bodies--;
    }
    return await endpoint.respond(request, body);
  };
}

function refusal(request: Request, token: string | null): Response | null {
  const reason = hostRefusal(request.headers);
  if (reason !== null) return jsonRpcError(403, -32_000, reason);
  if (token !== null && !hasToken(request.headers.get("authorization"), token)) {
    const response = jsonRpcError(
      401,
      -32_000,
      "Cannot answer the request: it carries no token, or a wrong one",
    );
    response.headers.set("WWW-Authenticate", "Bearer");
    return response;
  }
  if (new URL(request.url).pathname !== ENDPOINT_PATH) {
    return jsonRpcError(404, -32_000, `Cannot find the page: the protocol is at ${ENDPOINT_PATH}`);
  }
  if (request.method === "POST" || request.method === "GET" || request.method === "DELETE") return null;
  const response = jsonRpcError(
    405,
    -32_000,
    `Cannot answer ${request.method}: POST, GET and DELETE are known`,
  );
  response.headers.set("Allow", "POST, GET, DELETE");
  return response;
}

/** What is left of the body is not waited for. */
function closing(response: Response): Response {
  response.headers.set("Connection", "close");
  return response;
}

/** The value of a promise, or null when it takes too long. */
async function withTimeout<Value>(work: Promise<Value>, milliseconds: number): Promise<Value | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), milliseconds);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    // Who comes too late fails unheard.
    work.catch(() => {});
  }
}
