/** All that `deno task bench cluster` measures, beside PostgreSQL with standbys, etcd and one server alone. */
import { compareWorkers, type Comparison, type Scale, type Worker } from "../benchmark.ts";
import { hasPgbench } from "../cases/client.ts";
import type { LanguageOptions } from "../lang/options.ts";
import { startDbd } from "../peers/dbd.ts";
import { startEtcd } from "./etcd.ts";
import { MEASUREMENTS } from "./measurements.ts";
import { startCluster } from "./own_servers.ts";
import { startPostgresqlStandbys } from "./postgresql_standbys.ts";
import type { Measurement, Servers } from "./servers.ts";

/** Options are those of the other groups; `binary` is a compiled server. The names are those of a smoke run. */
export const CLUSTER_GROUPS: Readonly<
  Record<string, {
    readonly benchmarks: readonly string[];
    measure(options: LanguageOptions, tell: (result: Comparison) => void): Promise<readonly Comparison[]>;
  }>
> = {
  "cluster": {
    benchmarks: chosen("smoke").map(({ name }) => name),
    measure: measureCluster,
  },
};

function chosen(scale: Scale, rows = ""): readonly Measurement[] {
  return MEASUREMENTS.filter(({ name, usesPgbench, isFullOnly }) =>
    (!usesPgbench || hasPgbench()) && (scale === "full" || isFullOnly !== true) && name.includes(rows)
  );
}

async function measureCluster(
  options: LanguageOptions,
  tell: (result: Comparison) => void,
): Promise<readonly Comparison[]> {
  const { alone, missing, scale, binary } = options;
  const results: Comparison[] = [];
  const stops: (() => Promise<void>)[] = [];
  try {
    const cluster = await startCluster(binary);
    stops.push(() => cluster[Symbol.asyncDispose]());
    const single = await startDbd(binary === null ? {} : { binary });
    stops.push(() => single.stop());
    const postgresql = alone ? null : await startPostgresqlStandbys();
    if (postgresql !== null) stops.push(() => postgresql.stop());
    else if (!alone) missing.push("PostgreSQL with standbys, as it is not installed");
    const etcd = alone ? null : await startEtcd();
    if (etcd !== null) stops.push(() => etcd.stop());
    else if (!alone) missing.push("etcd, as it is not installed (Debian: etcd-server)");
    const servers: Servers = { cluster, single, postgresql, etcd, binary };
    for (const measurement of chosen(scale, options.rows)) {
      const workers: readonly Worker[] = await measurement.workers(servers, scale);
      const rounds = Math.min(options.rounds, measurement.maximumRounds ?? Infinity);
      const result = await compareWorkers(measurement, workers, rounds);
      await measurement.finish?.();
      tell(result);
      results.push(result);
    }
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
  return results;
}
