/** A scan in a SERIALIZABLE transaction has read the rows that meet its conditions, and no others. */
import { strictEqual } from "node:assert/strict";
import { seededRandom } from "../support/random.ts";
import { type TestClient, withClients } from "./client_for_test.ts";

const SETUP =
  "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE other (n int); INSERT INTO other VALUES (0);" +
  "CREATE TABLE t (id int PRIMARY KEY, a int, b bigint, n numeric(20, 2), s text, c char(4), f float8, d date," +
  "  y boolean, j jsonb, l int[], m mood); CREATE INDEX ON t (n);";

/** Conditions of which a transaction knows for each row whether it meets them. */
const KNOWN = [
  "a = 1 OR b = 2",
  "a < b",
  "a + 1 = b OR s IS NULL",
  "s LIKE 'x%'",
  "s LIKE '%y' AND a > 0",
  "NOT (s = 'xy' OR y)",
  "a IN (1, 3) OR n > 2.5",
  "n = a OR n IS NULL",
  "c = 'x' OR c = 'xy  '",
  "f > 1.5 OR f = 'NaN'",
  "f < a",
  "d = '2020-01-01' OR d > '2021-01-01'",
  "y IS NOT TRUE",
  "y IS DISTINCT FROM (a > 1)",
  "b > 9007199254740992 OR b < -9007199254740992",
  "b % 2 = 0 AND n < 100000000000000000.25",
  "CASE WHEN a = 0 THEN y ELSE 10 / a > 4 END",
  "coalesce(s, 'x') = 'x'",
  "upper(s) = 'XY'",
  "j->>'k' = '1' OR j IS NULL",
  "l[1] = 1 OR 2 = ANY (l)",
  "(a, b) > (1, 1)",
  "s ~ '^x.$'",
];
/** Those of which it may know less, but must not lose any. */
const OTHERS = [
  "10 / a > 3 OR y",
  "l = '{1,2}' OR l IS NULL",
  "m = 'ok' OR a = 1",
  "d > current_date - 400 OR a = 2",
  "random() < 2 AND (a = 1 OR b = 1)",
  "a = (SELECT min(n) FROM other) OR y",
  "EXISTS (SELECT FROM other WHERE other.n < t.a OR y)",
];

const CONDITIONS = [...KNOWN, ...OTHERS];
const ROUNDS = 4;
/** What makes a scan, a range of ids, and a look-up and a range of an index of it. */
const ACCESSES = [
  "ORDER BY s, id",
  "ORDER BY id",
  "AND id > 2 ORDER BY id",
  "AND n = 2.5 ORDER BY s, id",
  "AND n >= 2.5 ORDER BY n, id",
];

const VALUES: Readonly<Record<string, readonly string[]>> = {
  a: ["NULL", "0", "1", "2", "3"],
  b: ["NULL", "1", "2", "9007199254740993", "-9007199254740993", "9223372036854775807"],
  n: ["NULL", "1", "2.50", "2.51", "100000000000000000.25", "999999999999999999.99"],
  s: ["NULL", "''", "'x'", "'xy'", "'Xy'", "'ü'"],
  c: ["NULL", "'x'", "'xy'", "'zz'"],
  f: ["NULL", "0", "-0.0", "1.5", "2", "'NaN'", "'Infinity'"],
  d: ["NULL", "'2020-01-01'", "'2021-01-02'", "current_date"],
  y: ["NULL", "true", "false"],
  j: ["NULL", `'{"k": 1}'`, `'{"k": "1"}'`, "'[]'"],
  l: ["NULL", "'{}'", "'{1,2}'", "'{2,1}'", "'{NULL}'"],
  m: ["NULL", "'sad'", "'ok'"],
};
const COLUMNS = Object.keys(VALUES);
const SEEN = ["id", ...COLUMNS.map((column) => `${column}::text`)].join(", ");

Deno.test("a transaction loses by a rival's change if and only if the rows that it read are others now", () =>
  withClients(SETUP, async (a, b, c) => {
    const random = seededRandom(7);
    const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
    const value = (column: string): string => pick(VALUES[column] ?? []);
    const row = (id: number): string => `(${[id, ...COLUMNS.map(value)].join(", ")})`;
    await c.run(`INSERT INTO t VALUES ${Array.from({ length: 6 }, (_, id) => row(id)).join(", ")}`);
    const lost = { known: 0, others: 0 };
    for (let round = 0; round < ROUNDS * CONDITIONS.length; round++) {
      const condition = CONDITIONS[round % CONDITIONS.length] as string;
      const isKnown = KNOWN.includes(condition);
      const id = random.below(8);
      const column = pick(COLUMNS);
      const change = pick([
        `INSERT INTO t VALUES ${row(id)} ON CONFLICT (id) DO UPDATE SET ${column} = excluded.${column}`,
        `UPDATE t SET ${column} = ${value(column)}${
          column === "s" ? "" : `, s = ${value("s")}`
        } WHERE id = ${id}`,
        `DELETE FROM t WHERE id = ${id}`,
      ]);
      const where = `(${condition}) ${pick(ACCESSES)}`;
      const title = `round ${round}: ${where} after ${change}`;
      const read = () => seen(c, where);
      const before = await read();
      await a.run("BEGIN");
      strictEqual(await seen(a, where), before, title);
      await b.run(change);
      const isChanged = await read() !== before;
      await a.run("UPDATE other SET n = 0").catch(() => {});
      const loses = await a.fails("COMMIT") !== "succeeded with COMMIT";
      if (isChanged) strictEqual(loses, true, `${title}: lost`);
      else if (isKnown) strictEqual(loses, false, `${title}: not lost`);
      // Who has lost would lock what it lost by.
      await a.run("BEGIN; SELECT 1; COMMIT");
      if (isChanged) lost[isKnown ? "known" : "others"]++;
    }
    strictEqual(lost.known > 10 && lost.others > 3, true, JSON.stringify(lost));
  }));

for (
  const [name, read, meanwhile] of [
    [
      "a setting that has changed since",
      "SELECT FROM t WHERE s = current_setting('app.wanted') OR a > 100",
      "SET app.wanted = 'y'",
    ],
    ["a row on which the condition fails", "SELECT FROM t WHERE 10 / a = 11 OR a > 100", "SELECT 1"],
    [
      "a condition with a column of another table",
      "SELECT FROM other o JOIN t ON t.n = o.n AND t.a + o.n < 1",
      "SELECT 1",
    ],
    [
      "a subquery whose value has changed since",
      "SELECT FROM t WHERE a = (SELECT max(n) FROM other) OR a > 100",
      "UPDATE other SET n = 9",
    ],
  ] as const
) {
  Deno.test(`a transaction loses by ${name}`, () =>
    withClients(SETUP, async (a, b) => {
      await a.run("INSERT INTO t (id, a) SELECT i, i FROM generate_series(1, 50) i; SET app.wanted = 'x'");
      await a.run("BEGIN");
      await a.run(read);
      await a.run(meanwhile);
      await b.run("INSERT INTO t (id, a, n, s) VALUES (0, 0, 0, 'x')");
      strictEqual(await a.fails("INSERT INTO other VALUES (1)"), "40001");
    }));
}

/** What the client reads where a condition holds, or that it fails. */
async function seen(client: TestClient, where: string): Promise<string> {
  try {
    return await client.run(`SELECT ${SEEN} FROM t WHERE ${where}`);
  } catch (error) {
    return String(error);
  }
}
