/** ANALYZE, by itself and by a statement: what plans make of it, and that they stay right. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { memoryHost } from "../host/memory_host.ts";
import { type AnalyzedEngine, Analyzer } from "./analyzer.ts";
import { Database, engineOf } from "./database.ts";

/** A table in which one state is frequent and others are rare, with an index on it. */
async function skewedTable(database: Database): Promise<void> {
  await database.execute("CREATE TABLE task (id INT PRIMARY KEY, state TEXT NOT NULL, size INT)");
  await database.execute(
    "INSERT INTO task SELECT n, CASE WHEN n % 100 = 0 THEN 'open' WHEN n % 1000 = 1 THEN 'lost' ELSE 'done' END, " +
      "CASE WHEN n % 4 = 0 THEN NULL ELSE n * n % 1000 END FROM generate_series(1, 20000) AS n",
  );
  await database.execute("CREATE INDEX ON task (state)");
}

async function plan(database: Database, text: string): Promise<string> {
  return (await database.query(`EXPLAIN ${text}`)).map((row) => row["QUERY PLAN"]).join("\n");
}

async function count(database: Database, text: string): Promise<number> {
  return Number((await database.query(text))[0]?.["count"]);
}

Deno.test("ANALYZE finds common values, histograms and shares of NULL, which pg_stats shows", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await skewedTable(database);
  await database.execute("ANALYZE task");
  const rows = await database.query(
    "SELECT attname, null_frac, n_distinct, most_common_vals, most_common_freqs, correlation, histogram_bounds " +
      "FROM pg_stats WHERE tablename = 'task' ORDER BY attname",
  );
  const [id, size, state] = rows;
  strictEqual(id?.["most_common_vals"], null);
  strictEqual((id?.["histogram_bounds"] as unknown[]).length, 101);
  ok(Number(id?.["correlation"]) > 0.99);
  strictEqual(Number(size?.["null_frac"]), 0.25);
  deepStrictEqual(state?.["most_common_vals"], ["done", "open", "lost"]);
  deepStrictEqual((state?.["most_common_freqs"] as number[]).map((share) => Math.round(share * 1000)), [
    989,
    10,
    1,
  ]);
});

Deno.test("ANALYZE of some columns leaves what is known of others, and names that are none are refused", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await skewedTable(database);
  await rejects(
    database.execute("ANALYZE task (nothing)"),
    /column "nothing" of relation "task" does not exist/,
  );
  const known = async () =>
    (await database.query(
      "SELECT attname FROM pg_stats WHERE tablename = 'task' AND correlation IS NOT NULL ORDER BY attname",
    )).map((row) => row["attname"]);
  await database.execute("ANALYZE task (state)");
  deepStrictEqual(await known(), ["state"]);
  await database.execute("ANALYZE task (size)");
  deepStrictEqual(await known(), ["size", "state"]);
  await database.execute("VACUUM ANALYZE");
  deepStrictEqual(await known(), ["id", "size", "state"]);
});

Deno.test("A text's plan is for the values in it: rare ones are looked up, common ones scanned", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await skewedTable(database);
  await database.execute("ANALYZE");
  match(await plan(database, "SELECT * FROM task WHERE state = 'lost'"), /Index Scan.*\(rows=20\)/);
  match(await plan(database, "SELECT * FROM task WHERE state = 'done'"), /Seq Scan.*\(rows=19780\)/);
  // One text without its literals, in turn: each value has its answer, whichever plan came first.
  const engine = engineOf(database);
  for (
    const [state, rows] of [["lost", 20], ["done", 19780], ["open", 200], ["lost", 20], ["none", 0]] as const
  ) {
    strictEqual(await count(database, `SELECT count(*) FROM task WHERE state = '${state}'`), rows);
  }
  const { cache } = engine.plans;
  const before = cache.misses;
  for (let time = 0; time < 10; time++) {
    for (const [state, rows] of [["done", 19780], ["lost", 20]] as const) {
      strictEqual(await count(database, `SELECT count(*) FROM task WHERE state = '${state}'`), rows);
    }
  }
  strictEqual(cache.misses, before);
});

