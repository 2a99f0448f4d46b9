/** Statements over rows that take many steps: how often they let others in, and how they end. */
import assert from "node:assert/strict";
import { FEW_ROWS } from "../execution/codegen/emitter.ts";
import { RowBuffer } from "../statements/row_buffer.ts";
import { TestClient } from "../statements/copy/client_for_test.ts";

/** Some 23 000 steps for a letter, more than a turn has. */
const LONG = "length(repeat(a, 650000))";

async function clientWithTable(): Promise<TestClient> {
  const client = await TestClient.open();
  await client.run(`CREATE TABLE t (id INT PRIMARY KEY, a TEXT CHECK (${LONG} >= 0))`);
  return client;
}

Deno.test("a statement over costly rows lets others in after one or two of them, however fast they are", async () => {
  const client = await clientWithTable();
  const { engine } = client;
  const { yieldToLoop } = engine;
  let yields = 0;
  engine.yieldToLoop = () => {
    yields++;
    return yieldToLoop.call(engine);
  };
  const rows = 8;
  const numbers = Array.from({ length: rows }, (_, index) => index + 1);
  const list = (from: number): string => numbers.map((n) => `(${from + n}, 'a')`).join();
  const series = `generate_series(1, ${rows}) n`;
  const few: string[] = [];
  const check = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const before = yields;
    await work();
    // A piece may have two rows, as long as they do not take long.
    if (yields - before < rows / FEW_ROWS - 1) few.push(`${yields - before}: ${name}`);
  };
  for (
    const statement of [
      `INSERT INTO t VALUES ${list(0)}`,
      `INSERT INTO t SELECT 100 + n, 'a' FROM ${series}`,
      `INSERT INTO t VALUES ${list(100)} ON CONFLICT (id) DO UPDATE SET a = 'b'`,
      "UPDATE t SET a = 'c' WHERE id <= 100",
      "WITH u AS (UPDATE t SET a = 'd' WHERE id <= 100 RETURNING id) SELECT count(*) FROM u",
      `MERGE INTO t USING (SELECT n, 'e' FROM ${series}) s (n, a) ON t.id = s.n WHEN MATCHED THEN UPDATE SET a = s.a`,
      `ALTER TABLE t ADD CONSTRAINT again CHECK (${LONG} >= 0)`,
      `CREATE INDEX long ON t ((${LONG}))`,
    ]
  ) await check(statement, () => client.run(statement));
  const data = numbers.map((n) => `${200 + n}\ta\n`).join("");
  await check("COPY", () => client.copyIn("COPY t FROM STDIN", data));
  await client.run("CREATE TABLE s (a TEXT)", `INSERT INTO s SELECT 'a' FROM ${series}`);
  const own = "md5(repeat(a, 1500000))";
  await check("ALTER TYPE", () => client.run(`ALTER TABLE s ALTER a TYPE VARCHAR(40) USING ${own}`));
  await check("COPY WHERE", () => client.copyIn(`COPY s FROM STDIN WHERE ${own} <> ''`, "a\n".repeat(rows)));
  await client.run("ALTER TABLE t DROP CONSTRAINT t_a_check, DROP CONSTRAINT again", "DROP INDEX long");
  await client.run(
    `CREATE TRIGGER i BEFORE INSERT ON t FOR EACH ROW SET a = left(repeat(NEW.a, 650000), 2)`,
    `CREATE TRIGGER d BEFORE DELETE ON t FOR EACH ROW WHEN (length(repeat(OLD.a, 650000)) < 0) REJECT 'no'`,
  );
  await check("triggers of INSERT", () => client.run(`INSERT INTO t SELECT 300 + n, 'a' FROM ${series}`));
  await check("triggers of COPY", () => client.copyIn("COPY t FROM STDIN", data.replaceAll("20", "40")));
  await check("triggers of DELETE", () => client.run("DELETE FROM t WHERE id > 100"));
  assert.deepEqual(few, []);
  yields = 0;
  await client.rows(`SELECT ${LONG} FROM t`);
  assert.ok(yields < rows, "a query has no steps");
  await client.close();
});

Deno.test("others get in while costly rows are written, and the statement can be ended", async () => {
  const client = await clientWithTable();
  const other = client.engine.openSession();
  const run = async (sql: string): Promise<void> => {
    await other.simple(sql, new RowBuffer(), () => {});
  };
  let isDone = false, others = 0;
  await client.run("CREATE TABLE o (id INT PRIMARY KEY)");
  const costly = run("INSERT INTO t SELECT n, 'a' FROM generate_series(1, 25) n").finally(() =>
    isDone = true
  );
  while (!isDone) {
    await client.run(`INSERT INTO o VALUES (${others++})`);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  await costly;
  assert.ok(others > 5, `${others} other statements`);
  await run("SET statement_timeout = 20");
  const list = Array.from({ length: 1000 }, (_, n) => `(${n + 1000}, 'a')`).join();
  for (const source of ["SELECT n, 'a' FROM generate_series(101, 100000) n", `VALUES ${list}`]) {
    await assert.rejects(run(`INSERT INTO t ${source}`), { code: "57014" });
  }
  assert.deepEqual(await client.rows("SELECT count(*) FROM t"), ["25"]);
  other.close();
  await client.close();
});
