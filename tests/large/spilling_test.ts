/** Statements that need more than their memory: they write files, answer the same, and leave nothing behind. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { Host } from "../../engine/host/host.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { Engine } from "../../engine/session/engine.ts";
import type { Session } from "../../engine/session/session.ts";

const DIRECTORY = "data";
const ROWS = 12_000;

/** Rows of all forms that buffers keep, with NULLs, ties and values at the edges. */
const TABLE = `
  CREATE TABLE t (a INT PRIMARY KEY, b INT, c TEXT, d NUMERIC, e BIGINT, f DOUBLE PRECISION, g BOOL, h INT[], i INTERVAL);
  INSERT INTO t SELECT n, CASE WHEN n % 7 = 0 THEN NULL ELSE n * 7919 % 103 END,
    CASE WHEN n % 11 = 0 THEN NULL ELSE md5(n::text) END,
    CASE WHEN n % 13 = 0 THEN 'NaN'::numeric ELSE (n % 1000) * 1.10 END,
    CASE WHEN n % 3 = 0 THEN 9007199254740993 + n % 50 WHEN n % 5 = 0 THEN NULL ELSE -n END,
    CASE WHEN n % 17 = 0 THEN 'NaN' WHEN n % 19 = 0 THEN '-0' WHEN n % 23 = 0 THEN '-Infinity' ELSE n / 7.0 END,
    CASE WHEN n % 4 = 0 THEN NULL ELSE n % 3 = 0 END,
    CASE WHEN n % 6 = 0 THEN NULL WHEN n % 8 = 0 THEN '{}' ELSE array[n % 10, NULL] END,
    CASE WHEN n % 9 = 0 THEN NULL ELSE make_interval(months => n % 3, days => n % 90) END
  FROM generate_series(1, ${ROWS}) n`;

// A replacer would be asked for each value of millions.
Object.defineProperty(BigInt.prototype, "toJSON", {
  value(this: bigint) {
    return `${this}n`;
  },
});

async function rows(session: Session, sql: string): Promise<readonly string[]> {
  const sink = new RowBuffer();
  await session.simple(sql, sink, () => {});
  return sink.rows.map((row) => JSON.stringify(row));
}

async function withSession(action: (session: Session, host: Host) => Promise<void>): Promise<void> {
  const host = memoryHost();
  const engine = await Engine.open({ host, directory: DIRECTORY });
  try {
    const session = engine.openSession();
    await rows(session, TABLE);
    await action(session, host);
  } finally {
    await engine.close();
  }
}

const spillFiles = ({ disk }: Host) => disk.list(DIRECTORY).filter((name) => name.startsWith("spill-"));

/** How many files the action has made. */
async function filesMade({ disk }: Host, action: () => Promise<void>): Promise<number> {
  const { openFile } = disk;
  let made = 0;
  disk.openFile = (path, options) => {
    if (path.includes("spill-")) made++;
    return openFile.call(disk, path, options);
  };
  try {
    await action();
  } finally {
    disk.openFile = openFile;
  }
  return made;
}

