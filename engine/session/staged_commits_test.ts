/**
 * Transactions of a primary that are too large for one entry: what they write is there as a whole or not at all, the
 * same at each member, and others commit while it is staged.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { CopiedText } from "../../tests/support/copied_text.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { decodeEntry } from "../operations/entry_codec.ts";
import { MEMBER_LOG_OPTIONS } from "../storage/log_options.ts";
import { failure, Member, run } from "./member_for_test.ts";
import type { Session } from "./session.ts";

const CHECKPOINT_LOG_BYTES = 1 << 16;
const ROWS = 3500;

async function open(checkpointLogBytes = CHECKPOINT_LOG_BYTES): Promise<Member> {
  // A backup follows now and then, and a quick primary makes some checkpoints meanwhile.
  const log = { ...MEMBER_LOG_OPTIONS, member: { keepBytes: 1 << 24 } };
  return (await Member.open({ checkpointLogBytes, log })).commitAlone();
}

/** A primary with a table, at the version that stages. */
async function primaryWithTable(
  checkpointLogBytes = CHECKPOINT_LOG_BYTES,
): Promise<{ primary: Member; session: Session }> {
  const primary = await open(checkpointLogBytes);
  const { engine } = primary;
  engine.startServing();
  engine.raiseClusterVersion(4);
  await engine.whenDurable(engine.lastOp);
  const session = engine.openSession();
  await run(session, "CREATE TABLE t (id int PRIMARY KEY, v int, body text); CREATE TABLE other (n int)");
  return { primary, session };
}

async function copy(session: Session, first: number, count = ROWS): Promise<void> {
  let text = "";
  for (let id = first; id < first + count; id++) text += `${id}\t${id % 7}\t${String(id).padEnd(100, "x")}\n`;
  await session.simple("COPY t FROM STDIN", new CopiedText(text), () => {});
}

async function contents(session: Session): Promise<unknown> {
  const { rows } = await run(session, "SELECT count(*), sum(id), sum(v), count(DISTINCT body) FROM t");
  return rows.map((row) => row.map(Number));
}

/** Lets `backups` follow while the work goes on; `between` is called each time. */
async function during<T>(
  work: Promise<T>,
  { primary, backups, between = () => Promise.resolve() }: {
    readonly primary: Member;
    readonly backups: readonly Member[];
    readonly between?: () => Promise<void>;
  },
): Promise<T> {
  let isDone = false;
  const ended = work.finally(() => isDone = true);
  ended.catch(() => {});
  while (!isDone) {
    for (let turn = 0; turn < 3; turn++) await primary.engine.yieldToLoop();
    await between();
    for (const backup of backups) await backup.follow(primary);
  }
  for (const backup of backups) await backup.follow(primary);
  return await ended;
}

async function settled(member: Member): Promise<void> {
  const { storage } = member.engine;
  while (storage.isCheckpointing || storage.hasWork) await storage.finishFirst(2_000);
}

async function requireEqual(primary: Member, backup: Member): Promise<void> {
  await settled(primary);
  await settled(backup);
  strictEqual(backup.engine.digest(), primary.engine.digest());
  strictEqual(backup.engine.machine.stage.exists, false);
  deepStrictEqual([...backup.files().keys()], [...primary.files().keys()]);
  deepStrictEqual(backup.files(), primary.files());
}

/** The disk of a member is full so many times, where it makes segments of what it applies. */
function refuseCuts({ host: { disk } }: Member, count: number): { left: number } {
  const refusals = { left: count };
  const openFile = disk.openFile.bind(disk);
  disk.openFile = (path, options) => {
    if (refusals.left === 0 || !options.create || !path.includes("-cut-")) return openFile(path, options);
    refusals.left--;
    throw new DatabaseError(SQLSTATE.diskFull, "no space left");
  };
  return refusals;
}

