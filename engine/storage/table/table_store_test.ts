/** Tests of tables against a model, over random histories and random snapshots held open. */
import assertStrict from "node:assert/strict";
import type { RowBatch, StoredRow, StoredValue } from "../../operations/effect.ts";
import {
  checkAgainstModel,
  drain,
  op,
  seededRandom,
  TableModel,
  testColumn,
  testIndex,
  testTable,
} from "./table_model_test.ts";
import { TableStore } from "./table_store.ts";

const COLUMNS = [
  testColumn(1, { kind: "i32" }),
  testColumn(2, { kind: "i64" }),
  testColumn(3, { kind: "text" }),
  testColumn(4, { kind: "f64" }),
  testColumn(5, { kind: "bytea" }),
];
const INDEXES = [
  testIndex(101, [1]),
  testIndex(102, [-2]),
  testIndex(103, [3, -1]),
  testIndex(104, [-4]),
  testIndex(105, [5]),
];
const TEXTS = ["", "a", "ab", "b", "ä", "\u{ffff}", "\u{1f600}", "a\u0001b", "long ".repeat(20)];

function randomValues(random: () => number): StoredRow {
  const orNull = (value: StoredValue): StoredValue => random() < 0.15 ? null : value;
  const small = Math.floor(random() * 20);
  return [
    orNull(small),
    orNull(
      random() < 0.02
        ? 2n ** 60n + BigInt(small)
        : random() < 0.02
        ? -(2n ** 61n) + BigInt(small)
        : small * 1e9,
    ),
    orNull(TEXTS[Math.floor(random() * TEXTS.length)] ?? ""),
    orNull(random() < 0.01 ? NaN : random() < 0.05 ? -Infinity : (small - 10) / 4),
    orNull(Uint8Array.of(small & 3, 255 - small)),
  ];
}

function batchOf(ids: readonly number[], rows: readonly StoredRow[]): RowBatch {
  const number = (at: number) => {
    const big = new Map<number, bigint>();
    const data = Float64Array.from(rows, (row, index) => {
      const value = row[at] ?? null;
      if (typeof value !== "bigint") return typeof value === "number" ? value : 0;
      big.set(index, value);
      return NaN;
    });
    return {
      data,
      nulls: Uint8Array.from(rows, (row) => row[at] === null ? 1 : 0),
      big: big.size > 0 ? big : null,
    };
  };
  const bytes = (at: number) => {
    const encoded = rows.map((row) => {
      const value = row[at];
      return typeof value === "string"
        ? new TextEncoder().encode(value)
        : value instanceof Uint8Array
        ? value
        : new Uint8Array(0);
    });
    const offsets = new Uint32Array(rows.length + 1);
    encoded.forEach((item, index) => offsets[index + 1] = (offsets[index] ?? 0) + item.length);
    const joined = new Uint8Array(offsets[rows.length] ?? 0);
    encoded.forEach((item, index) => joined.set(item, offsets[index]));
    return { offsets, bytes: joined, nulls: Uint8Array.from(rows, (row) => row[at] === null ? 1 : 0) };
  };
  return {
    rowCount: ids.length,
    ids: Float64Array.from(ids),
    columns: [
      { storageClass: "int", ...number(0) },
      { storageClass: "int", ...number(1) },
      { storageClass: "text", ...bytes(2) },
      { storageClass: "float", data: number(3).data, nulls: number(3).nulls },
      { storageClass: "bytes", ...bytes(4) },
    ],
  };
}

function runHistory(seed: number, inPlace: boolean): void {
  const random = seededRandom(seed);
  const held: number[] = [];
  let at = 0;
  const table = new TableStore({
    definition: testTable(COLUMNS, INDEXES),
    horizon: { oldestSnapshot: () => held.length > 0 ? Math.min(...held) : inPlace ? Infinity : at },
  });
  const model = new TableModel(table.definition);
  let nextId = 1000;
  const idLimit = () => nextId + 20;
  for (let step = 0; step < 400; step++) {
    at++;
    const action = random();
    const id = Math.floor(random() * (random() < 0.5 ? 60 : nextId));
    if (action < 0.08) {
      const ids = Array.from({ length: Math.floor(random() * 40) }, () => nextId += random() < 0.1 ? 3 : 1);
      const rows = ids.map(() => randomValues(random));
      table.createBatch(op(at), batchOf(ids, rows));
      ids.forEach((item, index) => model.put(at, item, rows[index] ?? []));
    } else if (action < 0.085) {
      table.truncate(op(at));
      model.truncate(at);
    } else if (action < 0.1) {
      const fresh = ++nextId;
      const values = randomValues(random);
      table.create(op(at), fresh, values);
      model.put(at, fresh, values);
    } else if (!model.isLive(id)) {
      const values = randomValues(random);
      table.create(op(at), id, values);
      model.put(at, id, values);
    } else if (action < 0.7) {
      const values = randomValues(random);
      table.update(op(at), id, values);
      model.put(at, id, values);
    } else {
      table.delete(op(at), id);
      model.remove(at, id);
    }
    if (random() < 0.05) held.push(at);
    if (random() < 0.05) held.splice(Math.floor(random() * held.length), 1);
    assertStrict.equal(table.rowCount, model.rows(at).length);
    if (step % 20 === 0) {
      for (const snapshot of new Set([at, ...held])) {
        checkAgainstModel(table, model, snapshot, { random, idLimit: idLimit() });
      }
    }
  }
}