/** Those that have an order of their own are compared in it. */
const STATEMENTS = [
  "SELECT * FROM t ORDER BY b, a",
  "SELECT * FROM t ORDER BY b DESC NULLS LAST",
  "SELECT a, c FROM t ORDER BY c",
  "SELECT c, a, h FROM t WHERE a BETWEEN (SELECT 1) AND (SELECT 11500) ORDER BY c DESC, a",
  "SELECT * FROM t ORDER BY d DESC, f, e NULLS FIRST",
  "SELECT a, d, e FROM t ORDER BY e DESC",
  "SELECT a, c, f FROM t ORDER BY f NULLS FIRST",
  "SELECT a, g, h, i FROM t ORDER BY h DESC, g, i",
  "SELECT a, c FROM t ORDER BY lower(c) DESC LIMIT 9000 OFFSET 100",
  "SELECT count(*), sum(x.a) FROM (SELECT a FROM t ORDER BY f, c OFFSET 1) x",
  "SELECT a FROM (SELECT a, c, h FROM t ORDER BY i OFFSET 0) x ORDER BY h, c",
  "SELECT c, count(*), sum(e), min(d), array_agg(a) FROM t GROUP BY c",
  "SELECT d, f, g, h, i, count(*) FROM t GROUP BY d, f, g, h, i",
  "SELECT b, count(DISTINCT c), string_agg(c, ',' ORDER BY c) FROM t GROUP BY b, a % 50",
  "SELECT DISTINCT c, e FROM t",
  "SELECT DISTINCT f, d, c FROM t",
  "SELECT c FROM t UNION SELECT upper(c) FROM t",
  "SELECT c, b FROM t INTERSECT SELECT c, b FROM t WHERE a % 3 = 0",
  "SELECT c, b FROM t EXCEPT ALL SELECT c, b FROM t WHERE a % 3 = 0",
  "SELECT x.a, y.c FROM t x JOIN t y ON x.c = y.c",
  "SELECT x.a, y.c, y.d, y.h FROM t x LEFT JOIN (SELECT * FROM t WHERE a % 3 < 2) y ON x.c = y.c AND y.e > 0",
  "SELECT x.a, y.* FROM t x FULL JOIN (SELECT * FROM t WHERE a % 3 < 2) y ON x.e = y.e + 3",
  "SELECT count(*), sum(x.a), sum(y.a) FROM t x JOIN t y ON x.d = y.f",
  "SELECT a FROM t x WHERE EXISTS (SELECT FROM t y WHERE y.c = x.c AND y.a > x.a + 1)",
  "SELECT a, c FROM t x WHERE NOT EXISTS (SELECT FROM t y WHERE y.c = x.c AND y.e <> x.e)",
  "WITH m AS MATERIALIZED (SELECT c, b FROM t EXCEPT SELECT c, b FROM t WHERE a % 8 > 0) SELECT b, count(*) FROM m GROUP BY b",
  "SELECT b, g, count(*), sum(a), count(DISTINCT d), array_agg(DISTINCT f) FROM t GROUP BY CUBE (b, g, c)",
  "SELECT c, d, grouping(c, d), max(a), string_agg(DISTINCT c, ',' ORDER BY c DESC) FROM t GROUP BY GROUPING SETS ((c), (d), (c, d), (), (c))",
  "SELECT count(DISTINCT c), count(DISTINCT d), count(DISTINCT f), sum(DISTINCT e), md5(string_agg(DISTINCT c, ',')), md5(array_agg(a ORDER BY f, c)::text) FROM t",
  "SELECT g, count(DISTINCT c), count(DISTINCT (c, e)), md5(array_agg(DISTINCT i)::text), md5(array_agg(c ORDER BY h DESC, a) FILTER (WHERE a % 2 = 0)::text) FROM t GROUP BY g",
  "SELECT g, percentile_cont(0.3) WITHIN GROUP (ORDER BY f), percentile_disc(array[1, 0, NULL, 0.5, 0.5]) WITHIN GROUP (ORDER BY c DESC), mode() WITHIN GROUP (ORDER BY b) FROM t GROUP BY g",
  "SELECT a % 4000, percentile_cont(array[[0.3, 0.9], [1, 0]]) WITHIN GROUP (ORDER BY e DESC) FILTER (WHERE a > 50), percentile_disc(0.4) WITHIN GROUP (ORDER BY i), count(*) FROM t GROUP BY 1",
  "SELECT DISTINCT ON (c, d) a, c, d FROM t ORDER BY c DESC, d, a",
  "SELECT DISTINCT ON (f) a, c, f FROM t ORDER BY f, c DESC, a DESC",
  "SELECT a FROM t WHERE c NOT IN (SELECT c || 'x' FROM t WHERE a % 30 > 0 AND c IS NOT NULL)",
  "SELECT a FROM t WHERE c NOT IN (SELECT upper(c) FROM t)",
  "WITH m AS MATERIALIZED (SELECT a, c, e, h FROM t) SELECT count(*), sum(a), max(c), min(e) FROM m",
  "WITH m AS MATERIALIZED (SELECT a, c || repeat('x', 90) AS c FROM t) SELECT a, (SELECT y.c FROM m y WHERE y.a = x.a + 1) FROM m x WHERE a % 1500 = 0",
  "WITH RECURSIVE r(n, w) AS (SELECT 1, repeat('a', 99) UNION ALL SELECT n + 1, left(md5(n::text) || w, 99) FROM r WHERE n < 9000) SELECT n, w FROM r ORDER BY n",
  "WITH RECURSIVE r(n, w) AS (SELECT 1, repeat('a', 99) UNION ALL SELECT n + 1, left(md5(n::text) || w, 99) FROM r) SELECT n, w FROM r LIMIT 9000",
  "WITH RECURSIVE r(n, w) AS (SELECT 1, repeat('a', 99) UNION ALL SELECT n + 1, left(md5(n::text) || w, 99) FROM r WHERE n < 9000) SELECT count(*), min(x.w), max(y.w) FROM r x JOIN r y ON x.n = y.n + 1",
  "WITH RECURSIVE r(n, c, k) AS (SELECT a, c, 1 FROM t UNION ALL SELECT n + 1, c, k + 1 FROM r WHERE k < 4) SELECT n, c, k FROM r",
  "WITH RECURSIVE r(c, d, k) AS (SELECT c, d, 1 FROM t WHERE a % 3 = 0 UNION SELECT CASE WHEN k % 2 = 0 THEN c ELSE upper(c) END, d, (k + 1) % 4 FROM r) SELECT c, d, k FROM r",
  "WITH RECURSIVE r(n, e) AS (SELECT 1, NULL::bigint UNION SELECT x, 9007199254740990 + x % 9 FROM r, LATERAL (VALUES (2 * n), (2 * n + 1), (n / 2)) v(x) WHERE x BETWEEN 1 AND 30000) SELECT n, e FROM r",
  "SELECT x.a, count(y.a), max(y.v) FROM (SELECT a, c FROM t WHERE a % 1500 = 0) x LEFT JOIN (SELECT a, repeat(c, 4) AS v FROM t) y ON x.a < y.a AND y.v > x.c GROUP BY x.a",
  "SELECT x.a, y.a, y.v FROM (SELECT a, c FROM t WHERE a % 3000 = 0) x FULL JOIN (SELECT a, repeat(c, 4) AS v FROM t) y ON x.a < y.a AND y.v > x.c",
  "SELECT x.a, count(*), max(y.v) FROM (SELECT a, c FROM t WHERE a % 1500 = 0) x, (SELECT a, repeat(c, 4) AS v FROM t OFFSET 0) y WHERE y.v > x.c GROUP BY x.a",
  "SELECT x.a, y.a, y.w FROM t x JOIN (SELECT a, g, repeat(c, 20) AS w FROM t WHERE a <= 5000) y ON x.g = y.g AND abs(x.a - y.a) < 2",
  "SELECT x.a, y.a, y.w FROM t x LEFT JOIN (SELECT a, g, repeat(c, 20) AS w FROM t WHERE a <= 5000) y ON x.g = y.g AND abs(x.a - y.a) < 2",
  "SELECT x.a, x.c, y.a, y.w FROM (SELECT * FROM t WHERE a > 1000) x FULL JOIN (SELECT a, g, repeat(c, 20) AS w FROM t WHERE a <= 5000) y ON x.g = y.g AND abs(x.a - y.a) < 2",
  "SELECT a, c FROM t x WHERE EXISTS (SELECT FROM (SELECT a, g, repeat(c, 20) AS w FROM t WHERE a <= 5000) y WHERE x.g = y.g AND abs(x.a - y.a) < 40 AND y.w <> x.c)",
  "SELECT a, c FROM t x WHERE NOT EXISTS (SELECT FROM (SELECT a, g, repeat(c, 20) AS w FROM t WHERE a <= 5000) y WHERE x.g = y.g AND abs(x.a - y.a) < 40 AND y.w <> x.c)",
  // Keys that filters may know for certain, in a narrow range, in a wide one, beside integers that are not safe.
  "SELECT c, count(*) FROM t x WHERE NOT EXISTS (SELECT FROM t y WHERE y.a * 3 - 9000 = x.a AND y.a < 9000) GROUP BY c",
  "SELECT c, count(*) FROM t x WHERE NOT EXISTS (SELECT FROM t y WHERE y.a * 131072 = x.a / 3 * 131072 AND y.a % 2 = 0) GROUP BY c",
  "SELECT c, count(*), max(e) FROM t x WHERE NOT EXISTS (SELECT FROM t y WHERE y.e = x.e AND y.e < 0 AND y.a % 4 < 3) GROUP BY c",
  "SELECT c, count(*), max(e) FROM t x WHERE NOT EXISTS (SELECT FROM t y WHERE y.e = x.e AND y.a % 8 < 5) GROUP BY c",
  "SELECT c, count(*) FROM t WHERE b NOT IN (SELECT b + 90 FROM t WHERE a % 7 > 0 AND b < 60) GROUP BY c",
  // The kept side of a join fits, and the rows of the other one come in batches.
  "SELECT c, count(*), sum(k), max(z) FROM (SELECT x.c, y.a AS k, y.c AS z FROM t x FULL JOIN (SELECT a, c FROM t WHERE a % 400 = 0 UNION ALL SELECT -1, 'z') y ON x.a = y.a + 1) j GROUP BY c",
  "SELECT c, e, count(*) FROM (SELECT * FROM t x WHERE NOT EXISTS (SELECT FROM t y WHERE y.a % 300 = 0 AND y.b = x.b AND y.a > x.a)) j GROUP BY c, e",
  "SELECT c, count(*) FROM (SELECT c, a FROM t UNION ALL SELECT c, a FROM t x WHERE a % 300 = 0 AND EXISTS (SELECT FROM t y WHERE y.a = x.a + 1 AND y.c > x.c)) j GROUP BY c",
  "SELECT c, count(k), max(k) FROM (SELECT x.c, y.k FROM t x LEFT JOIN (SELECT b, max(a) AS k FROM t GROUP BY b) y ON x.b = y.b AND y.k > x.a) j GROUP BY c",
  "SELECT c, count(*) FROM t WHERE b NOT IN (SELECT b FROM t WHERE a % 900 = 1 AND b IS NOT NULL) GROUP BY c",
  "SELECT a, c IN (SELECT upper(c) FROM t WHERE a % 2 = 0), c = ANY (SELECT c FROM t WHERE a % 3 = 0 OR c > 'f') FROM t WHERE a % 4 = 0 OR c NOT IN (SELECT c FROM t WHERE a > 99 AND c > '1')",
  "SELECT a, f IN (SELECT f FROM t WHERE a > 20), e NOT IN (SELECT e + 3 FROM t WHERE e > 0), i IN (SELECT i + '1 day' FROM t WHERE i IS NOT NULL), a IN (SELECT -a FROM t) FROM t WHERE a % 9 < 2",
  // What depends on a row is computed for one after the other.
  "SELECT a, (SELECT count(*) FROM (SELECT c, max(d) FROM t y WHERE y.a > x.a GROUP BY c) q), (SELECT sum(n) FROM (SELECT row_number() OVER (ORDER BY y.c) AS n FROM t y WHERE y.a > x.a) q) FROM t x WHERE a < 3",
  "SELECT x.a, q.* FROM t x LEFT JOIN LATERAL (SELECT y.a, y.c, z.e FROM t y JOIN t z ON y.c = z.c AND z.a > x.a ORDER BY y.c DESC) q ON q.a % 5 = x.b % 5 WHERE x.a IN (3, 7, 8)",
  "SELECT x.a, (WITH RECURSIVE r(n, w) AS (SELECT 1, x.c || '' UNION SELECT n + 1, md5(w) FROM r WHERE n < 6000) SELECT max(w) || count(*) FROM r), EXISTS (SELECT c FROM t WHERE a > x.a EXCEPT SELECT c FROM t WHERE a > x.a + x.b) FROM t x WHERE a IN (3, 7, 8)",
  "SELECT a, c, row_number() OVER (PARTITION BY b ORDER BY c, a), lag(c, 2, 'none') OVER (PARTITION BY b ORDER BY c, a), sum(e) OVER (PARTITION BY b ORDER BY c, a) FROM t ORDER BY a",
  "SELECT a, rank() OVER w, dense_rank() OVER w, percent_rank() OVER w, cume_dist() OVER w, ntile(7) OVER (ORDER BY d, a), lead(a, 5000) OVER (ORDER BY d, a) FROM t WINDOW w AS (ORDER BY d) ORDER BY a",
  "SELECT a, h, first_value(a) OVER w, last_value(c) OVER w, nth_value(i, 3) OVER w, count(*) OVER w FROM t WINDOW w AS (PARTITION BY g ORDER BY a ROWS BETWEEN 40 PRECEDING AND 3 FOLLOWING) ORDER BY a",
  "SELECT a, sum(a) OVER (ORDER BY b GROUPS BETWEEN 2 PRECEDING AND 1 PRECEDING), count(*) OVER (ORDER BY d DESC RANGE BETWEEN 5 PRECEDING AND 7.5 FOLLOWING) FROM t ORDER BY a",
  "SELECT a, count(*) OVER (PARTITION BY c), max(f) OVER (PARTITION BY d), string_agg(c, '-') OVER (PARTITION BY a / 3 ORDER BY a DESC) FROM t ORDER BY a",
  "SELECT a, c, n FROM (SELECT a, c, row_number() OVER (PARTITION BY b ORDER BY f, a) AS n FROM t) x WHERE n < 3 ORDER BY a LIMIT 50",
  "SELECT a, row_number() OVER (ORDER BY c NULLS FIRST, a) FROM t ORDER BY 2 LIMIT 10",
  "SELECT y.c, max(x.a) FROM t x JOIN t y USING (c) JOIN t z USING (c) GROUP BY y.c ORDER BY 2 DESC LIMIT 7",
];

