/** Tests of walks past ended rows, against plain loops at several snapshots. */
import assertStrict from "node:assert/strict";
import { LivePositions, TombstoneRanges } from "./tombstone_ranges.ts";
import {
  drain,
  memorySurroundings,
  op,
  seededRandom,
  testColumn,
  testIndex,
  testTable,
} from "./table_model_test.ts";
import type { Block } from "../access/block.ts";
import { TableStore } from "./table_store.ts";

Deno.test("LivePositions stops at what the snapshot sees, whatever other walks have noted", () => {
  for (let seed = 1; seed <= 6; seed++) {
    const random = seededRandom(seed);
    const count = 4096 * 3 + 100;
    const endOfRows = new Float64Array(count);
    const dead = new TombstoneRanges();
    const shift = seed % 2 === 0 ? 0 : 5000;
    const rowAt = shift === 0 ? null : (position: number) => (position + shift) % count;
    const ends = { endOf: (row: number) => endOfRows[row] as number };
    for (let now = 1; now <= 60; now++) {
      // Ends of stretches, mostly at the beginning and the end.
      const length = Math.floor(random() * (random() < 0.3 ? 6000 : 60));
      const from = random() < 0.3
        ? 0
        : random() < 0.5
        ? count - length
        : Math.floor(random() * (count - length));
      for (let position = from; position < from + length; position++) {
        const row = rowAt === null ? position : rowAt(position);
        if (endOfRows[row] === 0 && random() < 0.999) endOfRows[row] = now;
      }
      for (let walk = 0; walk < 3; walk++) {
        const snapshot = random() < 0.5 ? now : Math.floor(random() * now);
        const low = random() < 0.4 ? 0 : Math.floor(random() * count);
        const high = random() < 0.4 ? count : low + Math.floor(random() * (count - low));
        if (low >= high) continue;
        const backward = random() < 0.5;
        const expected: number[] = [];
        for (let position = low; position < high; position++) {
          const end = endOfRows[rowAt === null ? position : rowAt(position)] as number;
          if (end === 0 || snapshot < end) expected.push(position);
        }
        if (backward) expected.reverse();
        const positions = new LivePositions({ dead, ends, rowAt }, snapshot, {
          from: low,
          to: high,
          backward,
        });
        const limit = random() < 0.5 ? 3 : Infinity;
        const found: number[] = [];
        while (found.length < limit && positions.advance()) {
          assertStrict.equal(positions.row, rowAt === null ? positions.position : rowAt(positions.position));
          found.push(positions.position);
        }
        assertStrict.deepEqual(found, expected.slice(0, found.length));
        assertStrict.equal(found.length, Math.min(limit, expected.length));
        if (limit === Infinity) assertStrict.equal(positions.advance(), false, "the end is the end");
      }
    }
  }
});

Deno.test("LivePositions looks at ended rows once, however often their end of the table is walked", () => {
  const count = 40_000;
  let looks = 0;
  const endOfRows = new Float64Array(count).fill(5, 0, 30_000);
  const ends = { endOf: (row: number) => (looks++, endOfRows[row] as number) };
  const dead = new TombstoneRanges();
  const first = (snapshot: number): number => {
    looks = 0;
    const walk = new LivePositions({ dead, ends, rowAt: null }, snapshot, {
      from: 0,
      to: count,
      backward: false,
    });
    return walk.advance() ? walk.position : -1;
  };
  assertStrict.equal(first(9), 30_000);
  assertStrict.ok(looks > 30_000);
  assertStrict.equal(first(9), 30_000);
  assertStrict.ok(looks < 5, `${looks} looks`);
  assertStrict.equal(first(4), 0);
  endOfRows[30_000] = 10;
  assertStrict.equal(first(10), 30_001);
  assertStrict.ok(looks < 5, `${looks} looks`);
  assertStrict.equal(first(9), 30_000);
});

Deno.test("TableStore finds the least and the greatest by index as a scan does, where the ends of the table come and go", () => {
  const random = seededRandom(7);
  const held: number[] = [];
  let now = 0;
  const table = new TableStore({
    ...memorySurroundings(),
    definition: testTable([testColumn(1, { kind: "i32" })], [testIndex(9, [1])]),
    horizon: { oldestSnapshot: () => Math.min(now, ...held) },
  });
  const live = new Map<number, number>();
  for (let id = 1; id <= 9000; id++) {
    table.create(op(++now), id, [id]);
    live.set(id, id);
  }
  table.freeze(op(now));
  while (!table.buildStep(Infinity));
  table.describe();
  const byValue = () => [...live].sort((left, right) => left[1] - right[1]).map(([id]) => id);
  for (let round = 0; round < 12; round++) {
    const ids = byValue();
    const many = Math.floor(random() * 600);
    for (const id of random() < 0.5 ? ids.slice(0, many) : ids.slice(ids.length - many)) {
      now++;
      if (random() < 0.5) {
        table.delete(op(now), id);
        live.delete(id);
      } else {
        table.update(op(now), id, [4500]);
        live.set(id, 4500);
      }
    }
    if (round % 3 === 0) held.push(now - Math.floor(many / 2));
    for (const snapshot of [now, ...held, now]) {
      const seen: number[] = [];
      const cursor = table.scan([1], { ids: true, prune: [] }, snapshot);
      for (let block: Block | null = cursor.next(); block !== null; block = cursor.next()) {
        for (let row = 0; row < block.rowCount; row++) {
          if (block.hidden !== null && block.hidden[row] !== 0) continue;
          seen.push(Number(table.valueAt(block.firstLocation + row, 1)));
        }
      }
      seen.sort((left, right) => left - right);
      for (const backward of [false, true]) {
        const bounds = { prefix: [], low: null, high: null, backward };
        const location = table.range(9, bounds, snapshot).next();
        assertStrict.equal(table.valueAt(location, 1), seen.at(backward ? -1 : 0));
        const byId = table.findRange(bounds, snapshot).next();
        assertStrict.ok(table.idAt(byId) !== undefined && location >= 0);
      }
      const all = { prefix: [], low: null, high: null, backward: false };
      assertStrict.deepEqual(drain(table.range(9, all, snapshot)).map((at) => table.valueAt(at, 1)), seen);
    }
  }
});
