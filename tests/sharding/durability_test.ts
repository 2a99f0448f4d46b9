/**
 * Shards are told of an entry when it is appended, and row locks end then. So whoever reads what is not durable yet is
 * answered no earlier than it is, in whichever way the rows come; and a power failure takes it from all shards.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { Engine } from "../../engine/session/engine.ts";
import type { Session } from "../../engine/session/session.ts";
import { RowBuffer } from "../../engine/statements/row_buffer.ts";
import { runDurably } from "../support/run_sql.ts";
import { Machines } from "./machines.ts";

/** A sink that takes COPY data as text, too. */
class Answers extends RowBuffer {
  copied = "";

  override copyOutBegin(): void {}

  override copyOutData(bytes: Uint8Array): void {
    this.copied += new TextDecoder().decode(bytes);
  }
}

/** What the last statement's answer shows tells of the writer's transaction. */
const WAYS: readonly (readonly [name: string, shown: string, ...texts: string[]])[] = [
  ["a row by its id", "42", "SELECT v FROM t WHERE id = 1"],
  ["a row that is gone", "", "SELECT v FROM t WHERE id = 9"],
  ["an aggregate of all shards", "58", "SELECT sum(v) FROM t"],
  ["a look-up in an index", "1", "SELECT id FROM t WHERE v = 42"],
  ["a unique key", "42", "SELECT v FROM t WHERE name = 'a'"],
  ["a join at the shards", "42", "SELECT a.v FROM t a JOIN t b ON a.v = b.v WHERE a.id = 1"],
  ["a join with another table", "42", "SELECT t.v FROM u JOIN t ON t.id = u.id"],
  ["what is fetched", "42,1", "SELECT (SELECT v FROM t WHERE id = 1), (SELECT count(*) FROM u)"],
  ["a view", "42", "SELECT v FROM seen"],
  ["a union", "42;1", "SELECT v FROM t WHERE id = 1 UNION ALL SELECT id FROM u"],
  ["a prepared statement", "42", "PREPARE p AS SELECT v FROM t WHERE id = 1", "EXECUTE p"],
  ["COPY TO", "42\n", "COPY (SELECT v FROM t WHERE id = 1) TO STDOUT"],
  ["a block", "42", "BEGIN", "SELECT v FROM t WHERE id = 1"],
  ["a block that only reads", "42", "BEGIN READ ONLY", "SELECT v FROM t WHERE id = 1"],
  ["a block at READ COMMITTED", "58", "BEGIN ISOLATION LEVEL READ COMMITTED", "SELECT sum(v) FROM t"],
  ["a block that has written", "42", "BEGIN", "INSERT INTO u VALUES (7)", "SELECT v FROM t WHERE id = 1"],
  [
    "a row behind a savepoint",
    "58",
    "BEGIN",
    "SAVEPOINT s",
    "SELECT FROM u",
    "ROLLBACK TO s",
    "SELECT sum(v) FROM t",
  ],
  ["a locked row", "42", "BEGIN", "SELECT v FROM t WHERE id = 1 FOR UPDATE"],
  ["a cursor", "42;2;14;0", "BEGIN", "DECLARE c CURSOR FOR SELECT v FROM t ORDER BY id", "FETCH ALL FROM c"],
  ["an insert that meets a row", "", "INSERT INTO t VALUES (10, 1, 'new') ON CONFLICT DO NOTHING"],
];

/** A database whose router's disk ends no sync from now on, before `release` is called. */
async function open(): Promise<{ machines: Machines; engine: Engine; release(): void }> {
  const machines = new Machines(1, 1 << 20);
  const { engine, session } = await machines.open();
  const { disk } = machines.router;
  // So slow that no sync blocks the thread.
  disk.slowness = 1000;
  await machines.settle(runDurably(
    session,
    `CREATE TABLE t (id INT PRIMARY KEY, v INT, name TEXT UNIQUE);
     CREATE INDEX ON t (v);
     CREATE TABLE u (id INT PRIMARY KEY);
     CREATE VIEW seen AS SELECT v FROM t WHERE id = 1;
     INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 14, 'c'), (9, 0, 'd');
     INSERT INTO u VALUES (1)`,
  ));
  const { promise, resolve } = Promise.withResolvers<void>();
  const later = disk.later.bind(disk);
  disk.later = (microseconds) => promise.then(() => later(microseconds));
  return { machines, engine, release: resolve };
}

/** Changes a row, and adds and deletes one: at both shards. */
const WRITES = `BEGIN; UPDATE t SET v = 42 WHERE id = 1; INSERT INTO t VALUES (10, 0, 'x');
  DELETE FROM t WHERE id = 9; COMMIT`;

/** Runs a text; answers what it shows, and what must be durable before that is sent. */
async function run(session: Session, text: string): Promise<{ shown: string; durableOp: number }> {
  const sink = new Answers();
  let durableOp = 0;
  await session.simple(text, sink, (outcome) => durableOp = outcome.durableOp);
  return { shown: sink.rows.map((row) => row.join(",")).join(";") + sink.copied, durableOp };
}

for (const [name, shown, ...texts] of WAYS) {
  Deno.test(`who reads what is not durable yet is answered when it is: ${name}`, async () => {
    const { machines, engine, release } = await open();
    const writer = engine.openSession(), reader = engine.openSession();
    const written = await machines.settle(run(writer, WRITES));
    ok(written.durableOp > engine.durableOp, "the entry is not durable");
    let answer = { shown: "", durableOp: 0 };
    for (const text of texts) answer = await machines.settle(run(reader, text));
    strictEqual(answer.shown, shown);
    ok(answer.durableOp >= written.durableOp, `${answer.durableOp} of ${written.durableOp}`);
    let isAnswered = false;
    const answered = reader.whenDurable(answer.durableOp).then(() => isAnswered = true);
    await machines.rest();
    ok(!isAnswered && engine.durableOp < written.durableOp, "not before it is durable");
    release();
    await machines.settle(answered);
    ok(engine.durableOp >= written.durableOp);
    await machines.settle(engine.close());
  });
}

Deno.test("a row lock ends when the entry is appended, and what was never durable goes from all shards", async () => {
  const { machines, engine } = await open();
  const first = engine.openSession(), second = engine.openSession(), reader = engine.openSession();
  const ops: number[] = [];
  for (let round = 0; round < 10; round++) {
    for (const session of [first, second]) {
      ops.push((await machines.settle(run(session, "UPDATE t SET v = v + 1 WHERE id IN (1, 2)"))).durableOp);
    }
  }
  deepStrictEqual(ops, ops.toSorted((a, b) => a - b));
  ok((ops[0] ?? 0) > engine.durableOp);
  const seen = await machines.settle(run(reader, "SELECT v FROM t WHERE id < 3 ORDER BY id"));
  deepStrictEqual(seen, { shown: "21;22", durableOp: ops.at(-1) });
  machines.crash();
  const again = await machines.open();
  const rows = await machines.settle(runDurably(again.session, "SELECT id, v FROM t ORDER BY id"));
  deepStrictEqual(rows, [[1, 1], [2, 2], [3, 14], [9, 0]]);
  await machines.settle(again.engine.close());
});
