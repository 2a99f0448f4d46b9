/** SHARD BY: the same answers with any number of shards, rows where they belong, and tables that move. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type { Database } from "../../mod.ts";
import { scriptAnswers } from "./script_answers.ts";
import { openShards } from "./sharded_database.ts";

/** A script by lines. */
function steps(text: string): { readonly sql: string }[] {
  return text.trim().split("\n").map((line) => ({ sql: line.trim() }));
}

async function sameAnswers(text: string, refused: number): Promise<void> {
  const script = steps(text);
  const alone = await scriptAnswers(1, script);
  for (const shardCount of [2, 4]) deepStrictEqual(await scriptAnswers(shardCount, script), alone);
  const failed = alone.filter((answer) => answer.includes('\n["'));
  strictEqual(failed.length, refused, failed.join("\n"));
}

Deno.test("SHARD BY gives the same answers with any number of shards", () =>
  sameAnswers(
    `
    CREATE TABLE c (id INT PRIMARY KEY, name TEXT UNIQUE)
    CREATE TABLE o (id INT PRIMARY KEY, cid INT REFERENCES c(id), v NUMERIC) SHARD BY (cid)
    CREATE TABLE a (k TEXT PRIMARY KEY, v INT) SHARD BY ALL
    INSERT INTO c SELECT n, 'c' || n FROM generate_series(1,20) AS n
    INSERT INTO o SELECT n, n % 20 + 1, n FROM generate_series(1,100) AS n
    INSERT INTO a SELECT 'k' || n, n FROM generate_series(1,10) AS n
    SELECT count(*), sum(v) FROM a
    SELECT * FROM a WHERE k = 'k3'
    UPDATE a SET v = v + 1 WHERE k = 'k3'
    DELETE FROM a WHERE k = 'k4'
    INSERT INTO a VALUES ('k5', 1)
    INSERT INTO a VALUES ('k5', 1) ON CONFLICT (k) DO UPDATE SET v = a.v + 100
    SELECT count(*), sum(v) FROM a
    SELECT count(*), sum(v) FROM o WHERE cid = 3
    UPDATE o SET cid = 4 WHERE cid = 3
    SELECT count(*), sum(v) FROM o WHERE cid = 3
    SELECT count(*), sum(v) FROM o WHERE cid = 4
    UPDATE o SET cid = NULL WHERE cid = 5
    SELECT id FROM o WHERE cid IS NULL ORDER BY id
    UPDATE o SET cid = 99 WHERE cid = 6
    SELECT * FROM o WHERE id = 42
    DELETE FROM o WHERE id = 42
    INSERT INTO o VALUES (41, 1, 1)
    INSERT INTO o VALUES (41, 1, 1) ON CONFLICT (id) DO UPDATE SET cid = 7
    SELECT * FROM o WHERE id = 41
    UPDATE o SET id = id + 1000 WHERE cid = 7
    SELECT count(*), sum(id) FROM o WHERE cid = 7
    DELETE FROM c WHERE id = 7
    SELECT count(*) FROM o JOIN c ON o.cid = c.id JOIN a ON a.v = c.id
    BEGIN
    UPDATE o SET cid = 9 WHERE id = 1
    SAVEPOINT s
    UPDATE o SET cid = 11 WHERE cid = 9
    SELECT count(*) FROM o WHERE cid = 11
    DELETE FROM o WHERE cid = 11
    ROLLBACK TO s
    SELECT count(*) FROM o WHERE cid = 9
    COMMIT
    SELECT id, cid FROM o WHERE cid = 9 ORDER BY id
    MERGE INTO o USING (VALUES (2, 15), (500, 15)) AS s (id, cid) ON o.id = s.id WHEN MATCHED THEN UPDATE SET cid = s.cid WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.cid, 0)
    SELECT id, cid FROM o WHERE cid = 15 ORDER BY id
    TRUNCATE o
    SELECT count(*) FROM o
    `,
    4,
  ));

