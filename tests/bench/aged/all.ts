/**
 * `deno task bench aged`: a server that has run the corpus of statements beside one that was just started, both of the
 * same build, in turn, on tables made anew. With `--before DIR` a pair of that checkout as well.
 */
import { type Benchmark, compare, type Comparison, type Peer, type Scale } from "../benchmark.ts";
import { hasPgbench } from "../cases/client.ts";
import { copy } from "../cases/copy.ts";
import { pgbench } from "../cases/pgbench.ts";
import type { LanguageOptions } from "../lang/options.ts";
import { type DbdOptions, type DbdPeer, startDbd } from "../peers/dbd.ts";
import { age } from "./corpus.ts";

/** The server that has lived is at least so quick. */
const BAR = "≥ 0.95";

const MEASURED: readonly Benchmark[] = [
  pgbench("point read", "prepared", 1, BAR),
  pgbench("point read", "prepared", 8, BAR),
  pgbench("point read", "simple", 8, BAR),
  pgbench("TPC-B", "simple", 1, BAR),
  pgbench("TPC-B", "simple", 8, BAR),
  pgbench("single-row insert", "prepared", 8, BAR),
  ...copy.map((each) => ({ ...each, bar: BAR })),
].map((each) => ({ ...each, name: `aged: ${each.name}`, prepare: (peer, scale) => warm(each, peer, scale) }));

/** Measurements before the first that counts: on a fresh server V8 takes some ten seconds of work to settle. */
const WARMING: Readonly<Record<Scale, number>> = { smoke: 0, full: 2 };

async function warm(benchmark: Benchmark, peer: Peer, scale: Scale): Promise<void> {
  await benchmark.prepare(peer, scale);
  for (let count = 0; count < WARMING[scale]; count++) await benchmark.measure(peer, scale);
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
  "aged": { benchmarks: hasPgbench() ? MEASURED.map(({ name }) => name) : [], measure: measureAged },
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
    for (const benchmark of MEASURED) {
      const result = await compare(benchmark, peers, { scale, rounds });
      tell(result);
      results.push(result);
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
