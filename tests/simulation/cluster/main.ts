/** `deno task soak:protocol`: seeds of the protocol's simulation; `seed_program.ts` has the options. */
import { runSeedProgram } from "../seed_program.ts";
import { BROKEN_PROTOCOLS, NARROW_PROTOCOL } from "./broken_protocols.ts";
import { simulateProtocol } from "./protocol_world.ts";

/** The program whose seeds catch a broken protocol. */
export const PROTOCOL_PROGRAM = "tests/simulation/cluster/main.ts";

if (import.meta.main) {
  Deno.exit(
    await runSeedProgram({
      task: "soak:protocol",
      file: PROTOCOL_PROGRAM,
      seeds: 10_000,
      simulate: simulateProtocol,
      sound: { builds: [NARROW_PROTOCOL], seeds: 2000 },
      broken: { builds: BROKEN_PROTOCOLS, seeds: 20_000 },
    }),
  );
}
