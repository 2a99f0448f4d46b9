/**
 * ADD COLUMN with a value that is computed for each row, or with constraints over it, beside transactions with
 * uncommitted rows in the table: nobody waits, every row has one value, and the constraints hold.
 *
 * `a` writes in a block, `b` alters, `c` looks.
 */
import { match, ok, strictEqual } from "node:assert/strict";
import { isWaiting } from "./client_for_test.ts";
import { ALL, copy, scenario, stopped } from "./scenarios_for_test.ts";

/** What a column of random values says about itself. */
const DRAWN = "SELECT count(*), count(x), count(DISTINCT x) FROM t";

scenario("a random value for each row, drawn once", async (a, b, c) => {
  await a.run(
    "BEGIN; UPDATE t SET n = 11 WHERE id = 1; INSERT INTO t VALUES (4, 40, 'd'); DELETE FROM t WHERE id = 2",
  );
  strictEqual(await b.run("ALTER TABLE t ADD COLUMN x float NOT NULL DEFAULT random()"), "ALTER TABLE");
  strictEqual(await c.run(DRAWN), "3,3,3");
  const first = await c.run("SELECT x FROM t WHERE id = 1"),
    third = await c.run("SELECT x FROM t WHERE id = 3");
  strictEqual(await a.run(DRAWN), "3,3,3");
  strictEqual(await a.run("SELECT x, n FROM t WHERE id = 1"), `${first},11`);
  strictEqual(await a.run("SELECT x, n FROM t WHERE id = 3"), `${third},30`);
  const fourth = await a.run("SELECT x FROM t WHERE id = 4");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await c.run("SELECT x FROM t ORDER BY id"), [first, third, fourth].join(";"));
});

scenario("generated columns follow the rows as they are written", async (a, b, c) => {
  await a.run("BEGIN; UPDATE t SET n = 11 WHERE id = 1; INSERT INTO t VALUES (4, 40, 'd'); SAVEPOINT s");
  await a.run("UPDATE t SET n = 12 WHERE id = 1; UPDATE t SET n = 41 WHERE id = 4");
  strictEqual(
    await b.run("ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (n * 2) STORED CHECK (x > 0)"),
    "ALTER TABLE",
  );
  strictEqual(await c.run(ALL), "1,10,a,20;2,20,b,40;3,30,c,60");
  strictEqual(await a.run(ALL), "1,12,a,24;2,20,b,40;3,30,c,60;4,41,d,82");
  await a.run("ROLLBACK TO s");
  strictEqual(await a.run(ALL), "1,11,a,22;2,20,b,40;3,30,c,60;4,40,d,80");
  await a.run("UPDATE t SET n = 13 WHERE id = 2");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await c.run(ALL), "1,11,a,22;2,13,b,26;3,30,c,60;4,40,d,80");
});

scenario("serial and identity columns", async (a, b, c) => {
  await a.run("BEGIN; UPDATE t SET n = 11 WHERE id = 1; INSERT INTO t VALUES (4, 40, 'd'), (5, 50, 'e')");
  await c.run("BEGIN; INSERT INTO t VALUES (6, 60, 'f')");
  await b.run(
    "ALTER TABLE t ADD COLUMN x serial UNIQUE, ADD COLUMN y int GENERATED ALWAYS AS IDENTITY (START 100)",
  );
  strictEqual(await b.run("SELECT id, x, y FROM t ORDER BY id"), "1,1,100;2,2,101;3,3,102");
  strictEqual(
    await a.run("SELECT id, n, x, y FROM t ORDER BY id"),
    "1,11,1,100;2,20,2,101;3,30,3,102;4,40,4,103;5,50,5,104",
  );
  strictEqual(await a.run("INSERT INTO t (id, n) VALUES (7, 70) RETURNING x, y"), "6,105");
  await c.run("COMMIT");
  await a.run("ROLLBACK");
  await b.run("INSERT INTO t (id, n) VALUES (8, 80)");
  strictEqual(await b.run("SELECT id, x, y FROM t WHERE id > 3 ORDER BY id"), "6,7,106;8,8,107");
});

