/** Long lists of literals, which are planned as one array: the same answers and errors as of short ones. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { open } from "../../mod.ts";
import { packing } from "../sql/parser/packed_literals.ts";

const COUNT = 1002;

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** By column: literals, of which some are values of the table. */
const literals: Readonly<Record<string, (n: number) => string>> = {
  i: (n) => n % 7 === 0 ? `-${n}` : `${n * 3}`,
  small: (n) => `${n * 3}`,
  big: (n) => n % 2 === 0 ? `${n * 3}` : `${9000000000000000 + n}`,
  num: (n) => n % 2 === 0 ? `${n}` : `${n}.50`,
  f: (n) => n % 2 === 0 ? `${n}` : `${n}.5`,
  body: (n) => n % 2 === 0 ? `'b${n}'` : `'it''s ${n}'`,
  short: (n) => `'b${n * 2}'`,
  fixed: (n) => `'b${n * 2}'`,
  day: (n) =>
    `'2020-${String(1 + Math.abs(n) % 12).padStart(2, "0")}-${
      String(1 + Math.abs(n) % 28).padStart(2, "0")
    }'`,
  at: (n) => `'2020-01-01 00:00:${String(n % 60).padStart(2, "0")}'`,
  zoned: (n) => `'2020-01-01 00:00:${String(n % 60).padStart(2, "0")}+00'`,
  flag: (n) => n % 2 === 0 ? "'t'" : "'yes'",
};

/** What the literals are of, where it is not text. */
const TYPES: Readonly<Record<string, string>> = {
  ...{
    i: "int",
    small: "int",
    big: "bigint",
    num: "numeric",
    f: "float8",
    fixed: "char(9)",
    day: "date",
    flag: "boolean",
  },
  at: "timestamp",
};

async function filled() {
  const database = await open(":memory:");
  await database.execute(
    `CREATE TABLE t (id int PRIMARY KEY, i int, small smallint, big bigint, num numeric(9,2), f float8,
    body text, short varchar(9), fixed char(9), day date, at timestamp, zoned timestamptz, flag boolean)`,
  );
  await database.execute(
    `INSERT INTO t SELECT n, n * 2 - 100, n * 2, n * 2, n / 2.0, n / 2.0, CASE n % 3 WHEN 0 THEN
    'it''s ' || n ELSE 'b' || n END, 'b' || n, 'b' || n, date '2020-01-01' + n, timestamp '2020-01-01' + n * interval '1 s',
    timestamptz '2020-01-01 00:00+00' + n * interval '1 s', n % 2 = 0 FROM generate_series(1, 60) n`,
  );
  await database.execute("INSERT INTO t (id) VALUES (0)");
  return database;
}

