/**
 * DELETE and UPDATE of so many rows that they are kept in bulk: what the transaction itself sees, what others see and
 * wait for, what can be taken back, and what the log has of it.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { memoryHost } from "../host/memory_host.ts";
import { CopiedText } from "../../tests/support/copied_text.ts";
import { runSql } from "../../tests/support/run_sql.ts";
import { decodeEntry } from "../operations/entry_codec.ts";
import { Engine } from "./engine.ts";
import { Member } from "./member_for_test.ts";
import type { Session } from "./session.ts";

const ROWS = 40_000;

async function fill(session: Session): Promise<void> {
  await runSql(
    session,
    "CREATE TABLE t (id int PRIMARY KEY, v int UNIQUE, w int); CREATE INDEX t_w ON t (w)",
  );
  let text = "";
  for (let id = 1; id <= ROWS; id++) text += `${id}\t${id + 1_000_000}\t${id % 10}\n`;
  await session.simple("COPY t FROM STDIN", new CopiedText(text), () => {});
}

async function withTable(): Promise<
  { host: ReturnType<typeof memoryHost>; engine: Engine; session: Session }
> {
  const host = memoryHost();
  const engine = await Engine.open({ host, directory: "db" });
  const session = engine.openSession();
  await fill(session);
  return { host, engine, session };
}

async function value(session: Session, text: string): Promise<unknown> {
  const value = (await runSql(session, text))[0]?.[0];
  return typeof value === "bigint" ? Number(value) : value;
}

function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "none",
    (error: unknown) => error instanceof DatabaseError ? error.code : String(error),
  );
}

/** What every way of reading says of the table. */
async function picture(session: Session): Promise<unknown[]> {
  const questions = [
    "SELECT count(*) FROM t",
    "SELECT sum(v) FROM t",
    "SELECT count(*) FROM t WHERE w = 3",
    "SELECT v FROM t WHERE id = 39999",
    "SELECT id FROM t WHERE v = 1039999",
    "SELECT w FROM t WHERE id = 20",
    "SELECT min(id) FROM t WHERE id >= 30000",
    "SELECT max(id) FROM t WHERE id BETWEEN 100 AND 39000",
    "SELECT count(*) FROM t WHERE id BETWEEN 17000 AND 39000",
    "SELECT min(v) FROM t WHERE v > 1030000",
  ];
  const answers: unknown[] = [];
  for (const question of questions) answers.push(await value(session, question));
  return answers;
}

Deno.test("DELETE of many rows hides them from their transaction, whichever way it looks", async () => {
  const { engine, session } = await withTable();
  const before = await picture(session);
  await runSql(
    session,
    "BEGIN; UPDATE t SET w = w WHERE id = 1; SAVEPOINT a; DELETE FROM t WHERE id > 10 AND id <> 30001",
  );
  deepStrictEqual(await picture(session), [
    ...[
      11,
      10 * 1_000_000 + 55 + 1_030_001,
      1,
      undefined,
      undefined,
      undefined,
      30_001,
      30_001,
      1,
      1_030_001,
    ],
  ]);
  await runSql(session, "SAVEPOINT b; INSERT INTO t VALUES (39999, 1039999, 3), (20, 5, 3); SAVEPOINT c");
  strictEqual(await value(session, "SELECT count(*) FROM t"), 13);
  strictEqual(await value(session, "SELECT v FROM t WHERE id = 39999"), 1_039_999);
  strictEqual(await codeOf(runSql(session, "INSERT INTO t VALUES (39999, 7, 7)")), "23505");
  await runSql(
    session,
    "ROLLBACK TO c; UPDATE t SET v = v + 1 WHERE id = 39999; DELETE FROM t WHERE id = 39999",
  );
  strictEqual(await value(session, "SELECT count(*) FROM t WHERE id = 39999"), 0);
  await runSql(session, "ROLLBACK TO b");
  strictEqual(await value(session, "SELECT count(*) FROM t"), 11);
  await runSql(session, "INSERT INTO t VALUES (25, 1000025, 5)");
  strictEqual(await value(session, "SELECT sum(id) FROM t WHERE id > 10"), 30_026);
  await runSql(session, "ROLLBACK TO a");
  deepStrictEqual(await picture(session), before);
  await runSql(session, "ROLLBACK");
  deepStrictEqual(await picture(session), before);
  await engine.close();
});