scenario("a savepoint draws nothing again", async (a, b) => {
  await a.run(
    "BEGIN; INSERT INTO t VALUES (4, 40, 'd'), (5, 50, 'e'); SAVEPOINT s; UPDATE t SET n = 41 WHERE id = 4",
  );
  await a.run("DELETE FROM t WHERE id = 5");
  await b.run("ALTER TABLE t ADD COLUMN x float DEFAULT random()");
  const drawn = await a.run("SELECT x FROM t WHERE id IN (1, 4) ORDER BY id");
  await a.run("ROLLBACK TO s");
  strictEqual(await a.run("SELECT x FROM t WHERE id IN (1, 4) ORDER BY id"), drawn);
  const fifth = await a.run("SELECT x FROM t WHERE id = 5");
  await a.run("DELETE FROM t WHERE id = 5; ROLLBACK TO s");
  strictEqual(await a.run("SELECT x FROM t WHERE id = 5"), fifth);
  await a.run("COMMIT");
  strictEqual(await b.run("SELECT x FROM t WHERE id IN (1, 4) ORDER BY id"), drawn);
});

scenario("an older snapshot never shows NULL", async (a, b, c) => {
  await a.run("CREATE TABLE u (k int PRIMARY KEY); INSERT INTO u VALUES (1)");
  // Nothing that it has read has changed: it goes on at a newer snapshot.
  await a.run("BEGIN; SELECT * FROM u");
  await c.run("BEGIN; SELECT n FROM t WHERE id = 1");
  await b.run("ALTER TABLE t ADD COLUMN x float NOT NULL DEFAULT random()");
  strictEqual(await a.run(DRAWN), "3,3,3");
  await b.run("UPDATE u SET k = 2");
  strictEqual(await a.run("SELECT * FROM u"), "1");
  strictEqual(await c.run("SELECT n FROM t WHERE id = 1"), "10");
  await a.run("ROLLBACK");
  // What it has read has changed, so it cannot.
  await b.run("UPDATE t SET n = 11 WHERE id = 1; ALTER TABLE t ADD COLUMN y float NOT NULL DEFAULT random()");
  strictEqual(await c.fails("SELECT y FROM t WHERE id = 3"), "40001");
  await c.run("ROLLBACK; BEGIN READ ONLY; SELECT n FROM t WHERE id = 1");
  await b.run("ALTER TABLE t ADD COLUMN z float NOT NULL DEFAULT random()");
  strictEqual(await c.fails("SELECT z FROM t WHERE id = 3"), "40001");
  await c.run("ROLLBACK; BEGIN READ ONLY");
  await b.run("ALTER TABLE t ADD COLUMN w float NOT NULL DEFAULT random()");
  strictEqual(await c.run("SELECT count(w) FROM t"), "3");
  await c.run("COMMIT");
});

scenario("rows that come while the column is added", async (a, b, c) => {
  await b.run("BEGIN");
  await b.run(
    "ALTER TABLE t ADD COLUMN x float NOT NULL DEFAULT random(), ADD y int GENERATED ALWAYS AS (n + 1) STORED",
  );
  const third = await b.run("SELECT x FROM t WHERE id = 3");
  await a.run(
    "UPDATE t SET n = 11 WHERE id = 1; DELETE FROM t WHERE id = 2; INSERT INTO t VALUES (4, 40, 'd')",
  );
  await a.run("BEGIN; UPDATE t SET n = 31 WHERE id = 3; INSERT INTO t VALUES (5, 50, 'e')");
  strictEqual(await b.run("COMMIT"), "COMMIT");
  strictEqual(await c.run("SELECT x FROM t WHERE id = 3"), third);
  strictEqual(await c.run("SELECT id, n, y FROM t ORDER BY id"), "1,11,12;3,30,31;4,40,41");
  strictEqual(await c.run(DRAWN), "3,3,3");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await c.run("SELECT id, n, y FROM t ORDER BY id"), "1,11,12;3,31,32;4,40,41;5,50,51");
  strictEqual(await c.run("SELECT x FROM t WHERE id = 3"), third);
  strictEqual(await c.run(DRAWN), "4,4,4");
});

