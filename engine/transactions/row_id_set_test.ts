/** Sets of row ids against a set of JavaScript's, over the whole range of safe integers. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../base/random.ts";
import { RowIdSet } from "./row_id_set.ts";

Deno.test("RowIdSet has what a Set has", () => {
  const random = new SeededRandom(1);
  const edges = [0, 1, -1, 4095, 4096, -4096, -4097, 2 ** 31, -(2 ** 31), 2 ** 53 - 1, -(2 ** 53) + 1];
  const set = new RowIdSet(), known = new Set<number>();
  for (let step = 0; step < 20_000; step++) {
    const near = random.below(2) === 0;
    const base = edges[random.below(edges.length)] as number;
    const id = near ? random.below(5000) - 2500 : base;
    strictEqual(set.has(id), known.has(id), `${id}`);
    if (random.below(3) === 0) continue;
    set.add(id);
    known.add(id);
    strictEqual(set.has(id), true);
    strictEqual(set.size, known.size);
  }
  strictEqual([...set.lists()].length, set.listCount);
  const listed = [...set.lists()].flatMap((ids) => [...ids]);
  deepStrictEqual(listed.toSorted((a, b) => a - b), [...known].toSorted((a, b) => a - b));
  for (const ids of set.lists()) deepStrictEqual([...ids], [...ids].toSorted((a, b) => a - b));
});

Deno.test("RowIdSet lists ids in the same order each time, and few lists for ids that lie together", () => {
  const set = new RowIdSet();
  for (let id = 100_000; id > 0; id--) set.add(id);
  strictEqual(set.listCount, 25);
  deepStrictEqual([...set.lists()], [...set.lists()]);
  strictEqual([...set.lists()].reduce((sum, ids) => sum + ids.length, 0), 100_000);
});
