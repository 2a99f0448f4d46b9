/** `deno task soak:whole-cluster`: seeds of the simulation of whole members; `seed_program.ts` has the options. */
import { runSeedProgram } from "../seed_program.ts";
import { BROKEN_MEMBERS } from "./broken_members.ts";
import { simulateCluster } from "./cluster_world.ts";
import { shrinkSeed } from "./shrink.ts";

/** The program whose seeds catch a broken member. */
export const WHOLE_PROGRAM = "tests/simulation/cluster/whole_main.ts";

async function shrink(seed: number): Promise<string | null> {
  const shrunk = await shrinkSeed(seed);
  if (shrunk === null) return null;
  const { clients, microseconds } = shrunk.options;
  const what = `${shrunk.message}, with clients ${clients.join(", ")}, ${microseconds / 1e6} s, and`;
  return [what, ...shrunk.faults].join("\n  ");
}

if (import.meta.main) {
  Deno.exit(
    await runSeedProgram({
      task: "soak:whole-cluster",
      file: WHOLE_PROGRAM,
      seeds: 2000,
      simulate: simulateCluster,
      shrink,
      broken: { builds: BROKEN_MEMBERS, seeds: 1000 },
    }),
  );
}
