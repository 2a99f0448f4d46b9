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

Deno.test("DISCARD drops temporary tables beside another's open DDL, and with its own block", async () => {
  await using database = await open(":memory:");
  const engine = engineOf(database);
  const session = engine.openSession(), rival = engine.openSession();
  await run(session, "CREATE TEMP TABLE t AS SELECT 1 AS x");
  await run(rival, "BEGIN; CREATE TABLE other (x int)");
  await run(session, "DISCARD ALL");
  await assert.rejects(run(session, "SELECT * FROM t"), { code: "42P01" });
  await run(session, "CREATE TEMP TABLE t AS SELECT 2 AS x");
  await run(session, "BEGIN; DISCARD TEMP");
  await assert.rejects(run(session, "SELECT * FROM t"), { code: "42P01" });
  await run(session, "ROLLBACK");
  assert.deepEqual(await run(session, "SELECT * FROM t"), [[2]]);
  for (const each of [rival, session]) each.close();
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

Deno.test("temporary tables are made, altered and dropped beside another transaction's DDL", async () => {
  const folder = await Deno.makeTempDir({ prefix: "temporary-" });
  try {
    {
      await using database = await open(folder);
      const engine = engineOf(database);
      const owner = engine.openSession(), other = engine.openSession();
      await run(owner, "CREATE TYPE mood AS ENUM ('good'); CREATE TABLE t (x int); INSERT INTO t VALUES (1)");
      await run(owner, "BEGIN; CREATE TABLE u (x int PRIMARY KEY); INSERT INTO u VALUES (1); SAVEPOINT s");
      await run(owner, "CREATE TABLE gone (x int); INSERT INTO gone VALUES (1)");
      // What others may change is still waited for.
      await run(other, "SET lock_timeout = '20ms'");
      for (
        const sql of [
          "CREATE TEMP TABLE a (x mood)",
          "CREATE TEMP TABLE a (x int CHECK (x::text <> 'good'::mood::text))",
          "CREATE TEMP VIEW a AS SELECT x FROM t",
          "CREATE TABLE a (x int)",
          "ALTER TABLE t ADD COLUMN y int",
        ]
      ) await assert.rejects(run(other, sql), { code: "55P03" }, sql);
      await run(
        other,
        "BEGIN; CREATE TEMP TABLE a (x serial PRIMARY KEY, y text DEFAULT 'd' CHECK (y <> ''))",
      );
      await run(other, "INSERT INTO a DEFAULT VALUES; SAVEPOINT s; CREATE TEMP TABLE b AS SELECT 1 AS one");
      await run(
        other,
        "ROLLBACK TO s; CREATE TEMP TABLE c AS SELECT 'c' AS c; ALTER TABLE a ADD COLUMN z int DEFAULT 7",
      );
      await run(other, "CREATE INDEX ON a (z); INSERT INTO a VALUES (5, 'e'); COMMIT");
      assert.deepEqual(await run(owner, "SELECT x FROM u"), [[1]]);
      await run(owner, "ROLLBACK TO s; ALTER TABLE u ADD COLUMN y int DEFAULT 3; DROP TABLE t");
      await assert.rejects(run(other, "SELECT * FROM b"), { code: "42P01" });
      await run(
        other,
        "BEGIN ISOLATION LEVEL READ COMMITTED; DROP TABLE c; CREATE TEMP TABLE d (x int REFERENCES a) ON COMMIT DROP; INSERT INTO d VALUES (5)",
      );
      await run(owner, "COMMIT");
      assert.deepEqual(await run(owner, "SELECT * FROM u"), [[1, 3]]);
      assert.deepEqual(await run(other, "SELECT a.*, u.y FROM a JOIN d USING (x), u"), [[5, "e", 7, 3]]);
      await run(other, "SAVEPOINT s; DROP TABLE d");
      await run(owner, "ALTER TABLE u DROP COLUMN y; ALTER TABLE u ADD COLUMN y int DEFAULT 4");
      await run(other, "ROLLBACK TO s");
      assert.deepEqual(await run(other, "SELECT a.*, u.y FROM a JOIN d USING (x), u"), [[5, "e", 7, 4]]);
      await run(other, "ROLLBACK; BEGIN; DROP TABLE a; CREATE TEMP TABLE e (x int) ON COMMIT DROP");
      await run(owner, "BEGIN; CREATE TABLE v (x int)");
      await run(other, "COMMIT");
      await run(owner, "INSERT INTO v VALUES (4); COMMIT");
      assert.deepEqual(await run(other, "SELECT * FROM c"), [["c"]]);
      const { catalog } = engine.machine;
      assert.deepEqual(catalog.tables.map(({ name }) => name).sort(), ["c", "u", "v"]);
      const ids = [...catalog.schemas, ...catalog.tables, ...catalog.enums, ...catalog.sequences].map((
        { id },
      ) => id);
      assert.equal(new Set(ids).size, ids.length);
      owner.close();
    }
    await using database = await open(folder);
    assert.deepEqual(engineOf(database).machine.catalog.tables.map(({ name }) => name).sort(), ["u", "v"]);
    assert.deepEqual(await database.query("SELECT u.x, y, v.x AS z FROM u, v"), [{ x: 1, y: 4, z: 4 }]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