Deno.test("DELETE of many rows is the same in the log as in memory, and to a release that knows no lists", async () => {
  const work = async (session: Session): Promise<void> => {
    await runSql(session, "BEGIN; DELETE FROM t WHERE id > 10 AND id <> 30001");
    await runSql(
      session,
      "INSERT INTO t VALUES (20, 5, 3), (50000, 50000, 1); DELETE FROM t WHERE id = 50000; COMMIT",
    );
  };
  const expected = [12, 10 * 1_000_000 + 55 + 1_030_001 + 5, 2, undefined, undefined, 3];
  const { host, engine, session } = await withTable();
  await work(session);
  deepStrictEqual((await picture(session)).slice(0, 6), expected);
  const digest = engine.digest();
  await engine.close();
  const again = await Engine.open({ host, directory: "db" });
  strictEqual(again.digest(), digest);
  deepStrictEqual((await picture(again.openSession())).slice(0, 6), expected);
  await again.close();

  const kinds: string[][] = [];
  for (const version of [1, 3]) {
    const primary = (await Member.primary()).commitAlone(), backup = await Member.open();
    const client = primary.engine.openSession();
    await fill(client);
    if (version > 1) primary.engine.raiseClusterVersion(version);
    await primary.engine.whenDurable(primary.engine.lastOp);
    strictEqual(primary.engine.clusterVersion, version);
    await work(client);
    await primary.engine.checkpoint();
    deepStrictEqual((await picture(client)).slice(0, 6), expected);
    await backup.follow(primary);
    strictEqual(backup.engine.digest(), primary.engine.digest());
    deepStrictEqual(backup.engine.machine.encodeState(), primary.engine.machine.encodeState());
    await backup.engine.whenDurable(backup.engine.lastOp);
    const seen = new Set<string>();
    for (const { payload } of primary.engine.storage.log.entries(0)) {
      for (const { kind } of decodeEntry(payload).effects) seen.add(kind);
    }
    kinds.push([...seen].sort());
    await primary.engine.close();
    await backup.engine.close();
  }
  ok(kinds[0]?.includes("delete") === true && !kinds[0].includes("delete_batch"), String(kinds[0]));
  ok(kinds[1]?.includes("delete_batch") === true, String(kinds[1]));
});

Deno.test("DELETE of many rows locks each of them, and waits for who has locked one", async () => {
  const { engine, session } = await withTable();
  const other = engine.openSession(), third = engine.openSession();
  await runSql(other, "CREATE TABLE child (t int REFERENCES t (id))");
  await runSql(session, "BEGIN; DELETE FROM t WHERE id > 100");
  strictEqual(await codeOf(runSql(other, "SELECT * FROM t WHERE id = 39999 FOR UPDATE NOWAIT")), "55P03");
  strictEqual(await codeOf(runSql(other, "SELECT * FROM t WHERE id = 99 FOR UPDATE NOWAIT")), "none");
  strictEqual(
    (await runSql(other, "SELECT id FROM t WHERE id > 39990 ORDER BY id FOR UPDATE SKIP LOCKED")).length,
    0,
  );
  const child = codeOf(runSql(other, "INSERT INTO child VALUES (39999)"));
  const changed = codeOf(runSql(third, "UPDATE t SET w = 77 WHERE id = 39998"));
  await runSql(session, "COMMIT");
  deepStrictEqual(await Promise.all([child, changed]), ["23503", "none"]);
  strictEqual(await value(session, "SELECT count(*) FROM t"), 100);

  await runSql(session, "DELETE FROM t; DROP TABLE child");
  await runSql(session, "INSERT INTO t SELECT g, g, g % 10 FROM generate_series(1, 40000) AS g");
  await runSql(session, "BEGIN; SAVEPOINT a; DELETE FROM t");
  const waits = codeOf(runSql(third, "UPDATE t SET w = 77 WHERE id = 39998"));
  await runSql(session, "ROLLBACK TO a");
  strictEqual(await waits, "none");
  await runSql(session, "ROLLBACK");
  await engine.whenDurable(engine.lastOp);
  strictEqual(await value(session, "SELECT w FROM t WHERE id = 39998"), 77);

  // Who holds a row keeps the whole statement waiting, and is seen afterwards.
  await runSql(other, "BEGIN; UPDATE t SET w = 78 WHERE id = 39997");
  const deleted = codeOf(runSql(session, "DELETE FROM t WHERE w <> 78"));
  await runSql(other, "COMMIT");
  strictEqual(await deleted, "none");
  await engine.whenDurable(engine.lastOp);
  deepStrictEqual(await runSql(session, "SELECT id, w FROM t"), [[39_997, 78]]);
  await engine.close();
});

