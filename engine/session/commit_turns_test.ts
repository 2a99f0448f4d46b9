/**
 * Large commits in steps: whole or not there at all for readers, for crashes and for full disks; others wait their
 * turn.
 *
 * The simulated clock moves on with every look at it, so that others get their turn after every step.
 */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { SimulatedCrash } from "../host/simulated_disk.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import { Engine } from "./engine.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import type { Session } from "./session.ts";
import { CopiedText } from "../../tests/support/copied_text.ts";

const ROWS = 3000;

/** Lines of COPY data: id and the value 7. */
function lines(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `${first + index}\t7\n`).join("");
}

async function open(host: SimulatedHost, options: { readonly checkpointLogBytes?: number } = {}) {
  const engine = await host.settle(Engine.open({ host, directory: "db", ...options }));
  return { engine, session: engine.openSession() };
}

async function run(session: Session, text: string, sink: RowBuffer = new RowBuffer()): Promise<RowBuffer> {
  await session.simple(text, sink, () => undefined);
  return sink;
}

async function value(session: Session, text: string): Promise<number> {
  return Number((await run(session, text)).rows[0]?.[0]);
}

/** An engine with a table of ROWS rows, v = 0, with an index on v. */
async function withTable(seed: number): Promise<{ host: SimulatedHost; engine: Engine; session: Session }> {
  const host = new SimulatedHost(seed);
  const { engine, session } = await open(host);
  await host.settle(run(session, "CREATE TABLE t (id int PRIMARY KEY, v int); CREATE INDEX t_v ON t (v)"));
  await host.settle(run(session, `INSERT INTO t SELECT g, 0 FROM generate_series(1, ${ROWS}) AS g`));
  host.pace = 20_000;
  return { host, engine, session };
}

/** Runs the work; while its transaction is committing, `look` is called again and again. Answers how often. */
async function beside(
  host: SimulatedHost,
  engine: Engine,
  work: Promise<unknown>,
  look: () => Promise<void>,
): Promise<number> {
  let isDone = false;
  const looks: Promise<void>[] = [];
  const watched = work.finally(() => isDone = true);
  const looking = (async () => {
    while (!isDone) {
      if (engine.manager.isCommitting) {
        looks.push(look());
      }
      await engine.yieldToLoop();
    }
  })();
  await host.settle(Promise.all([watched, looking]));
  await host.settle(Promise.all(looks));
  return looks.length;
}

