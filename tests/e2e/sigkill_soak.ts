/**
 * `deno task soak:sigkill [rounds]`: kills the server under the load of 16 connections, 100 times unless told
 * otherwise.
 */
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { killRepeatedly } from "./sigkill_rounds.ts";

const rounds = Number(Deno.args[0] ?? "100");
if (!Number.isSafeInteger(rounds) || rounds < 1) {
  console.error("Usage: deno task soak:sigkill [rounds]");
  Deno.exit(2);
}
const { dbd } = await compiledPrograms();
const seed = Date.now() % 1_000_000;
console.log(`${rounds} rounds with seed ${seed}`);
const start = performance.now();
const figures = await killRepeatedly({
  dbd,
  rounds,
  workers: 16,
  seed,
  onRound: (round) => {
    if (round % 10 === 0) console.log(`${round} rounds`);
  },
});
console.log(
  `${rounds} kills in ${Math.round((performance.now() - start) / 1000)} s, nothing lost; kept:`,
  figures,
);
