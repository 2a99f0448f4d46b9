/**
 * `deno task soak:metamorphic [checks] [seed] [relation] [attempts] [shards]`: checks of equivalent queries, 100 000
 * unless told otherwise.
 *
 * A round is a database in a random storage state and a hundred checks. A failure prints the database, both sides and
 * how to run the round again: the seed of a round decides everything.
 */
import { runRound } from "./run_round.ts";

const perRound = 100;

const checks = Number(Deno.args[0] ?? "100000");
const firstSeed = Number(Deno.args[1] ?? Date.now() % 1_000_000);
const only = Deno.args[2] ?? "";
const shrinking = Number(Deno.args[3] ?? "200");
const shards = Number(Deno.args[4] ?? "1");
if (!Number.isSafeInteger(checks) || checks < 1 || !Number.isSafeInteger(firstSeed)) {
  console.error("Usage: deno task soak:metamorphic [checks] [seed] [relation] [attempts] [shards]");
  Deno.exit(2);
}

console.log(`${checks} checks from seed ${firstSeed}`);
const start = performance.now();
const total = { checks: 0, raised: 0, tooLarge: 0, rows: 0, failures: 0 };
let reported = 0;
const report = () => console.log(`${Math.round((performance.now() - start) / 1000)} s:`, total);
for (let seed = firstSeed; total.checks < checks; seed++) {
  const { failures, made: _, ...counts } = await runRound({
    seed,
    checks: Math.min(perRound, checks),
    only,
    shards,
    shrinking,
  });
  total.checks += Math.max(counts.checks, 1);
  total.raised += counts.raised;
  total.tooLarge += counts.tooLarge;
  total.rows += counts.rows;
  total.failures += failures.length;
  for (const failure of failures) {
    console.log(`${failure}\nagain with: deno task soak:metamorphic ${perRound} ${seed}\n`);
  }
  if (total.checks - reported >= 5000) {
    report();
    reported = total.checks;
  }
}
report();
if (total.failures > 0) Deno.exit(1);