/** Between the sizes parts of a statement are in memory or not in other ways; all meet the least, half one more. */
const SIZES = [["1MB"], ["1MB", "2MB"], ["1MB"], ["1MB", "4MB"]] as const;

Deno.test("with little memory statements have the same rows as with enough", (test) =>
  withSession(async (session, host) => {
    for (const [index, sql] of STATEMENTS.entries()) {
      await test.step(sql, async () => {
        const hasOrder = / ORDER BY [^()]*$/.test(sql);
        const inOrder = (rows: readonly string[]) => hasOrder ? rows : rows.toSorted();
        await rows(session, "SET statement_memory = '1GB'");
        const expected = inOrder(await rows(session, sql));
        for (const size of SIZES[index % SIZES.length] ?? []) {
          await rows(session, `SET statement_memory = '${size}'`);
          let answered: readonly string[] = [];
          const made = await filesMade(host, async () => void (answered = inOrder(await rows(session, sql))));
          if (size === "1MB") ok(made > 0, "it spills");
          strictEqual(answered.length, expected.length, size);
          deepStrictEqual(answered, expected, size);
          deepStrictEqual(spillFiles(host), []);
        }
      });
    }
  }));

Deno.test("EXPLAIN ANALYZE shows what each operator held and wrote", () =>
  withSession(async (session) => {
    await rows(session, "SET statement_memory = '1MB'");
    const [line = "[]"] = await rows(
      session,
      "EXPLAIN (ANALYZE, FORMAT json) SELECT x.* FROM t x JOIN t y USING (c) ORDER BY x.c, x.a",
    );
    const [{ Plan: sort }] = JSON.parse(JSON.parse(line)[0]);
    const join = sort.Plans[0];
    for (const [operator, runs] of [[sort, 2], [join, 64 + 2]]) {
      ok(operator.Runs >= runs, `${operator.Runs} runs`);
      ok(operator["Memory Usage"] > 50 && operator["Memory Usage"] <= 1024, `${operator["Memory Usage"]} kB`);
      ok(operator["Disk Usage"] > 200, `${operator["Disk Usage"]} kB`);
    }
    ok(sort.Passes >= 1);
    ok(join.Passes >= 1 && join.Passes <= 5);
    strictEqual(join.Plans[0]["Memory Usage"], undefined);
    const [other = "[]"] = await rows(
      session,
      "EXPLAIN (ANALYZE, FORMAT json) SELECT x.c, max(y.a) FROM t x LEFT JOIN (SELECT * FROM t WHERE a % 300 = 0) y USING (b) GROUP BY x.c",
    );
    let operator = JSON.parse(JSON.parse(other)[0])[0].Plan;
    ok(operator["Disk Usage"] > 100, "the groups are written");
    while (!/^Hash .*Join$/.test(operator["Node Type"])) operator = operator.Plans[0];
    strictEqual(operator["Disk Usage"], undefined, "no side of a join with few kept rows is");
  }));

