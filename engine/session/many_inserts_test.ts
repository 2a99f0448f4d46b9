/** INSERT … SELECT whose rows come in batches: what it leaves and refuses is what it does row by row. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import { SeededRandom } from "../base/random.ts";
import { memoryHost } from "../host/memory_host.ts";
import { runSql } from "../../tests/support/run_sql.ts";
import { decodeEntry } from "../operations/entry_codec.ts";
import { Engine } from "./engine.ts";
import type { Session } from "./session.ts";

/** All inserts of queries are in batches while the action runs. */
async function inBatches<T>(action: () => Promise<T>): Promise<T> {
  const limits = LIMITS as { transactionKeptBatchBytes: number; batchedInsertRows: number };
  const { transactionKeptBatchBytes, batchedInsertRows } = limits;
  Object.assign(limits, { transactionKeptBatchBytes: -1, batchedInsertRows: 0 });
  try {
    return await action();
  } finally {
    Object.assign(limits, { transactionKeptBatchBytes, batchedInsertRows });
  }
}

async function answer(session: Session, text: string): Promise<string> {
  try {
    const rows = await runSql(session, text);
    return rows.map((row) => row.map(String).join(",")).sort().join(" ");
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    // Where two rows are wrong, another one may be named.
    return error.code.startsWith("23") || error.code === "22003" ? "refused" : error.code;
  }
}

const TABLES = [
  "CREATE TABLE u (a int PRIMARY KEY, b int)",
  "CREATE TABLE u (a int PRIMARY KEY, b int UNIQUE)",
  "CREATE TABLE u (a text PRIMARY KEY, b int UNIQUE)",
  "CREATE TABLE u (a int, b numeric UNIQUE NULLS NOT DISTINCT)",
  "CREATE TABLE u (a text, b int NOT NULL CHECK (b <> 7)); CREATE UNIQUE INDEX ON u (lower(a))",
  "CREATE TABLE u (a bigint PRIMARY KEY, b int, g int GENERATED ALWAYS AS (a % 50) STORED UNIQUE); CREATE UNIQUE INDEX ON u (a) WHERE b > 15",
  "CREATE TABLE p (id int PRIMARY KEY); INSERT INTO p SELECT generate_series(0, 55); CREATE TABLE u (a int PRIMARY KEY, b int REFERENCES p (id))",
  "CREATE TABLE u (a int PRIMARY KEY, b int REFERENCES u (a))",
];

/** Statements that depend on the seed alone. */
function script(table: string, seed: number): string[] {
  const random = new SeededRandom(seed);
  const first = random.below(80);
  const rows = (count: number) => {
    const order = ["n", "n DESC", "md5(n::text)"][random.below(3)];
    const a = table.includes("a text")
      ? "CASE WHEN n % 2 = 0 THEN 'K' ELSE 'k' END || n"
      : random.below(4) === 0
      ? "n + CASE WHEN n % 9 = 0 THEN 9007199254740993 ELSE 0 END"
      : "n";
    const from = random.below(90);
    const b = random.below(4) === 0 ? `n % ${1 + random.below(60)}` : `NULLIF(n, ${from + random.below(40)})`;
    return `SELECT ${a}, ${b} FROM generate_series(${from}, ${from + count}) n ORDER BY ${order}`;
  };
  const statements = [
    `INSERT INTO u VALUES (${first}, 1)`,
    ...random.below(2) === 0 ? [] : ["BEGIN"],
  ];
  for (let count = 0; count < 7; count++) {
    statements.push(
      [
        () => `INSERT INTO u ${rows(random.below(30))}`,
        () => `INSERT INTO u ${rows(random.below(30))}`,
        () => `INSERT INTO u ${rows(random.below(30))}`,
        () => `INSERT INTO u VALUES (${random.below(99)}, ${random.below(50)}) ON CONFLICT DO NOTHING`,
        () => `DELETE FROM u WHERE b % 3 = ${random.below(3)}`,
        () => `UPDATE u SET b = b + 1 WHERE b > ${random.below(90)}`,
        () => `WITH m AS (INSERT INTO u ${rows(9)}) INSERT INTO u ${rows(9)}`,
        () => "SAVEPOINT s",
        () => "ROLLBACK TO s",
      ][random.below(9)]?.() ?? "",
    );
    statements.push("SELECT * FROM u", `SELECT * FROM u WHERE b = ${random.below(60)}`);
  }
  return [...statements, ["COMMIT", "COMMIT", "ROLLBACK"][random.below(3)] ?? "", "SELECT * FROM u"];
}

async function answers(table: string, seed: number): Promise<string[]> {
  const host = memoryHost();
  const engine = await Engine.open({ host, directory: "db" });
  const session = engine.openSession();
  await runSql(session, table);
  const all: string[] = [];
  for (const text of script(table, seed)) all.push(`${text}: ${await answer(session, text)}`);
  deepStrictEqual(host.disk.list("db").filter((name) => name.endsWith(".tmp")), []);
  await engine.close();
  const again = await Engine.open({ host, directory: "db" });
  all.push(await answer(again.openSession(), "SELECT * FROM u"));
  await again.close();
  return all;
}

for (const [number, table] of TABLES.entries()) {
  Deno.test(`INSERT of a query in batches leaves what it does row by row: ${table}`, async () => {
    let refused = 0;
    for (let seed = 0; seed < 8; seed++) {
      const expected = await answers(table, number * 100 + seed);
      refused += expected.filter((each) => each.endsWith(": refused")).length;
      deepStrictEqual(await inBatches(() => answers(table, number * 100 + seed)), expected);
    }
    ok(refused > 0);
  });
}

Deno.test("INSERT of a query in batches locks its ids and keys, and is one entry of batches", () =>
  inBatches(async () => {
    const engine = await Engine.open({ host: memoryHost(), directory: "db" });
    const session = engine.openSession(), other = engine.openSession();
    await runSql(session, "CREATE TABLE t (id int PRIMARY KEY, v int UNIQUE)");
    await runSql(session, "BEGIN; INSERT INTO t SELECT n, n + 100000 FROM generate_series(1, 9000) n");
    const rivals = [
      answer(other, "INSERT INTO t VALUES (8999, 1)"),
      answer(engine.openSession(), "INSERT INTO t VALUES (10000, 108999)"),
      answer(engine.openSession(), "INSERT INTO t SELECT n, n FROM generate_series(8000, 20000) n"),
    ];
    strictEqual(await answer(engine.openSession(), "INSERT INTO t VALUES (10001, 1)"), "");
    await runSql(session, "COMMIT");
    deepStrictEqual(await Promise.all(rivals), ["refused", "refused", "refused"]);
    strictEqual(await answer(session, "SELECT count(*), sum(v), max(id) FROM t"), "9001,940504501,10001");
    const kinds: string[][] = [];
    for (const { payload } of engine.storage.log.entries(0)) {
      const { effects } = decodeEntry(payload);
      if (effects.length > 1) kinds.push(effects.map(({ kind }) => kind));
    }
    deepStrictEqual(kinds, [["create_batch", "create_batch", "create_batch"]]);
    await engine.close();
  }));
