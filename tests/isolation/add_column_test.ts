/**
 * ADD COLUMN beside transactions with uncommitted rows in the table: it does not wait, and their rows have the column.
 *
 * `a` writes in a block, `b` alters, `c` looks. Every scenario ends with a second engine over the same files, which
 * must have the same rows.
 */
import { ok, rejects, strictEqual } from "node:assert/strict";
import { isWaiting, type TestClient } from "./client_for_test.ts";
import { ALL, copy, scenario, stopped } from "./scenarios_for_test.ts";

scenario("rows that were inserted, changed and deleted in an open block", async (a, b, c) => {
  await a.run(
    "BEGIN; INSERT INTO t VALUES (4, 40, 'd'); UPDATE t SET n = 11 WHERE id = 1; DELETE FROM t WHERE id = 2",
  );
  strictEqual(await b.run("ALTER TABLE t ADD COLUMN x int NOT NULL DEFAULT 7"), "ALTER TABLE");
  strictEqual(await c.run(ALL), "1,10,a,7;2,20,b,7;3,30,c,7");
  // From here on the writer sees the column, in its own rows and in others'.
  strictEqual(await a.run(ALL), "1,11,a,7;3,30,c,7;4,40,d,7");
  await a.run("UPDATE t SET x = n WHERE id IN (1, 4); INSERT INTO t (id, n) VALUES (5, 50)");
  strictEqual(await a.run("SELECT id FROM t WHERE x = 7 ORDER BY id"), "3;5");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await c.run(ALL), "1,11,a,11;3,30,c,7;4,40,d,40;5,50,null,7");
});

scenario("a writer that says nothing more than COMMIT or ROLLBACK", async (a, b, c) => {
  await a.run("BEGIN; INSERT INTO t VALUES (4, 40, 'd'); UPDATE t SET n = 0");
  await c.run("BEGIN; INSERT INTO t VALUES (5, 50, 'e')");
  await b.run("ALTER TABLE t ADD x text DEFAULT 'new', ADD y bigint DEFAULT 9007199254740993, ADD z bytea");
  await c.run("ROLLBACK");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  const added = "new,9007199254740993,null";
  strictEqual(await c.run(ALL), `1,0,a,${added};2,0,b,${added};3,0,c,${added};4,0,d,${added}`);
});

scenario("savepoints from before it", async (a, b) => {
  await a.run("BEGIN; UPDATE t SET n = 11 WHERE id = 1; SAVEPOINT s");
  await a.run(
    "UPDATE t SET n = 12 WHERE id = 1; DELETE FROM t WHERE id = 2; INSERT INTO t VALUES (4, 40, 'd')",
  );
  await b.run("ALTER TABLE t ADD COLUMN x int DEFAULT 7");
  await a.run("UPDATE t SET x = 8, n = 13 WHERE id = 1; SAVEPOINT later");
  await b.run("ALTER TABLE t ADD COLUMN y int DEFAULT 9");
  await a.run("UPDATE t SET y = 1; ROLLBACK TO later");
  strictEqual(await a.run(ALL), "1,13,a,8,9;3,30,c,7,9;4,40,d,7,9");
  await a.run("ROLLBACK TO s");
  strictEqual(await a.run(ALL), "1,11,a,7,9;2,20,b,7,9;3,30,c,7,9");
  await a.run("UPDATE t SET y = x WHERE id = 1; COMMIT");
  strictEqual(await b.run(ALL), "1,11,a,7,7;2,20,b,7,9;3,30,c,7,9");
});