Deno.test("only rows are written that may have a partner, or whose group has no room, and only of parts that have none", () =>
  withSession(async (session) => {
    await rows(session, "SET statement_memory = '1MB'");
    /** Kilobytes that the first operator of a kind has written, and the parts. */
    const written = async (sql: string, kind: RegExp): Promise<readonly [number, number]> => {
      const [line = "[]"] = await rows(session, `EXPLAIN (ANALYZE, FORMAT json) ${sql}`);
      let operator = JSON.parse(JSON.parse(line)[0])[0].Plan;
      while (!kind.test(operator["Node Type"])) operator = operator.Plans[0];
      return [operator["Disk Usage"] ?? 0, operator.Runs ?? 0];
    };
    const joined = (kind: string, condition: string) =>
      written(
        `SELECT count(*), max(y.c), max(x.c) FROM (SELECT c || '' AS k, c FROM t WHERE ${condition}) x ${kind} JOIN (SELECT c || '' AS k, c FROM t WHERE c < '8') y ON x.k = y.k`,
        /^Hash .*Join$/,
      );
    const excluded = (condition: string) =>
      written(
        `SELECT count(*), max(c) FROM (SELECT repeat(c, 9) AS k, c FROM t WHERE ${condition}) x WHERE k NOT IN (SELECT repeat(c, 9) FROM t WHERE c < '8')`,
        /^Hash .*Join$/,
      );
    for (const join of [...["", "LEFT", "FULL"].map((kind) => (c: string) => joined(kind, c)), excluded]) {
      const [all, parts] = await join("true");
      ok(parts > 64 && parts < 128, `${parts} parts: those that fit are kept of one side only`);
      const [some] = await join("c >= '8' OR a < 100");
      ok(some > 0 && some < all * 0.65, `${some} of ${all} kB: rows without a partner are not written`);
    }
    const groups = (key: string) =>
      written(`SELECT md5((${key})::text), count(*), max(d) FROM t GROUP BY 1`, /Aggregate/);
    const [unique] = await groups("a");
    const [common] = await groups("CASE WHEN a % 2 = 0 THEN a % 400 ELSE a END");
    ok(
      common > 0 && common < unique * 0.6,
      `${common} of ${unique} kB: rows of groups with room are not written`,
    );
  }));

