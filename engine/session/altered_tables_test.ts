/** Tables that are altered or dropped while a statement runs that will write to them. */
import { match, ok, rejects, strictEqual } from "node:assert/strict";
import { type DatabaseError, open } from "../../mod.ts";
import { engineOf } from "./database.ts";

Deno.test("a statement whose table is altered before it writes is compiled anew", async () => {
  await using database = await open(":memory:");
  await database.execute(
    "CREATE TABLE source (n INT); INSERT INTO source SELECT generate_series(1, 200000)",
  );
  const insert = "INSERT INTO t (a, b) SELECT n, n FROM source WHERE n % 7 = 0 ORDER BY n DESC";
  for (
    const [change, expected] of [
      ["ALTER TABLE t DROP COLUMN b", /^42703 column "b"/],
      ["ALTER TABLE t ADD COLUMN c INT NOT NULL DEFAULT 5", /^ok 28571$/],
      ["ALTER TABLE t ALTER COLUMN b TYPE text", /^(ok 28571|42804 .*)$/],
      ["DROP TABLE t", /^42P01 relation "t" does not exist/],
      ["TRUNCATE t", /^ok 28571$/],
    ] as const
  ) {
    await database.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (a INT, b INT)");
    const writing = database.execute(insert).then(
      ({ rowCount }) => `ok ${rowCount}`,
      (error: DatabaseError) => `${error.code} ${error.message}`,
    );
    await database.execute(change);
    match(await writing, expected, change);
  }
  strictEqual((await database.query("SELECT 1 AS one"))[0]?.one, 1);
});

Deno.test("a cursor that comes to a table which is gone ends as a conflict", async () => {
  await using database = await open(":memory:");
  await database.execute(
    "CREATE TABLE first AS SELECT generate_series(1, 5000) AS n; CREATE TABLE t (n INT)",
  );
  await database.transaction(async (reader) => {
    await reader.execute("DECLARE c CURSOR FOR SELECT n FROM first UNION ALL SELECT n FROM t");
    strictEqual((await reader.query("FETCH 2 FROM c")).length, 2);
    await database.execute("DROP TABLE t");
    await rejects(reader.query("FETCH ALL FROM c"), { code: "40001" });
  }).catch((error: DatabaseError) => match(error.message, /rolled back after/));
});

Deno.test("a snapshot from before a key came is not read by it", async () => {
  await using database = await open(":memory:");
  await database.execute("CREATE TABLE t (k INT); INSERT INTO t VALUES (7), (8), (1)");
  await database.transaction(async (reader) => {
    strictEqual((await reader.query("SELECT count(*) AS n FROM t WHERE k = 7"))[0]?.n, 1);
    await database.execute("ALTER TABLE t ADD PRIMARY KEY (k)");
    await rejects(reader.query("SELECT * FROM t WHERE k = 7"), /could not serialize/);
  }).catch((error: DatabaseError) => match(error.message, /rolled back after/));
  strictEqual((await database.query("SELECT k FROM t WHERE k = 7"))[0]?.k, 7);
});

Deno.test("rows whose ids are a new key already are left where they are", async () => {
  await using database = await open(":memory:");
  const { storage } = engineOf(database);
  const rows = Array.from({ length: 5000 }, (_, index) => index + 1);
  for (
    const [keys, moves] of [
      [rows, false],
      [rows.with(4999, 5001), true],
      [rows.with(0, 4999).with(4998, 1), true],
    ] as const
  ) {
    await database.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (k BIGINT, a TEXT)");
    await database.execute("INSERT INTO t SELECT k, 'row ' || k FROM unnest($1::bigint[]) AS k", [keys]);
    await database.execute("DELETE FROM t WHERE k = 17");
    const before = storage.log.appendedBytes;
    await database.execute("ALTER TABLE t ADD PRIMARY KEY (k)");
    strictEqual(storage.log.appendedBytes - before > 5000, moves);
    await rejects(database.execute("INSERT INTO t VALUES (5, 'twice')"), /duplicate key/);
    await database.execute("INSERT INTO t VALUES (17, 'anew'), (6000, 'more')");
    strictEqual((await database.query("SELECT a FROM t WHERE k = 4000"))[0]?.a, "row 4000");
    strictEqual((await database.query("SELECT count(*) AS n FROM t WHERE rowid = k"))[0]?.n, 5001);
  }
});

Deno.test("rows that are looked at in no time do not ask the clock each", async () => {
  await using database = await open(":memory:");
  await database.execute("CREATE TABLE t (k INT); INSERT INTO t SELECT generate_series(1, 5000)");
  const { now } = performance;
  let asked = 0;
  performance.now = () => (asked++, now.call(performance));
  try {
    await database.execute("ALTER TABLE t ALTER k SET NOT NULL");
  } finally {
    performance.now = now;
  }
  ok(asked < 1000, `asked ${asked} times`);
});
