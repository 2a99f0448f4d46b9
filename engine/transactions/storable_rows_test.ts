/** Rows that a bug of the executor might bring are refused before anything is written. */
import { deepStrictEqual as same, throws } from "node:assert/strict";
import { open } from "../../mod.ts";
import { engineOf } from "../session/database.ts";
import type { RowBatch, StoredValue } from "../operations/effect.ts";
import { requireStorableBatch, requireStorableRow } from "./storable_rows.ts";

function batchOf(a: readonly number[], n: readonly number[], f: readonly number[]): RowBatch {
  const int = (values: readonly number[]) =>
    ({ storageClass: "int", data: Float64Array.from(values), nulls: null, big: null }) as const;
  const texts = { offsets: new Uint32Array(a.length + 1), bytes: new Uint8Array(), nulls: null };
  return {
    rowCount: a.length,
    ids: Float64Array.from(a, (_, index) => index + 1),
    columns: [int(a), int(n), { storageClass: "float", data: Float64Array.from(f), nulls: null }, {
      storageClass: "text",
      ...texts,
    }],
  };
}

Deno.test("requireStorableRow() and requireStorableBatch() name the column and its type", async () => {
  await using database = await open(":memory:");
  await database.query("CREATE TABLE k (a int, n numeric(4, 2), f real, t text)");
  const table = engineOf(database).machine.catalog.tables.find(({ name }) => name === "k");
  if (table === undefined) throw new Error("the table is there");
  const refused: readonly (readonly [StoredValue[], RegExp])[] = [
    [[4294967294, 0, 0, ""], /Cannot store 4294967294 in column "a" of relation "k": .* type integer/],
    [[-2147483649, 0, 0, ""], /column "a"/],
    [[0.5, 0, 0, ""], /column "a"/],
    [[0, 10000, 0, ""], /column "n" of relation "k": .* type numeric\(4,2\)/],
    [[0, 0, 0.1, ""], /column "f"/],
    [[0, 0, 16777217, ""], /column "f"/],
    [[0, 0, -16777217, ""], /column "f"/],
    [[0, 0, 0, 7], /Cannot store 7 in column "t"/],
  ];
  for (const [row, message] of refused) {
    throws(() => requireStorableRow(table, row), { code: "XX000", message });
    if (typeof row[3] !== "string") continue;
    const [a, n, f] = row as number[];
    const batch = batchOf([1, a ?? 0], [2, n ?? 0], [0.5, f ?? 0]);
    throws(() => requireStorableBatch(table, batch), { code: "XX000", message });
  }
  requireStorableRow(table, [-2147483648, -9999, Math.fround(0.1), "ü"]);
  requireStorableRow(table, [2147483647, 9999, 16777216, ""]);
  requireStorableRow(table, [null, null, null, null]);
  requireStorableBatch(table, batchOf([2147483647], [9999], [NaN]));
  same(await database.query("SELECT * FROM k"), []);
});