scenario("bulk loads before and in between, with savepoints", async (a, b) => {
  const rows = (from: number) =>
    Array.from({ length: 3000 }, (_, at) => `${from + at}\t${at}\ts${from + at}`);
  const add =
    "ALTER TABLE t ADD COLUMN x text DEFAULT 'é', ADD COLUMN y bigint DEFAULT 9007199254740993, ADD z float";
  const added = "é,9007199254740993,null";
  await a.run("BEGIN");
  await copy(a, "COPY t FROM STDIN", [rows(1000).join("\n")]);
  await b.run(add);
  strictEqual(await a.run("SELECT count(*), min(x), max(y), count(z) FROM t"), "3003,é,9007199254740993,0");
  strictEqual(await a.run("SELECT * FROM t WHERE s = 's1000'"), `1000,0,s1000,${added}`);
  await a.run("SAVEPOINT s; UPDATE t SET n = -1, z = 0.5 WHERE id = 1000");
  await b.run("ALTER TABLE t ADD COLUMN w int DEFAULT -5, ADD COLUMN v bytea DEFAULT '\\x0102'");
  strictEqual(
    await a.run("SELECT n, x, y, z, w, length(v) FROM t WHERE id = 1000"),
    "-1,é,9007199254740993,0.5,-5,2",
  );
  await a.run("ROLLBACK TO s");
  strictEqual(await a.run("SELECT n, x, y, z, w, length(v) FROM t WHERE id = 1000"), `0,${added},-5,2`);
  await copy(a, "COPY t (id, n, s) FROM STDIN", [rows(5000).join("\n")]);
  await rejects(copy(a, "COPY t (id, n, s) FROM STDIN", [rows(1500).join("\n")]), { code: "23505" });
  await a.run("ROLLBACK TO s; UPDATE t SET x = 'z' WHERE id = 1001; COMMIT");
  strictEqual(
    await b.run("SELECT x, w, count(*), sum(n) FROM t GROUP BY x, w ORDER BY x"),
    "z,-5,1,1;é,-5,3002,4498559",
  );
});

scenario("reads of the writer stay valid, unless a row that it has read was changed", async (a, b, c) => {
  await a.run("BEGIN; SELECT sum(n) FROM t; UPDATE t SET n = (SELECT max(n) FROM t) + 1 WHERE id = 1");
  await c.run("BEGIN; SELECT sum(n) FROM t; UPDATE t SET n = 0 WHERE id = 2");
  await b.run("ALTER TABLE t ADD COLUMN x int DEFAULT 7");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await c.fails("COMMIT"), "40001");
  await a.run("BEGIN; SELECT count(*) FROM t WHERE x = 7; INSERT INTO t (id, n) VALUES (9, 9)");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN y int; UPDATE t SET x = 6 WHERE id = 3; COMMIT");
  strictEqual(await a.fails("COMMIT"), "40001");
  strictEqual(await c.run(ALL), "1,31,a,7,null;2,20,b,7,null;3,30,c,6,null");
});

scenario("rows and keys stay locked", async (a, b, c) => {
  await a.run("BEGIN; UPDATE t SET n = 11 WHERE id = 1; INSERT INTO t VALUES (4, 40, 'd')");
  await b.run("ALTER TABLE t ADD COLUMN x int DEFAULT 7");
  const row = b.run("UPDATE t SET n = n + x WHERE id = 1");
  const key = c.run("INSERT INTO t VALUES (5, 50, 'd', 1)").catch((error) => error.code);
  ok(await isWaiting(row) && await isWaiting(key));
  strictEqual(await a.fails("INSERT INTO t VALUES (6, 60, 'a')"), "23505");
  await a.run("ROLLBACK");
  strictEqual(await row, "UPDATE 1");
  strictEqual(await key, "INSERT 0 1");
  strictEqual(await b.run(ALL), "1,17,a,7;2,20,b,7;3,30,c,7;5,50,d,1");
});

