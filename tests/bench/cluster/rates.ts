/** Transactions a second: replicated writes, reads under the lease, and through a relay. */
import type { PeerAddress, Scale, Worker } from "../benchmark.ts";
import { execute, transactionRate } from "../cases/client.ts";
import { ACCOUNTS_PER_SCALE, initialize, SCRIPTS } from "../cases/pgbench.ts";
import { putRate } from "./etcd.ts";
import { addressOf, backupsOf, NAME } from "./own_servers.ts";
import type { Measurement, Servers } from "./servers.ts";

const SECONDS = 5;
/** V8 compiles what runs often; with so many clients that does not take long. */
const WARM_UP_CLIENTS = 32;
const WARM_UP_SECONDS = 10;
/** The number of clients that every row has, and that the tests run. */
const SMOKE_CLIENTS = 1;
const KEYS = 100_000;
const PUT_BYTES = 100;

const PUT = `\\set key random(1, :keys)
INSERT INTO puts VALUES (:key, '${
  "x".repeat(PUT_BYTES)
}') ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value;
`;

/** See the head of the file. */
export const rates: readonly Measurement[] = [
  ...([
    [1, "PostgreSQL on ≥ 1.0, remote_write ≥ 0.7, alone ≥ 0.45"],
    [8, "≥ 1.2, ≥ 1.0, ≥ 0.5"],
    [32, "≥ 1.3, ≥ 1.1, ≥ 0.6"],
    [128, "≥ 1.3, ≥ 1.1, ≥ 0.6"],
  ] as const).map(([clients, bar]) => replicatedWrites(clients, bar)),
  ...([[1, "≥ 1.5"], [8, "≥ 2"], [32, "≥ 3"], [128, "≥ 3"]] as const).map(([clients, bar]) =>
    replicatedPuts(clients, bar)
  ),
  ...[1, 32].map((clients) => leasedReads(clients)),
  ...([[1, "≥ 0.4"], [32, "≥ 0.6"]] as const).map(([clients, bar]) => relayedReads(clients, bar)),
];

/** Transactions a second of one of pgbench's scripts, prepared. */
export function rateOf(
  address: PeerAddress,
  script: keyof typeof SCRIPTS,
  { clients, scale }: { clients: number; scale: Scale },
): Promise<number> {
  return transactionRate(address, SCRIPTS[script], {
    mode: "prepared",
    clients,
    variables: { rows: ACCOUNTS_PER_SCALE },
    seconds: scale === "smoke" ? null : SECONDS,
    transactions: 5,
  });
}

/** Servers that have been warmed up. */
const warm = new Set<number>();

/** Lets a server that has just been started do what is measured later, once. */
async function warmUp(address: PeerAddress, scale: Scale): Promise<void> {
  if (scale === "smoke" || warm.has(address.port)) return;
  warm.add(address.port);
  await transactionRate(address, SCRIPTS["point write"], {
    mode: "prepared",
    clients: WARM_UP_CLIENTS,
    variables: { rows: ACCOUNTS_PER_SCALE },
    seconds: WARM_UP_SECONDS,
  });
}

function plural(clients: number): string {
  return `${clients} client${clients === 1 ? "" : "s"}`;
}

async function primaryAddress({ cluster }: Servers): Promise<PeerAddress> {
  return addressOf(await cluster.primary(), NAME);
}

function replicatedWrites(clients: number, bar: string): Measurement {
  return {
    name: `replicated point write, ${plural(clients)}`,
    unit: "transactions/s",
    bar,
    usesPgbench: true,
    isFullOnly: clients !== SMOKE_CLIENTS,
    workers: async (servers, scale) => {
      const cluster = await primaryAddress(servers);
      const { single, postgresql } = servers;
      const worker = (address: PeerAddress, before = async (): Promise<void> => {}): Worker => ({
        name: address.name,
        prepare: async () => {
          await initialize(address, 1);
          await warmUp(address, scale);
        },
        measure: async () => {
          await before();
          return await rateOf(address, "point write", { clients, scale });
        },
      });
      const standbys = postgresql === null
        ? []
        : (["on", "remote_write"] as const).map((commit) =>
          worker(postgresql.address(commit), () => postgresql.waitFor(commit))
        );
      return [worker(cluster), worker(single), ...standbys];
    },
  };
}

function replicatedPuts(clients: number, bar: string): Measurement {
  return {
    name: `replicated put of ${PUT_BYTES} bytes, ${plural(clients)}`,
    unit: "transactions/s",
    bar,
    usesPgbench: true,
    isFullOnly: clients !== SMOKE_CLIENTS,
    workers: async (servers, scale) => {
      const address = await primaryAddress(servers);
      const { etcd } = servers;
      const own: Worker = {
        name: address.name,
        prepare: () =>
          execute(address, ["CREATE TABLE IF NOT EXISTS puts (key int PRIMARY KEY, value text)"]),
        measure: () =>
          transactionRate(address, PUT, {
            mode: "prepared",
            clients,
            variables: { keys: KEYS },
            seconds: scale === "smoke" ? null : SECONDS,
            transactions: 5,
          }),
      };
      if (etcd === null) return [own];
      const load = { clients, keys: KEYS, bytes: PUT_BYTES };
      return [own, {
        name: etcd.name,
        prepare: async () => void await putRate(etcd, { ...load, seconds: 0.1 }),
        measure: () => putRate(etcd, { ...load, seconds: scale === "smoke" ? 0.2 : SECONDS }),
      }];
    },
  };
}

function readWorker(address: PeerAddress, clients: number, scale: Scale): Worker {
  return {
    name: address.name,
    prepare: async () => {},
    measure: () => rateOf(address, "point read", { clients, scale }),
  };
}

function leasedReads(clients: number): Measurement {
  return {
    name: `point read under the lease, ${plural(clients)}`,
    unit: "transactions/s",
    bar: "alone ≥ 0.97",
    usesPgbench: true,
    isFullOnly: clients !== SMOKE_CLIENTS,
    workers: async (servers, scale) => {
      const address = await primaryAddress(servers);
      await initialize(address, 1);
      await initialize(servers.single, 1);
      return [readWorker(address, clients, scale), readWorker(servers.single, clients, scale)];
    },
  };
}

function relayedReads(clients: number, bar: string): Measurement {
  return {
    name: `point read through a relay, ${plural(clients)}`,
    unit: "transactions/s",
    bar: `alone ${bar}`,
    usesPgbench: true,
    isFullOnly: clients !== SMOKE_CLIENTS,
    workers: async (servers, scale) => {
      const { cluster } = servers;
      const primary = await cluster.primary();
      const [backup = primary] = backupsOf(cluster, primary);
      await initialize(addressOf(primary, NAME), 1);
      await initialize(servers.single, 1);
      return [
        readWorker(addressOf(backup, NAME), clients, scale),
        readWorker(servers.single, clients, scale),
      ];
    },
  };
}
