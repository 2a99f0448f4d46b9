/** `deno task soak:simulation`: seeds of the simulation of one engine; `seed_program.ts` has the options. */
import { BROKEN_BUILDS } from "./broken_builds.ts";
import { simulate } from "./engine_simulation.ts";
import { runSeedProgram } from "./seed_program.ts";

const LIVES = 4;

if (import.meta.main) {
  Deno.exit(
    await runSeedProgram({
      task: "soak:simulation",
      file: "tests/simulation/main.ts",
      seeds: 1000,
      simulate: async (seed) => {
        const { faults, ...figures } = await simulate(seed, { lives: LIVES });
        return { ...figures, ...faults };
      },
      broken: { builds: BROKEN_BUILDS, seeds: 1000 },
    }),
  );
}