scenario("in an open block, others go on; rolled back, it was never there", async (a, b, c) => {
  await a.run("BEGIN; INSERT INTO t VALUES (4, 40, 'd')");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN x int DEFAULT 7; UPDATE t SET x = 8 WHERE id = 3");
  strictEqual(await a.run("UPDATE t SET n = 0 WHERE id = 1; SELECT * FROM t WHERE id = 1"), "1,0,a");
  strictEqual(await b.run(ALL), "1,10,a,7;2,20,b,7;3,30,c,8");
  strictEqual(await c.run("INSERT INTO t VALUES (5, 50, 'e')"), "INSERT 0 1");
  await b.run("ROLLBACK");
  strictEqual(await a.run("SELECT * FROM t WHERE id = 4"), "4,40,d");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN y int DEFAULT 9; INSERT INTO t VALUES (6, 60, 'f', 1)");
  strictEqual(await b.run("COMMIT"), "COMMIT");
  strictEqual(await a.run("INSERT INTO t VALUES (7, 70, 'g'); COMMIT"), "COMMIT");
  strictEqual(await c.run(ALL), "1,0,a,9;2,20,b,9;3,30,c,9;4,40,d,9;5,50,e,9;6,60,f,1;7,70,g,9");
});

scenario("a second one waits for the first, other changes for the writer", async (a, b, c) => {
  await a.run("BEGIN; INSERT INTO t VALUES (4, 40, 'd')");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN x int DEFAULT 7");
  const second = c.run("ALTER TABLE t ADD COLUMN y int DEFAULT 8");
  ok(await isWaiting(second));
  await b.run("COMMIT");
  strictEqual(await second, "ALTER TABLE");
  strictEqual(await a.run("SELECT * FROM t WHERE id = 4"), "4,40,d,7,8");
  for (
    const action of [
      "DROP COLUMN s",
      "RENAME COLUMN n TO m",
      "ALTER COLUMN n TYPE bigint",
      "ADD CHECK (n > 0)",
      "ADD UNIQUE (n)",
      "ADD COLUMN w int DEFAULT 1 REFERENCES t",
      "ADD COLUMN w int, ADD CHECK (n > 0)",
      "ADD COLUMN w float DEFAULT random(), ADD UNIQUE (n)",
      "ADD COLUMN w int DEFAULT 5, DROP COLUMN x",
    ]
  ) {
    strictEqual(await c.fails(`SET lock_timeout = '10ms'; ALTER TABLE t ${action}`), "55P03", action);
    strictEqual(await a.run("SELECT * FROM t WHERE id = 4"), "4,40,d,7,8");
  }
  const dropping = c.run("SET lock_timeout = 0; ALTER TABLE t ADD COLUMN w int DEFAULT 5, DROP COLUMN x");
  ok(await isWaiting(dropping));
  await a.run("COMMIT");
  strictEqual(await dropping, "ALTER TABLE");
  strictEqual(await a.run("SELECT * FROM t WHERE id = 4"), "4,40,d,8,5");
});

scenario("a table that was emptied", async (a, b, c) => {
  await a.run("BEGIN; TRUNCATE t; INSERT INTO t VALUES (4, 40, 'd')");
  const adding = b.run("ALTER TABLE t ADD COLUMN x int DEFAULT 7");
  ok(await isWaiting(adding));
  await a.run("COMMIT");
  strictEqual(await adding, "ALTER TABLE");
  strictEqual(await c.run(ALL), "4,40,d,7");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN y int DEFAULT 8");
  strictEqual(await a.run("TRUNCATE t; INSERT INTO t VALUES (5, 50, 'e')"), "INSERT 0 1");
  await b.run("COMMIT; DELETE FROM t");
  const loading = copy(
    c,
    "COPY t FROM STDIN",
    ["6\t60\tf\t1\t2", "7\t70\tg\t1\t2"],
    () => b.run("ALTER TABLE t ADD z int NOT NULL"),
  );
  await rejects(loading, { code: "23502" });
});

