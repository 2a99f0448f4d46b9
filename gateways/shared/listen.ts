/** Binding servers of `node:net` to addresses. */
import type { Server } from "node:net";
import { assert } from "../../engine/base/assert.ts";

/** Where a listener is bound. */
export interface ListenerAddress {
  readonly hostname: string;
  readonly port: number;
}

/**
 * Binds a server of `node:net` to an address and answers where it listens. `reusePort`: others that say the same may
 * listen there as well, and each gets a share of the connections.
 */
export function listen(
  server: Server,
  address: ListenerAddress,
  { reusePort = false }: { readonly reusePort?: boolean } = {},
): Promise<ListenerAddress> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: address.hostname, port: address.port, backlog: 1024, reusePort }, () => {
      server.removeListener("error", reject);
      const bound = server.address();
      assert(bound !== null && typeof bound === "object", "a listening server has an address");
      resolve({ hostname: bound.address, port: bound.port });
    });
  });
}
