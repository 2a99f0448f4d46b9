/** Sorting permutations, compared with the stable sort of the language. */
import assertStrict from "node:assert/strict";
import { sortOrderOfNumbers, sortPairsInSteps } from "./sort_order.ts";
import { seededRandom } from "./table_model_test.ts";

function check(what: string, keyOf: (random: () => number, index: number) => number): void {
  for (const count of [0, 1, 1000, 1025, 20_000]) {
    const random = seededRandom(count);
    const keys = Float64Array.from({ length: count }, (_unused, index) => keyOf(random, index));
    const expected = Array.from(keys.keys()).sort((left, right) => {
      const [a, b] = [keys[left] ?? 0, keys[right] ?? 0];
      if (a !== a || b !== b) return (a !== a ? 1 : 0) - (b !== b ? 1 : 0);
      return a < b ? -1 : a > b ? 1 : 0;
    });
    assertStrict.deepEqual(Array.from(sortOrderOfNumbers(keys, count)), expected, `${what}, ${count} keys`);
    const pairs = drain(
      sortPairsInSteps(keys.slice(), Uint32Array.from(keys.keys(), (position) => position * 3)),
    );
    assertStrict.deepEqual(
      Array.from(pairs.values),
      expected.map((position) => position * 3),
      `${what}, values`,
    );
    assertStrict.deepEqual(
      Array.from(pairs.keys),
      expected.map((position) => (keys[position] ?? 0) + 0),
      `${what}, sorted keys`,
    );
  }
}

function drain<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

Deno.test("sortOrderOfNumbers() and sortPairsInSteps() sort stably, integers of any range and other numbers, NaN last", () => {
  check("few integers", (random) => Math.floor(random() * 20) - 10);
  check("integers", (random) => Math.floor(random() * 1e7));
  check("wide integers", (random) => Math.floor(random() * 2 ** 32) - 2 ** 31);
  check(
    "all of the range",
    (random, index) => index === 0 ? 0 : index === 1 ? 2 ** 32 - 2 : Math.floor(random() * 2 ** 32),
  );
  check("one more than the range", (random, index) => index === 0 ? 2 ** 32 : Math.floor(random() * 2 ** 32));
  check("far integers", (random) => 2 ** 53 + Math.floor(random() * 1e6) * 2);
  check("integers and NaN", (random) => random() < 0.1 ? NaN : Math.floor(random() * 5000));
  check("integers and -0", (random) => random() < 0.3 ? -0 : Math.floor(random() * 3));
  check("NaN only", () => NaN);
  check("ascending with NaN last", (_random, index) => index < 15_000 ? index >> 2 : NaN);
  check(
    "infinities",
    (random) => random() < 0.1 ? Infinity : random() < 0.1 ? -Infinity : Math.floor(random() * 9),
  );
  check("fractions", (random) => (random() - 0.5) * 1000);
});
