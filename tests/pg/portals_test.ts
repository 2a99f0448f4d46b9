/**
 * A portal that is fetched in pieces answers what was there when it was opened, as drivers with a fetch size expect.
 */
import { deepStrictEqual as same } from "node:assert/strict";
import { bind, concat, message, rowOf } from "../../gateways/pg/testing/wire.ts";
import { openPgDatabase } from "./support/pg_database.ts";
import { RawClient } from "./support/raw_client.ts";

Deno.test("a portal's rows are not those that its transaction writes between two fetches", async () => {
  await using database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  const rows = async (...bytes: Uint8Array[]) => {
    await client.send(concat(...bytes));
    return (await client.until("Z")).filter(({ type }) => type === "D").map((each) => rowOf(each).join(" "));
  };
  const execute = (portal: string, limit: number) => message("E", portal, [4, limit]);
  const query = (sql: string) => message("Q", sql);
  const select = "SELECT id, v FROM t WHERE id BETWEEN 1 AND $1 ORDER BY id";
  await rows(query("CREATE TABLE t (id int PRIMARY KEY, v int)"));
  await rows(query("INSERT INTO t SELECT i, i FROM generate_series(1, 20000) AS g(i)"));
  await rows(query("BEGIN; INSERT INTO t VALUES (0, 0)"));
  const open = [message("P", "s", select, [2, 0]), bind("p", "s", ["4"]), bind("all", "s", ["30000"])];
  same(await rows(...open, execute("p", 2), execute("all", 1), message("S")), ["1 1", "2 2", "1 1"]);
  await rows(query("UPDATE t SET v = -v; DELETE FROM t WHERE id = 4"));
  same(await rows(execute("p", 2), message("S")), ["3 3", "4 4"]);
  same((await rows(execute("all", 0), message("S"))).at(-1), "20000 20000");
  same(await rows(query("SELECT count(*), min(v) FROM t")), ["20000 -20000"]);
});
