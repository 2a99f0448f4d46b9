/** Rows and keys that a statement looks for one by one are asked for together, and never by fetching the table. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Shard } from "../../engine/sharding/shard.ts";
import type { ShardRequest } from "../../engine/sharding/shard_messages.ts";
import { ShardPort } from "../../engine/sharding/shard_port.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { runDurably } from "../support/run_sql.ts";
import type { Step } from "./equal_script.ts";
import { scriptAnswers } from "./script_answers.ts";
import { lateShards, openShardedEngine } from "./sharded_database.ts";

const SHARDS = 4;
const ROWS = 3_000;

const TABLES = `CREATE TABLE t (id INT PRIMARY KEY, code INT UNIQUE, email TEXT, v INT DEFAULT 0);
  CREATE UNIQUE INDEX ON t (lower(email)) WHERE v >= 0;
  CREATE TABLE child (id INT PRIMARY KEY, code INT REFERENCES t (code) DEFERRABLE, parent INT REFERENCES t);
  CREATE INDEX ON child (parent); CREATE INDEX ON child (code);
  INSERT INTO t SELECT n, n * 7, 'e' || n FROM generate_series(1, ${ROWS}) n`;

const NEW = "n * 2, n * 14 + 1, 'n' || n FROM generate_series(2000, 2299) n";

/** A server of shards that says what they are asked for. */
async function watched(): Promise<{ readonly client: TestClient; readonly asked: ShardRequest[][] }> {
  const asked: ShardRequest[][] = Array.from({ length: SHARDS }, () => []);
  const engine = await openShardedEngine(SHARDS, async (options, index) => {
    const shard = await Shard.open({
      ...options,
      host: memoryHost(),
      send: (replies: Parameters<ShardPort["receive"]>[0]) => port.receive(replies),
    });
    const port: ShardPort = new ShardPort((requests) => {
      asked[index]?.push(...requests);
      shard.receive(requests);
    });
    return port;
  });
  const client = TestClient.over(engine);
  await client.run(TABLES);
  return { client, asked };
}

/** The statement, how often shards may be asked of each of its tables, and what it answers. */
const STATEMENTS: readonly (readonly [sql: string, rounds: number, tag: string, data?: string])[] = [
  [`INSERT INTO t VALUES ${list(300, (n) => `(${n + 5000}, ${n * 7 + 3}, 'v${n}')`)}`, 1, "INSERT 0 300"],
  [`INSERT INTO t SELECT ${NEW} ON CONFLICT DO NOTHING`, 1, "INSERT 0 300"],
  [
    "INSERT INTO t SELECT n + 100, n * 7, 'x' FROM generate_series(2901, 3200) n ON CONFLICT (code) DO UPDATE SET v = t.v + 1",
    2,
    "INSERT 0 100",
  ],
  [
    "COPY t (id, code, email) FROM STDIN",
    2,
    "COPY 300",
    list(300, (n) => `${n + 9000}\t${n * 7 + 4}\tc${n}\n`, ""),
  ],
  ["INSERT INTO child SELECT n, n * 7, n + 1 FROM generate_series(1, 500) n", 1, "INSERT 0 500"],
  [
    `UPDATE t SET v = 5, email = NULL WHERE id IN (${list(40, (n) => String(n * 3 + 1501))})`,
    1,
    "UPDATE 40",
  ],
  [`DELETE FROM t WHERE id IN (${list(40, (n) => String(n * 3 + 1502))})`, 2, "DELETE 40"],
  [
    "BEGIN; SET CONSTRAINTS ALL DEFERRED; DELETE FROM child; " +
    "INSERT INTO child SELECT n, n * 7, n FROM generate_series(101, 400) n; COMMIT",
    2,
    "COMMIT",
  ],
  [
    `BEGIN; SET CONSTRAINTS ALL DEFERRED; DELETE FROM t WHERE id IN (${
      list(40, (n) => String(n * 3 + 1000))
    }); COMMIT`,
    2,
    "COMMIT",
  ],
];

