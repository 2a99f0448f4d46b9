/** More rows in one transaction than a call of JavaScript has room for arguments. */
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { openShards } from "../sharding/sharded_database.ts";

const ROWS = 300_000;

Deno.test("a statement over shards changes and takes away hundreds of thousands of rows", async () => {
  await using database = await openShards(2);
  await database.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT)");
  await database.execute(`INSERT INTO t SELECT n, n % 7 FROM generate_series(1, ${ROWS}) n`);
  strictEqual((await database.execute("UPDATE t SET v = v + 1")).rowCount, ROWS);
  strictEqual((await database.execute("DELETE FROM t WHERE id > 9")).rowCount, ROWS - 9);
  const [row] = await database.query("SELECT count(*)::int AS n, sum(v)::int AS sum FROM t");
  deepStrictEqual({ ...row }, { n: 9, sum: 1 + 2 + 3 + 4 + 5 + 6 + 7 + 1 + 2 + 3 - 1 });
});

Deno.test("a block finds hundreds of thousands of its own rows by an index", async () => {
  const client = await TestClient.open();
  await client.run("CREATE TABLE t (id INT PRIMARY KEY, k INT)");
  await client.run("CREATE INDEX ON t (k)");
  await client.run("BEGIN");
  await client.copyIn(
    "COPY t FROM STDIN",
    Array.from({ length: ROWS }, (_, n) => `${n + 1}\t${n % 2}\n`).join(""),
  );
  for (
    const [condition, count] of [["k = 0", ROWS / 2], ["k >= 0 AND k < 9", ROWS], [
      "id > 5",
      ROWS - 5,
    ]] as const
  ) {
    deepStrictEqual(await client.rows(`SELECT count(*)::int FROM t WHERE ${condition}`), [String(count)]);
  }
  await client.run("ROLLBACK");
});
