/** The hash table of slots, against a Map. */
import { strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../base/random.ts";
import { CHUNK_MASK, CHUNK_ROWS, CHUNK_SHIFT, growNumbers } from "./delta_column.ts";
import { SlotHash } from "./slot_hash.ts";

Deno.test("SlotHash answers as a Map does while it grows and shrinks", () => {
  const random = new SeededRandom(11);
  const ids: Float64Array[] = [];
  growNumbers(ids, 60_000);
  const hash = new SlotHash(ids);
  const model = new Map<number, number>();
  const put = (id: number, slot: number): void => {
    (ids[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] = id;
    hash.put(id, slot);
    model.set(id, slot);
  };
  // Consecutive ids, scattered ones, negative ones and fractions of the range beyond 32 bits.
  const idOf = (index: number): number =>
    index % 4 === 0 ? index : index % 4 === 1 ? -index : index % 4 === 2 ? index * 2 ** 33 : index * 7919;
  const count = 60_000;
  for (let slot = 0; slot < count; slot++) put(idOf(slot), slot);
  strictEqual(hash.size, model.size);
  for (let index = 0; index < count; index += 3) {
    const id = idOf(index);
    hash.remove(id);
    model.delete(id);
  }
  strictEqual(hash.size, model.size);
  for (let index = 0; index < count + 1000; index++) {
    strictEqual(hash.get(idOf(index)), model.get(idOf(index)) ?? -1, `id ${idOf(index)}`);
  }
  for (let round = 0; round < 1000; round++) strictEqual(hash.get(random.below(2 ** 31) + 0.5), -1);
});

Deno.test("SlotHash.remove() answers the slot, and keeps every other id in reach", () => {
  for (const step of [1, 3, 8, 64, 1 / 8]) {
    const ids: Float64Array[] = [];
    growNumbers(ids, CHUNK_ROWS);
    const hash = new SlotHash(ids);
    const count = 500;
    for (let slot = 0; slot < count; slot++) {
      (ids[0] as Float64Array)[slot] = slot * step;
      hash.put(slot * step, slot);
    }
    for (let slot = 0; slot < count; slot++) {
      strictEqual(hash.remove(slot * step), slot, `step ${step}`);
      strictEqual(hash.remove(slot * step), -1, `step ${step}`);
      for (let rest = slot + 1; rest < count; rest++) {
        strictEqual(hash.get(rest * step), rest, `step ${step}`);
      }
    }
    strictEqual(hash.size, 0);
  }
});
