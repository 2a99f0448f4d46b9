/** Read predicates against committed writes. */
import { strictEqual } from "node:assert/strict";
import { SeededRandom } from "../base/random.ts";
import type { TableDefinition } from "../catalog/definitions.ts";
import type { IndexBounds, ZonePredicate } from "../storage/access/readable_table.ts";
import type { BatchColumn, StoredRow } from "../operations/effect.ts";
import { LoadedIds } from "./load_locks.ts";
import { LockedRange } from "./locked_range.ts";
import {
  affects,
  bulkAffects,
  type CommittedWrite,
  compareStored,
  type ReadPredicate,
  withinBounds,
} from "./read_set.ts";

const bounds = (overrides: Partial<IndexBounds>): IndexBounds => ({
  prefix: [],
  low: null,
  high: null,
  backward: false,
  ...overrides,
});

const write = (before: StoredRow | null, after: StoredRow | null): CommittedWrite => ({
  tableId: 7,
  columnIds: [1, 2],
  id: 5,
  before,
  after,
});

function check(predicate: ReadPredicate, committed: CommittedWrite, expected: boolean): void {
  strictEqual(affects(committed, predicate), expected);
}

Deno.test("affects() an id predicate only by that id of that table", () => {
  check({ kind: "id", tableId: 7, id: 5 }, write(null, [1, "a"]), true);
  check({ kind: "id", tableId: 7, id: 6 }, write(null, [1, "a"]), false);
  check({ kind: "id", tableId: 8, id: 5 }, write(null, [1, "a"]), false);
});

Deno.test("affects() a scan when the row before or after satisfies every comparison", () => {
  const predicate: ReadPredicate = {
    kind: "scan",
    tableId: 7,
    prune: [{ columnId: 1, operator: ">=", value: 10 }, { columnId: 2, operator: "=", value: "x" }],
  };
  check(predicate, write([12, "x"], [1, "x"]), true);
  check(predicate, write([1, "x"], [12, "x"]), true);
  check(predicate, write([12, "y"], [1, "x"]), false);
  check(predicate, write(null, [null, "x"]), false);
});

Deno.test("affects() an index range by the key before or after", () => {
  const predicate: ReadPredicate = {
    kind: "index",
    tableId: 7,
    columnIds: [2, 1],
    bounds: bounds({
      prefix: ["x"],
      low: { value: 3, inclusive: false },
      high: { value: 9, inclusive: true },
    }),
  };
  check(predicate, write(null, [4, "x"]), true);
  check(predicate, write(null, [3, "x"]), false);
  check(predicate, write(null, [9, "x"]), true);
  check(predicate, write([5, "x"], null), true);
  check(predicate, write(null, [5, "y"]), false);
  check(predicate, write(null, [null, "x"]), false);
});

Deno.test("bulkAffects() an id only when the batch holds it, a scan always", () => {
  const batch = { rowCount: 2, ids: Float64Array.of(3, 4), columns: [] };
  strictEqual(bulkAffects({ tableId: 7, batch }, { kind: "id", tableId: 7, id: 4 }), true);
  strictEqual(bulkAffects({ tableId: 7, batch }, { kind: "id", tableId: 7, id: 5 }), false);
  strictEqual(bulkAffects({ tableId: 7, batch }, { kind: "scan", tableId: 7, prune: [] }), true);
  strictEqual(bulkAffects({ tableId: 7, batch: null }, { kind: "id", tableId: 7, id: 5 }), true);
});

