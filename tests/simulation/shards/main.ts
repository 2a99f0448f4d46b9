/** `deno task soak:shard-commits`: seeds of the simulation of shards; `seed_program.ts` has the options. */
import { runSeedProgram } from "../seed_program.ts";
import { BROKEN_SHARDS } from "./broken_shards.ts";
import { simulateShards } from "./shard_simulation.ts";

/** The program, for broken builds. */
export const SHARD_PROGRAM = "tests/simulation/shards/main.ts";

if (import.meta.main) {
  Deno.exit(
    await runSeedProgram({
      task: "soak:shard-commits",
      file: SHARD_PROGRAM,
      seeds: 200,
      simulate: simulateShards,
      broken: { builds: BROKEN_SHARDS, seeds: 500 },
    }),
  );
}
