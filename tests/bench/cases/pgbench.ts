/** Work done by pgbench, PostgreSQL's own benchmark client: point reads, point writes, TPC-B, inserts. */
import type { Benchmark, Peer, PeerAddress, Scale } from "../benchmark.ts";
import { type QueryMode, runPgbench, transactionRate } from "./client.ts";

/** Rows of pgbench_accounts per unit of scale, from pgbench's documentation. */
export const ACCOUNTS_PER_SCALE = 100_000;

const initialized = new Map<string, number>();

/** pgbench scripts by name. */
export const SCRIPTS = {
  "point read": "\\set aid random(1, :rows)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
  "point write":
    "\\set aid random(1, :rows)\n\\set delta random(-5000, 5000)\nUPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n",
  "single-row insert":
    "\\set aid random(1, :rows)\nINSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, 1, CURRENT_TIMESTAMP);\n",
  "TPC-B":
    "\\set aid random(1, :rows)\n\\set bid random(1, :branches)\n\\set tid random(1, 10 * :branches)\n\\set delta random(-5000, 5000)\nBEGIN;\nUPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\nUPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\nUPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\nINSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\nEND;\n",
} as const;

/** A benchmark of one script at one number of connections, over tables of so many branches. */
export function pgbench(
  script: keyof typeof SCRIPTS,
  mode: QueryMode,
  clients: number,
  bar: string,
  branches = 1,
): Benchmark {
  const branchesAt = (scale: Scale): number => scale === "smoke" ? 1 : branches;
  return {
    driver: "pgbench",
    name: `${script}, ${mode}, ${clients} client${clients === 1 ? "" : "s"}${
      branches === 1 ? "" : `, ${branches} branches`
    }`,
    unit: "transactions/s",
    higherIsBetter: true,
    bar,
    prepare: (peer, scale) => initialize(peer, branchesAt(scale)),
    measure: (peer, scale) =>
      transactionRate(peer, SCRIPTS[script], {
        mode,
        clients,
        variables: { rows: ACCOUNTS_PER_SCALE * branchesAt(scale), branches: branchesAt(scale) },
        seconds: scale === "smoke" ? null : 5,
        // A smoke run of many clients is long enough by the number of them.
        transactions: clients > 32 ? 1 : 20,
      }),
  };
}

/** How the cost of a transaction grows with the clients: the time of the server for one, whoever waits. */
export const clientGrowth: readonly Benchmark[] = ([["point read", "prepared"], ["TPC-B", "simple"]] as const)
  .flatMap((
    [script, mode],
  ) =>
    [1, 4, 16, 64, 256].map((clients, index): Benchmark => {
      const { bar: _bar, measure, ...benchmark } = pgbench(script, mode, clients, "");
      return {
        ...benchmark,
        unit: "µs",
        higherIsBetter: false,
        maximumRounds: 3,
        growth: { group: `${script}, ${mode}`, size: clients },
        isFullOnly: index > 0,
        measure: async (peer, scale) => 1e6 / await measure(peer, scale),
      };
    })
  );

const encrypted = new Map<Peer, Peer>();

/** Point reads over TLS, on servers of their own. */
export const overTls: readonly Benchmark[] = (["simple", "extended", "prepared"] as const).map(
  (mode, index, all): Benchmark => {
    const { measure, ...benchmark } = pgbench("point read", mode, 8, "≥ 0.9");
    const serverOf = (peer: Peer): Peer => encrypted.get(peer) ?? peer;
    return {
      ...benchmark,
      name: `${benchmark.name}, TLS`,
      prepare: async (peer) => {
        if (!encrypted.has(peer)) encrypted.set(peer, await peer.another({ tls: true }));
        await initialize(serverOf(peer), 1);
      },
      measure: (peer, scale) => measure(serverOf(peer), scale),
      ...(index < all.length - 1 ? {} : {
        finish: async () => {
          for (const server of encrypted.values()) await server.stop();
          encrypted.clear();
        },
      }),
    };
  },
);

/** Makes pgbench's tables of a size, unless the peer has them in that size from before. */
export async function initialize(peer: PeerAddress, scale: number): Promise<void> {
  const key = `${peer.name}:${peer.port}`;
  if (initialized.get(key) === scale) return;
  await runPgbench(peer, ["-i", "-q", "-s", String(scale)]);
  initialized.set(key, scale);
}
