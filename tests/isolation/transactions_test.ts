/** Interleaved transactions: what each sees, who waits, who fails. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { seededRandom } from "../support/random.ts";
import { DatabaseError } from "../../mod.ts";
import { isWaiting, type TestClient, withClients } from "./client_for_test.ts";

/** Runs a test on a table of accounts 1 and 2 holding 100 each. */
function scenario(name: string, test: (clients: TestClient[]) => Promise<void>): void {
  const setup = "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL, owner text);" +
    "INSERT INTO account VALUES (1, 100, 'a'), (2, 100, 'a')";
  Deno.test(name, () => withClients(setup, (a, b, c) => test([a, b, c])));
}

scenario("a transaction reads its own writes and others do not", async ([a, b]) => {
  ok(a && b);
  await a.run("BEGIN; UPDATE account SET balance = 1 WHERE id = 1; INSERT INTO account VALUES (3, 7, 'b')");
  strictEqual(await a.run("SELECT id, balance FROM account ORDER BY id"), "1,1;2,100;3,7");
  strictEqual(await b.run("SELECT id, balance FROM account ORDER BY id"), "1,100;2,100");
  strictEqual(await a.run("SELECT count(*), sum(balance) FROM account WHERE balance < 50"), "2,8");
  await a.run("COMMIT");
  strictEqual(await b.run("SELECT id, balance FROM account ORDER BY id"), "1,1;2,100;3,7");
});

scenario("ROLLBACK takes everything back, also DDL", async ([a]) => {
  ok(a);
  await a.run("BEGIN; DELETE FROM account; CREATE TABLE other (x int); INSERT INTO other VALUES (1)");
  strictEqual(await a.run("SELECT count(*) FROM account"), "0");
  strictEqual(await a.run("SELECT * FROM other"), "1");
  await a.run("ROLLBACK");
  strictEqual(await a.run("SELECT count(*) FROM account"), "2");
  strictEqual(await a.fails("SELECT * FROM other"), "42P01");
});

scenario("a snapshot does not move while a transaction reads", async ([a, b]) => {
  ok(a && b);
  await a.run("BEGIN");
  strictEqual(await a.run("SELECT sum(balance) FROM account"), "200");
  await b.run("UPDATE account SET balance = balance + 50 WHERE id = 2");
  strictEqual(await a.run("SELECT sum(balance) FROM account"), "200");
  strictEqual(await a.run("SELECT balance FROM account WHERE id = 2"), "100");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await a.run("SELECT sum(balance) FROM account"), "250");
});

scenario("write skew fails with 40001", async ([a, b]) => {
  ok(a && b);
  for (const client of [a, b]) {
    await client.run("BEGIN");
    strictEqual(await client.run("SELECT sum(balance) FROM account WHERE owner = 'a'"), "200");
  }
  await a.run("UPDATE account SET balance = balance - 150 WHERE id = 1");
  await b.run("UPDATE account SET balance = balance - 150 WHERE id = 2");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await b.fails("COMMIT"), "40001");
  strictEqual(await a.run("SELECT sum(balance) FROM account"), "50");
});

scenario("a phantom fails with 40001", async ([a, b]) => {
  ok(a && b);
  await a.run("BEGIN");
  strictEqual(await a.run("SELECT count(*) FROM account WHERE balance > 500"), "0");
  await b.run("INSERT INTO account VALUES (9, 900, 'b')");
  strictEqual(await a.fails("INSERT INTO account VALUES (10, 0, 'c')"), "40001");
  await a.run("ROLLBACK");
});

