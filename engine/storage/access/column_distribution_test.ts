/** Statistics of columns found in slices are those that one step finds. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { type ColumnDistribution, columnDistribution, type CountedValue } from "./column_distribution.ts";

/** The same figures in one step. */
function plainDistribution(
  values: readonly (CountedValue | null)[],
  total: number,
  target: number,
): ColumnDistribution {
  const present = values.filter((each) => each !== null);
  const counts = new Map<CountedValue, number>();
  for (const each of present) counts.set(each, (counts.get(each) ?? 0) + 1);
  const once = [...counts.values()].filter((count) => count === 1).length, found = counts.size;
  const nullFraction = (values.length - present.length) / values.length;
  const rows = total * (1 - nullFraction), sampled = present.length;
  const divisor = sampled - once + once * sampled / Math.max(rows, sampled);
  const estimate = divisor <= 0 ? rows : sampled * found / divisor;
  const distinct = Math.round(Math.min(Math.max(estimate, found), Math.max(rows, found)));
  const kept = (value: CountedValue) => typeof value !== "string" || value.length <= 256;
  const least = found <= target && distinct <= found
    ? 1
    : Math.max(2, 1.25 * sampled / Math.max(1, distinct));
  const frequent = [...counts].filter(([value, count]) => count >= least && kept(value))
    .sort((a, b) => b[1] - a[1]).slice(0, target);
  const common = new Map(frequent.map(([value, count]) => [value, count / values.length]));
  const sorted = [...counts.keys()].sort((a, b) => a < b || (a === a && b !== b) ? -1 : 1);
  const others = sorted.filter((each) => !common.has(each) && kept(each));
  const inOthers = others.reduce<number>((sum, each) => sum + (counts.get(each) ?? 0), 0);
  const histogram: CountedValue[] = others.length < 2 ? others : [];
  if (others.length >= 2) {
    const steps = Math.min(target, others.length - 1);
    let seen = 0;
    for (const each of others) {
      seen += counts.get(each) ?? 0;
      while (histogram.length < steps && seen > histogram.length / steps * inOthers) histogram.push(each);
    }
    histogram.push(others.at(-1) ?? 0);
  }
  const ranks = new Map<CountedValue, number>();
  let below = 0;
  for (const each of sorted) {
    ranks.set(each, below + ((counts.get(each) ?? 0) - 1) / 2);
    below += counts.get(each) ?? 0;
  }
  const middle = (below - 1) / 2;
  let [product, squares, rankSquares] = [0, 0, 0];
  present.forEach((value, position) => {
    const x = position - middle, y = (ranks.get(value) ?? 0) - middle;
    product += x * y;
    squares += x * x;
    rankSquares += y * y;
  });
  const correlation = squares === 0 || rankSquares === 0 ? 1 : product / Math.sqrt(squares * rankSquares);
  const averageBytes = present.reduce<number>(
    (sum, each) => sum + (typeof each === "string" ? each.length : 8),
    0,
  ) / present.length;
  return { nullFraction, distinct, averageBytes, common, histogram, correlation };
}

Deno.test("columnDistribution() gives the figures of one step, in slices", () => {
  let seed = 7;
  const below = (count: number) => (seed = (seed * 48271) % 2147483647) % count;
  const kinds: readonly (() => CountedValue | null)[] = [
    () => below(1_000_000_000),
    () => below(5),
    () => Math.floor((below(1000) / 1000) ** 4 * 3000),
    () => below(4) === 0 ? null : [NaN, -0, 0, Infinity, -1.5][below(5)] ?? 1,
    () => BigInt(below(9000)) - 4500n,
    () => below(3) === 0 ? "x".repeat(below(2) === 0 ? 256 : 257) + below(2) : `t${below(700)}`,
  ];
  for (const kind of kinds) {
    for (const [length, target] of [[1, 100], [513, 3], [6000, 100]] as const) {
      const values = Array.from({ length }, kind);
      if (values.every((each) => each === null)) continue;
      const steps = columnDistribution(values, 1_000_000, target);
      let step = steps.next();
      while (step.done !== true) step = steps.next();
      deepStrictEqual(step.value, plainDistribution(values, 1_000_000, target));
      deepStrictEqual([...step.value.common.keys()], [
        ...plainDistribution(values, 1_000_000, target).common.keys(),
      ]);
    }
  }
  const distinct = Array.from({ length: 6000 }, (_, index) => index * 7919 % 6007);
  const slices = [...columnDistribution(distinct, 6000, 9)].length;
  // Seven passes over the values, and a sort of twelve runs: each is 11 slices at least.
  ok(slices >= 11 * (7 + 5), `${slices} slices`);
});
