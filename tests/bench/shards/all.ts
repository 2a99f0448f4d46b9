/** All that `deno task bench shards` measures: servers of two and of four shards, beside one without. */
import { compareWorkers, type Comparison, type Scale, type Worker } from "../benchmark.ts";
import { hasPgbench } from "../cases/client.ts";
import { initialize, type SCRIPTS } from "../cases/pgbench.ts";
import { rateOf } from "../cluster/rates.ts";
import type { LanguageOptions } from "../lang/options.ts";
import { type DbdPeer, startDbd } from "../peers/dbd.ts";
import { connectPg } from "../../support/clients.ts";

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
  {
    name: "shards: scan with aggregate",
    unit: "queries/s",
    bar: "≥ 1.7",
    isFullOnly: false,
    measure: scanRate,
  },
];

/** Options are those of the other groups; `binary` is a compiled server. The names are those of a smoke run. */
export const SHARD_GROUPS: Readonly<
  Record<string, {
    readonly benchmarks: readonly string[];
    measure(options: LanguageOptions, tell: (result: Comparison) => void): Promise<readonly Comparison[]>;
  }>
> = {
  "shards": { benchmarks: chosen("smoke").map(({ name }) => name), measure: measureShards },
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

async function scanRate(server: DbdPeer, scale: Scale): Promise<number> {
  const client = await connectPg(server);
  try {
    const count = scale === "smoke" ? 1 : 5;
    const start = performance.now();
    for (let index = 0; index < count; index++) {
      await client.query(
        "SELECT count(*), sum(abalance), max(aid) FROM pgbench_accounts WHERE abalance > -9000",
      );
    }
    return count / (performance.now() - start) * 1000;
  } finally {
    await client.close();
  }
}

async function measureShards(
  { scale, binary, rounds }: LanguageOptions,
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
  return results;
}
