/** Ranges into which the keys of a join are cut. */
import assert from "node:assert/strict";
import { SeededRandom } from "../testing/seeded_random.ts";
import { KeyCounts } from "./key_ranges.ts";
import type { MemoryUser } from "./memory_user.ts";

const ROWS = 20_000;
const random = new SeededRandom(7);
const ascending = Array.from({ length: ROWS }, (_, row) => row - 5000);
const SPREADS: Readonly<Record<string, readonly number[]>> = {
  ascending,
  descending: ascending.toReversed(),
  "in no order": ascending.map((key) => (key * 7919) % ROWS),
  "with gaps": ascending.map((key) => key * 100_003),
  "of two far places": ascending.map((key) => key % 2 === 0 ? key : key + 9000),
  "skewed": ascending.map(() => random.below(1 + random.below(ROWS))),
  "as large as there are": ascending.map((key) => key * 2 ** 39),
};

Deno.test("KeyCounts.ranges() has each key in one range, and no more rows in each than fit", () => {
  let charged = 0;
  const state = { charge: (bytes: number) => void (charged += bytes) } as unknown as MemoryUser;
  for (const [name, keys] of Object.entries(SPREADS)) {
    for (const nulls of [0, 700]) {
      const counts = new KeyCounts(state);
      for (let index = 0; index < nulls; index++) counts.addNull();
      for (const key of keys) counts.add(key);
      assert.equal(counts.rows, ROWS + nulls);
      const ranges = counts.ranges((rows) => rows, 3000) ?? [];
      assert.ok(ranges.length >= 7 && ranges.length < 18, `${name}: ${ranges.length} ranges`);
      assert.deepEqual([ranges[0]?.low, ranges.at(-1)?.end], [-Infinity, NaN]);
      ranges.forEach(({ low, end, hasNulls, rows }, index) => {
        assert.equal(hasNulls, index === 0);
        if (index > 0) assert.equal(low, ranges[index - 1]?.end);
        const found = keys.filter((key) => !(key < low || key >= end)).length + (hasNulls ? nulls : 0);
        assert.equal(found, rows, name);
        assert.ok(rows > 0 && rows <= 3000, `${name}: ${rows} rows`);
      });
      counts.release();
      assert.equal(charged, 0);
    }
  }
});

Deno.test("KeyCounts.ranges() gives up where a few keys have too many rows, or keys have no place", () => {
  const state = { charge: () => {} } as unknown as MemoryUser;
  const rangesOf = (add: (counts: KeyCounts) => void) => {
    const counts = new KeyCounts(state);
    for (const key of ascending) counts.add(key);
    add(counts);
    return counts.ranges((rows) => rows, 3000);
  };
  assert.equal(rangesOf(() => {})?.length, 7);
  assert.equal(rangesOf((counts) => ascending.slice(0, 3001).forEach(() => counts.add(4000))), null);
  assert.equal(rangesOf((counts) => ascending.slice(0, 3001).forEach(() => counts.addNull())), null);
  assert.equal(rangesOf((counts) => counts.add(2 ** 40)), null);
  for (const key of [2n ** 60n, Infinity, -Infinity]) {
    assert.equal(rangesOf((counts) => counts.add(key)), null);
  }
  assert.equal(new KeyCounts(state).ranges((rows) => rows, 3000)?.length, 1);
});
