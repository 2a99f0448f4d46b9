/** Reads by themselves of one fragment: they take no transaction, and give what others give. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import type { StartShard } from "../../engine/sharding/open_sharded.ts";
import { Shard } from "../../engine/sharding/shard.ts";
import type { ShardRequest } from "../../engine/sharding/shard_messages.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { DeafShards } from "./deaf_shards.ts";
import { openShardedEngine, watchedShards } from "./sharded_database.ts";

Deno.test("a read of one row is one request to one shard; one that needs two fragments begins a transaction", async () => {
  const kinds: string[] = [];
  const start = watchedShards(() => ({
    asked: (requests, pass) => {
      kinds.push(...requests.map(({ kind }) => kind));
      pass(requests);
    },
  }));
  const engine = await openShardedEngine(4, start);
  const client = TestClient.over(engine);
  await client.run(
    "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
    "INSERT INTO t SELECT n, 1 FROM generate_series(1, 9) n",
  );
  // What the shards were to be told goes with it.
  deepStrictEqual(await client.rows("SELECT count(*) FROM t"), ["9"]);
  strictEqual(kinds.at(-1), "run");
  kinds.length = 0;
  deepStrictEqual(await client.rows("SELECT a + id FROM t WHERE id = 3"), ["4"]);
  deepStrictEqual(await client.rows("SELECT a FROM t WHERE id = 33"), []);
  deepStrictEqual(kinds, ["run", "run"]);
  kinds.length = 0;
  deepStrictEqual(await client.rows("SELECT count(*) FROM t"), ["9"]);
  deepStrictEqual(kinds, ["run", "run", "run", "run"]);
  kinds.length = 0;
  deepStrictEqual(
    await client.rows("SELECT (SELECT a FROM t WHERE id = 3) + (SELECT max(id) FROM t)"),
    ["10"],
  );
  strictEqual(kinds.includes("begin"), true);
  await client.close();
});

Deno.test("a read gives all rows, though far fewer were expected", async () => {
  const client = TestClient.over(await new DeafShards().open());
  await client.run(
    "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
    "INSERT INTO t SELECT n, 1 FROM generate_series(1, 15000) n",
  );
  const plan = await client.rows("EXPLAIN SELECT id FROM t WHERE a = 1 AND id % 2 >= 0");
  match(plan.join("\n"), /Gather/);
  const rows = await client.rows("SELECT id FROM t WHERE a = 1 AND id % 2 >= 0");
  deepStrictEqual(
    rows.map(Number).toSorted((a, b) => a - b),
    Array.from({ length: 15_000 }, (_, index) => index + 1),
  );
  await client.close();
});

Deno.test("a read whose shard has not answered ends with its session, and its error leaves the session usable", async () => {
  const shards = new DeafShards();
  const engine = await shards.open();
  const client = TestClient.over(engine);
  await client.run("CREATE TABLE t (id INT PRIMARY KEY, a INT)", "INSERT INTO t VALUES (1, 0), (2, 1)");
  await rejects(client.rows("SELECT 1 / a FROM t WHERE id = 1"), { code: "22012" });
  deepStrictEqual(await client.rows("SELECT 1 / a FROM t WHERE id = 2"), ["1"]);
  const other = TestClient.over(engine);
  for (let shard = 0; shard < 4; shard++) shards.deaf.add(shard);
  const reading = rejects(other.rows("SELECT a FROM t WHERE id = 1"), { code: "57P01" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  other.session.close();
  await reading;
  shards.wake();
  deepStrictEqual(await client.rows("SELECT a FROM t WHERE id = 1"), ["0"]);
  await client.close();
});

/** What the first of two shards hears of statements: its last read by itself, and what comes before and after it. */
async function heard(statements: readonly string[]) {
  const opened: Parameters<StartShard>[0][] = [];
  const requests: ShardRequest[] = [];
  const start = watchedShards((index) => ({
    asked: (sent, pass) => {
      if (index === 0) requests.push(...structuredClone(sent));
      pass(sent);
    },
  }));
  const engine = await openShardedEngine(2, (options, index) => {
    opened.push(options);
    return start(options, index);
  });
  const client = TestClient.over(engine);
  for (const statement of statements) await client.rows(statement);
  await client.close();
  const run = requests.findLast((request) => request.kind === "run");
  const options = opened[0];
  ok(run !== undefined && options !== undefined);
  const place = requests.indexOf(run);
  /** What the read is answered in the end, at a new shard that hears all of that in one turn. */
  const answer = async (all: readonly ShardRequest[]): Promise<unknown> => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const host = memoryHost();
    // Each look at the clock ends a piece of work.
    let time = 0;
    const clock = { now: () => host.clock.now(), wall: () => time, monotonic: () => time += 1_000_000 };
    const shard = await Shard.open({
      ...options,
      host: { ...host, clock },
      send: (replies) => {
        const reply = replies.find((each) => "call" in each && each.call === run.call && each.isLast);
        if (reply !== undefined) resolve(reply);
      },
    });
    shard.receive(structuredClone(all));
    return await promise;
  };
  return { before: requests.slice(0, place), run, after: requests.slice(place + 1), answer };
}

Deno.test("a read whose code is still being loaded sees the rows as they were when it was asked for", async () => {
  const { before, run, after, answer } = await heard([
    "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
    "INSERT INTO t SELECT n, 1 FROM generate_series(1, 9) n",
    "SELECT sum(a) FROM t",
    "UPDATE t SET a = 2",
    "UPDATE t SET a = 3",
  ]);
  ok(after.filter(({ kind }) => kind === "apply").length >= 2);
  deepStrictEqual(await answer([...before, run, ...after]), await answer([...before, run]));
});

Deno.test("what is stopped that has ended already is forgotten", async () => {
  const { before, run, answer } = await heard([
    "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
    "INSERT INTO t SELECT n, 1 FROM generate_series(1, 15000) n",
    "SELECT sum(a) FROM t",
  ]);
  deepStrictEqual(
    await answer([...before, { kind: "stop", call: run.call }, run]),
    await answer([...before, run]),
  );
});
