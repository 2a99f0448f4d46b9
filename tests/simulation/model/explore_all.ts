/** What the programs of models do: they explore all bounds, and leave out each rule, which must break an invariant. */
import { parseArgs } from "node:util";
import type { Exploration } from "./explore.ts";

/** An exploration, up to so many states. */
export type Explore = (maxStates?: number) => Exploration;

/** Explorations with what they are of. */
export type NamedExplorations = readonly (readonly [name: string, explore: Explore])[];

/**
 * Explores `explored`, which no invariant may fail in, and `broken`, each of which must break one, up to `--states N`
 * states; answers the exit code.
 */
export function exploreAll(explored: NamedExplorations, broken: NamedExplorations): number {
  const { values } = parseArgs({ args: Deno.args, options: { states: { type: "string" } } });
  const maxStates = Number(values.states ?? 20_000_000);
  let isRight = true;
  for (const [name, run] of explored) {
    const started = performance.now();
    const { states, depth, violation, isComplete } = run(maxStates);
    const seconds = Math.round((performance.now() - started) / 1000);
    const extent = isComplete ? "all" : "the first";
    console.log(`${name}: ${extent} ${states} states, ${depth} actions deep, ${seconds} s`);
    if (violation === null) continue;
    console.error([violation.what, ...violation.actions].join("\n  "));
    isRight = false;
  }
  for (const [rule, run] of broken) {
    const { states, violation } = run(maxStates);
    if (violation === null) isRight = false;
    const outcome = violation === null
      ? "NO INVARIANT FAILS"
      : `${violation.what}, after ${violation.actions.length} actions`;
    console.log(`${rule}: ${outcome} (${states} states)`);
  }
  return isRight ? 0 : 1;
}
