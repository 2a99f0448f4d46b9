/** Unique keys over shards: who is asked about them, and that rivals never get the same one. */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { SeededRandom } from "../../engine/base/random.ts";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { runDurably } from "../support/run_sql.ts";
import { lateShards, openShardedEngine, watchedShards } from "./sharded_database.ts";

/** Runs statements; answers which shard was asked what by the last one, but for what can wait. */
async function asked(...texts: readonly string[]): Promise<string[]> {
  const kinds: string[] = [];
  const start = watchedShards((index) => ({
    asked: (requests, pass) => {
      kinds.push(...requests.map(({ kind }) => `${kind} ${index}`));
      pass(requests);
    },
  }));
  const engine = await openShardedEngine(4, start);
  const client = TestClient.over(engine);
  await client.run(...texts.slice(0, -1));
  // What waits goes with the next messages.
  await client.rows("SELECT count(*) FROM t");
  kinds.length = 0;
  await client.run(texts.at(-1) ?? "");
  const during = kinds.filter((kind) => !/^(begin|end|apply|keep) /.test(kind));
  await client.close();
  return during.toSorted();
}

const TABLE = "CREATE TABLE t (id INT PRIMARY KEY, email TEXT UNIQUE, code NUMERIC UNIQUE, v INT)";
const ROWS = "INSERT INTO t SELECT n, 'e' || n, n, n FROM generate_series(1, 40) n";

Deno.test("a change that leaves a row's unique keys as they are asks its shard alone, and for no vote", async () => {
  const one = await asked(TABLE, ROWS, "UPDATE t SET v = v + 1 WHERE id = 7");
  strictEqual(one.length, 1);
  ok(one[0]?.startsWith("fetch ") === true);
  // Equal in another form, and an expression over part of the rows.
  const same = await asked(
    TABLE,
    "CREATE UNIQUE INDEX ON t (lower(email)) WHERE v > 0",
    ROWS,
    "UPDATE t SET code = 7.00, email = 'e7', v = 8 WHERE id = 7",
  );
  strictEqual(same.length, 1);
  // All rows come in one go, where they had been asked about one by one.
  deepStrictEqual(
    await asked(TABLE, ROWS, "UPDATE t SET v = v + 1 WHERE v % 2 = 0"),
    [0, 1, 2, 3].flatMap((shard) => [`agree ${shard}`, `fetch ${shard}`]).toSorted(),
  );
});

Deno.test("a new row with unique keys needs no vote; a key that moves to a row does", async () => {
  const inserted = await asked(TABLE, ROWS, "INSERT INTO t VALUES (50, 'e50', 50, 1)");
  deepStrictEqual([...new Set(inserted.map((kind) => kind.split(" ")[0]))], ["fetch"]);
  const moved = await asked(TABLE, ROWS, "UPDATE t SET email = 'other' WHERE id = 7");
  ok(moved.some((kind) => kind.startsWith("agree")), moved.join());
});

const DUPLICATE = { code: "23505", message: /duplicate key value violates unique constraint "t_email_key"/ };

Deno.test("of two that give the same key at once one has it, with shards as without", async () => {
  const answers: string[][] = [];
  for (const shards of [1, 2, 4]) {
    const engine = shards === 1
      ? await Engine.open({ host: memoryHost(), directory: ":memory:" })
      : await openShardedEngine(shards, lateShards(shards));
    const [first, second] = [engine.openSession(), engine.openSession()];
    const run = (session: typeof first, text: string) => runDurably(session, text);
    await run(first, TABLE);
    const log: string[] = [];
    const tell = (running: Promise<unknown>) =>
      running.then(
        () => log.push("done"),
        (error: DatabaseError) => log.push(`${error.code} ${error.message} ${error.detail}`),
      );
    // The other one waits for what becomes of it.
    for (const [end, id] of [["COMMIT", 1], ["ROLLBACK", 3]] as const) {
      await run(first, `BEGIN; INSERT INTO t VALUES (${id}, 'k${id}')`);
      const waiting = tell(run(second, `INSERT INTO t VALUES (${id + 1}, 'k${id}')`));
      await new Promise((resolve) => setTimeout(resolve, 30));
      log.push(`${end}, after ${log.length}`);
      await run(first, end);
      await waiting;
    }
    // A key that is free again, and one that comes by an update.
    await run(first, "BEGIN; DELETE FROM t WHERE email = 'k1'");
    const waiting = tell(run(second, "INSERT INTO t VALUES (6, 'k1')"));
    await new Promise((resolve) => setTimeout(resolve, 30));
    log.push(`deleted, after ${log.length}`);
    await run(first, "COMMIT");
    await waiting;
    await tell(run(second, "UPDATE t SET email = 'k3' WHERE id = 6"));
    // Both by themselves, at the same moment.
    const both = await Promise.allSettled(
      [first, second].map((session, index) => run(session, `INSERT INTO t VALUES (${10 + index}, 'both')`)),
    );
    log.push(both.map(({ status }) => status).toSorted().join());
    const rows = await run(first, "SELECT email, count(*) FROM t GROUP BY email ORDER BY email");
    log.push(JSON.stringify(rows, (_, value) => String(value)));
    answers.push(log);
    await engine.close();
  }
  const [plain, ...others] = answers;
  ok(plain?.some((line) => line.startsWith("23505")) && plain.includes("fulfilled,rejected"), String(plain));
  for (const other of others) deepStrictEqual(other, plain);
});

