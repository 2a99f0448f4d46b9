/** etcd with three members on this machine, as a peer whose puts sync on a quorum. */
import { freePort, runProgram, waitForPort } from "../peers/process.ts";
import { EtcdConnection } from "./etcd_connection.ts";

const MEMBERS = 3;

/** A cluster of etcd. */
export interface EtcdPeer {
  readonly name: string;
  /** The port of the leader. */
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts it; null when etcd is not installed. */
export async function startEtcd(): Promise<EtcdPeer | null> {
  try {
    await runProgram("etcd", ["--version"]);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  const directory = await Deno.makeTempDir({ prefix: "etcd-" });
  const members = Array.from({ length: MEMBERS }, (_, index) => ({
    name: `m${index}`,
    client: freePort(),
    peer: freePort(),
  }));
  const url = (port: number) => `http://127.0.0.1:${port}`;
  const children = members.map(({ name, client, peer }) =>
    new Deno.Command("etcd", {
      args: [
        ...["--name", name, "--data-dir", `${directory}/${name}`, "--log-level", "error"],
        ...["--listen-client-urls", url(client), "--advertise-client-urls", url(client)],
        ...["--listen-peer-urls", url(peer), "--initial-advertise-peer-urls", url(peer)],
        ...["--initial-cluster", members.map((each) => `${each.name}=${url(each.peer)}`).join(",")],
        ...["--quota-backend-bytes", String(8 * 1024 ** 3)],
      ],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn()
  );
  const stop = async (): Promise<void> => {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map((child) => child.status));
    await Deno.remove(directory, { recursive: true });
  };
  try {
    for (const { client } of members) await waitForPort(client, 20_000);
    return { name: "etcd ×3", port: await leader(members.map(({ client }) => client)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The client port of the member that leads; waits for one. */
async function leader(ports: readonly number[]): Promise<number> {
  const end = performance.now() + 20_000;
  while (performance.now() < end) {
    for (const port of ports) {
      const response = await fetch(`http://127.0.0.1:${port}/v3/maintenance/status`, {
        method: "POST",
        body: "{}",
        signal: AbortSignal.timeout(1000),
      }).catch(() => null);
      const status = await response?.json().catch(() => null);
      const isLeader = status?.leader !== undefined && status.leader === status.header?.member_id;
      if (isLeader) return port;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("etcd has no leader");
}

/** Puts a second, of so many bytes under random keys, by clients that each wait for their answers. */
export async function putRate(
  { port }: EtcdPeer,
  { clients, keys, bytes, seconds }: {
    readonly clients: number;
    readonly keys: number;
    readonly bytes: number;
    readonly seconds: number;
  },
): Promise<number> {
  const connections = await Promise.all(Array.from({ length: clients }, () => EtcdConnection.open(port)));
  const value = new Uint8Array(bytes).fill(120);
  const before = await revision(port);
  const start = performance.now();
  const end = start + seconds * 1000;
  await Promise.all(connections.map(async (connection) => {
    while (performance.now() < end) {
      await connection.put(`key${Math.floor(Math.random() * keys)}`, value);
    }
  }));
  const elapsed = (performance.now() - start) / 1000;
  for (const connection of connections) connection.close();
  // The store's own count, so that a refused put would not pass for one.
  return (await revision(port) - before) / elapsed;
}

/** How many changes the store has seen. */
async function revision(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/v3/kv/range`, {
    method: "POST",
    body: JSON.stringify({ key: btoa("key"), count_only: true }),
  });
  return Number((await response.json()).header.revision);
}