Deno.test("What all branches of an OR ask by equal literals is found, and is not taken for other texts", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await database.execute(
    `CREATE TABLE sale (id INT PRIMARY KEY, item INT, kind INT, n INT); CREATE TABLE item (id INT, color TEXT);
    INSERT INTO sale SELECT n, n % 10, n % 500, n FROM generate_series(1, 5000) AS n;
    INSERT INTO item SELECT n, 'c' || n FROM generate_series(0, 9) AS n; CREATE INDEX ON sale (kind); ANALYZE`,
  );
  await database.execute("CREATE TABLE found (rows INT)");
  const sales = async (kind: number, other: number): Promise<readonly [rows: number, scans: number]> => {
    const scanned = async () =>
      await count(database, "SELECT idx_scan AS count FROM pg_stat_user_tables WHERE relname = 'sale'");
    const before = await scanned();
    // Only what is executed goes by texts without their literals.
    await database.execute(
      `INSERT INTO found SELECT count(*) FROM sale, item
        WHERE item = item.id AND kind = ${kind} AND color = 'c3' AND n < 100
          OR item = item.id AND kind = ${other} AND color = 'c4' AND n > 4000`,
    );
    const scans = await scanned() - before;
    const rows = await count(database, "SELECT sum(rows) AS count FROM found");
    await database.execute("TRUNCATE found");
    return [rows, scans];
  };
  deepStrictEqual([await sales(3, 3), await sales(3, 3), await sales(4, 4)], [[1, 1], [1, 1], [2, 1]]);
  deepStrictEqual([(await sales(3, 4))[0], (await sales(4, 3))[0]], [3, 0]);
});

Deno.test("Ranges are estimated by the histogram, and by what is common in it", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await database.execute("CREATE TABLE skewed (v INT)");
  await database.execute(
    "INSERT INTO skewed SELECT n::bigint * n * n / 1000000 FROM generate_series(1, 10000) AS n",
  );
  await database.execute("ANALYZE skewed");
  for (
    const [condition, least, most] of [
      ["v < 125000", 4500, 5500],
      ["v BETWEEN 1000 AND 8000", 900, 1100],
      ["v = 0", 90, 110],
      ["v > 2000000", 1, 1],
      ["v IN (0, 1)", 110, 140],
    ] as const
  ) {
    const [, rows] = /rows=(\d+)/.exec(await plan(database, `SELECT * FROM skewed WHERE ${condition}`)) ?? [];
    ok(Number(rows) >= least && Number(rows) <= most, `${condition}: ${rows}`);
  }
});

Deno.test("Conditions on two tables leave each other values of the column that joins them", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await database.execute(
    "CREATE TABLE thing AS SELECT n AS id, n % 100 AS x FROM generate_series(1, 20000) AS n; " +
      "CREATE TABLE note AS SELECT n * 7919 % 20000 AS thing, n % 50 AS y FROM generate_series(1, 20000) AS n; ANALYZE",
  );
  const rows = async (condition: string) => {
    const text = `SELECT * FROM thing JOIN note ON thing.id = note.thing WHERE ${condition}`;
    return Number(/(?:Join|Nested Loop) +\(rows=(\d+)\)/.exec(await plan(database, text))?.[1]);
  };
  const [apart, together] = [await rows("x = 1 AND y = 1"), await rows("id < 200 AND thing < 200")];
  ok(apart <= 10, `${apart} of 4`);
  ok(together >= 100 && together <= 400, `${together} of 200`);
});

Deno.test("LIKE and regular expressions are estimated by what is common and by the histogram, and unique columns have no common values", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await database.execute("CREATE TABLE thing (id INT, name TEXT, kind TEXT)");
  await database.execute(
    "INSERT INTO thing SELECT n, CASE WHEN n % 5 = 0 THEN 'steel ' ELSE 'wood ' END || n, " +
      "CASE WHEN n % 10 = 0 THEN 'rare kind' ELSE 'usual' END FROM generate_series(1, 10000) AS n",
  );
  await database.execute("CREATE TABLE few AS SELECT n FROM generate_series(1, 60) AS n");
  await database.execute(
    "CREATE TABLE days AS SELECT d::date FROM (VALUES ('infinity'), ('-infinity'), ('2020-01-01')) AS v (d)",
  );
  const rows = async (condition: string) => {
    const [, found] = /rows=(\w+)/.exec(await plan(database, `SELECT * FROM thing WHERE ${condition}`)) ?? [];
    return Number(found);
  };
  match(await plan(database, "SELECT * FROM days WHERE d < '2021-01-01'"), /rows=\d/);
  await database.execute("ANALYZE");
  deepStrictEqual(
    await database.query("SELECT most_common_vals AS v FROM pg_stats WHERE tablename = 'few'"),
    [
      { v: null },
    ],
  );
  for (
    const [condition, least, most] of [
      ["name LIKE '%eel%'", 1700, 2300],
      ["name LIKE '%oo%'", 7000, 8600],
      ["kind LIKE 'rare%'", 950, 1050],
      ["kind NOT LIKE '%kind'", 8950, 9050],
      ["kind ILIKE 'RARE%'", 950, 1050],
      // A pattern that ends in an escape raises an error when a text comes so far.
      ["kind LIKE 'none\\'", 0, 10],
      ["kind LIKE 'usua\\'", 400, 600],
      ["name ~ '^st.el'", 1700, 2300],
      ["name !~* 'STEEL'", 7700, 8300],
      ["kind ~ '^r.*d$'", 950, 1050],
      ["kind ~ '('", 400, 600],
    ] as const
  ) {
    const found = await rows(condition);
    ok(found >= least && found <= most, `${condition}: ${found}`);
  }
});

