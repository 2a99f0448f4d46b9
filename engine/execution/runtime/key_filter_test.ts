/** The filter that joins ask before their hash table. */
import assert from "node:assert/strict";
import { SeededRandom } from "../testing/seeded_random.ts";
import type { ExecutionState } from "./execution_state.ts";
import { NULL_CODE } from "./hashing.ts";
import { GrowingFilter, KeyFilter } from "./key_filter.ts";

let charged = 0;
const state = {
  charge: (bytes: number) => void (charged += bytes),
  context: { memoryLimitBytes: 2 ** 20 },
} as unknown as ExecutionState;

function rangeOf(codes: Float64Array): { readonly low: number; readonly high: number } {
  const known = codes.filter((code) => code !== NULL_CODE);
  return { low: Math.min(...known), high: Math.max(...known) };
}

Deno.test("KeyFilter never denies a key, and tells integers without large gaps apart", () => {
  for (const step of [1, 3, -7, 2 ** 20 + 1, 2 ** 33]) {
    const codes = Float64Array.from(
      { length: 1000 },
      (_, row) => row % 10 === 9 ? NULL_CODE : (row - 500) * step,
    );
    const filter = new KeyFilter(state, codes.length, rangeOf(codes));
    filter.add(codes, 0, 600);
    filter.add(codes, 600, codes.length);
    for (const code of codes) if (code !== NULL_CODE) assert.ok(filter.mayContain(code), `${code}`);
    if (Math.abs(step) > 7) continue;
    assert.ok(filter.mask < 2 * 1000 * Math.abs(step), `${filter.mask + 1} bits`);
    const members = new Set(codes);
    for (let code = -4000; code < 4000; code++) {
      assert.equal(filter.mayContain(code), members.has(code), `${code}`);
    }
  }
});

Deno.test("KeyFilter lets few of other integers pass", () => {
  const random = new SeededRandom(5);
  const codes = Float64Array.from({ length: 20_000 }, () => random.below(2 ** 31) - 2 ** 30);
  const filter = new KeyFilter(state, codes.length, { low: -Infinity, high: Infinity });
  filter.add(codes, 0, codes.length);
  let passed = 0;
  for (let round = 0; round < 20_000; round++) {
    if (filter.mayContain(random.below(2 ** 31) + 2 ** 31)) passed++;
  }
  assert.ok(passed > 0 && passed < 600, `${passed} of 20 000 keys that are not there`);
});

Deno.test("KeyFilter over the words of another one has its bits, whatever its own statement would take", () => {
  const codes = Float64Array.from({ length: 500 }, (_, row) => row * 1_000_003);
  const spilling = { ...state, context: { ...state.context, spills: true } } as unknown as ExecutionState;
  const small = new KeyFilter(spilling, codes.length, rangeOf(codes));
  assert.ok(small.mask < new KeyFilter(state, codes.length, rangeOf(codes)).mask);
  small.add(codes, 0, codes.length);
  const shared = new KeyFilter({} as ExecutionState, codes.length, rangeOf(codes), small.words);
  for (const code of codes) assert.ok(shared.mayContain(code), `${code}`);
});

Deno.test("KeyFilter is bounded, passes everything between the ends of too many keys, and gives its memory back", () => {
  charged = 0;
  const large = new KeyFilter(state, 2 ** 21, { low: 0, high: 2 ** 30 });
  assert.equal(charged, 2 ** 20);
  assert.equal(large.mayContain(77), false);
  const all = { low: -Infinity, high: Infinity };
  const useless = new KeyFilter(state, 2 ** 21 + 1, all);
  for (const code of [0, 31, -1, 2 ** 40, Infinity]) assert.ok(useless.mayContain(code));
  const dense = new KeyFilter(state, 2 ** 21 + 1, { low: 5, high: 2 ** 21 + 5 });
  for (const code of [4, 7, 2 ** 21 + 6]) assert.equal(dense.mayContain(code), false, `${code}`);
  const infinite = new KeyFilter(state, 1, { low: Infinity, high: Infinity });
  infinite.add(Float64Array.of(Infinity), 0, 1);
  assert.deepEqual([Infinity, 7].map((code) => infinite.mayContain(code)), [true, false]);
  const none = new KeyFilter(state, 0, { low: Infinity, high: -Infinity });
  assert.equal(none.mayContain(0), false);
  for (const each of [large, useless, dense, infinite, none]) each.release();
  assert.equal(charged, 0);
});

Deno.test("GrowingFilter never denies a key, and has no ends once there are integers that are not safe", () => {
  charged = 0;
  const filter = new GrowingFilter(state);
  assert.equal(charged, 2 ** 14);
  assert.ok(filter.low > filter.high, "nothing is there");
  for (const code of [5, -70_000, 2 ** 40]) filter.add(code);
  assert.deepEqual([filter.low, filter.high], [-70_000, 2 ** 40]);
  assert.deepEqual([5, -70_000, 2 ** 40, 6].map((code) => filter.mayContain(code)), [
    true,
    true,
    true,
    false,
  ]);
  filter.add(2n ** 60n);
  assert.deepEqual([filter.low, filter.high], [-Infinity, Infinity]);
  assert.equal(filter.mayContain(7), false);
  filter.release();
  assert.equal(charged, 0);
});
