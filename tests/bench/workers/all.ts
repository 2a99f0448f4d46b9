/**
 * `deno task bench workers`: one server, asked with two workers and without in turn: four queries of TPC-H, and point
 * reads beside the one that takes longest.
 */
import type postgres from "postgres";
import { TPCH_QUERIES } from "../../../engine/sql/planner/tpch_queries_for_test.ts";
import { compareWorkers, type Comparison, type Scale } from "../benchmark.ts";
import { connect, execute, hasPgbench, transactionRate } from "../cases/client.ts";
import { ACCOUNTS_PER_SCALE, SCRIPTS } from "../cases/pgbench.ts";
import { ask, loadTables, SMOKE_SCALE } from "../cases/tpch.ts";
import type { LanguageOptions } from "../lang/options.ts";
import { type DbdPeer, startDbd } from "../peers/dbd.ts";

const QUERIES = ["q1", "q6", "q9", "q18"] as const;
const COUNTS = [2, 0] as const;
/** Runs of a query before the first that counts. */
const WARMING: Readonly<Record<Scale, number>> = { smoke: 0, full: 5 };
/** What others ask for while point reads are measured. */
const BESIDE = TPCH_QUERIES.q18 ?? "";
const CLIENTS = 8;

const POINT_READS = `workers: point read, prepared, ${CLIENTS} clients, beside Q18 with two workers`;

function nameOf(query: string): string {
  return `workers: TPC-H ${query.toUpperCase()}, scale 1`;
}

/** Options are those of the other groups; `binary` is a compiled server. */
export const WORKER_GROUPS: Readonly<
  Record<string, {
    readonly benchmarks: readonly string[];
    measure(options: LanguageOptions, tell: (result: Comparison) => void): Promise<readonly Comparison[]>;
  }>
> = {
  "workers": {
    benchmarks: [...QUERIES.map(nameOf), ...(hasPgbench() ? [POINT_READS] : [])],
    measure: measureWorkers,
  },
};

async function measureWorkers(
  { scale, rounds, binary, missing }: LanguageOptions,
  tell: (result: Comparison) => void,
): Promise<readonly Comparison[]> {
  const server = await startDbd(binary === null ? {} : { binary });
  const clients = COUNTS.map(() => connect(server));
  try {
    const [loader] = clients;
    if (loader === undefined) return [];
    await loadTables(loader, scale === "smoke" ? SMOKE_SCALE : 1);
    await loader.unsafe("CHECKPOINT");
    for (const [index, client] of clients.entries()) {
      await client.unsafe(`SET max_parallel_workers = ${COUNTS[index] ?? 0}; SET statement_memory = '512MB'`);
    }
    const results: Comparison[] = [];
    for (const query of QUERIES) {
      const workers = clients.map((client, index) => queryWorker(client, query, COUNTS[index] ?? 0, scale));
      results.push(await compareWorkers({ name: nameOf(query), unit: "ms", bar: "≤ 0.63" }, workers, rounds));
      results.slice(-1).forEach(tell);
    }
    if (hasPgbench()) {
      results.push(await measurePointReads(server, loader, scale, rounds));
      results.slice(-1).forEach(tell);
    } else missing.push("point reads beside Q18, as pgbench is not installed (Debian: postgresql)");
    return results;
  } finally {
    for (const client of clients) await client.end();
    await server.stop();
  }
}

function queryWorker(client: postgres.Sql, query: string, count: number, scale: Scale) {
  const text = TPCH_QUERIES[query] ?? "";
  return {
    name: count === 0 ? "dbd, none" : "dbd, two workers",
    prepare: async () => {
      for (let time = 0; time < WARMING[scale]; time++) await ask(client, text);
    },
    measure: async () => {
      const start = performance.now();
      await ask(client, text);
      return performance.now() - start;
    },
  };
}

/** The rate of point reads while the query runs again and again, and without it. */
async function measurePointReads(
  server: DbdPeer,
  client: postgres.Sql,
  scale: Scale,
  rounds: number,
): Promise<Comparison> {
  await execute(server, [
    "CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84))",
    `INSERT INTO pgbench_accounts SELECT g, 1, 0, '' FROM generate_series(1, ${ACCOUNTS_PER_SCALE}) g`,
  ]);
  const rate = () =>
    transactionRate(server, SCRIPTS["point read"], {
      mode: "prepared",
      clients: CLIENTS,
      variables: { rows: ACCOUNTS_PER_SCALE },
      seconds: scale === "smoke" ? null : 5,
    });
  const besideQuery = async () => {
    let isOver = false;
    const asking = (async () => {
      while (!isOver) await ask(client, BESIDE);
    })();
    try {
      return await rate();
    } finally {
      isOver = true;
      await asking;
    }
  };
  return await compareWorkers({ name: POINT_READS, unit: "transactions/s", bar: "≥ 0.70" }, [
    { name: "dbd, beside Q18", prepare: async () => {}, measure: besideQuery },
    { name: "dbd, alone", prepare: async () => {}, measure: rate },
  ], rounds);
}