Deno.test("equal values in several forms lie together", () =>
  sameAnswers(
    `
    CREATE TABLE n (x NUMERIC, y INT) SHARD BY (x)
    INSERT INTO n VALUES (1.0, 1), (1.00, 2), (1, 3), (NULL, 4), ('NaN', 5), (-0.0, 6), (0, 7), ('Infinity', 8)
    INSERT INTO n SELECT x + 0.000, y + 100 FROM n
    SELECT count(*), sum(y) FROM n WHERE x = 1
    SELECT sum(y) FROM n WHERE x IS NULL
    SELECT sum(y) FROM n WHERE x = 'NaN'
    SELECT sum(y) FROM n WHERE x = 0.00
    SELECT sum(y) FROM n WHERE x = 'Infinity'
    CREATE TABLE f (x FLOAT8, y INT) SHARD BY (x)
    INSERT INTO f VALUES ('-0', 1), (0, 2), ('NaN', 3), ('-Infinity', 4), (1e300, 5), (4.9e-324, 6)
    SELECT sum(y) FROM f WHERE x = 0
    SELECT sum(y) FROM f WHERE x = '-0'
    SELECT sum(y) FROM f WHERE x = 'NaN'
    SELECT sum(y) FROM f WHERE x = 1e300
    CREATE TABLE h (x CHAR(8), y INT) SHARD BY (x)
    INSERT INTO h VALUES ('a', 1), ('a  ', 2), ('', 3), ('A', 4)
    SELECT sum(y) FROM h WHERE x = 'a '
    CREATE TABLE s (x INTERVAL, y INT) SHARD BY (x)
    INSERT INTO s VALUES ('1 month', 1), ('30 days', 2), ('720 hours', 3)
    SELECT sum(y) FROM s WHERE x = '30 days'
    CREATE TABLE b (x JSONB, y INT) SHARD BY (x)
    INSERT INTO b VALUES ('{"a":1.0,"b":2}', 1), ('{"b":2, "a":1.00}', 2), ('null', 3), (NULL, 4)
    SELECT sum(y) FROM b WHERE x = '{"a":1,"b":2}'
    CREATE TABLE r (x NUMERIC[], y INT) SHARD BY (x)
    INSERT INTO r VALUES ('{1.0,2}', 1), ('{1,2.00}', 2), ('{}', 3), ('{NULL}', 4)
    SELECT sum(y) FROM r WHERE x = '{1,2}'
    CREATE TABLE i (x BIGINT, y INT) SHARD BY (x)
    INSERT INTO i VALUES (9223372036854775807, 1), (-9223372036854775808, 2), (0, 3), (-1, 4), (4294967296, 5)
    SELECT y FROM i WHERE x = 9223372036854775807
    SELECT y FROM i WHERE x = -9223372036854775808
    SELECT y FROM i WHERE x = 4294967296
    CREATE TABLE d (x DATE, t TIMESTAMPTZ, y INT) SHARD BY (x)
    INSERT INTO d VALUES ('infinity', 'infinity', 1), ('-infinity', '-infinity', 2), ('2000-01-01', '1999-12-31', 3)
    SELECT y FROM d WHERE x = 'infinity'
    SELECT y FROM d WHERE x = '2000-01-01'
    ALTER TABLE d SHARD BY (t)
    SELECT y FROM d WHERE t = '-infinity'
    CREATE TYPE mood AS ENUM ('sad', 'ok')
    CREATE TABLE e (x mood, u UUID, z BYTEA, w BOOL, y INT) SHARD BY (x)
    INSERT INTO e VALUES ('sad', '00000000-0000-0000-0000-00000000000a', 'a', true, 1), ('ok', NULL, '', false, 2), (NULL, NULL, NULL, NULL, 3)
    SELECT y FROM e WHERE x = 'ok'
    ALTER TABLE e SHARD BY (u)
    SELECT y FROM e WHERE u = '00000000-0000-0000-0000-00000000000A'
    ALTER TABLE e SHARD BY (z)
    SELECT y FROM e WHERE z = ''
    ALTER TABLE e SHARD BY (w)
    SELECT y FROM e WHERE w
    SELECT y FROM e WHERE w = false
    `,
    0,
  ));

