/** Statements of many rows and megabytes: the same rows and errors as of short ones, and turns for others meanwhile. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { open } from "../../mod.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import { engineOf } from "./database.ts";

const TABLE = `CREATE TABLE NAME (
  id int PRIMARY KEY, small smallint, big bigint, number numeric(6,2), float float8, single real, flag boolean,
  body text, short varchar(5), fixed char(4), mood mood, day date, at timestamptz, span interval,
  list int[], document jsonb, bytes bytea, uuid uuid, given int DEFAULT 7, twice int GENERATED ALWAYS AS (id * 2) STORED)`;

const COLUMNS =
  "id, small, big, number, float, single, flag, body, short, fixed, mood, day, at, span, list, document, " +
  "bytes, uuid";

/** The cells of a row, as they are written. */
function cells(id: number): string[] {
  const odd = id % 2 === 1;
  return [
    ...[`${id}`, odd ? "-32768" : "32767", odd ? "-9223372036854775808" : "9223372036854775807"],
    ...[
      odd ? "-1234.565" : "+0.005",
      odd ? "'NaN'" : "-1e300",
      odd ? "'-Infinity'" : "1.5",
      odd ? "true" : "NULL",
    ],
    ...[odd ? "'it''s'" : "'NULL'", odd ? "NULL" : "'öäü'", odd ? "'a '" : "NULL", odd ? "'glad'" : "'sad'"],
    ...[
      odd ? "'01/02/2020'" : "'0044-03-15 BC'",
      odd ? "'infinity'" : "'2020-01-01 10:00+02'",
      "'1 mon -2 days'",
    ],
    ...[
      odd ? "'{1,NULL}'" : "'{}'",
      `'{"a": [${id}]}'`,
      odd ? "'\\x00ff'" : "''",
      "'0e7f1c58-0000-4000-8000-000000000000'",
    ],
  ];
}

