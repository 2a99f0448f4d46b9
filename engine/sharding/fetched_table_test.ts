// What has been fetched of a table: single rows first, and then all of it.
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { TestClient } from "../statements/copy/client_for_test.ts";
import { NO_ROW } from "../storage/access/block.ts";
import { FetchedTable } from "./fetched_table.ts";
import type { Wanted } from "./shard_messages.ts";

class Asked {
  readonly wanted: Wanted;

  constructor(wanted: Wanted) {
    this.wanted = wanted;
  }
}

async function tableOfTest(): Promise<FetchedTable> {
  const client = await TestClient.open();
  await client.run("CREATE TABLE t (id INT PRIMARY KEY, a TEXT)");
  const [definition] = client.engine.machine.catalog.tables;
  await client.close();
  if (definition === undefined) throw new Error("no table");
  return new FetchedTable(definition, 10_000_000, (wanted) => {
    throw new Asked(wanted);
  });
}

function fetch(table: FetchedTable, id: number, isThere: boolean): void {
  const wanted = { kind: "id", id } as const;
  if (isThere) table.add({ kind: "rows", ids: [id], rows: [[id, `row ${id}`]] }, wanted);
  table.complete(wanted);
}

function textOf(table: FetchedTable, id: number): unknown {
  const location = table.find(id);
  if (location === NO_ROW) return null;
  strictEqual(table.idAt(location), id);
  return table.valueAt(location, table.definition.columns[1]?.id ?? -1);
}

Deno.test("FetchedTable finds single rows that were fetched, knows of those that are not there, and asks for others", async () => {
  const table = await tableOfTest();
  for (let id = 1; id <= 60; id++) fetch(table, id, id % 3 !== 0);
  for (let id = 1; id <= 60; id++) strictEqual(textOf(table, id), id % 3 === 0 ? null : `row ${id}`);
  throws(() => table.find(61), (thrown) => thrown instanceof Asked && thrown.wanted.kind === "id");
});

Deno.test("FetchedTable keeps single rows when more is fetched, and each row once", async () => {
  const table = await tableOfTest();
  fetch(table, 2, true);
  fetch(table, 2, true);
  fetch(table, 5, false);
  throws(() => table.scan([], { ids: true, prune: [] }), Asked);
  const whole = { kind: "scan", prune: [] } as const;
  table.add({ kind: "rows", ids: [1, 2, 3], rows: [[1, "row 1"], [2, "another"], [3, "row 3"]] }, whole);
  table.complete(whole);
  deepStrictEqual([1, 2, 3, 5].map((id) => textOf(table, id)), ["row 1", "row 2", "row 3", null]);
  strictEqual(table.exactRowCount(), 3);
});
