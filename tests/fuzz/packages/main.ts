/**
 * `deno task soak:packages [--seed N] [--count N]`: 10 000 mutated tarballs and indexes. Ends with 1 at the first
 * failure.
 */
import { parseArgs } from "node:util";
import { runPackageCampaign } from "./campaign.ts";

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, count: { type: "string", default: "10000" } },
});
const started = performance.now();
const report = await runPackageCampaign({ seed: Number(values.seed), count: Number(values.count) });
console.log(
  `tarballs: ${report.installed} unpacked, ${report.refused} refused; indexes: ${report.readIndexes} read, ` +
    `${report.refusedIndexes} refused; ${Math.round((performance.now() - started) / 1000)} s`,
);
if (report.failure !== null) {
  console.error(report.failure);
  Deno.exit(1);
}
