/**
 * `deno task soak:wasm [--seed N] [--count N]`: the whole core test suite of WebAssembly, 25 000 damaged modules and
 * 5 000 random programs. Ends with 1 at a failure.
 */
import { parseArgs } from "node:util";
import { fetchSuite, runSuite, suiteFiles, suiteModules } from "./core_suite.ts";
import { runMutations } from "./mutations.ts";
import { runPrograms } from "./programs.ts";

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, count: { type: "string", default: "25000" } },
});
const seed = Number(values.seed);
const count = Number(values.count);
const started = performance.now();
await fetchSuite();
const files = suiteFiles();
const suite = runSuite(files);
const left = [...suite.left].map(([reason, number]) => `${reason} ${number}`).join(", ");
console.log(`core test suite: ${suite.passed} hold, ${suite.failures.length} do not; not run: ${left}`);
const mutations = runMutations(suiteModules(files), { seed, count });
console.log(
  `damaged modules: ${mutations.accepted} accepted, ${mutations.refused} refused, ${mutations.calls} functions called; ` +
    `the slowest took ${Math.round(mutations.slowest)} ms`,
);
const programs = runPrograms({ seed, count: Math.ceil(count / 5) });
console.log(`random programs: ${programs.programs} agree, ${programs.traps} of their calls trap`);
console.log(`${Math.round((performance.now() - started) / 1000)} s`);
const failures = [...suite.failures, mutations.failure, programs.failure].filter((failure) =>
  failure !== null
);
for (const failure of failures) console.error(failure);
if (failures.length > 0) Deno.exit(1);
