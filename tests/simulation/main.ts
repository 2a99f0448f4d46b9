/**
 * `deno task soak:simulation [--seeds N] [--first N] [--seed N] [--lives N] [--once] [--sound]`: runs seeds of the
 * simulation, each twice, and then every build that is broken on purpose until a seed catches it.
 *
 * `--once` leaves out the second run, `--sound` the broken builds; `--seed` runs that one seed and nothing else. Ends
 * with exit code 1 at the first seed that fails, with the command that runs it again, or when a broken build is not
 * caught.
 */
import { parseArgs } from "node:util";
import { BROKEN_BUILDS, catchBroken } from "./broken_builds.ts";
import { simulate, simulateTwice, type SimulationResult, SimulationTotals } from "./engine_simulation.ts";

const SEEDS = 1000;
const LIVES = 4;
/** A broken build that is not caught by so many seeds never is. */
const SEEDS_FOR_BROKEN_BUILDS = 1000;

interface Choice {
  readonly first: number;
  readonly count: number;
  readonly lives: number;
  readonly twice: boolean;
  readonly broken: boolean;
}

function countOf(text: string | undefined, standard: number): number {
  const value = text === undefined ? standard : Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new Error(`Cannot run the simulation: ${text} is no count`);
  }
  return value;
}

function readParameters(parameters: readonly string[]): Choice {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      seeds: { type: "string" },
      first: { type: "string" },
      seed: { type: "string" },
      lives: { type: "string" },
      once: { type: "boolean" },
      sound: { type: "boolean" },
    },
  });
  return {
    first: countOf(values.seed ?? values.first, 1),
    count: values.seed === undefined ? countOf(values.seeds, SEEDS) : 1,
    lives: countOf(values.lives, LIVES),
    twice: values.once !== true,
    broken: values.sound !== true && values.seed === undefined,
  };
}

async function runSeeds({ first, count, lives, twice }: Choice): Promise<boolean> {
  const totals = new SimulationTotals();
  const start = performance.now();
  for (let seed = first; seed < first + count; seed++) {
    let result: SimulationResult;
    try {
      result = await (twice ? simulateTwice : simulate)(seed, { lives });
    } catch (error) {
      console.error(error);
      console.error(`run it again: deno task soak:simulation --seed ${seed} --lives ${lives}`);
      return false;
    }
    totals.add(result);
    if ((seed - first + 1) % 100 === 0) console.log(`${seed - first + 1} seeds`);
  }
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(`${count} seeds${twice ? ", each twice," : ""} in ${seconds} s:`, {
    ...totals.sums,
    faults: totals.faults,
  });
  return true;
}

async function runBrokenBuilds(): Promise<boolean> {
  let missed = 0;
  for (const build of BROKEN_BUILDS) {
    const { seed, message } = await catchBroken(build, SEEDS_FOR_BROKEN_BUILDS);
    if (seed === null) missed++;
    console.log(`${build.name}: ${seed === null ? "NOT CAUGHT" : `caught by seed ${seed}: ${message}`}`);
  }
  console.log(`${BROKEN_BUILDS.length - missed} of ${BROKEN_BUILDS.length} broken builds caught`);
  return missed === 0;
}

/** Runs what was asked for; answers the exit code. */
export async function main(parameters: readonly string[]): Promise<number> {
  const choice = readParameters(parameters);
  if (!await runSeeds(choice)) return 1;
  return !choice.broken || await runBrokenBuilds() ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