Deno.test("Long lists and chains of comparisons find what short ones find", async () => {
  await using database = await filled();
  const found = async (condition: string): Promise<string> => {
    const [row] = await database.query(
      `SELECT string_agg(id || coalesce((${condition})::text, '?'), ' ' ORDER BY id) AS ids FROM t`,
    );
    return String(row?.["ids"]);
  };
  for (const [column, literal] of Object.entries(literals)) {
    for (const withNull of column === "i" || column === "body" ? [false, true] : [false]) {
      const items = numbers(COUNT).map((n) => withNull && n === 500 ? "NULL" : literal(n));
      const [left, right] = [items.slice(0, COUNT / 2), items.slice(COUNT / 2)];
      const isIn = await found(`${column} IN (${left.join()}) OR ${column} IN (${right.join()})`);
      const notIn = await found(`${column} NOT IN (${left.join()}) AND ${column} NOT IN (${right.join()})`);
      ok(isIn.includes("true") && (column === "flag" || notIn.includes(withNull ? "?" : "true")), column);
      strictEqual(await found(`${column} IN (${items.join()})`), isIn, column);
      strictEqual(await found(`t.${column} NOT IN (${items.join()})`), notIn, column);
      // What is converted for the comparison is compared one by one, which is slow.
      if (["f", "fixed", "zoned", "flag"].includes(column)) continue;
      strictEqual(await found(items.map((item) => `${column} = ${item}`).join(" OR ")), isIn, column);
      strictEqual(await found(items.map((item) => `t.${column} <> ${item}`).join(" AND ")), notIn, column);
      const kept = isIn.split(" ").filter((each) => each.endsWith("true")).map((each) =>
        Number.parseInt(each)
      );
      const rows = await database.query(`SELECT id FROM t WHERE ${column} IN (${items.join()}) ORDER BY id`);
      deepStrictEqual(rows.map(({ id }) => id), kept);
      if (withNull) continue;
      const highs = numbers(COUNT).map((n) => literal(n + n % 4 - 1 + (n < 2 ? 1 : 0)));
      const bounds = items.map((item, n) => `(${item}, ${highs[n]})`).join();
      const type = TYPES[column] ?? "text";
      const between = await found(
        `(SELECT bool_or(${column} BETWEEN a::${type} AND b::${type}) FROM (VALUES ${bounds}) v (a, b))`,
      );
      ok(
        between.includes("true") && (["i", "day", "at"].includes(column) || between.includes("false")),
        column,
      );
      const ranges = items.map((item, n) => `${column} BETWEEN ${item} AND ${highs[n]}`);
      strictEqual(await found(ranges.join(" OR ")), between, column);
      strictEqual(await found(ranges.map((each) => `(${each})`).join(" OR ")), between, column);
    }
  }
});

Deno.test("Long lists of rows and alternatives find what short ones find", async () => {
  await using database = await filled();
  const found = async (condition: string): Promise<string> => {
    const [row] = await database.query(
      `SELECT string_agg(id || coalesce((${condition})::text, '?'), ' ' ORDER BY id) AS ids FROM t`,
    );
    return String(row?.["ids"]);
  };
  const kept = async (condition: string) =>
    (await database.query(`SELECT id FROM t WHERE ${condition} ORDER BY id`)).map(({ id }) => id);
  // Of each pair of columns some rows are there, some have one of the values, and some NULL in the place of one.
  for (const pair of [["i", "body"], ["body", "short", "i"], ["i", "day"]] as const) {
    for (const withNull of pair.length === 3 ? [true] : [false]) {
      const rows = numbers(COUNT).map((n) =>
        pair.map((column, place) => {
          if (withNull && n % 9 === place) return "NULL";
          const values = {
            i: `${n * 2 - 100}`,
            body: n % 3 === 0 ? `'it''s ${n}'` : `'b${n}'`,
            short: `'b${n}'`,
            day: `'2020-01-${String(1 + n % 31).padStart(2, "0")}'`,
          };
          return values[column];
        })
      );
      const name = (column: string, place: number) => place === 0 ? `t.${column}` : column;
      const fields = `(${pair.map(name).join()})`;
      const list = (some: readonly (readonly string[])[]) =>
        `(${some.map((row) => `(${row.join()})`).join()})`;
      const any = (some: readonly (readonly string[])[]) =>
        some.map((row, n) => {
          const each = row.map((value, place) => `${name(pair[place] ?? "", place)} = ${value}`).join(
            " AND ",
          );
          return n % 2 === 0 ? `(${each})` : each;
        }).join(" OR ");
      const halves = [rows.slice(0, COUNT / 2), rows.slice(COUNT / 2)];
      const expected = await found(halves.map((half) => `${fields} IN ${list(half)}`).join(" OR "));
      ok(expected.includes("true") && expected.includes("?"), pair.join());
      const negated = await found(halves.map((half) => `${fields} NOT IN ${list(half)}`).join(" AND "));
      strictEqual(await found(`${fields} IN ${list(rows)}`), expected, pair.join());
      strictEqual(await found(`${fields} NOT IN ${list(rows)}`), negated, pair.join());
      strictEqual(await found(`id < 0 OR ${any(rows)} OR id IS NULL`), expected);
      strictEqual(await found(`NOT (${any(rows)})`), negated);
      const ids = expected.split(" ").filter((each) => each.endsWith("true")).map((each) =>
        Number.parseInt(each)
      );
      deepStrictEqual(await kept(`id > 0 AND (${any(rows)})`), ids);
      deepStrictEqual(await kept(`${fields} IN ${list(rows)}`), ids);
    }
  }
  const pairs = numbers(COUNT).map((n) => `(${n}, 'b${n}')`).join();
  const plan = await database.query(`EXPLAIN SELECT * FROM t WHERE (i, body) IN (${pairs})`);
  match(JSON.stringify(plan), /Hash.*Function Scan/);
  await rejectsAs(`SELECT * FROM t WHERE (i, body) IN (${pairs}, (1, 2, 3))`, /unequal number of entries/);
  await rejectsAs(`SELECT * FROM t WHERE (i, nothing) IN (${pairs})`, /column "nothing" does not exist/);
  await rejectsAs(`SELECT * FROM t WHERE (i, day) IN (${pairs})`, /invalid input syntax for type date/);

  async function rejectsAs(sql: string, message: RegExp): Promise<void> {
    let error: unknown = null;
    try {
      await database.query(sql);
    } catch (thrown) {
      error = thrown;
    }
    match(error instanceof DatabaseError ? error.message : "no error", message);
  }
});

