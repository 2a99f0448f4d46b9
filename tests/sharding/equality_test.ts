/** One script answers the same with any number of shards; `deno task soak:shards script` has longer ones. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { equalScript } from "./equal_script.ts";
import { scriptAnswers } from "./script_answers.ts";

Deno.test("a script has the same answers with 2 and 16 shards and without", async () => {
  const steps = equalScript(300, 120);
  const alone = await scriptAnswers(null, steps);
  for (const shardCount of [2, 16]) {
    deepStrictEqual(await scriptAnswers(shardCount, steps), alone, `${shardCount} shards`);
  }
  const failed = alone.filter((answer) => answer.includes('\n["')).length;
  ok(failed > 5 && failed < steps.length / 5, `${failed} of ${steps.length} statements fail`);
});

Deno.test("a script whose tables move has the same answers with 4 shards and without", async () => {
  const steps = equalScript(102, 100, { moves: true });
  deepStrictEqual(await scriptAnswers(4, steps), await scriptAnswers(1, steps));
});
