/** Reads by themselves of one fragment: they take no transaction, and give what others give. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import type { StartShard } from "../../engine/sharding/open_sharded.ts";
import { Shard } from "../../engine/sharding/shard.ts";
import type { ShardRequest } from "../../engine/sharding/shard_messages.ts";
import { ShardPort } from "../../engine/sharding/shard_port.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { DeafShards } from "./deaf_shards.ts";
import { openShardedEngine } from "./sharded_database.ts";

Deno.test("a read of one row is one request to one shard; one that needs two fragments begins a transaction", async () => {
  const kinds: string[] = [];
  const engine = await openShardedEngine(4, async (options) => {
    const send = (replies: Parameters<ShardPort["receive"]>[0]): void => port.receive(replies);
    const shard = await Shard.open({ ...options, host: memoryHost(), send });
    const port = new ShardPort((requests) => {
      kinds.push(...requests.map(({ kind }) => kind));
      shard.receive(requests);
    });
    return port;
  });
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

Deno.test("a read whose code is still being loaded sees the rows as they were when it was asked for", async () => {
  const opened: Parameters<StartShard>[0][] = [];
  const heard: ShardRequest[] = [];
  const engine = await openShardedEngine(2, async (options, index) => {
    opened.push(options);
    const send = (replies: Parameters<ShardPort["receive"]>[0]): void => port.receive(replies);
    const shard = await Shard.open({ ...options, host: memoryHost(), send });
    const port = new ShardPort((requests) => {
      if (index === 0) heard.push(...structuredClone(requests));
      shard.receive(requests);
    });
    return port;
  });
  const client = TestClient.over(engine);
  await client.run(
    "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
    "INSERT INTO t SELECT n, 1 FROM generate_series(1, 9) n",
  );
  deepStrictEqual(await client.rows("SELECT sum(a) FROM t"), ["9"]);
  for (const a of [2, 3, 4]) await client.run(`UPDATE t SET a = ${a}`);
  await client.close();

  const run = heard.find((request) => request.kind === "run");
  const options = opened[0];
  ok(run !== undefined && options !== undefined);
  const [before, after] = [heard.slice(0, heard.indexOf(run)), heard.slice(heard.indexOf(run) + 1)];
  ok(after.filter(({ kind }) => kind === "apply").length >= 2);
  /** What the read is answered at a new shard that hears the same in one turn. */
  const answer = async (requests: readonly ShardRequest[]): Promise<unknown> => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const shard = await Shard.open({
      ...options,
      host: memoryHost(),
      send: (replies) => {
        const reply = replies.find((each) => "call" in each && each.call === run.call);
        if (reply !== undefined) resolve(reply);
      },
    });
    shard.receive(structuredClone(requests));
    return await promise;
  };
  deepStrictEqual(await answer([...before, run, ...after]), await answer([...before, run]));
});
