/** Which state statements read, and what must be durable before their answers may be sent: a test moves the horizon. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { failure, Member, run } from "./member_for_test.ts";
import type { Session } from "./session.ts";

const ended = new DatabaseError("57P01", "terminated");
const COMMITTED = "BEGIN ISOLATION LEVEL READ COMMITTED";

interface Scene {
  readonly member: Member;
  readonly writer: Session;
  readonly reader: Session;
  /** What was answered and when: the rows, and the op to wait for above what is durable; 0: none. */
  tell(session: Session, sql: string): Promise<string>;
  /** Everything so far is durable. */
  settle(): void;
}

/** Rows 1 to 3 with n = 10, 20, 30 are durable; another session's block is open, so that older states are kept. */
function scene(name: string, test: (scene: Scene) => Promise<void>): void {
  Deno.test(name, async () => {
    const member = await Member.primary();
    const { engine, seat } = member;
    const [writer, reader, other] = [engine.openSession(), engine.openSession(), engine.openSession()];
    await run(writer, "CREATE TABLE t (id int PRIMARY KEY, n int, u int UNIQUE)");
    await run(writer, "CREATE TABLE s (id int PRIMARY KEY)");
    await run(writer, "INSERT INTO t VALUES (1, 10, 1), (2, 20, 2), (3, 30, 3)");
    seat.horizon.advance(engine.lastOp);
    await run(other, "BEGIN");
    await test({
      member,
      writer,
      reader,
      tell: async (session, sql) => {
        const before = seat.horizon.durableOp;
        const { rows, op } = await run(session, sql);
        const wait = op > before ? ` at ${op - before}` : "";
        return `${rows.map((row) => row.map(String).join()).join(";")}${wait}`;
      },
      settle: () => seat.horizon.advance(engine.lastOp),
    });
    await engine.close();
  });
}

scene(
  "READ COMMITTED reads what is durable, and waits for nothing",
  async ({ writer, reader, tell, settle }) => {
    await run(reader, COMMITTED);
    strictEqual(await tell(writer, "UPDATE t SET n = 11 WHERE id = 1"), " at 1");
    strictEqual(await tell(writer, "UPDATE t SET n = 12 WHERE id = 1"), " at 2");
    strictEqual(await tell(writer, "DELETE FROM t WHERE id = 2"), " at 3");
    strictEqual(await tell(writer, "INSERT INTO t VALUES (4, 40, 4)"), " at 4");
    for (const sql of ["SELECT id, n FROM t ORDER BY id", "SELECT id, n FROM t WHERE id >= 1 ORDER BY id"]) {
      strictEqual(await tell(reader, sql), "1,10;2,20;3,30");
    }
    strictEqual(await tell(reader, "SELECT n FROM t WHERE id = 1"), "10");
    strictEqual(await tell(reader, "SELECT n FROM t WHERE u = 4"), "");
    strictEqual(await tell(reader, "SELECT count(*) FROM t"), "3");
    settle();
    strictEqual(await tell(reader, "SELECT id, n FROM t ORDER BY id"), "1,12;3,30;4,40");
    strictEqual(await tell(reader, "COMMIT"), "");
  },
);

scene("reads outside of a block read what is durable, too", async ({ writer, reader, tell, settle }) => {
  await tell(writer, "UPDATE t SET n = 11 WHERE id = 1");
  for (const sql of ["SELECT n FROM t WHERE id = 1", "SELECT min(n) FROM t", "SELECT n FROM t WHERE u = 1"]) {
    strictEqual(await tell(reader, sql), "10");
    strictEqual(await tell(writer, sql), "11 at 1", "a session sees what it has committed itself");
  }
  settle();
  strictEqual(await tell(reader, "SELECT n FROM t WHERE id = 1"), "11");
});

scene("states that nobody has kept are not read", async ({ member, writer, reader, tell }) => {
  // The block that keeps older states ends, and rows are replaced in place.
  for (const session of member.engine.sessions) {
    if (session.block !== null) session.terminate(ended);
  }
  strictEqual(member.engine.manager.activeCount, 0);
  for (const n of [11, 12, 13]) await tell(writer, `UPDATE t SET n = ${n} WHERE id = 1`);
  strictEqual(await tell(reader, "SELECT n FROM t WHERE id = 1"), "12 at 2");
  await run(reader, COMMITTED);
  strictEqual(await tell(reader, "SELECT sum(n) FROM t"), "62 at 2");
  await tell(writer, "UPDATE t SET n = 14 WHERE id = 1");
  strictEqual(await tell(reader, "SELECT sum(n) FROM t"), "62 at 2", "that state is kept from now on");
});

