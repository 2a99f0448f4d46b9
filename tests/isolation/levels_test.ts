/** READ COMMITTED and REPEATABLE READ: what each statement sees, who waits, who fails; foreign keys and row locks. */
import { ok, rejects, strictEqual } from "node:assert/strict";
import type { DatabaseError } from "../../engine/base/errors.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { shardInThisThread } from "../../engine/sharding/open_sharded.ts";
import { openShardedEngine } from "../sharding/sharded_database.ts";
import { isWaiting, memoryEngine, type TestClient, withClients } from "./client_for_test.ts";

const COMMITTED = "BEGIN ISOLATION LEVEL READ COMMITTED";
const REPEATABLE = "BEGIN ISOLATION LEVEL REPEATABLE READ";

const DATABASES = [
  { where: "", open: memoryEngine },
  { where: " (over shards)", open: () => openShardedEngine(2, shardInThisThread(memoryHost())) },
];

/** Runs a test, with and without shards, on rows 1 and 2, whose `n` are 10 and 20, a parent 1 and a child of none. */
function scenario(
  name: string,
  test: (a: TestClient, b: TestClient, c: TestClient, isSharded: boolean) => Promise<void>,
): void {
  const setup = "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, u int UNIQUE);" +
    "INSERT INTO t VALUES (1, 10, 1), (2, 20, 2);" +
    "CREATE TABLE p (id int PRIMARY KEY, n int); INSERT INTO p VALUES (1, 0), (2, 0);" +
    "CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES p ON DELETE CASCADE)";
  for (const { where, open } of DATABASES) {
    Deno.test(name + where, () =>
      withClients(setup, async (a, b, c, reader) => {
        await test(a, b, c, open !== memoryEngine);
        strictEqual(await reader.run("SELECT count(*) FROM child WHERE p NOT IN (SELECT id FROM p)"), "0");
      }, open));
  }
}

scenario("READ COMMITTED: each statement sees what is committed when it begins", async (a, b) => {
  await a.run(COMMITTED);
  strictEqual(await a.run("SELECT sum(n) FROM t"), "30");
  await b.run("UPDATE t SET n = 11 WHERE id = 1");
  strictEqual(await a.run("SELECT sum(n) FROM t"), "31");
  await b.run("BEGIN; UPDATE t SET n = 12 WHERE id = 1");
  strictEqual(await a.run("SELECT sum(n) FROM t"), "31");
  await b.run("COMMIT");
  await a.run("INSERT INTO t VALUES (3, 5, 3)");
  strictEqual(await a.run("SELECT sum(n) FROM t"), "37");
  strictEqual(await a.run("COMMIT"), "COMMIT");
});

scenario("READ COMMITTED: a writer that has waited looks at the newest row", async (a, b) => {
  for (const client of [a, b]) {
    await client.run(COMMITTED);
    strictEqual(await client.run("SELECT n FROM t WHERE id = 1"), "10");
  }
  strictEqual(await a.run("UPDATE t SET n = n + 1 WHERE id = 1"), "UPDATE 1");
  const second = b.run("UPDATE t SET n = n + 5 WHERE n < 20 RETURNING n");
  ok(await isWaiting(second));
  await a.run("COMMIT");
  strictEqual(await second, "16");
  await b.run("COMMIT");
  strictEqual(await a.run("SELECT n FROM t ORDER BY id"), "16;20");
});

scenario("READ COMMITTED: a row that the condition no longer holds for is left alone", async (a, b) => {
  await a.run(`${COMMITTED}; UPDATE t SET n = 100 WHERE id = 1`);
  await b.run(`${COMMITTED}; SELECT * FROM t`);
  const second = b.run("DELETE FROM t WHERE n = 10");
  ok(await isWaiting(second));
  await a.run("COMMIT");
  strictEqual(await second, "DELETE 0");
  await b.run("COMMIT");
});

