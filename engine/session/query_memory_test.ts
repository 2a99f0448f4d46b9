/** The memory of all statements together: who waits, in which order, and that every way out gives it back. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { memoryHost } from "../host/memory_host.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import { until } from "../../tests/support/until.ts";
import { WorkersForTest } from "../parallel/workers_for_test.ts";
import { openSharded, shardInThisThread } from "../sharding/open_sharded.ts";
import { Engine } from "./engine.ts";
import type { Session } from "./session.ts";

const MEBIBYTE = 2 ** 20;
const ROWS = 20_000;
/** Takes two MiB. */
const SORT = "SELECT a, md5(a::text) AS c FROM t ORDER BY c, a";

async function run(session: Session, sql: string, sink = new RowBuffer()): Promise<RowBuffer["rows"]> {
  await session.simple(sql, sink, () => {});
  return sink.rows;
}

interface Fixture {
  readonly engine: Engine;
  open(): Session;
  /** Takes most of the memory until it is rolled back. */
  holder(): Promise<Session>;
}

/** `:memory:` has nowhere to put rows, so that statements can only wait. */
async function withEngine(
  { directory = ":memory:", bytes = 4 * MEBIBYTE }: { readonly directory?: string; readonly bytes?: number },
  action: (fixture: Fixture) => Promise<void>,
  { mayOverdraw = false }: { readonly mayOverdraw?: boolean } = {},
): Promise<void> {
  const engine = await Engine.open({ host: memoryHost(), directory, queryMemoryBytes: bytes });
  try {
    const open = () => engine.openSession();
    await run(open(), `CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t SELECT generate_series(1, ${ROWS})`);
    strictEqual(engine.queryMemory.statistics().reservedBytes, 0);
    await action({
      engine,
      open,
      holder: async () => {
        const session = open();
        await run(session, `BEGIN; DECLARE k CURSOR FOR ${SORT}; DECLARE l CURSOR FOR ${SORT}`);
        await run(session, "FETCH 1 FROM k; FETCH 1 FROM l");
        return session;
      },
    });
    deepStrictEqual(
      { ...engine.queryMemory.statistics(), peakBytes: 0, waits: 0, timeouts: 0 },
      { totalBytes: bytes, reservedBytes: 0, peakBytes: 0, waiting: 0, waits: 0, timeouts: 0 },
    );
    ok(mayOverdraw || engine.queryMemory.statistics().peakBytes <= bytes);
  } finally {
    await engine.close();
  }
}

const waiting = (engine: Engine) => engine.queryMemory.statistics().waiting;

Deno.test("a statement waits for memory, is seen to, and runs when there is some", () =>
  withEngine({}, async ({ engine, open, holder }) => {
    const expected = await run(open(), SORT);
    strictEqual(engine.queryMemory.statistics().reservedBytes, 0);
    const first = await holder();
    const held = engine.queryMemory.statistics().reservedBytes;
    ok(held > 2 * MEBIBYTE, `${held} bytes are held`);
    const second = open();
    const sorting = run(second, SORT);
    await until(() => waiting(engine) === 1);
    strictEqual(engine.queryMemory.statistics().reservedBytes, held, "who waits holds nothing");
    // What needs little asks for nothing.
    const small = await run(
      open(),
      `SELECT pid, wait_event_type, wait_event FROM pg_stat_activity WHERE wait_event_type = 'IPC' ORDER BY pid`,
    );
    deepStrictEqual(small, [[second.processId, "IPC", "QueryMemory"]]);
    await run(first, "ROLLBACK");
    deepStrictEqual(await sorting, expected);
  }));

/** Ways of a waiting statement that do not end with its answer. */
const ENDS: readonly {
  readonly name: string;
  readonly code: string;
  end(session: Session): void;
  sql?: string;
}[] = [
  { name: "cancel", code: "57014", end: (session) => session.cancel() },
  { name: "statement_timeout", code: "57014", sql: "SET statement_timeout = 500", end: () => {} },
  { name: "query_memory_timeout", code: "53200", sql: "SET query_memory_timeout = 30", end: () => {} },
  { name: "the end of the session", code: "57P01", end: (session) => session.close() },
];

