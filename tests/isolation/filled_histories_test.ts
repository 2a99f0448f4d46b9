/**
 * Random histories of clients beside one who adds columns whose values are computed for each row. What was committed
 * is run again, one transaction after the other in the order of their commits, in a table that had the columns from
 * the beginning: answers of those who wrote, and the rows at the end, also after a restart, must be equal. Values of
 * random and serial columns are never NULL, never twice the same, and never change while a row lives.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { type SeededRandom, seededRandom } from "../support/random.ts";
import { TestClient } from "./client_for_test.ts";

const histories = 20;
const steps = 120;
const clients = 3;

/** A statement that has succeeded, and what it has answered. */
interface Said {
  readonly sql: string;
  readonly answer: string;
}

/** One client's block as far as it came. */
class Block {
  readonly client: TestClient;
  said: Said[] = [];
  isOpen = false;

  constructor(client: TestClient) {
    this.client = client;
  }
}

const generated = [
  "int GENERATED ALWAYS AS (n * 3 + 1) STORED",
  "text GENERATED ALWAYS AS (s || '.') STORED UNIQUE",
  "int GENERATED ALWAYS AS (n % 7) STORED CHECK (@ < 6)",
  "int GENERATED ALWAYS AS (nullif(n, 11)) STORED NOT NULL",
];
const drawn = ["float NOT NULL DEFAULT random()", "uuid UNIQUE DEFAULT gen_random_uuid()", "serial UNIQUE"];

function statement(random: SeededRandom, index: number): string {
  const own = () => index * 100 + random.below(14);
  const n = random.below(12);
  return random.pick([
    `INSERT INTO t VALUES (${own()}, ${n}, 's${index}.${random.below(100)}')`,
    `INSERT INTO t VALUES (${own()}, ${n}, 's${index}.${random.below(100)}')`,
    `INSERT INTO t VALUES (${own()}, ${n}, 'k${index}') ON CONFLICT (id) DO UPDATE SET n = t.n + 1`,
    `UPDATE t SET n = ${n} WHERE id = ${own()}`,
    `UPDATE t SET n = ${n} WHERE id = ${own()}`,
    `UPDATE t SET id = ${own()} WHERE id = ${own()}`,
    `DELETE FROM t WHERE id = ${own()}`,
    `SELECT id, n, s FROM t WHERE id = ${own()}`,
    `SELECT count(*), sum(n) FROM t WHERE id BETWEEN ${own()} AND ${own()}`,
    `SELECT count(*), sum(n) FROM t WHERE id = ${random.below(3) * 100 + random.below(14)}`,
    `SAVEPOINT s${random.below(2)}`,
    `SAVEPOINT s${random.below(2)}`,
    `ROLLBACK TO s${random.below(2)}`,
  ]);
}

