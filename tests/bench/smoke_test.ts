/** Every benchmark runs on tiny inputs, so that none of them rots; what it measures is not looked at. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { reportNotRun } from "../../tools/not_run.ts";
import { run } from "../../tools/project.ts";
import { AGED_GROUPS } from "./aged/all.ts";
import { BENCHMARKS } from "./cases/all.ts";
import { canRun, hasDriver } from "./cases/client.ts";
import { CLUSTER_GROUPS } from "./cluster/all.ts";
import { SHARD_GROUPS } from "./shards/all.ts";
import { LANGUAGE_GROUPS } from "./lang/all.ts";
import { WORKER_GROUPS } from "./workers/all.ts";

interface Report {
  readonly results: readonly { readonly benchmark: string; readonly series: readonly { median: number }[] }[];
}

Deno.test("deno task bench --smoke runs every kind of benchmark once", async () => {
  for (const driver of ["pgbench", "sysbench"] as const) {
    if (!hasDriver(driver)) {
      reportNotRun(`the benchmarks that ${driver} drives`, `${driver} is not installed`);
    }
  }
  const { code, stdout, stderr } = await run(Deno.execPath(), [
    "run",
    "-A",
    "tests/bench/main.ts",
    "--smoke",
    "--alone",
    "--json",
    "--rounds",
    "1",
  ]);
  strictEqual(code, 0, stderr);
  const { results } = JSON.parse(stdout) as Report;
  const expected = Object.values(BENCHMARKS).flat()
    .filter((each) => canRun(each, "smoke"))
    .map(({ name }) => name)
    .concat(
      Object.values({
        ...AGED_GROUPS,
        ...WORKER_GROUPS,
        ...CLUSTER_GROUPS,
        ...SHARD_GROUPS,
        ...LANGUAGE_GROUPS,
      }).flatMap(({ benchmarks }) => benchmarks),
    );
  deepStrictEqual(results.map(({ benchmark }) => benchmark), expected);
  for (const { benchmark, series } of results) {
    for (const { median } of series) ok(Number.isFinite(median) && median >= 0, `${benchmark}: ${median}`);
  }
});
