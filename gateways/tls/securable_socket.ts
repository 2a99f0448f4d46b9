/**
 * A socket of `node:net` as a stream that can become an encrypted one: `Deno.TcpConn` cannot on the server's side.
 */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type {
  ByteStream,
  HandshakeRequest,
  SecurableStream,
  Secured,
  TlsServer,
} from "../shared/byte_stream.ts";
import { SocketStream } from "../shared/socket_stream.ts";

/** A socket in clear text, and the server that encrypts it. */
export class SecurableSocket extends SocketStream implements SecurableStream {
  readonly #socket: Socket;
  readonly #server: TlsServer;

  constructor(socket: Socket, server: TlsServer) {
    super(socket);
    this.#socket = socket;
    this.#server = server;
  }

  async secure(request: HandshakeRequest): Promise<Secured & { readonly stream: ByteStream }> {
    // What has come since is the client's as well: in clear text it fails the handshake.
    const received = Buffer.concat([
      ...(request.received === null ? [] : [request.received]),
      ...this.detach(),
    ]);
    const secured = await this.#server.secure(this.#socket, { ...request, received });
    return {
      stream: new SocketStream(secured.socket),
      encryption: secured.encryption,
      endPoint: secured.endPoint,
    };
  }
}
