/**
 * When a column is added makes no difference to those who do not name it: random histories of three clients run once
 * with columns that come while transactions are open, and once with the same columns there from the beginning. Every
 * answer and error, and the rows at the end, also after a restart, must be equal.
 *
 * Clients write to rows of their own, so that none waits, and read everybody's, so that some lose.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { type SeededRandom, seededRandom } from "../support/random.ts";
import { TestClient } from "./client_for_test.ts";
import { CopiedText } from "../support/copied_text.ts";

const histories = 12;
const steps = 90;
const clients = 3;
const ownRows = 12;

/** What a client does; `define` is the definition that only one of the two runs sees at its place. */
type Step =
  | { readonly kind: "run"; readonly client: number; readonly sql: string }
  | { readonly kind: "load"; readonly client: number; readonly lines: readonly string[] }
  | { readonly kind: "define"; readonly sql: string };

const columnKinds = [
  "int DEFAULT 7",
  "int NOT NULL DEFAULT -1 CHECK (@ < 0)",
  "text DEFAULT 'é'",
  "bigint DEFAULT 9007199254740993",
  "bytea DEFAULT '\\x00ff'",
  "float DEFAULT 0.5",
  "numeric(20, 4) DEFAULT 123456789012.5",
  "text[] DEFAULT '{a,b}'",
  "int UNIQUE",
  "jsonb",
];

function historyOf(
  random: SeededRandom,
): { readonly steps: readonly Step[]; readonly columns: readonly string[] } {
  const columns: string[] = [];
  const made = Array.from({ length: steps }, (): Step => {
    if (random.below(8) === 0 && columns.length < 12) {
      const name = `c${columns.length}`;
      const column = `ADD COLUMN ${name} ${random.pick(columnKinds).replace("@", name)}`;
      columns.push(column);
      return { kind: "define", sql: `ALTER TABLE t ${column}` };
    }
    const client = random.below(clients);
    const own = () => client * 1000 + random.below(ownRows);
    const row = (id: number) => `(${id}, ${random.below(5)}, 's${client}.${random.below(40)}')`;
    if (random.below(16) === 0) {
      const lines = Array.from(
        { length: 3 },
        (_, at) => `${client * 1000 + 500 + random.below(400) + at}\t3\t\\N`,
      );
      return { kind: "load", client, lines };
    }
    const sql = random.pick([
      "BEGIN",
      "BEGIN",
      `SAVEPOINT s${random.below(3)}`,
      `SAVEPOINT s${random.below(3)}`,
      `ROLLBACK TO s${random.below(3)}`,
      `ROLLBACK TO s${random.below(3)}`,
      `RELEASE s${random.below(3)}`,
      "COMMIT",
      "COMMIT",
      "ROLLBACK",
      `INSERT INTO t VALUES ${row(own())}`,
      `INSERT INTO t VALUES ${row(own())}, ${row(own())}`,
      `INSERT INTO t ${
        row(own()).replace("(", "SELECT ").replace(/\)$/, "")
      } ON CONFLICT (id) DO UPDATE SET n = t.n + 1`,
      `INSERT INTO t SELECT ${client * 1000 + 100} + row_number() OVER (), n FROM t WHERE n = ${
        random.below(5)
      }`,
      `UPDATE t SET n = n + 1 WHERE id = ${own()}`,
      `UPDATE t SET id = ${own()} WHERE id = ${own()}`,
      `UPDATE t SET n = ${random.below(5)}, s = NULL WHERE id BETWEEN ${client * 1000} AND ${own()}`,
      `DELETE FROM t WHERE id = ${own()}`,
      `DELETE FROM t WHERE n = ${random.below(5)} AND id >= ${client * 1000} AND id < ${
        client * 1000 + 1000
      }`,
      `SELECT id, n, s FROM t WHERE id = ${own()}`,
      `SELECT id, n, s FROM t WHERE s = 's${client}.${random.below(40)}'`,
      `SELECT count(*), sum(n) FROM t WHERE n <= ${random.below(5)}`,
      `SELECT id, n, s FROM t WHERE id >= ${client * 1000} ORDER BY s, id LIMIT 20`,
      `EXECUTE put(${own()}, ${random.below(5)})`,
    ]);
    return { kind: "run", client, sql };
  });
  return { steps: made, columns };
}

async function answerOf(client: TestClient, step: Step): Promise<string> {
  if (step.kind !== "load") return await client.fails(step.sql);
  let durable = Promise.resolve();
  try {
    await client.session.simple(
      "COPY t (id, n, s) FROM STDIN",
      new CopiedText(step.lines.join("\n") + "\n"),
      (outcome) => durable = client.session.whenDurable(outcome.durableOp),
    );
    await durable;
    return "loaded";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

interface Outcome {
  readonly answers: readonly string[];
  readonly rows: string;
}

async function outcomeOf(all: readonly Step[], before: readonly string[]): Promise<Outcome> {
  const options = { host: memoryHost(), directory: "data" };
  let engine = await Engine.open(options);
  engine.manager.losses.remembers = false;
  const definer = new TestClient(engine);
  const others = Array.from({ length: clients }, () => new TestClient(engine));
  await definer.run(
    "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, s text UNIQUE, CHECK (n < 9)); CREATE INDEX t_n ON t (n, s);" +
      `INSERT INTO t SELECT c * 1000 + g, g % 5, c || 'x' || g FROM generate_series(0, ${
        clients - 1
      }) c, generate_series(1, 9) g`,
  );
  for (const column of before) await definer.run(`ALTER TABLE t ${column}`);
  for (const client of others) await client.run("PREPARE put AS INSERT INTO t (id, n) VALUES ($1, $2)");
  const answers: string[] = [];
  for (const step of all) {
    if (step.kind === "define") {
      if (before.length === 0) strictEqual(await definer.run(step.sql), "ALTER TABLE");
      continue;
    }
    const client = others[step.client];
    ok(client);
    answers.push(await answerOf(client, step));
  }
  for (const client of others) answers.push(await client.fails("COMMIT"));
  const rows = await definer.run("SELECT * FROM t ORDER BY id");
  await engine.close();
  engine = await Engine.open(options);
  strictEqual(await new TestClient(engine).run("SELECT * FROM t ORDER BY id"), rows);
  await engine.close();
  return { answers, rows };
}

Deno.test(`${histories} histories answer the same whether columns are added before or during them`, async () => {
  const codes = new Map<string, number>();
  for (let seed = 1; seed <= histories; seed++) {
    const { steps, columns } = historyOf(seededRandom(seed));
    const during = await outcomeOf(steps, []);
    const before = await outcomeOf(steps, columns);
    const said = (outcome: Outcome) =>
      steps.filter((each) => each.kind !== "define").map((step, at) =>
        `${at} ${JSON.stringify(step)}: ${outcome.answers[at]}`
      );
    deepStrictEqual(said(during), said(before), `seed ${seed}`);
    deepStrictEqual(during, before, `seed ${seed}`);
    for (const answer of during.answers) codes.set(answer, (codes.get(answer) ?? 0) + 1);
  }
  for (const code of ["40001", "23505", "25P02", "loaded", "succeeded with COMMIT"]) {
    ok(codes.has(code), code);
  }
});