Deno.test("a statement that fails, is read in parts, or is left, leaves no file behind", () =>
  withSession(async (session, host) => {
    await rows(session, "SET statement_memory = '1MB'");
    const { disk } = host;
    await rejects(rows(session, "SELECT 1 / (a - 5) FROM (SELECT * FROM t ORDER BY c, d OFFSET 0) x"), {
      code: "22012",
    });
    deepStrictEqual(spillFiles(host), []);
    await rows(session, "BEGIN; DECLARE k CURSOR FOR SELECT a, c FROM t ORDER BY c NULLS FIRST, a");
    const first = await rows(session, "FETCH 3 FROM k");
    deepStrictEqual(first, await rows(session, "SELECT a, c FROM t WHERE c IS NULL ORDER BY a LIMIT 3"));
    strictEqual(spillFiles(host).length, 1);
    await rows(session, "ROLLBACK");
    deepStrictEqual(spillFiles(host), []);
    const { freeBytes, openFile } = disk;
    disk.openFile = (path, options) => {
      const file = openFile.call(disk, path, options);
      if (path.includes("spill-")) {
        file.writeAt = () => {
          throw new Error("no space");
        };
      }
      return file;
    };
    await rejects(rows(session, "SELECT * FROM t ORDER BY c"), /no space/);
    disk.openFile = openFile;
    ok(freeBytes === disk.freeBytes);
    deepStrictEqual(spillFiles(host), []);
    strictEqual((await rows(session, "SELECT * FROM t ORDER BY c")).length, ROWS);
  }));