function insert(table: string, ids: readonly number[]): string {
  const rows = ids.map((id) => `(${cells(id).join(", ")})`);
  return `INSERT INTO ${table} (${COLUMNS}) VALUES ${rows.join(", ")}`;
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

Deno.test("INSERT of many rows of literals writes what short ones write, whatever the settings say", async () => {
  await using database = await open(":memory:");
  const session = engineOf(database).openSession();
  const run = async (sql: string) => {
    const sink = new RowBuffer();
    await session.simple(sql, sink, () => {});
    return sink.rows;
  };
  await run("CREATE TYPE mood AS ENUM ('sad', 'glad')");
  for (const name of ["short", "long"]) await run(TABLE.replace("NAME", name));
  for (const [style, from] of [["SQL, DMY", 1], ["ISO, MDY", 2001]] as const) {
    await run(`SET datestyle = '${style}'`);
    for (let at = from; at < from + 1200; at += 50) await run(insert("short", numbers(at, at + 49)));
    await run(insert("long", numbers(from, from + 1199)));
  }
  deepStrictEqual(await run("SELECT count(*), count(DISTINCT day) FROM long"), [[2400, 3]]);
  deepStrictEqual(await run("TABLE short EXCEPT TABLE long UNION ALL (TABLE long EXCEPT TABLE short)"), []);
  // Defaults are computed for each row, and numbers drawn in order.
  await run(
    "CREATE TABLE counted (n serial, body text, at timestamptz DEFAULT clock_timestamp(), day date DEFAULT '2020-01-01', " +
      "odd int GENERATED ALWAYS AS (n % 2) STORED, own int GENERATED ALWAYS AS IDENTITY CHECK (own > 0))",
  );
  const counted = numbers(1, 1200).map((n) =>
    `(${n === 1 ? "0" : "DEFAULT"}, 'b'::text, DEFAULT, ${
      n % 2 === 0 ? "DEFAULT" : "date '2021-01-01'"
    }, DEFAULT, DEFAULT)`
  );
  await run(`INSERT INTO counted VALUES ${counted.join(", ")}`);
  deepStrictEqual(
    await run(
      "SELECT count(*), max(n), count(DISTINCT n), sum(odd), max(own), count(DISTINCT day), count(DISTINCT at) > 1, " +
        "bool_and(own = n + 1) FROM counted",
    ),
    [[1200, 1199, 1200, 600, 1200, 2, true, true]],
  );
  await rejects(
    run(`INSERT INTO counted VALUES ${counted.map((row) => row.replace("DEFAULT)", "7)")).join(", ")}`),
    {
      code: "428C9",
    },
  );
  // A text that is kept is read anew with the settings of each run.
  const rows = numbers(1, 1100).map((id) => `(${id}, '01/02/2020')`).join(", ");
  await run(
    `PREPARE p AS INSERT INTO long (id, day) VALUES ${rows} ON CONFLICT (id) DO UPDATE SET day = excluded.day`,
  );
  for (const [style, day] of [["SQL, DMY", "2020-02-01"], ["ISO, MDY", "2020-01-02"]]) {
    await run(`SET datestyle = '${style}'; EXECUTE p; SET datestyle = ISO`);
    deepStrictEqual(await run("SELECT DISTINCT day::text, count(*) FROM long WHERE id <= 1100 GROUP BY 1"), [[
      day,
      1100,
    ]]);
  }
  session.close();
});

Deno.test("INSERT of many rows with calls and operators writes what short ones write", async () => {
  await using database = await open(":memory:");
  await database.execute("CREATE SEQUENCE drawn");
  const columns = "id int PRIMARY KEY, a int, b text, at timestamptz, list int[], n bigint, r float8";
  for (const name of ["short", "long"]) await database.execute(`CREATE TABLE ${name} (${columns})`);
  const row = (id: number) =>
    `(${id} + 0, abs(-${id}) * 2, upper('x' || ${id}), date_trunc('day', now()) + interval '1 day' * ${id}, ` +
    `ARRAY[${id}, (${id} BETWEEN 1 AND 5)::int], ${
      id % 3 === 0 ? "nextval('drawn')" : "length('abc')"
    }, sqrt(${id}))`;
  // Bound row by row, although nobody knows beforehand what the calls give.
  const late = (id: number) =>
    row(id).replace(/\(\d+ BETWEEN.*?int/, `CASE WHEN least(${id}, 6) < 6 THEN 1 ELSE 0 END`);
  for (const [shape, from, count] of [[row, 1, 100], [late, 2001, 1200]] as const) {
    const rows = numbers(from, from + count - 1).map(shape);
    await database.execute("SELECT setval('drawn', 1)");
    for (let at = 0; at < rows.length; at += 50) {
      await database.execute(`INSERT INTO short VALUES ${rows.slice(at, at + 50).join(", ")}`);
    }
    await database.execute("SELECT setval('drawn', 1)");
    await database.execute(`INSERT INTO long VALUES ${rows.join(", ")}`);
    const [{ first } = {}] = await database.query(
      `EXPLAIN (VERBOSE, FORMAT JSON) INSERT INTO long VALUES ${rows.join(", ")}`,
    )
      .then((plan) => plan.map((line) => ({ first: JSON.stringify(line) })));
    strictEqual(/Function Scan/.test(first ?? ""), shape !== row);
  }
  deepStrictEqual(await database.query("SELECT count(DISTINCT at) AS times, max(n) AS drawn FROM long"), [
    { times: 1300, drawn: 401 },
  ]);
  const differences = "TABLE short EXCEPT TABLE long UNION ALL (TABLE long EXCEPT TABLE short)";
  deepStrictEqual(await database.query(differences), []);
});

Deno.test("INSERT of many rows of literals refuses what short ones refuse, at the same place", async () => {
  await using database = await open(":memory:");
  await database.execute("CREATE TABLE t (id int PRIMARY KEY, small smallint, short varchar(3), day date)");
  const failure = async (sql: string): Promise<DatabaseError> => {
    const error = await database.execute(sql).then(() => null, (thrown: unknown) => thrown);
    ok(error instanceof DatabaseError, sql.slice(-60));
    return error;
  };
  const row = (id: number) => `(${id}, 1, 'abc', '2020-01-01')`;
  const wrong = [
    "(0, true, 'abc', NULL)",
    "(0, 32768, 'abc', NULL)",
    "(0, -32769, '', NULL)",
    "(0, 'x', '', NULL)",
  ]
    .concat(
      "(0, 1, 'abcd', NULL)",
      "(0, 1, 'abc', '2020-02-30')",
      "(NULL, 1, 'abc', NULL)",
      "(0, 1, 'abc', 5)",
      "(0, 1 / 0, 'abc', NULL)",
      "(0, 1, upper('abcd'), NULL)",
      "(0, 1, upper('abc', 2), NULL)",
      "(no_such(1), 1, 'abc', NULL)",
      "(count(*), 1, 'abc', NULL)",
      "(generate_series(1, 2), 1, 'abc', NULL)",
      "(row_number() OVER (), 1, 'abc', NULL)",
      "(abs(0) FILTER (WHERE true), 1, 'abc', NULL)",
    );
  for (const last of wrong) {
    const lists = [3, 1500].map((count) => numbers(1, count).map(row));
    const texts = lists.map((list) => `INSERT INTO t VALUES ${[...list, last].join(", ")}`);
    const [short, long] = [await failure(texts[0] as string), await failure(texts[1] as string)];
    const apart = (texts[1] as string).length - (texts[0] as string).length;
    deepStrictEqual([long.code, long.message, long.hint], [short.code, short.message, short.hint], last);
    strictEqual(long.position, short.position === undefined ? undefined : short.position + apart, last);
    const first = await failure(`INSERT INTO t VALUES ${[last, ...numbers(1, 1500).map(row)].join(", ")}`);
    strictEqual(first.code, short.code);
  }
  deepStrictEqual(await database.query("SELECT count(*) FROM t"), [{ count: 0 }]);
});

Deno.test("A text of megabytes lets others have their turns while it is read", async () => {
  await using database = await open(":memory:");
  await database.execute("CREATE TABLE t (id int PRIMARY KEY)");
  const rows = numbers(1, 200_000).map((id) => `(${id})`).join(", ");
  let turns = 0, hasEnded = false;
  const others = (async () => {
    for (; !hasEnded; turns++) await engineOf(database).yieldToLoop();
  })();
  await rejects(database.execute(`INSERT INTO t VALUES ${rows}, (1 2)`), { code: "42601" });
  hasEnded = true;
  await others;
  // Pieces go by time: the quicker the machine, the fewer.
  ok(turns > 3, `${turns} turns`);
  // It is not parsed once more, at once, for the sake of its literals.
  const session = engineOf(database).openSession();
  strictEqual(engineOf(database).plans.find(session, `SELECT '${"x".repeat(70_000)}'`), null);
  session.close();
  const plan = await database.query(`EXPLAIN INSERT INTO t VALUES ${rows}`);
  match(JSON.stringify(plan), /\*VALUES\*/);
});
