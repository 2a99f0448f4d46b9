/**
 * `deno task soak:whole-cluster [--seeds N] [--first N] [--seed N] [--once] [--sound] [--shrink]`: runs seeds of the
 * simulation of whole members, each twice, and then every member that is broken on purpose until a seed catches it.
 *
 * `--once` leaves out the second run, `--sound` the broken members; `--seed` runs that one seed and nothing else, and
 * `--shrink` makes it small when it fails. Ends with exit code 1 at the first seed that fails, or when a broken member
 * is not caught.
 */
import { parseArgs } from "node:util";
import { catchBroken } from "../broken_builds.ts";
import { BROKEN_MEMBERS } from "./broken_members.ts";
import { simulateCluster } from "./cluster_world.ts";
import { shrinkSeed } from "./shrink.ts";

const SEEDS = 2000;
/** A broken member that is not caught by so many seeds never is. */
const SEEDS_FOR_BROKEN_MEMBERS = 1000;

/** The program whose seeds catch a broken member. */
export const WHOLE_PROGRAM = "tests/simulation/cluster/whole_main.ts";

async function runSeeds(first: number, count: number, isTwice: boolean): Promise<boolean> {
  let [faults, acknowledged, entries, views] = [0, 0, 0, 0];
  const started = performance.now();
  for (let seed = first; seed < first + count; seed++) {
    try {
      const result = await simulateCluster(seed);
      faults += result.faults;
      acknowledged += result.acknowledged;
      entries += result.entries;
      views += result.views;
      if (isTwice && (await simulateCluster(seed)).trace !== result.trace) {
        throw new Error(`seed ${seed}: two runs differ`);
      }
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      console.error(`run it again: deno task soak:whole-cluster --seed ${seed} --shrink`);
      return false;
    }
    if ((seed - first + 1) % 100 === 0) {
      console.log(`${seed - first + 1} seeds, ${Math.round((performance.now() - started) / 1000)} s`);
    }
  }
  console.log(
    `${count} seeds: ${faults} faults, ${acknowledged} acknowledged requests, ${entries} entries, ${views} views`,
  );
  return true;
}

async function runBroken(): Promise<boolean> {
  let caught = 0;
  for (const build of BROKEN_MEMBERS) {
    const { seed, message } = await catchBroken(build, SEEDS_FOR_BROKEN_MEMBERS, WHOLE_PROGRAM);
    if (seed !== null) caught++;
    console.log(`${build.name}: ${seed === null ? "NOT CAUGHT" : `caught by seed ${seed}: ${message}`}`);
  }
  console.log(`${caught} of ${BROKEN_MEMBERS.length} broken members caught`);
  return caught === BROKEN_MEMBERS.length;
}

if (import.meta.main) {
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
  const isSound = await runSeeds(
    Number(values.seed ?? values.first ?? 1),
    isOne ? 1 : Number(values.seeds ?? SEEDS),
    values.once !== true,
  );
  if (!isSound && isOne && values.shrink === true) {
    const shrunk = await shrinkSeed(Number(values.seed));
    if (shrunk !== null) {
      const { clients, microseconds } = shrunk.options;
      console.error(
        [
          `${shrunk.message}, with clients ${clients.join(", ")}, ${microseconds / 1e6} s, and`,
          ...shrunk.faults,
        ]
          .join("\n  "),
      );
    }
  }
  Deno.exit(isSound && (isOne || values.sound === true || await runBroken()) ? 0 : 1);
}