/** One of each kind that writes files. */
const FORMS: readonly string[] = [
  "SELECT * FROM t ORDER BY c",
  "SELECT c, count(*) FROM t GROUP BY c",
  "SELECT DISTINCT c, e FROM t",
  "SELECT b, count(DISTINCT c) FROM t GROUP BY b",
  "SELECT c, b FROM t INTERSECT SELECT c, b FROM t WHERE a % 3 = 0",
  "SELECT x.a, y.c, y.d, y.h FROM t x JOIN t y ON x.c = y.c",
  "SELECT a, rank() OVER (PARTITION BY b ORDER BY c) FROM t",
  "WITH m AS MATERIALIZED (SELECT a, c, e, h FROM t) SELECT count(*), sum(a), max(c) FROM m",
  "WITH RECURSIVE r(n, w) AS (SELECT 1, repeat('a', 99) UNION SELECT n + 1, md5(w) || md5(w) FROM r WHERE n < 9000) SELECT max(w) FROM r",
  "SELECT x.a, count(y.a), max(y.v) FROM (SELECT a, c FROM t WHERE a % 1500 = 0) x LEFT JOIN (SELECT a, repeat(c, 4) AS v FROM t) y ON x.a < y.a AND y.v > x.c GROUP BY x.a",
  "SELECT count(*) FROM t WHERE a < 5 OR c IN (SELECT upper(c) FROM t)",
  "SELECT a, (SELECT count(*) FROM (SELECT DISTINCT c FROM t y WHERE y.a > x.a) q) FROM t x WHERE a < 3",
  "UPDATE t SET a = a + 1",
  "UPDATE t SET b = y.a FROM t y WHERE y.c = t.c",
];

