/** Index files of segments with more rows than are sorted at a time: the same bytes, in bounded memory. */
import assertStrict from "node:assert/strict";
import { equalBytes } from "../../base/bytes.ts";
import { DatabaseError } from "../../base/errors.ts";
import { MemoryDisk } from "../../host/memory_host.ts";
import type { StoredValue } from "../../operations/effect.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { BLOCK_ROWS } from "../access/block.ts";
import { SpillFile } from "../../host/spill_file.ts";
import { IndexKeyEncoder } from "./index_key.ts";
import type { Part } from "./part.ts";
import { segmentFilesIn } from "./segment_files.ts";
import { buildIndexOfSegment } from "./segment_index_builder.ts";
import { seededRandom, testColumn, testIndex, testTable } from "./table_model_test.ts";

const ROWS = BLOCK_ROWS * 2 + 1001;

const random = seededRandom(5);
const numbers = Array.from({ length: ROWS }, () => Math.floor(random() * 3000) - 1000);
const COLUMNS: readonly { readonly type: SqlType; value(row: number): StoredValue }[] = [
  { type: { kind: "i32" }, value: (row) => numbers[row] as number },
  { type: { kind: "i64" }, value: (row) => row % 11 === 0 ? null : (numbers[row] as number) * 1e10 },
  // Of the last run alone is one beyond what a double has.
  { type: { kind: "i64" }, value: (row) => row === ROWS - 5 ? 2n ** 70n : numbers[row] as number },
  {
    type: { kind: "f64" },
    value: (row) => row % 7 === 0 ? NaN : row % 5 === 0 ? -0 : (numbers[row] as number) / 3,
  },
  {
    type: { kind: "text" },
    value: (row) => row % 13 === 0 ? null : `é${numbers[row]}${"x".repeat(row % 90)}`,
  },
];

/** -N: column N, descending. */
const INDEXES = [[1], [-1], [2], [-2], [3], [4], [-4], [5], [1, 5], [5, -1, 2]];

const table = testTable(
  COLUMNS.map(({ type }, index) => testColumn(index + 1, type)),
  INDEXES.map((columns, index) => testIndex(90 + index, columns)),
);
const segment = {
  rowLimit: ROWS,
  valueAt: (row: number, columnId: number) => COLUMNS[columnId - 1]?.value(row) ?? null,
} as unknown as Part;

function build(
  disk: MemoryDisk,
  index: number,
  runRows: number,
  files = segmentFilesIn(disk, "t"),
): Uint8Array {
  const definition = table.indexes[index];
  assertStrict.ok(definition !== undefined);
  const keys = { indexId: definition.id, encoder: new IndexKeyEncoder(table, definition.columns) };
  const steps = buildIndexOfSegment({ tableId: table.id, op: 1, object: 0, keys, files }, segment, runRows);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const { name, size } = step.value.summary;
  const bytes = new Uint8Array(size);
  files.open(name).readAt(0, bytes);
  return bytes;
}

Deno.test("an index that is sorted in runs has the bytes of one that is sorted at once", () => {
  for (let index = 0; index < INDEXES.length; index++) {
    const disk = new MemoryDisk();
    const whole = build(disk, index, ROWS);
    for (const runRows of [5000, ROWS - 1]) {
      assertStrict.ok(
        equalBytes(build(disk, index, runRows), whole),
        `index of ${INDEXES[index]}, ${runRows} rows a run`,
      );
    }
    assertStrict.equal(disk.list("t").length, 1, "runs leave no file");
  }
});

Deno.test("runs that are given up leave no file, on a full disk and in the middle", () => {
  const disk = new MemoryDisk();
  const files = segmentFilesIn(disk, "t");
  const full = {
    ...files,
    temporary: (name: string) => {
      const space = {
        take: () => {
          throw new DatabaseError("53100", "No space left on device");
        },
        give: () => {},
      };
      return new SpillFile(disk, "t", { name, space });
    },
  };
  assertStrict.throws(() => build(disk, 0, 5000, full), { code: "53100" });
  assertStrict.deepEqual(disk.list("t"), []);

  const keys = { indexId: 90, encoder: new IndexKeyEncoder(table, table.indexes[0]?.columns ?? []) };
  const steps = buildIndexOfSegment({ tableId: table.id, op: 1, object: 0, keys, files }, segment, 5000);
  while (disk.list("t").length === 0) assertStrict.equal(steps.next().done, false);
  steps[Symbol.dispose]();
  assertStrict.deepEqual(disk.list("t"), []);
});
