/**
 * Who has lost a SERIALIZABLE transaction does not lose the next one by the same: rows and tables are locked before it
 * begins.
 */
import { ok, strictEqual } from "node:assert/strict";
import { isWaiting, type TestClient, withClients } from "./client_for_test.ts";

/** Runs a test on rows 1 to 4, whose `n` are 10 to 40. */
function scenario(
  name: string,
  test: (a: TestClient, b: TestClient, c: TestClient) => Promise<void>,
): void {
  const setup = "CREATE TABLE t (id int PRIMARY KEY, k int, n int NOT NULL); CREATE INDEX ON t (k);" +
    "INSERT INTO t VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30), (4, 2, 40)";
  Deno.test(name, () => withClients(setup, test));
}

/** `a` reads what `b` changes, and must lose. */
async function lose(a: TestClient, b: TestClient, read: string, change: string): Promise<void> {
  await a.run("BEGIN");
  await a.run(read);
  await b.run(change);
  strictEqual(await a.fails("UPDATE t SET n = n + 1 WHERE id = 3"), "40001");
  strictEqual(await a.run("ROLLBACK"), "ROLLBACK");
}

const READ = "SELECT n FROM t WHERE id = 1";
const CHANGE = "UPDATE t SET n = n + 1 WHERE id = 1";

for (
  const [name, read] of [
    ["its id", READ],
    ["a range of ids", "SELECT sum(n) FROM t WHERE id BETWEEN 1 AND 2"],
    ["an index", "SELECT sum(n) FROM t WHERE k = 1"],
    ["a scan", "SELECT sum(n) FROM t"],
  ] as const
) {
  scenario(`a row that was read by ${name} and lost is locked before the next attempt`, async (a, b, c) => {
    await lose(a, b, read, CHANGE);
    await a.run("BEGIN");
    await a.run("SELECT 1");
    // Other rows are free, and so is this one for those who only refer to it.
    strictEqual(await c.run("UPDATE t SET n = n + 1 WHERE id = 4"), "UPDATE 1");
    strictEqual(await c.run("SELECT n FROM t WHERE id = 1 FOR KEY SHARE"), "11");
    const rival = b.run(CHANGE);
    ok(await isWaiting(rival));
    await a.run("ROLLBACK");
    await rival;
  });
}

scenario("who has lost sees what the rival has written, and wins", async (a, b) => {
  await lose(a, b, READ, CHANGE);
  await b.run("BEGIN; " + CHANGE);
  await a.run("BEGIN");
  const read = a.run(READ);
  ok(await isWaiting(read));
  await b.run("COMMIT");
  strictEqual(await read, "12");
  const rival = b.run(CHANGE);
  strictEqual(await a.run("UPDATE t SET n = n + 1 WHERE id = 3"), "UPDATE 1");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await rival, "UPDATE 1");
  // A transaction that did not lose ends it.
  await a.run("BEGIN");
  strictEqual(await a.run(READ), "13");
  strictEqual(await b.run(CHANGE), "UPDATE 1");
  await a.run("COMMIT");
});

for (
  const [name, read, came, inside, outside] of [
    ["an index", "k = 1", "(5, 1, 50)", "(6, 1, 60)", "(7, 2, 70)"],
    ["a range of an index", "k > 2 AND k <= 9", "(5, 9, 50)", "(6, 3, 60)", "(7, 2, 70)"],
    ["a range of ids", "id BETWEEN 5 AND 9", "(5, 1, 50)", "(6, 1, 60)", "(10, 1, 70)"],
    ["a scan with a condition", "n >= 45", "(5, 1, 50)", "(6, 1, 45)", "(7, 1, 44)"],
    ["a scan with OR", "n = 50 OR k > id", "(5, 1, 50)", "(6, 7, 60)", "(7, 7, 44)"],
  ] as const
) {
  scenario(`rows that came keep writers out of what was read: ${name}`, async (a, b, c) => {
    const count = `SELECT count(*) FROM t WHERE ${read}`;
    await lose(a, b, count, `INSERT INTO t VALUES ${came}`);
    await a.run("BEGIN");
    const before = Number(await a.run(count));
    strictEqual(await c.run(`INSERT INTO t VALUES ${outside}`), "INSERT 0 1");
    strictEqual(await c.run("UPDATE t SET n = n + 1 WHERE id = 4"), "UPDATE 1");
    const rivals = [
      b.run(`INSERT INTO t VALUES ${inside}`),
      c.run(`DELETE FROM t WHERE id = ${came.slice(1, 2)}`),
    ];
    for (const rival of rivals) ok(await isWaiting(rival));
    strictEqual(await a.run("UPDATE t SET n = n + 1 WHERE id = 3"), "UPDATE 1");
    strictEqual(await a.run("COMMIT"), "COMMIT");
    strictEqual((await Promise.all(rivals)).join(), "INSERT 0 1,DELETE 1");
    await a.run("BEGIN");
    strictEqual(Number(await a.run(count)), before);
    strictEqual(await b.run(`DELETE FROM t WHERE ${read}`), `DELETE ${before}`);
    await a.run("ROLLBACK");
  });
}