Deno.test("what ends a wait for memory leaves nothing behind", (test) =>
  withEngine({}, async ({ engine, open, holder }) => {
    const first = await holder();
    const held = engine.queryMemory.statistics().reservedBytes;
    for (const { name, code, end, sql = "" } of ENDS) {
      await test.step(name, async () => {
        const second = open();
        await run(second, sql);
        const { waits } = engine.queryMemory.statistics();
        const refused = rejects(run(second, SORT), { code });
        await Promise.race([until(() => waiting(engine) === 1), refused]);
        strictEqual(engine.queryMemory.statistics().waits, waits + 1);
        end(second);
        await refused;
        strictEqual(waiting(engine), 0);
        strictEqual(engine.queryMemory.statistics().reservedBytes, held);
      });
    }
    await run(first, "ROLLBACK");
  }));

Deno.test("a refusal says which memory is used up, and what to do", () =>
  withEngine({}, async ({ open, holder }) => {
    const first = await holder();
    const second = open();
    await run(second, "SET query_memory_timeout = 10");
    await rejects(run(second, SORT), (error: { message: string; detail: string; hint: string }) => {
      strictEqual(error.message, "out of memory: all statements together need more than --query-memory");
      ok(
        /^The statement needs 4 MB; \d of 4 MB are reserved, and 0 others wait. It has waited for 0.01 s.$/
          .test(error.detail),
        error.detail,
      );
      ok(error.hint.includes("query_memory_timeout"));
      return true;
    });
    /** Has sent what it was given. */
    const sent = new RowBuffer();
    sent.retract = () => {
      throw new Error("too late");
    };
    await rejects(run(open(), SORT, sent), { code: "53200", detail: /It has sent rows/ });
    await run(first, "ROLLBACK");
  }));

Deno.test("a statement that has given rows takes what its step needs, and waits then", () =>
  withEngine({ bytes: 4 * MEBIBYTE }, async ({ engine, open, holder }) => {
    const rows =
      "SELECT a, '' FROM t WHERE a < 10 UNION ALL SELECT a, c FROM (SELECT a, md5(a::text) AS c FROM t ORDER BY c) x";
    const expected = await run(open(), rows);
    const session = open();
    const begin = async () => {
      await run(session, `BEGIN; DECLARE k CURSOR FOR ${rows}`);
      deepStrictEqual(await run(session, "FETCH 5 FROM k"), expected.slice(0, 5));
    };
    await begin();
    const first = await holder();
    const fetching = run(session, "FETCH ALL FROM k");
    await until(() => waiting(engine) === 1);
    ok(engine.queryMemory.statistics().reservedBytes > 4 * MEBIBYTE, "it holds what was not there");
    await run(first, "ROLLBACK");
    deepStrictEqual(await fetching, expected.slice(5));
    await run(session, "ROLLBACK; SET query_memory_timeout = 20");
    await begin();
    const other = await holder();
    await rejects(run(session, "FETCH ALL FROM k"), { code: "53200" });
    await run(session, "ROLLBACK");
    await run(other, "ROLLBACK");
  }, { mayOverdraw: true }));

/** What threads hold for one statement while its groups are computed there. */
async function peakOfGroups(shardCount: 2 | null): Promise<number> {
  const host = memoryHost();
  const engine = shardCount === null
    ? await Engine.open({ host, directory: "data", workers: new WorkersForTest(host.disk, 2) })
    : await openSharded({ host, directory: ":memory:", startShard: shardInThisThread(host), shardCount });
  try {
    const session = engine.openSession();
    await run(session, "CREATE TABLE t (a INT PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 9000)");
    await run(session, "CREATE TABLE u (a INT PRIMARY KEY); INSERT INTO u SELECT generate_series(1, 50)");
    if (shardCount === null) await run(session, "CHECKPOINT");
    await run(session, "SET min_parallel_table_scan_size = 0; ANALYZE t");
    await run(session, "SELECT count(*) FROM t WHERE a % 2 = 0");
    strictEqual(engine.queryMemory.statistics().peakBytes, 0, "rows that only pass take nothing");
    const groups = "SELECT count(*), max(n) FROM (SELECT a % 7 AS g, count(*) AS n FROM TABLE GROUP BY 1) x";
    deepStrictEqual(await run(session, groups.replace("TABLE", "t")), [[7, 1286]]);
    const { peakBytes, reservedBytes } = engine.queryMemory.statistics();
    strictEqual(reservedBytes, 0, "it is given back");
    // Others have all of it: what is little by its estimates goes on, and what is not waits.
    const held = engine.queryMemory.freeBytes;
    ok(engine.queryMemory.take(held));
    deepStrictEqual(await run(session, groups.replace("TABLE", "u")), [[7, 8]]);
    await run(session, "SET query_memory_timeout = 1");
    await rejects(run(session, "SELECT count(*) FROM (SELECT a, count(*) FROM t GROUP BY a OFFSET 0) x"), {
      code: "53200",
    });
    engine.queryMemory.give(held);
    return peakBytes;
  } finally {
    await engine.close();
  }
}

