/**
 * Whatever way into a table is taken, the rows are the same: by scans that skip blocks, by ranges of indexes in both
 * directions, with NULLs at either end, over one and two columns, for rows in memory, in segments and in both.
 *
 * What is expected is what a table without an index answers from rows in memory, before anything else is done.
 */
import assert from "node:assert/strict";
import { open } from "../../mod.ts";
import { logicDatabase } from "../slt/library_database.ts";
import type { LogicDatabase } from "../slt/run_logic_tests.ts";

interface ColumnCase {
  readonly type: string;
  /** Values in ascending order, as literals. */
  readonly values: readonly string[];
  /** Bounds that are no values of the column's, or of another type. */
  readonly between?: readonly string[];
  readonly extra?: readonly string[];
}

const CASES: readonly ColumnCase[] = [
  {
    type: "int",
    values: [
      "-2147483648",
      "-2147483647",
      "-256",
      "-1",
      "0",
      "1",
      "2",
      "127",
      "128",
      "255",
      "256",
      "65535",
      "2147483647",
    ],
    between: ["-2147483649", "0.5", "-0.5", "2147483648", "9223372036854775808", "1.0", "'NaN'::float8"],
  },
  {
    type: "bigint",
    values: [
      "-9223372036854775808",
      "-9007199254740993",
      "-9007199254740992",
      "-9007199254740991",
      "-1",
      "0",
      "268435455",
      "268435456",
      "9007199254740991",
      "9007199254740992",
      "9007199254740993",
      "9223372036854775807",
    ],
    between: ["9007199254740991.5", "-0.5", "9223372036854775808", "-9223372036854775809"],
  },
  {
    type: "bigint",
    values: ["-20", "-1", "0", "3", "268435456", "4294967296"],
    between: ["1.5", "9007199254740993"],
  },
  {
    type: "float8",
    values: [
      "'-Infinity'",
      "'-1e300'",
      "'-1'",
      "'-0'",
      "'5e-324'",
      "'1.5'",
      "'9007199254740993'",
      "'1e300'",
      "'Infinity'",
      "'NaN'",
    ],
    between: ["0.5", "2", "1e10", "0"],
  },
  {
    type: "numeric(12,2)",
    values: ["-9999999999.99", "-1.50", "-0.01", "0", "0.01", "1.50", "9999999999.99"],
    between: ["0.005", "1.499", "-0.015", "10000000000", "1"],
  },
  {
    type: "numeric",
    values: [
      "'-Infinity'",
      "-1e30",
      "-1.5",
      "0",
      "0.00000001",
      "1.50",
      "12345678901234567890.5",
      "'Infinity'",
      "'NaN'",
    ],
    between: ["1", "1.49999"],
  },
  {
    type: "text",
    values: [
      "''",
      "'a'",
      "'a b'",
      "'ab'",
      "'abc'",
      "'abd'",
      "'b'",
      "'é'",
      "U&'\\E000'",
      "U&'\\+01F600'",
      "U&'\\0001a'",
    ],
    between: ["'aa'", "'abcd'", "'zz'"],
    extra: [
      "v LIKE 'a%'",
      "v LIKE 'ab%'",
      "v LIKE 'abc'",
      "v LIKE 'ab_'",
      "v LIKE 'a%c'",
      "v LIKE '%c'",
      "v LIKE ''",
      "v LIKE U&'\\+01F600%'",
      "v NOT LIKE 'a%'",
      "v ILIKE 'A%'",
      "v >= 'ab' AND v LIKE 'a%'",
      "starts_with(v, 'ab')",
      "v ^@ 'ab'",
      "v ~ '^ab'",
      "v ~ '^a(b|c)'",
    ],
  },
  {
    type: "date",
    values: [
      "'-infinity'",
      "'4713-01-01 BC'",
      "'1999-12-31'",
      "'2000-01-01'",
      "'2000-02-29'",
      "'5874897-12-31'",
      "'infinity'",
    ],
    between: ["'1970-01-01'", "'2000-01-02'"],
  },
  {
    type: "timestamptz",
    values: [
      "'-infinity'",
      "'0001-01-01'",
      "'2000-01-01 00:00:00.000001'",
      "'2000-01-01 00:00:00.000002'",
      "'294276-12-31'",
      "'infinity'",
    ],
    between: ["date '2000-01-01'", "'1970-01-01 00:00+02'"],
  },
  {
    type: "bool",
    values: ["false", "true"],
    extra: ["v", "NOT v", "v IS TRUE", "v IS NOT TRUE", "v IS UNKNOWN"],
  },
  {
    type: "bytea",
    values: ["'\\x'", "'\\x00'", "'\\x0001'", "'\\x61'", "'\\xff'", "'\\xffff'"],
    between: ["'\\x60'"],
  },
  {
    type: "interval",
    values: ["'-1 year'", "'0'", "'23 hours'", "'1 day'", "'30 days'", "'1 mon 1 us'"],
    between: ["'24 hours'", "'1 mon'"],
  },
  { type: "int[]", values: ["'{}'", "'{NULL}'", "'{1}'", "'{1,2}'", "'{2}'"].sort(), between: ["'{1,1}'"] },
];

