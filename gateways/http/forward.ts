/**
 * Requests whose sessions are at another member of the cluster: each goes on to the primary's gateway, and its answer
 * comes back as it comes. A client's connection has one connection to the primary; it ends with the client's.
 *
 * A request that was sent and not answered may have been carried out: 40003, unless it could not have left.
 */
import { Agent, type IncomingMessage, request as makeRequest, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { encodeUtf8 } from "../../engine/base/bytes.ts";
import { outcomeUnknown } from "../../engine/session/interruption.ts";
import type { SessionEncryption } from "../../engine/system_catalog/catalog_context.ts";
import { joinStreams } from "../shared/join_streams.ts";
import { noPrimary, type RelayPort } from "../shared/relay_port.ts";
import { SocketStream } from "../shared/socket_stream.ts";
import { socketOver } from "../shared/stream_socket.ts";
import { RelayedWebSocket } from "./relayed_web_socket.ts";

/** Headers that belong to one connection (RFC 9110, section 7.6.1). */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The connections of a gateway to the primary's. */
export class Forwarding {
  readonly #relay: RelayPort;
  readonly #agents = new WeakMap<Socket, Agent>();

  constructor(relay: RelayPort) {
    this.#relay = relay;
  }

  /** Has a request answered by the primary; answers the status. Raises 57P03 and 40003. */
  request(
    request: IncomingMessage,
    response: ServerResponse,
    encryption: SessionEncryption | null,
  ): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    let wasSent = false;
    const onward = makeRequest({
      agent: this.#agentOf(request.socket, encryption),
      method: request.method ?? "POST",
      path: request.url ?? "/",
      headers: headersOf(request),
    }, (answer) => {
      const begin = () => response.writeHead(answer.statusCode ?? 502, headersOf(answer));
      // Not before something follows it: until then another answer can be given, and a connection that ends without
      // one makes some clients, Deno's fetch among them, repeat their request as if it had never come.
      answer.once("data", begin);
      answer.pipe(response, { end: false });
      answer.once("end", () => {
        if (!answer.complete) return;
        if (!response.headersSent) begin();
        response.end();
        resolve(answer.statusCode ?? 502);
      });
      answer.once("close", () => {
        if (answer.complete) return;
        // Half of an answer must not look like a whole one.
        if (response.headersSent) response.destroy();
        reject(outcomeUnknown("primary_lost"));
      });
    });
    onward.once("socket", (socket) => {
      // One that was used before is kept for the next requests, with its listeners; one that is open says so no more.
      wasSent = onward.reusedSocket || !socket.connecting;
      if (!wasSent) socket.once("connect", () => wasSent = true);
      // Deno sends a request anew that ends unanswered on such a one, as if it could not have been carried out.
      onward.reusedSocket = false;
    });
    onward.once("error", () => reject(wasSent ? outcomeUnknown("primary_lost") : noPrimary()));
    // The client is gone, and the primary learns it by the end of its connection.
    response.once("close", () => {
      if (!response.writableFinished) onward.destroy();
    });
    request.pipe(onward);
    return promise;
  }

  /** Passes a WebSocket on, from its request for the upgrade. Raises 57P03. */
  async upgrade(
    request: IncomingMessage,
    socket: Duplex,
    options: {
      readonly head: Uint8Array;
      readonly encryption: SessionEncryption | null;
      /** What the client is sent when the primary does not answer. */
      readonly refusal: Uint8Array;
    },
  ): Promise<void> {
    const primary = await this.#relay.open({
      protocol: "http",
      encryption: options.encryption,
      endPoint: null,
    });
    socket.emit("upgraded");
    const lines = [`${request.method} ${request.url} HTTP/1.1`];
    for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
      lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
    }
    const head = encodeUtf8(lines.join("\r\n") + "\r\n\r\n");
    const first = new Uint8Array(head.length + options.head.length);
    first.set(head);
    first.set(options.head, head.length);
    const conversation = new RelayedWebSocket(options.refusal);
    await joinStreams(new SocketStream(socket as Socket), primary, { first, conversation });
  }

  #agentOf(client: Socket, encryption: SessionEncryption | null): Agent {
    const kept = this.#agents.get(client);
    if (kept !== undefined) return kept;
    const relay = this.#relay;
    const agent = new class extends Agent {
      override createConnection(): Socket {
        const stream = relay.open({ protocol: "http", encryption, endPoint: null });
        // The agent may ask when nobody is there to hear of an error.
        return socketOver(stream, { allowHalfOpen: false }).on("error", () => {});
      }
    }({ keepAlive: true, maxSockets: 1 });
    this.#agents.set(client, agent);
    client.once("close", () => agent.destroy());
    return agent;
  }
}

function headersOf(message: IncomingMessage): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(message.headers)) {
    if (value !== undefined && !CONNECTION_HEADERS.has(name)) headers[name] = value;
  }
  return headers;
}
