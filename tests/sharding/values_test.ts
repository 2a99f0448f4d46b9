/** Subqueries in conditions are computed before, and run with their condition where the rows are. */
import { match, ok, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { Shard } from "../../engine/sharding/shard.ts";
import type { ShardReply } from "../../engine/sharding/shard_messages.ts";
import { ShardPort } from "../../engine/sharding/shard_port.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { openShardedEngine } from "./sharded_database.ts";

const SETUP = [
  "CREATE TABLE t (id INT PRIMARY KEY, a INT, n NUMERIC, e DOUBLE PRECISION, f TEXT, k TIMESTAMPTZ, y BYTEA, l INT[])",
  "CREATE INDEX ta ON t (a)",
  "INSERT INTO t SELECT i, i % 50, i / 7.0, i * 0.5, 'f' || i % 30, timestamptz '2024-01-01Z' + i * interval '1 hour', " +
  "decode('0' || i % 10, 'hex'), ARRAY[i % 3] FROM generate_series(1, 2000) i",
  "INSERT INTO t VALUES (-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (-2, 2147483647, 'NaN', 'NaN', 'é', 'infinity', '', '{}'), " +
  "(-3, -2147483648, 1e30, '-0', '', '-infinity', NULL, '{NULL}')",
  "CREATE TABLE empty (x INT)",
  "ANALYZE",
];

const QUERIES = [
  "SELECT count(*) FROM t WHERE a > (SELECT avg(a) FROM t WHERE a < 1000)",
  "SELECT id FROM t WHERE n = (SELECT max(n) FROM t) ORDER BY id",
  "SELECT id FROM t WHERE n = (SELECT min(n) FROM t) ORDER BY id",
  "SELECT id FROM t WHERE e IS NOT DISTINCT FROM (SELECT max(e) FROM t) ORDER BY id",
  'SELECT id FROM t WHERE f = (SELECT max(f COLLATE "C") FROM t) ORDER BY id',
  "SELECT id FROM t WHERE k >= (SELECT max(k) FROM t) ORDER BY id",
  "SELECT count(*) FROM t WHERE y = (SELECT y FROM t WHERE id = 7)",
  "SELECT count(*) FROM t WHERE l = (SELECT l FROM t WHERE id = 7)",
  "SELECT count(*) FROM t WHERE a = (SELECT x FROM empty LIMIT 1)",
  "SELECT count(*) FROM t WHERE a > coalesce((SELECT max(x) FROM empty), 30)",
  "SELECT id FROM t WHERE id = (SELECT max(id) FROM t) OR a = (SELECT max(a) FROM t) ORDER BY id",
  "SELECT f, count(*) FROM t WHERE a BETWEEN (SELECT min(a) FROM t WHERE a > 3) AND (SELECT count(*) FROM empty) + 9 GROUP BY f ORDER BY f",
  "SELECT id, (SELECT max(id) FROM t) FROM t WHERE a = (SELECT max(a) FROM t WHERE a < (SELECT avg(a) FROM t WHERE a < 50)) ORDER BY id LIMIT 4",
  "SELECT count(*) FROM t p JOIN t q ON p.id = q.a WHERE p.n > (SELECT avg(n) FROM t WHERE id BETWEEN 1 AND 20)",
  "SELECT count(*) FROM t WHERE a > (SELECT 1 / (count(*) - 2003) FROM t)",
  "SELECT count(*) FROM t WHERE a > (SELECT avg(u.a) FROM t u WHERE u.id < t.id AND u.id < 5)",
  "SELECT count(*) FROM t WHERE a > (SELECT max(a) FROM t WHERE a < 40) AND a < 2 + (SELECT random() * 0 FROM empty LIMIT 1)",
  "SELECT count(*) FROM t WHERE a IN (SELECT max(a) FROM t UNION SELECT 3)",
  "SELECT count(*) FROM t WHERE EXISTS (SELECT FROM empty) OR a > (SELECT max(a) - 3 FROM t WHERE a < 60)",
  // The form of values in JSON is the session's, or asks the catalog.
  "SELECT a, json_agg(k ORDER BY id) FROM t GROUP BY a ORDER BY a",
  "SELECT a, jsonb_object_agg(id, ROW(k, e) ORDER BY id) FROM t GROUP BY a ORDER BY a",
  "SELECT a, json_agg(CASE WHEN id > 0 THEN 't'::regclass END ORDER BY id) FROM t GROUP BY a ORDER BY a",
  "WITH x AS MATERIALIZED (SELECT max(a) AS m FROM t WHERE a < 50) SELECT count(*) FROM t WHERE a = (SELECT max(m) FROM x)",
];

async function answer(client: TestClient, sql: string): Promise<string> {
  let rows: readonly string[] = [];
  const failure = await client.failure((async () => {
    rows = await client.rows(sql);
  })());
  return failure === "no error" ? rows.join("\n") : failure;
}

Deno.test("conditions with subqueries answer as without shards, and travel", async () => {
  const alone = TestClient.over(await Engine.open({ host: memoryHost(), directory: ":memory:" }));
  let rows = 0;
  const client = TestClient.over(
    await openShardedEngine(4, async (options) => {
      const shard = await Shard.open({
        ...options,
        host: memoryHost(),
        send: (replies) => {
          for (const reply of replies) {
            const { value } = reply as ShardReply;
            if (typeof value === "object" && value !== null && "rowCount" in value) rows += value.rowCount;
          }
          port.receive(replies);
        },
      });
      const port = new ShardPort((requests) => shard.receive(requests));
      return port;
    }),
  );
  for (const each of [alone, client]) await each.run(...SETUP);
  for (const sql of QUERIES) strictEqual(await answer(client, sql), await answer(alone, sql), sql);
  for (const each of [alone, client]) {
    await each.run("BEGIN", "SAVEPOINT s", "UPDATE t SET a = 49 WHERE id < 40");
  }
  for (const sql of QUERIES) strictEqual(await answer(client, sql), await answer(alone, sql), sql);
  for (const each of [alone, client]) await each.run("ROLLBACK");
  rows = 0;
  await client.rows(QUERIES[0] ?? "");
  ok(rows <= 8, `${rows} rows travel`);
  const plan = (await client.rows(`EXPLAIN ${QUERIES[1]}`)).join("\n");
  match(plan, /SubPlan/);
  const prepared =
    "PREPARE p (int, numeric) AS SELECT count(*) FROM t WHERE a > $1 AND n < (SELECT max(n) FROM t WHERE n < $2)";
  for (const each of [alone, client]) await each.run(prepared);
  for (const given of ["3, 90", "NULL, 5", "49, 0"]) {
    strictEqual(
      await answer(client, `EXECUTE p (${given})`),
      await answer(alone, `EXECUTE p (${given})`),
      given,
    );
  }
  for (const each of [alone, client]) await each.close();
});