scenario(
  "a row that is moved into or out of what was read waits, and so does who has lost by it",
  async (a, b, c) => {
    const count = "SELECT count(*) FROM t WHERE k = 1";
    await lose(a, b, count, "INSERT INTO t VALUES (5, 1, 50)");
    await lose(c, b, count, "INSERT INTO t VALUES (6, 1, 50)");
    await b.run("BEGIN; INSERT INTO t VALUES (7, 1, 50)");
    await a.run("BEGIN");
    const read = a.run(count);
    ok(await isWaiting(read));
    await b.run("COMMIT");
    strictEqual(await read, "5");
    await c.run("BEGIN");
    const other = c.run(count);
    ok(await isWaiting(other));
    for (const change of ["SET k = 1 WHERE id = 3", "SET k = 2 WHERE id = 1"]) {
      await b.run("BEGIN ISOLATION LEVEL READ COMMITTED");
      const rival = b.run(`UPDATE t ${change}`);
      ok(await isWaiting(rival));
      b.session.cancel();
      await rival.catch(() => {});
      await b.run("ROLLBACK");
    }
    strictEqual(await a.run("INSERT INTO t VALUES (8, 1, 80); COMMIT"), "COMMIT");
    strictEqual(await other, "6");
    strictEqual(await c.run("INSERT INTO t VALUES (9, 1, 90); COMMIT"), "COMMIT");
  },
);

scenario("rows that came to a table that was read whole keep writers out of it", async (a, b) => {
  await lose(a, b, "SELECT sum(n) FROM t", "INSERT INTO t VALUES (5, 1, 50)");
  await a.run("BEGIN");
  strictEqual(await a.run("SELECT sum(n) FROM t"), "150");
  const rival = b.run("INSERT INTO t VALUES (6, 1, 60)");
  ok(await isWaiting(rival));
  strictEqual(await a.run("UPDATE t SET n = n + 1 WHERE id = 3"), "UPDATE 1");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await rival, "INSERT 0 1");
  await a.run("BEGIN");
  strictEqual(await a.run("SELECT count(*) FROM t WHERE k = 1"), "4");
  strictEqual(await b.run("INSERT INTO t VALUES (7, 1, 70)"), "INSERT 0 1");
  await a.run("ROLLBACK");
});

scenario("losses by several rows add up until one attempt succeeds", async (a, b, c) => {
  await lose(a, b, "SELECT sum(n) FROM t", CHANGE);
  await lose(a, b, "SELECT sum(n) FROM t", "UPDATE t SET n = n + 1 WHERE id = 2");
  await a.run("BEGIN");
  await a.run("SELECT sum(n) FROM t");
  const rivals = [1, 2].map((id) =>
    [b, c][id - 1]?.run(`DELETE FROM t WHERE id = ${id}`) ?? Promise.reject()
  );
  for (const rival of rivals) ok(await isWaiting(rival));
  strictEqual(await a.run("UPDATE t SET n = 0 WHERE id = 3; COMMIT"), "COMMIT");
  for (const rival of rivals) strictEqual(await rival, "DELETE 1");
});

scenario("who has lost twice by the same rows in other orders meets no deadlock", async (a, b, c) => {
  for (const [loser, first, second] of [[a, 1, 2], [b, 2, 1]] as const) {
    for (const id of [first, second]) {
      await lose(loser, c, "SELECT sum(n) FROM t", `UPDATE t SET n = n + 1 WHERE id = ${id}`);
    }
  }
  await a.run("BEGIN; SELECT 1");
  await b.run("BEGIN");
  const waiting = b.run("SELECT sum(n) FROM t");
  ok(await isWaiting(waiting));
  strictEqual(await a.run("UPDATE t SET n = 100 WHERE id IN (1, 2); COMMIT"), "COMMIT");
  strictEqual(await waiting, "270");
  strictEqual(await b.run("UPDATE t SET n = 0 WHERE id = 3; COMMIT"), "COMMIT");
});

scenario("READ ONLY transactions, other levels and single statements take no locks", async (a, b) => {
  await lose(a, b, READ, CHANGE);
  for (const begin of ["BEGIN READ ONLY", "BEGIN ISOLATION LEVEL READ COMMITTED"]) {
    await a.run(begin);
    await a.run(READ);
    strictEqual(await b.run(CHANGE), "UPDATE 1");
    await a.run("COMMIT");
  }
  strictEqual(await a.run("UPDATE t SET n = n + 1 WHERE id = 2"), "UPDATE 1");
  // The loss is not forgotten by them.
  await a.run("BEGIN; SELECT 1");
  const rival = b.run(CHANGE);
  ok(await isWaiting(rival));
  await a.run("ROLLBACK");
  await rival;
});

scenario("the victim of a deadlock locks what it waited for first", async (a, b) => {
  await a.run("BEGIN; UPDATE t SET n = 1 WHERE id = 1");
  await b.run("BEGIN; UPDATE t SET n = 1 WHERE id = 2");
  const waiting = b.run("UPDATE t SET n = 1 WHERE id = 1");
  ok(await isWaiting(waiting));
  strictEqual(await a.fails("UPDATE t SET n = 1 WHERE id = 2"), "40P01");
  await a.run("ROLLBACK");
  strictEqual(await waiting, "UPDATE 1");
  await a.run("BEGIN");
  const again = a.run("UPDATE t SET n = 2 WHERE id = 1");
  ok(await isWaiting(again));
  await b.run("COMMIT");
  strictEqual(await again, "UPDATE 1");
  const rival = b.run("UPDATE t SET n = 3 WHERE id = 2");
  ok(await isWaiting(rival));
  strictEqual(await a.run("UPDATE t SET n = 2 WHERE id = 2; COMMIT"), "COMMIT");
  strictEqual(await rival, "UPDATE 1");
});

scenario("a table that is gone is no loss any more", async (a, b) => {
  await lose(a, b, READ, CHANGE);
  await b.run("DROP TABLE t; CREATE TABLE u (id int PRIMARY KEY)");
  await a.run("BEGIN");
  strictEqual(await a.run("INSERT INTO u VALUES (1)"), "INSERT 0 1");
  strictEqual(await a.run("COMMIT"), "COMMIT");
});