scenario("READ COMMITTED: a row that is gone is no row", async (a, b) => {
  await a.run(`${COMMITTED}; DELETE FROM t WHERE id = 1`);
  await b.run(`${COMMITTED}; SELECT * FROM t`);
  const second = b.run("SELECT id FROM t ORDER BY id FOR UPDATE");
  ok(await isWaiting(second));
  await a.run("COMMIT");
  strictEqual(await second, "2");
  await b.run("COMMIT");
});

scenario("READ COMMITTED: who has waited in vain keeps no lock on what is not its own", async (a, b, c) => {
  const wait = async (before: string, waiting: string): Promise<string> => {
    for (const client of [a, b, c]) await client.run("ROLLBACK");
    await a.run(`${COMMITTED}; ${before}`);
    await b.run(`${COMMITTED}; SELECT * FROM t`);
    const second = b.run(waiting);
    ok(await isWaiting(second));
    await a.run("COMMIT");
    await c.run("SET lock_timeout = 10");
    return await second;
  };
  strictEqual(await wait("DELETE FROM t WHERE id = 1", "UPDATE t SET n = 0 WHERE id = 1"), "UPDATE 0");
  strictEqual(await c.run("INSERT INTO t VALUES (1, 10, 1)"), "INSERT 0 1");
  for (const [id, u] of [[7, 8], [9, 7]]) {
    const insert = `INSERT INTO t VALUES (${id}, 1, ${u}) ON CONFLICT DO NOTHING`;
    strictEqual(await wait("INSERT INTO t VALUES (7, 1, 7)", insert), "INSERT 0 0");
    strictEqual(await c.run("UPDATE t SET u = NULL, n = 5 WHERE id = 7"), "UPDATE 1");
    strictEqual(await c.run("UPDATE t SET u = 7 WHERE id = 7; DELETE FROM t WHERE id = 7"), "DELETE 1");
  }
  // These are locked in PostgreSQL as well.
  for (
    const statement of [
      "UPDATE t SET n = 0 WHERE id = 2 AND n = 20",
      "SELECT n FROM t WHERE id = 2 AND n = 20 FOR UPDATE",
    ]
  ) {
    await wait("UPDATE t SET n = 21 WHERE id = 2", statement);
    strictEqual(await c.fails("UPDATE t SET n = 0 WHERE id = 2"), "55P03");
    await b.run("ROLLBACK");
    await c.run("UPDATE t SET n = 20 WHERE id = 2");
  }
  const change = "INSERT INTO t VALUES (7, 0) ON CONFLICT (id) DO UPDATE SET n = 3 WHERE t.n > 5";
  strictEqual(await wait("INSERT INTO t VALUES (7, 1, 7)", change), "INSERT 0 0");
  strictEqual(await c.fails("UPDATE t SET n = 0 WHERE id = 7"), "55P03");
  // A lock that it had before stays.
  await b.run(`ROLLBACK; ${COMMITTED}; SELECT * FROM t WHERE id = 2 FOR SHARE`);
  await a.run(`${COMMITTED}; SELECT * FROM t WHERE id = 2 FOR SHARE`);
  const update = b.run("DELETE FROM t WHERE id = 2 AND n = 1");
  strictEqual(await update, "DELETE 0");
  await a.run("ROLLBACK");
  strictEqual(await c.fails("DELETE FROM t WHERE id = 2"), "55P03");
  await b.run("ROLLBACK");
});

scenario("READ COMMITTED: ON CONFLICT meets a row that came meanwhile", async (a, b) => {
  await b.run(`${COMMITTED}; SELECT * FROM t`);
  await a.run("BEGIN; INSERT INTO t VALUES (7, 1, 7)");
  const second = b.run(
    "INSERT INTO t VALUES (7, 2, 8) ON CONFLICT (id) DO UPDATE SET n = t.n + 100 RETURNING n",
  );
  ok(await isWaiting(second));
  await a.run("COMMIT");
  strictEqual(await second, "101");
  await b.run("COMMIT");
});

