/** A run becomes tables, exponents and plots; what another run has written in the page is replaced. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type { Comparison } from "./benchmark.ts";
import { exponent, mergeRuns, reportFiles, type Run, withReport } from "./report.ts";

function result(name: string, ours: number, theirs: number, size?: number): Comparison {
  const series = [["dbd", ours], ["PostgreSQL", theirs]] as const;
  return {
    benchmark: name,
    unit: "ms",
    bar: null,
    growth: size === undefined ? null : { group: name, size },
    series: series.map(([peer, value]) => ({
      peer,
      values: [value],
      median: value,
      minimum: value,
      maximum: value,
    })),
    ratios: [{ peer: "PostgreSQL", ratio: ours / theirs }],
  };
}

const place = { machine: "a machine", commit: "abc1234", date: "2024-05-06" };

const run: Run = {
  groups: [
    {
      name: "queries",
      results: Array.from({ length: 10 }, (_, index) => result(`Q<${index}>`, 2, 8)),
      ...place,
    },
    {
      name: "growth",
      results: [1, 10, 100].map((size) => result("scan", size * 3, size * size, size)),
      ...place,
    },
  ],
  missing: ["DuckDB: no network"],
};

Deno.test("withReport() writes tables with ratios, means and exponents, in place of those of another run", () => {
  const page = withReport("# Title\n\nWords.\n", run, "benchmarks");
  match(page, /^# Title\n\nWords\./);
  match(page, /\| Q<0> +\| 2\.00 \(2\.00–2\.00\) ms \| 8\.00 .* \| 0\.25 +\|/);
  match(page, /Geometric mean of all 10: 0\.25 × PostgreSQL's time/);
  match(page, /\| scan \| dbd +\| 3\.00 ms \| 30\.0 ms \| 300 ms +\| 1\.00 +\|/);
  match(page, /\| scan \| PostgreSQL .* 2\.00 +\|/);
  match(page, /Not run: DuckDB: no network\./);
  const groups = run.groups.map((group) => ({ ...group, commit: "def5678" }));
  const again = withReport(page, { ...run, groups }, "benchmarks");
  strictEqual(again.includes("abc1234"), false);
  strictEqual(again.split("### queries").length, 2);
});

Deno.test("reportFiles() draws a plot for each group, with escaped text and colors for dark pages", () => {
  const files = reportFiles(run);
  const bars = files.get("queries.svg") ?? "";
  match(bars, /^<svg xmlns/);
  match(bars, /prefers-color-scheme:dark/);
  match(bars, /Q&lt;0&gt;, dbd: 0\.25/);
  ok(!bars.includes("NaN") && !(files.get("growth.svg") ?? "NaN").includes("NaN"));
  match(files.get("growth.svg") ?? "", /<polyline/);
});

Deno.test("reportFiles() keeps the figures that the page shows, without the single measurements", () => {
  const text = reportFiles(run).get("results.json") ?? "";
  const kept = JSON.parse(text) as Run;
  strictEqual(text.includes("values"), false);
  strictEqual(withReport("", kept, "benchmarks"), withReport("", run, "benchmarks"));
  deepStrictEqual(reportFiles(kept), reportFiles(run));
});

Deno.test("mergeRuns() keeps what was measured under other names", () => {
  const [queries, growth] = run.groups;
  ok(queries !== undefined && growth !== undefined);
  const later: Run = { groups: [{ ...growth, commit: "def5678" }], missing: [] };
  const merged = mergeRuns(run, later, ["growth", "queries"]);
  deepStrictEqual(merged.groups.map(({ name, commit }) => [name, commit]), [["growth", "def5678"], [
    "queries",
    "abc1234",
  ]]);
  deepStrictEqual(merged.missing, []);
});

Deno.test("exponent() is the slope between logarithms", () => {
  const of = (power: number) => exponent([1, 10, 100].map((size) => ({ size, cost: 5 * size ** power })));
  for (const power of [0, 0.5, 1, 2]) ok(Math.abs(of(power) - power) < 1e-9, `${of(power)}`);
});
