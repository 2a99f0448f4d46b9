/**
 * An engine as the state of a member of a replication group: what it answers while the commit number lags behind, what
 * clients learn when it stops being the primary, and that a backup's state and files are those of the primary.
 */
import { deepStrictEqual, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { SPOKEN_VERSIONS, type VersionRange } from "../catalog/cluster_version.ts";
import { failure, Member, run, Seat } from "./member_for_test.ts";
import { MemberLog } from "../replication/member_log.ts";
import { readLogHeader } from "../storage/log_file.ts";
import { verifyDatabase } from "../storage/verification.ts";
import { Engine } from "./engine.ts";
import type { Session } from "./session.ts";

/** The versions that log files are of, as their headers say. */
function logFormats({ disk }: Member["host"]): (number | undefined)[] {
  return disk.list("data/log").sort().map((name) => {
    const file = disk.openFile(`data/log/${name}`, { create: false, write: false });
    const format = readLogHeader(file, Number.parseInt(name, 16))?.format.version;
    file.close();
    return format;
  });
}

Deno.test("A version is active at a member when its entry is committed, and stays so", async () => {
  const primary = await Member.primary(), backup = await Member.open();
  const { engine, seat } = primary;
  const session = engine.openSession();
  const create = async (name: string): Promise<void> => {
    const created = run(session, `CREATE TABLE ${name} (a int)`);
    await engine.storage.log.whenDurable(engine.lastOp);
    seat.horizon.advance(engine.lastOp);
    await created;
  };
  await create("a");
  deepStrictEqual([engine.clusterVersion, engine.versions], [1, SPOKEN_VERSIONS]);
  engine.raiseClusterVersion(2);
  deepStrictEqual([engine.lastOp, engine.writtenVersion], [2, 2]);
  strictEqual(engine.clusterVersion, 1, "a view may go without the entry");
  await engine.storage.log.whenDurable(2);
  strictEqual(engine.clusterVersion, 1);
  seat.horizon.advance(2);
  strictEqual(engine.clusterVersion, 2);
  await create("b");
  deepStrictEqual(logFormats(primary.host), [2, 3]);

  await backup.follow(primary);
  strictEqual(backup.engine.clusterVersion, 2);
  strictEqual(backup.engine.digest(), engine.digest());
  deepStrictEqual(backup.engine.machine.encodeState(), engine.machine.encodeState());
  // What is shown of settings does not have it, and nobody can set it.
  deepStrictEqual((await run(session, "SELECT * FROM pg_db_role_setting")).rows, []);
  strictEqual(await failure(run(session, 'ALTER DATABASE db SET "/cluster_version" = 3')), "42704");
  session.close();
  const stored = await Member.open();
  await stored.follow(primary);
  const checkpoint = engine.checkpoint();
  await engine.storage.log.whenDurable(engine.lastOp);
  seat.horizon.advance(engine.lastOp);
  await checkpoint;
  await stored.follow(primary);
  while (stored.engine.storage.isCheckpointing) await stored.engine.storage.finishFirst(2_000);
  strictEqual(stored.engine.storage.manifest?.op, engine.lastOp);
  // Replayed from the log, and read from a checkpoint.
  for (const { engine: { lastOp }, engine: closed, host } of [backup, stored]) {
    await closed.close();
    const reopen = async (versions: VersionRange): Promise<Engine> => {
      const member = new Seat(versions);
      member.replayTo = lastOp;
      member.horizon.advance(lastOp);
      return await Engine.open({ host, directory: "data", member });
    };
    const again = await reopen({ oldest: 2, newest: 3 });
    strictEqual(again.clusterVersion, 2);
    await again.close();
    await rejects(() => reopen({ oldest: 1, newest: 1 }), {
      code: "0A000",
      message: "the data is of version 2 of the cluster's protocol, and this release speaks 1 to 1",
    });
  }
  await engine.close();
});

Deno.test("A primary's answers wait for the commit number, also those of reads", async () => {
  const { engine, seat } = await Member.primary();
  const writer = engine.openSession(), reader = engine.openSession();
  strictEqual(engine.role, "primary");
  strictEqual(engine.viewNumber, 3);
  const created = await run(writer, "CREATE TABLE t (id int PRIMARY KEY)");
  seat.horizon.advance(created.op);
  const { op } = await run(writer, "INSERT INTO t VALUES (1)");
  ok(seat.announced >= 1);
  await engine.storage.log.whenDurable(op);
  deepStrictEqual(await run(reader, "SELECT * FROM t"), { rows: [], op: 0 });
  const read = await run(reader, "SELECT * FROM t FOR UPDATE");
  deepStrictEqual(read.rows.map((row) => row.map(Number)), [[1]]);
  strictEqual(read.op, op, "what was read is durable here, and not committed");
  let isAnswered = false;
  const answered = reader.whenDurable(op).then(() => isAnswered = true);
  await engine.yieldToLoop();
  strictEqual(isAnswered, false);
  seat.horizon.advance(op);
  await answered;
  strictEqual((await run(reader, "SELECT * FROM t")).op, 0);
  await engine.close();
});

Deno.test("What a primary without a lease reads is answered when an entry behind it is committed", async () => {
  const { engine, seat } = await Member.primary();
  const session = engine.openSession();
  await run(session, "CREATE TABLE t (id int PRIMARY KEY)");
  const { op } = await run(session, "INSERT INTO t VALUES (1)");
  seat.horizon.advance(op);
  seat.canRead = false;
  for (const [sql, at] of [["SELECT * FROM t", 1], ["SELECT * FROM t WHERE id = 1", 2]] as const) {
    strictEqual((await run(session, sql)).op, op + at);
    strictEqual(engine.lastOp, op + at);
  }
  seat.horizon.advance(engine.lastOp);
  // A block is proved once, by its first answer or by COMMIT, and not at all when it began under a lease.
  const last = engine.lastOp;
  const block = async (...statements: readonly string[]) => {
    const ops: number[] = [];
    for (const sql of ["BEGIN", ...statements, "COMMIT"]) ops.push((await run(session, sql)).op);
    return ops.map((each) => each === 0 ? 0 : each - last);
  };
  deepStrictEqual(await block("SELECT * FROM t", "SELECT * FROM t WHERE id = 1"), [0, 1, 0, 0]);
  deepStrictEqual(await block("DELETE FROM t WHERE id = 2"), [0, 0, 2]);
  deepStrictEqual(await block("DELETE FROM t WHERE id = 1"), [0, 0, 3]);
  seat.canRead = true;
  seat.horizon.advance(engine.lastOp);
  await run(session, "BEGIN");
  strictEqual((await run(session, "SELECT * FROM t")).op, 0);
  seat.canRead = false;
  strictEqual((await run(session, "COMMIT")).op, 0);
  seat.canRead = true;
  strictEqual((await run(session, "SELECT * FROM t")).op, 0);
  await engine.close();
});

Deno.test("Engine.stopServing() ends each session with what is known of what it asked for", async () => {
  const { engine, seat } = await Member.primary();
  const setUp = await run(engine.openSession(), "CREATE TABLE t (id int PRIMARY KEY, a int)");
  seat.horizon.advance(setUp.op);
  const ends = new Map<string, string>();
  const open = (name: string): Session => {
    const session = engine.openSession();
    session.onTerminated((error, { losesAnswers }) => {
      ok(losesAnswers);
      ends.set(name, error.code);
      session.close();
    });
    return session;
  };
  open("idle");
  const answered = open("write answered");
  const first = await run(answered, "INSERT INTO t VALUES (1, 1)");
  seat.horizon.advance(first.op);
  const inBlock = open("in a block");
  await run(inBlock, "BEGIN");
  await run(inBlock, "INSERT INTO t VALUES (3, 3)");
  const failed = open("in a failed block");
  await run(failed, "BEGIN");
  await failure(run(failed, "SELECT 1 / 0"));
  const written = await run(open("write unanswered"), "INSERT INTO t VALUES (2, 2)");
  const committed = open("commit unanswered");
  await run(committed, "BEGIN; INSERT INTO t VALUES (4, 4)");
  await run(committed, "COMMIT");
  const read = open("read unanswered");
  const seen = await run(read, "SELECT a FROM t FOR UPDATE SKIP LOCKED");
  const running = [
    ["read running", run(open("read running"), "SELECT sum(a) FROM generate_series(1, 3000000) AS g (a)")],
    [
      "write running",
      run(open("write running"), "INSERT INTO t SELECT g, 0 FROM generate_series(10, 900000) AS g"),
    ],
    [
      "waits for a lock",
      run(open("waits for a lock"), "UPDATE t SET a = 5 WHERE id = 3; INSERT INTO t VALUES (3, 1)"),
    ],
  ] as const;
  const outcomes = running.map(([name, each]) => failure(each).then((code) => [name, code] as const));
  await engine.yieldToLoop();
  const waiting = [
    failure(read.whenDurable(seen.op)),
    failure(engine.whenDurable(written.op as never)),
  ];
  engine.stopServing();
  strictEqual(engine.role, "backup");
  deepStrictEqual(
    Object.fromEntries(ends),
    {
      "idle": "57P01",
      "write answered": "57P01",
      "in a block": "40001",
      "in a failed block": "40001",
      "write unanswered": "40003",
      "commit unanswered": "40003",
      "read unanswered": "57P01",
      "read running": "57P01",
      "write running": "40003",
      "waits for a lock": "40003",
    },
  );
  deepStrictEqual(await Promise.all(waiting), ["57P01", "40003"]);
  deepStrictEqual(Object.fromEntries(await Promise.all(outcomes)), {
    "read running": "57P01",
    "write running": "40003",
    "waits for a lock": "40003",
  });
  throws(() => engine.openSession(), { code: "57P03" });
  strictEqual([...engine.sessions].length, 0);
  strictEqual(engine.manager.activeCount, 0);
  strictEqual(engine.manager.locks.count, 0);
  // What it appended comes to be committed after all, and it is the primary once more.
  seat.horizon.advance(engine.lastOp);
  engine.startServing();
  const again = engine.openSession();
  deepStrictEqual((await run(again, "SELECT id FROM t ORDER BY id")).rows.map((row) => Number(row[0])), [
    1,
    2,
    4,
  ]);
  await engine.close();
});

Deno.test("Engine.stopServing() takes a large commit back, or completes it when its entry is in the log", async () => {
  for (let stop = 0; stop < 40; stop++) {
    const { engine, seat } = await Member.primary();
    const session = engine.openSession();
    const { op } = await run(session, "CREATE TABLE t (id int PRIMARY KEY, a text)");
    seat.horizon.advance(op);
    const loading = failure(
      run(session, "INSERT INTO t SELECT g, repeat('x', 200) FROM generate_series(1, 6000) AS g"),
    );
    while (!engine.manager.isCommitting) await engine.yieldToLoop();
    for (let turn = 0; turn < stop; turn++) await engine.yieldToLoop();
    const isDone = !engine.manager.isCommitting;
    engine.stopServing();
    strictEqual(engine.storage.log.error, null);
    strictEqual(engine.storage.log.lastOp, engine.lastOp, `stopped after ${stop} turns`);
    ok(engine.lastOp === op || engine.lastOp === op + 1);
    strictEqual(await loading, isDone ? "00000" : "40003");
    const follower = engine.openSession({ readFrom: "follower" });
    const { rows } = await run(follower, "SELECT count(*) FROM t");
    strictEqual(Number(rows[0]?.[0]), engine.lastOp === op ? 0 : 6000);
    await engine.close();
    if (isDone) break;
  }
});

Deno.test("A follower's session reads what is applied, and writes nothing", async () => {
  const primary = (await Member.primary()).commitAlone();
  const backup = await Member.open();
  const session = primary.engine.openSession();
  await run(session, "CREATE TABLE t (id int PRIMARY KEY); CREATE SEQUENCE s; INSERT INTO t VALUES (1)");
  await run(session, "CREATE TEMP TABLE mine (a int); INSERT INTO mine VALUES (1)");
  await backup.follow(primary);
  strictEqual(backup.engine.lastOp, primary.engine.lastOp);
  throws(() => backup.engine.openSession(), { code: "57P03" });
  const follower = backup.engine.openSession({ readFrom: "follower" });
  strictEqual((await run(follower, "SELECT id FROM t")).rows.length, 1);
  const temporary = session.temporarySchema;
  for (
    const sql of [
      "INSERT INTO t VALUES (2)",
      "SELECT nextval('s')",
      "SELECT setval('s', 7)",
      "CREATE TABLE u (a int)",
      "CREATE TEMP TABLE u (a int)",
      `INSERT INTO ${temporary}.mine VALUES (2)`,
      `COPY ${temporary}.mine FROM STDIN`,
      "SELECT * FROM t FOR UPDATE",
      "TRUNCATE t",
      "COPY t FROM STDIN",
      "DO $$ BEGIN INSERT INTO t VALUES (2); END $$",
      "EXPLAIN ANALYZE DELETE FROM t",
      "BEGIN READ WRITE; DELETE FROM t",
      "ROLLBACK; SET default_transaction_read_only = off; DELETE FROM t",
      "ROLLBACK; BEGIN; SET TRANSACTION READ WRITE; DELETE FROM t",
      "ROLLBACK; LISTEN c",
      "NOTIFY c",
      "CHECKPOINT",
    ]
  ) {
    strictEqual(await failure(run(follower, sql)), "25006", sql);
    if (follower.status !== "idle") await run(follower, "ROLLBACK");
  }
  const request = { clientId: "0".repeat(32), sequence: 1n, digest: new Uint8Array(1) };
  strictEqual(await failure(follower.once(request, () => new Uint8Array(), () => new Uint8Array())), "25006");
  strictEqual(backup.engine.storage.log.lastOp, primary.engine.lastOp);
  // A table that was read in an open transaction is altered by the primary.
  await run(follower, "BEGIN");
  strictEqual(await failure(run(follower, "SAVEPOINT s; SELECT a FROM mine")), "42P01");
  await run(follower, "ROLLBACK TO s");
  await run(follower, "SELECT id FROM t");
  await run(session, "ALTER TABLE t ADD COLUMN b int DEFAULT 4; INSERT INTO t VALUES (5, 5)");
  await backup.follow(primary);
  deepStrictEqual((await run(follower, "SELECT id, b FROM t")).rows.map((row) => row.map(Number)), [[1, 4]]);
  await run(follower, "COMMIT");
  deepStrictEqual(
    (await run(follower, "SELECT id, b FROM t ORDER BY id")).rows.map((row) => row.map(Number)),
    [[1, 4], [5, 5]],
  );
  await backup.engine.close();
  await primary.engine.close();
});

Deno.test("A backup that becomes the primary goes on from the log: sequences, row ids, temporary tables", async () => {
  const primary = (await Member.primary()).commitAlone();
  const backup = (await Member.open()).commitAlone();
  const session = primary.engine.openSession();
  await run(
    session,
    "CREATE TABLE t (a int); CREATE SEQUENCE s; CREATE TABLE u (id serial PRIMARY KEY, a int)",
  );
  await run(session, "SELECT nextval('s')");
  await run(session, "INSERT INTO t VALUES (1), (2); INSERT INTO u (a) VALUES (1)");
  await run(session, "CREATE TEMP TABLE mine (a int)");
  await backup.follow(primary);
  // Handed out and never committed.
  await run(session, "BEGIN; SELECT nextval('s'); INSERT INTO t VALUES (3); INSERT INTO u (a) VALUES (2)");
  primary.engine.stopServing();
  // The new primary has a session of the same number as the one that had temporary tables.
  backup.engine.openSession({ readFrom: "follower" });
  backup.engine.startServing();
  deepStrictEqual(backup.engine.machine.catalog.schemas.filter(({ name }) => name.includes("temp")), []);
  const other = backup.engine.openSession();
  deepStrictEqual(
    (await run(other, "SELECT nextval('s'), nextval('s')")).rows.map((row) => row.map(Number)),
    [[2, 3]],
  );
  await run(other, "INSERT INTO t VALUES (3); INSERT INTO u (a) VALUES (2)");
  deepStrictEqual((await run(other, "SELECT max(id) FROM u")).rows.map((row) => row.map(Number)), [[2]]);
  // The old one follows, and takes over once more.
  await primary.follow(backup);
  strictEqual(primary.engine.digest(), backup.engine.digest());
  backup.engine.stopServing();
  primary.engine.startServing();
  const last = primary.engine.openSession();
  strictEqual(Number((await run(last, "SELECT nextval('s')")).rows[0]?.[0]), 4);
  await run(last, "INSERT INTO t VALUES (4); INSERT INTO u (a) VALUES (3)");
  strictEqual(Number((await run(last, "SELECT max(id) FROM u")).rows[0]?.[0]), 3);
  await primary.engine.close();
  await backup.engine.close();
});

Deno.test("Commits wait while the log is too far ahead of the commit number, and checkpoints for theirs", async () => {
  const { engine, seat } = await Member.primary({ checkpointLogBytes: 1 << 16 });
  const session = engine.openSession();
  const created = await run(session, "CREATE TABLE t (id serial PRIMARY KEY, a text)");
  seat.horizon.advance(created.op);
  let done = 0;
  const writing = (async () => {
    for (let number = 0; number < 300; number++) {
      await run(session, "INSERT INTO t (a) VALUES (repeat('y', 1000))");
      done++;
    }
  })();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 40; turn++) await engine.yieldToLoop();
  };
  await settle();
  const before = done;
  ok(before >= 24 && before <= 34, `${before} rows of 1 KB are half of a checkpoint's log`);
  strictEqual(engine.storage.checkpointOp, 0);
  while (done < 300) {
    seat.horizon.advance(engine.lastOp);
    ok(engine.storage.checkpointOp <= seat.horizon.durableOp);
    await settle();
  }
  await writing;
  seat.horizon.advance(engine.lastOp);
  await settle();
  ok(engine.storage.checkpointOp > 200, `the last checkpoint is at op ${engine.storage.checkpointOp}`);
  // CHECKPOINT is an entry.
  const asked = run(session, "CHECKPOINT");
  await settle();
  ok(engine.storage.checkpointOp < engine.lastOp);
  seat.horizon.advance(engine.lastOp);
  await asked;
  strictEqual(engine.storage.checkpointOp, engine.lastOp);
  // One that waits when the member stops being the primary.
  const lost = failure(run(session, "CHECKPOINT"));
  await settle();
  engine.stopServing();
  strictEqual(await lost, "40003");
  await engine.close();
  await rejects(Promise.resolve().then(() => engine.openSession()), { code: "57P03" });
});

