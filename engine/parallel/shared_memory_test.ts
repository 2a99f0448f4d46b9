/** Stretches of shared memory: which one is taken, and that what is given back is whole again. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { SharedMemory } from "./shared_memory.ts";

const GRANULE = 1 << 16;

Deno.test("SharedMemory takes the first bytes that are free, and what is given back is whole again", () => {
  const shared = new SharedMemory(8 * GRANULE);
  const take = (bytes: number) => shared.take(bytes) ?? { at: -1, bytes: 0 };
  const [one, two, three] = [take(1), take(2 * GRANULE), take(GRANULE + 1)];
  deepStrictEqual([one.at, two.at, three.at], [0, GRANULE, 3 * GRANULE]);
  strictEqual(shared.freeBytes, 3 * GRANULE);
  strictEqual(shared.take(4 * GRANULE), null);
  shared.give(two);
  strictEqual(take(3 * GRANULE).at, 5 * GRANULE);
  deepStrictEqual(take(GRANULE), { at: GRANULE, bytes: GRANULE });
  shared.give({ at: GRANULE, bytes: GRANULE });
  shared.give({ at: 5 * GRANULE, bytes: 3 * GRANULE });
  shared.give(one);
  shared.give(three);
  strictEqual(take(8 * GRANULE).at, 0);
});
