/** The memory of a statement is enough for the same over any number of shards, wherever its rows are. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { Shard } from "../../engine/sharding/shard.ts";
import { ShardPort } from "../../engine/sharding/shard_port.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { openSharded, shardInThisThread } from "../../engine/sharding/open_sharded.ts";
import { openShardedEngine } from "./sharded_database.ts";

const ROWS = 8_000;
const SETUP = [
  "CREATE TABLE t (id INT PRIMARY KEY, a INT, f TEXT)",
  `INSERT INTO t SELECT n, n, 'a text of some length ' || n FROM generate_series(1, ${ROWS}) n`,
  "INSERT INTO t VALUES (-1, NULL, NULL), (-2, NULL, 'é'), (-3, 2147483647, ''), (-4, -2147483648, 'É')",
  // All rows at one shard.
  "CREATE TABLE heap (id INT, kind INT, a INT, f TEXT) SHARD BY (kind)",
  "INSERT INTO heap SELECT id, 3, a, f FROM t",
  "CREATE TABLE beside (id INT PRIMARY KEY, f TEXT)",
  "INSERT INTO beside SELECT id, f FROM t",
];

/** Each keeps about all rows. */
const QUERIES = [
  "SELECT count(*), sum(n), min(f), max(f) FROM (SELECT f, count(*) AS n FROM TABLE GROUP BY f OFFSET 0) x",
  "SELECT count(*), sum(n), sum(b) FROM (SELECT a, f, count(*) AS n, max(id) AS b FROM TABLE GROUP BY a, f OFFSET 0) x",
  "SELECT count(*), count(a), min(a), max(a) FROM (SELECT DISTINCT a FROM TABLE OFFSET 0) x",
  "SELECT count(*), count(f), min(f) FROM (SELECT DISTINCT a, f FROM TABLE OFFSET 0) x",
  "SELECT md5(string_agg(f, ',')) FROM (SELECT f FROM TABLE WHERE id > -2 ORDER BY f, id OFFSET 0) x",
  "SELECT count(*), sum(length(p.f)), sum(length(q.f)) FROM TABLE p JOIN beside q ON p.id = q.id",
  "SELECT count(*), sum(n), max(q.f) FROM (SELECT id, f, count(*) AS n FROM TABLE GROUP BY id, f) p JOIN beside q ON p.id = q.id",
  "SELECT count(*), sum(length(p.f)) FROM (SELECT DISTINCT id, f FROM TABLE) p JOIN beside q ON p.id = q.id",
  "SELECT count(DISTINCT f), sum(DISTINCT a) FROM TABLE",
  "SELECT count(*), sum(length(s)) FROM (SELECT id < 9 AS o, string_agg(f, ',' ORDER BY a) AS s FROM TABLE GROUP BY 1 OFFSET 0) x",
  "SELECT count(*), sum(n) FROM (SELECT id < 9 AS o, count(DISTINCT f) AS n FROM TABLE GROUP BY 1 OFFSET 0) x",
];

/** Gives the statements of a client less memory. */
function limitMemory(client: TestClient, bytes: number): void {
  Object.defineProperty(client.session, "memoryLimitBytes", { value: bytes, configurable: true });
}

async function openWatched(
  count: number,
): Promise<{ readonly client: TestClient; readonly limits: Set<number> }> {
  const limits = new Set<number>();
  const engine = await openShardedEngine(count, async (options) => {
    const shard = await Shard.open({
      ...options,
      host: memoryHost(),
      send: (replies) => port.receive(replies),
    });
    const port = new ShardPort((requests) => {
      for (const request of requests) if (request.kind === "run") limits.add(request.memoryLimitBytes);
      shard.receive(requests);
    });
    return port;
  });
  return { client: TestClient.over(engine), limits };
}

async function answer(client: TestClient, sql: string): Promise<string> {
  let rows: readonly string[] = [];
  const failure = await client.failure((async () => {
    rows = await client.rows(sql);
  })());
  return failure === "no error" ? rows.join("\n") : failure.slice(0, 5);
}