scenario("READ COMMITTED: MERGE takes the newest rows", async (a, b) => {
  await b.run(`${COMMITTED}; SELECT * FROM t`);
  await a.run("BEGIN; UPDATE t SET n = 50 WHERE id = 1; INSERT INTO t VALUES (3, 0, 3)");
  const second = b.run(
    "MERGE INTO t USING (VALUES (1), (3)) s (id) ON t.id = s.id " +
      "WHEN MATCHED AND n = 50 THEN UPDATE SET n = 51 WHEN MATCHED THEN UPDATE SET n = -1 " +
      "WHEN NOT MATCHED THEN INSERT VALUES (s.id, 9, 9)",
  );
  ok(await isWaiting(second));
  await a.run("COMMIT");
  strictEqual(await second, "MERGE 2");
  strictEqual(await b.run("SELECT id, n FROM t ORDER BY id"), "1,51;2,20;3,-1");
  await b.run("COMMIT");
});

scenario("READ COMMITTED: a statement may need rows of one place after those of another", async (a) => {
  await a.run(
    "INSERT INTO p SELECT n, 0 FROM generate_series(3, 6) n; INSERT INTO child SELECT n, 1 FROM generate_series(1, 6) n",
  );
  await a.run(COMMITTED);
  for (let id = 1; id <= 6; id++) {
    strictEqual(await a.run(`UPDATE child SET p = ${7 - id} WHERE id = ${id}`), "UPDATE 1");
  }
  await a.run("COMMIT");
});

scenario("READ COMMITTED: lost updates and write skew happen, and nobody gets 40001", async (a, b) => {
  for (const client of [a, b]) await client.run(`${COMMITTED}; SELECT sum(n) FROM t`);
  await a.run("UPDATE t SET n = 0 WHERE id = 1");
  await b.run("UPDATE t SET n = 0 WHERE id = 2");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await b.run("COMMIT"), "COMMIT");
  strictEqual(await a.run("SELECT sum(n) FROM t"), "0");
});

scenario("READ COMMITTED: a cursor answers what was there when it was opened", async (a, b) => {
  await a.run(`${COMMITTED}; DECLARE c CURSOR FOR SELECT id, n FROM t ORDER BY id`);
  strictEqual(await a.run("FETCH 1 FROM c"), "1,10");
  await b.run("UPDATE t SET n = 21 WHERE id = 2; INSERT INTO t VALUES (3, 30, 3)");
  strictEqual(await a.run("SELECT n FROM t WHERE id = 2"), "21");
  strictEqual(await a.run("FETCH ALL FROM c"), "2,20");
  await a.run("COMMIT");
});

scenario("REPEATABLE READ: one snapshot, and writers of different rows do not meet", async (a, b) => {
  await a.run(REPEATABLE);
  strictEqual(await a.run("SELECT sum(n) FROM t"), "30");
  await b.run("UPDATE t SET n = 11 WHERE id = 1");
  strictEqual(await a.run("SELECT sum(n) FROM t"), "30");
  strictEqual(await a.run("UPDATE t SET n = 21 WHERE id = 2"), "UPDATE 1");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await a.run("SELECT n FROM t ORDER BY id"), "11;21");
});

scenario("REPEATABLE READ: of two that change a row the first one wins", async (a, b, c) => {
  for (const client of [a, b, c]) await client.run(`${REPEATABLE}; SELECT count(*) FROM t`);
  await a.run("UPDATE t SET n = n + 1 WHERE id = 1");
  const second = b.fails("UPDATE t SET n = n + 5 WHERE id = 1");
  ok(await isWaiting(second));
  await a.run("COMMIT");
  strictEqual(await second, "40001");
  strictEqual(await c.fails("SELECT * FROM t FOR UPDATE"), "40001");
});