Deno.test("a key that was given since a block's cut is noticed, by whichever way it came", async () => {
  const ways: readonly (readonly [text: string, copied?: string])[] = [
    ["INSERT INTO t VALUES (2, 'k')"],
    ["UPDATE t SET email = 'k' WHERE id = 1"],
    ["COPY t FROM STDIN", "2\tk\t\\N\t\\N\n"],
    ["ALTER TABLE t ADD COLUMN w INT; INSERT INTO t VALUES (2, 'k')"],
    ["TRUNCATE t; INSERT INTO t VALUES (2, 'k')"],
  ];
  for (const [way, copied] of ways) {
    const engine = await openShardedEngine(4, lateShards(7));
    const [block, other] = [engine.openSession(), engine.openSession()];
    await runDurably(other, `${TABLE}; INSERT INTO t VALUES (1, 'a'); CREATE TABLE u (id INT PRIMARY KEY)`);
    await runDurably(block, "BEGIN; SELECT count(*) FROM u");
    if (copied === undefined) await runDurably(other, way);
    else await TestClient.over(engine).copyIn(way, copied);
    await rejects(
      runDurably(block, "INSERT INTO t VALUES (9, 'k')").then(() => runDurably(block, "COMMIT")),
      (error: DatabaseError) => error.code === "40001" || error.code === "23505",
    );
    await runDurably(block, "ROLLBACK");
    deepStrictEqual(await runDurably(other, "SELECT count(*)::int FROM t WHERE email = 'k'"), [[1]], way);
    await engine.close();
  }
});

Deno.test("rivals over late shards never have a key twice, and keys that are free can be had", async () => {
  for (const seed of [1, 2, 3]) {
    const engine = await openShardedEngine(seed === 3 ? 2 : 4, lateShards(seed));
    const setup = engine.openSession();
    await runDurably(
      setup,
      `CREATE TABLE t (id SERIAL PRIMARY KEY, email TEXT UNIQUE, a INT, b INT, v INT, UNIQUE NULLS NOT DISTINCT (a, b));
       CREATE UNIQUE INDEX ON t (lower(email)) WHERE v > 0`,
    );
    let done = 0;
    const codes = new Set<string>();
    const client = async (number: number): Promise<void> => {
      const session = engine.openSession(), random = new SeededRandom(seed * 100 + number);
      const key = () => random.below(4) === 0 ? "NULL" : `'${"kK"[random.below(2)]}${random.below(6)}'`;
      const small = () => random.below(5) === 0 ? "NULL" : random.below(3);
      const change = (): string => {
        switch (random.below(6)) {
          case 0:
          case 1:
            return `INSERT INTO t (email, a, b, v) VALUES (${key()}, ${random.below(40)}, ${small()}, ${
              random.below(2)
            })`;
          case 2:
            return `UPDATE t SET email = ${key()} WHERE email = ${key()}`;
          case 3:
            return `UPDATE t SET v = 1 - v, b = ${small()} WHERE a = ${random.below(40)}`;
          case 4:
            return `DELETE FROM t WHERE email = ${key()}`;
          default:
            return `INSERT INTO t (email, a, v) VALUES (${key()}, ${random.below(40)}, 1)
              ON CONFLICT (email) DO UPDATE SET v = t.v + 1`;
        }
      };
      for (let round = 0; round < 12; round++) {
        const isBlock = random.below(2) === 0;
        const level = ["SERIALIZABLE", "REPEATABLE READ", "READ COMMITTED"][random.below(3)];
        const begin = `BEGIN ISOLATION LEVEL ${level}`;
        const texts = isBlock ? [begin, change(), "SAVEPOINT s", change(), "COMMIT"] : [change()];
        for (const text of texts) {
          try {
            await runDurably(session, text);
            if (text === texts.at(-1)) done++;
          } catch (error) {
            if (!(error instanceof DatabaseError)) throw error;
            codes.add(error.code);
            ok(error.code !== "40001" || isBlock && level !== "READ COMMITTED", `${level}: ${error.message}`);
            if (!isBlock) break;
            if (error.code === "23505" && text === texts[3]) await runDurably(session, "ROLLBACK TO s");
            else {
              await runDurably(session, "ROLLBACK");
              break;
            }
          }
        }
      }
      session.close();
    };
    await Promise.all([1, 2, 3, 4, 5, 6].map(client));
    for (const code of codes) ok(["23505", "40001", "40P01"].includes(code), code);
    ok(codes.has("23505") && done >= 30, `${done} done, ${[...codes]}`);
    const twice = (keys: string, where: string) =>
      runDurably(setup, `SELECT ${keys} FROM t ${where} GROUP BY ${keys} HAVING count(*) > 1`);
    deepStrictEqual(await twice("email", "WHERE email IS NOT NULL"), []);
    deepStrictEqual(await twice("lower(email)", "WHERE email IS NOT NULL AND v > 0"), []);
    deepStrictEqual(await twice("a, b", ""), []);
    // What the indexes find is what is there.
    const rows = await runDurably(setup, "SELECT id, email FROM t WHERE email IS NOT NULL ORDER BY id");
    for (const [id, email] of rows) {
      deepStrictEqual(await runDurably(setup, `SELECT id FROM t WHERE email = '${email}'`), [[id]]);
    }
    await rejects(
      runDurably(setup, `INSERT INTO t (email, a, v) VALUES ('${rows[0]?.[1]}', 99, 0)`),
      DUPLICATE,
    );
    await engine.close();
  }
});
