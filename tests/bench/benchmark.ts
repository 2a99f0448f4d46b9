/**
 * What a benchmark is here: the same work done by peers in turn (A B A B …) in one run, so that the ratio holds when
 * the machine's speed drifts. Medians and spreads are printed, never asserted.
 */

import { isDbd, readMetric } from "./peers/dbd.ts";
import type { EmbeddedPeer } from "./peers/embedded.ts";

/** Where a database is, for clients of the PostgreSQL protocol. */
export interface PeerAddress {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Clients connect over TLS; absent: in clear text. */
  readonly tls?: true;
}

/** Something that does the work: this database or another one. */
export interface Peer extends PeerAddress {
  stop(): Promise<void>;
  /** Starts another server of the same kind, with settings of its own. */
  another(options: ServerOptions): Promise<Peer>;
}

/** What a benchmark may ask of a server of its own. */
export interface ServerOptions {
  /** Memory for data read from files: `--block-cache`, `shared_buffers`. The default when absent. */
  readonly cacheBytes?: number;
  /** With a certificate (ECDSA P-256). */
  readonly tls?: true;
}

/** How large the work is: `smoke` is what the tests run so that no benchmark rots. */
export type Scale = "smoke" | "full";

/** One benchmark. */
export interface Benchmark {
  readonly name: string;
  /** What one measurement counts, e.g. `transactions/s`. */
  readonly unit: string;
  /** true: a larger number is better; false: the unit is a duration. */
  readonly higherIsBetter: boolean;
  /** The bar for ours against the peer's, as a ratio in the sense of the unit; for the report only. */
  readonly bar?: string;
  /** true: only the first peer is measured; the bar is an absolute one. */
  readonly alone?: boolean;
  /** Fewer rounds than asked for, for work that takes minutes. */
  readonly maximumRounds?: number;
  /** The program that does the work; without it the benchmark is not run. */
  readonly driver?: "pgbench" | "sysbench";
  /** true: a smoke run goes without it, for it differs in size alone from another one there. */
  readonly isFullOnly?: boolean;
  /** One measurement of a row of the table of growth: which row, and how much data or how many clients. */
  readonly growth?: { readonly group: string; readonly size: number };
  /** Prepares the peer's data. */
  prepare(peer: Peer, scale: Scale): Promise<void>;
  /** One measurement. */
  measure(peer: Peer, scale: Scale): Promise<number>;
  /** The same on a database that does not listen; absent: it does not take part. */
  readonly embedded?: {
    prepare(peer: EmbeddedPeer, scale: Scale): Promise<void>;
    measure(peer: EmbeddedPeer, scale: Scale): Promise<number>;
  };
  /** Removes data and servers that {@link prepare} has made and no later benchmark needs. */
  finish?(): Promise<void>;
}

/** The measurements of one peer. */
export interface Series {
  readonly peer: string;
  readonly values: readonly number[];
  readonly median: number;
  readonly minimum: number;
  readonly maximum: number;
}

/** A benchmark's result. */
export interface Comparison {
  readonly benchmark: string;
  readonly unit: string;
  readonly bar: string | null;
  readonly growth: Benchmark["growth"] | null;
  readonly series: readonly Series[];
  /** Of our server's event loop, in the minute before each measurement's end; absent: it was not looked at. */
  readonly longestTurnMilliseconds?: number;
  /** Medians of the pairwise ratios, the first peer over each of the others. */
  readonly ratios: readonly { readonly peer: string; readonly ratio: number }[];
}

/** Runs a benchmark on the peers in turn. */
export async function compare(
  benchmark: Benchmark,
  installed: readonly Peer[],
  options: {
    readonly scale: Scale;
    readonly rounds: number;
    readonly embedded?: readonly EmbeddedPeer[];
  },
): Promise<Comparison> {
  const { scale } = options;
  const { embedded } = benchmark;
  const peers = benchmark.alone === true ? installed.slice(0, 1) : installed;
  const ours = peers.find(isDbd);
  let longestTurnMilliseconds = 0;
  const workers: Worker[] = [
    ...peers.map((peer) => ({
      name: peer.name,
      prepare: () => benchmark.prepare(peer, scale),
      measure: async () => {
        const value = await benchmark.measure(peer, scale);
        if (peer === ours) {
          const turn = 1000 * await readMetric(ours, "db_event_loop_recent_longest_turn_seconds");
          longestTurnMilliseconds = Math.max(longestTurnMilliseconds, turn);
        }
        return value;
      },
    })),
    ...(embedded === undefined ? [] : options.embedded ?? []).map((peer) => ({
      name: peer.name,
      prepare: async () => await embedded?.prepare(peer, scale),
      measure: async () => await embedded?.measure(peer, scale) ?? NaN,
    })),
  ];
  const rounds = Math.min(options.rounds, benchmark.maximumRounds ?? Infinity);
  const result = await compareWorkers(benchmark, workers, rounds);
  await benchmark.finish?.();
  return ours === undefined ? result : { ...result, longestTurnMilliseconds };
}

/** Does the work once, for one peer. */
export interface Worker {
  readonly name: string;
  prepare(): Promise<void>;
  measure(): Promise<number>;
}

/** Lets all work in turn, ours first. */
export async function compareWorkers(
  benchmark: Pick<Benchmark, "name" | "unit" | "bar" | "growth">,
  workers: readonly Worker[],
  rounds: number,
): Promise<Comparison> {
  for (const worker of workers) await worker.prepare();
  const values = workers.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, worker] of workers.entries()) values[index]?.push(await worker.measure());
  }
  return comparisonOf(benchmark, workers.map(({ name }) => name), values);
}

/** What measurements of peers come to: a list of numbers for each name, ours first. */
export function comparisonOf(
  benchmark: Pick<Benchmark, "name" | "unit" | "bar" | "growth">,
  names: readonly string[],
  values: readonly (readonly number[])[],
): Comparison {
  const [ours = []] = values;
  const ratios = names.slice(1).map((peer, index) => ({
    peer,
    ratio: median(ours.map((value, round) => value / (values[index + 1]?.[round] ?? NaN))),
  }));
  return {
    benchmark: benchmark.name,
    unit: benchmark.unit,
    bar: benchmark.bar ?? null,
    growth: benchmark.growth ?? null,
    series: names.map((name, index) => seriesOf(name, values[index] ?? [])),
    ratios,
  };
}

function seriesOf(peer: string, values: readonly number[]): Series {
  return { peer, values, median: median(values), minimum: Math.min(...values), maximum: Math.max(...values) };
}

/** The middle value; the mean of the two middle ones for an even count. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? NaN)) / 2;
}
