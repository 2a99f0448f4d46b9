/** One script answers the same with any number of shards. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { equalScript } from "./equal_script.ts";
import { scriptAnswers } from "./script_answers.ts";

for (const [shardCounts, seed, count] of [[[2, 4], 300, 200], [[8, 16], 150, 100]] as const) {
  Deno.test(`a script has the same answers with ${shardCounts.join(" and ")} shards and without`, async () => {
    const steps = equalScript(seed, count);
    const alone = await scriptAnswers(null, steps);
    for (const shardCount of shardCounts) {
      deepStrictEqual(await scriptAnswers(shardCount, steps), alone, `${shardCount} shards`);
    }
    const failed = alone.filter((answer) => answer.includes('\n["')).length;
    ok(failed > 5 && failed < steps.length / 5, `${failed} of ${steps.length} statements fail`);
  });
}

for (const [shardCount, seed] of [[2, 101], [4, 102], [8, 103]] as const) {
  Deno.test(`a script whose tables move has the same answers with ${shardCount} shards and without`, async () => {
    const steps = equalScript(seed, 120, { moves: true });
    const alone = await scriptAnswers(1, steps);
    deepStrictEqual(await scriptAnswers(shardCount, steps), alone);
  });
}
