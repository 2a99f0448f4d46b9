/** Joins at the shards: their rows are those without shards; their memory, and how they are stopped. */
import { deepStrictEqual, doesNotMatch, match, ok, rejects, strictEqual } from "node:assert/strict";
import type { Host } from "../../engine/host/host.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Shard } from "../../engine/sharding/shard.ts";
import type { ShardRequest } from "../../engine/sharding/shard_messages.ts";
import { ShardPort } from "../../engine/sharding/shard_port.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { joinLarge } from "./large_join.ts";
import { loadLarge } from "./large_tables.ts";
import { joinAnswers } from "./random_joins.ts";
import { openShardedEngine } from "./sharded_database.ts";

for (const [shardCount, seed] of [[2, 1], [8, 3], [4, 4]] as const) {
  Deno.test(`random joins have the same rows with ${shardCount} shards and without, seed ${seed}`, async () => {
    const { different, failed, filled } = await joinAnswers(shardCount, seed, 40);
    deepStrictEqual(different, []);
    deepStrictEqual(failed, []);
    ok(filled > 15, `${filled} answers with rows`);
  });
}

type Run = Extract<ShardRequest, { readonly kind: "run" }>;

/** Shards in this thread, whose requests the test sees and may take away, and whose turns it counts. */
class WatchedShards {
  readonly runs: Run[] = [];
  readonly turns: number[] = [];
  /** By the call of a run: whether the shard has ended it. */
  readonly ended = new Set<string>();
  takesStops = true;
  #stops: (() => void)[] = [];

  async open(count: number): Promise<TestClient> {
    const engine = await openShardedEngine(count, async (options, index) => {
      const { timers, ...ports } = memoryHost();
      this.turns[index] = 0;
      const host: Host = {
        ...ports,
        timers: {
          setTimer: (delay, callback) => timers.setTimer(delay, callback),
          clearTimer: (timer) => timers.clearTimer(timer),
          repeat: (period, callback) => timers.repeat(period, callback),
          endOfTurn: () => timers.endOfTurn(),
          close: () => timers.close(),
          yieldToLoop: () => {
            this.turns[index] = (this.turns[index] ?? 0) + 1;
            return timers.yieldToLoop();
          },
        },
      };
      const shard = await Shard.open({
        ...options,
        host,
        send: (replies) => {
          for (const reply of replies) {
            if ("call" in reply && reply.isLast) this.ended.add(`${index}/${reply.call}`);
          }
          port.receive(replies);
        },
      });
      const port = new ShardPort((requests) => {
        for (const request of requests) if (request.kind === "run") this.runs.push(request);
        const kept = this.takesStops ? [] : requests.filter(({ kind }) => kind === "stop");
        if (kept.length > 0) this.#stops.push(() => shard.receive(kept));
        shard.receive(requests.filter((request) => !kept.includes(request)));
      }, () => {});
      return port;
    });
    return TestClient.over(engine);
  }

