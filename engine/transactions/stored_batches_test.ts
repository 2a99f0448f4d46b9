/** Batches of a transaction in a file: what is read is what was there, and the file goes with the transaction. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { plainColumn } from "../catalog/definitions.ts";
import { MemoryDisk } from "../host/memory_host.ts";
import type { RowBatch } from "../operations/effect.ts";
import { SpillFile } from "../host/spill_file.ts";
import { BatchBuilder } from "./batch_builder.ts";
import { batchRow, rowOfId } from "./batch_values.ts";
import { BulkWrites } from "./bulk_writes.ts";
import { BatchStore } from "./stored_batches.ts";

const TABLE = {
  id: 16384,
  schema: "public",
  name: "t",
  columns: [
    plainColumn(1, "a", { kind: "i64" }),
    plainColumn(2, "b", { kind: "text" }),
    plainColumn(3, "c", { kind: "f64" }),
    plainColumn(4, "d", { kind: "bytea" }),
  ],
  nextColumnId: 5,
  rowIdColumn: null,
  constraints: [],
  indexes: [],
  triggers: [],
  options: {},
  comment: null,
} as const;

function batchOf(first: number, count: number): RowBatch {
  const builder = new BatchBuilder(TABLE);
  const values = [
    [2n ** 63n - 1n, "ä\u0000😀", NaN, new Uint8Array([0, 255])],
    [null, null, null, null],
    [-(2 ** 53) + 1, "", -0, new Uint8Array(0)],
  ];
  for (let row = 0; row < count; row++) {
    for (const [position, value] of (values[row % 3] ?? []).entries()) builder.setStored(position, value);
    builder.rowCount++;
  }
  return builder.take(Float64Array.from({ length: count }, (_, row) => first + row * 2));
}

Deno.test("BatchStore gives batches back as they were, in any order, until the transaction ends", () => {
  const disk = new MemoryDisk();
  disk.createDirectory("db");
  const store = new BatchStore(() => new SpillFile(disk, "db"));
  const one = { ended: [] as (() => void)[] }, two = { ended: [] as (() => void)[] };
  const batches = [batchOf(-100, 50), batchOf(1, 1), batchOf(1000, 16_384)];
  const stored = batches.map((batch) => store.storeFor(one, batch));
  const other = store.storeFor(two, batchOf(7, 3));
  strictEqual(disk.list("db").length, 2);
  for (const at of [2, 0, 1, 2, 2]) {
    const [left, right] = [stored[at], batches[at]];
    ok(left !== undefined && right !== undefined);
    strictEqual(left.rowCount, right.rowCount);
    for (const row of [0, 1, 2, right.rowCount - 1]) {
      if (row < right.rowCount) deepStrictEqual(batchRow(left, row), batchRow(right, row));
    }
    strictEqual(rowOfId(left, right.ids[right.rowCount - 1] as number), right.rowCount - 1);
    strictEqual(rowOfId(left, -1), -1);
    // Whoever copies a batch gets its arrays.
    deepStrictEqual({ ...left }.ids, right.ids);
  }
  for (const end of one.ended) end();
  strictEqual(disk.list("db").length, 1);
  deepStrictEqual(batchRow(other, 2), batchRow(batchOf(7, 3), 2));
  for (const end of two.ended) end();
  deepStrictEqual(disk.list("db"), []);
});

Deno.test("A batch has arrays of its size, and the builder begins anew with its own", () => {
  const builder = new BatchBuilder(TABLE);
  for (const count of [3, 2]) {
    for (let row = 0; row < count; row++) {
      for (const [position, value] of [7, "text", null, new Uint8Array(9)].entries()) {
        builder.setStored(position, row === 1 ? null : value);
      }
      builder.rowCount++;
    }
    const { columns } = builder.take(new Float64Array(count));
    const bytes = columns.flatMap((column) => [
      ...("data" in column ? [column.data] : [column.offsets, column.bytes]),
      ...(column.nulls === null ? [] : [column.nulls]),
    ]).reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
    strictEqual(bytes, 2 * 8 * count + 2 * 4 * (count + 1) + (count - 1) * (4 + 9) + 4 * count);
  }
});

Deno.test("A transaction that writes little takes no memory for much", () => {
  const nothing = () => {};
  const owner = {
    ...{ mayKeep: () => true, mayCreate: () => true },
    ...{ setBegan: nothing, batchCame: nothing, rowsCame: nothing },
  };
  const before = Deno.memoryUsage().external;
  const kept = Array.from({ length: 100 }, () => new BulkWrites(owner));
  ok(Deno.memoryUsage().external - before < 100 * 1024);
  for (const each of kept) each.end();
});
