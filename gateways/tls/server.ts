/**
 * The server's side of TLS for all listeners: handshakes with the certificate in use, TLS 1.2 and 1.3 only.
 *
 * A handshake that takes longer than {@link HANDSHAKE_MILLISECONDS} ends with its connection. Renegotiation does not
 * exist in the implementation below `node:tls` (rustls), nor do versions before 1.2.
 */
import { createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type {
  ByteListener,
  HandshakeRequest,
  SecurableStream,
  Secured,
  TlsServer,
} from "../shared/byte_stream.ts";
import { stopConnectionWith } from "../shared/tls_flow.ts";
import type { ServerCertificate } from "./certificate.ts";
import { SecurableSocket } from "./securable_socket.ts";

/** How long a client may take from its first byte to the end of the handshake. */
export const HANDSHAKE_MILLISECONDS = 10_000;

/** What a server needs. */
export interface TlsServerOptions {
  /** The certificate for the next connection. */
  readonly certificate: () => ServerCertificate;
  readonly handshakeMilliseconds?: number;
}

/** The server's side of TLS. */
export class SecureServer implements TlsServer {
  /** Connections that are encrypted. */
  connections = 0;
  /** Handshakes that succeeded. */
  handshakes = 0;
  /** Handshakes that failed. */
  failures = 0;
  readonly #options: TlsServerOptions;

  constructor(options: TlsServerOptions) {
    this.#options = options;
  }

  secure(
    socket: Socket,
    request: HandshakeRequest,
  ): Promise<Secured & { readonly socket: Socket }> {
    const { context, endPoint } = this.#options.certificate();
    socket.pause();
    if (request.received !== null && request.received.length > 0) socket.unshift(request.received);
    const secured = new TLSSocket(socket, {
      isServer: true,
      secureContext: context,
      ALPNProtocols: [...request.protocols],
    });
    return new Promise((resolve, reject) => {
      const fail = (reason: string): void => {
        clearTimeout(timer);
        secured.off("secure", succeed).off("close", onClose);
        this.failures++;
        secured.destroy();
        socket.destroy();
        reject(new Deno.errors.ConnectionReset(`TLS handshake failed: ${reason}`));
      };
      const onClose = (): void => fail("the client left");
      const onError = (error: Error): void => fail(error.message);
      const succeed = (): void => {
        if (request.requiresProtocol === true && typeof secured.alpnProtocol !== "string") {
          fail(`the client names no application protocol; it must be ${request.protocols.join(" or ")}`);
          return;
        }
        clearTimeout(timer);
        this.handshakes++;
        this.connections++;
        secured.off("error", onError).off("close", onClose);
        // Its owner listens as well; without a listener at all, an error would end the program.
        secured.on("error", () => {});
        // Without a `tls.Server` around it, a socket says in this way only that a record cannot be decrypted.
        secured.once("_tlsError", (error: Error) => secured.destroy(error));
        secured.once("close", () => this.connections--);
        stopConnectionWith(secured);
        resolve({ socket: secured, encryption: encryptionOf(secured), endPoint });
      };
      const timer = setTimeout(
        () => fail("it took too long"),
        this.#options.handshakeMilliseconds ?? HANDSHAKE_MILLISECONDS,
      );
      secured.once("secure", succeed).once("close", onClose).once("error", onError);
      socket.on("error", () => {});
    });
  }

  listen(
    address: { readonly hostname: string; readonly port: number },
  ): Promise<ByteListener<SecurableStream>> {
    const accepted: Socket[] = [];
    const waiting: PromiseWithResolvers<SecurableStream>[] = [];
    const server = createServer({ noDelay: true, allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      const next = waiting.shift();
      if (next === undefined) accepted.push(socket);
      else next.resolve(this.#stream(socket));
    });
    const accept = (): Promise<SecurableStream> => {
      const socket = accepted.shift();
      if (socket !== undefined) return Promise.resolve(this.#stream(socket));
      if (!server.listening) return Promise.reject(new Deno.errors.BadResource("the listener is closed"));
      const next = Promise.withResolvers<SecurableStream>();
      waiting.push(next);
      return next.promise;
    };
    const close = (): void => {
      server.close();
      for (const socket of accepted.splice(0)) socket.destroy();
      for (const next of waiting.splice(0)) {
        next.reject(new Deno.errors.BadResource("the listener is closed"));
      }
    };
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: address.hostname, port: address.port, backlog: 1024 }, () => {
        server.off("error", reject);
        const bound = server.address() as { readonly address: string; readonly port: number };
        const addr: Deno.NetAddr = { transport: "tcp", hostname: bound.address, port: bound.port };
        resolve({ addr, accept, close });
      });
    });
  }

  #stream(socket: Socket): SecurableStream {
    const stream = new SecurableSocket(socket, this);
    socket.resume();
    return stream;
  }
}

function encryptionOf(socket: TLSSocket): Secured["encryption"] {
  const name = socket.getCipher()?.name ?? "";
  return {
    version: socket.getProtocol() ?? "",
    cipher: name,
    bits: /AES_?128/.test(name) ? 128 : 256,
  };
}