  /** Hands over what was kept back. */
  passStops(): void {
    for (const pass of this.#stops.splice(0)) pass();
  }
}

/** Gives the statements of a client less memory. */
function limitMemory(client: TestClient, bytes: number): void {
  Object.defineProperty(client.session, "memoryLimitBytes", { value: bytes, configurable: true });
}

Deno.test("what a shard cannot hold of a join comes in passes, and in more when more comes than expected", async () => {
  const shards = new WatchedShards();
  const client = await shards.open(4);
  await client.run(
    "CREATE TABLE a (id INT PRIMARY KEY, k INT, f TEXT)",
    "INSERT INTO a SELECT n, n, 'a' || n FROM generate_series(1, 40000) n",
    "CREATE TABLE b (id INT PRIMARY KEY, k INT, f TEXT)",
    "INSERT INTO b SELECT n, n * 2, 'b' || n FROM generate_series(1, 40000) n",
    "SET broadcast_limit = 0",
  );
  const passesOf = async (sql: string, expected: string): Promise<number[]> => {
    shards.runs.length = 0;
    deepStrictEqual(await client.rows(sql), [expected], sql);
    return [...new Set(shards.runs.map(({ exchange }) => exchange?.passes ?? 0))];
  };
  const joins = [
    ["JOIN", "20000|20000|20000"],
    ["LEFT JOIN", "40000|40000|20000"],
    ["RIGHT JOIN", "40000|20000|40000"],
    ["FULL JOIN", "60000|40000|40000"],
  ] as const;
  for (const [join, counts] of joins) {
    deepStrictEqual(
      await passesOf(`SELECT count(*), count(a.f), count(b.f) FROM a ${join} b ON a.k = b.k`, counts),
      [1],
    );
  }
  limitMemory(client, 8 << 20);
  for (const [join, counts] of joins) {
    const passes = await passesOf(
      `SELECT count(*), count(a.f), count(b.f) FROM a ${join} b ON a.k = b.k`,
      counts,
    );
    ok(passes.length === 1 && (passes[0] ?? 0) > 1, `${passes}`);
  }
  deepStrictEqual(
    (await passesOf("SELECT count(*) FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.k = b.k)", "20000"))
      .length,
    1,
  );
  limitMemory(client, 3 << 20);
  // A condition that is taken for one that few rows meet.
  const filtered = "(SELECT * FROM a WHERE length(f) = length(f || '')) a";
  const other = filtered.replace("FROM a", "FROM b").replace(/ a$/, " b");
  const passes = await passesOf(
    `SELECT count(*), count(a.f), count(b.f) FROM ${filtered} JOIN ${other} ON a.k = b.k`,
    "20000|20000|20000",
  );
  deepStrictEqual(passes, [1, 4]);
  await client.close();
});

Deno.test("a statement that is canceled stops at all shards by its flag, between two pieces", async () => {
  const shards = new WatchedShards();
  const client = await shards.open(4);
  await client.run(
    "CREATE TABLE t (id INT PRIMARY KEY, k INT)",
    "INSERT INTO t SELECT n, n % 40 FROM generate_series(1, 60000) n",
  );
  shards.takesStops = false;
  for (const limit of ["0", "'32MB'"]) {
    await client.run(`SET broadcast_limit = ${limit}`);
    shards.runs.length = 0;
    shards.ended.clear();
    const before = [...shards.turns];
    const running = client.rows("SELECT count(*) FROM t a JOIN t b ON a.k = b.k AND a.id <> b.id");
    // All of them are in the middle of it.
    while (!shards.turns.some((turns, shard) => turns > (before[shard] ?? 0) + 20)) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const calls = shards.runs.map(({ call, exchange }) => `${exchange?.place}/${call}`);
    strictEqual(calls.length, 4);
    ok(!calls.some((call) => shards.ended.has(call)));
    const canceled = rejects(running, { code: "57014" });
    client.session.cancel();
    const at = [...shards.turns];
    await canceled;
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    ok(calls.some((call) => shards.ended.has(call)));
    shards.turns.forEach((turns, shard) =>
      ok(turns - (at[shard] ?? 0) <= 2, `shard ${shard}: ${turns} ${at[shard]}`)
    );
  }
  await client.close();
});

Deno.test("EXPLAIN shows how the sides of a join come together, and what is merged", async () => {
  const client = await new WatchedShards().open(4);
  await client.run(
    "CREATE TABLE a (id INT PRIMARY KEY, k INT, f TEXT)",
    "INSERT INTO a SELECT n, n % 99, 'a' || n FROM generate_series(1, 3000) n",
    "CREATE TABLE b (id INT PRIMARY KEY, k INT, f TEXT)",
    "INSERT INTO b SELECT n, n * 2, 'b' || n FROM generate_series(1, 500) n",
  );
  const shown = async (sql: string): Promise<string> => (await client.rows(`EXPLAIN ${sql}`)).join("\n");
  const plans: readonly (readonly [sql: string, has: RegExp, hasNot: RegExp])[] = [
    [
      "SELECT count(*) FROM a JOIN b ON a.k = b.k",
      /Hash Join.*\n.*\n.*Seq Scan on a .*\n.*Broadcast/,
      /Repartition/,
    ],
    [
      "SELECT count(*) FROM b LEFT JOIN a ON a.k = b.k",
      /Join.*\n.*\n.*(Seq|Range) Scan on b .*\n.*Broadcast|Repartition/,
      /Broadcast.*\n.*on b /,
    ],
    [
      "SELECT count(*) FROM a FULL JOIN b ON a.k = b.k",
      /Repartition \(hash: a\.k\)(.*\n)+.*Repartition \(hash: b\.k\)/,
      /Broadcast/,
    ],
    [
      "SELECT count(*) FROM a JOIN a c ON a.id = c.id",
      /Fragment 1(.*\n)+.*Hash Join/,
      /Broadcast|Repartition/,
    ],
    ["SELECT count(*) FROM a WHERE f NOT IN (SELECT f FROM b)", /Broadcast.*\n.*on b /, /Repartition/],
    ["SELECT count(DISTINCT f) FROM a", /Partial Aggregate.*\n.*Repartition \(hash: f\)/, /Broadcast/],
    [
      "SELECT k, count(DISTINCT f) FROM a GROUP BY k",
      /HashAggregate.*\n.*\n.*Repartition \(hash: k\)/,
      /Broadcast/,
    ],
    // Groups whose rows are at one place, and few that are brought there for a join.
    [
      "SELECT count(*) FROM (SELECT DISTINCT id, f FROM a) a JOIN b ON b.k = a.id",
      /Partial Aggregate(.*\n)+.*Unique.*\n(.*\n).*on a /,
      /Finalize HashAggregate/,
    ],
    [
      "SELECT n FROM (SELECT id, count(*) AS n FROM a GROUP BY id HAVING max(k) > 3) x ORDER BY n LIMIT 3",
      /Fragment 1\n.*Top-N Sort(.*\n)+.*Filter(.*\n)+.* HashAggregate/,
      /Partial|Repartition/,
    ],
    [
      "SELECT count(*) FROM (SELECT k, max(id) AS m FROM b WHERE f < 'b2' GROUP BY k) x JOIN a ON a.id = x.m",
      /Partial Aggregate(.*\n)+.*Join(.*\n)+.*HashAggregate.*\n.*\n.*Repartition \(hash: b\.k\)/,
      /Finalize HashAggregate/,
    ],
    [
      "SELECT k, count(*) FROM a GROUP BY k",
      /Finalize HashAggregate(.*\n)+.*Partial HashAggregate/,
      /Repartition/,
    ],
    ["SELECT * FROM a ORDER BY f DESC, id", /^Merge \(shards 0-3, sort: f DESC, id\)/, /Gather/],
  ];
  for (const [sql, has, hasNot] of plans) {
    const plan = await shown(sql);
    match(plan, has, sql);
    doesNotMatch(plan, hasNot, sql);
  }
  const measured = (await client.rows("EXPLAIN ANALYZE SELECT f FROM a ORDER BY f")).join("\n");
  match(measured, /Merge .*rows=3000 loops=1\)\n +Shard 0: rows=\d+ bytes=\d+ batches=1 time=[\d.]+/);
  await client.close();
});

Deno.test("the large join is right over threads and files", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await loadLarge(directory, 4, 20_000);
    const { answer, expected, plan } = await joinLarge(directory, 4, 20_000);
    strictEqual(answer, expected);
    match(plan, /Repartition \(hash: large_a\.k\)/);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