Deno.test("A backup makes the primary's checkpoints, one right after the other as well", async () => {
  const options = { checkpointLogBytes: 1 << 16 };
  const primary = (await Member.primary(options)).commitAlone();
  const backup = await Member.open(options);
  const session = primary.engine.openSession();
  await run(session, "CREATE TABLE t (id serial PRIMARY KEY, a text)");
  for (let number = 0; number < 70; number++) {
    await run(session, "INSERT INTO t (a) VALUES (repeat('y', 1000))");
  }
  await run(session, "CHECKPOINT");
  await run(session, "CHECKPOINT");
  await run(session, "INSERT INTO t SELECT g, repeat('z', 100) FROM generate_series(1000, 3000) AS g");
  await backup.follow(primary);
  for (const { engine } of [primary, backup]) {
    while (engine.storage.isCheckpointing) await engine.storage.finishFirst(2_000);
  }
  strictEqual(backup.engine.storage.checkpointOp, backup.engine.lastOp);
  deepStrictEqual(backup.files(), primary.files());
  ok([...backup.files().keys()].some((name) => name.endsWith("4")), "four of them");
  await primary.engine.close();
  await backup.engine.close();
});

Deno.test("A checkpoint whose entry is not committed is not finished for the sake of the next", async () => {
  const { engine, seat } = await Member.primary();
  const { storage, machine } = engine;
  const session = engine.openSession();
  const ops: number[] = [];
  for (const name of ["t", "u"]) {
    ops.push((await run(session, `CREATE TABLE ${name} (a int)`)).op);
    storage.beginCheckpoint(machine.lastOp, () => machine.encodeState());
  }
  strictEqual(storage.log.error, null);
  strictEqual(storage.checkpointOp, 0);
  seat.horizon.advance(ops[1] ?? 0);
  while (storage.isCheckpointing) await storage.finishFirst(2_000);
  strictEqual(storage.checkpointOp, ops[0]);
  await engine.close();
});

