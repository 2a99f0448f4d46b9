/** Temporary tables belong to one session and go with it. */
import assert from "node:assert/strict";
import { open } from "../../mod.ts";
import { engineOf } from "./database.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import type { Session } from "./session.ts";

async function run(session: Session, sql: string): Promise<readonly (readonly unknown[])[]> {
  const sink = new RowBuffer();
  await session.simple(sql, sink, () => {});
  return sink.rows;
}

Deno.test("temporary tables of two sessions have one name and different rows", async () => {
  await using database = await open(":memory:");
  const engine = engineOf(database);
  const first = engine.openSession(), second = engine.openSession(), third = engine.openSession();
  await run(first, "CREATE TABLE t (x int); INSERT INTO t VALUES (0)");
  await run(first, "CREATE TEMP TABLE t (x int); INSERT INTO t VALUES (1)");
  await run(second, "CREATE TEMP TABLE t (x int, y int); INSERT INTO t VALUES (2, 3)");
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await run(first, "SELECT * FROM t"), [[1]]);
    assert.deepEqual(await run(second, "SELECT * FROM t"), [[2, 3]]);
    assert.deepEqual(await run(third, "SELECT * FROM t"), [[0]]);
  }
  await assert.rejects(run(third, "SELECT * FROM pg_temp.t"), { code: "42P01" });
  first.close();
  assert.deepEqual(
    engine.machine.catalog.schemas.map((schema) => schema.name).filter((name) => /temp/.test(name)),
    [
      second.temporarySchema,
    ],
  );
  second.close();
  assert.equal(engine.machine.catalog.tables.length, 1);
  assert.deepEqual(await run(third, "SELECT * FROM t"), [[0]]);
  third.close();
});

Deno.test("temporary tables of a session whose end met another's DDL go with a later session", async () => {
  await using database = await open(":memory:");
  const engine = engineOf(database);
  const first = engine.openSession(), second = engine.openSession();
  await run(first, "CREATE TEMP TABLE t (x serial); INSERT INTO t DEFAULT VALUES");
  await run(second, "BEGIN; CREATE TABLE u (x int)");
  first.close();
  await run(second, "COMMIT");
  second.close();
  const { catalog } = engine.machine;
  assert.deepEqual(catalog.tables.map((table) => table.name), ["u"]);
  assert.equal(catalog.sequences.length, 0);
  assert.ok(catalog.schemas.every((schema) => !schema.name.startsWith("pg_temp")));
});
