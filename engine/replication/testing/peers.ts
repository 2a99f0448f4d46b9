/** Members that are connected over TCP on this machine, with short times, for tests. */
import { denoHost } from "../../host/deno_host.ts";
import { denoNetwork } from "../../host/deno_network.ts";
import type { NetworkAddress, NetworkListener } from "../../host/network.ts";
import type { PeerMessage } from "../protocol/message.ts";
import { PeerConnections, type PeerConnectionsOptions } from "../peers/peer_connections.ts";

/** A member, what it has logged, and what has come to it. */
export interface TestPeer {
  readonly peers: PeerConnections;
  readonly lines: string[];
  readonly messages: PeerMessage[];
  /** Why it had to stop. */
  readonly misfits: string[];
  close(): void;
}

/** Short ones, so that tests do not wait. */
export const TIMES = { firstRetry: 5, lastRetry: 40, handshake: 1000, tick: 50, silentTicks: 6, grace: 150 };
const network = denoNetwork();

/** Listeners on free ports, one for each member. */
export async function listeners(count: number): Promise<NetworkListener[]> {
  return await Promise.all(
    Array.from({ length: count }, () => network.listen({ hostname: "127.0.0.1", port: 0 })),
  );
}

/** Starts a member behind a listener, which is closed with it unless it is kept. */
export function startPeer(
  listener: NetworkListener,
  addresses: readonly NetworkAddress[],
  options: Partial<PeerConnectionsOptions> & { readonly index: number; readonly keepsListener?: boolean },
): TestPeer {
  const lines: string[] = [], misfits: string[] = [], messages: PeerMessage[] = [];
  const peers = new PeerConnections({
    host: denoHost(),
    network,
    addresses,
    configurationHash: 1n,
    token: "secret",
    knowledge: { clusterId: null, hasLog: false },
    log: (line) => lines.push(line),
    onMisfit: ({ message }) => misfits.push(message),
    times: TIMES,
    ...options,
  });
  peers.onMessage((message) => messages.push(message));
  let isClosed = false;
  (async () => {
    for (;;) {
      const connection = await listener.accept();
      if (connection === null) return;
      if (isClosed) connection.close();
      else peers.accept(connection, new Uint8Array(0));
    }
  })();
  peers.start();
  return {
    peers,
    lines,
    messages,
    misfits,
    close: () => {
      isClosed = true;
      peers.close();
      if (options.keepsListener !== true) listener.close();
    },
  };
}
