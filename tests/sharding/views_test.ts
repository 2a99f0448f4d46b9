/** What a database of shards shows of itself, refuses, and keeps. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { engineOf } from "../../engine/session/database.ts";
import { shardInThisThread } from "../../engine/sharding/open_sharded.ts";
import type { ShardPort } from "../../engine/sharding/shard_port.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { DatabaseError, open } from "../../mod.ts";
import { openShardedEngine, openShards } from "./sharded_database.ts";

Deno.test("db_shards shows the rows and the requests of each shard, and EXPLAIN where rows come from", async () => {
  await using database = await openShards(4);
  await database.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT)");
  await database.execute("INSERT INTO t SELECT n, n FROM generate_series(1, 400) AS n");
  await database.execute("DELETE FROM t WHERE id > 300");
  const rows = await database.query(
    "SELECT shard, role, rows, bytes, requests, messages, requests_per_second, " +
      "op = (SELECT max(op) FROM db_shards) AS is_newest, lag_operations, last_contact_seconds < 30 AS is_near " +
      "FROM db_shards",
  );
  deepStrictEqual(rows.map(({ shard }) => shard), [0, 1, 2, 3]);
  for (const row of rows) {
    deepStrictEqual([row.role, row.is_newest, Number(row.lag_operations), row.is_near], [
      "primary",
      true,
      0,
      true,
    ]);
    ok(
      Number(row.bytes) > 1000 && Number(row.requests_per_second) > 0,
      JSON.stringify(row, (_, v) => String(v)),
    );
    ok(Number(row.requests) >= Number(row.messages) && Number(row.messages) > 0);
  }
  strictEqual(rows.reduce((sum, row) => sum + Number(row.rows), 0), 300);
  ok(rows.every((row) => Number(row.rows) > 40), JSON.stringify(rows.map((row) => Number(row.rows))));
  const plan = async (sql: string): Promise<string> =>
    (await database.query(`EXPLAIN ${sql}`)).map((row) => row["QUERY PLAN"]).join("\n");
  match(
    await plan("SELECT * FROM t WHERE id = 7"),
    /Gather \(shard (\d) of 4\)[\s\S]*Fragment 1\n.*Row Lookup[\s\S]*Route: shard \1 of 4 \(key\)$/,
  );
  match(await plan("DELETE FROM t WHERE id = 7"), /Route: one shard of 4/);
  match(await plan("SELECT sum(v) FROM t"), /Route: gather \(shards 0-3\)$/);
  ok(!(await plan("SELECT 1")).includes("Route"));
});

Deno.test("a database of shards refuses by name what it does not have", async () => {
  await using database = await openShards(2);
  await rejects(engineOf(database).snapshotTo("copy"), {
    code: "0A000",
    message: /snapshots of a database of several shards in memory/,
  });
  await rejects(open(":memory:", { shard_count: 3 }), { code: "22023" });
});

Deno.test("a directory keeps its number of shards, whose threads open it again", async () => {
  const directory = await Deno.makeTempDir();
  try {
    {
      await using database = await open(directory, { shard_count: 2 });
      await database.execute("CREATE TABLE t (id SERIAL PRIMARY KEY, v TEXT UNIQUE)");
      await database.execute("INSERT INTO t (v) SELECT 'v' || n FROM generate_series(1, 50) AS n");
    }
    await rejects(open(directory, { shard_count: 4 }), { code: "22023", message: /has 2 shards, not 4/ });
    await using database = await open(directory);
    const [row] = await database.query("SELECT count(*)::int AS count, max(id) AS last FROM t");
    deepStrictEqual(row, { count: 50, last: 50 });
    await rejects(database.execute("INSERT INTO t (v) VALUES ('v7')"), { code: "23505" });
    strictEqual((await database.query("SELECT FROM db_shards")).length, 2);
    strictEqual((await database.query("INSERT INTO t (v) VALUES ('new') RETURNING id"))[0]?.id, 52);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
  const alone = await Deno.makeTempDir();
  try {
    await (await open(alone)).close();
    await rejects(open(alone, { shard_count: 2 }), { code: "22023", message: /has one shard, not 2/ });
  } finally {
    await Deno.remove(alone, { recursive: true });
  }
});

Deno.test("a snapshot of shards is one state of all of them, and a database of its own", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await using database = await open(`${directory}/data`, { shard_count: 4 });
    await database.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    await database.execute("INSERT INTO t SELECT n, 100 FROM generate_series(1, 40) AS n");
    let isDone = false, moves = 0;
    const moving = (async () => {
      while (!isDone) {
        const [from, to] = [1 + moves % 40, 1 + (moves * 7 + 3) % 40];
        await database.execute(
          `UPDATE t SET v = v + CASE id WHEN ${from} THEN -1 ELSE 1 END WHERE ${from} <> ${to} AND id IN (${from}, ${to})`,
        );
        moves++;
      }
    })();
    try {
      while (moves < 5) await new Promise((resolve) => setTimeout(resolve, 1));
      await engineOf(database).snapshotTo(`${directory}/copy`);
      await rejects(engineOf(database).snapshotTo(`${directory}/copy`), { code: "55000" });
      const known = moves;
      while (moves < known + 5) await new Promise((resolve) => setTimeout(resolve, 1));
    } finally {
      isDone = true;
      await moving;
    }
    // Files of the copy stay when the database goes on and drops its own.
    await database.execute("TRUNCATE t");
    await engineOf(database).checkpoint();
    {
      await using copy = await open(`${directory}/copy`);
      const [row] = await copy.query("SELECT count(*)::int AS count, sum(v)::int AS sum FROM t");
      deepStrictEqual(row, { count: 40, sum: 4000 });
      strictEqual((await copy.query("SELECT FROM db_shards WHERE rows > 0")).length, 4);
      await copy.execute("UPDATE t SET v = id");
    }
    await rejects(open(`${directory}/copy`, { shard_count: 2 }), { code: "22023" });
    await using again = await open(`${directory}/copy`);
    deepStrictEqual(await again.query("SELECT sum(v)::int AS sum FROM t"), [{ sum: 820 }]);
    strictEqual((await database.query("SELECT FROM t")).length, 0);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("a request that is exactly once runs once over shards, and is answered again after a restart", async () => {
  const directory = await Deno.makeTempDir();
  const request = { clientId: "00112233445566778899aabbccddeeff", sequence: 3n, digest: new Uint8Array([1]) };
  const ask = async (shard_count?: number): Promise<boolean> => {
    await using database = await open(directory, shard_count === undefined ? {} : { shard_count });
    const session = engineOf(database).openSession();
    if (shard_count !== undefined) {
      await database.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT)");
      await database.execute("INSERT INTO t SELECT n, 0 FROM generate_series(1, 20) AS n");
    }
    const work = async (): Promise<Uint8Array> => {
      await session.simple("UPDATE t SET v = v + 1", new RowBuffer(), () => {});
      return new Uint8Array([42]);
    };
    const { reply, durableOp, repeated } = await session.once(request, work, () => new Uint8Array([13]));
    deepStrictEqual([...reply], [42]);
    await session.whenDurable(durableOp);
    session.close();
    const [row] = await database.query("SELECT sum(v)::int AS sum FROM t");
    strictEqual(row?.sum, 20);
    return repeated;
  };
  try {
    strictEqual(await ask(4), false);
    strictEqual(await ask(), true);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("a shard that fails ends the engine: what waits for it is raised, and nothing more is begun", async () => {
  const ports: ShardPort[] = [];
  const engine = await openShardedEngine(2, async (options, index) => {
    const port = await shardInThisThread(memoryHost())(options, index);
    ports.push(port);
    return port;
  });
  const session = engine.openSession();
  await session.simple("CREATE TABLE t (id INT PRIMARY KEY)", new RowBuffer(), () => {});
  const waiting = session.simple("SELECT * FROM t", new RowBuffer(), () => {});
  ports[1]?.fail(new DatabaseError("XX000", "shard 1 has ended"));
  await rejects(Promise.resolve(waiting), { code: "XX000" });
  match((await engine.failed).message, /shard 1 has ended/);
  await rejects(async () => await session.simple("SELECT 1", new RowBuffer(), () => {}), { code: "57P03" });
});
