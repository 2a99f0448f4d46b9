/** Tests of segments: every encoding over several blocks, pruning, damage, determinism, the cache and statistics. */
import assertStrict from "node:assert/strict";
import { DatabaseError } from "../../base/errors.ts";
import { MemoryDisk } from "../../host/memory_host.ts";
import type { RowId, StoredRow, StoredValue } from "../../operations/effect.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { type Block, BLOCK_ROWS } from "../access/block.ts";
import type { ZonePredicate } from "../access/readable_table.ts";
import type { Vector } from "../access/vector.ts";
import { shapeName, shapeOf } from "../access/vector_shape.ts";
import { BlockCache } from "./block_cache.ts";
import { planMerge } from "./compaction_policy.ts";
import { segmentFilesIn } from "./segment_files.ts";
import {
  compareStored,
  drain,
  memorySurroundings,
  op,
  seededRandom,
  testColumn,
  testIndex,
  testTable,
  vectorValue,
} from "./table_model_test.ts";
import { Decimal } from "../../types/decimal.ts";
import { encodeValueBytes } from "../../types/value_codec.ts";
import type { TablePiece } from "./table_piece.ts";
import { TableStore } from "./table_store.ts";

const ROWS = BLOCK_ROWS * 3 + 17;
const never = { oldestSnapshot: () => Infinity };

interface ColumnCase {
  readonly name: string;
  readonly type: SqlType;
  readonly signature: string;
  readonly value: (row: number, random: () => number) => StoredValue;
}

const CASES: readonly ColumnCase[] = [
  {
    name: "i8",
    type: { kind: "i32" },
    signature: "i8",
    value: (_row, random) => Math.floor(random() * 200) - 100,
  },
  { name: "u8", type: { kind: "i32" }, signature: "u8", value: (_row, random) => Math.floor(random() * 256) },
  {
    name: "i16",
    type: { kind: "i32" },
    signature: "i16",
    value: (_row, random) => Math.floor(random() * 60000) - 30000,
  },
  {
    name: "u16",
    type: { kind: "i32" },
    signature: "u16",
    value: (_row, random) => Math.floor(random() * 65536),
  },
  {
    name: "i32",
    type: { kind: "i32" },
    signature: "i32",
    value: (_row, random) => Math.floor((random() - 0.5) * 4e9),
  },
  {
    name: "u32",
    type: { kind: "u32" },
    signature: "u32",
    value: (_row, random) => Math.floor(random() * 4294967296),
  },
  {
    name: "large",
    type: { kind: "i64" },
    signature: "f64",
    value: (_row, random) => Math.floor((random() - 0.5) * 1e15),
  },
  {
    name: "frame of large",
    type: { kind: "i64" },
    signature: "f64",
    value: (row) => 7e14 + (row * 31) % 250 + row,
  },
  {
    name: "sequence",
    type: { kind: "i64" },
    signature: "i32",
    value: (row) => row * (row < 5000 ? 1 : 2) + 70000,
  },
  { name: "runs", type: { kind: "i64" }, signature: "f64", value: (row) => Math.floor(row / 500) * 1e12 },
  {
    name: "nulls",
    type: { kind: "i32" },
    signature: "i16n",
    value: (row) => row % 7 === 0 ? null : row % 3000,
  },
  {
    name: "one null",
    type: { kind: "i32" },
    signature: "i8n",
    value: (row) => row === 9000 ? null : row % 100,
  },
  {
    name: "big",
    type: { kind: "i64" },
    signature: "f64nb",
    value: (row) => row % 11 === 0 ? null : row % 13 === 0 ? -(2n ** 70n) - BigInt(row) : row,
  },
  { name: "single", type: { kind: "f32" }, signature: "f32", value: (_row, random) => Math.fround(random()) },
  {
    name: "double",
    type: { kind: "f64" },
    signature: "f64",
    value: (row, random) => row === 3 ? NaN : row === 4 ? -0 : random() - 0.5,
  },
  { name: "constant", type: { kind: "i32" }, signature: "const", value: () => 42 },
  { name: "all NULL", type: { kind: "text" }, signature: "constn", value: () => null },
  { name: "constant text", type: { kind: "text" }, signature: "const", value: () => "same" },
  { name: "dictionary", type: { kind: "text" }, signature: "dict8", value: (row) => `city ${row % 50}` },
  {
    name: "wide dictionary",
    type: { kind: "text" },
    signature: "dict16n",
    value: (row) => row % 5 === 0 ? null : `näme ${row % 700}`,
  },
  { name: "texts", type: { kind: "text" }, signature: "bytes", value: (row, random) => `${random()}-${row}` },
  {
    name: "ascending texts",
    type: { kind: "text" },
    signature: "bytesn",
    value: (row) => row % 9 === 0 ? null : `key ${String(row).padStart(9, "0")}`,
  },
  {
    name: "bytes",
    type: { kind: "bytea" },
    signature: "bytesn",
    value: (row) => row % 4 === 0 ? null : Uint8Array.of(row & 255, row >> 8),
  },
];
const CASE_COLUMNS = CASES.map((item, index) => testColumn(index + 1, item.type));