/** While the action runs, `act` is called in front of each third write to a temporary file. */
async function atThirdWrite({ disk }: Host, act: () => void, action: () => Promise<unknown>): Promise<void> {
  const { openFile } = disk;
  let writes = 0;
  disk.openFile = (path, options) => {
    const file = openFile.call(disk, path, options);
    if (!path.includes("spill-")) return file;
    const { writeAt } = file;
    file.writeAt = (position, bytes) => {
      if (++writes === 3) act();
      writeAt.call(file, position, bytes);
    };
    return file;
  };
  try {
    await action();
  } finally {
    disk.openFile = openFile;
  }
  ok(writes >= 3, `${writes} writes`);
}

Deno.test("a full disk, and a cancel, in the middle of what each form writes ends it at once and leaves nothing", (test) =>
  withSession(async (session, host) => {
    await rows(session, "SET statement_memory = '1MB'");
    const counted = "SELECT count(*), sum(a), sum(b) FROM t";
    const before = await rows(session, counted);
    for (const sql of FORMS) {
      await test.step(sql, async () => {
        const full = () => {
          throw new DatabaseError(SQLSTATE.diskFull, "no space left");
        };
        await atThirdWrite(host, full, () => rejects(rows(session, sql), { code: "53100" }));
        deepStrictEqual(spillFiles(host), []);
        await atThirdWrite(
          host,
          () => session.cancel(),
          () => rejects(rows(session, sql), { code: "57014" }),
        );
        deepStrictEqual(spillFiles(host), []);
      });
    }
    deepStrictEqual(await rows(session, counted), before);
  }));

Deno.test("what aggregates collect is counted: many values of groups are computed in parts, and one may be larger", () =>
  withSession(async (session) => {
    await rows(session, "SET statement_memory = '1MB'");
    for (
      const collected of ["array_agg(c || c || c)", "string_agg(c || c || c, ',')", "jsonb_agg(c || c || c)"]
    ) {
      const sql = `SELECT sum(length(x::text)) > 1000000 FROM (SELECT ${collected} AS x FROM t`;
      for (const groups of [" GROUP BY b", ""]) {
        deepStrictEqual(await rows(session, `${sql}${groups}) q`), ["[true]"]);
      }
    }
  }));

Deno.test("statements that write may need files behind the first rows that they have written", () =>
  withSession(async (session, host) => {
    await rows(session, "CREATE TABLE u (c TEXT, n BIGINT)");
    await rows(session, "SET statement_memory = '1MB'");
    const made = await filesMade(host, async () => {
      await rows(
        session,
        "INSERT INTO u SELECT c, a FROM t UNION ALL SELECT c, count(*) FROM t GROUP BY c",
      );
      await rows(
        session,
        "UPDATE t SET b = s.n FROM (SELECT c, count(*) AS n FROM t GROUP BY c) s WHERE s.c = t.c",
      );
      await rows(
        session,
        "DELETE FROM u USING t x JOIN t y ON x.d = y.d AND x.a = y.a WHERE x.c = u.c AND u.n > 1",
      );
    });
    ok(made > 1, `${made} files`);
    deepStrictEqual(spillFiles(host), []);
    await rows(session, "SET statement_memory = '1GB'");
    const [counts] = await rows(
      session,
      "SELECT (SELECT count(*)::int FROM u), (SELECT count(*)::int FROM t WHERE c IS NOT NULL AND b <> 1)",
    );
    const groups = ROWS - Math.floor(ROWS / 11) + 1;
    // The groups, the row whose number is 1, and the NULLs, which nothing joins.
    deepStrictEqual(JSON.parse(counts ?? "[]"), [groups + 1 + Math.floor(ROWS / 11), 0]);
  }));

