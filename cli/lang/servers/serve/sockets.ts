/** The WebSockets of `lang serve` (RFC 6455): the handshake's conditions, and the pages that are connected. */
import { plainReply, type Reply } from "../../../../lang/servers/serve/reply.ts";
import type { SocketRoute } from "../../../../lang/servers/serve/site.ts";
import { CLI_LIMITS } from "../../../shared/limits.ts";

/** A page that does not answer a ping for so long is gone. */
const IDLE_SECONDS = 30;
/** The server goes away (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;

/** Connected pages. */
export class Sockets {
  readonly #open: Readonly<Record<SocketRoute, Set<WebSocket>>> = { reload: new Set(), events: new Set() };

  /** Takes a connection; `greeting` is sent when it is open. Gives why not, or the answer that opens it. */
  accept(request: Request, route: SocketRoute, greeting: () => string | null): Reply | Response {
    const refusal = refuse(request.headers);
    if (refusal !== null) return refusal;
    const open = this.#open[route];
    if (this.#open.reload.size + this.#open.events.size >= CLI_LIMITS.pageSockets) {
      return plainReply(503, "too many pages are connected", "GET");
    }
    const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: IDLE_SECONDS });
    open.add(socket);
    socket.addEventListener("open", () => {
      const text = greeting();
      if (text !== null) socket.send(text);
    });
    const forget = () => open.delete(socket);
    socket.addEventListener("close", forget);
    socket.addEventListener("error", forget);
    return response;
  }

  /** Sends a text frame to everyone on a route. */
  send(route: SocketRoute, text: string): void {
    for (const socket of this.#open[route]) if (socket.readyState === WebSocket.OPEN) socket.send(text);
  }

  /** Ends all connections. */
  close(): void {
    for (const open of Object.values(this.#open)) {
      for (const socket of open) if (socket.readyState === WebSocket.OPEN) socket.close(GOING_AWAY);
      open.clear();
    }
  }
}

/** What a handshake lacks (RFC 6455, section 4.2.1). */
function refuse(headers: Headers): Reply | null {
  const has = (name: string, token: string) =>
    (headers.get(name) ?? "").toLowerCase().split(",").some((each) => each.trim() === token);
  if (!has("upgrade", "websocket") || !has("connection", "upgrade")) {
    return withHeaders(plainReply(426, "upgrade required: this is a WebSocket", "GET"), {
      "upgrade": "websocket",
      "connection": "Upgrade",
    });
  }
  if (headers.get("sec-websocket-version")?.trim() !== "13") {
    return withHeaders(plainReply(426, "upgrade required: version 13 of the WebSocket protocol", "GET"), {
      "upgrade": "websocket",
      "connection": "Upgrade",
      "sec-websocket-version": "13",
    });
  }
  // Sixteen bytes in base64.
  if (!/^[A-Za-z0-9+/]{21}[AQgw]==$/.test(headers.get("sec-websocket-key")?.trim() ?? "")) {
    return plainReply(400, "bad request: Sec-WebSocket-Key is not sixteen bytes in base64", "GET");
  }
  return null;
}

function withHeaders(reply: Reply, headers: Readonly<Record<string, string>>): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}