function caseRow(row: number, random: () => number): StoredRow {
  return CASES.map((item) => item.value(row, random));
}

function build(table: TableStore, at: number): void {
  table.freeze(op(at));
  while (!table.buildStep(1 << 16));
  table.releaseOldVersions();
}

Deno.test("Segment keeps every kind of column over several blocks, with one signature each", () => {
  for (
    const idOf of [
      (row: number): RowId => row + 5,
      (row: number): RowId => row * 3,
      (row: number): RowId => row < 9000 ? row : 2n ** 60n + BigInt(row),
    ]
  ) {
    const random = seededRandom(7);
    const table = new TableStore({
      definition: testTable(CASE_COLUMNS, [testIndex(50, [9]), testIndex(51, [21])]),
      horizon: never,
      ...memorySurroundings(),
    });
    const rows = Array.from({ length: ROWS }, (_unused, row) => caseRow(row, random));
    // In another order than by id.
    for (let index = 0; index < ROWS; index++) {
      const row = (index * 7919) % ROWS;
      table.create(op(index + 1), idOf(row), rows[row] ?? []);
    }
    build(table, ROWS + 1);
    assertStrict.deepEqual([table.layout().segments, table.layout().frozenDeltas], [1, 0]);
    const reader = table.at(op(ROWS + 1));
    let seen = 0;
    const cursor = reader.scan(CASE_COLUMNS.map((column) => column.id), { ids: true, prune: [] });
    for (let block: Block | null = cursor.next(); block !== null; block = cursor.next()) {
      block.columns.forEach((vector, index) => {
        const [signature] = shapeName(shapeOf(vector)).split("[");
        assertStrict.equal(signature, CASES[index]?.signature, CASES[index]?.name ?? "");
      });
      for (let at = 0; at < block.rowCount; at++) {
        const row = seen + at;
        assertStrict.ok(block.ids !== null);
        assertStrict.equal(vectorValue(block.ids, at, false), idOf(row));
        block.columns.forEach((vector, index) => {
          const actual = vectorValue(vector, at, CASES[index]?.type.kind !== "bytea");
          const expected = rows[row]?.[index] ?? null;
          if (vector.kind === "number" && vector.span !== undefined && expected !== null) {
            const { low, high } = vector.span;
            assertStrict.ok(
              Number(expected) >= low && Number(expected) <= high,
              `${expected} in ${vector.span.name}`,
            );
          }
          if (compareStored(actual, expected) !== 0) {
            assertStrict.deepEqual(actual, expected, `${CASES[index]?.name} of row ${row}`);
          }
        });
      }
      seen += block.rowCount;
    }
    assertStrict.equal(seen, ROWS);
    for (let attempt = 0; attempt < 500; attempt++) {
      const row = Math.floor(random() * ROWS);
      const location = reader.find(idOf(row));
      assertStrict.ok(location >= 0);
      assertStrict.equal(reader.idAt(location), idOf(row));
      for (let index = 0; index < CASES.length; index++) {
        assertStrict.equal(compareStored(reader.valueAt(location, index + 1), rows[row]?.[index] ?? null), 0);
      }
      const id = idOf(row);
      assertStrict.equal(reader.find(typeof id === "number" ? id + 0.5 : id + 2n ** 62n), -1);
      const found = drain(reader.lookup(51, [rows[row]?.[20] ?? null]));
      assertStrict.deepEqual(found.map((item) => reader.idAt(item)), [id]);
    }
    const bounds = {
      prefix: [],
      low: { value: 74000, inclusive: false },
      high: { value: 90000, inclusive: true },
      backward: false,
    };
    assertStrict.deepEqual(
      drain(reader.range(50, bounds)).map((location) => reader.valueAt(location, 9)),
      rows.map((row) => row[8] ?? null).filter((value) => Number(value) > 74000 && Number(value) <= 90000),
    );
    table.close();
  }
});