scenario("the one who adds writes to the table, too", async (a, b, c) => {
  await a.run("INSERT INTO t VALUES (8, 80, 'h'), (9, 90, 'i')");
  await a.run("BEGIN; UPDATE t SET n = 11 WHERE id = 1");
  await b.run("BEGIN; INSERT INTO t VALUES (4, 40, 'd')");
  await b.run("ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (n) STORED, ADD y float DEFAULT random()");
  await b.run("SAVEPOINT s; UPDATE t SET n = 21 WHERE id = 2; DELETE FROM t WHERE id = 3");
  const second = await b.run("SELECT x, y FROM t WHERE id = 2");
  match(second, /^21,0\./);
  const first = b.run("UPDATE t SET n = n + 1 WHERE id = 1 RETURNING x");
  ok(await isWaiting(first));
  await a.run("INSERT INTO t VALUES (5, 50, 'e'); COMMIT");
  strictEqual(await first, "12");
  const fifth = await b.run("SELECT x, y FROM t WHERE id = 5");
  match(fifth, /^50,0\./);
  strictEqual(await b.run("SELECT x, y FROM t WHERE id = 2"), second);
  await b.run("ROLLBACK TO s");
  strictEqual(await b.run("SELECT x, y FROM t WHERE id = 5"), fifth);
  strictEqual(await b.run("SELECT x FROM t WHERE id = 1"), "11");
  // They are nobody's any more.
  const changing =
    "UPDATE t SET n = 88 WHERE id = 8; DELETE FROM t WHERE id = 9; INSERT INTO t VALUES (6, 60, 'f'); UPDATE t SET id = 7 WHERE id = 6";
  await a.run(changing);
  strictEqual(await b.run("COMMIT"), "COMMIT");
  strictEqual(
    await c.run("SELECT id, n, s, x FROM t ORDER BY id"),
    "1,11,a,11;2,20,b,20;3,30,c,30;4,40,d,40;5,50,e,50;7,60,f,60;8,88,h,88",
  );
  strictEqual(await c.run("SELECT x, y FROM t WHERE id = 5"), fifth);
  strictEqual(await c.run("SELECT count(y), count(DISTINCT y) FROM t"), "7,7");
});

scenario("keys and rows of others under the one who adds", async (a, b, c) => {
  await a.run("CREATE TABLE u (k int PRIMARY KEY)");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN x float DEFAULT random(); SAVEPOINT s");
  await a.run("UPDATE t SET s = 'z' WHERE id = 3; UPDATE t SET s = 'y' WHERE id = 2");
  strictEqual(await b.fails("INSERT INTO t VALUES (4, 40, 'z')"), "23505");
  await b.run("ROLLBACK TO s");
  strictEqual(await b.run("INSERT INTO t VALUES (4, 40, 'b') RETURNING x IS NULL"), "false");
  await a.run("UPDATE t SET n = 11 WHERE id = 1");
  strictEqual(await b.run("UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n"), "12");
  await b.run("SAVEPOINT later; UPDATE t SET n = 31 WHERE id = 3; ROLLBACK TO later");
  strictEqual(await b.run("SELECT n FROM t WHERE id = 1"), "12");
  // A row that it has changed and given back is no change for those who have read it.
  await c.run("BEGIN; SELECT n FROM t WHERE id = 3; INSERT INTO u VALUES (1)");
  strictEqual(await b.run("COMMIT"), "COMMIT");
  strictEqual(await c.fails("COMMIT"), "succeeded with COMMIT");
  strictEqual(await c.run("SELECT id, n, s FROM t ORDER BY id"), "1,12,a;2,20,y;3,30,z;4,40,b");
});

