/** CREATE STATISTICS: what is found of columns that go together, what estimates make of it, and what it survives. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { MemoryDisk, memoryHost } from "../host/memory_host.ts";
import { Database } from "./database.ts";

/** The country of a place follows from its city, and the language nearly so. */
async function places(database: Database): Promise<void> {
  await database.execute("CREATE TABLE place (id INT PRIMARY KEY, city INT, country INT, language TEXT)");
  await database.execute(
    "INSERT INTO place SELECT n, n % 500, n % 500 % 25, CASE WHEN n % 40 = 0 THEN 'x' ELSE 'l' || n % 25 END " +
      "FROM generate_series(1, 20000) AS n",
  );
}

async function expected(database: Database, text: string): Promise<number> {
  const [first] = await database.query(`EXPLAIN ${text}`);
  const [, rows] = /rows=(\d+)/.exec(String(first?.["QUERY PLAN"])) ?? [];
  return Number(rows);
}

const PAIR = "SELECT * FROM place WHERE city = 130 AND country = 5";

Deno.test("CREATE STATISTICS makes estimates of columns that go together right", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await places(database);
  await database.execute("ANALYZE place");
  ok(await expected(database, PAIR) <= 3);
  strictEqual(await expected(database, "SELECT DISTINCT city, country FROM place"), 12500);
  for (const kind of ["dependencies", "mcv"]) {
    await database.execute(`CREATE STATISTICS pair (${kind}) ON country, city FROM place`);
    await database.execute("ANALYZE place");
    const rows = await expected(database, PAIR);
    ok(rows >= 20 && rows <= 60, `${kind}: ${rows} of 40`);
    await database.execute("DROP STATISTICS pair");
  }
  await database.execute("CREATE STATISTICS (ndistinct) ON country, city FROM place");
  await database.execute("ANALYZE place");
  strictEqual(await expected(database, "SELECT DISTINCT city, country FROM place"), 500);
  await database.execute("CREATE STATISTICS spoken (mcv) ON country, language FROM place");
  await database.execute("ANALYZE place");
  await database.execute("CREATE STATISTICS ON city, language FROM place");
  await database.execute("ANALYZE place");
  const [{ count: kinds } = {}] = await database.query("SELECT count(DISTINCT n_distinct) FROM pg_stats_ext");
  strictEqual(Number(kinds), 2, "each group has figures of its own");
  const spoken = await expected(
    database,
    "SELECT * FROM place WHERE country = 5 AND language IN ('l5', 'l6')",
  );
  ok(spoken >= 600 && spoken <= 900, `${spoken} of 780`);
});

Deno.test("pg_statistic_ext, its data and pg_stats_ext show groups of columns", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await places(database);
  await database.execute("CREATE STATISTICS IF NOT EXISTS pair ON country, city FROM place");
  await database.execute("CREATE STATISTICS IF NOT EXISTS pair ON country, language FROM place");
  deepStrictEqual(
    await database.query(
      "SELECT stxname, stxkeys::text AS keys, stxkind::text AS kinds FROM pg_statistic_ext",
    ),
    [
      { stxname: "pair", keys: "2 3", kinds: "{d,f,m}" },
    ],
  );
  deepStrictEqual(
    await database.query(
      "SELECT pg_get_statisticsobjdef(oid) AS whole, pg_get_statisticsobjdef_columns(oid) AS columns FROM pg_statistic_ext",
    ),
    [{ whole: "CREATE STATISTICS public.pair ON city, country FROM public.place", columns: "city, country" }],
  );
  strictEqual((await database.query("SELECT * FROM pg_statistic_ext_data")).length, 0);
  await database.execute("ANALYZE place");
  const [row] = await database.query(
    "SELECT attnames::text AS names, n_distinct, dependencies, cardinality(most_common_freqs) AS common FROM pg_stats_ext",
  );
  strictEqual(row?.["names"], "{city,country}");
  strictEqual(row?.["n_distinct"], '{"2, 3": 500}');
  strictEqual(String(row?.["dependencies"]).startsWith('{"2 => 3": 1.000000'), true);
  strictEqual(row?.["common"], 100);
  const items = "pg_statistic_ext_data, pg_mcv_list_items(stxdmcv)";
  const [item] = await database.query(
    `SELECT count(*), count(DISTINCT index), min(values::text), bool_or(true = ANY (nulls)) AS has_null, min(frequency) AS least, ` +
      `max(abs(base_frequency - 1 / 500.0 / 25)) AS off FROM ${items} WHERE values[1] = '7'`,
  );
  deepStrictEqual({ ...item, off: Number(item?.["off"]) < 1e-3 }, {
    ...item,
    min: "{7,7}",
    has_null: false,
    off: true,
  });
  await database.execute("ALTER STATISTICS pair SET STATISTICS 7");
  await database.execute("ANALYZE place");
  deepStrictEqual(
    await database.query(`SELECT count(*), max(stxstattarget) AS target FROM pg_statistic_ext, ${items}`),
    [
      { count: 7, target: 7 },
    ],
  );
  await database.execute("ALTER STATISTICS IF EXISTS missing SET STATISTICS 7");
  await rejects(database.execute("ALTER STATISTICS missing SET STATISTICS 7"), { code: "42704" });
  // Nothing is looked for, and what was found before stays, as in PostgreSQL.
  await database.execute("ALTER STATISTICS pair SET STATISTICS 0");
  await database.execute("ANALYZE place");
  strictEqual((await database.query(`SELECT 1 FROM ${items}`)).length, 7);
  await database.execute("ALTER STATISTICS pair SET STATISTICS -1");
  deepStrictEqual(await database.query("SELECT stxstattarget AS target FROM pg_statistic_ext"), [{
    target: -1,
  }]);
  await rejects(database.query("SELECT * FROM pg_mcv_list_items('[1]')"), { code: "22P02" });
});