Deno.test("Segment scans skip only blocks without a matching row", () => {
  const random = seededRandom(3);
  const table = new TableStore({ definition: testTable(CASE_COLUMNS), horizon: never });
  const rows = Array.from({ length: ROWS }, (_unused, row) => caseRow(row, random));
  rows.forEach((row, id) => table.create(op(id + 1), id, row));
  build(table, ROWS + 1);
  let skipped = 0;
  const operators = ["=", "<", "<=", ">", ">=", "is null", "is not null"] as const;
  for (let index = 0; index < CASES.length; index++) {
    for (const operator of operators) {
      const value = rows[Math.floor(random() * ROWS)]?.[index] ?? null;
      const predicate: ZonePredicate = { columnId: index + 1, operator, value };
      let wanted = 0;
      for (const row of rows) if (holds(row[index] ?? null, operator, value)) wanted++;
      let found = 0;
      let blocks = 0;
      const cursor = table.scan([index + 1], { ids: false, prune: [predicate] }, ROWS + 1);
      for (let block = cursor.next(); block !== null; block = cursor.next()) {
        blocks++;
        for (let at = 0; at < block.rowCount; at++) {
          const vector: Vector | undefined = block.columns[0];
          assertStrict.ok(vector !== undefined);
          if (holds(vectorValue(vector, at, CASES[index]?.type.kind !== "bytea"), operator, value)) found++;
        }
      }
      assertStrict.equal(found, wanted, `${CASES[index]?.name} ${operator} ${value}`);
      skipped += 4 - blocks;
    }
  }
  assertStrict.ok(skipped > 50, `${skipped} blocks skipped`);
});

function holds(left: StoredValue, operator: ZonePredicate["operator"], right: StoredValue): boolean {
  if (operator === "is null") return left === null;
  if (operator === "is not null") return left !== null;
  if (left === null || right === null) return false;
  const order = compareStored(left, right);
  switch (operator) {
    case "=":
      return order === 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

/** A table with a few segments and deletions; the slices of work differ with `slice`. */
function workload(disk: MemoryDisk, slice: number, oldest: () => number): TableStore {
  const random = seededRandom(11);
  const table = new TableStore({
    definition: testTable([testColumn(1, { kind: "i32" }), testColumn(2, { kind: "text" })], [
      testIndex(60, [1]),
      testIndex(61, [2, -1]),
    ]),
    horizon: { oldestSnapshot: oldest },
    files: segmentFilesIn(disk, "t"),
    cache: new BlockCache(1 << 20),
  });
  let at = 0;
  const live = new Set<number>();
  let next = 1;
  for (let checkpoint = 0; checkpoint < 14; checkpoint++) {
    for (let step = 0; step < 700; step++) {
      at++;
      const id = Math.floor(random() * next);
      const values = [Math.floor(random() * 1000), `text ${Math.floor(random() * 5000)}`];
      if (random() < 0.5 || live.size === 0) {
        table.create(op(at), next, values);
        live.add(next++);
      } else if (!live.has(id)) continue;
      else if (random() < 0.7) table.update(op(at), id, values);
      else {
        table.delete(op(at), id);
        live.delete(id);
      }
      if (step % 50 === 49) {
        table.compactionStep(slice);
        table.releaseOldVersions();
      }
    }
    table.freeze(op(at));
    assertStrict.ok(
      table.layout().segments + table.layout().frozenDeltas <= 8,
      "parts that a point read probes",
    );
  }
  while (!table.compactionStep(slice));
  table.describe();
  for (const file of table.takeUnsynced()) file.close();
  table.manifestInstalled();
  return table;
}

function contents(disk: MemoryDisk): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const name of disk.list("t")) {
    const file = disk.openFile(`t/${name}`, { create: false, write: false });
    const bytes = new Uint8Array(file.size);
    file.readAt(0, bytes);
    files.set(name, bytes);
  }
  return files;
}