scenario("a transaction that must lose learns it from the statement where it lost", async ([a, b]) => {
  ok(a && b);
  const [phantom, harmless] = [
    "INSERT INTO account VALUES (9, 900, 'b')",
    "INSERT INTO account VALUES (8, 1, 'b')",
  ];
  const wealthy = "SELECT count(*) FROM account WHERE balance > 500";
  // What it wrote before makes it lose; a statement that only reads says so.
  await a.run(`BEGIN; INSERT INTO account VALUES (10, 0, 'c'); ${wealthy}`);
  await b.run(harmless);
  strictEqual(await a.run(wealthy), "0");
  await b.run(phantom);
  strictEqual(await a.fails("SELECT 1 FROM account"), "40001");
  await a.run("ROLLBACK");
  await b.run("DELETE FROM account WHERE id IN (8, 9)");
  // One that does not lose: the next ones do not keep others out of the table.
  const forget = () => a.run("BEGIN; SELECT 1; ROLLBACK");
  await forget();
  // Who has only read goes on at its snapshot, until it writes; a savepoint takes that back.
  await a.run(`BEGIN; ${wealthy}; SAVEPOINT s`);
  await b.run(phantom);
  strictEqual(await a.run(wealthy), "0");
  strictEqual(await a.fails("UPDATE account SET owner = 'z' WHERE id = 2"), "40001");
  await a.run("ROLLBACK TO s");
  strictEqual(await a.run(wealthy), "0");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  await forget();
  // What it reads late is compared with what came early, and what it has read early with what comes late.
  await a.run("BEGIN; INSERT INTO account VALUES (10, 0, 'c'); SELECT balance FROM account WHERE id = 1");
  await b.run("UPDATE account SET balance = balance + 1 WHERE id = 2");
  await a.run("SELECT balance FROM account WHERE id = 1");
  strictEqual(await a.fails("SELECT balance FROM account WHERE id = 2; SELECT 1"), "40001");
  await a.run("ROLLBACK");
});

scenario("a row that the predicate does not match is no phantom", async ([a, b]) => {
  ok(a && b);
  await a.run("BEGIN");
  strictEqual(await a.run("SELECT count(*) FROM account WHERE balance > 500"), "0");
  await b.run("INSERT INTO account VALUES (9, 9, 'b')");
  await a.run("INSERT INTO account VALUES (10, 0, 'c')");
  strictEqual(await a.run("COMMIT"), "COMMIT");
});

scenario("a second writer waits and goes on with what the first has written", async ([a, b]) => {
  ok(a && b);
  await a.run("BEGIN; UPDATE account SET balance = balance + 1 WHERE id = 1");
  const second = b.run("UPDATE account SET balance = balance * 2 WHERE id = 1");
  ok(await isWaiting(second));
  await a.run("COMMIT");
  strictEqual(await second, "UPDATE 1");
  strictEqual(await a.run("SELECT balance FROM account WHERE id = 1"), "202");
});

scenario("a writer in a block that has read nothing else goes on too", async ([a, b]) => {
  ok(a && b);
  await a.run("BEGIN; UPDATE account SET balance = balance + 1 WHERE id = 1");
  await b.run("BEGIN; UPDATE account SET balance = 5 WHERE id = 2");
  const second = b.run("UPDATE account SET balance = balance * 2 WHERE id = 1");
  ok(await isWaiting(second));
  await a.run("COMMIT");
  strictEqual(await second, "UPDATE 1");
  strictEqual(await b.run("COMMIT"), "COMMIT");
  strictEqual(await a.run("SELECT balance FROM account ORDER BY id"), "202;5");
});

scenario("a writer that has read what changed meanwhile gets 40001", async ([a, b]) => {
  ok(a && b);
  await b.run("BEGIN");
  strictEqual(await b.run("SELECT balance FROM account WHERE id = 1"), "100");
  await a.run("UPDATE account SET balance = 7 WHERE id = 1");
  strictEqual(await b.fails("UPDATE account SET balance = 8 WHERE id = 1"), "40001");
  strictEqual(b.session.status, "failed");
  strictEqual(await b.fails("SELECT 1"), "25P02");
  strictEqual(await b.run("COMMIT"), "ROLLBACK");
});

scenario("the transaction that closes a cycle of waits gets 40P01", async ([a, b]) => {
  ok(a && b);
  await a.run("BEGIN; UPDATE account SET balance = 1 WHERE id = 1");
  await b.run("BEGIN; UPDATE account SET balance = 2 WHERE id = 2");
  const waiting = a.run("UPDATE account SET balance = 1 WHERE id = 2");
  ok(await isWaiting(waiting));
  const closing = "UPDATE account SET balance = 2 WHERE id = 1";
  const [one, other] = [a.session.processId, b.session.processId];
  await rejects(b.run(closing), {
    code: "40P01",
    detail: `Process ${other} waits for process ${one}.\nProcess ${one} waits for process ${other}.\n` +
      `Process ${other}: ${closing}\nProcess ${one}: UPDATE account SET balance = 1 WHERE id = 2`,
  });
  strictEqual(await waiting, "UPDATE 1");
  await a.run("COMMIT");
  await b.run("ROLLBACK");
  strictEqual(await a.run("SELECT balance FROM account ORDER BY id"), "1;1");
});

