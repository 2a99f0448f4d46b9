/** The sequence is fixed for ever, and its numbers are in range. */
import { deepStrictEqual as equal, ok } from "node:assert/strict";
import { SeededRandom } from "./random.ts";

Deno.test("SeededRandom gives the same sequence for a seed", () => {
  const take = (seed: number) => {
    const random = new SeededRandom(seed);
    return Array.from({ length: 5 }, () => random.u32());
  };
  equal(take(1), take(1));
  ok(take(1)[0] !== take(2)[0] && take(0)[0] !== take(2 ** 32)[0]);
});

Deno.test("SeededRandom.below() reaches every number of its range about equally often", () => {
  const random = new SeededRandom(42);
  const counts = new Array<number>(10).fill(0);
  for (let round = 0; round < 20_000; round++) {
    const value = random.below(10);
    counts[value] = (counts[value] ?? 0) + 1;
  }
  for (const count of counts) ok(count > 1800 && count < 2200, String(counts));
});
