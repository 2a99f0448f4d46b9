/**
 * What the programs of simulations do: they run seeds, each twice, and then every build that is broken
 * on purpose until a seed catches it.
 *
 * `--seeds N` and `--first N` choose the seeds; `--once` leaves out the second run, `--sound` the broken builds;
 * `--seed N` runs that one seed and nothing else, and `--shrink` makes it small when it fails. Ends with exit code 1 at
 * the first seed that fails, or when a broken build is not caught.
 */
import { parseArgs } from "node:util";
import { type BrokenBuild, catchBroken } from "./broken_builds.ts";

/** What a run tells: `trace` is equal for two runs of a seed, the numbers are added up. */
export interface SeedResult {
  readonly trace: number | string;
}

/** A simulation. */
export interface SeedProgram {
  /** The task that runs it, and the file. */
  readonly task: string;
  readonly file: string;
  readonly seeds: number;
  simulate(seed: number): SeedResult | Promise<SeedResult>;
  /** Makes a seed that fails small; null: it does not fail. */
  shrink?(seed: number): Promise<string | null>;
  /** Nothing is broken in these builds, so that none of so many seeds may fail. */
  readonly sound?: { readonly builds: readonly BrokenBuild[]; readonly seeds: number };
  /** A broken build that is not caught by so many seeds never is. */
  readonly broken: { readonly builds: readonly BrokenBuild[]; readonly seeds: number };
}

async function runSeeds(
  program: SeedProgram,
  first: number,
  count: number,
  isTwice: boolean,
): Promise<boolean> {
  const sums = new Map<string, number>();
  const started = performance.now();
  for (let seed = first; seed < first + count; seed++) {
    try {
      const { trace, ...figures } = await program.simulate(seed);
      for (const [name, figure] of Object.entries(figures)) {
        if (typeof figure === "number") sums.set(name, (sums.get(name) ?? 0) + figure);
      }
      if (isTwice && (await program.simulate(seed)).trace !== trace) {
        throw new Error(`seed ${seed}: two runs differ`);
      }
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      console.error(`run it again: deno task ${program.task} --seed ${seed}`);
      return false;
    }
    if ((seed - first + 1) % 100 === 0) {
      console.log(`${seed - first + 1} seeds, ${Math.round((performance.now() - started) / 1000)} s`);
    }
  }
  console.log([`${count} seeds`, ...[...sums].map(([name, sum]) => `${name} ${sum}`)].join(", "));
  return true;
}

async function runBroken({ sound, broken, file }: SeedProgram): Promise<boolean> {
  for (const build of sound?.builds ?? []) {
    const { seed, message } = await catchBroken(build, sound?.seeds ?? 0, file);
    console.log(`${build.name}: ${message}`);
    if (seed !== null) return false;
  }
  let caught = 0;
  for (const build of broken.builds) {
    const { seed, message } = await catchBroken(build, broken.seeds, file);
    if (seed !== null) caught++;
    console.log(`${build.name}: ${seed === null ? "NOT CAUGHT" : `caught by seed ${seed}: ${message}`}`);
  }
  console.log(`${caught} of ${broken.builds.length} broken builds caught`);
  return caught === broken.builds.length;
}

/** Runs what the command line asks for; answers the exit code. */
export async function runSeedProgram(program: SeedProgram): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      seeds: { type: "string" },
      first: { type: "string" },
      seed: { type: "string" },
      once: { type: "boolean" },
      sound: { type: "boolean" },
      shrink: { type: "boolean" },
    },
  });
  const isOne = values.seed !== undefined;
  // Traces of stacks cost a tenth of the time; one seed is run for people to read them.
  if (!isOne) Error.stackTraceLimit = 0;
  const first = Number(values.seed ?? values.first ?? 1);
  const count = isOne ? 1 : Number(values.seeds ?? program.seeds);
  const isSound = await runSeeds(program, first, count, values.once !== true);
  if (!isSound && isOne && values.shrink === true) console.error(await program.shrink?.(first));
  return isSound && (isOne || values.sound === true || await runBroken(program)) ? 0 : 1;
}