scene("what is durable is kept for those who come, beside transactions at newer states", async (
  { member, writer, reader, tell },
) => {
  for (const session of member.engine.sessions) if (session.block !== null) session.terminate(ended);
  await tell(writer, "UPDATE t SET n = 11 WHERE id = 1");
  await run(member.engine.openSession(), "BEGIN");
  for (const n of [12, 13]) await tell(writer, `UPDATE t SET n = ${n} WHERE id = 1`);
  strictEqual(await tell(reader, "SELECT n FROM t WHERE id = 1"), "10");
  await run(reader, COMMITTED);
  strictEqual(await tell(reader, "SELECT sum(n) FROM t"), "60");
});

scene(
  "counts are sent at once, and COMMIT waits for what they depend on",
  async ({ writer, reader, tell, settle }) => {
    await tell(writer, "DELETE FROM t WHERE id = 1");
    await run(reader, COMMITTED);
    strictEqual(await tell(reader, "UPDATE t SET n = 0 WHERE id = 1"), "");
    strictEqual(await tell(reader, "COMMIT"), " at 1", "nothing was written, and that depends on the DELETE");
    await run(reader, "BEGIN ISOLATION LEVEL SERIALIZABLE; DELETE FROM t WHERE n = 10");
    strictEqual(await tell(reader, "COMMIT"), " at 1");
    settle();
    await run(reader, `${COMMITTED}; UPDATE t SET n = 0 WHERE id = 1`);
    strictEqual(await tell(reader, "COMMIT"), "");
  },
);

scene(
  "behind a statement that writes or locks nothing older is read",
  async ({ writer, reader, tell, settle }) => {
    await tell(writer, "UPDATE t SET n = 11 WHERE id = 1; INSERT INTO s VALUES (1)");
    await run(reader, COMMITTED);
    strictEqual(await tell(reader, "SELECT count(*) FROM s"), "0");
    strictEqual(await tell(reader, "UPDATE t SET n = n + 1 WHERE id = 1"), "");
    // The row was the rival's: what that has committed with it is seen as well, and sent when it is durable.
    strictEqual(await tell(reader, "SELECT count(*) FROM s"), "1 at 1");
    settle();
    strictEqual(await tell(reader, "SELECT n FROM t WHERE id = 1"), "12");
    await run(reader, "ROLLBACK");
    await tell(writer, "UPDATE t SET n = 13 WHERE id = 1");
    await run(reader, `${COMMITTED}; DELETE FROM t WHERE n = 12; ROLLBACK`);
    strictEqual(await tell(reader, "SELECT n FROM t WHERE id = 1"), "13 at 1", "as the count of rows did");
    await run(reader, COMMITTED);
    strictEqual(await tell(reader, "SELECT n FROM t WHERE id = 1 FOR UPDATE"), "13 at 1");
    strictEqual(await tell(reader, "UPDATE t SET n = 14 WHERE id = 1 RETURNING n"), "14 at 1");
  },
);

scene("behind an advisory lock nothing older is read", async ({ writer, reader, tell }) => {
  await tell(writer, "BEGIN; SELECT pg_advisory_xact_lock(1); UPDATE t SET n = 11 WHERE id = 1; COMMIT");
  await run(reader, `${COMMITTED}; SELECT pg_advisory_xact_lock(1)`);
  strictEqual(await tell(reader, "SELECT n FROM t WHERE id = 1"), "11 at 1");
  await run(reader, "COMMIT");
  await tell(writer, "UPDATE t SET n = 12 WHERE id = 1");
  await run(reader, "SELECT pg_try_advisory_lock(1)");
  strictEqual(await tell(reader, "SELECT n FROM t WHERE id = 1"), "12 at 2");
});

scene(
  "behind an error nothing older is read: the row that a key was taken by",
  async ({ writer, reader, tell, settle }) => {
    await tell(writer, "INSERT INTO t VALUES (4, 40, 4)");
    strictEqual(
      await failure(Promise.resolve().then(() => run(reader, "INSERT INTO t VALUES (5, 0, 4)"))),
      "23505",
    );
    strictEqual(await tell(reader, "SELECT id FROM t WHERE u = 4"), "4 at 1");
    settle();
    await tell(writer, "INSERT INTO t VALUES (6, 60, 6)");
    await run(reader, `${COMMITTED}; SAVEPOINT a`);
    strictEqual(await tell(reader, "SELECT id FROM t WHERE u = 6"), "");
    strictEqual(
      await failure(Promise.resolve().then(() => run(reader, "INSERT INTO t VALUES (7, 0, 6)"))),
      "23505",
    );
    await run(reader, "ROLLBACK TO a");
    strictEqual(await tell(reader, "SELECT id FROM t WHERE u = 6"), "6 at 1");
  },
);