Deno.test("ALTER TABLE ... SHARD BY moves rows, and columns of the placement change", () =>
  sameAnswers(
    `
    CREATE TABLE o (id INT PRIMARY KEY, cid INT, v NUMERIC, w TEXT)
    INSERT INTO o SELECT n, n % 7, n, 'w' || n % 5 FROM generate_series(1,100) AS n
    ALTER TABLE o SHARD BY (cid)
    SELECT count(*), sum(id) FROM o WHERE cid = 3
    ALTER TABLE o SHARD BY (v)
    SELECT count(*), sum(id) FROM o WHERE v = 7
    ALTER TABLE o SHARD BY ALL
    SELECT count(*), sum(id), sum(v) FROM o
    UPDATE o SET v = v + 1 WHERE id < 50
    DELETE FROM o WHERE id = 51
    INSERT INTO o VALUES (51, 1, 1, 'w'), (101, 1, 1, 'w')
    SELECT count(*), sum(id), sum(v) FROM o
    ALTER TABLE o SHARD BY (w)
    SELECT count(*), sum(id) FROM o WHERE w = 'w3'
    SELECT w, count(*) FROM o GROUP BY w ORDER BY w
    ALTER TABLE o RESET (shard_by)
    SELECT * FROM o WHERE id = 12
    SELECT count(*), sum(id), sum(v) FROM o
    ALTER TABLE o SHARD BY (id)
    SELECT * FROM o WHERE id = 12
    ALTER TABLE o DROP CONSTRAINT o_pkey
    SELECT v FROM o WHERE id = 12
    UPDATE o SET id = id + 1
    SELECT v FROM o WHERE id = 12
    ALTER TABLE o ADD PRIMARY KEY (id)
    SELECT v FROM o WHERE id = 12
    ALTER TABLE o SHARD BY (cid)
    ALTER TABLE o ALTER COLUMN cid TYPE NUMERIC USING cid + 0.50
    SELECT count(*), sum(id) FROM o WHERE cid = 3.5
    ALTER TABLE o ALTER COLUMN cid TYPE JSON USING NULL
    ALTER TABLE o DROP COLUMN cid
    ALTER TABLE o DROP COLUMN cid CASCADE
    ALTER TABLE o RENAME COLUMN cid TO "All"
    SELECT count(*), sum(id) FROM o WHERE "All" = 3.5
    SELECT reloptions FROM pg_class WHERE relname = 'o'
    ALTER TABLE o SET (shard_by = '"All"', fillfactor = 70)
    SELECT reloptions FROM pg_class WHERE relname = 'o'
    BEGIN
    UPDATE o SET "All" = 1.5 WHERE id = 20
    INSERT INTO o VALUES (1000, 1.5, 0, 'w')
    DELETE FROM o WHERE id = 21
    ALTER TABLE o ADD COLUMN x INT DEFAULT 5, SHARD BY (x)
    SELECT count(*), sum(id) FROM o WHERE x = 5
    UPDATE o SET x = id WHERE id > 90
    INSERT INTO o VALUES (1001, 2.5, 0, 'w', 6)
    SELECT count(*), sum(id) FROM o WHERE x > 5
    COMMIT
    SELECT count(*), sum(id) FROM o WHERE x = 5
    SELECT id, "All" FROM o WHERE x IN (6, 95, 1000) ORDER BY id
    BEGIN
    ALTER TABLE o SHARD BY ALL
    SELECT count(*), sum(id) FROM o
    ROLLBACK
    SELECT count(*), sum(id) FROM o WHERE x = 5
    SELECT reloptions FROM pg_class WHERE relname = 'o'
    ALTER TABLE o DROP COLUMN "All"
    CREATE TABLE g (a INT, b INT GENERATED ALWAYS AS (a * 2) STORED) SHARD BY (b)
    INSERT INTO g SELECT n FROM generate_series(1, 20) AS n
    UPDATE g SET a = a + 1
    SELECT a FROM g WHERE b = 20
    ALTER TABLE g DROP COLUMN a CASCADE
    CREATE TABLE q SHARD BY (n) AS SELECT n, n * n AS m FROM generate_series(1, 30) AS n
    SELECT m FROM q WHERE n = 7
    CREATE TABLE bad (a INT) SHARD BY (b)
    CREATE TABLE bad (a JSON) SHARD BY (a)
    CREATE TABLE bad (a INT, b INT) SHARD BY (a, b)
    CREATE TABLE bad (a INT) SHARD BY (a) WITH (shard_by = a)
    CREATE TABLE bad (a INT) WITH (shard_with = a)
    CREATE TEMP TABLE tt (a INT) SHARD BY (a)
    INSERT INTO tt VALUES (1)
    SELECT * FROM tt WHERE a = 1
    `,
    9,
  ));