Deno.test("bulkAffects() what was read where a row of the load is part of it", () => {
  const numbers = (data: number[]): BatchColumn => ({
    storageClass: "int",
    data: Float64Array.from(data),
    nulls: null,
    big: null,
  });
  const batch = { rowCount: 2, ids: Float64Array.of(8, 9), columns: [numbers([10, 20]), numbers([1, 2])] };
  const index = (value: number): ReadPredicate => ({
    kind: "index",
    tableId: 7,
    columnIds: [1],
    bounds: bounds({ prefix: [value] }),
  });
  const load = { tableId: 7, batch, columnIds: [1, 2] };
  strictEqual(bulkAffects(load, index(20)), true);
  strictEqual(bulkAffects(load, index(21)), false);
  strictEqual(bulkAffects({ tableId: 7, batch }, index(21)), true);
  const scan = (value: number): ReadPredicate => ({
    kind: "scan",
    tableId: 7,
    prune: [{ columnId: 2, operator: "<", value }],
  });
  strictEqual(bulkAffects(load, scan(2)), true);
  strictEqual(bulkAffects(load, scan(1)), false);
  strictEqual(bulkAffects(load, { kind: "scan", tableId: 7, prune: [] }), true);
});

Deno.test("withinBounds() treats NULL in a prefix as equal to NULL and in a range as outside", () => {
  strictEqual(withinBounds([null], bounds({ prefix: [null] })), true);
  strictEqual(withinBounds([1], bounds({ prefix: [null] })), false);
  strictEqual(withinBounds([null], bounds({ low: { value: 1, inclusive: true } })), false);
  strictEqual(withinBounds([2], bounds({ low: { value: null, inclusive: true } })), false);
});

Deno.test("compareStored() orders NaN last, text by code point, mixed integers exactly", () => {
  strictEqual(compareStored(NaN, Infinity) > 0, true);
  strictEqual(compareStored(NaN, NaN), 0);
  strictEqual(compareStored("\u{ffff}", "\u{10000}") < 0, true);
  strictEqual(compareStored(9007199254740993n, 9007199254740992) > 0, true);
});

Deno.test("LockedRange: ranges of which a row may be in both overlap", () => {
  const random = new SeededRandom(7);
  const columns = [1, 2].map((id) => ({ id }));
  const table = { columns } as unknown as TableDefinition;
  const value = () => random.below(9) === 0 ? null : random.below(4);
  const bound = () =>
    random.below(2) === 0 ? null : { value: random.below(4), inclusive: random.below(2) === 0 };
  const range = (): LockedRange => {
    if (random.below(2) === 0) {
      const prefix = random.below(2) === 0 ? [] : [value()];
      return new LockedRange(table, {
        kind: "index",
        tableId: 7,
        columnIds: random.below(2) === 0 ? [1, 2] : [2, 1],
        bounds: bounds({ prefix, low: bound(), high: bound() }),
      });
    }
    const prune = Array.from({ length: 1 + random.below(2) }, (): ZonePredicate => ({
      columnId: 1 + random.below(2),
      operator: (["=", "<", "<=", ">", ">=", "is null", "is not null"] as const)[random.below(7)] ?? "=",
      value: value(),
    }));
    return new LockedRange(table, { kind: "scan", tableId: 7, prune });
  };
  const values = [null, 0, 1, 2, 3];
  const rows = values.flatMap((first) => values.map((second) => [first, second]));
  let apart = 0;
  for (let round = 0; round < 3000; round++) {
    const left = range(), right = range();
    const isShared = rows.some((row) => left.has(row) && right.has(row));
    if (!left.overlaps(right)) apart++;
    strictEqual(isShared && !left.overlaps(right), false, `${left.key} ${right.key}`);
    strictEqual(left.overlaps(right), right.overlaps(left));
  }
  strictEqual(apart > 500, true, String(apart));
});

Deno.test("LoadedIds has the ids of batches, in whatever order they come", () => {
  const random = new SeededRandom(8);
  for (let round = 0; round < 200; round++) {
    const ids = new LoadedIds(), known = new Set<number>();
    for (let batch = random.below(4); batch >= 0; batch--) {
      const first = random.below(40) - 10, step = 1 + random.below(2);
      const list = Array.from({ length: 1 + random.below(6) }, (_, at) => first + at * step);
      if (random.below(3) === 0) list.reverse();
      ids.add(Float64Array.from(list));
      for (const id of list) known.add(id);
    }
    for (let id = -12; id < 45; id++) strictEqual(ids.has(id), known.has(id), `${round}: ${id}`);
    strictEqual(ids.has(0.5), false);
  }
});
