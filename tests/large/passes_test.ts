/** Joins over integers that read their tables once for each range of the key, where their kept rows do not fit. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { Engine } from "../../engine/session/engine.ts";
import type { Session } from "../../engine/session/session.ts";

const ROWS = 7_000;
/** Of that half is for the kept rows, some 40 bytes each. */
const LITTLE_BYTES = 131_072;

/**
 * Keys in order and in none, near each other and as far as integers go, with NULLs, equal ones and ones without a
 * partner; those of `e` lie near each other but for one.
 */
const TABLES = `
  CREATE TABLE o (a INT PRIMARY KEY, k INT, w BIGINT, e INT NOT NULL, d DATE, n INT);
  CREATE TABLE l (id INT PRIMARY KEY, k INT, w BIGINT, e INT NOT NULL, d DATE, n INT);
  INSERT INTO o SELECT g, CASE WHEN g % 50 <> 0 THEN g / 3 * 2 * 300000 END,
    (CASE WHEN g % 3 = 0 THEN g ELSE -g END) * 1200000000000, g, date '2000-01-01' + g % 4000, g % 77
    FROM generate_series(1, ${ROWS}) g;
  INSERT INTO l SELECT g, CASE WHEN g % 40 <> 0 THEN g * 7919 % ${ROWS} * 300000 END,
    (g * 7919 % ${2 * ROWS} - ${ROWS}) * 1200000000000, g * 7919 % ${
  ROWS + 99
}, date '2000-01-01' + g % 5000, g % 91
    FROM generate_series(1, ${ROWS}) g`;
/** In memory beside what is in files, and not committed. */
const CHANGES = `
  DELETE FROM o WHERE a % 1000 = 7; UPDATE l SET k = NULL WHERE id % 1000 = 9;
  INSERT INTO o VALUES (-1, -2147483648, -9007199254740991, -1, '2000-01-05', 1),
    (-2, 2147483647, 9007199254740991, 2147483647, NULL, 2);
  INSERT INTO l SELECT a - 10, k, w, e, d, n FROM o WHERE a < 0;
  INSERT INTO l VALUES (0, 4, 9223372036854775807, 4, 'infinity', 3), (-3, -2147483648, NULL, 9, '-infinity', 3)`;

async function rows(session: Session, sql: string): Promise<readonly string[]> {
  const sink = new RowBuffer();
  await session.simple(sql, sink, () => {});
  return sink.rows.map((row) => JSON.stringify(row));
}

const sums = (...columns: string[]) =>
  ["count(*)", ...columns.map((column) => `count(${column}), sum(${column}::bigint)`)].join(", ");
const ALL = sums("l.id", "l.n", "o.a", "o.n", "l.id::bigint * o.a * o.n");
const LEFT = sums("id", "n"), RIGHT = sums("a", "n");

/** By a key, and whether it is cut into ranges. */
const WHOLE = Object.entries({ k: true, w: true, d: true, e: false })
  .map(([key, isCut]) => ({ sql: `SELECT ${ALL} FROM l FULL JOIN o ON l.${key} = o.${key}`, isCut }));
/** What they answer does not depend on the order of their rows. */
const OTHERS = [
  ...["k", "w", "d"].flatMap((key) => [
    `SELECT ${ALL} FROM l JOIN o ON l.${key} = o.${key}`,
    `SELECT ${LEFT} FROM l WHERE NOT EXISTS (SELECT FROM o WHERE o.${key} = l.${key} AND o.n > l.n)`,
  ]),
  `SELECT ${ALL} FROM l LEFT JOIN o ON l.k = o.k`,
  `SELECT ${ALL} FROM l RIGHT JOIN o ON l.k = o.k`,
  `SELECT ${ALL} FROM l LEFT JOIN (SELECT * FROM o WHERE a % 3 > 0) o ON l.k = o.k AND o.n > l.n`,
  `SELECT ${ALL} FROM (SELECT * FROM l WHERE n > 9) l FULL JOIN o ON l.k = o.k AND l.n % 2 = o.n % 2`,
  `SELECT ${ALL} FROM l JOIN o ON l.n = o.n AND l.k = o.k`,
  `SELECT ${LEFT} FROM l WHERE EXISTS (SELECT FROM o WHERE o.k = l.k)`,
  `SELECT ${LEFT} FROM l WHERE NOT EXISTS (SELECT FROM o WHERE o.k = l.k)`,
  `SELECT ${LEFT} FROM l WHERE k NOT IN (SELECT k FROM o)`,
  `SELECT ${RIGHT} FROM o WHERE a % 5 < 2 AND EXISTS (SELECT FROM l WHERE o.k = l.k AND o.n > l.n)`,
  `SELECT count(*) FROM (SELECT l.id FROM l LEFT JOIN o ON l.k = o.k LIMIT 5000) x`,
  `SELECT a, (SELECT count(*) FROM l FULL JOIN o ON l.k = o.k AND l.n > x.n) FROM o x WHERE a BETWEEN 1 AND 3 ORDER BY a`,
  `SELECT ${ALL}, sum(p.n) FROM l JOIN o ON l.k = o.k JOIN o p ON l.e = p.e`,
  `SELECT o.n, count(*), sum(l.id) FROM l JOIN o ON l.k = o.k GROUP BY o.n, l.n % 9 ORDER BY o.n, 3`,
  `SELECT ${RIGHT} FROM o WHERE a % 5 < 2 AND NOT EXISTS (SELECT FROM l WHERE o.k = l.k AND o.n > l.n)`,
];

interface Operator {
  readonly "Node Type": string;
  readonly Passes?: number;
  readonly "Disk Usage"?: number;
  readonly Plans?: readonly Operator[];
}

/** How the first join of a plan was done. */
function joinOf(operator: Operator): { readonly passes: number; readonly kilobytes: number } {
  const { Plans: [input] = [], Passes: passes = 1, "Disk Usage": kilobytes = 0 } = operator;
  return input === undefined || / Join$/.test(operator["Node Type"]) ? { passes, kilobytes } : joinOf(input);
}

Deno.test("joins in passes over ranges of a key have the rows that they have with enough memory", async (test) => {
  const engine = await Engine.open({ host: memoryHost(), directory: "data" });
  try {
    const session = engine.openSession();
    for (const sql of ["SET max_parallel_workers = 0", TABLES, "CHECKPOINT", "ANALYZE", "BEGIN", CHANGES]) {
      await rows(session, sql);
    }
    const little = async (sql: string) => {
      Object.defineProperty(session, "memoryLimitBytes", { value: LITTLE_BYTES, configurable: true });
      const answer = await rows(session, sql);
      // That of its class is seen again.
      Reflect.deleteProperty(session, "memoryLimitBytes");
      return answer;
    };
    for (const sql of [...WHOLE.map(({ sql }) => sql), ...OTHERS]) {
      await test.step(sql, async () => deepStrictEqual(await little(sql), await rows(session, sql)));
    }
    for (const { sql, isCut } of WHOLE) {
      const [plan = ""] = await little(`EXPLAIN (ANALYZE, FORMAT json) ${sql}`);
      const { passes, kilobytes } = joinOf(JSON.parse(JSON.parse(plan)[0])[0].Plan);
      if (isCut) ok(passes > 2 && passes < 9 && kilobytes === 0, `${passes} passes, ${kilobytes} kB`);
      else ok(kilobytes > 100, "where a few keys are far away all are divided by hash");
    }
  } finally {
    await engine.close();
  }
});