Deno.test("CommitTurns shows nothing of a large entry before it is whole", async () => {
  const cases: readonly [string, string, readonly number[]][] = [
    ["UPDATE t SET v = 1", "SELECT count(*) FROM t WHERE v = 1", [0, ROWS]],
    ["DELETE FROM t", "SELECT count(*) FROM t", [ROWS, 0]],
    ["INSERT INTO t SELECT g, 5 FROM generate_series(10001, 12000) AS g", "SELECT count(*) FROM t", [
      ROWS,
      ROWS + 2000,
    ]],
    [
      "BEGIN; TRUNCATE t; INSERT INTO t SELECT g, 5 FROM generate_series(1, 2000) AS g; COMMIT",
      "SELECT sum(v + 1) FROM t",
      [ROWS, 12_000],
    ],
    [
      "CREATE TABLE u AS SELECT g AS id FROM generate_series(1, 20000) AS g",
      "SELECT count(*) FROM pg_class WHERE relname = 'u'",
      [0, 1],
    ],
  ];
  for (const [statement, question, answers] of cases) {
    const { host, engine, session } = await withTable(1);
    const reader = engine.openSession();
    const { lastOp: opBefore } = engine;
    const seen = new Set<number>();
    let looked = 0;
    const readers = Array.from({ length: 10 }, () => engine.openSession());
    const looks = await beside(host, engine, run(session, statement), async () => {
      // Some look while the entry is encoded, some while it is applied, some while indexes are sorted.
      const own = ++looked % 12 === 1 ? readers.pop() : undefined;
      if (own === undefined) return;
      // A read that begins before the entry is whole sees nothing of it, however long it takes.
      const ask = async (text: string): Promise<number | null> => {
        // Behind it the commit gives up its locks, in steps as well.
        const { lastOp } = engine;
        const isBefore = lastOp === opBefore;
        const sink = new RowBuffer();
        // Nor does its answer wait until the entry is durable.
        await own.simple(text, sink, (outcome) => ok(!isBefore || outcome.durableOp <= lastOp, statement));
        return isBefore ? Number(sink.rows[0]?.[0]) : null;
      };
      seen.add(await ask(question) ?? answers[0] ?? NaN);
      if (statement.startsWith("CREATE")) return;
      // By key, by index and by range.
      ok([0, null].includes(await ask("SELECT v FROM t WHERE id = 17")), statement);
      ok([ROWS, null].includes(await ask("SELECT count(*) FROM t WHERE v = 0")), statement);
      ok([2990, null].includes(await ask("SELECT min(id) FROM t WHERE id >= 2990")), statement);
    });
    ok(looks > 5, `${statement}: only ${looks} looks`);
    deepStrictEqual([...seen], [answers[0]], statement);
    strictEqual(await host.settle(value(reader, question)), answers[1], statement);
    const digest = engine.digest();
    await host.settle(engine.close());
    const again = await open(host);
    strictEqual(again.engine.digest(), digest, statement);
    strictEqual(await host.settle(value(again.session, question)), answers[1], statement);
    await host.settle(again.engine.close());
  }
});

Deno.test("CommitTurns lets other commits wait, and all of them happen", async () => {
  const { host, engine, session } = await withTable(2);
  const others = Array.from({ length: 5 }, () => engine.openSession());
  const results: Promise<unknown>[] = [];
  const block = engine.openSession();
  let looked = 0;
  await beside(host, engine, run(session, "UPDATE t SET v = v + 1"), () => {
    if (++looked === 1) {
      // Another large one, which waits for its turn before those that are not.
      results.push(run(engine.openSession(), "COPY t FROM STDIN", new CopiedText(lines(20_000, 20_000))));
    }
    if (looked === 10) {
      // A block in nobody's way gets as far as its COMMIT.
      host.pace = 0;
      results.push(
        run(block, "BEGIN; INSERT INTO t VALUES (-100, 50)").then(() => {
          ok(engine.manager.isCommitting);
          host.pace = 20_000;
          return run(block, "COMMIT");
        }),
      );
    }
    const other = looked > 40 ? others.pop() : undefined;
    // An autocommit statement, and a block that changes a row of the large transaction's: it waits for the lock.
    if (other !== undefined) {
      results.push(
        run(
          other,
          others.length % 2 === 0
            ? `INSERT INTO t VALUES (${-others.length - 1}, 50)`
            : `BEGIN; UPDATE t SET v = v + 10 WHERE id = ${others.length}; COMMIT`,
        ),
      );
    }
    return Promise.resolve();
  });
  await host.settle(Promise.all(results));
  strictEqual(results.length, 7);
  await host.settle(engine.whenDurable(engine.lastOp));
  strictEqual(await host.settle(value(session, "SELECT sum(v) FROM t")), ROWS + 20_000 * 7 + 4 * 50 + 2 * 10);
  await host.settle(engine.close());
});

