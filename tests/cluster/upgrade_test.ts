/** Members are replaced one by one under load; `deno task soak:upgrade` does it from an older release to this one. */
import { ok } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { SOURCES, sourcesIn } from "./other_release.ts";
import { upgradeAndBack, upgradeUnderLoad } from "./upgrade.ts";

Deno.test("a cluster is restarted member by member, and its clients notice nothing", async () => {
  const { dbd } = await compiledPrograms();
  const { increments, reads, longestPause } = await upgradeUnderLoad({ before: { dbd }, after: { dbd } });
  console.log(`${increments} changes, ${reads} reads, the longest pause ${Math.round(longestPause)} ms`);
  ok(increments >= 80 && reads > 0);
});

Deno.test("releases of two versions run together, go back, and part when all members have the later one", async () => {
  const { dbd } = await compiledPrograms();
  const before = sourcesIn(SOURCES, [1, 1]);
  const { increments, reads, longestPause } = await upgradeAndBack({ before, after: { dbd } });
  console.log(`${increments} changes, ${reads} reads, the longest pause ${Math.round(longestPause)} ms`);
  ok(increments >= 120 && reads > 0);
});