scenario("rolled back, it was never there", async (a, b, c) => {
  await a.run("BEGIN; UPDATE t SET n = 11 WHERE id = 1; INSERT INTO t VALUES (4, 40, 'd')");
  await b.run("BEGIN; SAVEPOINT s; ALTER TABLE t ADD COLUMN x float DEFAULT random(); ROLLBACK TO s");
  strictEqual(await b.run(ALL), "1,10,a;2,20,b;3,30,c");
  await b.run("ALTER TABLE t ADD COLUMN y float DEFAULT random(); ROLLBACK");
  strictEqual(await a.run(ALL), "1,11,a;2,20,b;3,30,c;4,40,d");
  await a.run("COMMIT");
  strictEqual(await c.run(ALL), "1,11,a;2,20,b;3,30,c;4,40,d");
});

scenario("constraints are looked at when the writer commits", async (a, b, c) => {
  const write = "BEGIN; INSERT INTO t VALUES (4, 40, 'd'), (5, -50, 'e')";
  const adding = "ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (n % 40) STORED";
  for (
    const [column, code, mend] of [
      [`${adding} CHECK (x >= 0)`, "23514", "UPDATE t SET n = 50 WHERE id = 5"],
      [`${adding} UNIQUE`, "succeeded with COMMIT", ""],
      ["ALTER TABLE t ADD COLUMN x int DEFAULT 1 CHECK (x < n)", "23514", "DELETE FROM t WHERE id = 5"],
      [
        "ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (nullif(n, 40)) STORED NOT NULL",
        "23502",
        "DELETE FROM t WHERE id = 4",
      ],
      [
        "ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (abs(n) / 10 % 4) STORED UNIQUE",
        "succeeded with COMMIT",
        "",
      ],
      [
        "ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (abs(n) / 10 % 2) STORED UNIQUE",
        "23505",
        "DELETE FROM t WHERE id > 3",
      ],
    ] as const
  ) {
    await a.run(write);
    const isUnique = column.includes("% 4") || column.includes("% 2)");
    if (isUnique) await c.run("DELETE FROM t WHERE id IN (1, 2)");
    strictEqual(await b.run(column), "ALTER TABLE", column);
    strictEqual(await a.fails("COMMIT"), code, column);
    if (mend !== "") {
      await b.run("ALTER TABLE t DROP COLUMN x");
      await a.run(write);
      await b.run(column);
      await a.run(mend);
      strictEqual(await a.fails("COMMIT"), "succeeded with COMMIT", column);
    }
    await b.run("ALTER TABLE t DROP COLUMN x; DELETE FROM t WHERE id > 3");
    if (isUnique) await c.run("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b')");
  }
});

scenario("a column that must not be empty, in a table that was", async (a, b, c) => {
  await a.run("DELETE FROM t");
  await a.run("BEGIN; INSERT INTO t VALUES (4, 40, 'd'); SAVEPOINT s; INSERT INTO t VALUES (5, 50, 'e')");
  await b.run("ALTER TABLE t ADD COLUMN x int NOT NULL, ADD COLUMN y int DEFAULT 5 UNIQUE");
  strictEqual(await a.run(ALL), "4,40,d,null,5;5,50,e,null,5");
  await a.run("ROLLBACK TO s; UPDATE t SET x = 1");
  strictEqual(await a.fails("COMMIT"), "succeeded with COMMIT");
  await a.run("BEGIN; INSERT INTO t VALUES (6, 60, 'f', 1, 1)");
  await b.run("BEGIN; DELETE FROM t; ALTER TABLE t ADD COLUMN z int NOT NULL; COMMIT");
  strictEqual(await a.fails("COMMIT"), "23502");
  strictEqual(await c.run("SELECT count(*) FROM t"), "0");
});