Deno.test("CommitTurns refuses an id that a bulk load on its way brings", async () => {
  const { host, engine, session } = await withTable(3);
  const other = engine.openSession(), block = engine.openSession();
  let failures: Promise<string>[] | null = null, looked = 0;
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(() => "none", (error: unknown) => error instanceof DatabaseError ? error.code : String(error));
  const looks = await beside(
    host,
    engine,
    run(session, "COPY t FROM STDIN", new CopiedText(lines(20_000, 20_000))),
    () => {
      // Its ids have been looked at by now, and found free.
      if (++looked === 10) {
        // The block gets as far as its COMMIT before anything else happens.
        host.pace = 0;
        failures = [
          codeOf(run(other, "INSERT INTO t VALUES (25000, 1)")),
          codeOf(
            run(block, "BEGIN; INSERT INTO t VALUES (26000, 1)").then(() => {
              host.pace = 20_000;
              return run(block, "COMMIT");
            }),
          ),
        ];
      }
      return Promise.resolve();
    },
  );
  ok(looks > 5 && failures !== null);
  deepStrictEqual(await host.settle(Promise.all(failures)), ["23505", "23505"]);
  strictEqual(await host.settle(value(session, "SELECT count(*) FROM t WHERE v = 7")), 20_000);
  await host.settle(engine.close());
});

Deno.test("CommitTurns leaves everything as it was when the disk is full, and goes on", async () => {
  const { host, engine, session } = await withTable(4);
  const digest = engine.digest();
  const free = { ...host.disk.faults };
  host.disk.faults = { ...free, capacityBytes: host.disk.usedBytes + 1_200_000 };
  const text = "x".repeat(1000);
  await rejects(
    host.settle(
      run(
        session,
        `INSERT INTO t SELECT g, length('${text}') FROM generate_series(5000, 9000) AS g; ` +
          `CREATE TABLE w AS SELECT '${text}' || g AS c FROM generate_series(1, 3000) AS g`,
      ),
    ),
    (error) => error instanceof DatabaseError && error.code === "53100",
  );
  host.disk.faults = free;
  strictEqual(engine.digest(), digest);
  strictEqual(await host.settle(value(session, "SELECT count(*) FROM t")), ROWS);
  await host.settle(run(session, "UPDATE t SET v = 2"));
  const after = engine.digest();
  await host.settle(engine.close());
  const again = await open(host);
  strictEqual(again.engine.digest(), after);
  strictEqual(await host.settle(value(again.session, "SELECT count(*) FROM t WHERE v = 2")), ROWS);
  await host.settle(again.engine.close());
});

Deno.test("rows in bulk are cut and make a checkpoint by what they take in memory, after a kill as well", async () => {
  const host = new SimulatedHost(6);
  const { engine, session } = await open(host, { checkpointLogBytes: 1 << 19 });
  // A row takes some bytes of log and 48 of memory: two loads make a checkpoint, and one of 30 000 rows is cut.
  const load = (count: number) =>
    host.settle(
      run(session, `CREATE TABLE t${count} AS SELECT g AS a, g % 7 AS b FROM generate_series(1, ${count}) g`),
    );
  await load(6000);
  strictEqual(engine.storage.isCheckpointing || engine.storage.checkpointOp > 0, false);
  await load(6001);
  ok(engine.storage.isCheckpointing || engine.storage.checkpointOp > 0);
  await load(30_000);
  const large = (each: Engine) => {
    const { id } = [...each.machine.catalog.tables].find(({ name }) => name === "t30000") ?? { id: 0 };
    return each.machine.store(id);
  };
  ok(large(engine).rowsInMemory < 20_000, `${large(engine).rowsInMemory} rows in memory`);
  ok(engine.storage.log.appendedBytes < 1 << 19, "the log alone would not have made a checkpoint");
  await host.settle(engine.whenDurable(engine.lastOp));
  const digest = engine.digest();
  await host.rest();
  host.kill();
  const again = await open(host, { checkpointLogBytes: 1 << 19 });
  strictEqual(again.engine.digest(), digest);
  ok(large(again.engine).rowsInMemory < 20_000, `${large(again.engine).rowsInMemory} rows after the start`);
  const sums = await host.settle(run(again.session, "SELECT count(*), sum(a), sum(b) FROM t30000"));
  deepStrictEqual(sums.rows[0]?.map(Number), [30_000, 30_000 * 30_001 / 2, 90_000]);
  await host.settle(again.engine.close());
});

