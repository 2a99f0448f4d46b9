/** Queries use indexes on expressions and partial indexes when, and only when, they say the same. */
import assert from "node:assert/strict";
import { open } from "../../../mod.ts";

async function planOf(database: Awaited<ReturnType<typeof open>>, sql: string): Promise<string> {
  const rows = await database.query(`EXPLAIN ${sql}`);
  return rows.map((row) => String(Object.values(row)[0])).join("\n");
}

Deno.test("planStatement() reads what indexes on expressions hold", async () => {
  await using database = await open(":memory:");
  await database.query("CREATE TABLE t (id int PRIMARY KEY, email text, a int, b int)");
  await database.query("INSERT INTO t SELECT g, 'U' || g, g, g FROM generate_series(1, 2000) g");
  await database.query("CREATE UNIQUE INDEX by_email ON t (lower(email))");
  await database.query("CREATE INDEX by_sum ON t ((a + b), (a * 2))");
  const cases: readonly (readonly [string, RegExp])[] = [
    ["SELECT id FROM t WHERE lower(email) = 'u7'", /using by_email[^]*lower\(email\) = /],
    ["SELECT id FROM t WHERE upper(email) = 'u7'", /Seq Scan/],
    ["SELECT id FROM t WHERE a + b = 8 AND a * 2 = 8", /using by_sum/],
    ["SELECT id FROM t WHERE a * 3 = 8", /Seq Scan/],
    ["SELECT id FROM t ORDER BY lower(email) LIMIT 2", /using by_email/],
    ["UPDATE t SET b = 1 WHERE lower(email) = 'u7'", /using by_email/],
    ["SELECT max(lower(email)) FROM t", /using by_email/],
    ["SELECT x.id FROM t x, t y WHERE lower(x.email) = y.email AND y.id = 5", /using by_email/],
  ];
  for (const [sql, expected] of cases) assert.match(await planOf(database, sql), expected, sql);
});

Deno.test("planStatement() uses a partial index only where its predicate holds", async () => {
  await using database = await open(":memory:");
  await database.query("CREATE TABLE t (id int PRIMARY KEY, owner int, state text)");
  await database.query(
    "INSERT INTO t SELECT g, g, CASE WHEN g % 2 = 0 THEN 'open' END FROM generate_series(1, 2000) g",
  );
  await database.query("CREATE UNIQUE INDEX open_owner ON t (owner) WHERE state = 'open'");
  assert.match(await planOf(database, "SELECT id FROM t WHERE owner = 4 AND state = 'open'"), /open_owner/);
  assert.match(await planOf(database, "SELECT id FROM t WHERE owner = 4 AND state = 'shut'"), /Seq Scan/);
  assert.match(await planOf(database, "SELECT id FROM t WHERE owner = 4"), /Seq Scan/);
  // One text shape, two meanings: the plan of the first must not serve the second.
  for (const [state, count] of [["open", 1], ["shut", 0], ["open", 1]] as const) {
    const rows = await database.query(`SELECT id FROM t WHERE owner = 4 AND state = '${state}'`);
    assert.equal(rows.length, count);
  }
});