scenario("defaults of the moment, and constraints that its value satisfies", async (a, b, c) => {
  await b.run("CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1)");
  await a.run("BEGIN; INSERT INTO t VALUES (4, 40, 'd'); UPDATE t SET n = 11 WHERE id = 1");
  await b.run(
    "ALTER TABLE t ADD made timestamptz NOT NULL DEFAULT now(), ADD by text DEFAULT current_user CHECK (by <> '')",
  );
  await b.run("ALTER TABLE t ADD x int DEFAULT 7 CHECK (x > 5) CHECK (x < 9), ADD y int CHECK (y > 0)");
  await b.run("ALTER TABLE t ADD u int UNIQUE; ALTER TABLE t ADD p int REFERENCES parent ON DELETE CASCADE");
  const shown =
    "SELECT id, x, y, by = current_user, made > now() - interval '1 minute', u, p FROM t ORDER BY id";
  const ends = "7,null,true,true,null,null";
  strictEqual(await a.run(shown), [1, 2, 3, 4].map((id) => `${id},${ends}`).join(";"));
  strictEqual(await a.run("SELECT count(DISTINCT made) FROM t"), "1");
  await a.run("SAVEPOINT s");
  for (
    const [change, code] of [["x = 9", "23514"], ["y = 0", "23514"], ["p = 2", "23503"], [
      "made = NULL",
      "23502",
    ]]
  ) {
    strictEqual(await a.fails(`UPDATE t SET ${change} WHERE id = 4`), code);
    await a.run("ROLLBACK TO s");
  }
  await a.run("UPDATE t SET u = 1, p = 1 WHERE id = 4");
  const key = c.run("UPDATE t SET u = 1 WHERE id = 2").catch((error) => error.code);
  ok(await isWaiting(key));
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await key, "23505");
  strictEqual(
    await c.run("DELETE FROM parent; SELECT id, n, x FROM t ORDER BY u, id"),
    "1,11,7;2,20,7;3,30,7",
  );
  // One that the value does not satisfy, and one that nobody can compute.
  strictEqual(await b.fails("ALTER TABLE t ADD z int DEFAULT 7 CHECK (z > 8)"), "23514");
  strictEqual(await b.fails("ALTER TABLE t ADD z int DEFAULT 1 / (SELECT 0)"), "0A000");
  strictEqual(await b.fails("ALTER TABLE t ADD z int DEFAULT 1 / 0"), "22012");
  strictEqual(
    await b.run("DELETE FROM t; ALTER TABLE t ADD z int DEFAULT 1 / 0 CHECK (z / 0 > 1)"),
    "ALTER TABLE",
  );
});

scenario("what waits for writers has its turn although there always is one", async (a, b, c) => {
  const write = "BEGIN; UPDATE t SET n = n + 1 WHERE id =";
  await a.run(`${write} 1`);
  let isDone = false;
  const altering = b.run("ALTER TABLE t ADD CHECK (n > 0)").finally(() => isDone = true);
  let [writer, other] = [{ client: a, id: 1 }, { client: c, id: 2 }];
  // Many of them may pass while it looks again, which it does in turns of its own.
  for (let round = 0; round < 1000 && !isDone; round++) {
    const next = other.client.run(`${write} ${other.id}`);
    await isWaiting(next);
    await writer.client.run("COMMIT");
    await next;
    [writer, other] = [other, writer];
  }
  ok(isDone, "it starves");
  await altering;
  await writer.client.run("COMMIT");
});

scenario("a foreign key waits for those who write to the table that it refers to", async (a, b, c) => {
  const tables = "CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1), (2)";
  await a.run(`${tables}; CREATE TABLE child (id int PRIMARY KEY, p int); INSERT INTO child VALUES (1, 1)`);
  await a.run("BEGIN; DELETE FROM parent WHERE id = 1");
  const adding = b.fails("ALTER TABLE child ADD FOREIGN KEY (p) REFERENCES parent");
  const creating = c.run("CREATE TABLE other (p int REFERENCES parent)");
  ok(await isWaiting(adding) && await isWaiting(creating));
  await a.run("COMMIT");
  strictEqual(await adding, "23503");
  await creating;
  strictEqual(await c.fails("INSERT INTO other VALUES (1)"), "23503");
  await a.run("BEGIN; DELETE FROM parent WHERE id = 2");
  const column = b.run("ALTER TABLE child ADD q int REFERENCES parent");
  ok(await isWaiting(column));
  await a.run("ROLLBACK");
  strictEqual(await column, "ALTER TABLE");
  // One that has not written yet is planned again.
  await a.run("CREATE TABLE late (p int); INSERT INTO late VALUES (2)");
  const stop = stopped(c);
  const deleting = c.fails(
    "DELETE FROM parent WHERE id = 2 AND (SELECT count(*) FROM generate_series(1, 1000000)) > 0",
  );
  await stop.reached;
  await b.run("ALTER TABLE late ADD FOREIGN KEY (p) REFERENCES parent");
  stop.go();
  strictEqual(await deleting, "23503");
});

