/**
 * Mutants that no test could notice, each with its reason; the sample passes them over.
 *
 * A mutant is named by its file, its kind, its line and what is replaced by what, so that an entry survives changes of other lines.
 */
import type { MutantName } from "./mutants.ts";

/** A mutant that answers as the original does. */
export interface EquivalentMutant extends MutantName {
  /** Why no answer differs. */
  readonly reason: string;
}

export const equivalentMutants: readonly EquivalentMutant[] = [];
