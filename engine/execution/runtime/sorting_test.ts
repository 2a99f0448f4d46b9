/** Sorting of row numbers, and the hash table of joins. */
import assert from "node:assert/strict";
import { SeededRandom } from "../testing/seeded_random.ts";
import type { ExecutionState } from "./execution_state.ts";
import { HashIndex } from "./hash_index.ts";
import { NULL_CODE } from "./hashing.ts";
import { RowBuffer } from "./row_buffer.ts";
import { sortRows } from "./sorting.ts";

const state = { charge: () => {} } as unknown as ExecutionState;

Deno.test("sortRows() sorts a packed integer key as the comparison does, stably", () => {
  const random = new SeededRandom(9);
  for (const range of [3, 1000, 2 ** 52]) {
    for (const [descending, nullsFirst] of [[false, false], [true, false], [false, true], [true, true]]) {
      const buffer = new RowBuffer(state, [{ storage: "mixed", nullable: true }]);
      const [column] = buffer.columns;
      assert.ok(column !== undefined);
      const count = 500;
      while (buffer.capacity < count) buffer.grow(0);
      for (let row = 0; row < count; row++) {
        column.data[row] = Math.floor((random.next() - 0.5) * range);
        if (column.nulls !== null) column.nulls[row] = random.chance(0.1) ? 1 : 0;
      }
      const compare = (a: number, b: number) => {
        const [x, y] = [column.nulls?.[a], column.nulls?.[b]];
        if (x === 1 || y === 1) return x === y ? 0 : (x === 1) === nullsFirst ? -1 : 1;
        const order = Math.sign((column.data[a] as number) - (column.data[b] as number));
        return descending ? -order : order;
      };
      const single = { column, descending: descending === true, nullsFirst: nullsFirst === true };
      assert.deepEqual(sortRows(count, compare, single), sortRows(count, compare, null), `range ${range}`);
    }
  }
});

Deno.test("HashIndex chains all rows of a key in order and leaves out NULLs", () => {
  const random = new SeededRandom(4);
  for (const range of [20, 1_000_000_000]) {
    const buffer = new RowBuffer(state, [{ storage: "code", nullable: true }]);
    const [column] = buffer.columns;
    assert.ok(column !== undefined);
    const keys = Array.from(
      { length: 300 },
      () => random.chance(0.1) ? NULL_CODE : random.below(20) * (range / 20) - 5,
    );
    while (buffer.capacity < keys.length) buffer.grow(0);
    keys.forEach((key, row) => column.data[row] = key);
    buffer.count = keys.length;
    const index = new HashIndex(state, buffer, [0]);
    assert.equal(index.direct, range === 20);
    assert.equal(index.hasNull, true);
    for (const key of new Set([...keys, 999, -999])) {
      if (key === NULL_CODE) continue;
      const found: number[] = [];
      for (let row = index.first(key); row >= 0; row = index.next[row] as number) {
        if (column.data[row] === key) found.push(row);
      }
      assert.deepEqual(found, keys.flatMap((other, row) => other === key ? [row] : []));
    }
  }
});
