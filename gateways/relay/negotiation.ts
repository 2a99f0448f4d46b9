/**
 * Encryption where a router has the socket: what a client says before its first message, which is all that the router
 * understands. Everything else, and what is wrong with it, is the gateway's.
 */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { BEGINNING, ENCRYPTION_CODE, ENCRYPTION_REQUEST_BYTES } from "../shared/beginning.ts";
import { isHandshake, type Secured, type TlsServer } from "../shared/byte_stream.ts";
import type { RoutedProtocol } from "./router_words.ts";

/** Requests for encryption that are answered here; the gateway says what is wrong with more. */
const MAX_REQUESTS = 2;
const ACCEPTED = new Uint8Array([0x53]), DECLINED = new Uint8Array([0x4e]);
const NOTHING = new Uint8Array(0);

/** A socket, encrypted or not, and what has come of the client. */
export interface Negotiated {
  readonly socket: Socket;
  readonly secured: Secured | null;
  readonly first: Uint8Array;
}

/** Negotiates with a new client; null: it is gone. The socket is paused. */
export async function negotiate(
  socket: Socket,
  protocol: RoutedProtocol,
  tls: TlsServer,
): Promise<Negotiated | null> {
  const { application, requiresProtocol, hasRequests, milliseconds } = BEGINNING[protocol];
  const timer = setTimeout(() => socket.destroy(), milliseconds);
  const secure = async (received: Uint8Array, hasAsked: boolean): Promise<Negotiated> => {
    const request = { protocols: [application], requiresProtocol: requiresProtocol && !hasAsked, received };
    const { socket: secured, encryption, endPoint } = await tls.secure(socket, request);
    secured.pause();
    return { socket: secured, secured: { encryption, endPoint }, first: NOTHING };
  };
  try {
    let first: Uint8Array = NOTHING;
    for (let requests = 0;;) {
      const bytes = await nextBytes(socket);
      if (bytes === null) {
        if (first.length === 0) return null;
        return { socket, secured: null, first };
      }
      first = first.length === 0 ? bytes : new Uint8Array(Buffer.concat([first, bytes]));
      if (requests === 0 && isHandshake(first)) return await secure(first, false);
      if (!hasRequests || !mayBeRequest(first)) return { socket, secured: null, first };
      if (first.length < ENCRYPTION_REQUEST_BYTES) continue;
      if (++requests > MAX_REQUESTS) return { socket, secured: null, first };
      const isAccepted = codeOf(first) === ENCRYPTION_CODE.ssl;
      socket.write(isAccepted ? ACCEPTED : DECLINED);
      first = NOTHING;
      if (isAccepted) return await secure(NOTHING, true);
    }
  } catch (error) {
    socket.destroy();
    if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether it is a request for encryption, or the beginning of one, and nothing else. */
function mayBeRequest(first: Uint8Array): boolean {
  return Object.values(ENCRYPTION_CODE).some((code) => {
    const request = new Uint8Array(ENCRYPTION_REQUEST_BYTES);
    const view = new DataView(request.buffer);
    view.setUint32(0, ENCRYPTION_REQUEST_BYTES);
    view.setUint32(4, code);
    return first.every((byte, at) => byte === request[at]);
  });
}

function codeOf(first: Uint8Array): number {
  return new DataView(first.buffer, first.byteOffset).getUint32(4);
}

/** What the client sends next; null: it has ended its side, or is gone. */
function nextBytes(socket: Socket): Promise<Uint8Array | null> {
  if (socket.destroyed) return Promise.resolve(null);
  return new Promise((resolve) => {
    const settle = (bytes: Uint8Array | null): void => {
      socket.pause().off("data", settle).off("end", ended).off("close", ended);
      resolve(bytes);
    };
    const ended = (): void => settle(null);
    socket.on("data", settle).on("end", ended).on("close", ended);
    socket.resume();
  });
}