const INDEXES: readonly (readonly [columns: string, ...options: string[]])[] = [
  ["(v)"],
  ["(v DESC)"],
  ["(v NULLS FIRST)"],
  ["(v DESC NULLS LAST)", "(w DESC, v)"],
  ["(w, v)"],
  ["(w, v DESC, id)"],
  ["(v, w)", "(v) WHERE v IS NOT NULL"],
];

/** Of each value; the first types have enough rows for several leaves of an index. */
const COPIES = 8;
const MANY_COPIES = 24;
const LARGE_TYPES = /^(int|text)$/;

/** What follows FROM, with the select list before it. */
function queries(
  { values, between = [], extra = [] }: ColumnCase,
  type: string,
): [list: string, rest: string][] {
  const typed = (literal: string) =>
    /^('|U&)/.test(literal) && !literal.includes("::") ? `${literal}::${type}` : literal;
  const probes = [...values, ...between].map(typed);
  const wheres: string[] = ["v IS NULL", "v IS NOT NULL", "v IS NULL AND w = 1", ...extra];
  for (const probe of [...probes, `NULL::${type}`]) {
    for (const operator of ["=", "<", "<=", ">", ">="]) wheres.push(`v ${operator} ${probe}`);
    wheres.push(`w = 1 AND v = ${probe}`, `w IN (0, 2) AND v >= ${probe}`, `${probe} > v`, `v <> ${probe}`);
  }
  const picked = [0, 2, 4].map((at) => probes[(at * 3 + 1) % probes.length] ?? "NULL");
  for (const low of picked) {
    for (const high of picked) {
      wheres.push(
        `v BETWEEN ${low} AND ${high}`,
        `v > ${low} AND v < ${high}`,
        `w = 2 AND v >= ${low} AND v < ${high}`,
      );
    }
    if (type !== "int[]") {
      wheres.push(
        `v IN (${low}, ${picked[0]}, NULL)`,
        `v = ANY (ARRAY[${picked[1]}, ${picked[1]}, ${picked[2]}]) AND w < 2`,
      );
    }
    wheres.push(
      `v > ${low} AND v > ${picked[2]} AND v <= ${picked.at(-1)}`,
      `v = ${low} AND v = ${picked[1]}`,
    );
    wheres.push(`v < ${low} OR v IS NULL`, `v < ${low} OR w = 1 AND v > ${picked[2]}`);
  }
  const asked = wheres.map((where): [string, string] => ["id", `WHERE ${where} ORDER BY id`]);
  for (const direction of ["", "DESC", "NULLS FIRST", "DESC NULLS LAST"]) {
    for (
      const where of [
        "",
        "WHERE w = 1",
        `WHERE v >= ${picked[1]}`,
        `WHERE v < ${picked[2]}`,
        "WHERE w = 1 AND v IS NOT NULL",
      ]
    ) {
      asked.push(["v", `${where} ORDER BY v ${direction} LIMIT 60`]);
      asked.push(["id", `${where} ORDER BY v ${direction}, id ${direction} LIMIT 3 OFFSET 20`]);
      asked.push(["w, v", `${where} ORDER BY w, v ${direction} LIMIT 30`]);
    }
  }
  for (
    const where of ["", "WHERE w = 2", `WHERE v > ${picked[1]}`, `WHERE v < ${picked[1]}`, "WHERE v IS NULL"]
  ) {
    asked.push(["count(*), count(v)", where]);
    if (!/^(bool|bytea)$/.test(type)) asked.push(["min(v), max(v)", where]);
  }
  return asked;
}

async function fill(database: LogicDatabase, table: string, { values, type }: ColumnCase): Promise<void> {
  const copies = LARGE_TYPES.test(type) ? MANY_COPIES : COPIES;
  const list = [...values, "NULL"].map((value, index) => `(${index}, CAST(${value} AS ${type}))`).join(", ");
  await database.run(`CREATE SCHEMA ${table.split(".")[0]}`);
  await database.run(`CREATE TABLE ${table} (id int PRIMARY KEY, w int, v ${type})`);
  await database.run(
    `INSERT INTO ${table} SELECT n * 100 + i, n % 4, v FROM generate_series(1, ${copies}) g(n), (VALUES ${list}) l(i, v)
     ORDER BY (n * 7919 + i * 104729) % 1009`,
  );
}

/** Gives rows new versions and puts deleted ones back, so that they lie in several places and mean the same. */
async function churn(database: LogicDatabase, table: string, remainder: number): Promise<void> {
  await database.run(`CREATE TEMP TABLE kept AS SELECT * FROM ${table} WHERE id % 7 = ${remainder}`);
  await database.run(`DELETE FROM ${table} WHERE id % 7 = ${remainder}`);
  await database.run(`UPDATE ${table} SET v = v, w = w + 4 WHERE id % 5 = ${remainder}`);
  await database.run(`UPDATE ${table} SET w = w - 4 WHERE w >= 4`);
  await database.run(`INSERT INTO ${table} SELECT * FROM kept`);
  await database.run("DROP TABLE kept");
}

for (const [number, column] of CASES.entries()) {
  Deno.test(`rows of ${column.type} (${number}) are found the same way with and without indexes, in every state`, async () => {
    await using database = await open(":memory:");
    const logic = logicDatabase(database);
    const asked = queries(column, column.type);
    // Tables of one name are read by code of one text where no index is used, which V8 compiles once.
    const plain = "plain.rows_of";
    await fill(logic, plain, column);
    const expected: string[] = [];
    for (const [list, rest] of asked) {
      expected.push(JSON.stringify(await logic.run(`SELECT ${list} FROM ${plain} ${rest}`)));
    }
    const tables = [plain];
    for (const [index, definitions] of INDEXES.entries()) {
      // Each type has the single-column indexes, and one of those over several columns.
      if (index >= 2 && (index + number) % 4 !== 0) continue;
      const table = `indexed${index}.rows_of`;
      tables.push(table);
      await fill(logic, table, column);
      for (const definition of definitions) await logic.run(`CREATE INDEX ON ${table} ${definition}`);
      await logic.run(`ANALYZE ${table}`);
    }
    let states = 0;
    const check = async (state: string) => {
      states++;
      for (const [at, table] of tables.entries()) {
        for (const [index, [list, rest]] of asked.entries()) {
          // What one state does not ask of a table is asked in the next.
          if ((index + at + states) % 2 === 0) continue;
          const sql = `SELECT ${list} FROM ${table} ${rest}`;
          assert.equal(JSON.stringify(await logic.run(sql)), expected[index], `${sql} with rows ${state}`);
        }
      }
    };
    await logic.run("BEGIN");
    for (const table of tables) await churn(logic, table, 1);
    await check("in memory and in a transaction");
    await logic.run("COMMIT");
    await logic.run("CHECKPOINT");
    for (const table of tables) await churn(logic, table, 3);
    await check("in segments and in memory");
    if (!LARGE_TYPES.test(column.type)) return;
    await logic.run("CHECKPOINT");
    await check("in several segments");
  });
}