scenario("REPEATABLE READ: who waited for one that was rolled back goes on", async (a, b) => {
  for (const client of [a, b]) await client.run(`${REPEATABLE}; SELECT count(*) FROM t`);
  await a.run("UPDATE t SET n = n + 1 WHERE id = 1");
  const second = b.run("UPDATE t SET n = n + 5 WHERE id = 1");
  ok(await isWaiting(second));
  await a.run("ROLLBACK");
  strictEqual(await second, "UPDATE 1");
  strictEqual(await b.run("COMMIT"), "COMMIT");
});

scenario("REPEATABLE READ: constraints look at what came after the snapshot", async (a, b) => {
  await a.run(`${REPEATABLE}; SELECT count(*) FROM t, p`);
  await b.run("INSERT INTO p VALUES (7, 0); INSERT INTO t VALUES (7, 0, 7); DELETE FROM t WHERE id = 2");
  strictEqual(await a.run("INSERT INTO child VALUES (1, 7)"), "INSERT 0 1");
  strictEqual(await a.run("INSERT INTO t VALUES (8, 0, 2)"), "INSERT 0 1");
  strictEqual(await a.run("SELECT count(*) FROM p"), "2");
  strictEqual(await a.fails("INSERT INTO t VALUES (9, 0, 7)"), "23505");
  await a.run("ROLLBACK");
});

scenario("REPEATABLE READ: write skew happens", async (a, b) => {
  for (const client of [a, b]) await client.run(`${REPEATABLE}; SELECT sum(n) FROM t`);
  await a.run("UPDATE t SET n = 0 WHERE id = 1");
  await b.run("UPDATE t SET n = 0 WHERE id = 2");
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await b.run("COMMIT"), "COMMIT");
});

for (const begin of [COMMITTED, REPEATABLE, "BEGIN"]) {
  scenario(`${begin}: a unique key is given once`, async (a, b) => {
    for (const client of [a, b]) await client.run(`${begin}; SELECT count(*) FROM t`);
    await a.run("INSERT INTO t VALUES (5, 0, 5)");
    const second = b.fails("INSERT INTO t VALUES (6, 0, 5)");
    ok(await isWaiting(second));
    await a.run("COMMIT");
    // Without the rival's row in its snapshot a serializable transaction cannot be told of it.
    strictEqual(await second, begin === "BEGIN" ? "40001" : "23505");
  });

  scenario(`${begin}: a child keeps its parent, which may change otherwise`, async (a, b, c, isSharded) => {
    await a.run(`${begin}; INSERT INTO child VALUES (1, 1)`);
    strictEqual(await b.run("UPDATE p SET n = 5 WHERE id = 1"), "UPDATE 1");
    strictEqual(await c.run(`${begin}; SELECT n FROM p WHERE id = 1 FOR NO KEY UPDATE NOWAIT`), "5");
    await c.run("ROLLBACK");
    const deleting = b.run("DELETE FROM p WHERE id = 1");
    ok(await isWaiting(deleting));
    strictEqual(await c.fails(`${begin}; SELECT * FROM p WHERE id = 1 FOR UPDATE NOWAIT`), "55P03");
    await c.run("ROLLBACK");
    // What was read of the parent is validated there.
    if (isSharded && begin === "BEGIN") {
      strictEqual(await a.fails("COMMIT"), "40001");
      strictEqual(await deleting, "DELETE 1");
      return;
    }
    await a.run("COMMIT");
    strictEqual(await deleting, "DELETE 1");
    strictEqual(await a.run("SELECT count(*) FROM child"), "0");
  });

  scenario(`${begin}: a parent that goes gets no children`, async (a, b) => {
    await a.run(`${begin}; DELETE FROM p WHERE id = 1`);
    const child = b.fails("INSERT INTO child VALUES (1, 1)");
    ok(await isWaiting(child));
    await a.run("COMMIT");
    strictEqual(await child, "23503");
  });

  scenario(`${begin}: a parent that changes its key takes no new children along`, async (a, b) => {
    await a.run("ALTER TABLE child DROP CONSTRAINT child_p_fkey");
    await a.run("ALTER TABLE child ADD FOREIGN KEY (p) REFERENCES p ON UPDATE CASCADE");
    await a.run(`${begin}; UPDATE p SET id = 9 WHERE id = 1`);
    const child = b.fails("INSERT INTO child VALUES (1, 1)");
    ok(await isWaiting(child));
    await a.run("COMMIT");
    strictEqual(await child, "23503");
    strictEqual(await b.run("INSERT INTO child VALUES (1, 9)"), "INSERT 0 1");
  });

  scenario(`${begin}: shared locks go together, and keep writers out`, async (a, b, c) => {
    for (const client of [a, b]) await client.run(`${begin}; SELECT * FROM t WHERE id = 1 FOR SHARE`);
    const writing = c.run("UPDATE t SET n = 0 WHERE id = 1");
    ok(await isWaiting(writing));
    await a.run("COMMIT");
    ok(await isWaiting(writing));
    await b.run("COMMIT");
    strictEqual(await writing, "UPDATE 1");
  });

  scenario(`${begin}: two that share a lock and both want more of it are a deadlock`, async (a, b) => {
    for (const client of [a, b]) await client.run(`${begin}; SELECT * FROM t WHERE id = 1 FOR SHARE`);
    const first = a.run("UPDATE t SET n = 1 WHERE id = 1");
    ok(await isWaiting(first));
    strictEqual(await b.fails("UPDATE t SET n = 2 WHERE id = 1"), "40P01");
    strictEqual(await first, "UPDATE 1");
    await a.run("COMMIT");
  });

  scenario(`${begin}: SKIP LOCKED passes by what others have locked`, async (a, b) => {
    await a.run(`${begin}; SELECT * FROM t WHERE id = 1 FOR UPDATE`);
    strictEqual(await b.run(`${begin}; SELECT id FROM t ORDER BY id FOR SHARE SKIP LOCKED`), "2");
    await b.run("COMMIT");
    await a.run("COMMIT");
  });
}