Deno.test("A state that is given up is opened again up to what is committed", async () => {
  const primary = await Member.primary({ checkpointLogBytes: 1 << 16 });
  const { engine, seat } = primary;
  const session = engine.openSession();
  await run(session, "CREATE TABLE t (id serial PRIMARY KEY, a text)");
  for (let number = 0; number < 20; number++) {
    seat.horizon.advance((await run(session, "INSERT INTO t (a) VALUES (repeat('z', 5000))")).op);
    await engine.yieldToLoop();
  }
  const committed = engine.lastOp, digest = engine.digest(), state = engine.machine.encodeState();
  for (let number = 0; number < 4; number++) await run(session, "INSERT INTO t (a) VALUES ('lost')");
  const follower = engine.openSession({ readFrom: "follower" });
  let end = "";
  follower.onTerminated((error) => {
    end = error.code;
    follower.close();
  });
  seat.replayTo = committed;
  engine.stopServing();
  strictEqual(end, "", "a follower reads on until the state is given up");
  const checkpointOp = engine.storage.checkpointOp;
  const abandoned = engine.abandon();
  strictEqual(end, "57P01");
  throws(() => engine.openSession({ readFrom: "follower" }), { code: "57P03" });
  await abandoned;
  await engine.reopen();
  strictEqual(engine.lastOp, committed);
  strictEqual(engine.digest(), digest);
  deepStrictEqual(engine.machine.encodeState(), state);
  ok(engine.storage.checkpointOp >= checkpointOp && engine.storage.checkpointOp <= committed);
  strictEqual(engine.storage.log.lastOp, committed + 4, "what is not committed stays in the log");
  // It turns out to be committed.
  for (const { op, payload } of [...engine.storage.log.entries(committed)]) {
    seat.horizon.advance(op);
    await engine.applyEntry(op, payload);
  }
  engine.startServing();
  const again = engine.openSession();
  strictEqual(Number((await run(again, "SELECT count(*) FROM t")).rows[0]?.[0]), 24);
  await engine.close();
});