Deno.test("one shard answers where the column of SHARD BY is equal to a value, in whatever form", async () => {
  await using database = await openShards(16);
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["NUMERIC", ["1", "1.0", "1.000"]],
    ["NUMERIC", ["0", "-0.0"]],
    ["NUMERIC(9,2)", ["1.5", "1.50"]],
    ["FLOAT8", ["0", "'-0'"]],
    ["FLOAT8", ["'NaN'"]],
    ["CHAR(8)", ["'a'", "'a '"]],
    ["VARCHAR(9)", ["'a'"]],
    ["INTERVAL", ["'30 days'", "'1 month'", "'720 hours'"]],
    ["JSONB", ['\'{"a":1.0, "b":2}\'', '\'{"b":2,"a":1}\'']],
    ["NUMERIC[]", ["'{1,2}'", "'{1.0,2.00}'"]],
    ["BIGINT", ["9223372036854775807"]],
    ["SMALLINT", ["-32768"]],
    ["DATE", ["'2000-01-01'"]],
    ["UUID", ["'00000000-0000-0000-0000-00000000000a'", "'00000000-0000-0000-0000-00000000000A'"]],
    ["BYTEA", ["''"]],
    ["BOOL", ["true", "'t'"]],
  ];
  for (const [type, values] of cases) {
    await database.execute(`CREATE TABLE v (id INT PRIMARY KEY, x ${type}) SHARD BY (x)`);
    for (const [index, value] of values.entries()) {
      await database.execute(`INSERT INTO v VALUES (${index}, ${value}), (${index + 10}, NULL)`);
    }
    for (const value of values) {
      for (const condition of [`x = ${value}`, `x = ${value} AND id < 100`, `${value} = x AND id = 0`]) {
        match(
          await place(database, "v", condition),
          /^Route: shard \d+ of 16 \(x\)$/,
          `${type} ${condition}`,
        );
        const found = await database.query(`SELECT FROM v WHERE ${condition}`);
        strictEqual(found.length, condition.endsWith("id = 0") ? 1 : values.length, `${type} ${condition}`);
      }
    }
    await database.execute("DROP TABLE v");
  }
});

async function place(database: Database, table: string, condition: string): Promise<string> {
  const lines = await database.query(`EXPLAIN SELECT * FROM ${table} WHERE ${condition}`);
  return String(lines.at(-1)?.["QUERY PLAN"]);
}

async function rowsOfShards(database: Database): Promise<number[]> {
  // The first look asks the shards.
  await database.query("SELECT FROM db_shards");
  const list = await database.query("SELECT rows FROM db_shards ORDER BY shard");
  return list.map(({ rows }) => Number(rows));
}

Deno.test("rows lie beside those that they refer to, and all of a SHARD BY ALL at each shard", async () => {
  await using database = await openShards(4);
  await database.execute("CREATE TABLE p (id INT PRIMARY KEY, name TEXT)");
  await database.execute("CREATE TABLE c (id BIGINT PRIMARY KEY, pid BIGINT REFERENCES p) SHARD BY (pid)");
  await database.execute("CREATE TABLE g (id INT PRIMARY KEY, a INT, pid INT REFERENCES p) SHARD BY (a)");
  await database.execute("CREATE TABLE l (id INT PRIMARY KEY, pid BIGINT) SHARD BY (pid)");
  await database.execute("INSERT INTO p SELECT n, 'p' || n FROM generate_series(1, 50) AS n");
  await database.execute("INSERT INTO c SELECT n, n % 50 + 1 FROM generate_series(1, 500) AS n");
  await database.execute("INSERT INTO l SELECT n, n % 50 + 1 FROM generate_series(1, 500) AS n");
  const shardOf = async (table: string, condition: string): Promise<string> => {
    const found = /^Route: shard (\d) of 4 \((\w+)\)$/.exec(await place(database, table, condition));
    ok(found !== null, await place(database, table, condition));
    return found[1] ?? "";
  };
  let same = 0;
  for (let id = 1; id <= 50; id++) {
    const parent = await shardOf("p", `id = ${id}`);
    strictEqual(await shardOf("c", `pid = ${id}`), parent);
    if (await shardOf("l", `pid = ${id}`) === parent) same++;
  }
  ok(same < 40, "a table without a foreign key has places of its own");
  // The key comes later, as in a dump.
  await database.execute("ALTER TABLE l ADD FOREIGN KEY (pid) REFERENCES p");
  for (let id = 1; id <= 50; id++) {
    strictEqual(await shardOf("l", `pid = ${id}`), await shardOf("p", `id = ${id}`));
    strictEqual((await database.query("SELECT FROM l WHERE pid = $1", [id])).length, 10);
  }
  match(await place(database, "c", "pid = 7"), /Route: shard \d of 4 \(pid\)/);
  match(await place(database, "c", "id = 7"), /Route: gather \(shards 0-3\)/);
  const before = await rowsOfShards(database);
  strictEqual(before.reduce((sum, rows) => sum + rows, 0), 1050);
  await database.execute("ALTER TABLE p SHARD BY ALL");
  const after = await rowsOfShards(database);
  strictEqual(after.reduce((sum, rows) => sum + rows, 0), 1200);
  match(await place(database, "p", "id = 7"), /Route: shard \d of 4 \(copy\)/);
  match(await place(database, "p", "name = 'p7'"), /Route: shard \d of 4 \(copy\)/);
  strictEqual((await database.query("SELECT FROM p")).length, 50);
  const [joined] = await database.query("SELECT count(*)::int AS n FROM c JOIN p ON p.id = c.pid");
  strictEqual(joined?.n, 500);
});

