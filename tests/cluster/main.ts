/**
 * `deno task soak:cluster [--rounds N] [--members 3|5] [--workers N] [--seed N]`: kills members of a cluster under
 * load, 100 times unless another number is given, and says how long each failover took.
 */
import { parseArgs } from "node:util";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { killMembers } from "./kill_rounds.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    rounds: { type: "string", default: "100" },
    members: { type: "string", default: "3" },
    workers: { type: "string", default: "16" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const [rounds, memberCount, workers, seed] = [values.rounds, values.members, values.workers, values.seed].map(
  Number,
);
if (rounds === undefined || memberCount === undefined || workers === undefined || seed === undefined) {
  Deno.exit(2);
}
const { dbd } = await compiledPrograms();
console.log(`${rounds} rounds with seed ${seed}`);
const start = performance.now();
const { failovers, primaryKills, ...kept } = await killMembers({
  dbd,
  memberCount,
  rounds,
  workers,
  seed,
  onRound: (round) => {
    if (round % 10 === 0) console.log(`${round} rounds`);
  },
});
const at = (share: number) => Math.round(failovers[Math.floor((failovers.length - 1) * share)] ?? 0);
console.log(
  `${rounds} kills in ${
    Math.round((performance.now() - start) / 1000)
  } s, ${primaryKills} of primaries, nothing lost; kept:`,
  kept,
);
console.log(
  `first write after the kill of a primary: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms`,
);