Deno.test("A staged transaction is the same at each member, and others commit between its entries", async () => {
  const { primary, session } = await primaryWithTable();
  const backup = await open();
  await backup.follow(primary);
  const { engine } = primary;
  const other = engine.openSession(), follower = backup.engine.openSession({ readFrom: "follower" });
  const counts = new Set<number>();
  let commits = 0, largest = 0, staged = 0, seen = engine.lastOp as number;
  const between = async (): Promise<void> => {
    if (!engine.machine.stage.exists || engine.manager.isCommitting) return;
    await run(other, "INSERT INTO other VALUES (1)");
    commits++;
    counts.add(Number((await run(follower, "SELECT count(*) FROM t")).rows[0]?.[0]));
    for (const { op, payload } of engine.storage.log.entries(Math.max(seen, engine.lastOp - 50))) {
      largest = Math.max(largest, payload.length);
      if (decodeEntry(payload).effects[0]?.kind === "stage") staged++;
      seen = op;
    }
  };
  const backups = [backup];
  const refusals = refuseCuts(backup, 2);
  await during(copy(session, 1), { primary, backups, between });
  strictEqual(refusals.left, 0);
  ok(commits > 3, `${commits} commits of another client`);
  ok(staged > 30 && largest < CHECKPOINT_LOG_BYTES, `${staged} entries, ${largest} bytes at most`);
  deepStrictEqual([...counts], [0]);
  const sum = ROWS * (ROWS + 1) / 2;
  deepStrictEqual(await contents(session), [[ROWS, sum, 10_500, ROWS]]);
  deepStrictEqual(await contents(follower), [[ROWS, sum, 10_500, ROWS]]);
  await requireEqual(primary, backup);
  ok(
    [...primary.files().keys()].some((name) => name.includes("-cut-")),
    "segments are made as it is applied",
  );
  // Each form of effects, among them rows that are written again, and one by one.
  const update = "BEGIN; UPDATE t SET v = v + 1, body = body || 'y'; COMMIT";
  await during(run(session, update), { primary, backups });
  const block = "BEGIN; DELETE FROM t WHERE id % 3 = 0; UPDATE t SET v = 0 WHERE id % 3 = 1;" +
    `INSERT INTO t SELECT g, g, repeat('z', 150) FROM generate_series(${ROWS + 1}, ${2 * ROWS}) AS g; COMMIT`;
  await during(run(session, block), { primary, backups });
  const after = await contents(session);
  deepStrictEqual(await contents(follower), after);
  await requireEqual(primary, backup);
  // The log behind the last checkpoint makes the same of it.
  await backup.engine.abandon();
  backup.seat.replayTo = 0;
  await backup.engine.reopen();
  strictEqual(backup.engine.lastOp, backup.engine.storage.checkpointOp);
  await engine.close();
  await backup.engine.close();
});

Deno.test("Rows that are updated in bulk are cut the same where a disk is full", async () => {
  const checkpointLogBytes = 1 << 20;
  const { primary, session } = await primaryWithTable(checkpointLogBytes);
  const backup = await open(checkpointLogBytes), backups = [backup];
  const rows = 130_000;
  // The last rows are in the delta when the first cut freezes it, and the entry ends them behind that.
  for (
    const sql of [
      `CREATE TABLE wide AS SELECT g AS n FROM generate_series(1, ${rows - 1_000}) AS g`,
      `INSERT INTO wide SELECT generate_series(${rows - 999}, ${rows})`,
    ]
  ) {
    await during(run(session, sql), { primary, backups });
    await settled(primary);
  }
  const refusals = refuseCuts(backup, 1);
  await during(run(session, "UPDATE wide SET n = n + 1"), { primary, backups });
  strictEqual(refusals.left, 0);
  await requireEqual(primary, backup);
  const { rows: [sums] } = await run(session, "SELECT count(*), sum(n), min(n) FROM wide");
  deepStrictEqual(sums?.map(Number), [rows, rows * (rows + 3) / 2, 2]);
  await primary.engine.close();
  await backup.engine.close();
});

