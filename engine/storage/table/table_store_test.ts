/** Tests of tables against a model, over random histories and random snapshots held open. */
import assertStrict from "node:assert/strict";
import { STAGE_COLUMN_ID, STAGE_ROW_BYTES, STAGE_TABLE } from "../../catalog/stage_table.ts";
import { MemoryDisk } from "../../host/memory_host.ts";
import type { OpNumber, RowBatch, RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import {
  checkAgainstModel,
  drain,
  memorySurroundings,
  op,
  seededRandom,
  TableModel,
  testColumn,
  testIndex,
  testTable,
} from "./table_model_test.ts";
import type { TableDefinition } from "../../catalog/definitions.ts";
import type { TablePiece } from "./table_piece.ts";
import { segmentFilesIn } from "./segment_files.ts";
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

interface HistoryOptions {
  readonly inPlace: boolean;
  /** Freeze, build, merge, describe, alter and reopen as well. */
  readonly checkpoints: boolean;
  readonly cacheBytes: number;
  readonly steps: number;
  /** Rows loaded before the first step. */
  readonly preload: number;
}

/**
 * Ids by their number from 0 on: positive ones, ones on both sides of 0, or from the whole range of row ids.
 * Consecutive numbers from 60 on have consecutive ids, which are safe integers.
 */
function idsOf(seed: number): (number: number) => RowId {
  switch (seed % 3) {
    case 0:
      return (number) => number;
    case 1:
      return (number) => number - 1030;
    default:
      return (number) => {
        if (number >= 60) return number - 5000;
        const big = BigInt(number);
        switch (number % 4) {
          case 0:
            return number;
          case 1:
            return -number - 100_000;
          case 2:
            return -(2n ** 63n) + big - 2n;
          default:
            return 2n ** 63n + 2n - big;
        }
      };
  }
}

/** One random history; the table's files are those of its last state. */
function runHistory(seed: number, options: HistoryOptions): void {
  const random = seededRandom(seed);
  const held: number[] = [];
  // Every other history begins in the middle of a replay.
  let isReplaying = seed % 2 === 0;
  let at = 0;
  const surroundings = memorySurroundings(options.cacheBytes);
  const horizon = {
    oldestSnapshot: () => held.length > 0 ? Math.min(...held) : options.inPlace ? Infinity : at,
    isReplaying: () => isReplaying,
  };
  let definition = testTable(COLUMNS, INDEXES);
  let table = new TableStore({ definition, horizon, ...surroundings });
  const model = new TableModel(definition);
  let nextId = 1000;
  const idOf = idsOf(seed);
  const safeIdOf = (number: number): number => Number(idOf(number));
  // What has been applied since the last checkpoint, to be applied again after reopening.
  let replay: { at: number; apply: (table: TableStore) => void }[] = [];
  let installed: { piece: TablePiece; definition: TableDefinition } | null = null;
  let frozen: { at: number; definition: TableDefinition } | null = null;
  const apply = (action: (table: TableStore) => void): void => {
    replay.push({ at, apply: action });
    action(table);
  };
  const values = (): StoredRow => {
    const row = randomValues(random);
    return definition.columns.map((column, index) =>
      index < 5 ? row[index] ?? null : `${column.id}:${row[0]}`
    );
  };
  const install = (): void => {
    if (frozen === null || !table.isBuilt) return;
    const piece = JSON.parse(JSON.stringify(table.describe())) as TablePiece;
    for (const file of table.takeUnsynced()) file.close();
    table.manifestInstalled();
    const checkpointOp = frozen.at;
    assertStrict.equal(piece.op, checkpointOp);
    installed = { piece, definition: frozen.definition };
    replay = replay.filter((entry) => entry.at > checkpointOp);
    frozen = null;
  };
  if (options.preload > 0) {
    at++;
    const first = op(at);
    const ids = Array.from(
      { length: options.preload },
      (_unused, index) => safeIdOf(2000 + index * (1 + seed % 2)),
    );
    const rows = ids.map(() => randomValues(random));
    apply((target) => target.createBatch(first, batchOf(ids, rows)));
    ids.forEach((item, index) => model.put(at, item, rows[index] ?? []));
    nextId = 2000 + options.preload * 2;
  }
  for (let step = 0; step < options.steps; step++) {
    at++;
    const now = op(at);
    const action = random();
    const id = idOf(Math.floor(random() * (random() < 0.5 ? 60 : nextId)));
    if (action < 0.08) {
      const ids = Array.from(
        { length: Math.floor(random() * 40) },
        () => safeIdOf(nextId += random() < 0.1 ? 3 : 1),
      );
      if (definition.columns.length === 5) {
        const rows = ids.map(() => randomValues(random));
        if (random() < 0.5) {
          apply((target) => target.createBatch(now, batchOf(ids, rows)));
          ids.forEach((item, index) => model.put(at, item, rows[index] ?? []));
        } else {
          // An entry that is cut, and that changes rows as well.
          const changed = model.rows(at - 1).map((row) => Number(row.id)).filter((item) =>
            Number.isSafeInteger(item) && random() < 0.05
          );
          const inSteps = random() < 0.5 && !isReplaying;
          const order = { now, created: ids, changed, rows: [...rows, ...changed.map(values)], inSteps };
          apply((target) =>
            applyCut(target, order, () => {
              if (isReplaying) return;
              target.releaseOldVersions();
              const snapshot = held[Math.floor(random() * held.length)];
              if (snapshot === undefined || random() < 0.99) return;
              const anyId = (): RowId => idOf(Math.floor(random() * (nextId + 20)));
              checkAgainstModel(target, model, snapshot, { random, anyId });
            })
          );
          order.rows.forEach((row, index) => model.put(at, [...ids, ...changed][index] ?? 0, row));
        }
      } else {
        for (const item of ids) {
          const row = values();
          apply((target) => target.create(now, item, row));
          model.put(at, item, row);
        }
      }
    } else if (action < 0.083 && options.preload === 0) {
      apply((target) => target.truncate(now));
      model.truncate(at);
    } else if (action < 0.1) {
      const fresh = idOf(++nextId);
      const row = values();
      apply((target) => target.create(now, fresh, row));
      model.put(at, fresh, row);
    } else if (!model.isLive(id)) {
      const row = values();
      apply((target) => target.create(now, id, row));
      model.put(at, id, row);
    } else if (action < 0.7) {
      const row = values();
      apply((target) => target.update(now, id, row));
      model.put(at, id, row);
    } else {
      apply((target) => target.delete(now, id));
      model.remove(at, id);
    }
    if (options.checkpoints) {
      const work = random();
      if (work < 0.12 && (frozen === null || random() < 0.2)) {
        table.freeze(now);
        frozen = { at, definition };
      } else if (work < 0.3) {
        table.buildStep(1);
        install();
      } else if (work < 0.38) table.compactionStep(1);
      else if (work < 0.4) table.indexStep(1);
      else if (work < 0.41) {
        table.compactionStep(Infinity);
        install();
      } else if (work < 0.5) table.releaseOldVersions();
      else if (work < 0.505 && definition.columns.length < 8) {
        at++;
        const columnId = definition.columns.length + 1;
        const added = testColumn(columnId, { kind: "text" }, columnId === 6 ? "old" : null);
        const indexes = definition.indexes.length > 5
          ? definition.indexes.slice(1)
          : [...definition.indexes, testIndex(200 + columnId, [columnId, 1])];
        definition = testTable([...definition.columns, added], indexes);
        const taken = definition;
        const alterOp = op(at);
        apply((target) => target.alter(taken, alterOp));
        model.alter(definition);
      } else if (work < 0.52 && installed !== null) {
        const { piece, definition: before }: { piece: TablePiece; definition: TableDefinition } = installed;
        table.close();
        held.splice(0, held.length, ...held.filter((snapshot) => snapshot >= piece.op));
        isReplaying = true;
        table = TableStore.restore(piece, { definition: before, horizon, ...surroundings });
        for (const entry of replay) entry.apply(table);
        isReplaying = false;
        table.endReplay();
        frozen = null;
      }
    }
    if (isReplaying && step > 20 && random() < 0.05) {
      isReplaying = false;
      table.endReplay();
    }
    // In the middle of what waits to be sorted into indexes.
    if (!isReplaying && random() < 0.3) table.indexStep(1);
    if (random() < 0.05) held.push(at);
    if (random() < 0.05) held.splice(Math.floor(random() * held.length), 1);
    if (step % 10 === 0) assertStrict.equal(table.rowCount, model.rows(at).length);
    if (step % 25 === 0) {
      for (const snapshot of new Set([at, ...held])) {
        checkAgainstModel(table, model, snapshot, {
          random,
          anyId: () => idOf(Math.floor(random() * (random() < 0.3 ? 60 : nextId + 20))),
        });
      }
    }
  }
  table.verify();
  table.close();
}

/** Rows of one entry in pieces; `between` is called while the entry is on its way. */
interface CutEntry {
  readonly now: OpNumber;
  readonly created: readonly number[];
  readonly changed: readonly number[];
  /** Of those created, then of those changed. */
  readonly rows: readonly StoredRow[];
  readonly inSteps: boolean;
}

function applyCut(table: TableStore, entry: CutEntry, between: () => void): void {
  const { now, created, changed, rows, inSteps } = entry;
  if (inSteps) table.beginEntry();
  const ids = [...created, ...changed];
  for (let from = 0; from < ids.length; from += 7) {
    const batch = batchOf(ids.slice(from, from + 7), rows.slice(from, from + 7));
    table.endRows(now, Float64Array.from(ids.slice(Math.max(from, created.length), from + 7)));
    table.createBatch(now, batch);
    for (const _ of table.cutInSteps(now, batch, 1000)) between();
    between();
  }
  if (!inSteps) return;
  for (const _ of table.settleInSteps()) between();
  table.endEntry();
}

Deno.test("TableStore answers as the model does over random histories", () => {
  for (let seed = 1; seed <= 6; seed++) {
    runHistory(seed, { inPlace: seed % 2 === 0, checkpoints: false, cacheBytes: 0, steps: 130, preload: 0 });
  }
});

Deno.test("TableStore answers as the model does while it is frozen, built, merged, altered and reopened", () => {
  for (let seed = 1; seed <= 8; seed++) {
    const cacheBytes = seed % 3 === 0 ? 10_000 : 1 << 22;
    runHistory(100 + seed, {
      inPlace: seed % 2 === 0,
      checkpoints: true,
      cacheBytes,
      steps: 400,
      preload: 0,
    });
  }
});

Deno.test("TableStore answers as the model does with several blocks to a segment", () => {
  runHistory(1001, { inPlace: true, checkpoints: true, cacheBytes: 200_000, steps: 50, preload: 4500 });
});

Deno.test("TableStore keeps ids beyond 2^53", () => {
  const table = new TableStore({
    ...memorySurroundings(),
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
    ...memorySurroundings(),
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
  const table = new TableStore({
    ...memorySurroundings(),
    definition: testTable([first]),
    horizon: { oldestSnapshot: () => 0 },
  });
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

Deno.test("TableStore.alter() adds a row once that takes an empty slot before the new index is used", () => {
  const column = testColumn(1, { kind: "i32" });
  const table = new TableStore({
    definition: testTable([column]),
    horizon: { oldestSnapshot: () => Infinity },
  });
  for (const id of [7, 3, 5]) table.create(op(1), id, [id]);
  table.delete(op(2), 3);
  table.alter(testTable([column], [testIndex(7, [1])]), op(3));
  table.create(op(4), 4, [4]);
  const everything = { prefix: [], low: null, high: null, backward: false };
  assertStrict.deepEqual(drain(table.range(7, everything, 4)).map((location) => table.idAt(location)), [
    4,
    5,
    7,
  ]);
});

Deno.test("TableStore.statistics() estimates within a factor of two", () => {
  const table = new TableStore({
    ...memorySurroundings(),
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

/** A table with a segment of `rows` rows, which a checkpoint at op 2 has described. */
function tableWithSegment(rows: number, surroundings = memorySurroundings()): TableStore {
  const table = new TableStore({
    ...surroundings,
    definition: testTable([testColumn(1, { kind: "i32" })]),
    horizon: { oldestSnapshot: () => Infinity },
  });
  const data = Float64Array.from({ length: rows }, (_unused, row) => (row * 7919) % 1000);
  table.createBatch(op(1), {
    rowCount: rows,
    ids: Float64Array.from({ length: rows }, (_unused, row) => row - 100),
    columns: [{ storageClass: "int", data, nulls: null, big: null }],
  });
  checkpoint(table, 2);
  return table;
}

function checkpoint(table: TableStore, at: number): TablePiece {
  table.freeze(op(at));
  table.compactionStep(Infinity);
  const piece = table.describe();
  for (const file of table.takeUnsynced()) file.close();
  table.manifestInstalled();
  return piece;
}

Deno.test("TableStore.alter() leaves an index of a segment to later steps, and to whoever needs it first", () => {
  const everything = { prefix: [], low: null, high: null, backward: false };
  const indexed = testTable([testColumn(1, { kind: "i32" })], [testIndex(7, [1])]);
  const results: unknown[] = [];
  for (const isRead of [false, true]) {
    const surroundings = memorySurroundings();
    const table = tableWithSegment(20_000, surroundings);
    table.alter(indexed, op(3));
    assertStrict.ok(table.hasIndexWork);
    assertStrict.equal(table.indexStep(1), false);
    if (isRead) table.range(7, everything, 3);
    let steps = 1;
    while (!table.indexStep(1)) steps++;
    assertStrict.ok(isRead ? steps === 1 : steps > 10, `${steps} steps`);
    assertStrict.ok(!table.hasIndexWork);
    const found = drain(table.range(7, everything, 3)).map((location) => table.valueAt(location, 1));
    assertStrict.equal(found.length, 20_000);
    assertStrict.ok(found.every((value, at) => at === 0 || Number(found[at - 1]) <= Number(value)));
    results.push(checkpoint(table, 3));
    table.verify();
    table.close();
  }
  assertStrict.deepEqual(results[0], results[1]);
});

Deno.test("TableStore.alter() forgets an index that is dropped before it was built", () => {
  const surroundings = memorySurroundings();
  const table = tableWithSegment(20_000, surroundings);
  const columns = [testColumn(1, { kind: "i32" })];
  table.alter(testTable(columns, [testIndex(7, [1])]), op(3));
  for (let step = 0; step < 8; step++) table.indexStep(1);
  table.alter(testTable(columns), op(4));
  assertStrict.ok(!table.hasIndexWork);
  assertStrict.deepEqual(surroundings.disk.list("tables"), table.fileNames());
  table.close();
});

Deno.test("TableStore.describe() has the indexes of the frozen op, whatever came and went since, and when", () => {
  const columns = [testColumn(1, { kind: "i32" })];
  const results: TablePiece[] = [];
  for (const pace of ["before", "between", "after"]) {
    const surroundings = memorySurroundings();
    const table = tableWithSegment(500, surroundings);
    table.alter(testTable(columns, [testIndex(7, [1]), testIndex(8, [-1])]), op(3));
    table.create(op(4), 1000, [1]);
    table.freeze(op(4));
    // 7 is dropped and 9 made while the checkpoint is being built.
    const change = () => table.alter(testTable(columns, [testIndex(8, [-1]), testIndex(9, [1])]), op(5));
    if (pace === "before") change();
    table.compactionStep(1);
    if (pace === "between") change();
    while (!table.compactionStep(1));
    results.push(table.describe());
    if (pace === "after") change();
    for (const file of table.takeUnsynced()) file.close();
    table.manifestInstalled();
    const names = surroundings.disk.list("tables");
    assertStrict.ok(names.some((name) => name.endsWith("-7.index")), "the manifest names it");
    table.indexStep(Infinity);
    checkpoint(table, 5);
    table.releaseOldVersions(true);
    checkpoint(table, 6);
    assertStrict.ok(!surroundings.disk.list("tables").some((name) => name.endsWith("-7.index")), pace);
    table.verify();
    table.close();
  }
  assertStrict.deepEqual(results[0]?.segments.map((each) => each.indexes.map(({ indexId }) => indexId)), [[
    7,
    8,
  ], [7, 8]]);
  assertStrict.deepEqual(results[1], results[0]);
  assertStrict.deepEqual(results[2], results[0]);
});

Deno.test("TableStore.releaseOldVersions() keeps what a checkpoint under way has to describe", () => {
  const table = tableWithSegment(100);
  table.freeze(op(2));
  // Replaced after the checkpoint's op; nobody reads the old segment any more.
  table.truncate(op(3));
  table.create(op(4), 1, [1]);
  table.releaseOldVersions(true);
  const piece = table.describe();
  assertStrict.equal(piece.rowCount, 100);
  assertStrict.deepEqual(piece.segments.map((segment) => segment.rows), [100]);
  for (const file of table.takeUnsynced()) file.close();
  table.manifestInstalled();
  table.releaseOldVersions(true);
  assertStrict.equal(table.fileNames().length, 1, "the manifest names the old segment still");
  checkpoint(table, 5);
  table.releaseOldVersions(true);
  assertStrict.deepEqual(table.fileNames(), ["20000-00000000000005-flush.segment"]);
  table.close();
});

Deno.test("TableStore.releaseOldVersions() lets go of the stage's rows in memory while what fills it is open", () => {
  for (const [definition, isStage] of [[STAGE_TABLE, true], [{ ...STAGE_TABLE, id: 7 }, false]] as const) {
    const table = new TableStore({
      ...memorySurroundings(),
      definition,
      horizon: { oldestSnapshot: () => 0, hasReaders: () => true },
    });
    const value = new Uint8Array(STAGE_ROW_BYTES);
    for (let id = 1; id <= 100; id++) table.create(op(1), id, [value]);
    const full = table.memoryBytes;
    assertStrict.ok(full >= 100 * STAGE_ROW_BYTES);
    checkpoint(table, 1);
    table.releaseOldVersions();
    assertStrict.equal(table.memoryBytes < full / 2, isStage);
    assertStrict.deepEqual(table.valueAt(table.find(50, 1), STAGE_COLUMN_ID), value);
    table.close();
  }
});

Deno.test("segmentFilesIn().create() leaves an old file of the name as it is for those who have it", () => {
  const disk = new MemoryDisk();
  const files = segmentFilesIn(disk, "tables");
  files.create("a").writeAt(0, Uint8Array.of(1, 2, 3));
  const old = files.open("a");
  disk.createDirectory("copy");
  disk.link("tables/a", "copy/a");
  files.create("a").writeAt(0, Uint8Array.of(9));
  const bytes = new Uint8Array(3);
  assertStrict.equal(old.readAt(0, bytes), 3);
  assertStrict.deepEqual([...bytes], [1, 2, 3]);
  assertStrict.equal(disk.openFile("copy/a", { create: false, write: false }).size, 3);
  assertStrict.equal(files.open("a").size, 1);
});

Deno.test("TableStore.endReplay() leaves sorting into indexes to steps, between which rows change", () => {
  const rows = 50_000;
  const everything = { prefix: [], low: null, high: null, backward: false };
  for (const change of ["none", "insert", "update", "delete", "batch", "read"] as const) {
    let isReplaying = true;
    const table = new TableStore({
      definition: testTable([testColumn(1, { kind: "i32" })], [testIndex(7, [1])]),
      horizon: { oldestSnapshot: () => Infinity, isReplaying: () => isReplaying },
    });
    for (let id = 1; id <= rows; id++) table.create(op(1), id, [(id * 7919) % rows]);
    for (let id = 10; id < 20; id++) table.delete(op(2), id);
    isReplaying = false;
    table.endReplay();
    let steps = 1;
    while (!table.indexStep(1)) {
      steps++;
      assertStrict.ok(steps < 1000);
      // What comes in batches waits as well.
      if (steps > 10) continue;
      const at = op(2 + steps);
      switch (change) {
        case "insert":
          // Some take the places of those that were deleted.
          table.create(at, rows + steps, [steps]);
          break;
        case "update":
          table.update(at, 1000 + steps, [steps]);
          break;
        case "delete":
          table.delete(at, 2000 + steps);
          break;
        case "batch": {
          const data = Float64Array.of(steps);
          const columns = [{ storageClass: "int" as const, data, nulls: null, big: null }];
          table.createBatch(at, { rowCount: 1, ids: Float64Array.of(rows + steps), columns });
          break;
        }
        case "read":
          assertStrict.equal(drain(table.lookup(7, [7919], at)).length, 1);
      }
    }
    assertStrict.ok(change === "none" ? steps > 20 : steps > 1, `${change}: ${steps} steps`);
    assertStrict.ok(!table.hasIndexWork);
    const found = drain(table.range(7, everything, 1e6)).map((location) =>
      Number(table.valueAt(location, 1))
    );
    assertStrict.equal(found.length, table.rowCount, change);
    assertStrict.ok(found.every((value, at) => at === 0 || (found[at - 1] ?? 0) <= value), change);
    table.close();
  }
});
