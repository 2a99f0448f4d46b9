/** Joins by look-ups run where the rows are that they look for, or by hashing; plans are those without shards. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { Shard } from "../../engine/sharding/shard.ts";
import { ShardPort } from "../../engine/sharding/shard_port.ts";
import { openShardedEngine } from "./sharded_database.ts";

const SETUP = [
  "CREATE TABLE part (id INT PRIMARY KEY, kind TEXT, weight NUMERIC)",
  "INSERT INTO part SELECT n, CASE WHEN n % 9 > 0 THEN 'k' || n % 40 END, n / 3.0 FROM generate_series(1, 3000) n",
  "CREATE TABLE item (id INT PRIMARY KEY, part_id INT, big BIGINT, f TEXT)",
  "CREATE INDEX item_part ON item (part_id)",
  "CREATE INDEX item_f ON item (f, part_id)",
  "INSERT INTO item SELECT n, NULLIF(n % 3100, 7), n, 'k' || n % 50 FROM generate_series(1, 20000) n",
  "INSERT INTO item VALUES (-1, 2147483647, 9223372036854775807, 'é'), (-2, -2147483648, -9223372036854775808, ''), (-3, NULL, NULL, NULL)",
  "CREATE TABLE code (f TEXT PRIMARY KEY, label TEXT) SHARD BY ALL",
  "INSERT INTO code SELECT 'k' || n, 'label ' || n FROM generate_series(1, 45) n",
  "CREATE TABLE owner (id INT PRIMARY KEY, name TEXT)",
  "INSERT INTO owner SELECT n, 'o' || n FROM generate_series(1, 3000) n",
  "CREATE TABLE owned (id INT PRIMARY KEY, owner_id INT REFERENCES owner, x INT) SHARD BY (owner_id)",
  "CREATE INDEX owned_owner ON owned (owner_id)",
  "INSERT INTO owned SELECT n, n % 3000 + 1, n FROM generate_series(1, 9000) n",
  "CREATE TABLE empty (id INT PRIMARY KEY, part_id INT)",
  "CREATE INDEX empty_part ON empty (part_id)",
  "ANALYZE",
];

const QUERIES = [
  "SELECT count(*), sum(i.big::numeric) FROM part p JOIN item i ON i.part_id = p.id WHERE p.kind = 'k7'",
  "SELECT p.id, i.id FROM part p JOIN item i ON i.part_id = p.id WHERE p.weight < 9 ORDER BY 1, 2",
  "SELECT p.id, i.id FROM part p LEFT JOIN item i ON i.part_id = p.id AND i.id > 9000 WHERE p.id < 60 ORDER BY 1, 2",
  "SELECT p.id FROM part p WHERE p.kind = 'k3' AND EXISTS (SELECT FROM item i WHERE i.part_id = p.id AND i.f = 'k3') ORDER BY 1",
  "SELECT p.id FROM part p WHERE p.kind = 'k3' AND NOT EXISTS (SELECT FROM item i WHERE i.part_id = p.id AND i.f > 'k3') ORDER BY 1",
  "SELECT p.id FROM part p WHERE p.kind = 'k3' AND p.id NOT IN (SELECT part_id FROM item i WHERE i.f = 'k4' AND part_id IS NOT NULL) ORDER BY 1",
  "SELECT i.id, c.label FROM item i JOIN code c ON c.f = i.f WHERE i.part_id = 12 ORDER BY 1",
  "SELECT i.id, c.label FROM item i LEFT JOIN code c ON c.f = i.f WHERE i.part_id IN (12, 49, 2147483647) ORDER BY 1",
  "SELECT o.name, d.x FROM owner o JOIN owned d ON d.owner_id = o.id WHERE o.id BETWEEN 10 AND 14 ORDER BY 1, 2",
  "SELECT o.name, d.x FROM owner o LEFT JOIN owned d ON d.owner_id = o.id AND d.x % 2 = 0 WHERE o.id < 20 ORDER BY 1, 2",
  "SELECT o.name FROM owner o WHERE o.id < 20 AND EXISTS (SELECT FROM owned d WHERE d.owner_id = o.id AND d.x > 6000) ORDER BY 1",
  "SELECT o.name, d.x FROM owner o JOIN owned d ON d.owner_id = o.id WHERE o.id = 77 ORDER BY 2",
  "SELECT id FROM item WHERE part_id IN (1, 5, 9, 700, NULL) ORDER BY id",
  "SELECT id FROM part WHERE id = ANY (ARRAY[1, 5, 9, 700, 5, NULL]) ORDER BY id",
  "SELECT p.id, e.id FROM part p LEFT JOIN empty e ON e.part_id = p.id WHERE p.id < 15 ORDER BY 1",
  "SELECT count(*) FROM part p JOIN empty e ON e.part_id = p.id WHERE p.kind = 'k7'",
  "SELECT p.id, i.id, q.weight FROM part p JOIN item i ON i.part_id = p.id JOIN part q ON q.id = i.id % 3000 WHERE p.kind = 'k11' ORDER BY 1, 2",
  "SELECT p.kind, x.n FROM part p, LATERAL (SELECT count(*) AS n FROM item i WHERE i.part_id = p.id) x WHERE p.id < 30 ORDER BY p.id",
  "SELECT p.id, i.id FROM part p JOIN item i ON i.f = p.kind AND i.part_id = p.id WHERE p.weight > 700 ORDER BY 1, 2",
  "SELECT p.id, i.id FROM (SELECT id, count(*) FROM part GROUP BY id HAVING min(weight) < 40) p JOIN item i ON i.part_id = p.id ORDER BY 1, 2",
  "SELECT p.id, 1 / (i.id - 1007) FROM part p JOIN item i ON i.part_id = p.id WHERE p.id < 1100 ORDER BY 1, 2",
  "SELECT p.id, i.id FROM part p JOIN item i ON i.part_id = p.id WHERE p.id < 900 ORDER BY p.id, i.id LIMIT 3",
  "SELECT p.id FROM part p WHERE p.weight < (SELECT avg(weight) / 100 FROM part) ORDER BY 1",
];

async function answer(client: TestClient, sql: string): Promise<string> {
  let rows: readonly string[] = [];
  const failure = await client.failure((async () => {
    rows = await client.rows(sql);
  })());
  return failure === "no error" ? rows.join("\n") : failure;
}

async function openCounted(
  count: number,
): Promise<{ readonly client: TestClient; readonly kinds: string[] }> {
  const kinds: string[] = [];
  const engine = await openShardedEngine(count, async (options) => {
    const shard = await Shard.open({
      ...options,
      host: memoryHost(),
      send: (replies) => port.receive(replies),
    });
    const port = new ShardPort((requests) => {
      for (const { kind } of requests) kinds.push(kind);
      shard.receive(requests);
    });
    return port;
  });
  return { client: TestClient.over(engine), kinds };
}

/** The lines of a plan that say what is done, without where. */
function shapeOf(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const text = line.replace(/^[ ]*(-> +)?/, "").replace(/ +\(rows=.*/, "");
    const isPlace = /^(Gather|Merge|Fragment|Route|Broadcast|Repartition|Partial|Exchange)/.test(text);
    return isPlace ? [] : [text.replace("Finalize ", "")];
  });
}

