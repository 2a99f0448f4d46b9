/** The connections of members to each other over sockets of `node:net`, in clear text or with TLS. */
import type { Socket } from "node:net";
import type { NetworkAddress, NetworkConnection, PeerCertificate } from "../../engine/host/network.ts";
import { placeOf } from "../../engine/replication/peers/peer_connections.ts";
import { PeerMisfit } from "../../engine/replication/peers/peer_handshake.ts";
import { writeAll } from "../shared/join_streams.ts";
import type { PeerSecurity } from "../shared/peer_security.ts";
import { SocketStream } from "../shared/socket_stream.ts";

/** Another member's connection over a socket; with the certificate that it has shown, if there is TLS between them. */
export function memberConnection(socket: Socket, certificate: PeerCertificate | null): NetworkConnection {
  const stream = new SocketStream(socket);
  return {
    remote: { hostname: socket.remoteAddress ?? "an unknown address", port: socket.remotePort ?? 0 },
    read: (target) => stream.read(target),
    write: (bytes) => writeAll(stream, bytes),
    close: () => stream.close(),
    ...(certificate === null ? {} : { certificate }),
  };
}

/** Connections to members that speak TLS. */
export function securedNetwork(
  security: PeerSecurity,
): { connect(address: NetworkAddress): Promise<NetworkConnection> } {
  return {
    connect: (address) =>
      new Promise((resolve, reject) => {
        const socket = security.dial(address);
        socket.once("secureConnect", () => resolve(memberConnection(socket, null)));
        socket.on("error", (error) => {
          const line = security.problem(error, placeOf(address));
          reject(line === null ? error : new PeerMisfit(line));
        });
        socket.once("close", () => reject(new Error("the connection was closed in the TLS handshake")));
      }),
  };
}