Deno.test("A primary that stops while a transaction is staged leaves all of it or nothing", async () => {
  let torn = 0, none = 0, all = 0;
  for (let stop = 1; all === 0; stop = Math.ceil(stop * 1.6)) {
    const { primary, session } = await primaryWithTable();
    const backup = await open();
    const { engine } = primary;
    const loading = failure(copy(session, 1));
    let isOver = false;
    void loading.then(() => isOver = true);
    for (let turn = 0; turn < stop && !isOver; turn++) {
      await engine.yieldToLoop();
      await backup.follow(primary);
    }
    engine.stopServing();
    ok(["00000", "40003"].includes(await loading));
    strictEqual(engine.storage.log.error, null);
    if (engine.isTorn) {
      torn++;
      await engine.abandon();
      await engine.reopen();
      const { log } = engine.storage;
      for (let op = engine.lastOp + 1; op <= log.lastOp; op++) {
        await engine.applyEntry(op, log.readEntry(op)?.payload ?? new Uint8Array());
      }
    }
    strictEqual(engine.lastOp, engine.storage.log.lastOp);
    await backup.follow(primary);
    // The other one goes on with what it has.
    backup.engine.startServing();
    strictEqual(backup.engine.machine.stage.exists, false);
    const [count] = (await contents(backup.engine.openSession())) as number[][];
    ok(count?.[0] === 0 || count?.[0] === ROWS, `${count} rows after ${stop} turns`);
    if (count[0] === 0) none++;
    else all++;
    await during(copy(backup.engine.openSession(), ROWS + 1), { primary: backup, backups: [primary] });
    await requireEqual(backup, primary);
    await engine.close();
    await backup.engine.close();
  }
  ok(none > 2 && torn + all > 0, `${none} times nothing, ${torn} torn, ${all} times all`);
});

Deno.test("A staged transaction sees what others have committed meanwhile", async () => {
  const { primary, session } = await primaryWithTable();
  const backup = await open();
  const { engine } = primary, backups = [backup];
  const other = engine.openSession();
  let once: (() => Promise<unknown>) | null = null;
  const between = async (): Promise<void> => {
    if (!engine.machine.stage.exists || once === null) return;
    const act = once;
    once = null;
    await act();
  };
  const insert = (first: number) =>
    `BEGIN; INSERT INTO t SELECT g, (SELECT count(*) FROM other), repeat('z', 100)
     FROM generate_series(${first}, ${first + ROWS - 1}) AS g; COMMIT`;
  // It has read what another one changes.
  once = () => run(other, "INSERT INTO other VALUES (1)");
  const lost = failure(run(session, insert(1)));
  strictEqual(await during(lost, { primary, backups, between }), "40001");
  strictEqual(engine.machine.stage.exists, false, "what was staged is dropped");
  deepStrictEqual(await contents(session), [[0, 0, 0, 0]]);
  // An id that another one takes; and one that it has taken itself.
  await run(session, "ROLLBACK; SET default_transaction_isolation = 'read committed'");
  once = async () =>
    strictEqual(await failure(run(other, "SET lock_timeout = 1; INSERT INTO t VALUES (5, 5, '')")), "55P03");
  await during(run(session, insert(1)), { primary, backups, between });
  // Its table gets a column, which its rows lack.
  once = () =>
    run(other, "ALTER TABLE t ADD COLUMN extra int DEFAULT 4; UPDATE t SET extra = 5 WHERE id = 1");
  await during(run(session, insert(ROWS + 1)), { primary, backups, between });
  strictEqual(once, null);
  const { rows } = await run(session, "SELECT count(*), sum(extra), sum(v) FROM t");
  deepStrictEqual(rows.map((row) => row.map(Number)), [[2 * ROWS, 8 * ROWS + 1, 2 * ROWS]]);
  // Its own table, and two at once.
  const made = `BEGIN; CREATE TABLE made AS SELECT g, repeat('q', 100) FROM generate_series(1, ${
    2 * ROWS
  }) AS g; COMMIT`;
  await during(Promise.all([run(session, made), run(other, insert(2 * ROWS + 1))]), { primary, backups });
  const counted = await run(session, "SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM t)");
  deepStrictEqual(counted.rows.map((row) => row.map(Number)), [[2 * ROWS, 3 * ROWS]]);
  await requireEqual(primary, backup);
  await engine.close();
  await backup.engine.close();
});