Deno.test("Packed literals give what nodes give, in random statements", async () => {
  await using database = await filled();
  let seed = 1;
  const below = (count: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % count;
  };
  const some = <T>(make: () => T) => Array.from({ length: 2 + below(40) }, make);
  const columns = Object.keys(literals);
  const results = [
    () => below(4) === 0 ? `${below(9)}.25` : `${-below(9)}`,
    () => below(4) === 0 ? "NULL" : `${below(90)}`,
    () => `'r''${below(50)}'`,
  ];
  const conditions = [
    (column: string, key: () => string) =>
      `${column} ${below(2) === 0 ? "NOT " : ""}IN (${some(() => below(30) === 0 ? "NULL" : key()).join()})`,
    (column: string, key: () => string) => some(() => `${column} = ${key()}`).join(" OR "),
    (column: string, key: () => string) => some(() => `t.${column} <> ${key()}`).join(" AND "),
    (column: string, key: () => string) => some(() => `${column} BETWEEN ${key()} AND ${key()}`).join(" OR "),
    (column: string, key: () => string) =>
      some(() => `(id = ${below(60)} AND ${column} = ${key()})`).join(" OR "),
  ];
  const expressionOf = (): string => {
    const column = columns[below(columns.length)] ?? "", literal = literals[column] ?? String;
    const key = () => literal(below(60));
    const condition = conditions[below(2 * conditions.length)];
    if (condition !== undefined) return condition(column, key);
    const result = results[below(results.length)] ?? String;
    const form = below(2) === 0 ? `${column} WHEN ` : `WHEN t.${column} = `;
    const branches = some(() => `${below(20) === 0 ? "NULL" : key()} THEN ${result()}`);
    const otherwise = below(2) === 0
      ? ""
      : result().startsWith("'")
      ? "ELSE body"
      : `ELSE ${["i", "1.125", "NULL"][below(3)]}`;
    return `CASE ${
      branches.map((each, n) => (n === 0 ? form : form.slice(form.indexOf("WHEN"))) + each).join(" ")
    } ${otherwise} END`;
  };
  const { leastCount } = packing;
  // A text with parameters keeps its literals.
  const given = async (expression: string, least: number) => {
    packing.leastCount = least;
    const sql =
      `SELECT /* ${least} */ id, (${expression})::text AS x, pg_typeof(${expression})::text AS type FROM t
      WHERE id > $1 ORDER BY id`;
    return JSON.stringify(await database.query(sql, [-1]).catch((error: Error) => error.message));
  };
  let errors = 0;
  try {
    for (let round = 0; round < 200; round++) {
      const expression = expressionOf();
      const expected = await given(expression, Infinity);
      if (!expected.startsWith("[")) errors++;
      strictEqual(await given(expression, 2), expected, expression);
    }
  } finally {
    packing.leastCount = leastCount;
  }
  ok(errors < 40, `${errors} statements have no answer`);
  const branches = numbers(COUNT).map((n) => `WHEN ${n} THEN ${n}`).join(" ");
  const plan = await database.query(`EXPLAIN SELECT id FROM t WHERE CASE i ${branches} END = 3`);
  match(JSON.stringify(plan), /array_position/);
});