scenario("FOR UPDATE locks, NOWAIT and SKIP LOCKED do not wait", async ([a, b]) => {
  ok(a && b);
  await a.run("BEGIN");
  strictEqual(await a.run("SELECT id FROM account WHERE id = 1 FOR UPDATE"), "1");
  strictEqual(await b.fails("SELECT id FROM account WHERE id = 1 FOR UPDATE NOWAIT"), "55P03");
  strictEqual(await b.run("SELECT id FROM account ORDER BY id FOR UPDATE SKIP LOCKED"), "2");
  const waiting = b.run("SELECT id FROM account WHERE id = 1 FOR UPDATE");
  ok(await isWaiting(waiting));
  await a.run("COMMIT");
  strictEqual(await waiting, "1");
});

scenario("an insert of a key that another transaction has inserted waits for its end", async ([a, b]) => {
  ok(a && b);
  await a.run("CREATE UNIQUE INDEX account_owner ON account (owner, id)");
  await a.run("BEGIN; INSERT INTO account VALUES (5, 0, 'x')");
  const loser = b.fails("INSERT INTO account VALUES (5, 1, 'y')");
  ok(await isWaiting(loser));
  await a.run("COMMIT");
  strictEqual(await loser, "23505");
  await a.run("BEGIN; INSERT INTO account VALUES (6, 0, 'x')");
  const winner = b.run("INSERT INTO account VALUES (6, 1, 'y')");
  ok(await isWaiting(winner));
  await a.run("ROLLBACK");
  strictEqual(await winner, "INSERT 0 1");
});

scenario("savepoints take back a part", async ([a]) => {
  ok(a);
  await a.run("BEGIN; UPDATE account SET balance = 1 WHERE id = 1; SAVEPOINT s");
  await a.run(
    "UPDATE account SET balance = 2; INSERT INTO account VALUES (3, 3, 'c'); SAVEPOINT t; DELETE FROM account",
  );
  strictEqual(await a.run("SELECT count(*) FROM account"), "0");
  await a.run("ROLLBACK TO t");
  strictEqual(await a.run("SELECT balance FROM account ORDER BY id"), "2;2;3");
  strictEqual(await a.fails("SELECT 1/0"), "22012");
  strictEqual(await a.fails("SELECT 1"), "25P02");
  await a.run("ROLLBACK TO s");
  strictEqual(await a.run("SELECT balance FROM account ORDER BY id"), "1;100");
  strictEqual(await a.fails("ROLLBACK TO t"), "3B001");
  strictEqual(await a.run("ROLLBACK"), "ROLLBACK");
  strictEqual(await a.run("SELECT balance FROM account ORDER BY id"), "100;100");
});

scenario("several statements in one text are one transaction", async ([a]) => {
  ok(a);
  strictEqual(
    await a.fails("INSERT INTO account VALUES (3, 1, 'c'); INSERT INTO account VALUES (1, 1, 'c')"),
    "23505",
  );
  strictEqual(await a.run("SELECT count(*) FROM account"), "2");
  strictEqual(a.session.status, "idle");
});

scenario("ALTER TABLE waits for writers, and writers wait for it", async ([a, b, c]) => {
  ok(a && b && c);
  await a.run("BEGIN; UPDATE account SET balance = 1 WHERE id = 1");
  const altering = b.run(
    "ALTER TABLE account ADD COLUMN note int GENERATED ALWAYS AS (balance + 1) STORED, ADD CHECK (balance > 0)",
  );
  ok(await isWaiting(altering));
  await a.run("COMMIT");
  strictEqual(await altering, "ALTER TABLE");
  strictEqual(await c.run("SELECT note, balance FROM account ORDER BY id"), "2,1;101,100");
  await b.run("BEGIN; ALTER TABLE account DROP COLUMN note");
  const writing = c.run("UPDATE account SET owner = 'z' WHERE id = 2");
  ok(await isWaiting(writing));
  await b.run("COMMIT");
  strictEqual(await writing, "UPDATE 1");
  strictEqual(await c.run("SELECT * FROM account ORDER BY id"), "1,1,a;2,100,z");
});