scenario("keys of two writers, and of one who comes later", async (a, b, c) => {
  await a.run("DELETE FROM t");
  await a.run("BEGIN; INSERT INTO t VALUES (1, 10, 'a')");
  await c.run("BEGIN; INSERT INTO t VALUES (2, 10, 'b')");
  await b.run("ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (n) STORED UNIQUE");
  await c.run("COMMIT");
  strictEqual(await a.fails("COMMIT"), "23505");
  await c.run("ALTER TABLE t DROP COLUMN x");
  await a.run("BEGIN; INSERT INTO t VALUES (5, 50, 'e')");
  await b.run("ALTER TABLE t ADD COLUMN z int GENERATED ALWAYS AS (n / 5) STORED UNIQUE");
  await c.run("BEGIN; INSERT INTO t VALUES (6, 51, 'f')");
  strictEqual(await a.fails("COMMIT"), "40001");
  await c.run("COMMIT");
  strictEqual(await c.run("SELECT id, z FROM t ORDER BY id"), "2,2;6,10");
});

scenario("those who are added are looked at, too", async (a, b, c) => {
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (n) STORED UNIQUE CHECK (x > 0)");
  await a.run("INSERT INTO t VALUES (4, -40, 'd')");
  strictEqual(await b.fails("COMMIT"), "23514");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (abs(n)) STORED UNIQUE");
  await a.run("INSERT INTO t VALUES (5, 40, 'e')");
  strictEqual(await b.fails("COMMIT"), "23505");
  await b.run("DELETE FROM t WHERE id = 4");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (n) STORED UNIQUE");
  await a.run("UPDATE t SET n = CASE id WHEN 1 THEN 20 WHEN 2 THEN 10 ELSE n END");
  strictEqual(await b.fails("COMMIT"), "succeeded with COMMIT");
  strictEqual(await c.run("SELECT id, x FROM t ORDER BY id"), "1,20;2,10;3,30;5,40");
  await a.run("CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (10), (20), (30), (40)");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN p int GENERATED ALWAYS AS (n) STORED REFERENCES parent");
  await a.run("UPDATE t SET n = 50 WHERE id = 5");
  strictEqual(await b.fails("COMMIT"), "23503");
  await a.run("UPDATE t SET n = 40 WHERE id = 5");
  await a.run("BEGIN; INSERT INTO t VALUES (6, 60, 'f'), (7, 70, 'g')");
  await b.run("ALTER TABLE t ADD COLUMN p int GENERATED ALWAYS AS (n) STORED REFERENCES parent");
  await c.run("INSERT INTO parent VALUES (60)");
  strictEqual(await a.fails("COMMIT"), "23503");
  await b.run("ALTER TABLE t DROP COLUMN p");
  await a.run("BEGIN; INSERT INTO t VALUES (6, 60, 'f'), (7, 70, 'g')");
  await b.run("ALTER TABLE t ADD COLUMN p int GENERATED ALWAYS AS (n) STORED REFERENCES parent");
  await c.run("INSERT INTO parent VALUES (70)");
  strictEqual(await a.fails("COMMIT"), "succeeded with COMMIT");
});

scenario("a primary key that is no number", async (a, b, c) => {
  await a.run("CREATE TABLE child (n int); INSERT INTO child VALUES (1), (2)");
  await a.run("BEGIN; INSERT INTO child VALUES (3)");
  await b.run("ALTER TABLE child ADD COLUMN id uuid PRIMARY KEY DEFAULT gen_random_uuid()");
  strictEqual(await a.fails("COMMIT"), "succeeded with COMMIT");
  strictEqual(await c.run("SELECT count(*), count(DISTINCT id) FROM child"), "3,3");
  match(await c.run("SELECT id FROM child WHERE n = 3"), /^[0-9a-f-]{36}$/);
});

