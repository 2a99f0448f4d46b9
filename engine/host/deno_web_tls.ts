/** TLS for the web port of a real machine: the feature `external-sources-tls`. Certificates are verified in full. */
import { SocketConnection } from "./deno_network.ts";
import type { UpgradeToTls } from "./web.ts";

/** Upgrades connections to TLS. `caCerts`: authorities to trust besides those of the system. */
export function denoTls(options: { readonly caCerts?: string[] } = {}): UpgradeToTls {
  return async (connection, hostname) => {
    if (!(connection instanceof SocketConnection)) throw new TypeError("not a connection of this machine");
    const socket = await Deno.startTls(connection.socket as Deno.TcpConn, {
      hostname,
      alpnProtocols: ["http/1.1"],
      ...options,
    });
    await socket.handshake();
    return new SocketConnection(socket);
  };
}
