/** The map of slots by groups of ids, against a Map. */
import { ok, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../base/random.ts";
import { SlotGroups } from "./slot_groups.ts";

Deno.test("SlotGroups answers as a Map does while ids come and go", () => {
  const random = new SeededRandom(12);
  const groups = new SlotGroups();
  const model = new Map<number, number>();
  // Consecutive ids, negative ones, those around 2^32 and 2^53, and scattered ones.
  const ranges = [0, -5000, 2 ** 32 - 5000, 2 ** 53 - 10_001, -(2 ** 53) + 1];
  const idOf = (): number =>
    random.below(4) === 0
      ? random.below(2 ** 31) * 64
      : (ranges[random.below(ranges.length)] ?? 0) + random.below(10_000);
  const check = (id: number): void => strictEqual(groups.get(id), model.get(id) ?? -1, `id ${id}`);
  for (const phase of [0.9, 0.3, 0.9]) {
    for (let step = 0; step < 60_000; step++) {
      const id = idOf();
      if (random.below(1000) < phase * 1000) {
        groups.put(id, step);
        model.set(id, step);
      } else {
        groups.remove(id);
        model.delete(id);
      }
      check(id);
      check(id ^ 1);
      check(idOf());
    }
    strictEqual(groups.size, model.size);
  }
  for (const id of model.keys()) check(id);
  for (let round = 0; round < 1000; round++) strictEqual(groups.get(random.below(20_000) + 0.5), -1);
});

Deno.test("SlotGroups uses emptied lines again, and takes little memory for neighbors", () => {
  const groups = new SlotGroups();
  for (let id = 0; id < 200_000; id++) {
    groups.put(id, id);
    if (id >= 1000) groups.remove(id - 1000);
  }
  strictEqual(groups.size, 1000);
  ok(groups.bytes < 200_000, `${groups.bytes} bytes for 1000 ids`);
  for (let id = 0; id < 1_000_000; id++) groups.put(id * 2, id);
  ok(groups.bytes < 20_000_000, `${groups.bytes} bytes for a million ids`);
});
