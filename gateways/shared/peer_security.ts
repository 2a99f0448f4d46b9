/**
 * TLS between the members of a cluster, both of which show certificates; `gateways/tls` implements it.
 *
 * A connection begins with a frame in clear text that tells it from a client's (`SECURE_FRAME`), at once followed by
 * the handshake.
 */
import type { Socket } from "node:net";
import type { NetworkAddress, PeerCertificate } from "../../engine/host/network.ts";

/** A connection whose other end has shown a certificate that is trusted. */
export interface SecuredPeer {
  readonly socket: Socket;
  readonly certificate: PeerCertificate;
}

/** See the head of the file. */
export interface PeerSecurity {
  /**
   * Connects to a member; the socket emits `secureConnect` once the other is known to be of that name, or `error`. What
   * is written before that waits for it.
   */
  dial(address: NetworkAddress): Socket;
  /** What is wrong with the other end, as one line; null: the error is about something else. */
  problem(error: Error, place: string): string | null;
  /**
   * Shakes hands with a member that has dialed; `received` is what came behind the first frame. Rejects with a
   * {@link PeerMisfit}, whose line is for people here; the socket is closed then.
   */
  accept(socket: Socket, received: Uint8Array): Promise<SecuredPeer>;
}