Deno.test("CommitTurns keeps all of a large entry or nothing of it in a crash at any operation", async () => {
  let whole = 0, none = 0;
  for (let at = 1; whole < 3 && at < 60; at++) {
    const { host, engine, session } = await withTable(5);
    await host.settle(engine.whenDurable(engine.lastOp));
    host.disk.faults = { ...host.disk.faults, crashAtOperation: host.disk.operations + at };
    let isAcknowledged = false;
    try {
      await host.settle((async () => {
        await run(session, "UPDATE t SET v = 1");
        await engine.whenDurable(engine.lastOp);
        isAcknowledged = true;
      })());
      await host.settle(engine.close());
    } catch (error) {
      ok(
        error instanceof SimulatedCrash || error instanceof DatabaseError ||
          /came to rest/.test(String(error)),
        String(error),
      );
    }
    await host.rest();
    host.crash();
    host.disk.faults = { ...host.disk.faults, crashAtOperation: 0 };
    const again = await open(host);
    const changed = await host.settle(value(again.session, "SELECT count(*) FROM t WHERE v = 1"));
    ok(changed === 0 || changed === ROWS, `${changed} rows changed after a crash at operation ${at}`);
    ok(
      changed === ROWS || !isAcknowledged,
      `the acknowledged update is gone after a crash at operation ${at}`,
    );
    if (changed === ROWS) whole++;
    else none++;
    await host.settle(again.engine.close());
  }
  ok(whole > 0 && none > 1, `${whole} whole, ${none} without`);
});

Deno.test("Engine.checkpoint() and snapshotTo() wait for a large commit", async () => {
  const { host, engine, session } = await withTable(6);
  const waiting: Promise<unknown>[] = [];
  let looked = 0;
  await beside(host, engine, run(session, "UPDATE t SET v = 3"), () => {
    // Half of the entry is applied.
    if (++looked === 80) waiting.push(engine.checkpoint(), engine.snapshotTo("copy"));
    return Promise.resolve();
  });
  strictEqual(waiting.length, 2);
  await host.settle(Promise.all(waiting));
  strictEqual(await host.settle(value(session, "SELECT count(*) FROM t WHERE v = 3")), ROWS);
  const digest = engine.digest();
  await host.settle(engine.close());
  for (const directory of ["db", "copy"]) {
    const copy = await host.settle(Engine.open({ host, directory }));
    strictEqual(copy.digest(), digest);
    strictEqual(await host.settle(value(copy.openSession(), "SELECT count(*) FROM t WHERE v = 3")), ROWS);
    await host.settle(copy.close());
  }
});

Deno.test("CommitTurns commits large entries one after the other while checkpoints fall due", async () => {
  const host = new SimulatedHost(7);
  const { engine, session } = await open(host, { checkpointLogBytes: 30_000 });
  await host.settle(run(session, "CREATE TABLE t (id int PRIMARY KEY, v int); CREATE INDEX t_v ON t (v)"));
  const second = engine.openSession();
  const loads = [session, second].map(async (each, which) => {
    for (let round = 0; round < 3; round++) {
      await run(each, "COPY t FROM STDIN", new CopiedText(lines((which * 3 + round) * 20_000, 20_000)));
    }
  });
  await host.settle(Promise.all(loads));
  await host.settle(run(session, "CREATE INDEX t_both ON t (v, id)"));
  strictEqual(await host.settle(value(session, "SELECT count(*) FROM t")), 120_000);
  strictEqual(
    await host.settle(value(session, "SELECT count(*) FROM t WHERE v = 7 AND id BETWEEN 30000 AND 70000")),
    40_001,
  );
  const digest = engine.digest();
  await host.settle(engine.close());
  const again = await open(host);
  strictEqual(again.engine.digest(), digest);
  strictEqual(await host.settle(value(again.session, "SELECT count(*) FROM t WHERE id >= 100000")), 20_000);
  await host.settle(again.engine.close());
});
