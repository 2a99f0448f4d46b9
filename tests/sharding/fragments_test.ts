/** What runs at shards: the answers are those without shards, and no more rows travel than must. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import type { ShardReply } from "../../engine/sharding/shard_messages.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { DatabaseError } from "../../mod.ts";
import { lateShards, openShardedEngine, watchedShards } from "./sharded_database.ts";

const SETUP = [
  "CREATE TABLE t (id INT PRIMARY KEY, a INT, b BIGINT, c NUMERIC(10,2), d NUMERIC, e DOUBLE PRECISION, f TEXT, g BOOL, " +
  "h DATE, i INTERVAL, j BYTEA, k TIMESTAMPTZ, l SMALLINT[], m CHAR(5))",
  "CREATE INDEX ta ON t (a)",
  "CREATE INDEX tf ON t (f DESC, a)",
  "INSERT INTO t SELECT n, n % 17, n::bigint * 100000000000, n / 7.0, n / 3.0, n * 0.5, 'text ' || n % 23, n % 3 = 0, " +
  "date '2024-01-01' + n, n * interval '1 hour', decode('ab', 'hex'), " +
  "timestamptz '2024-01-01 00:00Z' + n * interval '1 minute', ARRAY[n, n % 3]::smallint[], 'c' || n % 5 " +
  "FROM generate_series(1, 400) n",
  "INSERT INTO t (id) VALUES (1000), (1001)",
  "INSERT INTO t (id, b, d, e, f) VALUES (2000, 9223372036854775807, 'NaN', 'NaN', 'é'), " +
  "(2001, 9223372036854775807, 1e30, '-0', ''), (2002, -9223372036854775808, 0.00, 'Infinity', 'É')",
  "CREATE TABLE empty (x INT, y TEXT)",
];

/** Each query with the rows that may travel at most; null: as many as there are. */
const QUERIES: readonly (readonly [text: string, rows: number | null])[] = [
  ["SELECT count(*) FROM t", 4],
  [
    "SELECT count(*), sum(a), sum(b), sum(c), sum(d), min(a), max(f), min(i), max(l), min(m) FROM t WHERE id < 2000",
    4,
  ],
  ["SELECT avg(a), avg(b), avg(c), avg(d), avg(e), avg(i), sum(e) FROM t WHERE id < 2000", 4],
  ["SELECT sum(b), sum(d), avg(d), max(d), min(d) FROM t", 4],
  ["SELECT sum(e), max(e), min(e), max(b), min(b) FROM t WHERE id >= 1000", 4],
  [
    "SELECT variance(a), stddev(b), var_pop(c), stddev_pop(d), round(variance(e)::numeric, 6) FROM t WHERE id < 2000",
    4,
  ],
  ["SELECT bool_and(g), bool_or(g), bit_or(a), bit_and(a), bit_xor(l[1]) FROM t", 4],
  ["SELECT count(*), sum(x), min(y), bool_and(x > 1), avg(x), variance(x) FROM empty", 4],
  ["SELECT y, count(*) FROM empty GROUP BY y", 0],
  ["SELECT f, count(*), sum(a) FROM t GROUP BY f ORDER BY f", 110],
  ["SELECT a, f, count(*), avg(c) FROM t GROUP BY GROUPING SETS ((a), (f), ()) ORDER BY a, f", null],
  ["SELECT a, g, count(*), grouping(a, g) FROM t GROUP BY ROLLUP (a, g) ORDER BY a, g, 4", null],
  [
    "SELECT a % 3, m, sum(b) FROM t WHERE b > 0 AND id < 2000 GROUP BY 1, 2 HAVING count(*) > 2 ORDER BY 1, 2",
    null,
  ],
  ["SELECT sum(a) FILTER (WHERE g), count(*) FILTER (WHERE a > 3), count(a) FROM t", 4],
  ["SELECT id, f FROM t ORDER BY f, id LIMIT 7 OFFSET 3", 40],
  ["SELECT id, f, a FROM t WHERE a > 3 ORDER BY f DESC NULLS LAST, a, id LIMIT 5", 20],
  ["SELECT id FROM t ORDER BY id DESC LIMIT 5", 20],
  ["SELECT id, e FROM t ORDER BY e DESC, id LIMIT 4", 16],
  ["SELECT id, b FROM t ORDER BY b NULLS FIRST, id", null],
  ["SELECT id, e FROM t ORDER BY e DESC NULLS LAST, id", null],
  ["SELECT id, d FROM t ORDER BY d DESC, id DESC", null],
  ["SELECT id, f, m FROM t ORDER BY f, m DESC NULLS FIRST, id", null],
  ["SELECT id FROM t ORDER BY g, a % 3 DESC, i, l NULLS FIRST, id", null],
  ["SELECT id FROM t ORDER BY upper(f) DESC NULLS LAST, -a, id OFFSET 17", null],
  ["SELECT max(id), min(id) FROM t", 8],
  ["SELECT count(*) FROM (SELECT id FROM t LIMIT 30) x", 120],
  ["SELECT count(*) FROM (SELECT id FROM t LIMIT 9223372036854775807 OFFSET 3) x", null],
  ["SELECT id FROM t ORDER BY a, id LIMIT 9223372036854775806 OFFSET 390", null],
  ["SELECT * FROM t WHERE id = 33", 1],
  ["SELECT * FROM t WHERE id = 330000", 0],
  ["SELECT f, id FROM t WHERE a = 5 ORDER BY id", 30],
  ["SELECT f || 'x', a * 2 FROM t WHERE g AND id < 20 ORDER BY id", 6],
  ["SELECT a + 1 FROM t WHERE f >= 'text 9' AND f < 'u' ORDER BY f DESC, a, id", null],
  ["SELECT id FROM t WHERE id BETWEEN 10 AND 15", 6],
  ["SELECT id FROM t WHERE id IN (1, 5, 9, 700) ORDER BY id", 3],
  ["SELECT DISTINCT a FROM t ORDER BY a", 80],
  ["SELECT DISTINCT f, g FROM t ORDER BY f, g", null],
  ["SELECT DISTINCT ON (a) a, id FROM t ORDER BY a, id", null],
  ["SELECT count(DISTINCT a), sum(DISTINCT a), count(DISTINCT f) FROM t", null],
  ["SELECT string_agg(f, ',' ORDER BY id), array_agg(a ORDER BY id DESC) FROM t WHERE id < 9", 8],
  ["SELECT id FROM t WHERE a = (SELECT max(a) FROM t) ORDER BY id LIMIT 3", null],
  ["SELECT id, (SELECT count(*) FROM t u WHERE u.a = t.a) FROM t WHERE id < 5 ORDER BY id", null],
  ["SELECT id FROM t WHERE EXISTS (SELECT FROM t u WHERE u.id = t.a) AND id < 30 ORDER BY id", null],
  ["SELECT t.id, u.id FROM t JOIN t u ON t.a = u.id WHERE t.id < 40 ORDER BY 1", null],
  [
    "SELECT u.m, count(*), sum(t.b) FROM t LEFT JOIN t u ON t.a = u.id WHERE t.id < 90 GROUP BY 1 ORDER BY 1",
    null,
  ],
  ["SELECT rank() OVER (ORDER BY a, id), id FROM t WHERE id < 10 ORDER BY id", 9],
  ["SELECT id FROM t UNION SELECT a FROM t ORDER BY 1 LIMIT 10", null],
  [
    "WITH x AS (SELECT a, count(*) AS n FROM t GROUP BY a) SELECT * FROM x p JOIN x q USING (n) ORDER BY 1, 2, 3",
    null,
  ],
  [
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT t.id * 2 FROM r JOIN t ON t.id = r.n) SELECT * FROM r",
    null,
  ],
  ["SELECT id, h, i, j, k, l FROM t WHERE h < '2024-01-05' ORDER BY id", 3],
  ["SELECT count(*) FROM t WHERE k > now() AND k < 'infinity'", null],
  [
    "SELECT upper(f), md5(f), f LIKE '%t 1%', coalesce(a, -1), CASE WHEN g THEN 1 END FROM t WHERE id > 390 ORDER BY id",
    null,
  ],
  ["SELECT id FROM t WHERE b + b > 0 ORDER BY id", null],
  ["SELECT 1 / (a - 3) FROM t WHERE id < 10 ORDER BY id", null],
  ["SELECT sum(a + 2147483647) FROM t", null],
  ["SELECT a::smallint * 30000::smallint FROM t WHERE id < 9", null],
  ["SELECT sum(b * 10) FROM t WHERE id < 9", 4],
  ["SELECT f::int FROM t WHERE id = 7", null],
  ["SELECT id FROM t LIMIT -1", null],
  ["SELECT c::numeric(3, 2) FROM t WHERE id < 100", null],
  ["SELECT m || '|', m = 'c1', f::varchar(3) FROM t WHERE id < 5 ORDER BY id", 4],
];

