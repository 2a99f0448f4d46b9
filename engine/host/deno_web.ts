/** The web port of a real machine under Deno, without TLS, which is a build feature of its own (`deno_web_tls.ts`). */
import { lookup } from "node:dns/promises";
import { SocketConnection } from "./deno_network.ts";
import type { UpgradeToTls, Web } from "./web.ts";

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
