/** How fast programs run: release builds against AssemblyScript and JavaScript, and debug builds, in turn. */
import { compareWorkers, type Comparison } from "../benchmark.ts";
import { geometricMean, RELEASE, startLanguages, warmUp } from "./language_peer.ts";
import type { LanguageOptions } from "./options.ts";
import { PROGRAMS } from "./programs.ts";

const PROGRAM_BAR = "≤ 2; debug ≥ 0.33";
const MEAN_BAR = "AssemblyScript ≤ 1.1, JavaScript ≤ 1.0";
const MEAN = "geometric mean of the programs";

/** Names of what {@link measureSpeed} gives. */
export const SPEED_NAMES: readonly string[] = [...PROGRAMS.map(({ title }) => title), MEAN];

/** Measures all programs; what is ready is told at once. */
export async function measureSpeed(
  options: LanguageOptions,
  tell: (result: Comparison) => void,
): Promise<readonly Comparison[]> {
  const peers = await startLanguages(options);
  try {
    const results: Comparison[] = [];
    for (const program of PROGRAMS) {
      const work = program.works[options.scale];
      const workers = peers.map((peer) => ({
        name: peer.name,
        prepare: () => warmUp(peer, program, work),
        measure: () => peer.run(program, work),
      }));
      const description = { name: program.title, unit: "ms", bar: PROGRAM_BAR };
      const result = await compareWorkers(description, workers, options.rounds);
      tell(result);
      results.push(result);
    }
    const mean = meanOf(results);
    tell(mean);
    return [...results, mean];
  } finally {
    for (const peer of peers) await peer.stop();
  }
}

/** The geometric means of times and of ratios over all programs. */
export function meanOf(results: readonly Comparison[]): Comparison {
  const names = results[0]?.series.map(({ peer }) => peer) ?? [];
  const meanFor = (peer: string, of: "median" | "minimum" | "maximum") =>
    geometricMean(results.map(({ series }) => series.find((each) => each.peer === peer)?.[of] ?? NaN));
  const ratios = names.filter((name) => name !== RELEASE).map((peer) => ({
    peer,
    ratio: geometricMean(
      results.map((result) => result.ratios.find((each) => each.peer === peer)?.ratio ?? NaN),
    ),
  }));
  return {
    benchmark: MEAN,
    unit: "ms",
    bar: MEAN_BAR,
    growth: null,
    series: names.map((peer) => ({
      peer,
      values: [],
      median: meanFor(peer, "median"),
      minimum: meanFor(peer, "minimum"),
      maximum: meanFor(peer, "maximum"),
    })),
    ratios,
  };
}
