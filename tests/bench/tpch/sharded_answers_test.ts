/** The answers to TPC-H's queries at scale 0.01 with four shards are those without. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { tpchAnswers } from "../../sharding/tpch_answers.ts";
import { SMOKE_SCALE } from "../cases/tpch.ts";
import { exactDifference } from "./answers.ts";

Deno.test("TPC-H's answers at scale 0.01 with four shards are those without", async () => {
  const alone = await tpchAnswers(SMOKE_SCALE, { shardCount: null });
  const sharded = await tpchAnswers(SMOKE_SCALE, { shardCount: 4 });
  strictEqual(alone.size, 22);
  const differing = [...alone].flatMap(([name, rows]) =>
    exactDifference(name, sharded.get(name) ?? [], rows) ?? []
  );
  deepStrictEqual(differing, []);
});