function list(count: number, text: (n: number) => string, separator = ","): string {
  return Array.from({ length: count }, (_, n) => text(n)).join(separator);
}

Deno.test("what a statement looks for is asked of each shard in a message or two, and no table is fetched", async () => {
  const { client, asked } = await watched();
  for (const [sql, rounds, tag, data] of STATEMENTS) {
    // What can wait goes with the next messages.
    await client.rows("SELECT count(*) FROM t");
    for (const each of asked) each.length = 0;
    const isLast = sql.includes("generate_series(2901");
    try {
      strictEqual(data === undefined ? await client.run(sql) : await client.copyIn(sql, data), tag);
    } catch (error) {
      // Of those that meet no row by its code, one has an id and another an email that is taken.
      if (!isLast || !(error instanceof DatabaseError)) throw error;
      strictEqual(error.code, "23505");
    }
    for (const requests of asked) {
      const fetches = requests.filter((request) => request.kind === "fetch");
      const tables = new Set(fetches.map(({ tableId }) => tableId)).size;
      ok(fetches.length <= rounds * tables, `${fetches.length} fetches for: ${sql.slice(0, 80)}`);
      for (const { wanted } of fetches) {
        // What is deleted whole is read whole.
        ok(
          wanted.kind === "points" || sql.includes("DELETE FROM child"),
          `${wanted.kind}: ${sql.slice(0, 80)}`,
        );
      }
    }
  }
  await client.close();
});