Deno.test("TableStore writes the same bytes whenever its work is done and whoever reads", () => {
  const left = new MemoryDisk();
  const right = new MemoryDisk();
  workload(left, 1 << 13, () => Infinity).releaseOldVersions();
  const reading = { snapshot: 1 };
  const other = workload(right, 1 << 30, () => reading.snapshot);
  reading.snapshot = Infinity;
  other.releaseOldVersions();
  const a = contents(left);
  const b = contents(right);
  assertStrict.deepEqual([...a.keys()], [...b.keys()]);
  assertStrict.ok(a.size > 4);
  for (const [name, bytes] of a) assertStrict.deepEqual(bytes, b.get(name), name);
});

Deno.test("TableStore never serves damaged data and names the file and offset", () => {
  const random = seededRandom(5);
  const disk = new MemoryDisk();
  const table = workload(disk, 1 << 30, () => Infinity);
  const piece = table.describe();
  const options = () => ({
    definition: table.definition,
    horizon: never,
    files: segmentFilesIn(disk, "t"),
    cache: new BlockCache(1 << 20),
  });
  const everything = (store: TableStore): string => {
    const reader = store.at(op(1e6));
    const bounds = { prefix: [], low: null, high: null, backward: false };
    return [
      ...drain(reader.findRange(bounds)),
      ...drain(reader.range(60, bounds)),
      ...drain(reader.range(61, bounds)),
    ].map((location) =>
      `${reader.idAt(location)},${reader.valueAt(location, 1)},${reader.valueAt(location, 2)}`
    ).join(";");
  };
  const healthy = everything(TableStore.restore(piece, options()));
  let found = 0;
  for (const name of disk.list("t")) {
    const file = disk.openFile(`t/${name}`, { create: false, write: true });
    for (let attempt = 0; attempt < 25; attempt++) {
      const position = Math.floor(random() * file.size);
      const byte = new Uint8Array(1);
      file.readAt(position, byte);
      file.writeAt(position, Uint8Array.of((byte[0] ?? 0) ^ (1 << Math.floor(random() * 8))));
      try {
        assertStrict.equal(
          everything(TableStore.restore(piece, options())),
          healthy,
          `${name} at ${position}`,
        );
        // Padding, or a part that nothing above reads.
        assertStrict.doesNotThrow(() => TableStore.restore(piece, options()));
      } catch (error) {
        assertStrict.ok(error instanceof DatabaseError, String(error));
        assertStrict.equal(error.code, "XX001");
        assertStrict.match(error.message, new RegExp(`${name}" is damaged at byte offset \\d+`));
        found++;
      }
      file.writeAt(position, byte);
    }
    const size = file.size;
    const last = new Uint8Array(1);
    file.readAt(size - 1, last);
    file.truncate(size - 1);
    assertStrict.throws(() => TableStore.restore(piece, options()), { code: "XX001" });
    file.writeAt(size - 1, last);
  }
  assertStrict.ok(found > 50, `${found} damages found`);
});

