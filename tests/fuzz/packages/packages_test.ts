/** The campaign of damaged packages at a small size. */
import { ok, strictEqual } from "node:assert/strict";
import { runPackageCampaign } from "./campaign.ts";

Deno.test("300 mutated tarballs and indexes: whole or refused, and nothing is left", async () => {
  const report = await runPackageCampaign({ seed: 1, count: 300 });
  strictEqual(report.failure, null);
  ok(report.installed > 50 && report.refused > 80, JSON.stringify(report));
  ok(report.readIndexes > 50 && report.refusedIndexes > 50, JSON.stringify(report));
});
