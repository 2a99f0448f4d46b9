// Values by numbers that come and go.
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { NumberMap } from "./number_map.ts";
import { SeededRandom } from "./random.ts";
import { removeItem } from "./remove_item.ts";

Deno.test("NumberMap holds what a Map would, whatever stays for long", () => {
  const random = new SeededRandom(5);
  const map = new NumberMap<string>(), model = new Map<number, string>();
  for (let number = 0; number < 20_000; number++) {
    map.set(number, `v${number}`);
    model.set(number, `v${number}`);
    const alive = [...model.keys()];
    while (alive.length > 0 && model.size > random.below(100)) {
      const [gone = 0] = alive.splice(random.below(Math.min(8, alive.length)), 1);
      if (gone % 997 === 0) break;
      strictEqual(map.get(gone), model.get(gone));
      strictEqual(map.delete(gone), model.delete(gone));
      strictEqual(map.delete(gone), false);
      strictEqual(map.get(gone), undefined);
    }
    strictEqual(map.size, model.size);
  }
  deepStrictEqual(new Map(map.entries()), model);
  map.clear();
  deepStrictEqual([map.size, [...map.entries()]], [0, []]);
});

Deno.test("removeItem() removes an item wherever it is, once", () => {
  const list = [1, 2, 3];
  deepStrictEqual([removeItem(list, 1), removeItem(list, 1), removeItem(list, 2)], [true, false, true]);
  deepStrictEqual(list, [3]);
  deepStrictEqual([removeItem(list, 3), removeItem(list, 3)], [true, false]);
});