scenario("a statement that is under way goes on as it began", async (a, b, c) => {
  const beside = async <T>(
    client: TestClient,
    work: () => Promise<T>,
    action: string,
    from = 1,
  ): Promise<T> => {
    const stop = stopped(client, from);
    const running = work();
    // A statement may be done before its time is up where nothing else runs.
    await Promise.race([stop.reached, running]);
    await b.run(`ALTER TABLE t ${action}`);
    stop.go();
    return await running;
  };
  const during = (client: TestClient, sql: string, column: string): Promise<string> =>
    beside(client, () => client.run(sql), `ADD COLUMN ${column}`);
  await a.run("BEGIN; INSERT INTO t VALUES (4, 40, 'd')");
  const count = (to: string) => `(SELECT count(*) FROM generate_series(1, ${to}))`;
  const long = `INSERT INTO t SELECT g, ${count("g")}, NULL FROM generate_series(10, 4000) g`;
  strictEqual(await during(a, long, "x int DEFAULT 1"), "INSERT 0 3991");
  strictEqual(await during(c, `UPDATE t SET n = n + ${count("4000000")}`, "y int DEFAULT 1"), "UPDATE 3");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await c.run("SELECT count(*), sum(x + y), sum(n) FROM t"), "3995,7990,20002055");
  // It answers with the columns that it was asked for.
  const slow = `UPDATE t SET n = ${count("600")} WHERE id > 10 RETURNING *`;
  const updated = (await during(a, slow, "z int DEFAULT 1")).split(";");
  strictEqual(updated.length, 3990);
  strictEqual(updated[0], "11,600,null,1,1");
  const deleted = `DELETE FROM t WHERE id = 1 AND ${count("4000000")} > 0 RETURNING *`;
  strictEqual(await during(c, deleted, "w int DEFAULT 1"), "1,4000010,a,1,1,1");
  const lines = Array.from({ length: 17_000 }, (_, at) => `${at + 10_000}\t0\t\\N`).join("\n");
  await beside(a, () => copy(a, "COPY t (id, n, s) FROM STDIN", [lines]), "ADD COLUMN v int DEFAULT 1", 3);
  strictEqual(await c.run("SELECT count(*) FROM t WHERE id >= 10000 AND x + y + z + w + v = 5"), "17000");
  // Columns that go are another matter: it is planned again.
  const late = `INSERT INTO t (id, n, v) SELECT 9, ${count("4000000")}, 9`;
  strictEqual(await beside(c, () => c.run(late), "DROP COLUMN x"), "INSERT 0 1");
  strictEqual(await c.run("SELECT * FROM t WHERE id = 9"), "9,4000000,null,1,1,1,9");
});

