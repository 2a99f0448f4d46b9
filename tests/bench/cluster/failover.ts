/** How long clients wait for the next primary: half of the times, and the longest of a hundred but one. */
import { median, type Worker } from "../benchmark.ts";
import { execute } from "../cases/client.ts";
import { addressOf, NAME, timeToWrite } from "./own_servers.ts";
import type { Measurement, Servers } from "./servers.ts";

/** In each round; the default of five makes a hundred. */
const KILLS = { smoke: 1, full: 20 } as const;

/** See the head of the file. */
export const failovers: readonly Measurement[] = [
  ...failover("SIGKILL", { half: "≤ 900", most: "≤ 1800" }),
  ...failover("SIGTERM", { half: "≤ 200", most: "≤ 200" }),
];

function failover(
  signal: "SIGKILL" | "SIGTERM",
  bars: { readonly half: string; readonly most: string },
): readonly Measurement[] {
  const times: number[] = [];
  const row = { unit: "ms", usesPgbench: false } as const;
  const worker = (measure: () => Promise<number>): readonly Worker[] => [{
    name: NAME,
    prepare: async () => {},
    measure,
  }];
  return [
    {
      ...row,
      name: `first write after ${signal} of the primary, median`,
      bar: bars.half,
      workers: async ({ cluster }, scale) => {
        const address = addressOf(await cluster.primary(), NAME);
        await execute(address, ["CREATE TABLE IF NOT EXISTS failovers (at timestamptz DEFAULT now())"]);
        return worker(async () => {
          const round: number[] = [];
          while (round.length < KILLS[scale]) round.push(await afterStop(cluster, signal));
          times.push(...round);
          return median(round);
        });
      },
    },
    {
      ...row,
      name: `first write after ${signal} of the primary, 99 %`,
      bar: bars.most,
      maximumRounds: 1,
      workers: () => {
        const sorted = times.splice(0).sort((a, b) => a - b);
        const most = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? NaN;
        return Promise.resolve(worker(() => Promise.resolve(most)));
      },
    },
  ];
}

/** Stops the primary, and answers when the next one has written. All members run again afterwards. */
async function afterStop(
  cluster: Servers["cluster"],
  signal: "SIGKILL" | "SIGTERM",
): Promise<number> {
  await cluster.level();
  const primary = await cluster.primary();
  const ended = primary.stop(signal);
  const milliseconds = await timeToWrite(cluster, "INSERT INTO failovers DEFAULT VALUES");
  await ended;
  primary.start();
  await cluster.level();
  return milliseconds;
}
