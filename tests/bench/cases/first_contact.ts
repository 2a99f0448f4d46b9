/** What a person does first: pgbench's tables, many rows one by one, and queries right after a start. */
import { TPCH_QUERIES } from "../../../engine/sql/planner/tpch_queries_for_test.ts";
import type { Benchmark, Peer, Scale } from "../benchmark.ts";
import { isDbd } from "../peers/dbd.ts";
import { connect, execute, runPgbench, transactionRate } from "./client.ts";
import { ask, loadTables, SMOKE_SCALE } from "./tpch.ts";

/** Of pgbench: a million accounts. */
const PGBENCH_SCALE = { smoke: 1, full: 10 } as const;
/** Of TPC-H: 1.5 million lines. */
const TPCH_SCALE = { smoke: SMOKE_SCALE, full: 0.25 } as const;
const INSERTS = { smoke: 500, full: 100_000 } as const;
const INSERTS_A_TRANSACTION = 1000;
const FIRST_RUNS = 3;

/** Servers with TPC-H's tables; dbd's is stopped, and started for each measurement. */
const loaded = new Map<Peer, { readonly server: Peer; readonly directory: string | null }>();

/** See the head of the file. */
export const firstContact: readonly Benchmark[] = [
  {
    driver: "pgbench",
    name: "pgbench -i, 1 million accounts",
    unit: "s",
    higherIsBetter: false,
    bar: "≤ 0.83",
    maximumRounds: 3,
    prepare: async () => {},
    measure: async (peer, scale) => {
      const server = await peer.another({});
      try {
        const start = performance.now();
        await runPgbench(server, ["-i", "-q", "-s", String(PGBENCH_SCALE[scale])]);
        return (performance.now() - start) / 1000;
      } finally {
        await server.stop();
      }
    },
  },
  {
    driver: "pgbench",
    name: "100 000 prepared INSERTs of one connection, 1000 a transaction",
    unit: "transactions/s",
    higherIsBetter: true,
    bar: "≥ 1.2",
    prepare: async () => {},
    measure: async (peer, scale) => {
      await execute(peer, [
        "DROP TABLE IF EXISTS inserted",
        "CREATE TABLE inserted (id serial PRIMARY KEY, a int NOT NULL, b text)",
      ]);
      const insert = "INSERT INTO inserted (a, b) VALUES (:a, 'some text of it');\n";
      const each = Math.min(INSERTS_A_TRANSACTION, INSERTS[scale]);
      return await transactionRate(peer, `\\set a random(1, 100000)\nBEGIN;\n${insert.repeat(each)}END;\n`, {
        mode: "prepared",
        clients: 1,
        variables: {},
        seconds: null,
        transactions: INSERTS[scale] / each,
      });
    },
  },
  ...(["q1", "q6"] as const).map((query, index, all): Benchmark => ({
    name: `TPC-H ${query.toUpperCase()}, 1.5 million lines, median of the first three runs after a start`,
    unit: "ms",
    higherIsBetter: false,
    bar: "≤ 0.10",
    maximumRounds: 3,
    isFullOnly: index < all.length - 1,
    prepare: load,
    measure: (peer) => firstRuns(peer, TPCH_QUERIES[query] ?? ""),
    ...(index < all.length - 1 ? {} : { finish: stopServers }),
  })),
];

async function load(peer: Peer, scale: Scale): Promise<void> {
  if (loaded.has(peer)) return;
  const directory = isDbd(peer) ? await Deno.makeTempDir({ prefix: "dbd-first-" }) : null;
  const server = isDbd(peer) && directory !== null
    ? await peer.another({ directory })
    : await peer.another({});
  const client = connect(server);
  await loadTables(client, TPCH_SCALE[scale]);
  await client.unsafe("CHECKPOINT");
  await client.end();
  if (directory !== null) await server.stop();
  loaded.set(peer, { server, directory });
}

/** The median time of a query's first runs; only dbd is started for them. */
async function firstRuns(peer: Peer, query: string): Promise<number> {
  const place = loaded.get(peer);
  if (place === undefined) throw new Error(`${peer.name} has no tables`);
  const { directory } = place;
  const server = isDbd(peer) && directory !== null ? await peer.another({ directory }) : place.server;
  const client = connect(server);
  const times: number[] = [];
  for (let run = 0; run < FIRST_RUNS; run++) {
    const start = performance.now();
    await ask(client, query);
    times.push(performance.now() - start);
  }
  await client.end();
  if (directory !== null) await server.stop();
  return times.toSorted((a, b) => a - b)[FIRST_RUNS >> 1] ?? NaN;
}

async function stopServers(): Promise<void> {
  for (const { server, directory } of loaded.values()) {
    if (directory === null) await server.stop();
    else await Deno.remove(directory, { recursive: true });
  }
  loaded.clear();
}
