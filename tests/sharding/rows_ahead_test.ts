/**
 * Changes of single rows by their ids: one request to one shard, no vote, and the statement runs once; and what may
 * come in between the request and the entry.
 */
import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { DatabaseError, SQLSTATE } from "../../engine/base/errors.ts";
import type { Engine } from "../../engine/session/engine.ts";
import { shardOf } from "../../engine/sharding/shard_map.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { DeafShards } from "./deaf_shards.ts";
import { lateShards, openShardedEngine, watchedShards } from "./sharded_database.ts";

/** Shards whose answers can be held back; what is asked of them is noted. */
class HeldShards {
  readonly kinds: string[] = [];
  isHeld = false;
  /** Holds the answer to the next request for a single row. */
  holdsRow = false;
  /** Holds the votes that are asked for from now on. */
  holdsVotes = false;
  readonly #held: (() => void)[] = [];

  open(): Promise<Engine> {
    const start = watchedShards((index) => {
      const waited = new Set<number>();
      return {
        answered: (replies, pass) => {
          for (const reply of replies) {
            if (this.isHeld || "call" in reply && waited.delete(reply.call)) {
              this.#held.push(() => pass([reply]));
            } else pass([reply]);
          }
        },
        asked: (requests, pass) => {
          this.kinds.push(...requests.map(({ kind }) => `${kind} ${index}`));
          for (const request of requests) {
            if (request.kind === "agree" && this.holdsVotes) waited.add(request.call);
            if (request.kind !== "fetch" || request.wanted.kind !== "points" || !this.holdsRow) continue;
            this.holdsRow = false;
            waited.add(request.call);
          }
          pass(requests);
        },
      };
    });
    return openShardedEngine(4, start);
  }

