/**
 * `deno task bench aged`: a server that has run the corpus of statements beside one that was just started, both of the
 * same build, in turn, on tables made anew. With `--before DIR` a pair of that checkout as well.
 */
import {
  type Benchmark,
  compare,
  type Comparison,
  comparisonOf,
  type Peer,
  type Scale,
} from "../benchmark.ts";
import { ACCOUNT_ROWS } from "../cases/accounts_file.ts";
import { hasPgbench, type QueryMode, transactionRate } from "../cases/client.ts";
import { copy } from "../cases/copy.ts";
import { ACCOUNTS_PER_SCALE, pgbench, SCRIPTS } from "../cases/pgbench.ts";
import type { LanguageOptions } from "../lang/options.ts";
import { type DbdOptions, type DbdPeer, startDbd } from "../peers/dbd.ts";
import { processorSeconds } from "../peers/process.ts";
import { age } from "./corpus.ts";

/** The server that has lived is at least so quick, and takes at most so much processor time. */
const BAR = "≥ 0.95";
const PROCESSOR_BAR = "≤ 1.05";

/** What is measured, and how many transactions or rows a measurement has: some two seconds of both. */
const MEASURED: readonly { readonly benchmark: Benchmark; readonly count: number }[] = [
  counted("point read", "prepared", 1, 30_000),
  counted("point read", "prepared", 8, 80_000),
  counted("point read", "simple", 8, 50_000),
  counted("TPC-B", "simple", 1, 2_000),
  counted("TPC-B", "simple", 8, 6_000),
  counted("single-row insert", "prepared", 8, 30_000),
  ...copy.map((benchmark) => ({ benchmark, count: ACCOUNT_ROWS.full })),
].map(({ benchmark, count }) => ({
  benchmark: { ...benchmark, name: `aged: ${benchmark.name}`, bar: BAR },
  count,
}));

/**
 * Equal numbers of transactions on all servers, or the quicker one would have had more work, and what V8 makes of it,
 * before the next measurement.
 */
function counted(script: keyof typeof SCRIPTS, mode: QueryMode, clients: number, count: number) {
  const benchmark: Benchmark = {
    ...pgbench(script, mode, clients, BAR),
    measure: (peer, scale) =>
      transactionRate(peer, SCRIPTS[script], {
        mode,
        clients,
        variables: { rows: ACCOUNTS_PER_SCALE, branches: 1 },
        seconds: null,
        transactions: scale === "smoke" ? 20 : count / clients,
      }),
  };
  return { benchmark, count };
}

/** Measurements before the first that counts: on a fresh server V8 takes some ten seconds of work to settle. */
const WARMING: Readonly<Record<Scale, number>> = { smoke: 0, full: 3 };

function processorName({ name }: Pick<Benchmark, "name">): string {
  return `${name}: processor time`;
}

/** What is asked for, besides what all groups are. */
interface AgedOptions extends LanguageOptions {
  readonly before: string | null;
}

/** Options are those of the other groups; `binary` is a compiled server. */
export const AGED_GROUPS: Readonly<
  Record<string, {
    readonly benchmarks: readonly string[];
    measure(options: AgedOptions, tell: (result: Comparison) => void): Promise<readonly Comparison[]>;
  }>
> = {
  "aged": {
    benchmarks: hasPgbench()
      ? MEASURED.flatMap(({ benchmark }) => [benchmark.name, processorName(benchmark)])
      : [],
    measure: measureAged,
  },
};

async function measureAged(
  { scale, rounds, binary, before, missing }: AgedOptions,
  tell: (result: Comparison) => void,
): Promise<readonly Comparison[]> {
  if (!hasPgbench()) {
    missing.push("aged, as pgbench is not installed (Debian: postgresql)");
    return [];
  }
  const peers: DbdPeer[] = [];
  try {
    await startPair(peers, "dbd", binary === null ? {} : { binary }, scale);
    if (before !== null) await startPair(peers, "dbd before", { checkout: before }, scale);
    const results: Comparison[] = [];
    for (const { benchmark, count } of MEASURED) {
      const microseconds = peers.map((): number[] => []);
      const measure = async (peer: Peer): Promise<number> => {
        const index = peers.findIndex(({ port }) => port === peer.port);
        const { processId = 0 } = peers[index] ?? {};
        const before = processorSeconds(processId);
        const rate = await benchmark.measure(peer, scale);
        microseconds[index]?.push((processorSeconds(processId) - before) * 1e6 / count);
        return rate;
      };
      const prepare = async (peer: Peer): Promise<void> => {
        await benchmark.prepare(peer, scale);
        for (let time = 0; time < WARMING[scale]; time++) await benchmark.measure(peer, scale);
      };
      results.push(await compare({ ...benchmark, prepare, measure }, peers, { scale, rounds }));
      const processor = { name: processorName(benchmark), unit: "µs", bar: PROCESSOR_BAR };
      results.push(comparisonOf(processor, peers.map(({ name }) => name), microseconds));
      results.slice(-2).forEach(tell);
    }
    return results;
  } finally {
    for (const peer of peers) await peer.stop();
  }
}

/** A server that lives its life now, and one that has none. */
async function startPair(peers: DbdPeer[], name: string, options: DbdOptions, scale: Scale): Promise<void> {
  const aged = await startDbd(options);
  peers.push({ ...aged, name: `${name}, aged` });
  await age(aged, scale);
  peers.push({ ...await startDbd(options), name: `${name}, fresh` });
}
