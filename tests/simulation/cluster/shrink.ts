/** A failing seed made small: faults are left out one by one, then clients, then the end of the run. */
import { clientsOf, type ClusterOptions, faultsOf, simulateCluster } from "./cluster_world.ts";

/** What is left of a seed that fails. */
export interface ShrunkSeed {
  readonly options: Required<Omit<ClusterOptions, "faults" | "shardCount">>;
  readonly message: string;
  /** The faults that it takes, for people. */
  readonly faults: readonly string[];
}

/** Makes the run of a seed small; null when it does not fail. */
export async function shrinkSeed(seed: number): Promise<ShrunkSeed | null> {
  const failure = async (options: ClusterOptions): Promise<string | null> => {
    try {
      await simulateCluster(seed, options);
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  let message = await failure({});
  if (message === null) return null;
  const plan = faultsOf(seed);
  const without = new Set<number>();
  const keep = async (options: ClusterOptions): Promise<boolean> => {
    const found = await failure(options);
    if (found !== null) message = found;
    return found !== null;
  };
  // The last ones first: what came before may be needed to come there.
  for (let index = plan.length - 1; index >= 0; index--) {
    without.add(index);
    if (!await keep({ withoutFaults: without })) without.delete(index);
  }
  let clients = clientsOf(seed);
  for (const kind of clients) {
    const fewer = clients.filter((one) => one !== kind);
    if (fewer.length > 0 && await keep({ withoutFaults: without, clients: fewer })) clients = fewer;
  }
  const left = plan.filter((_, index) => !without.has(index));
  let microseconds = (left.at(-1)?.at ?? 0) + 1_000_000;
  if (!await keep({ withoutFaults: without, clients, microseconds })) {
    microseconds = (plan.at(-1)?.at ?? 0) + 1_000_000;
  }
  return {
    options: { withoutFaults: without, clients, microseconds },
    message,
    faults: left.map(({ at, kind, member, duration }) =>
      `${(at / 1e6).toFixed(3)} s: ${kind}, member ${member}, ${(duration / 1e6).toFixed(3)} s`
    ),
  };
}