scenario("autocommit statements never fail with 40001, and none is lost", async (clients) => {
  const [first] = clients;
  ok(first);
  await Promise.all(clients.map(async (client, index) => {
    for (let round = 0; round < 30; round++) {
      await client.run(`UPDATE account SET balance = balance + 1 WHERE owner = 'a'`);
      await client.run(`INSERT INTO account SELECT max(id) + 1, ${index}, 'n' FROM account`).catch(
        (error) => {
          // Two may compute the same id; the key then refuses one of them, which is no serialization failure.
          strictEqual(error.code, "23505");
        },
      );
    }
  }));
  strictEqual(await first.run("SELECT balance FROM account WHERE owner = 'a' ORDER BY id"), "190;190");
});

scenario("transfers keep their sum in every snapshot", async (clients) => {
  const [first] = clients;
  ok(first);
  await first.run("INSERT INTO account SELECT i, 100, 'b' FROM generate_series(3, 20) AS g(i)");
  let commits = 0, failures = 0, seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed % below;
  };
  const sums = new Set<string>();
  await Promise.all(clients.map(async (client) => {
    for (let round = 0; round < 60; round++) {
      const [from, to] = [1 + random(20), 1 + random(20)];
      try {
        await client.run("BEGIN");
        const balance = Number(await client.run(`SELECT balance FROM account WHERE id = ${from}`));
        await client.run(`UPDATE account SET balance = ${balance - 1} WHERE id = ${from}`);
        await client.run(
          `UPDATE account SET balance = balance + 1 WHERE id = ${to === from ? from % 20 + 1 : to}`,
        );
        sums.add(await client.run("SELECT sum(balance) FROM account"));
        await client.run("COMMIT");
        commits++;
      } catch (error) {
        ok(
          error instanceof Error && "code" in error && ["40001", "40P01"].includes(String(error.code)),
          String(error),
        );
        await client.run("ROLLBACK");
        failures++;
      }
    }
  }));
  deepStrictEqual([...sums], ["2000"]);
  strictEqual(await first.run("SELECT sum(balance) FROM account"), "2000");
  ok(commits > 50, `only ${commits} commits and ${failures} failures`);
});

scenario("rows of a bulk load can be changed in the same transaction, and taken back", async ([a]) => {
  ok(a);
  await a.run("CREATE TABLE big AS SELECT i AS n, 'x' AS t FROM generate_series(1, 3000) AS g(i)");
  await a.run("BEGIN; CREATE TABLE copied AS SELECT * FROM big");
  strictEqual(await a.run("SELECT count(*), sum(n) FROM copied"), "3000,4501500");
  await a.run("SAVEPOINT s; UPDATE copied SET n = 0 WHERE n <= 1000; DELETE FROM copied WHERE n = 3000");
  strictEqual(await a.run("SELECT count(*), sum(n) FROM copied"), "2999,3998000");
  await a.run("ALTER TABLE copied ADD COLUMN extra int DEFAULT 7; UPDATE copied SET extra = 8 WHERE n = 0");
  strictEqual(await a.run("SELECT sum(extra) FROM copied"), String(1000 * 8 + 1999 * 7));
  await a.run("ROLLBACK TO s");
  strictEqual(await a.run("SELECT * FROM copied WHERE n = 5"), "5,x");
  strictEqual(await a.run("SELECT count(*), sum(n) FROM copied"), "3000,4501500");
  await a.run("UPDATE copied SET t = 'y' WHERE n = 5; COMMIT");
  strictEqual(await a.run("SELECT t, count(*) FROM copied GROUP BY t ORDER BY t"), "x,2999;y,1");
});

scenario("SELECT INTO makes a table", async ([a]) => {
  ok(a);
  await a.run("SELECT id, balance INTO richer FROM account WHERE balance > 1");
  strictEqual(await a.run("SELECT count(*) FROM richer"), "2");
});

