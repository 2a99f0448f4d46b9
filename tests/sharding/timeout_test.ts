/** A shard that does not answer: statements end with an error that names it, or go on without its rows. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import type { StatementOutcome } from "../../engine/statements/outcome.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { startHttpServer } from "../../gateways/http/server.ts";
import { openPgDatabase } from "../pg/support/pg_database.ts";
import { DeafShards } from "./deaf_shards.ts";
import postgres from "postgres";
import { failure } from "../support/failure.ts";

async function outcomeOf(
  client: TestClient,
  sql: string,
): Promise<StatementOutcome & { readonly rows: string }> {
  const outcomes: StatementOutcome[] = [];
  const rows = (await client.rows(sql)).join("\n");
  await client.session.simple(sql, new RowBuffer(), (outcome) => outcomes.push(outcome));
  const [outcome] = outcomes;
  ok(outcome);
  return { ...outcome, rows };
}

const SETUP = [
  "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
  "INSERT INTO t SELECT n, n % 10 FROM generate_series(1, 400) n",
  // Has the shards load what runs fragments, which counts to the time that they take.
  "SELECT count(*) FROM t",
];

Deno.test("a shard that does not answer is named by the error, within scatter_timeout", async () => {
  const shards = new DeafShards();
  const client = TestClient.over(await shards.open());
  await client.run(...SETUP, "SET scatter_timeout = 60");
  strictEqual((await client.rows("SHOW scatter_timeout"))[0], "60ms");
  shards.deaf.add(2);
  for (
    const sql of [
      "SELECT count(*) FROM t",
      "SELECT * FROM t ORDER BY a, id LIMIT 3",
      "SELECT id FROM t WHERE a = 3",
    ]
  ) {
    const error = await failure(client.rows(sql));
    strictEqual(error.code, "57014");
    match(error.message, /shard 2 did not answer within 60 ms/);
  }
  shards.deaf.add(0);
  match((await failure(client.rows("SELECT count(*) FROM t"))).message, /shards 0, 2 did not/);
  // The others were told to stop.
  ok(shards.stops.includes(1) || shards.stops.includes(2));
  shards.wake();
  deepStrictEqual(await client.rows("SELECT count(*) FROM t"), ["400"]);
  await client.run("RESET scatter_timeout");
  deepStrictEqual(await client.rows("SELECT count(*) FROM t"), ["400"]);
  await client.close();
});

Deno.test("a LIMIT that the first shards satisfy stops the others", async () => {
  const shards = new DeafShards();
  const client = TestClient.over(await shards.open());
  await client.run(...SETUP);
  const all = await client.rows("SELECT id FROM t LIMIT 1000");
  await client.run("SET scatter_timeout = 200");
  shards.deaf.add(3);
  for (
    const [sql, count] of [["SELECT id FROM t LIMIT 20", 20], [
      "SELECT id FROM t LIMIT 150 OFFSET 3",
      150,
    ]] as const
  ) {
    shards.stops.length = 0;
    const rows = await client.rows(sql);
    deepStrictEqual(rows, all.slice(sql.includes("OFFSET") ? 3 : 0).slice(0, count));
    // Messages go out at the end of the turn.
    await new Promise((resolve) => setTimeout(resolve, 0));
    ok(shards.stops.includes(3));
  }
  await client.run("PREPARE p AS SELECT id FROM t LIMIT $1");
  deepStrictEqual(await client.rows("EXECUTE p(7)"), all.slice(0, 7));
  match((await failure(client.rows("EXECUTE p(399)"))).message, /shard 3 did not answer/);
  shards.wake();
  deepStrictEqual(await client.rows("EXECUTE p(399)"), all.slice(0, 399));
  await client.close();
});

Deno.test("what the router reads itself and commits end within scatter_timeout, too", async () => {
  const shards = new DeafShards();
  const client = TestClient.over(await shards.open());
  await client.run(...SETUP, "CREATE INDEX ON t (a)", "SET scatter_timeout = 150");
  shards.deaf.add(2);
  const late = async (...texts: readonly string[]): Promise<void> => {
    const error = await failure(client.run(...texts));
    strictEqual(error.code, "57014", texts.join());
    match(error.message, /shard 2 did not answer within 150 ms/);
  };
  // A fetch of all rows, by an index, of those of the transaction beside its own, of one row.
  await late("UPDATE t SET a = a + 1");
  await late("DELETE FROM t WHERE a = 3");
  await late("SELECT count(*) FROM t x JOIN t y ON x.id = y.a WHERE x.id = (SELECT max(id) FROM t)");
  await late("BEGIN", "INSERT INTO t VALUES (5000, 1)", "SELECT count(*) FROM t");
  await client.run("ROLLBACK");
  for (const id of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const [route] = (await client.rows(`EXPLAIN SELECT FROM t WHERE id = ${id}`)).slice(-1);
    const isThere = route === "Route: shard 2 of 4 (key)";
    if (isThere) await late(`UPDATE t SET a = 0 WHERE id = ${id}`);
    else strictEqual(await client.run(`UPDATE t SET a = 0 WHERE id = ${id}`), "UPDATE 1");
  }
  // A commit that needs its vote, of rows, of what was read, and of a definition: nothing of it is left.
  await late("CREATE TABLE other (n INT)");
  shards.wake();
  await client.run("BEGIN", "SELECT sum(a) FROM t", "INSERT INTO t VALUES (6000, 1)");
  shards.deaf.add(2);
  await late("COMMIT");
  shards.wake();
  deepStrictEqual(await client.rows("SELECT count(*), count(*) FILTER (WHERE id >= 5000) FROM t"), ["400|0"]);
  strictEqual((await failure(client.rows("SELECT * FROM other"))).code, "42P01");
  // What was asked in vain holds nobody up.
  strictEqual(await client.run("UPDATE t SET a = a + 1"), "UPDATE 400");
  await client.run("CREATE TABLE other (n INT)", "INSERT INTO t VALUES (6000, 1)");
  deepStrictEqual(await client.rows("SELECT count(*) FROM t"), ["401"]);
  await client.close();
});

Deno.test("statement_timeout and cancel end a statement whose shard does not answer", async () => {
  const shards = new DeafShards();
  const client = TestClient.over(await shards.open());
  await client.run(...SETUP);
  shards.deaf.add(1);
  await client.run("SET statement_timeout = 30");
  const late = await failure(client.rows("SELECT sum(a) FROM t"));
  match(late.message, /statement timeout/);
  await client.run("RESET statement_timeout");
  const running = failure(client.rows("SELECT sum(a) FROM t"));
  await new Promise((resolve) => setTimeout(resolve, 5));
  client.session.cancel();
  strictEqual((await running).code, "57014");
  ok(shards.stops.length > 0);
  shards.wake();
  deepStrictEqual(await client.rows("SELECT count(*) FROM t"), ["400"]);
  await client.close();
});

Deno.test("partial_on_timeout answers with what the others have, and says so", async () => {
  const shards = new DeafShards();
  const client = TestClient.over(await shards.open());
  await client.run(...SETUP);
  const [whole] = await client.rows("SELECT count(*) FROM t");
  await client.run("SET scatter_timeout = 40; SET partial_on_timeout = on");
  const full = await outcomeOf(client, "SELECT count(*) FROM t");
  deepStrictEqual([full.rows, full.notices], [whole, []]);
  shards.deaf.add(2);
  const part = await outcomeOf(client, "SELECT count(*) FROM t");
  ok(Number(part.rows) > 200 && Number(part.rows) < 400, part.rows);
  strictEqual(part.notices.length, 1);
  const [notice] = part.notices;
  deepStrictEqual([notice?.severity, notice?.code, notice?.failedShards], ["WARNING", "01000", [2]]);
  match(notice?.message ?? "", /shard 2\b/);
  // Other errors still fail, and so do blocks and statements that change rows.
  strictEqual((await failure(client.rows("SELECT 1 / (a - 3) FROM t"))).code, "22012");
  const inBlock = await failure(client.rows("BEGIN; SELECT count(*) FROM t"));
  strictEqual(inBlock.code, "57014");
  await client.run("ROLLBACK", "CREATE TEMPORARY TABLE own (n INT)");
  strictEqual((await failure(client.run("INSERT INTO own SELECT a FROM t"))).code, "57014");
  shards.wake();
  deepStrictEqual(await client.rows("SELECT count(*) FROM t"), ["400"]);
  await client.close();
});

Deno.test("partial answers over PostgreSQL and HTTP", async () => {
  const shards = new DeafShards();
  const engine = await shards.open();
  const setup = TestClient.over(engine);
  await setup.run(...SETUP);
  // A request has a session of its own, and one with SET in it would be a transaction of several statements.
  const openSession = engine.openSession.bind(engine);
  engine.openSession = (options = {}) =>
    openSession({ ...options, settings: { scatter_timeout: "40", ...options.settings } });
  {
    await using database = await openPgDatabase({ engine });
    const notices: postgres.Notice[] = [];
    const sql = postgres({
      host: "127.0.0.1",
      port: database.port,
      user: "u",
      max: 1,
      onnotice: (each) => notices.push(each),
    });
    await sql`SET partial_on_timeout = on`;
    const http = await startHttpServer({
      engine,
      token: null,
      version: "1",
      address: { hostname: "127.0.0.1", port: 0 },
      onInternalError: (error) => {
        throw error;
      },
    });
    try {
      const ask = async (text: string, headers: Record<string, string>): Promise<[number, unknown]> => {
        const response = await fetch(`http://127.0.0.1:${http.address.port}/v1/sql`, {
          method: "POST",
          body: text,
          headers: { "Content-Type": "text/plain", ...headers },
        });
        return [response.status, await response.json()];
      };
      const partial = { "X-Db-Partial-On-Timeout": "on" };
      const text = "SELECT count(*) FROM t";
      deepStrictEqual(await ask(text, partial), [200, { status: "ok", value: 400 }]);
      shards.deaf.add(3);
      const [row] = await sql`SELECT count(*)::int AS count FROM t`;
      ok(row?.count > 200 && row?.count < 400);
      deepStrictEqual(notices.map(({ code, severity }) => [severity, code]), [["WARNING", "01000"]]);
      const [status, answer] = await ask(text, partial);
      const { value, ...rest } = answer as { readonly value: number };
      strictEqual(status, 200);
      deepStrictEqual([value, rest], [row?.count, { status: "ok", partial: true, failed_shards: [3] }]);
      const [, refused] = await ask(text, {});
      match(JSON.stringify(refused), /shard 3 did not answer within 40 ms","code":"57014"/);
      const [bad] = await ask(text, { "X-Db-Partial-On-Timeout": "maybe" });
      strictEqual(bad, 400);
    } finally {
      shards.wake();
      await sql.end();
      await http.close(0);
    }
  }
});
