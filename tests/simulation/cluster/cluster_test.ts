/** Whole members under faults; many more seeds in `deno task soak:whole-cluster`. */
import { ok, strictEqual } from "node:assert/strict";
import { simulateCluster } from "./cluster_world.ts";

const SEEDS = [102, 3, 104];

Deno.test("members with engines and files keep what they acknowledged, and end with equal states", async () => {
  let [faults, acknowledged, checkpoints] = [0, 0, 0];
  for (const seed of SEEDS) {
    const result = await simulateCluster(seed);
    faults += result.faults;
    acknowledged += result.acknowledged;
    checkpoints += result.checkpoints;
    if (seed === SEEDS[0]) strictEqual((await simulateCluster(seed)).trace, result.trace, "two runs differ");
  }
  ok(faults > 20 && acknowledged > 500 && checkpoints > 5, `${faults} ${acknowledged} ${checkpoints}`);
});