scenario("a foreign key that is INITIALLY DEFERRED is checked at commit", async ([a]) => {
  ok(a);
  await a.run(
    "CREATE TABLE child (id int PRIMARY KEY, account int REFERENCES account DEFERRABLE INITIALLY DEFERRED)",
  );
  await a.run("BEGIN; INSERT INTO child VALUES (1, 50); INSERT INTO account VALUES (50, 1, 'z'); COMMIT");
  strictEqual(await a.run("SELECT account FROM child"), "50");
  await a.run("BEGIN; INSERT INTO child VALUES (2, 51)");
  strictEqual(await a.fails("COMMIT"), "23503");
  strictEqual(await a.run("SELECT count(*) FROM child"), "1");
});

scenario("statement_timeout counts for each statement of a text", async ([a]) => {
  ok(a);
  strictEqual(
    await a.fails("SET statement_timeout = '30ms'; SELECT count(*) FROM generate_series(1, 100000000)"),
    "57014",
  );
});

/** Queries over all ways to read a table, `$` being a number from 0 to 4. */
const READS = [
  "SELECT a FROM w WHERE id = $",
  "SELECT id FROM w WHERE id = $ AND b > 1",
  "SELECT s FROM w WHERE id = $",
  "SELECT s FROM w WHERE id BETWEEN $ AND 4",
  "SELECT count(*) FROM w WHERE id BETWEEN $ AND 4",
  "SELECT a, s FROM w WHERE id BETWEEN 1 AND $ ORDER BY s",
  "SELECT id FROM w WHERE a = $ ORDER BY id",
  "SELECT s FROM w WHERE a >= $ ORDER BY a, id",
  "SELECT s FROM w WHERE u >= $ ORDER BY u LIMIT 2",
  "SELECT s FROM w WHERE u >= $ ORDER BY u",
  "SELECT b FROM w ORDER BY u LIMIT 2",
  "SELECT id FROM w ORDER BY a, id LIMIT 3",
  "SELECT id FROM w WHERE u = $",
  "SELECT max(a) FROM w",
  "SELECT max(u) FROM w WHERE u < $",
  "SELECT sum(b) FROM w WHERE b <> $",
  "SELECT s FROM w WHERE s LIKE 'x%' ORDER BY id",
  "SELECT count(*) FROM w",
  "SELECT x.b, y.a FROM w x JOIN w y ON x.a = y.id WHERE x.id > $ ORDER BY x.id",
  "SELECT id, (SELECT y.s FROM w y WHERE y.id = x.a) FROM w x WHERE x.u = $",
  "SELECT EXISTS (SELECT FROM w WHERE lower(s) = 'x$')",
  "SELECT id FROM w WHERE c = $ ORDER BY id",
  "TABLE w ORDER BY id",
  "WITH z AS (SELECT a, b FROM w WHERE id < $) SELECT a, row_number() OVER (ORDER BY b, a) FROM z ORDER BY 2",
] as const;

Deno.test("a change of a column that a statement has not read does not matter to it, and any other does", () => {
  const columns = Array.from({ length: 40 }, (_, at) => `z${at} int`).join(", ");
  const setup =
    `CREATE TABLE w (id int PRIMARY KEY, a int, b int, s text, u int UNIQUE, ${columns}, c int);` +
    "CREATE INDEX ON w (a); CREATE INDEX ON w (lower(s)); CREATE TABLE other (n int);" +
    "INSERT INTO w (id, a, b, s, u, c) SELECT i, i, i, 'X' || i, i, i FROM generate_series(0, 4) i";
  return withClients(setup, async (a, b, c) => {
    // They never wait for each other here.
    a.session.engine.manager.losses.remembers = false;
    const random = seededRandom(1);
    let won = 0, lost = 0;
    for (let round = 0; round < 400; round++) {
      const read = random.pick(READS).replaceAll("$", String(random.below(5)));
      const [column, value] = random.pick(
        [["a", random.below(5)], ["b", random.below(5)], ["s", `'x${random.below(9)}'`], [
          "u",
          random.below(9),
        ], [
          "c",
          random.below(5),
        ]] as const,
      );
      const isCursor = random.below(8) === 0;
      await a.run(isCursor ? `BEGIN; DECLARE k CURSOR FOR ${read}` : "BEGIN");
      const first = isCursor ? await a.run("FETCH 1 FROM k") : "";
      if (isCursor) await a.run("SELECT b FROM w WHERE id = 2");
      const rest = await a.run(isCursor ? "FETCH ALL FROM k" : read);
      const before = [first, rest].filter((rows) => rows !== "" && !rows.startsWith("FETCH")).join(";");
      if (random.below(3) === 0) await a.run("SELECT a FROM w WHERE id = 9");
      // A duplicate changes nothing.
      await b.fails(`UPDATE w SET ${column} = ${value} WHERE id = ${random.below(5)}`);
      if (random.below(3) === 0) {
        await c.run(`UPDATE w SET z${random.below(40)} = 1 WHERE id = ${random.below(5)}`);
      }
      const failure = await a.fails("INSERT INTO other VALUES (1); COMMIT");
      if (failure === "40001") {
        lost++;
        await a.run("ROLLBACK");
      } else {
        won++;
        const now = await a.run(read);
        strictEqual(now.startsWith("SELECT") ? "" : now, before, `${read}: ${column} = ${value}`);
      }
    }
    ok(won > 200 && lost > 80, `${won} won, ${lost} lost`);
    await a.run("BEGIN; SELECT b FROM w ORDER BY u LIMIT 2");
    await b.run("UPDATE w SET u = 100 WHERE u = (SELECT min(u) FROM w)");
    strictEqual(await a.fails("INSERT INTO other VALUES (1)"), "40001");
    await a.run("ROLLBACK");
    // What one statement has read does not count for another one.
    await a.run("BEGIN; SELECT b FROM w WHERE id = 1; SELECT a FROM w WHERE id = 2");
    await b.run("UPDATE w SET a = 7, s = 'y' WHERE id = 1");
    strictEqual(await a.run("INSERT INTO other VALUES (1); COMMIT"), "COMMIT");
  });
});

