/** Seeds of the simulation of shards; `deno task soak:shard-commits` runs more. */
import { ok, strictEqual } from "node:assert/strict";
import { brokenSource, catchBroken } from "../broken_builds.ts";
import { BROKEN_SHARDS } from "./broken_shards.ts";
import { SHARD_PROGRAM } from "./main.ts";
import { simulateShards } from "./shard_simulation.ts";

/** A change elsewhere may make another one of the next seeds notice. */
const SEEDS_FOR_BROKEN = 12;

Deno.test("shards keep transactions whole, once and in one order through 4 seeds of crashes", async () => {
  let committed = 0;
  for (let seed = 1; seed <= 4; seed++) {
    const one = await simulateShards(seed);
    committed += one.committed;
    if (seed === 1) {
      strictEqual((await simulateShards(seed)).trace, one.trace, `two runs of seed ${seed} differ`);
    }
  }
  ok(committed > 120, `${committed} transactions are too few`);
});

Deno.test("every broken build of the soak can still be made", async () => {
  for (const build of BROKEN_SHARDS) ok((await brokenSource(build)).length > 0);
});

// Each is a process that loads the engine anew: every other one; the soak has them all.
for (const build of BROKEN_SHARDS.filter((_, index) => index % 2 === 0)) {
  Deno.test(`the simulation of shards notices that ${build.name}`, async () => {
    const { seed, message } = await catchBroken(build, SEEDS_FOR_BROKEN, SHARD_PROGRAM, build.seed);
    ok(seed !== null, message);
  });
}