Deno.test("DELETE of many rows makes who has read one of them and writes lose, and nobody else", async () => {
  const { engine, session } = await withTable();
  const reader = engine.openSession(), stranger = engine.openSession();
  await runSql(session, "CREATE TABLE n (a int)");
  await runSql(reader, "BEGIN; SELECT * FROM t WHERE id = 39999");
  await runSql(stranger, "BEGIN; SELECT * FROM t WHERE id = 5");
  await runSql(session, "DELETE FROM t WHERE id > 10");
  strictEqual(await codeOf(runSql(reader, "INSERT INTO n VALUES (1); COMMIT")), "40001");
  strictEqual(await codeOf(runSql(stranger, "INSERT INTO n VALUES (2); COMMIT")), "none");
  await runSql(reader, "ROLLBACK");
  await engine.whenDurable(engine.lastOp);
  deepStrictEqual(await runSql(session, "SELECT a FROM n"), [[2]]);
  await engine.close();
});

Deno.test("UPDATE of many rows is seen by its transaction, whichever way it looks, and can be taken back", async () => {
  const { engine, session } = await withTable();
  const before = await picture(session);
  await runSql(
    session,
    "BEGIN; UPDATE t SET w = w WHERE id = 1; SAVEPOINT a; UPDATE t SET w = w + 100 WHERE id <> 30001",
  );
  const after = [
    ...[ROWS, before[1], 0, 1_039_999, 39_999, 100, 30_000, 39_000, 22_001, 1_030_001],
  ];
  deepStrictEqual(await picture(session), after);
  strictEqual(await value(session, "SELECT count(*) FROM t WHERE w = 103"), ROWS / 10);
  strictEqual(await value(session, "SELECT min(w) FROM t WHERE w >= 0"), 1);
  strictEqual(await codeOf(runSql(session, "SAVEPOINT b; INSERT INTO t VALUES (39999, 7, 7)")), "23505");
  await runSql(session, "ROLLBACK TO b");
  strictEqual(await codeOf(runSql(session, "INSERT INTO t VALUES (50000, 1039999, 7)")), "23505");
  await runSql(
    session,
    "ROLLBACK TO b; UPDATE t SET w = w + 1 WHERE id > 10; DELETE FROM t WHERE id = 39999",
  );
  strictEqual(await value(session, "SELECT count(*) FROM t WHERE w = 104"), 4000);
  await runSql(session, "UPDATE t SET v = v - 2000000 WHERE id > 20000");
  strictEqual(await value(session, "SELECT count(*) FROM t WHERE v < 0"), 19_999);
  await runSql(session, "ROLLBACK TO b");
  deepStrictEqual(await picture(session), after);
  await runSql(session, "ROLLBACK TO a");
  deepStrictEqual(await picture(session), before);
  await runSql(session, "COMMIT");
  deepStrictEqual(await picture(session), before);
  await engine.close();
});

Deno.test("UPDATE of many rows changes each of them once, and is the same in the log, in files and at a backup", async () => {
  for (const version of [1, 3]) {
    const primary = (await Member.primary()).commitAlone(), backup = await Member.open();
    const { engine } = primary;
    const session = engine.openSession();
    await fill(session);
    if (version > 1) engine.raiseClusterVersion(version);
    await engine.whenDurable(engine.lastOp);
    // Rows in a file, rows in memory, and both again.
    await runSql(session, "UPDATE t SET w = w + 1");
    strictEqual(await value(session, "SELECT count(*) FROM t WHERE w = 10"), 4000);
    await engine.checkpoint();
    await runSql(session, "UPDATE t SET w = w + 1 WHERE id % 2 = 0");
    await runSql(session, "UPDATE t SET w = w + 1, v = v WHERE w > 3 RETURNING id");
    await runSql(
      session,
      "BEGIN; DELETE FROM t WHERE id > 39000; UPDATE t SET w = w + 100 WHERE id > 1; COMMIT",
    );
    const expected = [39_000, 39_000 * 1_000_000 + 39_000 * 39_001 / 2, 0, undefined, undefined];
    deepStrictEqual((await picture(session)).slice(0, 5), expected);
    const rows = await runSql(session, "SELECT w, count(*), min(id) FROM t GROUP BY w ORDER BY w");
    deepStrictEqual(
      await runSql(session, "SELECT w, count(*), min(id) FROM t WHERE w > 0 GROUP BY w ORDER BY w"),
      rows,
    );
    const statistics = "SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables WHERE relname = 't'";
    const updated = 40_000 + 20_000 + 32_000 + 38_999;
    deepStrictEqual((await runSql(session, statistics))[0]?.map(Number), [40_000, updated, 1000]);
    await engine.checkpoint();
    deepStrictEqual(await runSql(session, "SELECT w, count(*), min(id) FROM t GROUP BY w ORDER BY w"), rows);
    await backup.follow(primary);
    strictEqual(backup.engine.digest(), engine.digest());
    deepStrictEqual(backup.engine.machine.encodeState(), engine.machine.encodeState());
    await backup.engine.whenDurable(backup.engine.lastOp);
    while (backup.engine.storage.isCheckpointing) await backup.engine.yieldToLoop();
    deepStrictEqual(backup.files(), primary.files());
    const kinds = new Set<string>();
    for (const { payload } of engine.storage.log.entries(0)) {
      for (const { kind } of decodeEntry(payload).effects) kinds.add(kind);
    }
    strictEqual(kinds.has("update_batch"), version === 3);
    await engine.close();
    await backup.engine.close();
  }
});

