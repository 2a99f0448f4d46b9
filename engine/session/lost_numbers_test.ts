/**
 * Values of sequences and row ids that were handed out are never handed out again: whatever became of the statement
 * or transaction that got them, and whatever became of the server after the next commit.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import { Engine } from "./engine.ts";
import type { Session } from "./session.ts";
import { CopiedText } from "../../tests/support/copied_text.ts";

const TABLES =
  "CREATE TABLE t (n serial, v int UNIQUE); CREATE SEQUENCE q INCREMENT -3; CREATE TABLE p (v int); CREATE TABLE note (id int)";
const INSERT = "INSERT INTO t (v) VALUES (1) RETURNING n, rowid";

/** Ways to lose numbers: texts, of which those that begin with `!` fail. */
const WAYS: readonly (readonly string[])[] = [
  [`BEGIN; ${INSERT}; SELECT nextval('q') AS q; ROLLBACK`],
  [`BEGIN; ${INSERT}`, "!SELECT 1 / 0", "ROLLBACK"],
  ["!INSERT INTO t (v) VALUES (1), (1)", `BEGIN; ${INSERT}; ROLLBACK`],
  ["!COPY t (v) FROM STDIN", `BEGIN; ${INSERT}; ROLLBACK`],
  [`BEGIN; ${INSERT}; DELETE FROM t; SELECT nextval('q') AS q; COMMIT`],
  [`BEGIN; SAVEPOINT s; ${INSERT}; ROLLBACK TO s; INSERT INTO note VALUES (1); COMMIT`],
  [`BEGIN; INSERT INTO note VALUES (1); ${INSERT}; SAVEPOINT s`, "!INSERT INTO t (v) VALUES (1)", "ROLLBACK"],
  [
    "SELECT setval('q', -900 - 100 * (SELECT count(*) FROM note)); INSERT INTO note VALUES (1)",
    "BEGIN; SELECT nextval('q') AS q; ROLLBACK",
  ],
  ["BEGIN; INSERT INTO p VALUES (1) RETURNING rowid AS p; ROLLBACK"],
  // The last of it is open when the server stops.
  ["INSERT INTO note VALUES (1)", `BEGIN; ${INSERT}; ROLLBACK; BEGIN`],
];

/** Runs a text and answers the numbers that it gave; a failing one must give none. */
async function numbersOf(host: SimulatedHost, session: Session, text: string): Promise<string[]> {
  const sink = new CopiedText("101\n102\n101\n");
  const numbers: string[] = [];
  const sql = text.replace("!", "");
  const collect = (): void => {
    for (const row of sink.rows) {
      row.forEach((value, at) => numbers.push(`${sink.columns[at]?.name} ${value}`));
    }
    sink.rows.length = 0;
  };
  try {
    await host.settle(Promise.resolve(session.simple(sql, sink, collect)));
    strictEqual(text, sql, "it was to fail");
  } catch (thrown) {
    ok(text !== sql && thrown instanceof DatabaseError, `${text}: ${thrown}`);
  }
  return numbers.filter((each) => !each.startsWith("setval"));
}

/** Lives of a server in which numbers are lost in one way: none may be given twice. */
async function lives(way: readonly string[], end: (host: SimulatedHost, engine: Engine) => Promise<unknown>) {
  const host = new SimulatedHost(1);
  const numbers: string[] = [];
  for (let life = 0; life < 3; life++) {
    const engine = await host.settle(Engine.open({ host, directory: "db" }));
    const session = engine.openSession();
    if (life === 0) await numbersOf(host, session, TABLES);
    for (const text of way) numbers.push(...await numbersOf(host, session, text));
    await end(host, engine);
  }
  const seen = new Set<string>();
  deepStrictEqual(numbers.filter((each) => seen.size === seen.add(each).size), [], way.join("; "));
  ok(numbers.length >= 3, `${numbers.length} numbers of ${way}`);
}

Deno.test("numbers that were lost are not given again after a clean stop", async () => {
  for (const way of WAYS) await lives(way, (host, engine) => host.settle(engine.close()));
});

Deno.test("numbers that were lost are not given again after a crash behind the next commit", async () => {
  for (const way of WAYS) {
    await lives(way, async (host, engine) => {
      const isSaid = way.at(-1)?.endsWith("COMMIT") === true && way.at(-1)?.includes("note") === true;
      if (!isSaid) await numbersOf(host, engine.openSession(), "INSERT INTO note VALUES (2)");
      host.crash();
    });
  }
});
