/**
 * `deno task soak:sources`: mutated sources through parser, formatter and checker.
 *
 * Options: `--sources N` (100 000), `--seed N` (1). Prints what was seen, and the first source on which a promise is
 * broken.
 */
import { parseArgs } from "node:util";
import { PackageAnalyzer } from "../../../lang/check/package_analysis.ts";
import { checkedCounts, checkProgram } from "./checked_sources.ts";
import { checkSource, mutatedSources, sourceCounts } from "./mutated_sources.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: { sources: { type: "string", default: "100000" }, seed: { type: "string", default: "1" } },
});
const counts = sourceCounts();
const checked = checkedCounts();
const analyzer = new PackageAnalyzer();
const started = performance.now();
let slowest = 0;
for (const text of mutatedSources(Number(values.seed))) {
  const begun = performance.now();
  checkSource(text, counts);
  checkProgram(analyzer, text, checked);
  slowest = Math.max(slowest, performance.now() - begun);
  if (counts.sources % 10_000 === 0) console.log(`${counts.sources} sources`);
  if (counts.sources >= Number(values.sources)) break;
}
console.log(
  `${counts.sources} sources, ${counts.withErrors} with errors, ${counts.diagnostics} diagnostics, ` +
    `${counts.clearing} of ${counts.fixes} fixes clear their error; ` +
    `${((performance.now() - started) / 1000).toFixed(0)} s, the slowest ${slowest.toFixed(0)} ms`,
);
console.log(`${checked.programs} are right, and all of their bodies are typed`);
console.log(
  [...checked.codes].sort(([a], [b]) => a < b ? -1 : 1).map(([code, n]) => `${code} ${n}`).join(", "),
);