Deno.test("joins by look-ups answer as without shards, own rows of a transaction among them", async () => {
  const alone = TestClient.over(await Engine.open({ host: memoryHost(), directory: ":memory:" }));
  await alone.run(...SETUP);
  for (const count of [2, 4]) {
    const { client, kinds } = await openCounted(count);
    await client.run(...SETUP);
    for (const sql of QUERIES) strictEqual(await answer(client, sql), await answer(alone, sql), sql);
    // Many are not looked for one by one.
    kinds.length = 0;
    for (const sql of QUERIES.slice(0, 6)) await answer(client, sql);
    strictEqual(kinds.filter((kind) => kind === "fetch").length, 0);
    for (const each of [client, alone]) {
      await each.run(
        "BEGIN",
        "SAVEPOINT s",
        "INSERT INTO item VALUES (900001, 7, 1, 'k7'), (900002, 16, 1, 'k16')",
        "UPDATE part SET kind = 'k7' WHERE id = 16",
      );
    }
    for (const sql of QUERIES.slice(0, 7)) {
      strictEqual(await answer(client, sql), await answer(alone, sql), sql);
    }
    for (const each of [client, alone]) await each.run("ROLLBACK TO s");
    for (const sql of QUERIES.slice(0, 7)) {
      strictEqual(await answer(client, sql), await answer(alone, sql), sql);
    }
    for (const each of [client, alone]) await each.run("COMMIT");
    await client.close();
  }
  await alone.close();
});

Deno.test("plans are those of a database without shards but for where they run", async () => {
  const alone = TestClient.over(await Engine.open({ host: memoryHost(), directory: ":memory:" }));
  const { client } = await openCounted(4);
  for (const each of [alone, client]) await each.run(...SETUP);
  for (
    const sql of [
      "SELECT count(*) FROM part WHERE kind = 'k7'",
      "SELECT * FROM part p JOIN item i ON i.part_id = p.id",
      "SELECT * FROM item WHERE f = 'k7' AND part_id < 100",
      "SELECT * FROM item WHERE big < 100",
      "SELECT * FROM item WHERE big BETWEEN 100 AND 10000 AND f = 'k3'",
    ]
  ) {
    deepStrictEqual(
      shapeOf(await client.rows(`EXPLAIN ${sql}`)),
      shapeOf(await alone.rows(`EXPLAIN ${sql}`)),
      sql,
    );
  }
  const statistics =
    "SELECT tablename, attname, null_frac, avg_width FROM pg_stats WHERE tablename IN ('part', 'code') " +
    "AND attname IN ('id', 'kind', 'label') ORDER BY 1, 2";
  const [own, others] = [await client.rows(statistics), await alone.rows(statistics)];
  strictEqual(own.length, others.length);
  for (const [index, row] of own.entries()) {
    const [table, column, nulls] = row.split("|");
    const [otherTable, otherColumn, otherNulls] = others[index]?.split("|") ?? [];
    deepStrictEqual([table, column], [otherTable, otherColumn]);
    ok(Math.abs(Number(nulls) - Number(otherNulls)) < 0.05, row);
  }
  for (const each of [alone, client]) await each.close();
});
