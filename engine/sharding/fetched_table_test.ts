// What has been fetched of a table: single rows first, and then all of it; and what it says is missing.
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { TestClient } from "../statements/copy/client_for_test.ts";
import { NO_ROW } from "../storage/access/block.ts";
import { FetchedTable } from "./fetched_table.ts";
import { type Point, pointKey, PointList } from "./points.ts";
import type { Wanted } from "./shard_messages.ts";

/** A table that stops by what it asks for. */
class Asked {
  readonly wanted: Wanted;

  constructor(wanted: Wanted) {
    this.wanted = wanted;
  }
}

const BOUNDS = { prefix: [], low: { value: 3, inclusive: true }, high: null, backward: false };

async function tableOfTest(missed: Point[] = []): Promise<FetchedTable> {
  const client = await TestClient.open();
  await client.run("CREATE TABLE t (id INT PRIMARY KEY, a TEXT UNIQUE)");
  const [definition] = client.engine.machine.catalog.tables;
  await client.close();
  if (definition === undefined) throw new Error("no table");
  return new FetchedTable(definition, 10_000_000, {
    fetch: (_, wanted) => {
      throw new Asked(wanted);
    },
    miss: (_, point) => missed.push(point),
  });
}

function fetch(table: FetchedTable, point: Point, rows: readonly number[]): void {
  const list = new PointList();
  list.add(point);
  const ids = [...rows];
  table.add({ kind: "rows", ids, rows: ids.map((id) => [id, `row ${id}`]) }, list.points);
  table.know([pointKey(point)]);
}

function textOf(table: FetchedTable, id: number): unknown {
  const location = table.find(id);
  if (location === NO_ROW) return null;
  strictEqual(table.idAt(location), id);
  return table.valueAt(location, table.definition.columns[1]?.id ?? -1);
}

Deno.test("FetchedTable finds single rows that were fetched, knows of those that are not there, and tells of others", async () => {
  const missed: Point[] = [];
  const table = await tableOfTest(missed);
  for (let id = 1; id <= 60; id++) fetch(table, { kind: "id", id }, id % 3 === 0 ? [] : [id]);
  for (let id = 1; id <= 60; id++) strictEqual(textOf(table, id), id % 3 === 0 ? null : `row ${id}`);
  deepStrictEqual(missed, []);
  strictEqual(textOf(table, 61), null);
  deepStrictEqual(missed, [{ kind: "id", id: 61 }]);
});

Deno.test("FetchedTable looks up keys and ranges that were fetched, and takes others to be free", async () => {
  const missed: Point[] = [];
  const table = await tableOfTest(missed);
  const indexId = table.definition.indexes[0]?.id ?? -1;
  fetch(table, { kind: "id", id: 1 }, [1]);
  const location = table.find(1);
  // A row that has been found stays where it is, whatever is missed then.
  strictEqual(table.lookup(indexId, ["row 2"]).next(), NO_ROW);
  strictEqual(table.mayHave(null, BOUNDS), false);
  strictEqual(table.idAt(location), 1);
  deepStrictEqual(missed, [{ kind: "lookup", indexId, key: ["row 2"] }, {
    kind: "any",
    indexId: null,
    bounds: BOUNDS,
  }]);
  fetch(table, { kind: "lookup", indexId, key: ["row 2"] }, [2]);
  fetch(table, { kind: "lookup", indexId, key: ["row 9"] }, []);
  fetch(table, { kind: "any", indexId: null, bounds: BOUNDS }, [7]);
  strictEqual(table.idAt(table.lookup(indexId, ["row 2"]).next()), 2);
  strictEqual(table.lookup(indexId, ["row 9"]).next(), NO_ROW);
  strictEqual(table.mayHave(null, BOUNDS), true);
  strictEqual(missed.length, 2);
});

Deno.test("pointKey() tells keys apart, and takes equal ones for the same", () => {
  const keys = [[1], ["1"], [1n], [null], [new Uint8Array([1])], ["a|s1:b"], ["a", "b"], ["", null], [
    null,
    "",
  ]];
  const texts = keys.map((key) => pointKey({ kind: "lookup", indexId: 7, key }));
  strictEqual(new Set(texts).size, keys.length);
  strictEqual(
    pointKey({ kind: "lookup", indexId: 7, key: [-0] }),
    pointKey({ kind: "lookup", indexId: 7, key: [0] }),
  );
});

Deno.test("FetchedTable keeps single rows when more is fetched, and each row once", async () => {
  const table = await tableOfTest();
  fetch(table, { kind: "id", id: 2 }, [2]);
  fetch(table, { kind: "id", id: 2 }, [2]);
  fetch(table, { kind: "id", id: 5 }, []);
  throws(() => table.scan([], { ids: true, prune: [] }), (thrown) => thrown instanceof Asked);
  const whole = { kind: "scan", prune: [] } as const;
  table.add({ kind: "rows", ids: [1, 2, 3], rows: [[1, "row 1"], [2, "another"], [3, "row 3"]] }, whole);
  table.complete(whole);
  deepStrictEqual([1, 2, 3, 5].map((id) => textOf(table, id)), ["row 1", "row 2", "row 3", null]);
  strictEqual(table.exactRowCount(), 3);
});