  /** What was held comes. */
  release(): void {
    this.isHeld = this.holdsVotes = false;
    for (const answer of this.#held.splice(0)) answer();
  }
}

const TABLE = [
  "CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT GENERATED ALWAYS AS (v * 2) STORED)",
  "INSERT INTO t SELECT n, 10 FROM generate_series(1, 20) n",
];

/** Other promises have their turn. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

async function clients(engine: Engine, count: number): Promise<TestClient[]> {
  const all = Array.from({ length: count }, () => TestClient.over(engine));
  await all[0]?.run(...TABLE);
  return all;
}

async function shardOfRow(client: TestClient, id: number): Promise<number> {
  const [oid] = await client.rows("SELECT 't'::regclass::oid::int");
  return shardOf(Number(oid), id, 4);
}

Deno.test("a change of a row by its id is one request to its shard, and what it has for the shard goes later", async () => {
  const shards = new HeldShards();
  const [client] = await clients(await shards.open(), 1) as [TestClient];
  const home = await shardOfRow(client, 3);
  const kindsOf = async (sql: string): Promise<string[]> => {
    await client.rows("SELECT count(*) FROM t");
    shards.kinds.length = 0;
    await client.run(sql);
    const kinds = [...shards.kinds];
    await client.rows("SELECT count(*) FROM t");
    return [...kinds, "|", ...shards.kinds.slice(kinds.length).filter((kind) => !kind.startsWith("run"))];
  };
  const asked = `fetch ${home}`, told = `apply ${home}`;
  for (const level of ["read committed", "repeatable read", "serializable"]) {
    await client.run(`SET default_transaction_isolation = '${level}'`);
    deepStrictEqual(await kindsOf("UPDATE t SET v = v + 1 WHERE id = 3"), [asked, "|", told], level);
  }
  deepStrictEqual(await kindsOf("UPDATE t SET v = v + 1 WHERE id = 3 RETURNING w"), [asked, "|", told]);
  deepStrictEqual(await kindsOf("UPDATE t SET v = 0 WHERE id = 3 AND v > 99"), [asked, "|"]);
  deepStrictEqual(await kindsOf("UPDATE t SET v = 0 WHERE id = NULL"), ["|"]);
  deepStrictEqual(await kindsOf("DELETE FROM t WHERE id = 3"), [asked, "|", told]);
  deepStrictEqual(await kindsOf("DELETE FROM t WHERE id = 3"), [asked, "|"]);
  deepStrictEqual(await kindsOf("INSERT INTO t VALUES (21, 1)"), [
    "|",
    `apply ${await shardOfRow(client, 21)}`,
  ]);
  // In a block, of which each shard knows the cut: the row is asked for once, and there is no vote.
  const block = await kindsOf(
    "BEGIN; SELECT v FROM t WHERE id = 4 FOR UPDATE; UPDATE t SET v = v + 1 WHERE id = 4; COMMIT",
  );
  const [first, rest] = [block.slice(0, block.indexOf("|")), block.slice(block.indexOf("|") + 1)];
  const where = await shardOfRow(client, 4);
  deepStrictEqual(first.filter((kind) => !kind.startsWith("begin")), [`fetch ${where}`]);
  deepStrictEqual(rest.filter((kind) => !kind.startsWith("end")), [`apply ${where}`]);
  // Its own rows are asked of nobody.
  const own = await kindsOf("BEGIN; INSERT INTO t VALUES (50, 1); UPDATE t SET v = 2 WHERE id = 50; COMMIT");
  deepStrictEqual(own.filter((kind) => kind.startsWith("fetch")), []);
  // A row that has come is kept when the statement finds that it needs more: a key is asked of all shards.
  await client.run("CREATE UNIQUE INDEX ON t (v, id)");
  const more = await kindsOf("UPDATE t SET v = 99 WHERE id = 4");
  deepStrictEqual(
    more.filter((kind) => kind.startsWith("fetch")).toSorted(),
    [
      ...[0, 1, 2, 3].map((shard) => `fetch ${shard}`),
      `fetch ${where}`,
    ].toSorted(),
  );
  deepStrictEqual(await client.rows("SELECT v, w FROM t WHERE id = 4"), ["99|198"]);
  await client.close();
});

Deno.test("changes of one row by many at a time are all done, whatever time the shards take", async () => {
  const all = await clients(await openShardedEngine(4, lateShards(3)), 16);
  const [first] = all as [TestClient];
  const tags = await Promise.all(all.map((client, number) =>
    client.run(
      number % 4 === 3
        ? "BEGIN; UPDATE t SET v = v + 1 WHERE id = 1; SAVEPOINT s; UPDATE t SET v = v + 100 WHERE id = 2; " +
          "ROLLBACK TO s; UPDATE t SET v = v + 1 WHERE id = 2; COMMIT"
        : "UPDATE t SET v = v + 1 WHERE id = 1",
    ).catch((error: unknown) => {
      // A block that has read what others change meanwhile may lose.
      strictEqual(error instanceof DatabaseError && error.code, "40001");
      return client.run("ROLLBACK");
    })
  ));
  strictEqual(tags.filter((tag) => tag === "UPDATE 1").length, 12);
  const blocks = tags.filter((tag) => tag === "COMMIT").length;
  deepStrictEqual(await first.rows("SELECT v, w FROM t WHERE id <= 2 ORDER BY id"), [
    `${22 + blocks}|${44 + 2 * blocks}`,
    `${10 + blocks}|${20 + 2 * blocks}`,
  ]);
  await first.close();
});

Deno.test("a row that is gone or has another key when its turn comes is not changed", async () => {
  for (const rival of ["DELETE FROM t WHERE id = 1", "UPDATE t SET id = 99 WHERE id = 1", "TRUNCATE t"]) {
    const shards = new HeldShards();
    const [one, other] = await clients(await shards.open(), 2) as [TestClient, TestClient];
    shards.isHeld = true;
    const gone = other.run(rival);
    await turn();
    const changed = one.run("UPDATE t SET v = v + 1 WHERE id = 1");
    await turn();
    shards.release();
    await gone;
    const tag = await changed;
    // Whichever came first.
    const expected = rival.startsWith("UPDATE") ? [tag === "UPDATE 1" ? "11" : "10"] : [];
    deepStrictEqual(await one.rows("SELECT v FROM t WHERE id IN (1, 99)"), expected, rival);
    strictEqual(await one.run("UPDATE t SET v = 5 WHERE id = 1"), "UPDATE 0");
    await one.close();
  }
});

Deno.test("a statement whose row was changed before it came sees the change, however much has changed since", async () => {
  const cases = [
    ["UPDATE t SET v = v + 1 WHERE id = 1", "UPDATE t SET v = v + 5 WHERE id = 1", "16|32"],
    // The row is not written, so nobody else compares it with what has changed.
    ["UPDATE t SET v = 1 WHERE id = 1 AND v > 10", "UPDATE t SET v = v + 5 WHERE id = 1", "1|2"],
    // More rows than changes are remembered of.
    ["UPDATE t SET v = v + 1 WHERE id = 1", "UPDATE t SET v = v + 5", "16|32"],
  ] as const;
  for (const [statement, rival, expected] of cases) {
    const shards = new HeldShards();
    const [one, other] = await clients(await shards.open(), 2) as [TestClient, TestClient];
    await one.run("INSERT INTO t SELECT n, 10 FROM generate_series(21, 20100) n");
    shards.holdsRow = true;
    const changed = one.run(statement);
    await turn();
    await other.run(rival);
    shards.release();
    strictEqual(await changed, "UPDATE 1");
    deepStrictEqual(await one.rows("SELECT v, w FROM t WHERE id = 1"), [expected], statement);
    await one.close();
  }
});

Deno.test("a row that was fetched before the definition of its table changed is fetched anew", async () => {
  const changes = [
    "ALTER TABLE t ADD COLUMN x INT NOT NULL DEFAULT 7",
    "ALTER TABLE t DROP COLUMN w",
    "ALTER TABLE t SHARD BY (v)",
    "CREATE UNIQUE INDEX u ON t (id, v)",
  ];
  for (const [number, change] of changes.entries()) {
    for (const isFirst of [true, false]) {
      const all = await clients(await openShardedEngine(4, lateShards(number)), 21);
      const [one, ...others] = all as [TestClient, ...TestClient[]];
      const altering = isFirst ? one.run(change) : turn().then(() => one.run(change));
      const tags = others.map((client, index) =>
        client.run(`UPDATE t SET v = v + 1 WHERE id = ${index + 1}`)
      );
      deepStrictEqual(new Set(await Promise.all(tags)), new Set(["UPDATE 1"]), change);
      await altering;
      deepStrictEqual(await one.rows("SELECT sum(v) FROM t"), ["220"], change);
      for (let id = 1; id <= 20; id++) await one.run(`UPDATE t SET v = 50 + ${id} WHERE id = ${id}`);
      deepStrictEqual(await one.rows("SELECT sum(v), count(*) FROM t"), ["1210|20"], change);
      await one.close();
    }
  }
});

Deno.test("an entry that needs no vote does not go ahead of what was asked before it", async () => {
  const shards = new HeldShards();
  const [one, other] = await clients(await shards.open(), 2) as [TestClient, TestClient];
  await one.run(
    "CREATE TABLE total (id INT PRIMARY KEY, v INT)",
    "INSERT INTO total VALUES (1, 0)",
    "BEGIN",
    "UPDATE total SET v = (SELECT sum(v) FROM t) WHERE id = 1",
  );
  const order: string[] = [];
  // What the shards say to the first one's commit is held: it has read all rows.
  shards.isHeld = true;
  const committing = one.run("COMMIT").then(() => order.push("commit"), (error) => order.push(error.code));
  await turn();
  const changing = other.run("UPDATE t SET v = v + 1 WHERE id = 1").then(() => order.push("update"));
  await turn();
  deepStrictEqual(order, []);
  shards.release();
  await Promise.all([committing, changing]);
  // The block has lost to the change before it, or comes first: never is it behind a change that it has not seen.
  const [total] = await one.rows("SELECT v FROM total");
  deepStrictEqual([order[0], total], order[0] === "commit" ? ["commit", "200"] : ["40001", "0"]);
  await one.close();
});

Deno.test("what finds votes open is a transaction like others", async () => {
  const shards = new HeldShards();
  const [one, ...others] = await clients(await shards.open(), 3) as [TestClient, ...TestClient[]];
  await one.run("BEGIN", "SELECT sum(v) FROM t", "UPDATE t SET v = v + 1 WHERE id = 1");
  shards.holdsVotes = true;
  const committing = one.run("COMMIT");
  await turn();
  shards.kinds.length = 0;
  const changing = others.map((client, index) =>
    client.run(`UPDATE t SET v = v + 1 WHERE id = ${index + 1}`)
  );
  await turn();
  strictEqual(shards.kinds.filter((kind) => kind.startsWith("begin")).length > 0, true);
  shards.release();
  deepStrictEqual(await Promise.all([committing, ...changing]), ["COMMIT", "UPDATE 1", "UPDATE 1"]);
  deepStrictEqual(await one.rows("SELECT v FROM t WHERE id <= 2 ORDER BY id"), ["12", "11"]);
  await one.close();
});

Deno.test("a block that changes a row since whose snapshot more has changed than is remembered asks for votes", async () => {
  const [one, other] = await clients(await new HeldShards().open(), 2) as [TestClient, TestClient];
  await one.run("INSERT INTO t SELECT n, 10 FROM generate_series(21, 20100) n", "BEGIN");
  deepStrictEqual(await one.rows("SELECT v FROM t WHERE id = 1"), ["10"]);
  await other.run("UPDATE t SET v = v + 5");
  strictEqual(await one.run("UPDATE t SET v = v + 1 WHERE id = 1"), "UPDATE 1");
  match(await one.failure("COMMIT"), /^40001/);
  deepStrictEqual(await one.rows("SELECT v FROM t WHERE id = 1"), ["15"]);
  await one.close();
});

Deno.test("rows that were read and not written are voted on behind votes that are open", async () => {
  const shards = new HeldShards();
  const [zero, one, two] = await clients(await shards.open(), 3) as [TestClient, TestClient, TestClient];
  await zero.run("BEGIN", "SELECT sum(v) FROM t WHERE id > 10", "UPDATE t SET v = 0 WHERE id = 20");
  // Each writes what the other one has read.
  await one.run("BEGIN", "SELECT v FROM t WHERE id = 1", "UPDATE t SET v = 0 WHERE id = 2");
  await two.run("BEGIN", "SELECT v FROM t WHERE id = 2", "UPDATE t SET v = 0 WHERE id = 1");
  shards.holdsVotes = true;
  const ends: string[] = [];
  const committing = [zero, one, two].map((client) =>
    client.run("COMMIT").then((tag) => ends.push(tag), (error) => ends.push(error.code))
  );
  await turn();
  deepStrictEqual(ends, []);
  shards.release();
  await Promise.all(committing);
  deepStrictEqual(ends.toSorted(), ["40001", "COMMIT", "COMMIT"]);
  await zero.close();
});

Deno.test("a key that was free is compared with rows that come in bulk, and have not got their votes", async () => {
  const shards = new HeldShards();
  const [one, other] = await clients(await shards.open(), 2) as [TestClient, TestClient];
  await one.run(
    "CREATE TABLE k (id INT PRIMARY KEY, u INT UNIQUE)",
    "BEGIN",
    "SELECT sum(v) FROM t",
    "INSERT INTO k SELECT n, n FROM generate_series(1, 3000) n",
  );
  shards.holdsVotes = true;
  const committing = one.run("COMMIT");
  await turn();
  const failing = other.failure("INSERT INTO k VALUES (9999, 5)");
  for (let index = 0; index < 5; index++) await turn();
  shards.release();
  strictEqual(await committing, "COMMIT");
  match(await failing, /^23505/);
  deepStrictEqual(await one.rows("SELECT count(*) FROM k WHERE u = 5"), ["1"]);
  await one.close();
});

Deno.test("a shard compares what blocks have read with changes that nobody was asked about", async () => {
  const [one, other] = await clients(await openShardedEngine(4, lateShards(5)), 2) as [
    TestClient,
    TestClient,
  ];
  // Each of both rows is changed by who has seen the other one.
  await one.run("BEGIN");
  deepStrictEqual(await one.rows("SELECT v FROM t WHERE id = 1"), ["10"]);
  strictEqual(await other.run("UPDATE t SET v = 20 WHERE id = 1"), "UPDATE 1");
  strictEqual(await one.run("UPDATE t SET v = 30 WHERE id = 2"), "UPDATE 1");
  match(await one.failure("COMMIT"), /^40001/);
  await one.run("BEGIN");
  deepStrictEqual(await one.rows("SELECT count(*) FROM t WHERE v > 0"), ["20"]);
  await other.run("INSERT INTO t VALUES (30, 1)", "DELETE FROM t WHERE id = 30");
  strictEqual(await one.run("UPDATE t SET v = 30 WHERE id = 2"), "UPDATE 1");
  match(await one.failure("COMMIT"), /^40001/);
  // A row at a newer state than the cut, of which nothing else was read.
  await one.run("BEGIN");
  await one.rows("SELECT v FROM t WHERE id = 3");
  await other.run("UPDATE t SET v = 77 WHERE id = 4");
  strictEqual(await one.run("UPDATE t SET v = v + 1 WHERE id = 4"), "UPDATE 1");
  await one.run("COMMIT");
  deepStrictEqual(await one.rows("SELECT v FROM t WHERE id IN (1, 2, 4) ORDER BY id"), ["20", "10", "78"]);
  await one.close();
});

Deno.test("triggers, checks, unique keys and foreign keys hold for rows that were fetched ahead", async () => {
  const [client, other] = await clients(await openShardedEngine(4, lateShards(9)), 2) as [
    TestClient,
    TestClient,
  ];
  await client.run(
    "CREATE TABLE word (id INT PRIMARY KEY, w TEXT UNIQUE, t INT REFERENCES t, n INT DEFAULT 0 CHECK (n < 3))",
    "CREATE TRIGGER counting BEFORE UPDATE ON word FOR EACH ROW SET n = NEW.n + 1",
    "INSERT INTO word VALUES (1, 'a', 1), (2, 'b', 2)",
  );
  await client.run("UPDATE word SET t = 3 WHERE id = 1", "UPDATE word SET w = 'c' WHERE id = 1");
  match(await client.failure("UPDATE word SET w = 'd' WHERE id = 1"), /^23514/);
  match(await client.failure("UPDATE word SET w = 'b' WHERE id = 1"), /^23(505|514)/);
  match(await client.failure("UPDATE word SET w = 'c' WHERE id = 2"), /^23505/);
  match(await client.failure("UPDATE word SET t = 999 WHERE id = 2"), /^23503/);
  match(await client.failure("DELETE FROM t WHERE id = 3"), /^23503/);
  deepStrictEqual(await client.rows("SELECT id, w, t, n FROM word ORDER BY id"), ["1|c|3|2", "2|b|2|0"]);
  // A row that is locked by another block is waited for.
  await other.run("BEGIN");
  await other.rows("SELECT * FROM t WHERE id = 5 FOR UPDATE");
  let isDone = false;
  const waiting = client.run("UPDATE t SET v = v + 1 WHERE id = 5").then(() => isDone = true);
  for (let index = 0; index < 20; index++) await turn();
  strictEqual(isDone, false);
  await other.run("UPDATE t SET v = 40 WHERE id = 5", "COMMIT");
  await waiting;
  deepStrictEqual(await client.rows("SELECT v, w FROM t WHERE id = 5"), ["41|82"]);
  await client.close();
});

Deno.test("a statement that finds that it needs more does not go on with a row that was changed meanwhile", async () => {
  const [one, other] = await clients(await new HeldShards().open(), 2) as [TestClient, TestClient];
  await one.run(
    "CREATE TABLE k (id INT PRIMARY KEY, u INT UNIQUE, v INT)",
    "INSERT INTO k VALUES (1, 1, 10)",
  );
  // Both rows come in one turn: the first statement asks all shards for its key then, and the second one is done.
  const both = [
    one.run("UPDATE k SET u = u + 100, v = v + 1 WHERE id = 1"),
    other.run("UPDATE k SET v = v + 1 WHERE id = 1"),
  ];
  deepStrictEqual(await Promise.all(both), ["UPDATE 1", "UPDATE 1"]);
  deepStrictEqual(await one.rows("SELECT u, v FROM k"), ["101|12"]);
  await one.close();
});

Deno.test("a change whose shard does not answer ends by time or cancel, and has done nothing", async () => {
  const shards = new DeafShards();
  const [client] = await clients(await shards.open(), 1) as [TestClient];
  const home = await shardOfRow(client, 6);
  shards.deaf.add(home);
  await client.run("SET scatter_timeout = '20ms'");
  match(
    await client.failure("UPDATE t SET v = v + 1 WHERE id = 6"),
    new RegExp(`^57014 canceling statement: shard ${home} did not answer`),
  );
  await client.run("SET scatter_timeout = 0");
  const failure = client.failure("UPDATE t SET v = v + 1 WHERE id = 6");
  await turn();
  client.session.cancel(new DatabaseError(SQLSTATE.queryCanceled, "by its client"));
  strictEqual(await failure, "57014 by its client");
  shards.wake();
  strictEqual(await client.run("UPDATE t SET v = v + 1 WHERE id = 6"), "UPDATE 1");
  deepStrictEqual(await client.rows("SELECT v FROM t WHERE id = 6"), ["11"]);
  // A session that ends meanwhile changes nothing.
  const other = TestClient.over(client.engine);
  shards.deaf.add(home);
  const ended = other.failure("UPDATE t SET v = v + 1 WHERE id = 6");
  await turn();
  other.session.close();
  match(await ended, /^57P01/);
  shards.wake();
  deepStrictEqual(await client.rows("SELECT v FROM t WHERE id = 6"), ["11"]);
  await client.close();
});