scenario("statements that are under way", async (a, b, c) => {
  const count = "(SELECT count(*) FROM generate_series(1, 2000000))";
  const beside = async (sql: string, column: string) => {
    const stop = stopped(a);
    const running = a.run(sql);
    await stop.reached;
    await b.run(`ALTER TABLE t ADD COLUMN ${column}`);
    stop.go();
    return await running;
  };
  strictEqual(
    await beside(`INSERT INTO t SELECT 4, ${count}, 'd'`, "x float DEFAULT random()"),
    "INSERT 0 1",
  );
  strictEqual(await c.run(DRAWN), "4,4,4");
  const drawn = await c.run("SELECT x FROM t ORDER BY id");
  strictEqual(
    await beside(`UPDATE t SET n = ${count} WHERE id = 1`, "y bigint GENERATED ALWAYS AS (n + 1) STORED"),
    "UPDATE 1",
  );
  strictEqual(await c.run("SELECT y FROM t ORDER BY id"), "2000001;21;31;2000001");
  strictEqual(await c.run("SELECT x FROM t ORDER BY id"), drawn);
  await a.run("BEGIN");
  strictEqual(await beside(`INSERT INTO t SELECT 5, ${count}, 'e'`, "z serial"), "INSERT 0 1");
  strictEqual(await a.run("SELECT id, z FROM t ORDER BY id"), "1,1;2,2;3,3;4,4;5,5");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(
    await beside(`DELETE FROM t WHERE n < ${count} RETURNING id`, "w float DEFAULT random()"),
    "2;3",
  );
  strictEqual(await c.run("SELECT count(w), count(DISTINCT w) FROM t"), "3,3");
});

scenario("bulk loads", async (a, b, c) => {
  await a.run("BEGIN");
  await copy(a, "COPY t FROM STDIN", Array.from({ length: 3000 }, (_, at) => `${at + 10}\t${at}\ts${at}`));
  await a.run("SAVEPOINT s; UPDATE t SET n = -1 WHERE id = 10");
  await b.run(
    "ALTER TABLE t ADD COLUMN x float DEFAULT random(), ADD y int GENERATED ALWAYS AS (n + 1) STORED",
  );
  strictEqual(await a.run(DRAWN), "3003,3003,3003");
  const drawn = await a.run("SELECT sum(x) FROM t WHERE id > 9");
  await a.run("ROLLBACK TO s");
  strictEqual(await a.run("SELECT sum(x) FROM t WHERE id > 9"), drawn);
  strictEqual(await a.run("SELECT y FROM t WHERE id = 10"), "1");
  await copy(
    a,
    "COPY t (id, n, s) FROM STDIN",
    ["4\t40\td", "5\t50\te"],
    () => b.run("ALTER TABLE t ADD COLUMN z int GENERATED ALWAYS AS IDENTITY, ADD w float DEFAULT random()"),
  );
  strictEqual(await a.run("SELECT id, y, z FROM t WHERE id IN (4, 5) ORDER BY id"), "4,41,3004;5,51,3005");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(
    await c.run("SELECT count(DISTINCT x), count(DISTINCT z), count(DISTINCT w) FROM t"),
    "3005,3005,3005",
  );
  strictEqual(await c.run("SELECT count(*) FROM t WHERE y <> n + 1"), "0");
});

scenario("cursors go on, and prepared statements", async (a, b) => {
  await a.run("PREPARE get AS SELECT * FROM t WHERE id = $1");
  await a.run(
    "BEGIN; INSERT INTO t VALUES (4, 40, 'd'); DECLARE k CURSOR FOR SELECT * FROM t ORDER BY id; FETCH 1 FROM k",
  );
  await a.run("DECLARE late CURSOR FOR SELECT * FROM t ORDER BY id");
  await b.run("ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (n + 1) STORED");
  strictEqual(await a.run("FETCH 5 FROM k"), "2,20,b;3,30,c;4,40,d");
  strictEqual(await a.run("FETCH 5 FROM late"), "1,10,a;2,20,b;3,30,c;4,40,d");
  strictEqual(await a.run("EXECUTE get(4)"), "4,40,d,41");
  strictEqual(await a.run("EXECUTE get(3)"), "3,30,c,31");
  await b.run("ALTER TABLE t ADD COLUMN y serial");
  await a.run("DECLARE new CURSOR FOR SELECT id, y FROM t ORDER BY id");
  strictEqual(await a.run("FETCH 5 FROM new"), "1,1;2,2;3,3;4,4");
  strictEqual(await a.run("COMMIT"), "COMMIT");
});