Deno.test("The directory of a member can be verified, and a server that is alone refuses it", async () => {
  const { engine, host } = (await Member.primary({ checkpointLogBytes: 1 << 16 })).commitAlone();
  const session = engine.openSession();
  await run(session, "CREATE TABLE t (id serial PRIMARY KEY, a text)");
  for (let number = 0; number < 20; number++) {
    await run(session, "INSERT INTO t (a) VALUES (repeat('z', 5000))");
    await engine.yieldToLoop();
  }
  const { lastOp, storage } = engine;
  strictEqual(storage.log.nameOf(lastOp)?.view, 3);
  strictEqual(storage.log.digest?.toString(16).padStart(16, "0"), engine.digest());
  ok(storage.checkpointOp > 0);
  await engine.close();
  const found = await verifyDatabase(host, "data");
  strictEqual(found.lastOp, lastOp);
  strictEqual(found.entries, lastOp - found.checkpointOp);
  await rejects(Engine.open({ host, directory: "data" }), { code: "55000" });
});

Deno.test("A member whose log has rotted applies what it can read, is repaired, and goes on", async () => {
  const primary = (await Member.primary({ checkpointLogBytes: 1 << 16 })).commitAlone();
  const { host } = primary;
  const session = primary.engine.openSession();
  await run(session, "CREATE TABLE t (id serial PRIMARY KEY, a text)");
  for (let number = 0; number < 40; number++) {
    await run(session, `INSERT INTO t (a) VALUES (repeat('z', 3000) || 'row ${number}')`);
    await primary.engine.yieldToLoop();
  }
  const { lastOp } = primary.engine, digest = primary.engine.digest();
  const { checkpointOp, log } = primary.engine.storage;
  ok(checkpointOp > 0 && lastOp > checkpointOp + 3);
  const lost = [lastOp - 2, lastOp - 1].map((op) => log.readEntry(op));
  await primary.engine.close();
  for (const name of host.disk.list("data/log")) {
    const file = host.disk.openFile(`data/log/${name}`, { create: false, write: true });
    const bytes = new Uint8Array(file.size);
    file.readAt(0, bytes);
    const text = new TextDecoder("latin1").decode(bytes);
    for (const number of [37, 38]) {
      const at = text.indexOf(`zrow ${number}`);
      if (at >= 0) file.writeAt(at, new Uint8Array(1));
    }
  }
  const seat = new Seat();
  seat.replayTo = lastOp;
  seat.horizon.advance(lastOp);
  const engine = await Engine.open({ host, directory: "data", member: seat });
  strictEqual(engine.lastOp, lastOp - 3);
  const member = new MemberLog(engine.storage.log);
  deepStrictEqual(member.slot(lastOp - 1), { kind: "unreadable" });
  for (const entry of lost.reverse()) {
    ok(entry !== null);
    const { op, view, digest, previousDigest, payload } = entry;
    member.write({ header: { op, view, digest, previousDigest }, payload });
  }
  while (engine.lastOp < lastOp) {
    const entry = member.read(engine.lastOp + 1);
    ok(entry !== null);
    await engine.applyEntry(entry.header.op, entry.payload);
  }
  strictEqual(engine.digest(), digest);
  engine.startServing();
  strictEqual(Number((await run(engine.openSession(), "SELECT count(*) FROM t")).rows[0]?.[0]), 40);
  await engine.close();
});