const SCRIPT: readonly string[] = [
  `CREATE TABLE m (id INT PRIMARY KEY, a INT, b NUMERIC, email TEXT UNIQUE, v INT, UNIQUE NULLS NOT DISTINCT (a, b))`,
  "CREATE UNIQUE INDEX m_lower ON m (lower(email)) WHERE v > 0",
  `CREATE TABLE c (id INT PRIMARY KEY, email TEXT REFERENCES m (email) ON UPDATE CASCADE ON DELETE SET NULL
     DEFERRABLE, m INT REFERENCES m ON DELETE CASCADE)`,
  "CREATE TABLE s (id SERIAL PRIMARY KEY, k UUID UNIQUE DEFAULT gen_random_uuid(), n INT UNIQUE)",
  "INSERT INTO m SELECT n, n, n / 2.0, 'e' || n, n % 3 FROM generate_series(1, 400) n",
  // Twice in the statement, with rows that are stored, with those of expressions, of part of the rows, and with NULLs.
  "INSERT INTO m SELECT 1000 + n, 1000 + n, 1, 'f' || n % 77, 0 FROM generate_series(1, 100) n",
  "INSERT INTO m SELECT 1000 + n, 1000 + n, 1, CASE n WHEN 61 THEN 'e61' ELSE 'f' || n END, 0 FROM generate_series(1, 100) n",
  "INSERT INTO m SELECT 1000 + n, 1000 + n, 1, 'E' || n * 3 + 1, 1 FROM generate_series(1, 100) n",
  "INSERT INTO m SELECT 1000 + n, 1000 + n, 1, 'E' || n * 3, 1 FROM generate_series(1, 100) n",
  "INSERT INTO m SELECT 2000 + n, CASE WHEN n > 1 THEN 2000 + n END, NULL, NULL, 1 FROM generate_series(1, 60) n",
  "INSERT INTO m SELECT 3000 + n, CASE WHEN n > 59 THEN 3000 + n END, NULL, NULL, 1 FROM generate_series(60, 120) n",
  "INSERT INTO m SELECT 3000 + n, CASE WHEN n > 1 THEN 3000 + n END, NULL, NULL, 1 FROM generate_series(1, 60) n",
  "INSERT INTO m SELECT 400 - n, 4000 + n, NULL, NULL, 1 FROM generate_series(1, 60) n",
  // ON CONFLICT over several indexes.
  "INSERT INTO m SELECT 4000 + n, n, n / 2.0, 'g' || n, 0 FROM generate_series(350, 450) n ON CONFLICT (a, b) DO UPDATE SET v = m.v + 1, email = excluded.email",
  "INSERT INTO m SELECT 5000 + n, 5000 + n, 7, 'g' || n, 0 FROM generate_series(420, 480) n ON CONFLICT (email) DO UPDATE SET a = excluded.a RETURNING id, v",
  "INSERT INTO m SELECT n, 6000 + n, n, 'h' || n % 50, 0 FROM generate_series(380, 480) n ON CONFLICT DO NOTHING RETURNING id",
  "INSERT INTO m SELECT n, 7000 + n, n, 'e' || n, 0 FROM generate_series(1, 40) n ON CONFLICT (id) DO UPDATE SET b = m.b + 0.25",
  "INSERT INTO m SELECT n, 7000 + n, n, 'e' || n, 0 FROM generate_series(1, 40) n ON CONFLICT (email) DO UPDATE SET a = 1",
  "INSERT INTO m SELECT 8000 + n / 2, 8000 + n, n, 'i' || n, 0 FROM generate_series(1, 60) n ON CONFLICT (id) DO UPDATE SET a = 1",
  // Foreign keys: parents that are there, that are not, that come with the same statement or before the commit.
  "INSERT INTO c SELECT n, 'e' || n, n FROM generate_series(1, 90) n",
  "INSERT INTO c SELECT 1000 + n, 'e' || n, n FROM generate_series(50, 99000, 1000) n",
  `BEGIN; SET CONSTRAINTS ALL DEFERRED; INSERT INTO c SELECT 2000 + n, 'late' || n, 1 FROM generate_series(1, 50) n;
     INSERT INTO m SELECT 9000 + n, 9000 + n, 1, 'late' || n, 0 FROM generate_series(1, 50) n; COMMIT`,
  `BEGIN; SET CONSTRAINTS ALL DEFERRED; INSERT INTO c SELECT 3000 + n, 'later' || n, 1 FROM generate_series(1, 50) n;
     INSERT INTO m SELECT 9100 + n, 9100 + n, 1, 'later' || n, 0 FROM generate_series(1, 49) n; COMMIT`,
  "ROLLBACK",
  `BEGIN; SET CONSTRAINTS ALL DEFERRED; INSERT INTO c SELECT 3000 + n, 'late' || n, n FROM generate_series(1, 50) n;
     SET CONSTRAINTS ALL IMMEDIATE; COMMIT`,
  `BEGIN; SET CONSTRAINTS ALL DEFERRED; INSERT INTO c SELECT 4000 + n, 'none' || n, n FROM generate_series(1, 50) n;
     SET CONSTRAINTS ALL IMMEDIATE`,
  "ROLLBACK",
  // Own writes of a block, and savepoints.
  `BEGIN; DELETE FROM m WHERE id IN (${list(40, (n) => String(100 + n))});
     INSERT INTO m SELECT 100 + n, 100 + n, (100 + n) / 2.0, 'e' || (100 + n), 0 FROM generate_series(0, 45) n`,
  "ROLLBACK",
  `BEGIN; DELETE FROM m WHERE id IN (${list(40, (n) => String(100 + n))}); SAVEPOINT s;
     INSERT INTO m SELECT 100 + n, 100 + n, (100 + n) / 2.0, 'e' || (100 + n), 0 FROM generate_series(0, 39) n;
     UPDATE m SET email = upper(email) WHERE id IN (${list(60, (n) => String(90 + n))}); ROLLBACK TO s;
     INSERT INTO m SELECT 100 + n, 100 + n, n, 'e' || (100 + n), 0 FROM generate_series(5, 35) n; COMMIT`,
  "ROLLBACK",
  // Keys that stay, move and change places.
  `UPDATE m SET email = CASE id WHEN 247 THEN 'e7' ELSE 'y' || id END WHERE id IN (${
    list(50, (n) => String(200 + n))
  })`,
  `UPDATE m SET email = 'z' || (id + 1), v = 9 WHERE id IN (${
    list(50, (n) => String(200 + n))
  }) RETURNING id`,
  `UPDATE m SET id = id + 20000 WHERE id IN (${list(50, (n) => String(200 + n))})`,
  `DELETE FROM m WHERE email IN (${list(60, (n) => `'e${n + 1}'`)}) RETURNING id`,
  "SELECT count(*), count(email), sum(m) FROM c",
  // Numbers and random keys, once each.
  "INSERT INTO s (n) SELECT n FROM generate_series(1, 60) n",
  "INSERT INTO s (n) SELECT n FROM generate_series(31, 90) n ON CONFLICT (n) DO NOTHING RETURNING id",
  "INSERT INTO s (n) SELECT n FROM generate_series(81, 140) n ON CONFLICT (n) DO UPDATE SET id = nextval('s_id_seq') RETURNING id",
  "SELECT count(DISTINCT k), max(id), nextval('s_id_seq') FROM s",
  "SELECT * FROM m ORDER BY id",
  "SELECT * FROM c ORDER BY id",
];