/** What becomes of 60 blocks with rivals; between all steps `readers` begin, read everything, and end. */
async function outcomesBeside(readers: readonly string[]): Promise<string> {
  const setup =
    "CREATE TABLE w (id int PRIMARY KEY, n int NOT NULL); INSERT INTO w SELECT i, 10 FROM generate_series(0, 5) i";
  const outcomes: string[] = [];
  await withClients(setup, async (a, b, c, d) => {
    a.session.engine.manager.losses.remembers = false;
    const random = seededRandom(5);
    const open = readers.map((begin, index) => ({ begin, client: index === 0 ? c : d, seen: "" }));
    const read = async (at: number): Promise<void> => {
      for (const [index, reader] of open.entries()) {
        // They begin and end at different steps.
        if (reader.seen !== "" && (at + index) % 5 === 0) {
          strictEqual(await reader.client.run("COMMIT"), "COMMIT");
          reader.seen = "";
        }
        if (reader.seen === "") await reader.client.run(reader.begin);
        const seen = await reader.client.run("SELECT * FROM w ORDER BY id");
        if (reader.seen !== "") strictEqual(seen, reader.seen);
        reader.seen = seen;
      }
    };
    for (let round = 0; round < 60; round++) {
      const row = () => random.below(6);
      const steps = [
        () =>
          a.run(
            random.below(2) === 0
              ? `SELECT n FROM w WHERE id = ${row()}`
              : "SELECT sum(n) FROM w WHERE id < 4",
          ),
        () => b.run(`UPDATE w SET n = n + 1 WHERE id = ${row()}`),
        () => a.run(`UPDATE w SET n = n - 1 WHERE id = ${row()}`),
        () => b.run(`UPDATE w SET n = n + 1 WHERE n = ${10 + random.below(9)} AND id > 5`),
        () => a.run("COMMIT"),
      ];
      await a.run("BEGIN");
      let outcome = "won";
      for (const [at, step] of steps.entries()) {
        await read(round + at);
        try {
          await step();
        } catch (error) {
          outcome = `${at}: ${error instanceof DatabaseError ? error.code : error}`;
          await a.run("ROLLBACK");
          break;
        }
      }
      outcomes.push(outcome);
    }
    for (const { client } of open) strictEqual(await client.run("COMMIT"), "COMMIT");
  });
  return outcomes.join();
}

Deno.test("who only reads never loses, and makes nobody lose, at SERIALIZABLE", async () => {
  const alone = await outcomesBeside([]);
  ok(alone.includes("40001") && alone.includes("won"));
  const readers = ["BEGIN", "BEGIN READ ONLY", "BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE"];
  for (const first of [0, 1]) strictEqual(await outcomesBeside(readers.slice(first, first + 2)), alone);
});