scenario("more rows than fit into one commit", async (a, b, c) => {
  await a.run("INSERT INTO t SELECT g, g FROM generate_series(100, 10099) g");
  await a.run("BEGIN");
  await a.run(
    "UPDATE t SET n = n + 1 WHERE id > 5000; INSERT INTO t SELECT -g, g FROM generate_series(1, 6000) g",
  );
  let isDone = false;
  const altering = b.run(
    "ALTER TABLE t ADD COLUMN x serial UNIQUE, ADD y int GENERATED ALWAYS AS (n + id) STORED",
  )
    .finally(() => isDone = true);
  let round = 0;
  while (!isDone) {
    await c.run(
      `INSERT INTO t (id, n) VALUES (${50 + round++ % 40}, 7) ON CONFLICT (id) DO UPDATE SET n = t.n + 1`,
    );
    await c.run(`DELETE FROM t WHERE id = ${50 + (7 * round) % 40}; UPDATE t SET n = n + 1 WHERE id = 150`);
    await new Promise((resolve) => setTimeout(resolve));
  }
  ok(round > 0);
  await altering;
  strictEqual(await a.fails("COMMIT"), "succeeded with COMMIT");
  strictEqual(await c.run("SELECT count(*) = count(DISTINCT x), bool_and(y = n + id) FROM t"), "true,true");
  strictEqual(await c.run("SELECT count(*) FROM t WHERE id > 5000 AND id < 10100 AND n <> id + 1"), "0");
});

scenario("checkpoints in between", async (a, b, c) => {
  await a.run("INSERT INTO t SELECT g, g FROM generate_series(10, 3000) g");
  await c.run("CHECKPOINT");
  await a.run("BEGIN; UPDATE t SET n = n + 1 WHERE id > 1000");
  await a.run("INSERT INTO t SELECT -g, g FROM generate_series(1, 900) g");
  await b.run("ALTER TABLE t ADD COLUMN x serial UNIQUE, ADD y int GENERATED ALWAYS AS (n + id) STORED");
  await c.run("CHECKPOINT");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await c.run("SELECT count(*) = count(DISTINCT x), bool_and(y = n + id) FROM t"), "true,true");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN z serial UNIQUE");
  await a.run("UPDATE t SET n = 1 WHERE id < 0");
  await c.run("CHECKPOINT");
  await b.run("COMMIT");
  strictEqual(await c.run("SELECT count(*) = count(DISTINCT z), bool_and(y = n + id) FROM t"), "true,true");
});

scenario("temporary tables", async (a) => {
  await a.run("CREATE TEMP TABLE own (n int); INSERT INTO own VALUES (1), (2)");
  await a.run(
    "BEGIN; INSERT INTO own VALUES (3); ALTER TABLE own ADD COLUMN x serial; INSERT INTO own VALUES (4)",
  );
  strictEqual(await a.run("SELECT n, x FROM own ORDER BY n"), "1,1;2,2;3,3;4,4");
  await a.run("COMMIT");
});

scenario("rows that move keep what they have", async (a, b, c) => {
  await a.run(
    "BEGIN; UPDATE t SET id = 4 - id; UPDATE t SET id = 9 WHERE id = 1; UPDATE t SET id = 8 WHERE id = 9",
  );
  await a.run("INSERT INTO t VALUES (4, 40, 'd'); UPDATE t SET id = 5 WHERE id = 4; SAVEPOINT s");
  await a.run("UPDATE t SET id = 7 WHERE id = 8; ROLLBACK TO s; INSERT INTO t VALUES (7, 70, 'g')");
  await b.run("ALTER TABLE t ADD COLUMN x float DEFAULT random()");
  const values = async (ids: readonly number[]) => {
    const found = [];
    for (const id of ids) found.push(await c.run(`SELECT x FROM t WHERE id = ${id}`));
    return found.join(";");
  };
  const before = await values([1, 2, 3]);
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await values([3, 2, 8]), before);
  strictEqual(await c.run(DRAWN), "5,5,5");
});
