/** Members are killed with SIGKILL under load; see `kill_rounds.ts`. A hundred kills: `deno task soak:cluster`. */
import { ok } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { killMembers } from "./kill_rounds.ts";

const ROUNDS = 6;

Deno.test(`a cluster keeps every acknowledged row while ${ROUNDS} members are killed under load`, async () => {
  const { dbd } = await compiledPrograms();
  const { failovers, primaryKills, ...kept } = await killMembers({
    dbd,
    memberCount: 3,
    rounds: ROUNDS,
    workers: 6,
    seed: 20_26,
  });
  console.log(
    `${ROUNDS} kills, ${primaryKills} of primaries, writes after`,
    failovers.map(Math.round),
    "ms; kept:",
    kept,
  );
  for (const [what, count] of Object.entries(kept)) {
    ok(count >= ROUNDS / 3, `the load was no load: ${count} ${what}`);
  }
});