Deno.test("what workers and shards hold is taken of the memory of all statements", async () => {
  ok(await peakOfGroups(null) >= 4 * MEBIBYTE, "workers");
  ok(await peakOfGroups(2) >= 4 * MEBIBYTE, "shards");
});

Deno.test("statements that wait run in the order of their arrival", () =>
  withEngine({}, async ({ engine, open, holder }) => {
    const first = await holder();
    const order: number[] = [];
    const all = [];
    for (let index = 0; index < 4; index++) {
      all.push(run(open(), SORT).then(() => order.push(index)));
      await until(() => waiting(engine) === index + 1);
    }
    await run(first, "ROLLBACK");
    await Promise.all(all);
    deepStrictEqual(order, [0, 1, 2, 3]);
    strictEqual(engine.queryMemory.statistics().waits, 4);
  }));

Deno.test("a statement behind others that have left the queue goes on at once", () =>
  withEngine({ directory: "data", bytes: 8 * MEBIBYTE }, async ({ engine, open }) => {
    const first = open(), second = open(), third = open();
    await run(first, `BEGIN; DECLARE k CURSOR FOR ${SORT}`);
    await run(first, "FETCH 1 FROM k");
    const held = engine.queryMemory.statistics().reservedBytes;
    ok(held > 0 && held <= 2 * MEBIBYTE, `${held}`);
    const taken = engine.queryMemory.take(8 * MEBIBYTE - held);
    ok(taken);
    const refused = rejects(run(second, SORT), { code: "57014" });
    await until(() => waiting(engine) === 1);
    const sorting = run(third, SORT);
    await until(() => waiting(engine) === 2);
    engine.queryMemory.give(MEBIBYTE);
    second.cancel();
    await refused;
    engine.queryMemory.give(7 * MEBIBYTE - held);
    strictEqual((await sorting).length, ROWS);
    await run(first, "ROLLBACK");
  }));

Deno.test("a cursor waits for memory as a statement does", () =>
  withEngine({}, async ({ engine, open, holder }) => {
    const [expected] = await run(open(), SORT);
    const first = await holder();
    const second = open();
    await run(second, `BEGIN; DECLARE k CURSOR FOR ${SORT}`);
    const fetching = run(second, "FETCH 1 FROM k");
    await until(() => waiting(engine) === 1);
    await run(first, "ROLLBACK");
    deepStrictEqual(await fetching, [expected]);
    const third = open();
    await run(third, `SET query_memory_timeout = 10; BEGIN; DECLARE k CURSOR FOR ${SORT}`);
    await rejects(run(third, "FETCH 1 FROM k"), { code: "53200" });
    await run(second, "COMMIT");
  }));

Deno.test("who waits for a lock holds no memory", () =>
  withEngine({}, async ({ engine, open }) => {
    const first = open(), second = open();
    await run(first, "BEGIN; UPDATE t SET a = -1 WHERE a = 1");
    const writing = run(
      second,
      `UPDATE t SET a = -t.a FROM (${SORT} OFFSET 0) s WHERE s.a = t.a AND s.a = 1`,
    );
    await until(() => second.currentTransaction?.waitsFor !== null);
    strictEqual(engine.queryMemory.statistics().reservedBytes, 0);
    await run(first, "ROLLBACK");
    await writing;
  }));

