/**
 * `deno task soak:shards [statements] [seed]`: one script, of 3 000 statements unless told otherwise, has the same
 * answers alone and with 2, 4, 8 and 16 shards.
 */
import { SHARD_COUNTS } from "../../engine/sharding/shard_map.ts";
import { equalScript } from "./equal_script.ts";
import { scriptAnswers } from "./script_answers.ts";

const count = Number(Deno.args[0] ?? "3000");
const seed = Number(Deno.args[1] ?? Date.now() % 1_000_000);
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed)) {
  console.error("Usage: deno task soak:shards [statements] [seed]");
  Deno.exit(2);
}
const steps = equalScript(seed, count);
console.log(`${steps.length} statements from seed ${seed}`);
let alone: readonly string[] = [];
let differing = 0;
for (const shards of SHARD_COUNTS) {
  const start = performance.now();
  const answers = await scriptAnswers(shards, steps);
  if (shards === 1) alone = answers;
  const different = answers.filter((answer, index) => answer !== alone[index]);
  differing += different.length;
  const failed = answers.filter((answer) => answer.includes('\n["')).length;
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(`${shards} shards: ${different.length} differ, ${failed} fail as they must, ${seconds} s`);
  for (const answer of different.slice(0, 5)) {
    console.log(`${answer}\n--- alone:\n${alone[answers.indexOf(answer)]}\n`);
  }
}
if (differing > 0) Deno.exit(1);
