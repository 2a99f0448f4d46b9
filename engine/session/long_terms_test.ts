/** Statements of long texts, which are parsed and planned in pieces: the same answers and errors as of short ones. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { keptLists, Pieces } from "../base/pieces.ts";
import { DatabaseError } from "../base/errors.ts";
import { termParts } from "../execution/codegen/long_terms.ts";
import { longTerms } from "../sql/planner/long_terms.ts";
import { open } from "../../mod.ts";
import { longTexts } from "./long_texts.ts";
import { planningPieces } from "../statements/planning_in_pieces.ts";

const TINY = {
  keptCount: 0,
  leastCharacters: 0,
  microseconds: 0,
  leastCount: 2,
  length: 2,
  interpretedTimes: 1,
};

function setLimits(limits: typeof TINY): typeof TINY {
  const before = {
    keptCount: keptLists.leastCount,
    ...longTexts,
    ...planningPieces,
    ...longTerms,
    ...termParts,
  };
  keptLists.leastCount = limits.keptCount;
  longTexts.leastCharacters = limits.leastCharacters;
  planningPieces.microseconds = limits.microseconds;
  longTerms.leastCount = limits.leastCount;
  termParts.length = limits.length;
  termParts.interpretedTimes = limits.interpretedTimes;
  return before;
}

Deno.test("Statements in pieces of one item give what whole ones give", async () => {
  await using database = await open(":memory:");
  await database.execute(
    `CREATE TABLE t (id int PRIMARY KEY, b int, n numeric(9,2), c text, d date, f float8, g bigint, flag boolean);
    INSERT INTO t SELECT n, n % 7 - 1, n / 4.0, 'x' || n % 11, date '2020-01-01' + n % 9, n / 8.0, n * 5000000000, n % 3 = 0
      FROM generate_series(1, 40) n;
    INSERT INTO t (id) VALUES (0);
    CREATE TABLE u (id int PRIMARY KEY, b int, c text, CHECK (b < 900 OR b IS NULL OR c = 'x1'),
      g int GENERATED ALWAYS AS (CASE WHEN b > 1 THEN 1 WHEN b = 0 THEN 2 WHEN c = 'x1' THEN id END) STORED);
    INSERT INTO u SELECT n, n % 5, 'x' || n % 6 FROM generate_series(1, 20) n;
    CREATE TABLE r AS SELECT id, b, c FROM u;`,
  );
  let seed = 7;
  const below = (count: number) => (seed = (seed * 48271) % 2147483647) % count;
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const some = (make: () => string) => Array.from({ length: 2 + below(5) }, make);
  const integer = (depth: number): string =>
    depth === 0 ? pick(["t.id", "t.b", `${below(9)}`, "NULL::int", "t.b + 1"]) : pick([
      () => integer(0),
      () =>
        `CASE ${some(() => `WHEN ${condition(depth - 1)} THEN ${integer(depth - 1)}`).join(" ")} ELSE ${
          integer(0)
        } END`,
      () => `CASE ${integer(0)} ${some(() => `WHEN ${integer(0)} THEN ${integer(depth - 1)}`).join(" ")} END`,
      () => `COALESCE(${some(() => `NULLIF(${integer(depth - 1)}, ${integer(0)})`).join()})`,
      () => `(ARRAY[${some(() => integer(depth - 1)).join()}])[${1 + below(3)}]`,
      () => `(SELECT max(u.id) FROM u WHERE u.b = ${integer(0)} OR u.c = t.c OR u.id = ${below(9)})`,
    ])();
  const condition = (depth: number): string =>
    depth === 0
      ? pick([
        `t.b = ${below(6)}`,
        `t.c <> 'x${below(9)}'`,
        "t.flag",
        `t.n > ${below(9)}.5`,
        `t.f < ${below(5)}`,
        `t.g <> ${below(9)}`,
        "t.c IS NULL",
        `t.d < '2020-01-0${1 + below(8)}'`,
      ])
      : pick([
        () => condition(0),
        () => `(${some(() => condition(depth - 1)).join(" OR ")})`,
        () => `(${some(() => condition(depth - 1)).join(" AND ")})`,
        () => `${integer(0)} ${pick(["", "NOT "])}IN (${some(() => integer(depth - 1)).join()})`,
        () => `NOT (${condition(depth - 1)})`,
        () =>
          `EXISTS (SELECT FROM u WHERE u.id = t.id AND (${some(() => `u.b = ${integer(0)}`).join(" OR ")}))`,
        () => `${integer(depth - 1)} / ${integer(0)} = 1`,
      ])();
  const statements: readonly (() => string)[] = [
    () =>
      `SELECT t.id, ${integer(2)} AS x, ${integer(1)} AS y, ${condition(1)} AS z FROM t WHERE ${
        condition(2)
      } ORDER BY t.id`,
    () =>
      `WITH w AS (UPDATE u SET c = c WHERE u.b > ${below(5)} OR u.id < ${below(9)} RETURNING id, b)
        SELECT t.id, w.id AS x FROM t JOIN w ON w.b = t.b AND ${condition(1)} ORDER BY 1, 2`,
    () =>
      `SELECT sum(${integer(2)}) AS x, count(*) FILTER (WHERE ${condition(1)}) AS y FROM t WHERE ${
        condition(1)
      }`,
    () =>
      `SELECT t.b, count(*) AS x, max(${integer(1)}) AS y FROM t GROUP BY t.b HAVING ${
        some(() => pick(["count(*) > 3", "t.b = 1", "max(t.id) > 9"])).join(" OR ")
      } ORDER BY t.b`,
    () =>
      `SELECT t.id, u.id AS uid FROM t JOIN u ON ${
        condition(2)
      } AND u.id <> t.id AND u.b = t.b ORDER BY t.id, u.id`,
    () =>
      `SELECT t.id, u.id AS uid FROM t LEFT JOIN u ON u.b = t.b AND (${
        condition(1)
      } OR u.c <> t.c) ORDER BY ${integer(1)}, t.id, u.id`,
    () =>
      `SELECT * FROM (VALUES ${
        some(() => `(${below(9)} + 1, upper('a${below(9)}'), NULLIF(${below(2)}, 1))`).join()
      }) v (i, j, k) ORDER BY i, j, k`,
    () =>
      `SELECT t.id, row_number() OVER (PARTITION BY ${condition(1)} ORDER BY ${
        integer(1)
      }, t.id) AS x FROM t ORDER BY t.id`,
    () =>
      `SELECT * FROM (SELECT t.id, ${integer(1)} AS x FROM t UNION ALL SELECT t.b, ${
        integer(1)
      } FROM t WHERE ${condition(1)}) v ORDER BY 1, 2`,
    () =>
      `UPDATE u SET b = ${integer(2)}, c = CASE WHEN ${
        condition(1)
      } THEN t.c WHEN u.b > 2 THEN 'z' ELSE u.c END
        FROM t WHERE t.id = u.id AND ${condition(1)} RETURNING u.id, u.g, ${integer(1)} AS x`,
    () =>
      `INSERT INTO u AS v SELECT t.id, ${integer(2)}, t.c FROM t WHERE ${
        condition(1)
      } ON CONFLICT (id) DO UPDATE
        SET b = CASE WHEN v.b > 2 THEN excluded.b WHEN v.c = 'x1' THEN ${
        below(9)
      } WHEN v.b / excluded.b = 1 THEN 1 END
        WHERE ${
        some(() => pick(["v.b <> 1", "excluded.b > 2", "v.id < 9"])).join(" OR ")
      } RETURNING id, b, g`,
    () =>
      `MERGE INTO u USING t ON u.id = t.id WHEN MATCHED AND ${condition(1)} THEN UPDATE SET b = ${integer(1)}
        WHEN MATCHED AND (u.b = 1 OR ${condition(0)}) THEN DELETE
        WHEN NOT MATCHED AND ${condition(1)} THEN INSERT (id, b, c) VALUES (t.id, ${integer(1)}, t.c)`,
    () => `DELETE FROM u USING t WHERE u.id = t.id AND ${condition(2)} RETURNING u.id, ${integer(1)} AS x`,
  ];
  const isChange = (text: string) => /^(UPDATE|INSERT|MERGE|DELETE)/.test(text);
  const undo = new Error("taken back");
  /** What a change returns, in any order, and leaves. */
  const changed = async (text: string, parameters: readonly number[]): Promise<unknown[]> => {
    let rows: unknown[] = [];
    await rejects(
      database.transaction(async (own) => {
        rows = (await own.query(text, parameters)).map((row) => JSON.stringify(row)).sort();
        rows.push(await own.query("SELECT * FROM u ORDER BY id"));
        throw undo;
      }),
      (error) => {
        if (error !== undo) throw error;
        return true;
      },
    );
    return rows;
  };
  const query = (text: string, parameters: readonly number[]): Promise<unknown[]> =>
    database.query(text, parameters);
  const given = async (sql: string, parameters: readonly number[] = []): Promise<unknown[]> => {
    try {
      return await (isChange(sql) ? changed : query)(sql, parameters);
    } catch (error) {
      ok(error instanceof DatabaseError, `${sql}: ${error}`);
      return [error.code, error.message];
    }
  };
  let errors = 0;
  const before = setLimits(TINY);
  try {
    for (let round = 0; round < 52; round++) {
      const made = (statements[round % statements.length] as () => string)();
      const rest = isChange(made) ? made.replaceAll("FROM u WHERE", "FROM r u WHERE") : made;
      setLimits(before);
      const expected = await given(rest);
      const explained = await given(`EXPLAIN ${rest}`);
      setLimits({ ...TINY, leastCount: Infinity });
      deepStrictEqual(await given(`EXPLAIN ${rest} /* not the same text */`), explained, rest);
      setLimits(TINY);
      deepStrictEqual(await given(rest.replace(" ", " /* not the same text */ ")), expected, rest);
      const parameters: number[] = [];
      const withParameters = rest.replace(/(?<=t\.b = )\d/g, (digit) => `$${parameters.push(Number(digit))}`);
      deepStrictEqual(await given(withParameters, parameters), expected, withParameters);
      if (typeof expected[0] === "string") errors++;
    }
    const shown = await given("EXPLAIN SELECT id FROM t WHERE b > 1 OR c = 'x' OR n < 2");
    ok(JSON.stringify(shown).includes("long_or"), "EXPLAIN shows the plan that was made ahead");
  } finally {
    setLimits(before);
  }
  ok(errors < 25, `${errors} statements have no answer`);
});

