/**
 * Two routers' threads against none: prepared point reads a second, and how many of them the thread with the sessions
 * does in a second of its processor time, which is the limit where there are processors enough.
 */
import { compareWorkers, type Comparison, comparisonOf, type Scale, type Worker } from "../benchmark.ts";
import { initialize } from "../cases/pgbench.ts";
import { rateOf } from "../cluster/rates.ts";
import type { LanguageOptions } from "../lang/options.ts";
import { type DbdPeer, startDbd } from "../peers/dbd.ts";
import { processorSeconds } from "../peers/process.ts";

/** Which comparisons there are; those of many clients and of shards in a full run only. */
interface RouterCase {
  readonly shards: number | null;
  readonly clients: number;
}

const CASES: readonly RouterCase[] = [null, 2].flatMap((shards) =>
  [32, 128].map((clients) => ({ shards, clients }))
);

function casesOf(scale: Scale): readonly RouterCase[] {
  return scale === "smoke" ? CASES.slice(0, 1) : CASES;
}

/** The names of what {@link measureRouters} measures. */
export function routerBenchmarks(scale: Scale): { readonly name: string }[] {
  return casesOf(scale).flatMap((each) => [{ name: nameOf(each) }, { name: `${nameOf(each)}: one thread` }]);
}

function nameOf({ shards, clients }: RouterCase): string {
  return `routers: point read, ${clients} clients, ${shards === null ? "no" : shards} shards`;
}

/** Processor time of the thread that has the sessions. */
function sessionSeconds({ processId }: DbdPeer): number {
  return processorSeconds(processId, processId);
}

/** Compares all of them in turn. */
export async function measureRouters(
  { scale, binary, rounds }: LanguageOptions,
  tell: (result: Comparison) => void,
): Promise<Comparison[]> {
  const results: Comparison[] = [];
  for (const each of casesOf(scale)) {
    const servers: DbdPeer[] = [];
    try {
      const shards = each.shards === null ? [] : ["--shards", String(each.shards)];
      for (const count of [2, 1]) {
        const flags = ["--routers", String(count), ...shards];
        servers.push(await startDbd({ ...(binary === null ? {} : { binary }), flags }));
      }
      const perSecond: number[][] = servers.map(() => []);
      const workers = servers.map((server, index): Worker => ({
        name: index === 0 ? "2 routers" : "1 router",
        prepare: () => initialize(server, 1),
        measure: async () => {
          const before = sessionSeconds(server), began = performance.now();
          const rate = await rateOf(server, "point read", { clients: each.clients, scale });
          const seconds = (performance.now() - began) / 1000;
          // A smoke run may be too short for the clock.
          perSecond[index]?.push(rate * seconds / Math.max(sessionSeconds(server) - before, 0.01));
          return rate;
        },
      }));
      const rate = { name: nameOf(each), unit: "transactions/s", bar: "" };
      results.push(await compareWorkers(rate, workers, rounds));
      const thread = { name: `${nameOf(each)}: one thread`, unit: "per second of processor time", bar: "" };
      results.push(comparisonOf(thread, workers.map(({ name }) => name), perSecond));
      results.slice(-2).forEach(tell);
    } finally {
      for (const server of servers) await server.stop();
    }
  }
  return results;
}