async function answer(client: TestClient, sql: string): Promise<string> {
  try {
    return (await client.rows(sql)).join("\n");
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

/** Counts what travels. */
class Traffic {
  rows = 0;
  readonly requests: string[] = [];

  take(replies: readonly object[]): void {
    for (const reply of replies) {
      const { value } = reply as ShardReply;
      if (typeof value !== "object" || value === null) continue;
      if ("rowCount" in value) this.rows += value.rowCount;
    }
  }

  forget(): void {
    this.rows = 0;
    this.requests.length = 0;
  }
}

async function openCounted(
  count: number,
): Promise<{ readonly client: TestClient; readonly traffic: Traffic }> {
  const traffic = new Traffic();
  const start = watchedShards(() => ({
    answered: (replies, pass) => {
      traffic.take(replies);
      pass(structuredClone(replies));
    },
    asked: (requests, pass) => {
      for (const { kind } of requests) traffic.requests.push(kind);
      pass(structuredClone(requests));
    },
  }));
  const engine = await openShardedEngine(count, start);
  return { client: TestClient.over(engine), traffic };
}

async function openAlone(): Promise<TestClient> {
  return TestClient.over(await Engine.open({ host: memoryHost(), directory: ":memory:" }));
}

Deno.test("queries that run at shards have the answers of a database without", async () => {
  const alone = await openAlone();
  const { client, traffic } = await openCounted(4);
  for (const sql of SETUP) {
    await alone.rows(sql);
    await client.rows(sql);
  }
  for (const [sql, rows] of QUERIES) {
    const expected = await answer(alone, sql);
    traffic.forget();
    strictEqual(await answer(client, sql), expected, sql);
    deepStrictEqual(traffic.requests.filter((kind) => kind === "fetch"), [], sql);
    if (rows !== null) ok(traffic.rows <= rows, `${sql}: ${traffic.rows} rows travel`);
  }
  await alone.close();
  await client.close();
});

Deno.test("a transaction that has written to a table sees its own rows, with shards too", async () => {
  const { client, traffic } = await openCounted(2);
  for (const sql of SETUP) await client.rows(sql);
  await client.rows("BEGIN");
  strictEqual(await answer(client, "SELECT count(*), sum(a) FROM t"), "405|3173");
  await client.rows("UPDATE t SET a = a + 1 WHERE id = 3");
  await client.rows("INSERT INTO t (id, a) VALUES (5000, 100)");
  traffic.forget();
  strictEqual(await answer(client, "SELECT count(*), sum(a) FROM t"), "406|3274");
  ok(traffic.requests.includes("fetch"));
  strictEqual(await answer(client, "SELECT count(*) FROM empty"), "0");
  await client.rows("ROLLBACK");
  strictEqual(await answer(client, "SELECT count(*), sum(a) FROM t"), "405|3173");
  await client.close();
});

Deno.test("a fragment's text travels once to each shard, and again when its table has changed", async () => {
  const { client, traffic } = await openCounted(2);
  for (const sql of SETUP) await client.rows(sql);
  traffic.forget();
  strictEqual(await answer(client, "SELECT sum(a) FROM t WHERE id < 50"), "392");
  strictEqual(await answer(client, "SELECT sum(a) FROM t WHERE id < 51"), "408");
  await client.rows("ALTER TABLE t ALTER COLUMN a TYPE BIGINT USING a * 2");
  strictEqual(await answer(client, "SELECT sum(a) FROM t WHERE id < 50"), "784");
  await client.rows("ALTER TABLE t DROP COLUMN c, ADD COLUMN n INT DEFAULT 4");
  strictEqual(await answer(client, "SELECT sum(n), sum(a) FROM t WHERE id < 50"), "196|784");
  strictEqual(traffic.requests.filter((kind) => kind === "run").length, 8);
  await client.close();
});

Deno.test("what a fragment has read is compared with what others have written", async () => {
  const { client: first } = await openCounted(2);
  await first.rows("CREATE TABLE account (id INT PRIMARY KEY, owner INT, amount INT)");
  await first.rows("INSERT INTO account SELECT n, n % 2, 100 FROM generate_series(1, 20) n");
  const second = TestClient.over(first.engine);
  await first.rows("BEGIN");
  await second.rows("BEGIN");
  strictEqual(await answer(first, "SELECT sum(amount) FROM account WHERE owner = 1"), "1000");
  strictEqual(await answer(second, "SELECT sum(amount) FROM account WHERE owner = 1"), "1000");
  await first.rows("UPDATE account SET amount = 0 WHERE id = 1");
  await second.rows("UPDATE account SET amount = 0 WHERE id = 3");
  await first.rows("COMMIT");
  ok((await answer(second, "COMMIT")).startsWith("40001"));
  // Another's rows do not matter.
  await first.rows("BEGIN");
  strictEqual(await answer(first, "SELECT sum(amount) FROM account WHERE owner = 1"), "900");
  await second.rows("UPDATE account SET amount = 5 WHERE id = 2");
  await first.rows("UPDATE account SET amount = 7 WHERE id = 3");
  strictEqual(await answer(first, "COMMIT"), "");
  await first.close();
});

/** Answers of queries that leave an order open, from shards whose answers come at other times. */
async function openAnswers(seed: number): Promise<string[][]> {
  const client = TestClient.over(await openShardedEngine(4, lateShards(seed)));
  await client.rows("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
  await client.rows("INSERT INTO t SELECT n, n % 3 FROM generate_series(1, 200) n");
  // Wide enough for several batches of each shard.
  await client.rows("CREATE TABLE wide (id INT PRIMARY KEY, f TEXT)");
  await client.rows("INSERT INTO wide SELECT n, repeat('x', 8000) FROM generate_series(1, 400) n");
  const answers: string[][] = [];
  for (
    const sql of [
      "SELECT id FROM t WHERE a = 1",
      "SELECT id, a FROM t ORDER BY a LIMIT 20",
      "SELECT id FROM t LIMIT 9",
      "SELECT array_agg(id) FROM t WHERE id < 40",
      "SELECT DISTINCT a FROM t",
      "SELECT id, f FROM wide",
    ]
  ) answers.push(await client.rows(sql));
  await client.close();
  return answers;
}

Deno.test("where the order is open rows come in the order of shards, whichever answers first", async () => {
  const first = await openAnswers(1);
  for (const seed of [2, 3, 4]) deepStrictEqual(await openAnswers(seed), first);
});
