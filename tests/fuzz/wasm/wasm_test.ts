/** A part of `deno task soak:wasm`: most of the core test suite, some damaged modules, some random programs. */
import assert from "node:assert/strict";
import { fetchSuite, runSuite, suiteFiles, suiteModules } from "./core_suite.ts";
import { runMutations } from "./mutations.ts";
import { runPrograms } from "./programs.ts";

/** Scripts with many modules or assertions of a kind that others have as well; the soak runs them. */
const SLOW = /\/(address|br|br_table|call|exports|f64|f64_cmp|float_exprs|float_misc|names|utf8.*)\.wast$/;

await fetchSuite();

Deno.test("The core test suite of WebAssembly holds for rewritten modules", () => {
  const { passed, failures } = runSuite(suiteFiles().filter(({ pathname }) => !SLOW.test(pathname)));
  assert.deepEqual(failures, []);
  assert.ok(passed >= 7_500, `${passed} assertions`);
});

Deno.test("A damaged module is refused, or V8 accepts it as it is and rewritten", () => {
  const seeds = suiteModules(
    suiteFiles().filter(({ pathname }) => /\/(block|call_indirect|memory|start|float_misc)\./.test(pathname)),
  );
  const report = runMutations(seeds, { seed: 7, count: 1000 });
  assert.equal(report.failure, null);
  assert.ok(report.accepted > 50 && report.refused > 100, JSON.stringify(report));
});

Deno.test("Random programs do the same rewritten", () => {
  const report = runPrograms({ seed: 7, count: 60 });
  assert.equal(report.failure, null);
});