Deno.test("a statement that fails, and one of several parts, give back what they have", () =>
  withEngine({}, async ({ engine, open }) => {
    const session = open();
    await rejects(run(session, `SELECT 1 / (a - 5) FROM (${SORT} OFFSET 1) x`), { code: "22012" });
    strictEqual(engine.queryMemory.statistics().reservedBytes, 0);
    await run(session, "CREATE TABLE u (a INT)");
    await run(
      session,
      `WITH d AS (INSERT INTO u SELECT a FROM (${SORT} OFFSET 1) x RETURNING a),
        e AS (INSERT INTO u SELECT a FROM (${SORT} OFFSET 1) x RETURNING a)
      SELECT count(*) FROM d JOIN e USING (a)`,
    );
    deepStrictEqual(await run(session, "SELECT count(*)::int FROM u"), [[2 * (ROWS - 1)]]);
  }));

Deno.test("many statements together stay within the memory, and all answer rightly", () =>
  withEngine({ directory: "data", bytes: 6 * MEBIBYTE }, async ({ engine, open }) => {
    const expected = await run(open(), SORT);
    const answers = await Promise.all(Array.from({ length: 12 }, async () => {
      const session = open();
      await run(session, "SET query_memory_timeout = 0");
      return await run(session, SORT);
    }));
    for (const answer of answers) deepStrictEqual(answer, expected);
    ok(engine.queryMemory.statistics().waits > 0);
  }));

Deno.test("a look-up of few rows writes files, and removes them", () =>
  withEngine({ directory: "data" }, async ({ engine, open }) => {
    const session = open();
    const ids = Array.from({ length: 60 }, (_, index) => index + 1);
    const long = `SELECT a, repeat(md5(a::text), 1000) AS c FROM t WHERE a IN (${ids.join()}) ORDER BY c`;
    const expected = await run(session, long);
    await run(session, "SET statement_memory = '1MB'");
    deepStrictEqual(await run(session, long), expected);
    deepStrictEqual(engine.host.disk.list("data").filter((name) => name.startsWith("spill-")), []);
  }));

Deno.test("a statement whose files are beyond their bound ends with 53400, and its files go", () =>
  withEngine({ directory: "data" }, async ({ engine, open }) => {
    const session = open();
    await run(session, "SET statement_memory = '1MB'; SET temp_file_limit = '100kB'");
    await rejects(run(session, SORT), {
      code: "53400",
      message: "temporary file size exceeds temp_file_limit (100kB)",
    });
    strictEqual(engine.statistics().temporarySpace.usedBytes, 0);
    deepStrictEqual(engine.host.disk.list("data").filter((name) => name.startsWith("spill-")), []);
    await run(session, "SET temp_file_limit = -1");
    strictEqual((await run(session, SORT)).length, ROWS);
    strictEqual(engine.statistics().temporarySpace.usedBytes, 0);
    ok(engine.statistics().temporarySpace.peakBytes > 100 * 1024);
  }));

for (const [what, sql] of [["cursor", "FETCH 1 FROM k"], ["statement", SORT]] as const) {
  Deno.test(`a ${what} that is canceled when it has just been given memory gives it back`, () =>
    withEngine({}, async ({ engine, open, holder }) => {
      const first = await holder();
      const second = open();
      await run(second, `BEGIN; DECLARE k CURSOR FOR ${SORT}`);
      const stopped = rejects(run(second, sql), { code: "57014" });
      await until(() => waiting(engine) === 1);
      const ended = run(first, "ROLLBACK");
      strictEqual(waiting(engine), 0, "it has been given some");
      second.cancel();
      await ended;
      await stopped;
      await run(second, "ROLLBACK");
      strictEqual(engine.queryMemory.statistics().reservedBytes, 0);
    }));
}

Deno.test("one value may be larger than statement_memory, and not than the memory of all statements", async () => {
  const sql = "SELECT length(string_agg(repeat('x', 2000) || a, '')) FROM t";
  for (const bytes of [8 * MEBIBYTE, 64 * MEBIBYTE]) {
    await withEngine({ directory: "data", bytes }, async ({ open }) => {
      const session = open();
      await run(session, "SET statement_memory = '1MB'; SET query_memory_timeout = '50ms'");
      const asked = run(session, sql);
      if (bytes < 16 * MEBIBYTE) await rejects(asked, { code: "53200" });
      else deepStrictEqual(await asked, [[40_088_894]]);
    });
  }
});
