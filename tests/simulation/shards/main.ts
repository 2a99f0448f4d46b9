/**
 * `deno task soak:shard-commits [--seeds N] [--first N] [--seed N] [--once] [--sound]`: runs seeds of the simulation of
 * shards, each twice, and then every build that is broken on purpose until a seed catches it.
 *
 * `--once` leaves out the second run, `--sound` the broken builds. Ends with exit code 1 at the first seed that fails,
 * with the command that runs it again, or when a broken build is not caught.
 */
import { parseArgs } from "node:util";
import { catchBroken } from "../broken_builds.ts";
import { BROKEN_SHARDS } from "./broken_shards.ts";
import { simulateShards } from "./shard_simulation.ts";

/** The program, for broken builds. */
export const SHARD_PROGRAM = "tests/simulation/shards/main.ts";
const SEEDS_FOR_BROKEN_BUILDS = 500;

function fail(seed: number, error: unknown): never {
  const text = error instanceof Error ? error.stack ?? error.message : String(error);
  console.error(`seed ${seed}: ${text}\nRun it again: deno task soak:shard-commits --seed ${seed}`);
  Deno.exit(1);
}

async function runSeeds(first: number, count: number, isTwice: boolean): Promise<void> {
  let committed = 0, crashes = 0;
  for (let seed = first; seed < first + count; seed++) {
    // What nobody waits for must not fail either.
    globalThis.onunhandledrejection = ({ reason }) => fail(seed, reason);
    try {
      const one = await simulateShards(seed);
      committed += one.committed;
      crashes += one.crashes;
      if (isTwice && (await simulateShards(seed)).trace !== one.trace) throw new Error("two runs differ");
    } catch (error) {
      fail(seed, error);
    }
  }
  console.log(`${count} seeds: ${committed} transactions, ${crashes} crashes`);
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      seeds: { type: "string", default: "200" },
      first: { type: "string", default: "1" },
      seed: { type: "string" },
      once: { type: "boolean", default: false },
      sound: { type: "boolean", default: false },
    },
  });
  const isOne = values.seed !== undefined;
  await runSeeds(Number(values.seed ?? values.first), isOne ? 1 : Number(values.seeds), !values.once);
  if (!values.sound && !isOne) {
    for (const build of BROKEN_SHARDS) {
      const { seed, message } = await catchBroken(build, SEEDS_FOR_BROKEN_BUILDS, SHARD_PROGRAM);
      console.log(`${build.name}: ${seed === null ? "NOT CAUGHT" : `seed ${seed}, ${message}`}`);
      if (seed === null) Deno.exit(1);
    }
  }
}
