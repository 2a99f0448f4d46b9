/** The filter that joins ask before their hash table. */
import assert from "node:assert/strict";
import { SeededRandom } from "../testing/seeded_random.ts";
import type { ExecutionState } from "./execution_state.ts";
import { NULL_CODE } from "./hashing.ts";
import { KeyFilter } from "./key_filter.ts";

let charged = 0;
const state = { charge: (bytes: number) => void (charged += bytes) } as unknown as ExecutionState;

Deno.test("KeyFilter never denies a key, and tells integers without large gaps apart", () => {
  for (const step of [1, 3, -7, 2 ** 20 + 1, 2 ** 33]) {
    const codes = Float64Array.from(
      { length: 1000 },
      (_, row) => row % 10 === 9 ? NULL_CODE : (row - 500) * step,
    );
    const filter = new KeyFilter(state, codes.length);
    filter.add(codes, 0, 600);
    filter.add(codes, 600, codes.length);
    for (const code of codes) if (code !== NULL_CODE) assert.ok(filter.mayContain(code), `${code}`);
    if (Math.abs(step) > 7) continue;
    const members = new Set(codes);
    for (let code = -4000; code < 4000; code++) {
      assert.equal(filter.mayContain(code), members.has(code), `${code}`);
    }
  }
});

Deno.test("KeyFilter lets few of other integers pass", () => {
  const random = new SeededRandom(5);
  const codes = Float64Array.from({ length: 20_000 }, () => random.below(2 ** 31) - 2 ** 30);
  const filter = new KeyFilter(state, codes.length);
  filter.add(codes, 0, codes.length);
  let passed = 0;
  for (let round = 0; round < 20_000; round++) {
    if (filter.mayContain(random.below(2 ** 31) + 2 ** 31)) passed++;
  }
  assert.ok(passed > 0 && passed < 600, `${passed} of 20 000 keys that are not there`);
});

Deno.test("KeyFilter is bounded, passes everything with too many keys, and gives its memory back", () => {
  charged = 0;
  const large = new KeyFilter(state, 2 ** 21);
  assert.equal(charged, 2 ** 20);
  assert.equal(large.mayContain(77), false);
  const useless = new KeyFilter(state, 2 ** 21 + 1);
  for (const code of [0, 31, -1, 2 ** 40, Infinity]) assert.ok(useless.mayContain(code));
  large.release();
  useless.release();
  assert.equal(charged, 0);
});