const COPIED: readonly (readonly [sql: string, data: string])[] = [
  ["COPY m FROM STDIN", list(60, (n) => `${30000 + n}\t${30000 + n}\t1\tcopied${n}\t1\n`, "")],
  [
    "COPY m FROM STDIN",
    list(60, (n) => `${30100 + n}\t${30100 + n}\t1\tcopied${n === 44 ? 3 : n + 100}\t1\n`, ""),
  ],
  [
    "COPY m FROM STDIN",
    list(60, (n) => `${30100 + n}\t${30100 + n}\t1\tCOPIED${n === 44 ? 3 : n + 100}\t1\n`, ""),
  ],
  ["COPY m FROM STDIN", list(60, (n) => `${30200 - n * 3}\t${n + 40000}\t\\N\t\\N\t1\n`, "")],
  ["COPY m FROM STDIN", list(60, (n) => `${300 + n * 3}\t${n + 50000}\t\\N\t\\N\t1\n`, "")],
  ["COPY c FROM STDIN", list(60, (n) => `${50000 + n}\tcopied${n}\t${30000 + n}\n`, "")],
  ["COPY c FROM STDIN", list(60, (n) => `${51000 + n}\tcopied${n}\t${n === 50 ? 99999 : 30000 + n}\n`, "")],
];

