/** Binding servers of `node:net` to addresses. */
import type { Server } from "node:net";
import { assert } from "../../engine/base/assert.ts";

/** Where a listener is bound. */
export interface ListenerAddress {
  readonly hostname: string;
  readonly port: number;
}

/** Binds a server of `node:net` to an address and answers where it listens. */
export function listen(server: Server, address: ListenerAddress): Promise<ListenerAddress> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: address.hostname, port: address.port, backlog: 1024 }, () => {
      server.removeListener("error", reject);
      const bound = server.address();
      assert(bound !== null && typeof bound === "object", "a listening server has an address");
      resolve({ hostname: bound.address, port: bound.port });
    });
  });
}
