/** All that `deno task bench shards` measures: servers of two and four shards beside one without, and two routers. */
import { compareWorkers, type Comparison, type Scale, type Worker } from "../benchmark.ts";
import { hasPgbench } from "../cases/client.ts";
import { initialize, type SCRIPTS } from "../cases/pgbench.ts";
import { rateOf } from "../cluster/rates.ts";
import type { LanguageOptions } from "../lang/options.ts";
import { shardOf } from "../../../engine/sharding/shard_map.ts";
import { type DbdPeer, startDbd } from "../peers/dbd.ts";
import { connectPg } from "../../support/clients.ts";
import { measureRouters, routerBenchmarks } from "./routers.ts";

/** One comparison; the first server is that of two shards. */
interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly bar: string;
  readonly isFullOnly: boolean;
  measure(server: DbdPeer, scale: Scale): Promise<number>;
}

const MEASUREMENTS: readonly Measurement[] = [
  rate("point read", 1, "≥ 0.35"),
  rate("point read", 32, "≥ 1.1"),
  rate("point write", 1, ""),
  rate("point write", 32, "≥ 1.3"),
  rate("TPC-B", 8, ""),
  block("one shard", 1, ""),
  block("two shards", 1, "≥ 0.35 × one shard"),
  block("one shard", 32, ""),
  block("two shards", 32, "≥ 0.5 × one shard"),
  scan(100_000, false),
  scan(3_000_000, true),
];

/** Options are those of the other groups; `binary` is a compiled server. The names are those of a smoke run. */
export const SHARD_GROUPS: Readonly<
  Record<string, {
    readonly benchmarks: readonly string[];
    measure(options: LanguageOptions, tell: (result: Comparison) => void): Promise<readonly Comparison[]>;
  }>
> = {
  "shards": {
    benchmarks: [...chosen("smoke"), ...(hasPgbench() ? routerBenchmarks("smoke") : [])].map(({ name }) =>
      name
    ),
    measure: measureShards,
  },
};

function chosen(scale: Scale): readonly Measurement[] {
  return hasPgbench() ? MEASUREMENTS.filter(({ isFullOnly }) => scale === "full" || !isFullOnly) : [];
}

function rate(script: keyof typeof SCRIPTS, clients: number, bar: string): Measurement {
  return {
    name: `shards: ${script}, ${clients} client${clients === 1 ? "" : "s"}`,
    unit: "transactions/s",
    bar,
    isFullOnly: clients !== 1,
    measure: (server, scale) => rateOf(server, script, { clients, scale }),
  };
}

/** Blocks that change two rows, which are at one shard or, where there are two, at two. */
function block(where: "one shard" | "two shards", clients: number, bar: string): Measurement {
  return {
    name: `shards: a block of ${where}, ${clients} client${clients === 1 ? "" : "s"}`,
    unit: "transactions/s",
    bar,
    isFullOnly: true,
    measure: (server, scale) => blockRate(server, where, clients, scale === "smoke" ? 200 : 3_000),
  };
}

async function blockRate(
  server: DbdPeer,
  where: "one shard" | "two shards",
  clients: number,
  milliseconds: number,
): Promise<number> {
  const sessions = await Promise.all(Array.from({ length: clients }, () => connectPg(server)));
  try {
    const [table] = await sessions[0]?.query("SELECT 'pgbench_accounts'::regclass::oid::int AS id") ?? [];
    const tableId = Number(table?.["id"]);
    const ids: number[][] = [[], []];
    for (let id = 1; id <= 100_000; id++) ids[shardOf(tableId, id, 2)]?.push(id);
    const end = performance.now() + milliseconds;
    let count = 0;
    await Promise.all(sessions.map(async (session, number) => {
      for (let turn = number; performance.now() < end; turn += clients) {
        const [one = [], other = []] = where === "one shard" ? [ids[turn % 2], ids[turn % 2]] : ids;
        // Rows are changed in one order, and by one client at a time.
        const pair = [one[turn % one.length], other[(turn + clients) % other.length]].sort((a = 0, b = 0) =>
          a - b
        );
        const [low, high] = pair.map((id) =>
          `UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = ${id}`
        );
        await session.query(`BEGIN; ${low}; ${high}; COMMIT`);
        count++;
      }
    }));
    return count / milliseconds * 1000;
  } finally {
    for (const session of sessions) await session.close();
  }
}

/** Aggregates over all rows of a table, one after the other, once they run as they do for long. */
function scan(rows: number, isFullOnly: boolean): Measurement {
  return {
    name: `shards: scan of ${rows} rows with aggregate`,
    unit: "queries/s",
    bar: "≥ 1.7",
    isFullOnly,
    measure: (server, scale) => scanRate(server, rows, scale === "smoke" ? 1 : 2_000),
  };
}

async function scanRate(server: DbdPeer, rows: number, milliseconds: number): Promise<number> {
  const client = await connectPg(server);
  const table = `scanned_${rows}`;
  const query = `SELECT k, count(*), sum(v), max(id) FROM ${table} WHERE v > 10 GROUP BY k`;
  try {
    await client.query(`CREATE TABLE IF NOT EXISTS ${table} (id int PRIMARY KEY, k int, v int)`);
    if ((await client.query(`SELECT 1 FROM ${table} LIMIT 1`)).length === 0) {
      await client.query(
        `INSERT INTO ${table} SELECT n, n % 16, n::bigint * 7919 % 1000 FROM generate_series(1, ${rows}) n`,
      );
      await client.query("CHECKPOINT");
    }
    for (let index = 0; index < 20; index++) await client.query(query);
    let count = 0;
    const start = performance.now();
    do {
      await client.query(query);
      count++;
    } while (performance.now() - start < milliseconds);
    return count / (performance.now() - start) * 1000;
  } finally {
    await client.close();
  }
}

async function measureShards(
  { scale, binary, rounds, ...rest }: LanguageOptions,
  tell: (result: Comparison) => void,
): Promise<readonly Comparison[]> {
  const results: Comparison[] = [];
  const servers: { readonly name: string; readonly server: DbdPeer }[] = [];
  try {
    for (
      const [name, flags] of [["2 shards", ["--shards", "2"]], ["alone", []], ["4 shards", [
        "--shards",
        "4",
      ]]] as const
    ) {
      servers.push({ name, server: await startDbd({ ...(binary === null ? {} : { binary }), flags }) });
    }
    for (const measurement of chosen(scale)) {
      const workers = servers.map(({ name, server }): Worker => ({
        name,
        prepare: () => initialize(server, 1),
        measure: () => measurement.measure(server, scale),
      }));
      const result = await compareWorkers(measurement, workers, rounds);
      tell(result);
      results.push(result);
    }
  } finally {
    for (const { server } of servers) await server.stop();
  }
  if (hasPgbench()) results.push(...await measureRouters({ ...rest, scale, binary, rounds }, tell));
  return results;
}
