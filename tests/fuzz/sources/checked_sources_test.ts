/** A smoke test of mutated sources in the checker; `deno task soak:sources` runs many more. */
import assert from "node:assert/strict";
import { PackageAnalyzer } from "../../../lang/check/package_analysis.ts";
import { checkedCounts, checkProgram } from "./checked_sources.ts";
import { mutatedSources } from "./mutated_sources.ts";

Deno.test("analyze() answers whatever 600 mutated sources hold", () => {
  const counts = checkedCounts();
  const analyzer = new PackageAnalyzer();
  for (const text of mutatedSources(2)) {
    checkProgram(analyzer, text, counts);
    if (counts.sources === 600) break;
  }
  const codes = [...counts.codes.keys()].filter((code) => !code.startsWith("SY"));
  assert.ok(codes.length > 25, codes.join(" "));
  assert.ok(counts.programs > 20, `${counts.programs} are right`);
});