Deno.test("Long lists are one array in the plan, and use indexes as short ones do", async () => {
  await using database = await filled();
  const plan = async (sql: string) => JSON.stringify(await database.query(`EXPLAIN ${sql}`));
  const items = numbers(COUNT).map((n) => n * 3);
  match(await plan(`SELECT * FROM t WHERE i IN (${items.join()})`), /i = ANY \('\{/);
  match(await plan(`SELECT * FROM t WHERE ${items.map((n) => `i = ${n}`).join(" OR ")}`), /i = ANY \('\{/);
  match(
    await plan(`SELECT * FROM t WHERE ${items.map((n) => `i BETWEEN ${n} AND ${n + 1}`).join(" OR ")}`),
    /width_bucket/,
  );
  match(await plan(`SELECT * FROM (VALUES ${items.map((n) => `(${n})`).join()}) v`), /Function Scan/);
  await database.execute(
    "CREATE TABLE many (id int PRIMARY KEY); INSERT INTO many SELECT n FROM generate_series(1, 150000) n",
  );
  match(await plan(`SELECT * FROM many WHERE id IN (${items.join()})`), /Row Lookup on many/);
  deepStrictEqual(await database.query(`SELECT count(*) AS n FROM many WHERE id IN (${items.join()})`), [{
    n: COUNT - 1,
  }]);
});

Deno.test("Long lists of VALUES and arrays hold what short ones hold", async () => {
  await using database = await filled();
  const rows = numbers(COUNT).map((n) =>
    `(${n}, ${n === 7 ? "NULL" : `'x${n}'`}, ${n % 2 === 0 ? n : `${n}.25`}, ${
      n === 9 ? "3000000000" : -n
    }, ${n % 2 === 0})`
  );
  const halves = [rows.slice(0, COUNT / 2), rows.slice(COUNT / 2)];
  const types =
    "pg_typeof(a)::text, pg_typeof(b)::text, pg_typeof(c)::text, pg_typeof(d)::text, pg_typeof(e)::text";
  const of = (list: readonly string[]) => `SELECT *, ${types} FROM (VALUES ${list.join()}) v (a, b, c, d, e)`;
  // The types of a short list are those of its own rows.
  const expected =
    (await Promise.all(halves.map((half) => database.query(of([...half, ...rows.slice(0, 12)])))))
      .flatMap((each) => each.slice(0, COUNT / 2));
  deepStrictEqual(await database.query(of(rows)), expected);
  deepStrictEqual(
    await database.query(
      `SELECT count(*) AS n FROM (VALUES ${rows.join()}) v (a, b) JOIN t ON t.id = v.a AND b <> 'x5'`,
    ),
    [{ n: 59 }],
  );
  deepStrictEqual(
    await database.query(
      `UPDATE t SET body = v.b FROM (VALUES ${rows.join()}) v (a, b) WHERE t.id = a AND a IN (3, 7)
      RETURNING t.id, body`,
    ),
    [{ id: 3, body: "x3" }, { id: 7, body: null }],
  );
  for (
    const [items, type] of [["1", "integer[]"], ["1, 3000000000", "bigint[]"], ["1.5", "numeric[]"], [
      "'a'",
      "text[]",
    ]]
  ) {
    const list = numbers(COUNT).map(() => items).join();
    deepStrictEqual(
      await database.query(`SELECT pg_typeof(ARRAY[${list}])::text AS type,
      ARRAY[${list}] = (ARRAY[${items}] || ARRAY[${list}])[1 + cardinality(ARRAY[${items}]):] AS same`),
      [
        { type, same: true },
      ],
    );
  }
  deepStrictEqual(
    await database.query(
      `SELECT cardinality(ARRAY[${numbers(COUNT).join()}]::text[]) AS n, (ARRAY[${
        numbers(COUNT).join()
      }]::text[])[8] AS text`,
    ),
    [{ n: COUNT, text: "7" }],
  );
});

Deno.test("Long lists of parameters find what literals find, whatever their types", async () => {
  await using database = await filled();
  const list = (from: number) => numbers(COUNT).map((n) => `$${from + n}`).join();
  const values = numbers(COUNT).map((n) => n * 4);
  const ids = async (sql: string, parameters: readonly (number | string | null)[]) =>
    (await database.query(sql, parameters)).map(({ id }) => id);
  for (const column of ["i", "small", "big", "num", "f"]) {
    for (const negated of ["", "NOT "]) {
      const expected = await ids(
        `SELECT id FROM t WHERE ${column} ${negated}IN (${values.join()}) ORDER BY id`,
        [],
      );
      const sql = `SELECT id FROM t WHERE ${column} ${negated}IN (${list(1)}) ORDER BY id`;
      deepStrictEqual(await ids(sql, values), expected, column);
      if (negated !== "") deepStrictEqual(await ids(sql, [null, ...values.slice(1)]), []);
    }
  }
  const texts = numbers(COUNT).map((n) => `b${n * 2}`);
  const named = await ids(
    `SELECT id FROM t WHERE body IN (${texts.map((each) => `'${each}'`).join()}) ORDER BY id`,
    [],
  );
  deepStrictEqual(await ids(`SELECT id FROM t WHERE body IN (${list(1)}) ORDER BY id`, texts), named);
  // One that is used elsewhere, as something else.
  deepStrictEqual(
    await ids(
      `SELECT id FROM t WHERE $1::bigint > 0 AND i IN (${list(1)}) AND id > $${COUNT + 1} ORDER BY id`,
      [
        ...values.with(0, 4),
        10,
      ],
    ),
    await ids(`SELECT id FROM t WHERE i IN (${values.with(0, 4).join()}) AND id > 10 ORDER BY id`, []),
  );
});

Deno.test("What is wrong in a long list is refused as in a short one, at its place", async () => {
  await using database = await filled();
  const failure = async (sql: string): Promise<DatabaseError> => {
    const error = await database.query(sql).then(() => null, (thrown: unknown) => thrown);
    ok(error instanceof DatabaseError, sql.slice(-60));
    return error;
  };
  const shapes: readonly ((items: readonly string[]) => string)[] = [
    (items) => `SELECT 1 FROM t WHERE i IN (${items.join(", ")})`,
    (items) => `SELECT 1 FROM t WHERE ${items.map((item) => `i = ${item}`).join(" OR ")}`,
    (items) => `SELECT 1 FROM t WHERE ${items.map((item) => `i BETWEEN 1 AND ${item}`).join(" OR ")}`,
    (items) => `SELECT ARRAY[${items.join(", ")}]::int[]`,
    (items) => `SELECT CASE i ${items.map((item) => `WHEN ${item} THEN 1`).join(" ")} END FROM t`,
    (items) => `SELECT CASE ${items.map((item) => `WHEN i = 1 THEN ${item}`).join(" ")} END FROM t`,
    (items) => `SELECT * FROM (VALUES ${items.map((item) => `(${item})`).join(", ")}) v`,
  ];
  for (const shape of shapes) {
    for (const wrong of ["'x'", "'2'::date", "nosuch", "1 2", "$1 +", "E'\\xff'"]) {
      const texts = [3, COUNT].map((count) =>
        shape([...numbers(count).map((n) => `${1000 + n % 10}`), wrong, "1001"])
      );
      const [short, long] = [await failure(texts[0] ?? ""), await failure(texts[1] ?? "")];
      const apart = (texts[1] ?? "").length - (texts[0] ?? "").length;
      deepStrictEqual([long.code, long.message, long.hint], [short.code, short.message, short.hint], wrong);
      const place = short.position ?? 0;
      // That of IN, or that of the item.
      ok([place, place + apart].includes(long.position ?? 0), wrong);
    }
  }
});