Deno.test("joins of tables that lie together, of copies and of others, give what they give without shards", async () => {
  const tables = `
    CREATE TABLE p (id INT PRIMARY KEY, k INT)
    CREATE TABLE c (id INT PRIMARY KEY, pid INT, v INT) SHARD BY (pid)
    CREATE TABLE g (id INT PRIMARY KEY, cid INT, pid INT REFERENCES p) SHARD BY (pid)
    CREATE TABLE a (id INT PRIMARY KEY, k INT) SHARD BY ALL
    CREATE TABLE b (id INT PRIMARY KEY, k INT) SHARD BY ALL
    INSERT INTO p SELECT n, n % 9 FROM generate_series(1, 400) AS n
    ALTER TABLE c ADD FOREIGN KEY (pid) REFERENCES p
    INSERT INTO c SELECT n, NULLIF(n % 50, 0), n % 7 FROM generate_series(1, 500) AS n
    INSERT INTO g SELECT n, n % 600, NULLIF(n % 60, 0) FROM generate_series(1, 500) AS n
    INSERT INTO a SELECT n, NULLIF(n % 11, 0) FROM generate_series(1, 30) AS n
    INSERT INTO b SELECT n, n % 5 FROM generate_series(1, 8) AS n
    `;
  const joins: string[] = [];
  const sides = [["p", "id"], ["c", "pid"], ["c", "id"], ["g", "pid"], ["a", "id"], ["b", "k"], ["a", "k"], [
    "c",
    "v",
  ]] as const;
  for (const [left, leftKey] of sides) {
    for (const [right, rightKey] of sides) {
      for (const kind of ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]) {
        joins.push(
          `SELECT count(*), sum(x.id), sum(y.id) FROM ${left} x ${kind} ${right} y ON x.${leftKey} = y.${rightKey}`,
        );
      }
      const condition = `SELECT ${rightKey} FROM ${right} y WHERE y.id > 3`;
      joins.push(`SELECT count(*), sum(x.id) FROM ${left} x WHERE x.${leftKey} IN (${condition})`);
      joins.push(`SELECT count(*), sum(x.id) FROM ${left} x WHERE x.${leftKey} NOT IN (${condition})`);
      joins.push(
        `SELECT count(*) FROM ${left} x WHERE NOT EXISTS (SELECT FROM ${right} y WHERE y.${rightKey} = x.${leftKey})`,
      );
    }
  }
  joins.push(
    "SELECT count(*), sum(g.id) FROM p JOIN c ON c.pid = p.id JOIN g ON g.pid = p.id JOIN a ON a.id = p.id",
    "SELECT p.id, count(*) FROM p JOIN c ON c.pid = p.id WHERE p.id = 7 GROUP BY p.id",
    "SELECT count(*) FROM p LEFT JOIN c ON c.pid = p.id WHERE c.pid = 7",
    "SELECT count(*) FROM a LEFT JOIN b ON b.k = a.k LEFT JOIN c ON c.pid = a.id",
    "SELECT count(*), sum(a.id), sum(c.id) FROM a FULL JOIN b ON b.id = a.k JOIN c ON c.v = coalesce(a.k, b.k)",
    "SELECT a.id, b.id FROM a JOIN b USING (id) ORDER BY a.id LIMIT 3",
  );
  await sameAnswers(`${tables.trim()}\n${joins.join("\n")}`, 0);
  await using database = await openShards(4);
  for (const { sql } of steps(tables)) await database.execute(sql);
  const plan = async (sql: string): Promise<string> =>
    (await database.query(`EXPLAIN ${sql}`)).map((row) => row["QUERY PLAN"]).join("\n");
  for (
    const sql of [
      "SELECT count(*) FROM p JOIN c ON c.pid = p.id",
      "SELECT count(*) FROM c JOIN g ON c.pid = g.pid",
      "SELECT count(*) FROM c LEFT JOIN a ON a.id = c.v",
    ]
  ) {
    const text = await plan(sql);
    match(text, /Fragment 1[\s\S]*Hash/);
    ok(!/Broadcast|Repartition/.test(text), text);
  }
});
