/** EXPLAIN's options and forms, and the parameters of statements that hold a query, through the library. */
import { deepStrictEqual as same, match, ok, rejects } from "node:assert/strict";
import { type Database, open } from "../../mod.ts";
import { engineOf } from "./database.ts";

async function linesOf(database: Database, sql: string): Promise<string[]> {
  const rows = await database.query(sql);
  return rows.map((row) => String(Object.values(row)[0]));
}

async function filled(): Promise<Database> {
  const database = await open(":memory:");
  await database.query("CREATE TABLE t (id int PRIMARY KEY, a int)");
  await database.query("CREATE INDEX by_a ON t (a)");
  await database.query("INSERT INTO t SELECT g, g FROM generate_series(1, 2000) g");
  return database;
}

Deno.test("EXPLAIN leaves out estimates, times and the summary when told to", async () => {
  await using database = await filled();
  same(await linesOf(database, "EXPLAIN (COSTS off) SELECT * FROM t WHERE a = 3"), [
    "Index Only Scan using by_a on t",
    "  Index Cond: (a = 3)",
  ]);
  const options = "ANALYZE, COSTS off, TIMING off, SUMMARY off";
  same(await linesOf(database, `EXPLAIN (${options}) SELECT * FROM t WHERE a = 3`), [
    "Index Only Scan using by_a on t (actual rows=1 loops=1)",
    "  Index Cond: (a = 3)",
  ]);
  const [head = "", , last = ""] = await linesOf(database, "EXPLAIN ANALYZE SELECT * FROM t WHERE a = 3");
  match(head, /^Index Only Scan using by_a on t {2}\(rows=1\) \(actual time=[\d.]+ rows=1 loops=1\)$/);
  match(last, /^Execution Time: [\d.]+ ms$/);
  await rejects(database.query("EXPLAIN (TIMING) SELECT 1"), /TIMING requires ANALYZE/);
});

Deno.test("EXPLAIN (FORMAT json) is one JSON value with PostgreSQL's members", async () => {
  await using database = await filled();
  const [row] = await database.query(
    "EXPLAIN (FORMAT json, ANALYZE, TIMING off, SUMMARY off, COSTS off) " +
      "SELECT a, count(*) FROM t WHERE a > 1998 GROUP BY a ORDER BY a",
  );
  same(row?.["QUERY PLAN"], [{
    Plan: {
      "Node Type": "Sort",
      "Actual Rows": 2,
      "Actual Loops": 1,
      "Memory Usage": 1,
      "Sort Key": ["a"],
      Plans: [{
        "Node Type": "HashAggregate",
        "Actual Rows": 2,
        "Actual Loops": 1,
        "Group Key": ["a"],
        Plans: [{
          "Node Type": "Index Only Scan",
          "Scan Direction": "Forward",
          "Index Name": "by_a",
          "Relation Name": "t",
          "Alias": "t",
          "Actual Rows": 2,
          "Actual Loops": 1,
          "Index Cond": "(a > 1998)",
        }],
      }],
    },
  }]);
});

Deno.test("EXPLAIN takes EXECUTE, CREATE TABLE AS and DECLARE", async () => {
  await using database = await filled();
  await database.query("PREPARE p (int) AS SELECT * FROM t WHERE a = $1");
  same(await linesOf(database, "EXPLAIN (COSTS off) EXECUTE p (5)"), [
    "Index Only Scan using by_a on t",
    "  Index Cond: (a = $1)",
  ]);
  const analyzed = await linesOf(database, "EXPLAIN (ANALYZE, COSTS off) EXECUTE p (5)");
  match(analyzed[0] ?? "", /rows=1 loops=1/);
  await rejects(database.query("EXPLAIN EXECUTE p"), /wrong number of parameters/);
  same(await linesOf(database, "EXPLAIN (COSTS off) CREATE TABLE c AS SELECT * FROM t WHERE id = 1"), [
    "Row Lookup on t",
    "  Row Cond: (id = 1)",
  ]);
  await rejects(database.query("SELECT * FROM c"), /"c" does not exist/);
});

Deno.test("EXPLAIN (CODE) shows the code that runs, for rows in memory and in segments, with its subplans", async () => {
  await using database = await filled();
  const engine = engineOf(database);
  const codeOf = async (options: string, sql: string) => {
    const lines = await linesOf(database, `EXPLAIN (${options}) ${sql}`);
    return lines.slice(lines.indexOf("") + 1).join("\n");
  };
  const sum = "SELECT sum(id + a) FROM t";
  const inMemory = await codeOf("CODE", sum);
  match(inMemory, /^\/\/ vectors: f64\[0\.\.4095\] f64\[0\.\.4095\]\nfunction scan_t/);
  same(inMemory.includes("addI32"), false, "bounds of what was written make tests needless");
  const ran = await codeOf("CODE, ANALYZE, TIMING off, SUMMARY off", sum);
  same(ran.replaceAll(/ *S\.countRow\(\d\);\n/g, ""), inMemory, "what runs is what was shown");
  await engine.checkpoint();
  const inSegments = await codeOf("CODE", sum);
  match(inSegments, /^\/\/ vectors: i16\S*\[0\.\.2047\]/);
  same(inSegments.includes("addI32"), false, "bounds of a segment make tests needless");
  await database.query("INSERT INTO t VALUES (3000, 2147483647)");
  match(await codeOf("CODE", sum), /addI32/, "a large value in memory brings the tests back");
  const nested = await codeOf("CODE", "SELECT (SELECT sum(b.a) FROM t b) FROM t WHERE id = 1");
  match(nested, /function scan_t\(/, "a subquery's code is shown as well");
  match(await codeOf("CODE", "CREATE TABLE c AS SELECT a FROM t"), /function scan_t\(/);
  await database.query("CREATE TABLE nothing (a int)");
  match(await codeOf("CODE", "SELECT a FROM nothing"), /no code for table "nothing"/);
});

Deno.test("CREATE TABLE AS takes parameters", async () => {
  await using database = await filled();
  await database.query("CREATE TABLE c AS SELECT id, $1::int AS p FROM t WHERE id < $1", [3]);
  same(await database.query("SELECT * FROM c ORDER BY id"), [{ id: 1, p: 3 }, { id: 2, p: 3 }]);
  await rejects(database.query("CREATE TABLE d AS SELECT $1::int"), { code: "08P01" });
});

Deno.test("Blocks without one of a few kept keys are not read, below aggregations as well", async () => {
  await using database = await open(":memory:");
  await database.execute("CREATE TABLE big (k int, a int)");
  await database.execute("INSERT INTO big SELECT g, g % 7 FROM generate_series(1, 20000) g");
  await database.execute("CHECKPOINT");
  await database.execute("CREATE TABLE few (x int)");
  await database.execute("INSERT INTO few VALUES (10), (NULL), (19999)");
  const check = async (sql: string, expected: readonly Record<string, unknown>[], most: number) => {
    same(await database.query(sql), expected);
    const lines = await linesOf(database, `EXPLAIN (ANALYZE, COSTS off, TIMING off) ${sql}`);
    const [, rows] = /Seq Scan on big \(actual rows=(\d+)/.exec(lines.join("\n")) ?? [];
    ok(Number(rows) <= most, `${rows} rows of ${sql}`);
  };
  await check("SELECT a FROM big JOIN few ON k = x ORDER BY a", [{ a: 0 }, { a: 3 }], 8192);
  const sums = "SELECT x, n FROM few JOIN (SELECT k, sum(a) AS n FROM big GROUP BY k) s ON k = x ORDER BY x";
  await check(sums, [{ x: 10, n: 3 }, { x: 19999, n: 0 }], 200);
});