Deno.test("Small tables are known whole, but for columns that came since and long values", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await database.execute("CREATE TABLE kind (id INT PRIMARY KEY, name TEXT, about TEXT)");
  await database.execute(
    "INSERT INTO kind SELECT n, CASE WHEN n < 4 THEN 'rare' ELSE 'k' || n % 7 END, repeat('long ', 40) || n % 2 " +
      "FROM generate_series(1, 200) AS n",
  );
  await database.execute("CREATE TABLE item (id INT PRIMARY KEY, kind INT)");
  await database.execute(
    "INSERT INTO item SELECT n, CASE WHEN n % 2 = 0 THEN 2 ELSE 1 + n % 200 END FROM generate_series(1, 10000) AS n",
  );
  await database.execute("ANALYZE");
  const rows = async (condition: string) => {
    const text = `SELECT item.id, kind.id FROM item JOIN kind ON kind.id = item.kind WHERE ${condition}`;
    const [, expected] = /(?:Join|Nested Loop) +\(rows=(\d+)\)/.exec(await plan(database, text)) ?? [];
    return Number(expected);
  };
  // Kind 2 has half of the items: which kinds a condition chooses decides how many rows are joined.
  const [rare, other] = [await rows("name = 'rare'"), await rows("name = 'k5' AND kind.id > 3")];
  ok(rare >= 4000 && rare <= 6000, `${rare} of 5100`);
  ok(other >= 500 && other <= 1000, `${other} of about 750`);
  await database.execute("ALTER TABLE kind ADD COLUMN more INT DEFAULT 1");
  ok(await rows("more = 1") > 10);
  ok(await rows("about LIKE 'long%' AND about <> 'x'") > 10);
});

Deno.test("A table is analyzed by itself after a start and when a tenth of it has changed", async () => {
  const host = memoryHost();
  const due: (() => void)[] = [];
  const { timers } = host;
  const setTimer = timers.setTimer.bind(timers);
  timers.setTimer = (delay, callback) => {
    if (delay < 1_000_000) return setTimer(delay, callback);
    due.push(callback);
    return -due.length;
  };
  const clearTimer = timers.clearTimer.bind(timers);
  timers.clearTimer = (timer) => timer < 0 ? due.splice(0) : clearTimer(timer);
  const database = await Database.open({ host, directory: "d" });
  await skewedTable(database);
  const { machine } = engineOf(database);
  const table = machine.catalog.tables.find(({ name }) => name === "task");
  const store = machine.store(table?.id ?? 0);
  const look = async () => {
    for (const callback of due.splice(0)) callback();
    const version = store.analysisVersion;
    for (let turn = 0; turn < 1000 && store.analysisVersion === version; turn++) {
      await host.timers.yieldToLoop();
    }
    return store.analysisVersion;
  };
  strictEqual(await look(), 1);
  await database.execute("UPDATE task SET size = 0 WHERE id <= 1900");
  strictEqual(await look(), 1);
  await database.execute("UPDATE task SET size = 0 WHERE id <= 300");
  strictEqual(await look(), 2);
  await database[Symbol.asyncDispose]();
  strictEqual(due.length, 0);
});

Deno.test("a disk that cannot be read leaves statistics as they are, and the server running", async () => {
  let look = (): void => {}, reads = 0;
  const table = { id: 1, columns: [], statistics: [] };
  const store = {
    analysis: null,
    *analyzeInSteps(): Generator<void> {
      reads++;
      yield;
      throw new DatabaseError(SQLSTATE.ioError, "could not read file");
    },
  };
  const engine = {
    host: {
      clock: { monotonic: () => 0 },
      timers: { setTimer: (_: number, callback: () => void) => (look = callback) },
    },
    machine: {
      catalog: { tables: [table], table: () => table },
      remoteRowCount: () => undefined,
      rowCount: () => 100,
      store: () => store,
      changesOf: () => ({ inserted: 0, updated: 0, deleted: 0 }),
    },
    isFailed: false,
  };
  const analyzer = new Analyzer(engine as unknown as AnalyzedEngine);
  analyzer.wake();
  look();
  await rejects(analyzer.analyze(1, 100, null), { code: "58030" });
  strictEqual(reads, 2);
  await analyzer.close();
});
