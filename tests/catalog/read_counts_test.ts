/** The counters of pg_stat_user_tables and pg_stat_user_indexes against statements whose reads are known. */
import { deepStrictEqual, match } from "node:assert/strict";
import { type Database, open } from "../../mod.ts";

async function linesOf(database: Database, query: string): Promise<string[]> {
  return (await database.query(query)).map((row) => Object.values(row).join(" "));
}

const tables = (database: Database) =>
  linesOf(
    database,
    `SELECT relname, seq_scan, seq_tup_read, coalesce(idx_scan::text, '-') AS scans,
      coalesce(idx_tup_fetch::text, '-') AS fetched FROM pg_stat_user_tables ORDER BY 1`,
  );
const indexes = (database: Database) =>
  linesOf(
    database,
    "SELECT indexrelname, idx_scan, idx_tup_read, idx_tup_fetch FROM pg_stat_user_indexes ORDER BY 1",
  );

Deno.test("pg_stat_user_tables and pg_stat_user_indexes count scans and the rows they met", async () => {
  const folder = await Deno.makeTempDir({ prefix: "read-counts-" });
  try {
    {
      await using database = await open(folder);
      await database.execute(`
        CREATE TABLE ball (id INT PRIMARY KEY, color TEXT NOT NULL, size INT);
        CREATE TABLE heap (a INT);
        INSERT INTO ball SELECT n, 'c' || n % 10, n FROM generate_series(1, 100) AS n;
        INSERT INTO heap SELECT n FROM generate_series(1, 5) AS n;
        CREATE INDEX ball_size ON ball (size)`);
      deepStrictEqual(await tables(database), ["ball 0 0 0 0", "heap 0 0 - -"]);
      // A condition is not what is counted, but what it was asked about.
      await database.query("SELECT id FROM ball WHERE color = 'c1'");
      await database.query("SELECT a FROM heap WHERE a = 77");
      deepStrictEqual(await tables(database), ["ball 1 100 0 0", "heap 1 5 - -"]);
      const byKey = database.prepare("SELECT color FROM ball WHERE id = $1");
      for (const id of [1, 2, 999]) await byKey.query([id]);
      await database.query("SELECT color FROM ball WHERE id IN (3, 4)");
      await database.query("SELECT color FROM ball WHERE id BETWEEN 10 AND 12");
      await database.query("SELECT color FROM ball WHERE size = 50");
      deepStrictEqual(await indexes(database), ["ball_pkey 5 7 7", "ball_size 1 1 1"]);
      // Inside of a loop each row of the outer side looks once.
      await database.query(
        "SELECT a, (SELECT color FROM ball WHERE id = a) FROM heap",
      );
      deepStrictEqual(await indexes(database), ["ball_pkey 10 12 12", "ball_size 1 1 1"]);
      await database.execute("UPDATE ball SET color = 'x' WHERE id = 7; DELETE FROM ball WHERE size = 8");
      deepStrictEqual(await indexes(database), ["ball_pkey 11 13 13", "ball_size 2 2 2"]);
      deepStrictEqual(await tables(database), ["ball 1 100 13 15", "heap 2 10 - -"]);
      deepStrictEqual(
        await linesOf(database, "SELECT tup_returned, tup_fetched FROM pg_stat_database"),
        ["125 15"],
      );

      // What is only explained is not read.
      await database.query("EXPLAIN SELECT * FROM ball WHERE color = 'c1'");
      await database.query("EXPLAIN (CODE) SELECT * FROM ball WHERE color = 'c1'");
      deepStrictEqual((await tables(database))[0], "ball 1 100 13 15");
      // What another statement has rolled back was read all the same.
      await database.transaction(async (inner) => {
        await inner.query("SELECT * FROM heap");
        throw new Error("enough");
      }).catch((error) => match(String(error), /enough/));
      deepStrictEqual((await tables(database))[1], "heap 3 15 - -");
      await database.execute("DROP TABLE heap; CREATE TABLE heap (a INT)");
      deepStrictEqual((await tables(database))[1], "heap 0 0 - -");
    }
    await using database = await open(folder);
    deepStrictEqual(await tables(database), ["ball 0 0 0 0", "heap 0 0 - -"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("checks of foreign keys count as scans of the index, or the table, by which they look", async () => {
  await using database = await open(":memory:");
  await database.execute(`
    CREATE TABLE parent (id INT PRIMARY KEY, code INT UNIQUE);
    CREATE TABLE child (id INT PRIMARY KEY, parent INT REFERENCES parent, code INT REFERENCES parent (code));
    CREATE INDEX child_parent ON child (parent);
    INSERT INTO parent SELECT n, n * 10 FROM generate_series(1, 5) n`);
  const before = await indexes(database);
  deepStrictEqual(before, [
    "child_parent 0 0 0",
    "child_pkey 0 0 0",
    "parent_code_key 0 0 0",
    "parent_pkey 0 0 0",
  ]);
  await database.execute("INSERT INTO child VALUES (1, 1, 10), (2, 2, 20), (3, NULL, NULL)");
  await database.execute("INSERT INTO child VALUES (4, 77, 10)").catch(() => {});
  // The parent that is missing is looked for again when the statement ends.
  deepStrictEqual(await indexes(database), [
    "child_parent 0 0 0",
    "child_pkey 0 0 0",
    "parent_code_key 3 3 3",
    "parent_pkey 4 2 2",
  ]);
  await database.execute("DELETE FROM parent WHERE id = 5");
  const counts = await indexes(database);
  // Children are looked for by the index, and by a scan where there is none.
  match(counts[0] ?? "", /^child_parent 1 0 0$/);
  match((await tables(database))[0] ?? "", /^child 1 3 /);
});

Deno.test("pg_statio_user_tables and pg_statio_user_indexes count blocks read from files, and from the cache", async () => {
  const folder = await Deno.makeTempDir({ prefix: "block-counts-" });
  const blocks = (database: Database) =>
    linesOf(
      database,
      `SELECT heap_blks_read, heap_blks_hit, idx_blks_read, idx_blks_hit FROM pg_statio_user_tables
        WHERE relname = 't'`,
    );
  try {
    {
      await using database = await open(folder);
      await database.execute(`
        CREATE TABLE t (id INT PRIMARY KEY, a INT, b TEXT);
        CREATE INDEX t_a ON t (a);
        INSERT INTO t SELECT n, n * 7 % 20011, 'text ' || n * 7919 % 20011 FROM generate_series(1, 20000) n`);
      deepStrictEqual(await blocks(database), ["0 0 0 0"], "rows in memory have no blocks");
      await database.execute("CHECKPOINT");
    }
    await using database = await open(folder);
    deepStrictEqual(await blocks(database), ["0 0 0 0"]);
    await database.query("SELECT sum(a) FROM t WHERE a > 5");
    // 20 000 rows are five blocks.
    deepStrictEqual(await blocks(database), ["5 0 0 0"]);
    await database.query("SELECT sum(a) FROM t WHERE a > 5");
    deepStrictEqual(await blocks(database), ["5 5 0 0"]);
    const byIndex = database.prepare("SELECT id FROM t WHERE a = $1");
    await byIndex.query([700]);
    const [first] = await linesOf(
      database,
      "SELECT idx_blks_read, idx_blks_hit > 0 FROM pg_statio_user_indexes WHERE indexrelname = 't_a'",
    );
    deepStrictEqual(first, "1 true");
    await byIndex.query([700]);
    const [total] = await linesOf(
      database,
      `SELECT idx_blks_read, idx_blks_hit > 3 AS hit, blks_read >= 6 AS read,
          blks_hit >= heap_blks_hit + idx_blks_hit AS sum
        FROM pg_statio_user_tables, pg_stat_database WHERE relname = 't'`,
    );
    deepStrictEqual(total, "1 true true true");
    await database.execute("DROP TABLE t");
    const [after] = await linesOf(database, "SELECT blks_hit >= 8 FROM pg_stat_database");
    deepStrictEqual(after, "true", "what was counted stays in the database's sum");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("pg_stat_xact_user_tables counts the rows that the transaction has written", async () => {
  await using database = await open(":memory:");
  await database.execute(
    "CREATE TABLE t (id INT PRIMARY KEY, a INT); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
  );
  const written = "SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_user_tables";
  await database.transaction(async (inner) => {
    await inner.execute(
      "INSERT INTO t VALUES (4, 4), (5, 5); UPDATE t SET a = 0 WHERE id = 1; DELETE FROM t WHERE id = 2",
    );
    deepStrictEqual((await inner.query(written)).map((row) => Object.values(row)), [[2, 1, 1]]);
  });
  deepStrictEqual(await linesOf(database, written), ["0 0 0"]);
});

Deno.test("scans leave out what joins above them can tell: blocks, all rows, and rows of joins further up", async () => {
  const folder = await Deno.makeTempDir({ prefix: "runtime-filters-" });
  try {
    {
      await using database = await open(folder);
      await database.execute(`
      CREATE TABLE sale (n INT NOT NULL, shop INT, item BIGINT NOT NULL);
      INSERT INTO sale SELECT n, nullif(n % 50, 49), n % 70 FROM generate_series(1, 9000) AS n;
      CREATE TABLE few (n BIGINT);
      INSERT INTO few VALUES (100), (120), (NULL), (9007199254740993);
      CREATE TABLE shop (id INT, town INT); INSERT INTO shop SELECT n, n FROM generate_series(0, 48) AS n;
      CREATE TABLE item (id INT, kind INT); INSERT INTO item SELECT n, n FROM generate_series(0, 69) AS n`);
      await database.execute("CHECKPOINT");
    }
    await using database = await open(folder);
    const read = async (query: string) => {
      const counted = async () =>
        Number(
          (await linesOf(database, "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'sale'"))[0],
        );
      const before = await counted();
      const answer = await linesOf(database, query);
      return [answer.join(), (await counted()) - before] as const;
    };
    deepStrictEqual(
      await read("SELECT n FROM sale WHERE n IN (SELECT n FROM few WHERE n < 1000) ORDER BY 1"),
      [
        "100,120",
        4096,
      ],
    );
    // Keys that no number holds have no order.
    deepStrictEqual(await read("SELECT s.n FROM sale s JOIN few USING (n) ORDER BY 1"), ["100,120", 9000]);
    deepStrictEqual(
      await read("SELECT count(*) FROM sale s JOIN few f ON f.n = s.n AND f.n BETWEEN 200 AND 300"),
      [
        "0",
        0,
      ],
    );
    deepStrictEqual(await read("SELECT count(*) FROM few f LEFT JOIN sale s ON f.n = s.n AND f.n > 5"), [
      "4",
      9000,
    ]);

    const joined =
      `FROM sale JOIN shop ON shop = shop.id JOIN item ON item = item.id WHERE town = 7 AND kind IN (7, 9)`;
    const plan = await linesOf(
      database,
      `EXPLAIN (ANALYZE, TIMING off, SUMMARY off) SELECT count(*) ${joined}`,
    );
    match(plan.join("\n"), /Seq Scan on sale  ?\(rows=\d+\) \(actual rows=258 /);
    deepStrictEqual(await linesOf(database, `SELECT count(*), min(n), max(sale.n) ${joined}`), [
      "26 7 8757",
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
