/** Tests of the seeded random numbers that other tests take. */
import assert from "node:assert/strict";
import { seededRandom } from "./random.ts";

Deno.test("seededRandom() gives each seed numbers of its own, whatever its bits", () => {
  const seeds = Array.from({ length: 2000 }, (_, index) => index - 1000);
  const around = [2 ** 31, 2 ** 32, 5 * 2 ** 32, Number.MAX_SAFE_INTEGER - 1].flatMap((
    base,
  ) => [base, base + 1]);
  const all = [...seeds, ...around];
  const firsts = new Set(all.map((seed) => {
    const random = seededRandom(seed);
    return `${random.below(2 ** 32)} ${random.below(2 ** 32)}`;
  }));
  assert.equal(firsts.size, all.length);
});

Deno.test("seededRandom() spreads the first numbers of neighboring seeds", () => {
  const counts = new Array<number>(10).fill(0);
  for (let seed = 0; seed < 10_000; seed++) {
    const first = seededRandom(seed).below(10);
    counts[first] = (counts[first] ?? 0) + 1;
  }
  assert.ok(counts.every((count) => count > 850 && count < 1150), counts.join(" "));
});