scenario("a deferred check meets a parent that is about to go", async (a, b) => {
  await a.run("ALTER TABLE child DROP CONSTRAINT child_p_fkey");
  await a.run("ALTER TABLE child ADD FOREIGN KEY (p) REFERENCES p DEFERRABLE INITIALLY DEFERRED");
  await a.run(`${COMMITTED}; INSERT INTO child VALUES (1, 7)`);
  await b.run("INSERT INTO p VALUES (7, 0)");
  await b.run(`${COMMITTED}; DELETE FROM p WHERE id = 7`);
  strictEqual(await a.run("COMMIT"), "COMMIT");
  strictEqual(await b.fails("COMMIT"), "23503");
});

scenario("lock_timeout ends a wait, and a deadlock names both statements", async (a, b) => {
  await a.run(`${COMMITTED}; UPDATE t SET n = 1 WHERE id = 1`);
  await b.run("SET lock_timeout = 20");
  strictEqual(await b.fails("UPDATE t SET n = 2 WHERE id = 1"), "55P03");
  await b.run("RESET lock_timeout");
  await b.run(`${COMMITTED}; UPDATE t SET n = 2 WHERE id = 2`);
  const first = a.run("UPDATE t SET n = 1 WHERE id = 2");
  ok(await isWaiting(first));
  await rejects(b.run("UPDATE t SET n = 2 WHERE id = 1"), (error: DatabaseError) => {
    const { detail = "" } = error.fields();
    return error.code === "40P01" && /n = 1 WHERE id = 2/.test(detail) && /n = 2 WHERE id = 1/.test(detail);
  });
  await b.run("ROLLBACK");
  strictEqual(await first, "UPDATE 1");
  await a.run("COMMIT");
});

