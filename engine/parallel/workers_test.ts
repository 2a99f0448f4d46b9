/** Workers in the thread of the test: equal answers, what is shared out and what is not, and the ends of statements. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { type Disk, diskError, type DiskFile } from "../host/disk.ts";
import { memoryHost } from "../host/memory_host.ts";
import { Engine } from "../session/engine.ts";
import type { Session } from "../session/session.ts";
import { Settings } from "../settings/settings.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import { DatabaseError } from "../base/errors.ts";
import { formatText } from "../types/text_io.ts";
import type { FromWorker } from "./messages.ts";
import type { WorkerPort } from "./worker_port.ts";
import { Workers } from "./workers.ts";
import { WorkersForTest, workersInThisThread } from "./workers_for_test.ts";

/** What a statement answers, row by row in the order in which they come, or its error. */
async function answer(session: Session, sql: string): Promise<string> {
  const sink = new RowBuffer();
  try {
    await session.simple(sql, sink, () => {});
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return `${error.code} ${error.message}`;
  }
  const types = sink.columns.map(({ type }) => type);
  return sink.rows.map((row) =>
    row.map((value, index) => value === null ? "NULL" : formatText(types[index] ?? { kind: "text" }, value))
      .join("|")
  ).join("\n");
}

interface Opened {
  readonly engine: Engine;
  readonly disk: Disk;
  readonly session: Session;
  readonly workers: WorkersForTest;
  close(): Promise<void>;
}

/** `seen`: how workers see the disk. */
async function openWith(count: number, seen: (disk: Disk) => Disk = (disk) => disk): Promise<Opened> {
  const host = memoryHost();
  const workers = new WorkersForTest(seen(host.disk), count);
  const engine = await Engine.open({ host, directory: "data", workers });
  await workers.started();
  const session = engine.openSession();
  await answer(session, "SET min_parallel_table_scan_size = 0");
  return { engine, disk: host.disk, session, workers, close: () => engine.close() };
}

const ROWS = 20_000;

/** Rows in files of several checkpoints, changed and deleted ones among them, and some that are in no file. */
async function fill({ engine, session }: Opened): Promise<void> {
  await answer(
    session,
    `CREATE TABLE t (id INT PRIMARY KEY, k INT, b BIGINT, n NUMERIC(12,2), m NUMERIC, f DOUBLE PRECISION, s TEXT,
      d DATE, o BOOLEAN)`,
  );
  const insert = (from: number, to: number): Promise<string> =>
    answer(
      session,
      `INSERT INTO t SELECT i, i % 17, i::bigint * 1000000007, (i % 1000) / 8.0, (i % 90) / 7.0, i / 3.0,
         CASE WHEN i % 11 = 0 THEN NULL ELSE 's' || i % 301 END, DATE '2020-01-01' + i % 1000, i % 3 = 0
       FROM generate_series(${from}, ${to}) AS i`,
    );
  await insert(1, ROWS / 2);
  await engine.checkpoint();
  await answer(session, "DELETE FROM t WHERE id % 97 = 3");
  await answer(session, "UPDATE t SET k = k + 100, s = 'changed ' || id WHERE id % 53 = 7");
  await insert(ROWS / 2 + 1, ROWS);
  await engine.checkpoint();
  await answer(session, "CREATE TABLE v (k INT, w INT, x TEXT)");
  await answer(session, "INSERT INTO v SELECT i % 20, i, 's' || i * 3 FROM generate_series(1, 50) AS i");
  await answer(session, "INSERT INTO v VALUES (NULL, 1, NULL)");
  await answer(session, "CREATE TABLE none AS SELECT 1 AS n");
  // Groups of several rows, in order nearly, some in several files and in memory.
  await answer(session, "CREATE TABLE u (g BIGINT, k INT)");
  for (const [from, to] of [[1, 12000], [11990, 16500], [5, 12]] as const) {
    await answer(
      session,
      `INSERT INTO u SELECT nullif(i / 3, 77), i % 8 FROM generate_series(${from}, ${to}) AS i`,
    );
    if (from > 5) await engine.checkpoint();
  }
  await answer(session, "DELETE FROM u WHERE k = 5 AND g % 2 = 0");
  await answer(session, "ALTER TABLE t ADD COLUMN late INT DEFAULT 5");
  await answer(session, "UPDATE t SET k = -1, late = 6 WHERE id % 1009 = 1");
  await answer(session, "DELETE FROM t WHERE id BETWEEN 9000 AND 9100");
  await answer(
    session,
    `INSERT INTO t (id, k, s) SELECT i, 18, 'fresh' FROM generate_series(${ROWS + 1}, ${ROWS + 500}) AS i`,
  );
}