scene(
  "a cursor reads what is durable, and so does a state that was asked for",
  async ({ writer, reader, tell }) => {
    await run(reader, COMMITTED);
    await tell(writer, "UPDATE t SET n = 11 WHERE id = 1");
    await run(reader, "DECLARE c CURSOR FOR SELECT n FROM t ORDER BY id");
    await tell(writer, "UPDATE t SET n = 21 WHERE id = 2");
    strictEqual(await tell(reader, "FETCH 1 FROM c"), "10");
    strictEqual(await tell(reader, "UPDATE t SET n = 0 WHERE id = 3"), "");
    strictEqual(await tell(reader, "FETCH 2 FROM c"), "20;30");
    await run(reader, "ROLLBACK");
    const { op } = await run(writer, "SELECT n FROM t WHERE id = 2");
    ok(op > 0);
    await run(reader, `SET min_op = ${op}`);
    strictEqual(await tell(reader, "SELECT n FROM t WHERE id = 2"), "21 at 2");
  },
);

scene("a table or column that is new is read when it is there", async ({ writer, reader, tell }) => {
  await run(reader, COMMITTED);
  await tell(writer, "UPDATE t SET n = 11 WHERE id = 1");
  await tell(writer, "ALTER TABLE t ADD COLUMN w int DEFAULT 7");
  strictEqual(await tell(reader, "SELECT n, w FROM t WHERE id = 1"), "11,7 at 1");
  await tell(writer, "CREATE TABLE fresh AS SELECT 1 AS a");
  strictEqual(await tell(reader, "SELECT a FROM fresh"), "1 at 3");
});

scene(
  "one state in a block: at most the first read of it waits",
  async ({ writer, reader, tell, settle }) => {
    for (const level of ["REPEATABLE READ", "SERIALIZABLE"]) {
      await tell(writer, "UPDATE t SET n = n + 1 WHERE id = 1");
      await run(reader, `BEGIN ISOLATION LEVEL ${level}`);
      const first = await tell(reader, "SELECT sum(n) FROM t");
      ok(first.endsWith(" at 1"), first);
      settle();
      await tell(writer, "UPDATE t SET n = n + 1 WHERE id = 1");
      ok(
        `${await tell(reader, "SELECT sum(n) FROM t")} at 1` === first,
        "the writer's second change is no part of it",
      );
      await run(reader, "COMMIT");
      settle();
    }
  },
);

scene("a block that becomes serializable is kept apart from what was committed before", async (
  { writer, reader, tell, settle },
) => {
  await run(reader, COMMITTED);
  await tell(writer, "UPDATE t SET n = 0 WHERE id = 1");
  settle();
  await run(reader, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
  strictEqual(await tell(reader, "SELECT sum(n) FROM t"), "50");
  await run(reader, "INSERT INTO s VALUES (50)");
  await tell(writer, "UPDATE t SET n = 1 WHERE id = 1");
  strictEqual(await failure(Promise.resolve().then(() => run(reader, "COMMIT"))), "40001");
});

Deno.test("A member that becomes the primary reads nothing older than what the one before may have sent", async () => {
  const primary = await Member.primary(), backup = await Member.open();
  const writer = primary.engine.openSession();
  await run(writer, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 10)");
  await backup.follow(primary);
  await run(writer, "UPDATE t SET n = 11 WHERE id = 1");
  // The one before has heard that it is committed, and has answered its client; this one has only got the entry.
  const { engine, seat } = backup;
  const committed = seat.horizon.durableOp;
  await backup.follow(primary);
  seat.horizon.retreat(committed, () => {
    throw new Error("nobody waits");
  });
  engine.startServing();
  const other = engine.openSession(), reader = engine.openSession();
  await run(other, "BEGIN");
  const sent: unknown[] = [];
  for (const sql of [COMMITTED, "SELECT n FROM t", "SELECT n FROM t WHERE id = 1", "COMMIT"]) {
    const { rows, op } = await run(reader, sql);
    sent.push([...rows.flat().map(Number), op > committed]);
  }
  deepStrictEqual(sent, [[false], [11, true], [11, true], [false]]);
  await engine.close();
  await primary.engine.close();
});