Deno.test("TableStore.restore() reads of an index file what tells whose it is, and the rest at its first use", () => {
  const disk = new MemoryDisk();
  const table = workload(disk, 1 << 30, () => Infinity);
  const files = segmentFilesIn(disk, "t");
  const read = new Map<string, number>();
  const opened = TableStore.restore(table.describe(), {
    definition: table.definition,
    horizon: never,
    cache: new BlockCache(1 << 20),
    files: {
      ...files,
      open: (name) => {
        const file = files.open(name);
        const readAt = file.readAt.bind(file);
        file.readAt = (position, target) => {
          read.set(name, (read.get(name) ?? 0) + target.length);
          return readAt(position, target);
        };
        return file;
      },
    },
  });
  const bytesOf = (pattern: RegExp) =>
    [...read].filter(([name]) => pattern.test(name)).map(([, bytes]) => bytes);
  const indexes = bytesOf(/\.index$/);
  assertStrict.ok(indexes.length > 1);
  assertStrict.ok(indexes.every((bytes) => bytes === 64), `${indexes} bytes of index files`);
  const all = { prefix: [], low: null, high: null, backward: false };
  assertStrict.equal(drain(opened.at(op(1e6)).range(60, all)).length, opened.rowCount);
  assertStrict.ok(bytesOf(/-60\.index$/).every((bytes) => bytes > 64));
  assertStrict.ok(bytesOf(/-61\.index$/).every((bytes) => bytes === 64));
});

Deno.test("BlockCache stays within its bound and a table larger than it works", () => {
  const disk = new MemoryDisk();
  const cache = new BlockCache(40_000);
  const table = new TableStore({
    definition: testTable([testColumn(1, { kind: "i64" }), testColumn(2, { kind: "text" })], [
      testIndex(70, [1]),
    ]),
    horizon: never,
    files: segmentFilesIn(disk, "t"),
    cache,
  });
  const count = BLOCK_ROWS * 5;
  const valueOf = (id: number) => (id * 2654435761) % 1e9;
  for (let id = 0; id < count; id++) table.create(op(id + 1), id * 2, [valueOf(id), `text of ${id}`]);
  build(table, count + 1);
  const random = seededRandom(9);
  for (let round = 0; round < 300; round++) {
    const id = Math.floor(random() * count);
    const location = table.find(id * 2, count + 1);
    assertStrict.equal(table.valueAt(location, 1), valueOf(id));
    assertStrict.equal(table.valueAt(location, 2), `text of ${id}`);
    assertStrict.deepEqual(drain(table.lookup(70, [valueOf(id)], count + 1)), [location]);
    assertStrict.ok(cache.bytes <= cache.limitBytes, `${cache.bytes}`);
    if (round % 100 === 0) {
      let rows = 0;
      const cursor = table.scan([1, 2], { ids: false, prune: [] }, count + 1);
      for (let block = cursor.next(); block !== null; block = cursor.next()) rows += block.rowCount;
      assertStrict.equal(rows, count);
    }
  }
  table.close();
  assertStrict.equal(cache.bytes, 0);
});

Deno.test("TableStore.lookup() finds nothing for a key that its segments' Bloom filters let pass by mistake", () => {
  const table = new TableStore({
    definition: testTable([testColumn(1, { kind: "i32" })], [testIndex(71, [1])]),
    horizon: never,
  });
  const count = BLOCK_ROWS + 100;
  for (let id = 0; id < count; id++) table.create(op(id + 1), id, [id * 2]);
  build(table, count + 1);
  for (let key = -1; key <= count * 2; key++) {
    const found = drain(table.lookup(71, [key], count + 1)).map((row) => table.valueAt(row, 1));
    assertStrict.deepEqual(found, key % 2 === 0 && key < count * 2 ? [key] : []);
  }
});

