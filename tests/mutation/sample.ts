/**
 * Which mutants are tried: of each layer the same number, drawn by a hash of the seed and of the mutant's own line,
 * so that a change elsewhere leaves the sample as it is.
 */
import { crc32c } from "../../engine/base/checksum.ts";
import { filesOf, type Layer } from "./layers.ts";
import { type Mutant, type MutantName, mutantsOf, sameMutant } from "./mutants.ts";

/** Kinds of which a source has more than they tell. */
const weights: Readonly<Record<string, number>> = {
  plus_one: 0.4,
  minus_one: 0.6,
  omission: 0.4,
  always: 0.7,
  never: 0.7,
};

/** What to draw from and how many. */
export interface SampleOptions {
  readonly root: string;
  readonly paths: readonly string[];
  readonly seed: number;
  readonly count: number;
  /** Mutants that no test could notice: they are passed over. */
  readonly equivalent: readonly MutantName[];
}

/** All mutants of a layer. */
export function mutantsOfLayer(layer: Layer, root: string, paths: readonly string[]): Mutant[] {
  return filesOf(layer, paths).flatMap((file) => mutantsOf(file, Deno.readTextFileSync(`${root}/${file}`)));
}

/** A layer's sample, in the order in which it was drawn. */
export function sampleOf(layer: Layer, { root, paths, seed, count, equivalent }: SampleOptions): Mutant[] {
  const seen = new Map<string, number>();
  const ranked = mutantsOfLayer(layer, root, paths).map((mutant) => {
    const name = [mutant.file, mutant.text, mutant.kind, mutant.before].join("\n");
    const occurrence = seen.get(name) ?? 0;
    seen.set(name, occurrence + 1);
    const hash = crc32c(new TextEncoder().encode(`${seed}\n${occurrence}\n${name}`));
    return { mutant, rank: ((hash + 1) / 2 ** 32) ** (1 / (weights[mutant.kind] ?? 1)) };
  });
  ranked.sort((a, b) => b.rank - a.rank || (a.mutant.id < b.mutant.id ? -1 : 1));
  return ranked.map(({ mutant }) => mutant)
    .filter((mutant) => !equivalent.some((each) => sameMutant(each, mutant)))
    .slice(0, count);
}
