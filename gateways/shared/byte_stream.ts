/**
 * A client's connection as a gateway reads and writes it, and what of it may be encrypted. `Deno.TcpConn` is such a
 * stream, and the streams of `gateways/tls` are.
 */
import type { Socket } from "node:net";
import type { SessionEncryption } from "../../engine/system_catalog/catalog_context.ts";

/** A two-way stream of bytes. */
export interface ByteStream {
  /** Fills part of the target; null at the end of the stream. */
  read(target: Uint8Array): Promise<number | null>;
  /** Resolves with the number of bytes that were taken; they may be used again then. */
  write(bytes: Uint8Array): Promise<number>;
  /** Ends the own direction. */
  closeWrite(): Promise<void>;
  close(): void;
  /** Of a client whose socket is elsewhere: what it was encrypted with there; null: clear text, which it stays. */
  readonly secured?: Secured | null;
}

/** What is negotiated before the first encrypted byte. */
export interface HandshakeRequest {
  /** The application protocols (ALPN) of the listener; a client that names none of them is refused. */
  readonly protocols: readonly string[];
  /** true: a client that names no protocol at all is refused as well. */
  readonly requiresProtocol?: boolean;
  /** What has been read of the client's side already. */
  readonly received: Uint8Array | null;
}

/** What a handshake has brought besides encryption. */
export interface Secured {
  readonly encryption: SessionEncryption;
  /** The channel binding `tls-server-end-point` (RFC 5929); null for a certificate that defines none. */
  readonly endPoint: Uint8Array | null;
}

/** A stream in clear text that can become an encrypted one. */
export interface SecurableStream extends ByteStream {
  /** Shakes hands as the server. Rejects when that fails; the stream is closed then. */
  secure(request: HandshakeRequest): Promise<Secured & { readonly stream: ByteStream }>;
}

/** Accepts streams. */
export interface ByteListener<Stream extends ByteStream = ByteStream> {
  readonly addr: Deno.Addr;
  accept(): Promise<Stream>;
  close(): void;
}

/** The server's side of TLS, as far as gateways use it; `gateways/tls` implements it. */
export interface TlsServer {
  /** Listens for streams that begin in clear text. */
  listen(
    address: { readonly hostname: string; readonly port: number },
  ): Promise<ByteListener<SecurableStream>>;
  /** Shakes hands on a socket of `node:net`. Rejects when that fails; the socket is destroyed then. */
  secure(socket: Socket, request: HandshakeRequest): Promise<Secured & { readonly socket: Socket }>;
}

/** The first byte of a TLS handshake. */
const HANDSHAKE_RECORD = 0x16;
const MAJOR_VERSION = 3;

/**
 * Whether a connection begins with a handshake of TLS. No first frame of the binary protocol and no startup packet of
 * PostgreSQL does: read as one, the length would be larger than either may be.
 */
export function isHandshake(first: Uint8Array): boolean {
  return first[0] === HANDSHAKE_RECORD && (first.length < 2 || first[1] === MAJOR_VERSION) &&
    (first.length < 3 || first[2] !== 0);
}