Deno.test("TableStore.statistics() of segments estimates distinct values within a factor of two", () => {
  const table = new TableStore({
    definition: testTable([
      testColumn(1, { kind: "i32" }),
      testColumn(2, { kind: "text" }),
      testColumn(3, { kind: "i32" }),
    ]),
    horizon: never,
  });
  const count = 30_000;
  for (let id = 0; id < count; id++) {
    table.create(op(id + 1), id, [id, `name ${(id * 17) % 3000}`, id % 10 === 0 ? null : 5]);
    if (id === 10_000 || id === 20_000) build(table, id + 1);
  }
  build(table, count + 1);
  for (const [columnId, distinct] of [[1, count], [2, 3000], [3, 1]] as const) {
    const estimate = table.statistics(columnId)?.distinct ?? 0;
    assertStrict.ok(
      estimate >= distinct / 2 && estimate <= distinct * 2,
      `column ${columnId}: ${estimate} for ${distinct}`,
    );
  }
  assertStrict.ok(Math.abs((table.statistics(3)?.nullFraction ?? 0) - 0.1) < 0.01);
  assertStrict.deepEqual([table.statistics(1)?.minimum, table.statistics(1)?.maximum], [0, count - 1]);
});

Deno.test("planMerge() keeps few segments with logarithmic write amplification", () => {
  let segments: { key: string; rows: number; liveRows: number }[] = [];
  let written = 0;
  const flushes = 2000;
  for (let flush = 0; flush < flushes; flush++) {
    segments.push({ key: `${flush}`, rows: 1000, liveRows: 1000 });
    written += 1000;
    const chosen = planMerge(segments);
    if (chosen !== null) {
      const rows = segments.filter((item) => chosen.includes(item.key)).reduce(
        (sum, item) => sum + item.liveRows,
        0,
      );
      segments = segments.filter((item) => !chosen.includes(item.key));
      segments.push({ key: `m${flush}`, rows, liveRows: rows });
      written += rows;
    }
    assertStrict.ok(segments.length <= 5);
  }
  assertStrict.ok(written / (flushes * 1000) < 14, `each row is written ${written / (flushes * 1000)} times`);
  assertStrict.deepEqual(planMerge([{ key: "half dead", rows: 10_000, liveRows: 4000 }]), ["half dead"]);
});

Deno.test("TableStore builds the indexes of a bulk load in slices, as a reader would see them", () => {
  const random = seededRandom(21);
  const count = 40_000;
  const data = Float64Array.from({ length: count }, () => Math.floor(random() * 5000));
  const table = new TableStore({
    definition: testTable([testColumn(1, { kind: "i32" }), testColumn(2, { kind: "i32" })], [
      testIndex(90, [-1]),
      testIndex(91, [1, 2]),
    ]),
    horizon: never,
  });
  const nulls = Uint8Array.from({ length: count }, () => random() < 0.1 ? 1 : 0);
  table.createBatch(op(1), {
    rowCount: count,
    ids: Float64Array.from({ length: count }, (_unused, index) => count - index),
    columns: [
      { storageClass: "int", data, nulls, big: null },
      { storageClass: "int", data: data.map((value) => value % 7), nulls: null, big: null },
    ],
  });
  build(table, 2);
  const loaded = new TableStore({ definition: table.definition, horizon: never });
  for (let row = 0; row < count; row++) {
    const value = nulls[row] === 1 ? null : data[row] ?? null;
    loaded.create(op(1), count - row, [value, (data[row] ?? 0) % 7]);
  }
  for (const indexId of [90, 91]) {
    const bounds = { prefix: [], low: null, high: null, backward: false };
    assertStrict.deepEqual(
      drain(table.range(indexId, bounds, 2)).map((row) => table.idAt(row)),
      drain(loaded.range(indexId, bounds, 2)).map((row) => loaded.idAt(row)),
    );
  }
});