/** Each changes rows that it has read all of before, more of them than its memory holds. */
const CHANGES = [
  "UPDATE t SET c = s.c || 'x', b = s.a FROM (SELECT a, c FROM t WHERE a % 3 > 0) s WHERE s.c = t.c RETURNING t.a, t.b, t.c",
  "UPDATE t SET b = s.n FROM (SELECT x.c, 2 AS n FROM t x, generate_series(1, 2)) s WHERE s.c = t.c RETURNING t.a, t.b, t.d",
  "UPDATE t SET c = t.c || y.c FROM t y WHERE y.c = t.c AND y.a = t.a RETURNING t.a, t.c, y.h",
  "DELETE FROM t USING t x JOIN t y ON x.a = y.a WHERE x.c = t.c RETURNING t.a, x.c, y.i",
  "DELETE FROM t USING t x, generate_series(1, 3) WHERE x.c = t.c AND x.a <> 5 RETURNING t.a",
  "MERGE INTO t USING (SELECT a + 6000 AS k, c FROM t) s ON t.a = s.k WHEN MATCHED AND t.a % 3 = 0 THEN DELETE " +
  "WHEN MATCHED THEN UPDATE SET c = s.c || 'm' WHEN NOT MATCHED THEN INSERT (a, c) VALUES (s.k, s.c)",
  "INSERT INTO t SELECT a + 100000, b, c, d, e, f, g, h, i FROM t WHERE c IS NOT NULL RETURNING a, c, e, h",
  "UPDATE t SET a = a + 1 RETURNING a, b, c, d, e, f, g, h, i",
  "CREATE TABLE k (p INT REFERENCES t ON UPDATE CASCADE ON DELETE SET NULL, n INT); CREATE INDEX ON k (p); " +
  "INSERT INTO k SELECT a, a FROM t; UPDATE t SET a = a + 1; DELETE FROM t WHERE a % 3 < 2; SELECT p, n FROM k",
  "CREATE TABLE k (p INT REFERENCES t ON DELETE CASCADE, n INT); INSERT INTO k SELECT a, a FROM t WHERE a <> 77; " +
  "CREATE TABLE z (p INT REFERENCES t, n INT); INSERT INTO z VALUES (77, 1); DELETE FROM t WHERE a <> 77; SELECT p, n FROM k",
];

Deno.test("with little memory statements change the same rows as with enough", (test) =>
  withSession(async (session, host) => {
    for (const sql of CHANGES) {
      await test.step(sql, async () => {
        const answers: unknown[] = [];
        for (const size of ["1GB", "1MB"]) {
          await rows(session, `SET statement_memory = '${size}'; BEGIN`);
          const made = await filesMade(host, async () => {
            answers.push((await rows(session, sql)).toSorted());
          });
          strictEqual(made > 0, size === "1MB", `${made} files`);
          await rows(session, "SET statement_memory = '1GB'");
          answers.push(
            await rows(
              session,
              "SELECT count(*), sum(a), md5(string_agg(a || '-' || b || '-' || c, ',' ORDER BY a)) FROM t",
            ),
          );
          await rows(session, "ROLLBACK");
        }
        deepStrictEqual(answers.slice(2), answers.slice(0, 2));
        deepStrictEqual(spillFiles(host), []);
      });
    }
  }));

Deno.test("what comes behind rows that have been given out goes to files from its beginning, for it cannot begin anew", () =>
  withSession(async (session, host) => {
    await rows(session, "ANALYZE t; SET statement_memory = '1MB'");
    await rows(
      session,
      "BEGIN; DECLARE k CURSOR FOR SELECT c, a FROM t UNION ALL SELECT c, count(*) FROM t GROUP BY c",
    );
    strictEqual((await rows(session, "FETCH 3 FROM k")).length, 3);
    const groups = ROWS - Math.floor(ROWS / 11) + 1;
    const made = await filesMade(host, async () => {
      strictEqual((await rows(session, "FETCH ALL FROM k")).length, ROWS - 3 + groups);
    });
    ok(made > 0, `${made} files`);
    await rows(session, "COMMIT");
    deepStrictEqual(spillFiles(host), []);
  }));

Deno.test("files that a crash has left are removed at the next start", async () => {
  const host = memoryHost();
  await (await Engine.open({ host, directory: DIRECTORY })).close();
  host.disk.openFile(`${DIRECTORY}/spill-1.tmp`, { create: true, write: true }).close();
  const engine = await Engine.open({ host, directory: DIRECTORY });
  deepStrictEqual(spillFiles(host), []);
  await engine.close();
});