Deno.test("Definitions in pieces of one item are what whole ones are", async () => {
  const cases = (kind: string) =>
    `CASE WHEN b > 1 THEN 1 WHEN c = 'x1' AND b = 0 THEN 2 WHEN ${kind} THEN id WHEN b IS NULL THEN 3 END`;
  const statements = [
    "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE SEQUENCE s",
    `CREATE TABLE u (id int PRIMARY KEY, b int DEFAULT CASE WHEN 1 = 2 THEN 1 WHEN current_setting('TimeZone') = 'x' THEN 2
      WHEN 'ok'::mood > 'sad' THEN 4 END, c text, m mood, CHECK (b < 900 OR b IS NULL OR c = 'x1' OR m = 'ok'),
      g int GENERATED ALWAYS AS (${cases("m = 'ok'")}) STORED)`,
    "INSERT INTO u (id, c) SELECT n, 'x' || n % 6 FROM generate_series(1, 20) n",
    "INSERT INTO u VALUES (21, 3, 'y', 'ok'), (22, NULL, NULL, NULL)",
    "INSERT INTO u VALUES (30, 1000, 'y', 'sad')",
    "UPDATE u SET b = id - 10, m = 'ok' WHERE id < 15 RETURNING id, b, g",
    "UPDATE u SET b = 901, m = NULL WHERE id = 3",
    "INSERT INTO u VALUES (3, 5, 'x1') ON CONFLICT (id) DO UPDATE SET b = excluded.b - 5 RETURNING b, c, g",
    "MERGE INTO u USING (VALUES (4), (40)) v (k) ON id = k WHEN MATCHED THEN UPDATE SET b = 0 WHEN NOT MATCHED THEN INSERT (id) VALUES (k)",
    `CREATE INDEX ON u ((${cases("m = 'sad'")}), id) WHERE b > 0 OR c = 'x1' OR m = 'ok'`,
    `CREATE UNIQUE INDEX named ON u ((COALESCE(b, id, 3)), id) WHERE b > 5 OR c = 'x2' OR m = 'ok'`,
    `CREATE INDEX ON u ((${cases("random() > 1")}))`,
    `CREATE INDEX ON u ((${cases("wrong = 1")}))`,
    `CREATE INDEX ON u ((${cases("b > (SELECT 1)")}))`,
    `SELECT id FROM u WHERE ${cases("m = 'sad'")} = 2 ORDER BY id`,
    `ALTER TABLE u ADD CHECK (${cases("m = 'ok'")} < 40 OR b > 1 OR m = 'sad')`,
    `ALTER TABLE u ADD CONSTRAINT bad CHECK (b > 3 OR c = 'x1' OR b IS NULL)`,
    `ALTER TABLE u ADD CHECK (b > 3 OR nothing(c) OR m = 'ok')`,
    `ALTER TABLE u ADD COLUMN d int NOT NULL DEFAULT CASE WHEN 1 = 2 THEN 1 WHEN 2 = 2 THEN 7 ELSE 8 END`,
    `ALTER TABLE u ADD COLUMN e bigint DEFAULT COALESCE(NULL, nextval('s'), 1)`,
    `ALTER TABLE u ADD COLUMN f int DEFAULT CASE WHEN 1 = 2 THEN b WHEN 2 = 2 THEN 7 ELSE 8 END`,
    `ALTER TABLE u ADD COLUMN f int GENERATED ALWAYS AS (CASE WHEN g > 1 THEN 1 WHEN b > 1 THEN 2 END) STORED`,
    `ALTER TABLE u ADD COLUMN f int GENERATED ALWAYS AS (CASE WHEN b = 0 THEN 1 / b WHEN b > 1 THEN 2 END) STORED`,
    "ALTER TABLE u ADD COLUMN k text DEFAULT 'k'",
    `ALTER TABLE u ALTER COLUMN k TYPE int USING CASE WHEN b > 2 THEN 1 WHEN k = 'x1' THEN length(c) WHEN m = 'ok' THEN 3 END`,
    `CREATE VIEW v AS SELECT id, ${
      cases("m = 'ok'").replace("'x1'", "1")
    } AS x FROM u WHERE b > 1 OR c = 2 OR d = 7 OR m = 'ok'`,
    `CREATE VIEW w AS SELECT x AS y, count(*) FROM v GROUP BY CASE WHEN x > 1 THEN 2 WHEN x > 3 THEN 4 END, x`,
    `CREATE VIEW z AS SELECT id, id, ${cases("m = 'ok'")} AS x FROM u`,
    `CREATE VIEW z AS SELECT CASE WHEN b > 1 THEN 1 WHEN b = 'a' THEN 2 END FROM u`,
    "SELECT * FROM w ORDER BY y",
    `CREATE TABLE q AS SELECT id, CASE WHEN b > 1 THEN 'a' WHEN k = 1 THEN 'b' WHEN d > 1 THEN c::text END AS x FROM u WHERE b > 1 OR d = 7 OR k = 3`,
    `CREATE TABLE q2 AS SELECT CASE WHEN b > 100 THEN 1 WHEN b < 100 THEN 1 / (b - b) END FROM u WHERE b > 1 OR d = 7 OR k = 3`,
    `CREATE TABLE n (a text, CHECK (CASE WHEN length(repeat(a, 9)) > 8 THEN true WHEN repeat(a || 'x', 100000000) = 'a' THEN true WHEN a = 'b' THEN false END))`,
    "INSERT INTO n VALUES ('a'), ('b')",
    "INSERT INTO n VALUES ('')",
    "ALTER TABLE u DROP COLUMN m CASCADE",
    "ALTER TABLE u RENAME COLUMN b TO bb",
    "UPDATE u SET bb = 5 WHERE id > 18",
  ];
  const state = [
    "SELECT table_name, column_name, column_default, generation_expression FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
    "SELECT conname, pg_get_constraintdef(oid) AS d FROM pg_constraint ORDER BY 1, 2",
    "SELECT indexname, indexdef FROM pg_indexes ORDER BY 1, 2",
    "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1",
    "SELECT * FROM u ORDER BY id",
    "SELECT * FROM q ORDER BY id",
  ];
  const played = async (limits: typeof TINY | null): Promise<unknown[]> => {
    await using database = await open(":memory:");
    const answers: unknown[] = [];
    const before = limits === null ? null : setLimits(limits);
    try {
      for (const sql of statements) {
        try {
          const isQuery = /^SELECT|RETURNING/.test(sql);
          answers.push([sql, isQuery ? await database.query(sql) : (await database.execute(sql)).rowCount]);
        } catch (error) {
          ok(error instanceof DatabaseError, `${sql}: ${error}`);
          answers.push([sql, { ...error }, error.message]);
        }
      }
      for (const sql of state) answers.push(await database.query(sql).catch(String));
    } finally {
      if (before !== null) setLimits(before);
    }
    return answers;
  };
  const expected = await played(null);
  deepStrictEqual(await played(TINY), expected);
  // Texts of statements are short here, and those of definitions are not.
  deepStrictEqual(await played({ ...TINY, leastCharacters: 90 }), expected);
});

Deno.test("Pieces.collect() keeps items, and makes lists with effects as a whole", () => {
  const pieces = new Pieces(() => 0);
  const state = { progress: 0, save: () => null, restore: () => {} };
  let made = 0, runs = 0;
  const list = (count: number, make: (index: number) => unknown) =>
    pieces.collect({ state, mark: count, leastCount: 0 }, (index) => index < count ? make(index) : undefined);
  const work = () => {
    state.progress = 0;
    const first = list(3, () => ++made);
    const whole = list(2, (index) => [state.progress++, list(2, (inner) => `${index}${inner}`)]);
    const nested = list(2, (index) => list(2, (inner) => index * 10 + inner));
    return [first, whole, nested];
  };
  let result: ReturnType<typeof pieces.run<unknown>> = null;
  while (result === null) {
    result = pieces.run(0, work);
    strictEqual(++runs < 40, true);
  }
  deepStrictEqual(result.value, [[1, 2, 3], [[0, ["00", "01"]], [1, ["10", "11"]]], [[0, 1], [10, 11]]]);
  strictEqual(made, 3);
});
