/** The web port of a real machine under Deno, without TLS, which is a build feature of its own (`deno_web_tls.ts`). */
import { lookup } from "node:dns/promises";
import type { NetworkConnection } from "./network.ts";
import type { UpgradeToTls, Web } from "./web.ts";

/** A connection over a socket of Deno. */
export class SocketConnection implements NetworkConnection {
  readonly remote: { readonly hostname: string; readonly port: number };
  readonly socket: Deno.TcpConn | Deno.TlsConn;
  #isClosed = false;

  constructor(socket: Deno.TcpConn | Deno.TlsConn) {
    this.socket = socket;
    const { hostname, port } = socket.remoteAddr;
    this.remote = { hostname, port };
  }

  read(target: Uint8Array): Promise<number | null> {
    return this.socket.read(target as Uint8Array<ArrayBuffer>);
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.socket.write(bytes.subarray(at));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.socket.close();
    } catch {
      // The socket is gone already, with the connection.
    }
  }
}

/** The web as this machine reaches it. */
export function denoWeb(options: { readonly upgradeToTls?: UpgradeToTls } = {}): Web {
  return {
    ...(options.upgradeToTls === undefined ? {} : { upgradeToTls: options.upgradeToTls }),
    resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
    connect: async ({ address, port, signal }) => {
      const socket = await Deno.connect({ hostname: address, port, transport: "tcp" });
      if (signal.aborted) socket.close();
      socket.setNoDelay(true);
      return new SocketConnection(socket);
    },
    variable: (name) => Deno.env.get(name),
  };
}