Deno.test("TableStore builds again after a disk that was full", () => {
  const disk = new MemoryDisk();
  const files = segmentFilesIn(disk, "t");
  let full = true;
  const table = new TableStore({
    definition: testTable([testColumn(1, { kind: "i32" })]),
    horizon: never,
    files: {
      ...files,
      create: (name) => {
        if (full) throw new DatabaseError("53100", "could not write: No space left on device");
        return files.create(name);
      },
    },
  });
  for (let id = 0; id < 100; id++) table.create(op(id + 1), id, [id]);
  table.freeze(op(100));
  assertStrict.throws(() => table.buildStep(1 << 20), { code: "53100" });
  assertStrict.equal(table.valueAt(table.find(7, 100), 1), 7);
  full = false;
  assertStrict.ok(table.buildStep(1 << 20));
  table.releaseOldVersions();
  assertStrict.deepEqual(table.layout().segments, 1);
  assertStrict.equal(table.valueAt(table.find(7, 100), 1), 7);
});

Deno.test("TableStore reads and writes the example of docs/segments.md", () => {
  const page = Deno.readTextFileSync(new URL("../../../docs/segments.md", import.meta.url));
  const piece = JSON.parse(/```json\n([^`]+)```/.exec(page)?.[1] ?? "") as TablePiece;
  const surroundings = memorySurroundings();
  const example = [...page.matchAll(/`(20000-[^`]+)`\. [^`]*(?:`abc`[^`]*)?```hex\n([^`]+)```/g)];
  assertStrict.equal(example.length, 3);
  const written = new Map<string, Uint8Array>();
  for (const [, name, dump] of example) {
    const bytes = (dump ?? "").split("\n").flatMap((line) =>
      line.slice(6).split(" ").filter((item) => item !== "")
    );
    written.set(name ?? "", Uint8Array.from(bytes, (item) => parseInt(item, 16)));
    surroundings.files.create(name ?? "").writeAt(0, written.get(name ?? "") ?? new Uint8Array(0));
  }
  const definition = testTable([testColumn(1, { kind: "i32" }), testColumn(2, { kind: "text" })], [
    testIndex(21000, [1]),
  ]);
  const restored = TableStore.restore(piece, { definition, horizon: never, ...surroundings });
  const rows = drain(restored.range(21000, { prefix: [], low: null, high: null, backward: true }, 4));
  assertStrict.deepEqual(
    rows.map((
      row,
    ) => [restored.idAt(row), restored.valueAt(row, 1), restored.valueAt(row, 2), restored.versionOp(row)]),
    [[3, 300, "c", 3], [1, 70, "ab", 1]],
  );
  const again = memorySurroundings();
  const table = new TableStore({ definition, horizon: never, ...again });
  table.create(op(1), 1, [70, "ab"]);
  table.create(op(2), 2, [-5, null]);
  table.create(op(3), 3, [300, "c"]);
  build(table, 3);
  table.delete(op(4), 2);
  build(table, 4);
  assertStrict.deepEqual(JSON.parse(JSON.stringify(table.describe())), piece);
  for (const [name, bytes] of written) {
    const file = again.files.open(name);
    const actual = new Uint8Array(file.size);
    file.readAt(0, actual);
    assertStrict.deepEqual(actual, bytes, name);
  }
});

Deno.test("TableStore orders indexes of types with an order of their own", () => {
  const texts = ["10.50", "-3", "2", "1e-5", "NaN", "10.5000001", "-1e40", "0", "99999999999999999999.5"];
  const sorted = ["-1e40", "-3", "0", "1e-5", "2", "10.50", "10.5000001", "99999999999999999999.5", "NaN"];
  const table = new TableStore({
    definition: testTable([testColumn(1, { kind: "numeric" })], [testIndex(80, [1]), testIndex(81, [-1])]),
    horizon: never,
  });
  texts.forEach((text, id) =>
    table.create(op(id + 1), id, [encodeValueBytes({ kind: "numeric" }, Decimal.fromString(text))])
  );
  for (let round = 0; round < 2; round++) {
    const bounds = { prefix: [], low: null, high: null, backward: false };
    const order = (indexId: number) =>
      drain(table.range(indexId, bounds, 99)).map((row) => texts[Number(table.idAt(row))]);
    assertStrict.deepEqual(order(80), sorted);
    assertStrict.deepEqual(order(81), sorted.toReversed());
    build(table, 99);
  }
});