scenario("COPY whose data is on its way", async (a, b, c) => {
  await a.run("BEGIN; INSERT INTO t VALUES (4, 40, 'd')");
  const add = (column: string) => b.run(`ALTER TABLE t ADD COLUMN ${column}`);
  await copy(
    a,
    "COPY t FROM STDIN",
    ["5\t50\te", "6\t60\tf"],
    () => add("x int NOT NULL DEFAULT 7, ADD y text"),
  );
  strictEqual(await a.run("SELECT x, y FROM t WHERE id IN (5, 6) ORDER BY id"), "7,null;7,null");
  await copy(
    a,
    "COPY t (n, id) FROM STDIN WHERE n > 1",
    ["70\t7", "0\t8"],
    () => add("z text DEFAULT 'zed'"),
  );
  strictEqual(await a.run("COMMIT"), "COMMIT");
  await copy(c, "COPY t FROM STDIN", ["9\t9\tg\t9\t9\tz"]);
  const loading = copy(
    c,
    "COPY t FROM STDIN",
    ["8\t80\th\t1\t2\t3", "10\t90\ti\t1\t2\t3"],
    () => b.run("ALTER TABLE t DROP y"),
  );
  await rejects(loading, { code: "55000" });
  strictEqual(
    await c.run("SELECT * FROM t WHERE id > 3 ORDER BY id"),
    "4,40,d,7,zed;5,50,e,7,zed;6,60,f,7,zed;7,70,null,7,zed;9,9,g,9,z",
  );
});

scenario("prepared statements and cursors", async (a, b) => {
  await a.run(
    "PREPARE add AS INSERT INTO t VALUES ($1, $2, $3); PREPARE get AS SELECT * FROM t WHERE id = $1",
  );
  await a.run(
    "BEGIN; EXECUTE add(4, 40, 'd'); DECLARE k CURSOR FOR SELECT * FROM t ORDER BY id; FETCH 1 FROM k",
  );
  await b.run("ALTER TABLE t ADD COLUMN x int DEFAULT 7");
  strictEqual(await a.run("FETCH 5 FROM k"), "2,20,b;3,30,c;4,40,d");
  strictEqual(await a.run("EXECUTE add(5, 50, 'e'); EXECUTE get(4)"), "4,40,d,7");
  await a.run("COMMIT");
  strictEqual(await b.run("SELECT * FROM t WHERE id > 3 ORDER BY id"), "4,40,d,7;5,50,e,7");
});

scenario("keys of other tables, deferred and cascading", async (a, b, c) => {
  await a.run(
    "CREATE TABLE parent (id int PRIMARY KEY);" +
      "CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);" +
      "INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1, 1)",
  );
  await a.run("BEGIN; INSERT INTO child VALUES (2, 2), (3, 3)");
  await b.run("ALTER TABLE child ADD COLUMN x int DEFAULT 7; ALTER TABLE parent ADD COLUMN y int DEFAULT 8");
  await a.run("INSERT INTO parent VALUES (2)");
  strictEqual(await a.fails("COMMIT"), "23503");
  await a.run(
    "BEGIN; INSERT INTO child VALUES (2, 2); INSERT INTO parent VALUES (2); DELETE FROM parent WHERE id = 1",
  );
  await b.run("ALTER TABLE child ADD COLUMN z int DEFAULT 9; ALTER TABLE parent ADD COLUMN z int DEFAULT 9");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await c.run("SELECT * FROM child, parent"), "2,2,7,9,2,8,9");
});

scenario("many uncommitted rows", async (a, b, c) => {
  await a.run("BEGIN; INSERT INTO t SELECT g, g FROM generate_series(10, 30009) g");
  await c.run("BEGIN; INSERT INTO t SELECT -g, g FROM generate_series(1, 30000) g");
  strictEqual(await b.run("ALTER TABLE t ADD COLUMN x int DEFAULT 7"), "ALTER TABLE");
  await b.run("BEGIN; ALTER TABLE t ADD COLUMN z text DEFAULT 'abc" + "d".repeat(97) + "'");
  strictEqual(await a.run("SELECT sum(x) FROM t"), "210021");
  await a.run("INSERT INTO t VALUES (0, 0)");
  await b.run("COMMIT");
  strictEqual(await a.run("SELECT sum(length(z)) FROM t"), `${30_004 * 100}`);
  strictEqual(await c.run("COMMIT"), "COMMIT");
  // It has read all rows.
  strictEqual(await a.fails("COMMIT"), "40001");
  strictEqual(await c.run("SELECT count(*), sum(x), sum(length(z)) FROM t"), `30003,210021,${30_003 * 100}`);
});