/** Runs a history; answers what was committed, in order, and the columns. */
async function history(
  seed: number,
): Promise<{ committed: Said[][]; columns: string[]; rows: string; codes: Set<string> }> {
  const random = seededRandom(seed);
  const options = { host: memoryHost(), directory: "data" };
  let engine = await Engine.open(options);
  engine.manager.losses.remembers = false;
  const definer = new TestClient(engine);
  await definer.run(start);
  const blocks = Array.from({ length: clients }, () => new Block(new TestClient(engine)));
  const committed: Said[][] = [];
  const columns: string[] = [];
  const codes = new Set<string>();
  let pending: string | null = null;
  for (let step = 0; step < steps; step++) {
    if (random.below(7) === 0) {
      if (pending !== null) {
        const answer = random.below(4) === 0 ? await definer.run("ROLLBACK") : await definer.fails("COMMIT");
        codes.add(`definer ${answer}`);
        if (answer === "succeeded with COMMIT" && isGenerated(pending)) columns.push(pending);
        pending = null;
        continue;
      }
      const name = `c${step}`;
      const column = `${name} ${random.pick(random.below(2) === 0 ? generated : drawn).replace("@", name)}`;
      const isLater = random.below(2) === 0;
      if (isLater) await definer.run("BEGIN");
      const answer = await definer.fails(`ALTER TABLE t ADD COLUMN ${column}`);
      codes.add(`definer ${answer}`);
      if (answer !== "succeeded with ALTER TABLE") {
        if (isLater) await definer.run("ROLLBACK");
      } else if (isLater) pending = column;
      else if (isGenerated(column)) columns.push(column);
      continue;
    }
    const index = random.below(clients);
    const block = blocks[index] as Block;
    if (!block.isOpen) {
      await block.client.run("BEGIN");
      block.isOpen = true;
      block.said = [];
      continue;
    }
    if (random.below(6) === 0) {
      const answer = await block.client.fails("COMMIT");
      codes.add(answer);
      if (answer === "succeeded with COMMIT") committed.push(block.said);
      block.isOpen = false;
      continue;
    }
    const sql = statement(random, index);
    const answer = await block.client.fails(sql);
    codes.add(answer.startsWith("succeeded") ? "ok" : answer);
    if (answer.startsWith("succeeded")) block.said.push({ sql, answer });
    else {
      await block.client.run("ROLLBACK");
      block.isOpen = false;
    }
    if (block.isOpen && random.below(3) === 0 && !(await isWhole(block.client, random.below(300)))) {
      codes.add("40001 beside");
      await block.client.run("ROLLBACK");
      block.isOpen = false;
    }
  }
  if (pending !== null) await definer.run("ROLLBACK");
  for (const block of blocks) {
    if (block.isOpen && await block.client.fails("COMMIT") === "succeeded with COMMIT") {
      committed.push(block.said);
    }
  }
  ok(await isWhole(definer, 0));
  const names = await columnNames(definer);
  const all = `SELECT ${names.join(", ")} FROM t ORDER BY id`;
  const everything = await definer.run(all);
  const rows = await definer.run(`SELECT ${base(columns)} FROM t ORDER BY id`);
  await engine.close();
  engine = await Engine.open(options);
  strictEqual(await new TestClient(engine).run(all), everything);
  await engine.close();
  return { committed, columns, rows, codes };
}

const start = "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, s text);" +
  "INSERT INTO t SELECT c * 100 + g, g, c || 'x' || g FROM generate_series(0, 2) c, generate_series(1, 5) g";

function isGenerated(column: string): boolean {
  return column.includes("GENERATED");
}

function base(columns: readonly string[]): string {
  return ["id", "n", "s", ...columns.map((column) => column.split(" ")[0])].join(", ");
}

async function columnNames(client: TestClient): Promise<string[]> {
  const names = await client.run(
    "SELECT column_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position",
  );
  return names.split(";");
}

/** Looks at values that are drawn for each row: they are there, once. false: the transaction must end instead. */
async function isWhole(client: TestClient, from: number): Promise<boolean> {
  const table = client.session.catalog.tables.find((each) => each.name === "t");
  ok(table);
  const names = table.columns.filter((each) => each.defaultText !== null).map((each) => each.name);
  if (names.length === 0) return true;
  const counts = names.map((name) => `count(*) - count(DISTINCT ${name})`);
  const answer = await client.fails(`SELECT ${counts.join(" + ")} FROM t WHERE id >= ${from}`);
  if (answer === "40001") return false;
  strictEqual(answer, "succeeded with 0");
  return true;
}

Deno.test(`${histories} histories beside filled columns are like one after the other`, async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= histories; seed++) {
    const { committed, columns, rows, codes } = await history(seed);
    for (const code of codes) seen.add(code);
    const engine = await Engine.open({ host: memoryHost(), directory: "data" });
    const client = new TestClient(engine);
    await client.run(start);
    for (const column of columns) {
      await client.run(`ALTER TABLE t ADD COLUMN ${column.replace(/ UNIQUE| CHECK.*| NOT NULL/, "")}`);
    }
    for (const said of committed) {
      const writes = said.some(({ sql }) => !/^SELECT|SAVEPOINT|ROLLBACK/.test(sql));
      await client.run("BEGIN");
      for (const { sql, answer } of said) {
        const again = await client.fails(sql);
        if (writes) deepStrictEqual({ seed, sql, answer: again }, { seed, sql, answer });
      }
      await client.run("COMMIT");
    }
    strictEqual(await client.run(`SELECT ${base(columns)} FROM t ORDER BY id`), rows, `seed ${seed}`);
    await engine.close();
  }
  for (
    const code of ["ok", "40001", "23505", "23514", "succeeded with COMMIT", "definer succeeded with COMMIT"]
  ) {
    ok(seen.has(code), `${code} of ${[...seen]}`);
  }
});