Deno.test("TableStore answers as the model does over random histories", () => {
  for (let seed = 1; seed <= 6; seed++) runHistory(seed, seed % 2 === 0);
});

Deno.test("TableStore keeps ids beyond 2^53", () => {
  const table = new TableStore({
    definition: testTable([testColumn(1, { kind: "i32" })]),
    horizon: { oldestSnapshot: () => 0 },
  });
  const big = 2n ** 62n;
  table.create(op(1), big, [7]);
  table.create(op(2), 5, [8]);
  table.update(op(3), big, [9]);
  assertStrict.equal(table.valueAt(table.find(big, 1), 1), 7);
  assertStrict.equal(table.valueAt(table.find(big, 3), 1), 9);
  const bounds = { prefix: [], low: null, high: null, backward: true };
  assertStrict.deepEqual(drain(table.findRange(bounds, 3)).map((location) => table.idAt(location)), [big, 5]);
  table.delete(op(4), big);
  assertStrict.equal(table.find(big, 4), -1);
});

Deno.test("TableStore.range() goes on after writes between two steps", () => {
  const table = new TableStore({
    definition: testTable([testColumn(1, { kind: "i32" })], [testIndex(9, [1])]),
    horizon: { oldestSnapshot: () => 10 },
  });
  for (let id = 1; id <= 10; id++) table.create(op(id), id, [id * 10]);
  for (const backward of [false, true]) {
    const cursor = table.range(9, { prefix: [], low: null, high: null, backward }, 10);
    const found: unknown[] = [];
    for (
      let location = cursor.next(), at = backward ? 31 : 11;
      location >= 0;
      location = cursor.next(), at++
    ) {
      found.push(table.idAt(location));
      table.create(op(at), 100 + at, [at === 14 ? 2n ** 60n : Math.floor(at * 7.3) % 100]);
    }
    assertStrict.deepEqual(
      found,
      backward ? [10, 9, 8, 7, 6, 5, 4, 3, 2, 1] : [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
  }
});

Deno.test("TableStore.alter() gives present rows the missing value and builds the new index", () => {
  const first = testColumn(1, { kind: "i32" });
  const table = new TableStore({ definition: testTable([first]), horizon: { oldestSnapshot: () => 0 } });
  for (let id = 1; id <= 5; id++) table.create(op(id), id, [id]);
  const added = testColumn(2, { kind: "text" }, "new");
  table.alter(testTable([first, added], [testIndex(7, [2])]), op(6));
  table.update(op(7), 3, [3, "changed"]);
  assertStrict.equal(table.valueAt(table.find(1, 7), 2), "new");
  assertStrict.equal(table.valueAt(table.find(3, 7), 2), "changed");
  assertStrict.equal(table.valueAt(table.find(3, 6), 2), "new");
  assertStrict.deepEqual(drain(table.lookup(7, ["new"], 7)).map((location) => table.idAt(location)), [
    1,
    2,
    4,
    5,
  ]);
  assertStrict.deepEqual(drain(table.lookup(7, ["new"], 6)).length, 5);
});

Deno.test("TableStore.statistics() estimates within a factor of two", () => {
  const table = new TableStore({
    definition: testTable([testColumn(1, { kind: "i32" }), testColumn(2, { kind: "i32" })]),
    horizon: { oldestSnapshot: () => 0 },
  });
  const count = 50_000;
  table.createBatch(op(1), {
    rowCount: count,
    ids: Float64Array.from({ length: count }, (_unused, index) => index),
    columns: [
      {
        storageClass: "int",
        data: Float64Array.from({ length: count }, (_unused, index) => index),
        nulls: null,
        big: null,
      },
      {
        storageClass: "int",
        data: Float64Array.from({ length: count }, (_unused, index) => (index * 7919) % 100),
        nulls: null,
        big: null,
      },
    ],
  });
  const unique = table.statistics(1)?.distinct ?? 0;
  const repeated = table.statistics(2)?.distinct ?? 0;
  assertStrict.ok(unique > count / 2 && unique <= count, `${unique}`);
  assertStrict.ok(repeated >= 50 && repeated <= 200, `${repeated}`);
});
