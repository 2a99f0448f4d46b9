/** What the members do besides: a backup's work, a load, and one that is slow. */
import type { ClusterProcesses } from "../../cluster/cluster_processes.ts";
import { FaultProxy } from "../../cluster/fault_proxy.ts";
import type { PeerAddress, Worker } from "../benchmark.ts";
import { accountsFile, removeAccountsFile } from "../cases/accounts_file.ts";
import { execute, transactionRate } from "../cases/client.ts";
import { copyAccounts } from "../cases/copy.ts";
import { initialize } from "../cases/pgbench.ts";
import { processorSeconds } from "../peers/process.ts";
import { addressOf, backupsOf, MEMBERS, NAME, startCluster } from "./own_servers.ts";
import { rateOf } from "./rates.ts";
import type { Measurement } from "./servers.ts";

const WAITING_CLIENTS = 32;
const THROTTLED_BYTES_PER_SECOND = 1_000_000;
const SLOW = MEMBERS - 1;

const WIDE_PUT = `\\set key random(1, 10000)
INSERT INTO wide VALUES (:key, '${"x".repeat(4000)}') ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value;
`;

/** See the head of the file. */
export const memberWork: readonly Measurement[] = [
  {
    name: `processor time of a backup, point writes of ${WAITING_CLIENTS} clients`,
    unit: "× the primary's",
    bar: "≤ 0.35",
    usesPgbench: true,
    workers: async ({ cluster }, scale) => {
      const primary = await cluster.primary();
      const address = addressOf(primary, NAME);
      await initialize(address, 1);
      return [worker(NAME, async () => {
        const backups = backupsOf(cluster, primary);
        const times = () => [primary, ...backups].map(({ processId }) => processorSeconds(processId));
        const before = times();
        await rateOf(address, "point write", { clients: WAITING_CLIENTS, scale });
        const [own = 0, ...others] = times().map((time, index) => time - (before[index] ?? 0));
        return others.reduce((sum, time) => sum + time, 0) / others.length / Math.max(own, 0.01);
      })];
    },
  },
  {
    name: "replicated COPY in, pgbench_accounts",
    unit: "rows/s",
    bar: "alone ≥ 0.5",
    usesPgbench: true,
    maximumRounds: 3,
    workers: async ({ cluster, single, postgresql }, scale) => {
      await accountsFile(scale);
      const copied = (address: PeerAddress) => worker(address.name, () => copyAccounts(address, scale));
      await postgresql?.waitFor("on");
      const primary = await cluster.primary();
      return [
        copied(addressOf(primary, NAME)),
        copied(single),
        ...(postgresql === null ? [] : [copied(postgresql.address("on"))]),
      ];
    },
    finish: removeAccountsFile,
  },
  slowMember(),
];

function worker(name: string, measure: () => Promise<number>): Worker {
  return { name, prepare: async () => {}, measure };
}

/** One of three behind a slow network, in a cluster of its own: it must not hold up the others. */
function slowMember(): Measurement {
  let cluster: ClusterProcesses | null = null;
  const proxies: FaultProxy[] = [];
  return {
    name: `puts of 4 kB, ${WAITING_CLIENTS} clients, one member at 1 MB/s`,
    unit: "transactions/s",
    bar: "≥ 0.95",
    usesPgbench: true,
    isFullOnly: true,
    maximumRounds: 3,
    workers: async ({ binary }, scale) => {
      const started = cluster = await startCluster(binary, {
        peersOf: (index, addresses) => {
          if (index === SLOW) return addresses;
          const port = Number(addresses[SLOW]?.split(":").at(-1));
          const proxy = new FaultProxy(() => port);
          proxies.push(proxy);
          return addresses.map((address, other) => other === SLOW ? proxy.address : address);
        },
      });
      const primary = await started.primary();
      const address = addressOf(primary, "dbd ×3, one slow");
      await execute(address, ["CREATE TABLE wide (key int PRIMARY KEY, value text)"]);
      const rate = () =>
        transactionRate(address, WIDE_PUT, {
          mode: "prepared",
          clients: WAITING_CLIENTS,
          variables: {},
          seconds: scale === "smoke" ? null : 5,
          transactions: 2,
        });
      return [
        worker(address.name, async () => {
          for (const proxy of proxies) proxy.throttle(THROTTLED_BYTES_PER_SECOND);
          return await rate();
        }),
        worker(NAME, async () => {
          for (const proxy of proxies) proxy.heal();
          await started.level();
          return await rate();
        }),
      ];
    },
    finish: async () => {
      await cluster?.[Symbol.asyncDispose]();
      for (const proxy of proxies.splice(0)) proxy[Symbol.dispose]();
      cluster = null;
    },
  };
}
