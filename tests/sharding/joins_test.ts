/** Joins at the shards give the rows that they give without shards. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { joinAnswers } from "./random_joins.ts";

for (const [shardCount, seed] of [[2, 1], [4, 2], [8, 3], [4, 4]] as const) {
  Deno.test(`random joins have the same rows with ${shardCount} shards and without, seed ${seed}`, async () => {
    const { different, failed, filled } = await joinAnswers(shardCount, seed, 60);
    deepStrictEqual(different, []);
    deepStrictEqual(failed, []);
    ok(filled > 20, `${filled} answers with rows`);
  });
}