Deno.test("statistics that do not fit are refused, and go with their columns and tables", async () => {
  await using database = await Database.open({ host: memoryHost(), directory: "d" });
  await places(database);
  const refused = async (text: string, code: string) => await rejects(database.execute(text), { code });
  await refused("CREATE STATISTICS s ON city FROM place", "42P17");
  await refused("CREATE STATISTICS s ON city, city FROM place", "42701");
  await refused("CREATE STATISTICS s ON city, nothing FROM place", "42703");
  await refused("CREATE STATISTICS s (histogram) ON city, country FROM place", "42601");
  await refused("CREATE STATISTICS s ON (city + 1), country FROM place", "0A000");
  await refused("DROP STATISTICS s", "42704");
  await database.execute("DROP STATISTICS IF EXISTS s");
  await database.execute("CREATE STATISTICS s ON city, country FROM place");
  await refused("CREATE STATISTICS s ON city, language FROM place", "42710");
  await database.execute("ALTER TABLE place DROP COLUMN country");
  await refused("DROP STATISTICS s", "42704");
});

Deno.test("ALTER STATISTICS renames, COMMENT ON STATISTICS is shown, and both survive a start", async () => {
  const disk = new MemoryDisk();
  {
    await using database = await Database.open({ host: { ...memoryHost(), disk }, directory: "d" });
    await places(database);
    await database.execute("CREATE STATISTICS s ON city, country FROM place");
    await database.execute("CREATE STATISTICS other ON city, language FROM place");
    await database.execute("COMMENT ON STATISTICS s IS 'go together'");
    await database.execute("ALTER STATISTICS s RENAME TO pair");
    await database.execute("ALTER STATISTICS pair OWNER TO current_user");
    await rejects(database.execute("ALTER STATISTICS s RENAME TO t"), { code: "42704" });
    await rejects(database.execute("ALTER STATISTICS pair RENAME TO other"), { code: "42710" });
    await rejects(database.execute("ALTER STATISTICS pair OWNER TO nobody"), { code: "42704" });
    await rejects(database.execute("COMMENT ON STATISTICS s IS 'x'"), { code: "42704" });
  }
  await using database = await Database.open({ host: { ...memoryHost(), disk }, directory: "d" });
  const shown =
    "SELECT stxname AS name, obj_description(oid, 'pg_statistic_ext') AS text FROM pg_statistic_ext ORDER BY 1";
  deepStrictEqual(await database.query(shown), [{ name: "other", text: null }, {
    name: "pair",
    text: "go together",
  }]);
  await database.execute("COMMENT ON STATISTICS pair IS NULL; DROP STATISTICS other");
  deepStrictEqual(await database.query(shown), [{ name: "pair", text: null }]);
});

Deno.test("definitions of statistics and targets of columns survive a start", async () => {
  const disk = new MemoryDisk();
  const opened = () => Database.open({ host: { ...memoryHost(), disk }, directory: "d" });
  {
    await using database = await opened();
    await places(database);
    await database.execute("CREATE STATISTICS pair ON country, city FROM place");
    await database.execute("ALTER TABLE place ALTER COLUMN city SET STATISTICS 7");
    await database.execute("ALTER TABLE place ALTER country SET STATISTICS 0");
  }
  await using database = await opened();
  await database.execute("ANALYZE");
  deepStrictEqual(
    await database.query(
      "SELECT attname, attstattarget, cardinality(histogram_bounds) AS bounds FROM pg_attribute " +
        "LEFT JOIN pg_stats USING (attname) WHERE attrelid = 'place'::regclass AND attnum > 0 ORDER BY attnum",
    ),
    [
      { attname: "id", attstattarget: -1, bounds: 101 },
      { attname: "city", attstattarget: 7, bounds: 8 },
      { attname: "country", attstattarget: 0, bounds: null },
      { attname: "language", attstattarget: -1, bounds: null },
    ],
  );
  ok(await expected(database, PAIR) >= 20);
  await database.execute("ALTER TABLE place ALTER COLUMN city SET STATISTICS -1");
  strictEqual(
    (await database.query("SELECT attstattarget AS t FROM pg_attribute WHERE attname = 'city'"))[0]?.["t"],
    -1,
  );
});