Deno.test("aggregates, DISTINCT, sorts and joins need no more memory with shards, and fail where others do", async () => {
  const alone = TestClient.over(await Engine.open({ host: memoryHost(), directory: ":memory:" }));
  await alone.run(...SETUP);
  for (const count of [2, 16]) {
    const { client, limits } = await openWatched(count);
    await client.run(...SETUP, "ANALYZE");
    for (const table of ["t", "heap"]) {
      for (const text of QUERIES) {
        const sql = text.replaceAll("TABLE", table);
        limitMemory(alone, 256 << 20);
        const expected = await answer(alone, sql);
        ok(!expected.startsWith("53200"));
        limitMemory(alone, 4 << 20);
        limitMemory(client, 4 << 20);
        strictEqual(await answer(alone, sql), expected);
        strictEqual(await answer(client, sql), expected, `${count} shards: ${sql}`);
      }
    }
    ok(limits.has(Math.max(1 << 18, (4 << 20) / 2 / count)), "half of it is divided");
    limitMemory(client, 1 << 20);
    limitMemory(alone, 1 << 20);
    const sort = "SELECT f FROM (SELECT repeat(f, 25) AS f FROM t) x ORDER BY f";
    strictEqual(await answer(alone, sort), "53200");
    strictEqual(await answer(client, sort), "53200");
    limitMemory(client, 256 << 20);
    strictEqual(await answer(client, "SELECT count(*) FROM t"), String(ROWS + 4));
    await client.close();
  }
  await alone.close();
});

/** What parts by the hash of a key do not make smaller, or cannot begin anew: the router keeps it, in files. */
const NOT_AT_SHARDS = [
  // DISTINCT at a shard gives rows out again rather than keep them all.
  "SELECT DISTINCT id, f || repeat('y', 200) FROM t WHERE a < 2500",
  "WITH m AS MATERIALIZED (SELECT id, f || repeat('x', 90) AS f FROM t) SELECT id, (SELECT y.f FROM m y WHERE y.id = x.id + 1) FROM m x WHERE id % 2000 = 0",
  "SELECT f, max(x.id) FROM t x JOIN heap y USING (f) JOIN beside z USING (f) GROUP BY f ORDER BY 2 DESC NULLS LAST LIMIT 7",
  "SELECT id, f FROM t UNION ALL SELECT x.id, y.f FROM t x JOIN heap y ON x.f = y.f",
];

Deno.test("fragments write files where their rows need more than their memory", async () => {
  const alone = TestClient.over(await Engine.open({ host: memoryHost(), directory: ":memory:" }));
  await alone.run(...SETUP);
  const host = memoryHost();
  const { disk } = host;
  const made: string[] = [];
  const { openFile } = disk;
  disk.openFile = (path, options) => {
    // Those of the router are in no folder of a part.
    if (/\/[^/]+\/spill-/.test(path)) made.push(path);
    return openFile.call(disk, path, options);
  };
  const startShard = shardInThisThread(host);
  const client = TestClient.over(await openSharded({ host, directory: "data", shardCount: 2, startShard }));
  await client.run(...SETUP, "ANALYZE");
  limitMemory(client, 1 << 20);
  for (
    const sql of [
      "SELECT count(*), max(p.f) FROM heap p JOIN heap q ON p.kind = q.kind AND p.f = q.f",
      "SELECT count(*), sum(n), max(f) FROM (SELECT kind, f, count(*) AS n FROM heap GROUP BY kind, f) x",
    ]
  ) {
    const before = made.length;
    strictEqual(await answer(client, sql), await answer(alone, sql), sql);
    ok(made.length > before, `files for ${sql}`);
    for (const path of made) ok(!disk.exists(path), "they are gone");
  }
  for (const sql of NOT_AT_SHARDS) {
    const rows = async (client: TestClient) => (await client.rows(sql)).toSorted();
    deepStrictEqual(await rows(client), await rows(alone), sql);
  }
  await client.close();
  await alone.close();
});
