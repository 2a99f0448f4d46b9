/** Rows by column: what comes out is what was put in, whatever changes on the way to a block of numbers. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { SqlValue } from "../../types/value.ts";
import { ColumnLists } from "./column_lists.ts";
import type { GatheredBatch } from "./execution.ts";

const COLUMNS = [
  { column: 1, type: { kind: "i64" } },
  { column: 2, type: { kind: "bool" } },
  { column: 3, type: { kind: "text" } },
] as const;

/** The stored form of a row: booleans are numbers. */
function stored(row: readonly SqlValue[]): unknown[] {
  return row.map((value) => typeof value === "boolean" ? Number(value) : value);
}

Deno.test("ColumnLists.take() gives all rows, with numbers in a block as long as there is nothing else", () => {
  for (const odd of [null, 2n ** 60n]) {
    for (const at of [-1, 0, 63, 64, 4095, 4096, 4200]) {
      const batches: GatheredBatch[] = [];
      const lists = new ColumnLists(COLUMNS, (batch) => batches.push(batch));
      const rows = Array.from({ length: 9000 }, (_, row): SqlValue[] => [
        row === at ? odd : row === 7 ? -0 : row * 3,
        row === at ? null : row % 3 === 0,
        row % 50 === 0 ? null : `t${row}`,
      ]);
      for (const row of rows) lists.add(row);
      batches.push(lists.take());
      const found = batches.flatMap(({ rowCount, columns }) =>
        Array.from({ length: rowCount }, (_, row) => columns.map((column) => column[row]))
      );
      deepStrictEqual(found, rows.map(stored), `${odd} at ${at}`);
      const kinds = batches.map(({ columns }) =>
        columns.slice(0, 2).map((each) => each instanceof Float64Array)
      );
      const odds = Math.floor(at / 4096);
      deepStrictEqual(
        kinds,
        [0, 1, 2].map((batch) => at >= 0 && batch === odds ? [false, false] : [true, true]),
      );
      deepStrictEqual(lists.take(), { rowCount: 0, columns: [[], [], []] });
    }
  }
});

Deno.test("ColumnLists sends what its texts make large, and many columns, before there are 4096 rows", () => {
  const sizes: number[] = [];
  const texts = new ColumnLists(COLUMNS, ({ rowCount }) => sizes.push(rowCount));
  for (let row = 0; row < 4096; row++) texts.add([row, true, "x".repeat(1000)]);
  ok(sizes.length > 10 && sizes.every((size) => size < 300), String(sizes));
  const wide = Array.from({ length: 100 }, (_, index) => ({ column: index, type: { kind: "i32" } as const }));
  const numbers = new ColumnLists(wide, ({ rowCount }) => sizes.push(rowCount));
  for (let row = 0; row < 400; row++) numbers.add(wide.map(() => row));
  strictEqual(sizes.at(-1), 328);
});