scenario("levels are chosen by setting, by statement and by session", async (a) => {
  strictEqual(await a.run("SHOW transaction_isolation"), "serializable");
  await a.run("SET default_transaction_isolation = 'read committed'");
  strictEqual(await a.run("SHOW transaction_isolation"), "read committed");
  await a.run("BEGIN");
  strictEqual(await a.run("SHOW transaction_isolation"), "read committed");
  await a.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  strictEqual(await a.run("SHOW transaction_isolation"), "repeatable read");
  await a.run("SELECT * FROM t");
  strictEqual(await a.fails("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"), "25001");
  await a.run("ROLLBACK");
  await a.run("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
  strictEqual(await a.run("SHOW transaction_isolation"), "read uncommitted");
});

for (const begin of [REPEATABLE, "BEGIN"]) {
  scenario(`${begin}: the snapshot is that of the first statement`, async (a, b) => {
    await a.run(begin);
    await b.run("UPDATE t SET n = 11 WHERE id = 1");
    strictEqual(await a.run("SELECT sum(n) FROM t"), "31");
    await b.run("UPDATE t SET n = 12 WHERE id = 1");
    strictEqual(await a.run("SELECT sum(n) FROM t"), "31");
    await a.run("COMMIT");
  });
}

for (const begin of [COMMITTED, REPEATABLE, "BEGIN"]) {
  scenario(`${begin}: ON CONFLICT locks also the row that its condition leaves alone`, async (a, b) => {
    await a.run(begin);
    const left = "INSERT INTO t VALUES (1, 0, NULL) ON CONFLICT (id) DO UPDATE SET n = 0 WHERE t.n > 10";
    strictEqual(await a.run(left), "INSERT 0 0");
    const other = b.run("UPDATE t SET n = 100 WHERE id = 1");
    ok(await isWaiting(other));
    strictEqual(await a.run("SELECT n FROM t WHERE id = 1"), "10");
    await a.run("COMMIT");
    strictEqual(await other, "UPDATE 1");
  });

  scenario(
    `${begin}: whether a key is free that an open transaction takes away is known at its end`,
    async (a, b, c) => {
      const takings: readonly [taking: string, wanting: string][] = [
        ["DELETE FROM t WHERE id = 1", "INSERT INTO t VALUES (5, 5, 1)"],
        ["UPDATE t SET u = 9 WHERE id = 1", "UPDATE t SET u = 1 WHERE id = 2"],
        ["DELETE FROM t WHERE id = 1", "INSERT INTO t VALUES (5, 5, 1) ON CONFLICT DO NOTHING"],
        ["UPDATE t SET id = 9 WHERE id = 1", "INSERT INTO t VALUES (1, 5, 5) ON CONFLICT DO NOTHING"],
      ];
      for (const [taking, wanting] of takings) {
        for (const [end, result] of [["ROLLBACK", 0], ["COMMIT", 1]] as const) {
          await a.run(`${begin}; ${taking}`);
          await b.run(begin);
          const wanted = b.fails(wanting);
          ok(await isWaiting(wanted), wanting);
          await a.run(end);
          const expected = result === 1
            ? `succeeded with ${wanting.startsWith("UPDATE") ? "UPDATE 1" : "INSERT 0 1"}`
            : wanting.includes("CONFLICT")
            ? "succeeded with INSERT 0 0"
            : "23505";
          strictEqual(await wanted, expected, `${taking}; ${end}; ${wanting}`);
          await b.run("ROLLBACK");
        }
        await c.run("DELETE FROM t; INSERT INTO t VALUES (1, 10, 1), (2, 20, 2)");
      }
    },
  );

  for (const action of ["", "ON DELETE RESTRICT"]) {
    scenario(`${begin}: a parent waits for whoever has deleted its child ${action}`, async (a, b) => {
      await a.run(
        `CREATE TABLE c2 (id int PRIMARY KEY, p int REFERENCES p ${action}, q int); INSERT INTO c2 VALUES (1, 1)`,
      );
      for (const changing of ["UPDATE c2 SET q = 5", "UPDATE c2 SET p = 2"]) {
        await a.run(`${begin}; ${changing}`);
        strictEqual(await b.fails("DELETE FROM p WHERE id = 1"), "23503");
        await a.run("ROLLBACK");
      }
      for (const [end, result] of [["ROLLBACK", "23503"], ["COMMIT", "succeeded with DELETE 1"]]) {
        await a.run(`${begin}; DELETE FROM c2`);
        await b.run(begin);
        const wanted = b.fails("DELETE FROM p WHERE id = 1");
        ok(await isWaiting(wanted));
        await a.run(end as string);
        strictEqual(await wanted, result);
        await b.run("ROLLBACK");
      }
      await a.run("DROP TABLE c2");
    });
  }

  scenario(
    `${begin}: the id of a row that others have locked, or change otherwise, is taken`,
    async (a, b) => {
      for (
        const holding of ["SELECT 1 FROM t WHERE id = 1 FOR UPDATE", "UPDATE t SET n = n + 1 WHERE id = 1"]
      ) {
        await a.run(`${begin}; ${holding}`);
        strictEqual(await b.fails("INSERT INTO t VALUES (1, 5, NULL)"), "23505");
        if (holding.startsWith("SELECT")) {
          strictEqual(await b.fails("INSERT INTO t VALUES (5, 5, 1)"), "23505");
        }
        strictEqual(await b.run("INSERT INTO t VALUES (1, 5, NULL) ON CONFLICT DO NOTHING"), "INSERT 0 0");
        await a.run("ROLLBACK");
      }
    },
  );
}

scenario(
  "REPEATABLE READ: who has lost a row does not wait for the one who has locked it since",
  async (a, b) => {
    await a.run(`${REPEATABLE}; SELECT n FROM t WHERE id = 2`);
    await b.run("UPDATE t SET n = 11 WHERE id = 1");
    await b.run("BEGIN; UPDATE t SET n = 12 WHERE id = 1");
    strictEqual(await a.fails("UPDATE t SET n = 0 WHERE id = 1"), "40001");
    await b.run("COMMIT");
  },
);

for (const begin of [COMMITTED, REPEATABLE, "BEGIN"]) {
  scenario(
    `${begin}: who locks a table reads what was written before, and nobody writes beside it`,
    async (a, b, c) => {
      const lock = "LOCK TABLE t IN SHARE ROW EXCLUSIVE MODE";
      const next = "INSERT INTO t SELECT max(id) + 1, sum(n), max(id) + 1 FROM t";
      await a.run(`${begin}; INSERT INTO t VALUES (3, 30, 3)`);
      await b.run(begin);
      strictEqual(await c.fails(`${begin}; LOCK t IN EXCLUSIVE MODE NOWAIT`), "55P03");
      await c.run(`ROLLBACK; ${begin}; LOCK TABLE t IN ROW EXCLUSIVE MODE`);
      const second = b.run(`${lock}; ${lock}`);
      ok(await isWaiting(second));
      await a.run("COMMIT");
      strictEqual(await second, "LOCK TABLE");
      const third = a.run(`${begin}; ${lock}; ${next}; COMMIT`);
      const writing = c.run("UPDATE t SET n = n + 1 WHERE id = 2").then(() => c.run("COMMIT"));
      ok(await isWaiting(third));
      ok(await isWaiting(writing));
      strictEqual(await b.run("SELECT sum(n) FROM t"), "60");
      await b.run(`${next}; COMMIT`);
      // Either of them is next.
      await Promise.all([third, writing]);
      const rows = await a.run("SELECT n FROM t ORDER BY id");
      ok(["10;21;30;60;120", "10;21;30;60;121"].includes(rows), rows);
    },
  );
}
