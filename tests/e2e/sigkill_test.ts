/**
 * The server is killed with SIGKILL under load; see `sigkill_rounds.ts`. A hundred rounds are in `deno task
 * soak:sigkill`.
 */
import { ok } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { killRepeatedly } from "./sigkill_rounds.ts";

const rounds = 6;

Deno.test(`dbd keeps every acknowledged row through ${rounds} rounds of SIGKILL under load`, async () => {
  const { dbd } = await compiledPrograms();
  const figures = await killRepeatedly({ dbd, rounds, workers: 8, seed: 20_26 });
  console.log(`${rounds} kills, kept:`, figures);
  for (const [what, count] of Object.entries(figures)) {
    ok(count >= rounds / 2, `the load was no load: ${count} ${what}`);
  }
});

const shardRounds = 3;

Deno.test(`dbd with four shards keeps every acknowledged row through ${shardRounds} rounds of SIGKILL`, async () => {
  const { dbd } = await compiledPrograms();
  const figures = await killRepeatedly({
    dbd,
    rounds: shardRounds,
    workers: 8,
    seed: 20_27,
    flags: ["--shards", "4"],
  });
  console.log(`${shardRounds} kills, kept:`, figures);
  ok(figures.rows > 0 && figures.transfers > 0, JSON.stringify(figures));
});