Deno.test("UPDATE of many rows gives them the columns that others add meanwhile", async () => {
  const { engine, session } = await withTable();
  const other = engine.openSession();
  await runSql(session, "BEGIN; UPDATE t SET w = w + 100 WHERE id > 5");
  await runSql(
    other,
    "ALTER TABLE t ADD COLUMN x int NOT NULL DEFAULT 4, ADD COLUMN y int GENERATED ALWAYS AS (w * 2) STORED",
  );
  deepStrictEqual(await runSql(session, "SELECT w, x, y FROM t WHERE id IN (5, 6, 39999) ORDER BY id"), [
    [5, 4, 10],
    [106, 4, 212],
    [109, 4, 218],
  ]);
  await runSql(session, "COMMIT");
  await engine.whenDurable(engine.lastOp);
  deepStrictEqual(await runSql(other, "SELECT count(*), sum(x), sum(y) - 2 * sum(w) FROM t"), [[
    ...[ROWS, 4 * ROWS, 0],
  ]]);
  await engine.close();
});

Deno.test("UPDATE of many rows waits for who has locked one, and makes others wait", async () => {
  const { engine, session } = await withTable();
  const other = engine.openSession();
  await runSql(other, "BEGIN; UPDATE t SET w = 1000 WHERE id = 39000");
  const updated = codeOf(runSql(session, "UPDATE t SET w = w + 1"));
  await runSql(other, "COMMIT");
  strictEqual(await updated, "none");
  await engine.whenDurable(engine.lastOp);
  strictEqual(await value(session, "SELECT w FROM t WHERE id = 39000"), 1001);
  await runSql(session, "BEGIN; UPDATE t SET w = w + 1");
  const second = codeOf(runSql(other, "UPDATE t SET w = w + 10 WHERE id = 39000"));
  await runSql(session, "COMMIT");
  strictEqual(await second, "none");
  await engine.whenDurable(engine.lastOp);
  strictEqual(await value(session, "SELECT w FROM t WHERE id = 39000"), 1012);
  await engine.close();
});

Deno.test("rows that were changed in bulk are changed again and deleted, by ids and by an index", async () => {
  const { engine, session } = await withTable();
  await runSql(session, "BEGIN; UPDATE t SET w = w + 100");
  for (
    const [statement, count, sum] of [
      ["UPDATE t SET w = 0 WHERE id BETWEEN 35001 AND 35020", ROWS, 104.5 * ROWS - 2090],
      ["DELETE FROM t WHERE id BETWEEN 39000 AND 39999", ROWS - 1000, 104.5 * (ROWS - 1000)],
      ["UPDATE t SET w = 1 WHERE v BETWEEN 1036001 AND 1036020 AND id > 0", ROWS, 104.5 * ROWS - 2070],
      ["DELETE FROM t WHERE v BETWEEN 1036001 AND 1037000", ROWS - 1000, 104.5 * (ROWS - 1000)],
    ] as const
  ) {
    await runSql(session, `SAVEPOINT a; ${statement}`);
    deepStrictEqual(
      await runSql(session, "SELECT count(*)::int, sum(w)::int FROM t"),
      [[count, sum]],
      statement,
    );
    await runSql(session, "ROLLBACK TO a");
  }
  session.close();
  await engine.close();
});