/** Resolves when no worker reads a hash table any more. */
async function released(workers: WorkersForTest): Promise<void> {
  for (let turn = 0; workers.sharedBytes > 0; turn++) {
    ok(turn < 1000, "shared memory is given back");
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

const QUERIES = [
  "SELECT count(*), sum(k), avg(k), min(b), max(b) FROM t WHERE k < 9",
  "SELECT sum(b), avg(b), sum(n), avg(n), sum(m), avg(m), stddev(k), variance(n) FROM t WHERE id > 5",
  "SELECT k, count(*), sum(n), min(s), max(s), avg(m), bool_and(o), bit_or(k) FROM t GROUP BY k",
  "SELECT s, count(*), max(late) FROM t WHERE k <> 3 GROUP BY s",
  "SELECT s, k, count(s), min(d), max(n) FROM t GROUP BY s, k HAVING count(*) > 3",
  // Groups that a morsel has alone are given up where they are.
  "SELECT id, count(*), sum(n), max(s) FROM t GROUP BY id HAVING sum(k) > 15 AND min(n) < 3",
  "SELECT id / 1, k, count(*) FROM t GROUP BY id, k HAVING count(*) > 0 AND k = 4",
  "SELECT g, count(*), sum(k) FROM u GROUP BY g HAVING sum(k) > 10",
  "SELECT g, count(*) FROM u WHERE k <> 2 GROUP BY g HAVING count(*) = 2 OR g IS NULL",
  "SELECT g, 7 / (sum(k) - 3) FROM u GROUP BY g HAVING 7 / (sum(k) - 3) > 1",
  // Joins: the left side is shared out, the others are computed before.
  "SELECT t.k, count(*), sum(v.w) FROM t JOIN v ON t.k = v.k GROUP BY t.k",
  "SELECT t.id, v.w FROM t JOIN v ON t.k = v.k WHERE t.id % 900 < 4",
  "SELECT t.id, v.w FROM t LEFT JOIN v ON t.k = v.k AND v.w > 3 WHERE t.id % 700 = 1",
  "SELECT count(*), min(s) FROM t WHERE k IN (SELECT k FROM v WHERE w > 2)",
  "SELECT count(*), min(s) FROM t WHERE NOT EXISTS (SELECT 1 FROM v WHERE v.k = t.k)",
  "SELECT count(*) FROM t WHERE k NOT IN (SELECT k FROM v WHERE w > 2)",
  "SELECT v.x, count(*), sum(t.n) FROM t JOIN v ON t.k = v.k JOIN u ON u.g = t.id WHERE u.k < 3 GROUP BY v.x",
  "SELECT a.s, a.id FROM t AS a LEFT JOIN (SELECT b.id FROM t AS b LEFT JOIN (t AS c JOIN t AS d ON c.id = d.id) ON b.id = c.id) AS j ON a.id = j.id WHERE a.k = 1",
  "SELECT t.id, 10 / (v.w - 3) FROM t JOIN v ON t.k = v.k WHERE t.id > 40",
  "SELECT a.k, count(*) FROM t AS a LEFT JOIN (v AS c LEFT JOIN v AS d ON c.w < d.k) ON a.id = c.w AND d.w > 3 GROUP BY a.k",
  "SELECT count(*) FROM t UNION ALL SELECT n FROM none",
  // Tables of all types of keys and columns, larger than what is scanned, and of what has no place in one.
  `SELECT u.k, count(*), sum(r.n), min(r.s), max(r.m), min(r.d), bool_or(r.o), sum(r.w), min(r.a) FROM u
   JOIN (SELECT id, n, m, s, d, o, b * 100000 AS w, ARRAY[k, late] AS a FROM t WHERE id % 5 = 1) AS r ON u.g = r.id GROUP BY u.k`,
  "SELECT a.k, count(*), min(b.id) FROM t AS a JOIN t AS b ON a.s = b.s AND a.d = b.d GROUP BY a.k",
  "SELECT a.k, count(*), sum(b.id) FROM t AS a JOIN t AS b ON a.b * 100000 = b.b * 100000 WHERE b.id < 3000 GROUP BY a.k",
  "SELECT a.o, count(*), max(b.s) FROM t AS a JOIN t AS b ON a.m = b.m AND a.id = b.id + 90 WHERE b.id < 2000 GROUP BY a.o",
  "SELECT a.o, count(*) FROM t AS a JOIN t AS b ON a.f = b.f AND a.o = b.o WHERE b.id < 3000 GROUP BY a.o",
  "SELECT count(*), sum(a.id) FROM t AS a WHERE EXISTS (SELECT 1 FROM t AS b WHERE b.id = a.id / 2 AND b.k < a.k)",
  "SELECT count(*) FROM t AS a LEFT JOIN t AS b ON a.id = b.id - 5 AND b.o WHERE b.n IS NULL",
  `SELECT r.x, count(*) FROM t JOIN (SELECT id, s || id AS x FROM t) AS r ON t.id = r.id WHERE t.k = 3 AND r.id < 900
   GROUP BY r.x`,
  "SELECT t.k, v.x FROM t JOIN v ON t.k = v.k ORDER BY t.n DESC, v.x LIMIT 40",
  "SELECT count(*) FROM t JOIN v ON t.k = v.k WHERE v.w > 1000",
  "SELECT s, sum(c) FROM (SELECT t.s, v.w AS c FROM t JOIN v ON t.s = v.x) AS j GROUP BY s",
  "SELECT id, s, n FROM t WHERE k = 5",
  "SELECT id, late FROM t WHERE s LIKE 'changed%'",
  "SELECT id, n * 2 + k AS x FROM t WHERE d > DATE '2022-08-01' AND o",
  "SELECT DISTINCT s FROM t WHERE k < 4",
  "SELECT DISTINCT k, o FROM t",
  "SELECT id, k FROM t ORDER BY k DESC, s LIMIT 20",
  "SELECT k, n FROM t WHERE o ORDER BY n LIMIT 50 OFFSET 7",
  // Sorts: each morsel is sorted by a worker; equal rows keep their order.
  "SELECT id, k, s FROM t WHERE late = 5 AND id % 5 < 2 ORDER BY s, k DESC",
  "SELECT id, n, f FROM t WHERE k < 4 ORDER BY f DESC NULLS LAST",
  "SELECT k, o, id / 2 FROM t WHERE k > 13 ORDER BY o NULLS FIRST, k % 5",
  "SELECT t.id, v.x FROM t JOIN v ON t.k = v.k WHERE v.w < 6 ORDER BY v.x DESC, t.n",
  "SELECT id, 10 / (k - 3) FROM t ORDER BY 10 / (k - 5), s",
  "SELECT id, row_number() OVER (PARTITION BY s ORDER BY n DESC), sum(k) OVER (PARTITION BY k, o) FROM t WHERE id % 4 = 1",
  "SELECT s, lag(id) OVER (ORDER BY s DESC, d) FROM t WHERE k > 14",
  "SELECT s, count(*) FROM (SELECT s, rank() OVER (ORDER BY s, k) AS r FROM t) AS w WHERE r % 3 = 1 GROUP BY s",
  "SELECT id FROM t WHERE k = 2 LIMIT 30",
  "SELECT id FROM t WHERE k = 2 LIMIT 30 OFFSET 900",
  "SELECT k, (SELECT max(k) FROM t) FROM t WHERE id < 40",
  "SELECT count(*) FROM t WHERE n > (SELECT avg(n) FROM t)",
  "SELECT a.k, count(*) FROM t AS a JOIN t AS b ON a.id = b.id + 1 WHERE a.k < 6 AND b.o GROUP BY a.k ORDER BY a.k",
  "SELECT k, row_number() OVER (ORDER BY k) FROM t WHERE id % 1000 = 3",
  "SELECT count(*) FROM t WHERE k = 4 UNION ALL SELECT sum(k) FROM t WHERE o",
  "WITH c AS (SELECT k, count(*) AS n FROM t GROUP BY k) SELECT * FROM c WHERE n > 10",
  // How floating point is added shows, and so it is not shared out.
  "SELECT k, sum(f), avg(f), stddev(f) FROM t GROUP BY k",
  "SELECT count(DISTINCT s), array_agg(k) FROM t WHERE id < 300",
  "SELECT string_agg(s, ',') FROM t WHERE k = 11 AND id < 4000",
  "SELECT count(*) FROM t WHERE d BETWEEN DATE '2020-02-01' AND DATE '2020-02-03'",
  "SELECT count(*) FROM t WHERE id > 1000000",
  "SELECT sum(k) FROM t WHERE k > NULL",
  // Errors are those of the first row.
  "SELECT sum(100 / (k - 12)) FROM t WHERE k > 5",
  "SELECT id, 100 / (k - 12) FROM t WHERE k > 10",
  "SELECT id, 100 / (k - 12) FROM t WHERE k > 10 LIMIT 1",
  "SELECT sum((k * 1000000000)::int) FROM t",
  "SELECT count(*) FROM t WHERE (k / (k - 16)) > 3 AND sqrt(k - 10) > 0",
  "SELECT now() = transaction_timestamp(), count(*) FROM t WHERE d < now()",
  "SELECT count(*) FROM t WHERE to_char(d, 'DD') = '07'",
];

Deno.test("statements answer the same to the byte with 0, 1, 2, 4 and 8 workers", async () => {
  const opened = await openWith(8);
  const { session, workers } = opened;
  try {
    await fill(opened);
    for (const [index, sql] of QUERIES.entries()) {
      workers.given = 0;
      const expected = await answer(session, sql);
      for (const given of [1 << index % 3, 8]) {
        workers.given = given;
        strictEqual(await answer(session, sql), expected, `${given} workers: ${sql}`);
      }
    }
    await released(workers);
  } finally {
    await opened.close();
  }
});

Deno.test("what is shared out shows in EXPLAIN, and is not for statements that see rows of their own", async () => {
  const opened = await openWith(2);
  const { session } = opened;
  try {
    await fill(opened);
    const sql = "SELECT k, count(*) FROM t WHERE o GROUP BY k";
    const isShared = async (text = sql) => (await answer(session, `EXPLAIN ${text}`)).includes("workers: 2");
    ok(await isShared());
    ok((await answer(session, `EXPLAIN ${sql}`)).includes("Partial"));
    const few = "SELECT g, sum(k) FROM u GROUP BY g HAVING sum(k) > 17";
    const found = (await answer(session, few)).split("\n").length;
    const sent = [...(await answer(session, `EXPLAIN ANALYZE ${few}`)).matchAll(/Worker \d: .* rows=(\d+)/g)];
    const rows = sent.reduce((sum, [, count]) => sum + Number(count), 0);
    ok(rows < found + 100 && found > 10, `${rows} groups were sent for ${found}`);
    ok(!(await answer(session, "EXPLAIN SELECT k, sum(f) FROM t GROUP BY k")).includes("Partial"));
    ok(!await isShared("SELECT * FROM t WHERE id = 5"));
    for (
      const sorted of ["SELECT id FROM t ORDER BY s", "SELECT rank() OVER (PARTITION BY k ORDER BY s) FROM t"]
    ) {
      match(await answer(session, `EXPLAIN ${sorted}`), /Gather \(workers: 2\).*\n.*\n.*Sort/);
    }
    // Of a worker's error its code comes as well; none of these rows is read by this thread.
    const tooLarge = "SELECT sum((k * 1000000000)::int) FROM t WHERE id < 9000";
    ok(await isShared(tooLarge));
    match(await answer(session, tooLarge), /^22003 integer out of range$/);
    await answer(session, "BEGIN");
    ok(await isShared());
    await answer(session, "UPDATE t SET k = 40 WHERE id = 60");
    ok(!await isShared());
    match(await answer(session, "SELECT count(*) FROM t WHERE k = 40"), /^1$/);
    await answer(session, "ROLLBACK");
    await answer(session, "SET max_parallel_workers = 0");
    ok(!await isShared());
    await answer(session, "SET max_parallel_workers = 2");
    const analyzed = await answer(session, `EXPLAIN ANALYZE ${sql}`);
    match(analyzed, /Gather \(workers: 2\)/);
    match(analyzed, /Worker 0: morsels=\d+ rows=\d+ .*\n.*Worker 1: morsels=\d+ rows=\d+ /);
    // Of a join's sides the kept one has a fourth of the other's rows at the most.
    await answer(session, "SET min_parallel_table_scan_size = '16kB'");
    const join = (most: number) =>
      `SELECT sum(a.k) FROM t AS a JOIN (SELECT g FROM u WHERE g < ${most}) AS b ON a.id = b.g`;
    match(await answer(session, `EXPLAIN ${join(1000)}`), /Shared Hash/);
    match(await answer(session, `EXPLAIN ${join(4000)}`), /^(?!.*Shared Hash)/s);
    await answer(session, "SET min_parallel_table_scan_size = '8MB'");
    ok(!await isShared());
  } finally {
    await opened.close();
  }
});

Deno.test("a snapshot stays what it is while others write, checkpoint and drop", async () => {
  const opened = await openWith(2);
  const { engine, session } = opened;
  try {
    await fill(opened);
    const sql = "SELECT k, count(*), sum(n) FROM t GROUP BY k";
    const reader = engine.openSession();
    await answer(reader, "SET min_parallel_table_scan_size = 0");
    await answer(reader, "BEGIN");
    const before = await answer(reader, sql);
    await answer(session, "UPDATE t SET n = n + 1 WHERE id % 2 = 0");
    await engine.checkpoint();
    await answer(session, "DELETE FROM t WHERE id % 5 = 0");
    const running = answer(reader, sql);
    await answer(session, "INSERT INTO t (id, k) VALUES (-1, 1)");
    await engine.checkpoint();
    strictEqual(await running, before);
    strictEqual(await answer(reader, sql), before);
    await answer(reader, "ROLLBACK");
    opened.workers.given = 0;
    const after = await answer(reader, sql);
    opened.workers.given = 2;
    strictEqual(await answer(reader, sql), after);
    const last = answer(reader, sql);
    await answer(session, "DROP TABLE t");
    await engine.checkpoint();
    strictEqual(await last, after);
  } finally {
    await opened.close();
  }
});

Deno.test("a statement that is canceled, and one that wants no more rows, leave nothing behind", async () => {
  const opened = await openWith(2);
  const { session, workers } = opened;
  try {
    await fill(opened);
    const running = answer(session, "SELECT id, s FROM t WHERE k = 1");
    session.cancel();
    match(await running, /^57014 /);
    strictEqual(workers.running, 0);
    strictEqual((await answer(session, "SELECT id FROM t WHERE k >= 0 LIMIT 3")).split("\n").length, 3);
    strictEqual(workers.running, 0);
    match(await answer(session, "SELECT 1 / (k - 5) FROM t WHERE id > 0"), /^22012 /);
    strictEqual(workers.running, 0);
    strictEqual(await answer(session, "SELECT count(*) FROM t WHERE k = 500"), "0");
  } finally {
    await opened.close();
  }
});

Deno.test("hash tables that workers share are given back when they are read no more, whatever ends a statement", async () => {
  const host = memoryHost();
  const started: { readonly port: WorkerPort; fail(port: WorkerPort, error: DatabaseError): void }[] = [];
  const sharedAtEnds: number[] = [];
  const start = workersInThisThread(host.disk);
  const workers: Workers = new Workers({
    count: 2,
    morselBlocks: 1,
    start: async (given) => {
      const receive = (reply: FromWorker): void => {
        if ("endedRun" in reply) sharedAtEnds.push(workers.sharedBytes);
        given.receive(reply);
      };
      const port = await start({ ...given, receive });
      started.push({ port, fail: given.failed });
      return port;
    },
  });
  const engine = await Engine.open({ host, directory: "data", workers });
  const session = engine.openSession();
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
  const sql = "SELECT a.k, count(*), sum(b.id) FROM t AS a JOIN t AS b ON a.id = b.v GROUP BY a.k";
  try {
    await answer(
      session,
      "CREATE TABLE t AS SELECT i AS id, i % 7 AS k, i * 7 % 20011 AS v FROM generate_series(1, 20000) AS i",
    );
    await engine.checkpoint();
    await answer(session, "SET min_parallel_table_scan_size = 0");
    const expected = await answer(session, sql);
    ok(expected.length > 100);
    /** Ends a statement while its table is shared; how many bytes are shared then. */
    const ended = async (code: RegExp, end: () => void): Promise<number> => {
      const running = answer(session, sql);
      // More than the marks of who has which morsel.
      for (let turns = 0; workers.sharedBytes < 20000 * 12 && turns < 1000; turns++) await turn();
      const bytes = workers.sharedBytes;
      end();
      match(await running, code);
      return bytes;
    };
    const first = await ended(/^57014 /, () => session.cancel());
    ok(first >= 20000 * 12, `${first} bytes`);
    for (let turns = 0; workers.sharedBytes > 0 && turns < 1000; turns++) await turn();
    strictEqual(workers.sharedBytes, 0);
    const died = new DatabaseError("XX000", "a worker has ended");
    const last = started.at(-1);
    await ended(/^XX000 a worker has ended/, () => {
      last?.port.close(died);
      last?.fail(last.port, died);
    });
    for (let turns = 0; workers.sharedBytes > 0 && turns < 1000; turns++) await turn();
    strictEqual(workers.sharedBytes, 0);
    strictEqual(await answer(session, sql), expected);
    ok(sharedAtEnds.length >= 5 && sharedAtEnds.every((bytes) => bytes > 0), `${sharedAtEnds}`);
  } finally {
    await engine.close();
  }
});

Deno.test("INSERT … SELECT and CREATE TABLE AS read with workers, and write what they do without", async () => {
  const opened = await openWith(2);
  const { session, workers } = opened;
  try {
    await fill(opened);
    await answer(
      session,
      "CREATE TABLE w (id INT GENERATED ALWAYS AS IDENTITY, k INT UNIQUE, s TEXT, n NUMERIC)",
    );
    const writes = [
      "INSERT INTO w (k, s, n) SELECT k, max(s), sum(n) FROM t GROUP BY k",
      "INSERT INTO w (s, n) SELECT s, n FROM t WHERE id % 50 = 1 ORDER BY s DESC, n",
      "INSERT INTO w (s) SELECT t.s FROM t JOIN v ON t.k = v.k WHERE v.w = 7 RETURNING id, s",
      "INSERT INTO t (id, k) SELECT id + 100000, sum(k) FROM t WHERE id < 9000 GROUP BY id HAVING sum(k) > 15",
      "INSERT INTO t (id, k) SELECT id + 100000, k FROM t WHERE k = 3 UNION ALL SELECT id + 200000, k FROM t WHERE k = 4",
      "INSERT INTO w (n) SELECT id + (SELECT count(*) FROM w) FROM t WHERE k = 3 UNION ALL SELECT id FROM t WHERE k = 4",
      "CREATE TABLE made AS SELECT s, k, row_number() OVER (ORDER BY s, id) FROM t WHERE id % 30 = 2",
      // The error of the row that is written first is raised, and not the one of a later row that is read.
      "INSERT INTO w (k, n) SELECT k % 5, 1 / (id - 2000) FROM t WHERE id > 1990",
      "INSERT INTO w (n) SELECT 1 / (id - 2000) FROM t WHERE id > 1990",
      "WITH c AS (SELECT k, count(*) AS n FROM t GROUP BY k) INSERT INTO w (n) SELECT n FROM c",
      "INSERT INTO w (s) SELECT s FROM v UNION ALL SELECT DISTINCT s FROM t WHERE k < 5",
    ];
    const reads = ["SELECT * FROM w", "SELECT * FROM made", "SELECT count(*), sum(k), max(id) FROM t"];
    const made: string[][] = [];
    for (const given of [0, 2]) {
      workers.given = given;
      const answers: string[] = [];
      for (const sql of writes) {
        await answer(session, "BEGIN");
        answers.push(await answer(session, sql));
        for (const read of reads) answers.push(await answer(session, read));
        await answer(session, "ROLLBACK");
        await answer(session, "ALTER TABLE w ALTER COLUMN id RESTART");
      }
      made.push(answers);
    }
    deepStrictEqual(made[1], made[0]);
    deepStrictEqual(made[0]?.filter((each) => /^2(3505|2012) /.test(each)).map((each) => each.slice(0, 5)), [
      "23505",
      "22012",
    ]);
    // What is short is done before others may come in between, and so without workers.
    await answer(session, "BEGIN");
    for (const sql of [0, 1, 2]) {
      match(await answer(session, `EXPLAIN ${writes[sql]}`), /workers: 2/);
    }
    const before = workers.runs;
    await answer(session, writes[6] ?? "");
    ok(workers.runs > before, "CREATE TABLE AS reads with workers");
    await answer(session, "ROLLBACK");
    strictEqual(workers.running, 0);
    // What triggers do is between the rows.
    await answer(
      session,
      "CREATE TRIGGER a BEFORE INSERT ON w FOR EACH ROW SET s = 'x'",
    );
    await answer(session, "BEGIN");
    match(await answer(session, `EXPLAIN ${writes[0]}`), /^(?!.*workers)/s);
  } finally {
    await opened.close();
  }
});

/** What is done to bytes that are read of a file; null: it cannot be opened. */
type Spoil = ((bytes: Uint8Array) => void) | null;

/** The disk as it would be if its files were spoiled. */
function spoiled(disk: Disk, spoil: () => Spoil): Disk {
  return new Proxy(disk, {
    get: (target, name: keyof Disk) => {
      if (name !== "openFile") return target[name]?.bind(target);
      return (...opened: Parameters<Disk["openFile"]>): DiskFile => {
        const change = spoil();
        if (change === null) throw diskError("open file", opened[0], "ENOENT", "No such file or directory");
        const file = target.openFile(...opened);
        const readAt = file.readAt.bind(file);
        file.readAt = (position, bytes) => {
          const count = readAt(position, bytes);
          change(bytes);
          return count;
        };
        return file;
      };
    },
  });
}

Deno.test("what a worker cannot open or finds damaged is read by the thread of the sessions", async () => {
  let spoil: Spoil = null;
  let opens = 0;
  const opened = await openWith(2, (disk) => spoiled(disk, () => ++opens > 0 ? spoil : null));
  const { engine, session, workers } = opened;
  try {
    await answer(
      session,
      "CREATE TABLE t AS SELECT i AS id, i % 9 AS k, 's' || i AS s FROM generate_series(1, 12000) AS i",
    );
    await engine.checkpoint();
    const queries = [
      "SELECT k, count(*), sum(id), min(s) FROM t GROUP BY k",
      "SELECT id FROM t WHERE k = 5",
      "SELECT id, 100 / (k - 8) FROM t WHERE k > 6",
    ];
    workers.given = 0;
    const expected: string[] = [];
    for (const sql of queries) expected.push(await answer(session, sql));
    workers.given = 2;
    // A file that is not there, one that is all wrong, one whose blocks are, and at last a good one.
    for (const damage of [null, spoilAll, spoilBlocks, () => {}]) {
      spoil = damage;
      const before = opens;
      for (const [index, sql] of queries.entries()) {
        strictEqual(await answer(session, sql), expected[index], sql);
      }
      ok(opens > before, "a worker has tried");
    }
    match(await answer(session, `EXPLAIN ANALYZE ${queries[0]}`), /Worker 0: morsels=[12] /);
    strictEqual(workers.running, 0);
  } finally {
    await opened.close();
  }
});

function spoilAll(bytes: Uint8Array): void {
  bytes.fill(0xa5);
}

function spoilBlocks(bytes: Uint8Array): void {
  if (bytes.length > 2000) bytes.fill(0xa5, 1000);
}

Deno.test("who has no room at a worker runs anew without, and writes to files", async () => {
  const opened = await openWith(2);
  const { session, workers } = opened;
  try {
    await fill(opened);
    await answer(session, "SET statement_memory = '1MB'");
    const sql = "SELECT s, id, count(*), max(m) FROM t GROUP BY s, id";
    workers.given = 0;
    const expected = await answer(session, sql);
    workers.given = 2;
    deepStrictEqual((await answer(session, sql)).split("\n").sort(), expected.split("\n").sort());
  } finally {
    await opened.close();
  }
});

/** The files of indexes that have been made, with their bytes. */
function indexFiles(disk: Disk): Map<string, Uint8Array> {
  const names = disk.list("data/tables").filter((name) => name.endsWith(".index"));
  return new Map(names.map((name) => {
    const file = disk.openFile(`data/tables/${name}`, { create: false, write: false });
    const bytes = new Uint8Array(file.size);
    file.readAt(0, bytes);
    file.close();
    return [name, bytes];
  }));
}

Deno.test("workers make the same bytes of index files, and what they cannot make is made without them", async () => {
  const made: Map<string, Uint8Array>[] = [];
  // Without workers, with them, and with workers that cannot open a file.
  for (const count of [0, 2, 1]) {
    let opens = 0;
    const opened = await openWith(
      2,
      (disk) => spoiled(disk, () => ++opens > 0 && count === 1 ? null : () => {}),
    );
    const { engine, session, workers } = opened;
    try {
      workers.given = count;
      for (const [from, to] of [[1, 5000], [5001, 9000]] as const) {
        const rows =
          `SELECT i AS id, i * 7919 % 4001 AS k, nullif('s' || i * 31 % 977, 's5') AS s, i / 8.0 AS f
          FROM generate_series(${from}, ${to}) AS i`;
        await answer(session, from === 1 ? `CREATE TABLE t AS ${rows}` : `INSERT INTO t ${rows}`);
        await engine.checkpoint();
      }
      await answer(session, "DELETE FROM t WHERE id % 3 = 1");
      await answer(session, "INSERT INTO t VALUES (1, 1, 'in memory', 1)");
      const before = opens;
      for (
        const index of [
          "INDEX a ON t (k)",
          "INDEX b ON t (s DESC, k)",
          "UNIQUE INDEX c ON t (id DESC)",
          "INDEX d ON t (f)",
        ]
      ) strictEqual(await answer(session, `CREATE ${index}`), "");
      match(await answer(session, "CREATE UNIQUE INDEX e ON t (k)"), /^23505 /);
      strictEqual(opens - before, count === 0 ? 0 : 8, "each worker opens the segment of each index");
      strictEqual(await answer(session, "SELECT id FROM t WHERE k = 17 ORDER BY id"), "48\n4049");
      made.push(indexFiles(opened.disk));
    } finally {
      await opened.close();
    }
  }
  const [without, ...others] = made;
  strictEqual(without?.size, 8);
  for (const each of others) deepStrictEqual(each, without);
});

Deno.test("workers are started when statements have scanned as much as that is worth", async () => {
  const host = memoryHost();
  const workers = new Workers({ count: 1, start: workersInThisThread(host.disk), startRows: 150_000 });
  const engine = await Engine.open({ host, directory: "data", workers });
  try {
    const session = engine.openSession();
    await answer(
      session,
      "CREATE TABLE t AS SELECT i AS k, i * 7919 % 100003 AS v FROM generate_series(1, 60000) AS i",
    );
    await answer(session, "CHECKPOINT");
    await answer(session, "SET min_parallel_table_scan_size = '20kB'");
    const gathered: boolean[] = [];
    for (let run = 0; run < 8; run++) {
      const text = await answer(session, "EXPLAIN ANALYZE SELECT sum(v) FROM t");
      gathered.push(text.includes("Worker 0"));
      // What is being started is there in the next turn.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    const first = gathered.indexOf(true);
    ok(first > 1, `by run ${first}`);
    deepStrictEqual(gathered, gathered.map((_, run) => run >= first));
  } finally {
    await engine.close();
  }
});

Deno.test("a COPY starts one worker, and the first statement that wants them the others", async () => {
  const { disk } = memoryHost();
  const start = workersInThisThread(disk);
  const started: number[] = [];
  const workers = new Workers({
    count: 2,
    start: (options) => {
      started.push(options.index);
      return start(options);
    },
  });
  const settings = new Settings();
  ok(!workers.mayParse(settings));
  await new Promise((resolve) => setTimeout(resolve, 0));
  ok(workers.mayParse(settings));
  deepStrictEqual(started, [0]);
  await workers.started();
  deepStrictEqual(started, [0, 1]);
  await workers.close();
});