Deno.test("statements over many keys answer the same with 2 and 4 shards and without", async () => {
  const steps: Step[] = SCRIPT.slice(0, -2).map((sql) =>
    sql.includes("RETURNING") ? { sql, ordered: false } : { sql }
  );
  steps.push(...COPIED.map(([sql, data]) => ({ sql, data })), ...SCRIPT.slice(-2).map((sql) => ({ sql })));
  const alone = await scriptAnswers(null, steps);
  const failed = alone.filter((answer) => /\n\["2350/.test(answer)).length;
  ok(failed >= 10, `${failed} fail`);
  for (const shardCount of [2, 4]) {
    const answers = await scriptAnswers(shardCount, steps);
    for (const [index, answer] of answers.entries()) {
      strictEqual(answer, alone[index], `${shardCount} shards`);
    }
  }
});

const MANY = "INSERT INTO t SELECT n + 10000, n * 7 + 1, 'k' || n FROM generate_series(1, 100) n";

Deno.test("many keys are waited for where a rival has one of them, and are the rival's when it commits", async () => {
  const engine = await openShardedEngine(SHARDS, lateShards(3));
  const [rival, session] = [engine.openSession(), engine.openSession()];
  await runDurably(rival, TABLES);
  for (const end of ["ROLLBACK", "COMMIT"]) {
    await runDurably(rival, `BEGIN; INSERT INTO t VALUES (20001, ${50 * 7 + 1}, 'rival')`);
    let isDone = false;
    const waiting = runDurably(session, MANY).finally(() => isDone = true);
    waiting.catch(() => {});
    for (let turn = 0; turn < 60; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    strictEqual(isDone, false);
    await runDurably(rival, end);
    if (end === "COMMIT") await rejects(waiting, (error: DatabaseError) => error.code === "23505");
    else {
      await waiting;
      await runDurably(rival, "DELETE FROM t WHERE id BETWEEN 10001 AND 10100");
    }
  }
  deepStrictEqual(await runDurably(rival, "SELECT count(*)::int FROM t WHERE id > 10000"), [[1]]);
  await engine.close();
});

Deno.test("a key that was free at the block's cut and is given meanwhile is a conflict, and many are as one", async () => {
  for (const change of [MANY, `${MANY} ON CONFLICT DO NOTHING`]) {
    const engine = await openShardedEngine(SHARDS, lateShards(5));
    const [block, other] = [engine.openSession(), engine.openSession()];
    await runDurably(other, TABLES);
    await runDurably(block, "BEGIN; SELECT count(*) FROM child");
    await runDurably(other, `INSERT INTO t VALUES (20001, ${50 * 7 + 1}, 'other')`);
    await rejects(
      runDurably(block, change).then(() => runDurably(block, "COMMIT")),
      (error: DatabaseError) => error.code === "40001",
    );
    await runDurably(block, "ROLLBACK");
    deepStrictEqual(await runDurably(other, "SELECT count(*)::int FROM t WHERE code % 7 = 1"), [[1]]);
    await engine.close();
  }
});

Deno.test("rows that keep others from being inserted are not locked by that", async () => {
  const engine = await openShardedEngine(SHARDS, lateShards(9));
  const [block, other] = [engine.openSession(), engine.openSession()];
  await runDurably(other, TABLES);
  await runDurably(
    block,
    "BEGIN; INSERT INTO t SELECT n + 10000, n * 7, 'k' || n FROM generate_series(1, 50) n ON CONFLICT DO NOTHING",
  );
  await runDurably(other, "SET lock_timeout = '5s'; UPDATE t SET v = 1 WHERE code IN (7, 14, 21)");
  await runDurably(block, "ROLLBACK");
  await engine.close();
});

Deno.test("what cannot be taken back is not done because something was taken to be missing", async () => {
  const { client } = await watched();
  const rows = await client.rows(
    `BEGIN; UPDATE t SET v = 1 WHERE id = 1;
     SELECT count(pg_try_advisory_lock(77)) WHERE NOT EXISTS (SELECT 1 FROM t WHERE id = 5)`,
  );
  deepStrictEqual(rows, ["0"]);
  deepStrictEqual(await client.rows("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), ["0"]);
  await client.run("COMMIT");
  await client.close();
});

Deno.test("a block of many statements keeps no more of what it has looked for than a bounded part", async () => {
  const { client, asked } = await watched();
  const key = "repeat('x', 8000)";
  await client.run(
    "CREATE TABLE wide (id INT PRIMARY KEY, k TEXT UNIQUE)",
    `INSERT INTO wide VALUES (-1, ${key} || 7)`,
    "BEGIN",
  );
  // Each of the statements knows of nine megabytes of keys then: more than a statement's memory in all.
  for (let first = 0; first < 16_000; first += 400) {
    await client.run(
      "SAVEPOINT s",
      `INSERT INTO wide SELECT n, ${key} || 'a' || n FROM generate_series(${first}, ${first + 399}) n`,
      "ROLLBACK TO s",
    );
  }
  await rejects(
    client.run(`INSERT INTO wide VALUES (999999, ${key} || 7)`),
    (error: DatabaseError) => error.code === "23505",
  );
  await client.run("ROLLBACK");
  ok(asked.flat().every((request) => request.kind !== "fetch" || request.wanted.kind === "points"));
  await client.close();
});
