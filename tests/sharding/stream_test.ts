/** What is gathered is read while it comes: shards are ahead by a few batches, and the answers are those of always. */
import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { memoryHost } from "../../engine/host/memory_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { CREDITS } from "../../engine/sharding/exchange_ends.ts";
import type { FromShard, ShardReply } from "../../engine/sharding/shard_messages.ts";
import { TestClient } from "../../engine/statements/copy/client_for_test.ts";
import { RowBuffer, RowCounter } from "../../engine/statements/row_buffer.ts";
import { scanLarge } from "./large_scan.ts";
import { loadLarge } from "./large_tables.ts";
import { lateShards, openShardedEngine, patientHost, watchedShards } from "./sharded_database.ts";

const COUNT = 4;
const WIDE = 1200;

/** Rows that are wide enough for many batches of each shard; all edges of their types among them. */
const SETUP = [
  "CREATE TABLE wide (id INT PRIMARY KEY, f TEXT, n NUMERIC, e DOUBLE PRECISION, b BIGINT, k TIMESTAMPTZ, g BOOL)",
  `INSERT INTO wide SELECT n, repeat(chr(96 + n % 27), 8000), n / 7.0, n * 0.5, n::bigint * 1000, NULL, n % 3 = 0
   FROM generate_series(1, ${WIDE}) n`,
  "INSERT INTO wide VALUES (10001, NULL, NULL, NULL, NULL, NULL, NULL), " +
  "(10002, '', 'NaN', 'NaN', 9223372036854775807, 'infinity', true), " +
  "(10003, 'é', 1e40, '-Infinity', -9223372036854775808, '-infinity', false), (10004, 'É', '-0', '-0', 0, now(), NULL)",
  "CREATE TABLE empty (x INT, y TEXT)",
  // All of its rows are at one shard.
  "CREATE TABLE heap (id INT, kind INT, f TEXT) SHARD BY (kind)",
  `INSERT INTO heap SELECT n, 7, repeat('y', 4000) FROM generate_series(1, 600) n`,
];

/** Counts what each shard sends and is told. */
class Shards {
  readonly sent = Array.from({ length: COUNT }, () => ({ batches: 0, ended: 0, rows: 0 }));
  readonly told: string[] = [];
  /** Shards whose answers are lost. */
  readonly dumb = new Set<number>();

  async open(): Promise<TestClient> {
    const start = watchedShards((index) => ({
      answered: (replies, pass) => {
        if (this.dumb.has(index)) return;
        for (const reply of replies) this.#count(index, reply);
        pass(structuredClone(replies));
      },
      asked: (requests, pass) => {
        for (const { kind } of requests) this.told.push(kind);
        pass(structuredClone(requests));
      },
    }));
    const engine = await openShardedEngine(COUNT, start, patientHost());
    const client = TestClient.over(engine);
    await client.run(...SETUP);
    return client;
  }

  #count(index: number, reply: FromShard): void {
    const { value, isLast } = reply as ShardReply;
    const counts = this.sent[index];
    if (typeof value !== "object" || value === null || !("rowCount" in value) || counts === undefined) return;
    if (isLast) counts.ended++;
    else counts.batches++;
    counts.rows += value.rowCount;
  }

  forget(): void {
    for (const counts of this.sent) counts.batches = counts.ended = counts.rows = 0;
    this.told.length = 0;
  }
}

/** A client that takes rows when it is let. */
class SlowSink extends RowCounter {
  taken = 0;
  #resume: () => void = () => {};

  override get full(): boolean {
    return this.rows > 0;
  }

  override retract(): void {
    throw new Error("rows that may have been sent are not taken back");
  }

  override drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  takeAll(): void {
    this.taken += this.rows;
    this.rows = 0;
    this.#resume();
  }

  /** Takes all that is read until it has ended. */
  async takeUntil(reading: Promise<unknown>): Promise<void> {
    let isDone = false;
    const settled = reading.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      this.takeAll();
      await turns(1);
    }
    await settled;
    this.takeAll();
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

const QUERIES = [
  "SELECT id, f, n, e, b, k = 'infinity', g FROM wide ORDER BY id",
  'SELECT id, md5(f) FROM wide ORDER BY f COLLATE "C" DESC NULLS LAST, id',
  "SELECT id, n FROM wide ORDER BY n NULLS FIRST, id",
  "SELECT id, e, f FROM wide ORDER BY e DESC, id DESC",
  "SELECT id, b, f FROM wide ORDER BY b, id OFFSET 5",
  "SELECT count(*), sum(length(f)), max(b) FROM (SELECT f, b FROM wide OFFSET 0) x",
  "SELECT * FROM empty",
  "SELECT * FROM empty ORDER BY y",
  "SELECT id, f FROM heap ORDER BY id",
  "SELECT id FROM heap h WHERE f < (SELECT max(f) FROM wide WHERE id < 27) ORDER BY id",
  "SELECT w.id, h.f FROM wide w JOIN heap h ON h.id = w.id + random() * 0 WHERE w.id < 40 ORDER BY w.id",
  "WITH x AS MATERIALIZED (SELECT id, f FROM wide) SELECT p.id, q.f FROM x p JOIN x q ON p.id = q.id + 1 ORDER BY 1",
  "SELECT id, f FROM wide UNION ALL SELECT id, f FROM heap ORDER BY 1, 2",
  "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT t.n + 1 FROM (SELECT r.n, w.id FROM wide w, r) t WHERE t.id = t.n AND t.n < 5) TABLE r",
  "SELECT id, f, row_number() OVER (ORDER BY id) FROM wide ORDER BY id",
  "SELECT 1 / (id - 900) FROM (SELECT id, f FROM wide ORDER BY id) x WHERE f IS NOT NULL",
];

Deno.test("rows that are read while they come are those of a database without shards", async () => {
  const alone = TestClient.over(await Engine.open({ host: memoryHost(), directory: ":memory:" }));
  await alone.run(...SETUP);
  const shards = new Shards();
  const client = await shards.open();
  const late = TestClient.over(await openShardedEngine(COUNT, lateShards(5)));
  await late.run(...SETUP);
  const answer = async (client: TestClient, sql: string): Promise<string> => {
    let rows: readonly string[] = [];
    const read = async (): Promise<void> => {
      rows = await client.rows(sql);
    };
    const failure = await client.failure(read());
    return failure === "no error" ? rows.join("\n") : failure;
  };
  for (const [index, sql] of QUERIES.entries()) {
    const clients = index % 4 === 0 ? [client, late] : [client];
    const expected = await answer(alone, sql);
    for (const client of clients) strictEqual(await answer(client, sql), expected, sql);
    const copy = `COPY (${sql}) TO STDOUT`;
    if (await alone.failure(copy) !== "no error") continue;
    const text = await alone.copyText(copy);
    for (const client of clients) strictEqual(await client.copyText(copy), text, copy);
  }
  ok(shards.told.includes("credit"));
  deepStrictEqual(
    await client.rows("INSERT INTO empty SELECT id, f FROM wide RETURNING 1 = 2"),
    Array(WIDE + 4).fill("f"),
  );
  deepStrictEqual(await client.rows("SELECT count(*), sum(length(y)) FROM empty"), [
    `${WIDE + 4}|${WIDE * 8000 + 2}`,
  ]);
  for (const each of [alone, client, late]) await each.close();
});

Deno.test("shards are ahead of a slow client by four batches each", async () => {
  const shards = new Shards();
  const client = await shards.open();
  shards.forget();
  const sink = new SlowSink();
  const done = client.session.simple("SELECT id, f FROM wide", sink, () => {});
  await turns(300);
  for (const { batches, ended } of shards.sent) {
    strictEqual(ended, 0);
    ok(batches >= CREDITS && batches <= CREDITS + 1, `${batches} batches`);
  }
  await sink.takeUntil(Promise.resolve(done));
  strictEqual(sink.taken, WIDE + 4);
  await client.close();
});

Deno.test("what has been sent is not taken back for what comes later", async () => {
  const shards = new Shards();
  const client = await shards.open();
  const sink = new SlowSink();
  const done = client.session.simple(
    "SELECT id, f FROM wide UNION ALL (WITH x AS MATERIALIZED (SELECT * FROM heap) SELECT p.id, q.f FROM x p, x q " +
      "WHERE p.id = q.id) UNION ALL SELECT id, f FROM heap",
    sink,
    () => {},
  );
  await sink.takeUntil(Promise.resolve(done));
  strictEqual(sink.taken, WIDE + 4 + 600 + 600);
  await client.close();
});

Deno.test("cursors read as far as they are asked, and see what was there, savepoints and own writes or not", async () => {
  const shards = new Shards();
  const client = await shards.open();
  const other = TestClient.over(client.engine);
  await client.run("BEGIN", "DECLARE c CURSOR FOR SELECT id, f FROM wide ORDER BY id");
  shards.forget();
  deepStrictEqual((await client.rows("FETCH 3 FROM c")).map((row) => row.split("|")[0]), ["1", "2", "3"]);
  await turns(100);
  for (const { batches } of shards.sent) ok(batches <= CREDITS + 3, `${batches} batches`);
  strictEqual((await client.rows("FETCH 200 FROM c")).length, 200);
  // Others change what it reads; so does it, after a savepoint that is rolled back to.
  await other.run("UPDATE wide SET f = 'other' WHERE id = 1100");
  await client.run("SAVEPOINT s", "DELETE FROM empty", "UPDATE heap SET f = '' WHERE id = 1");
  deepStrictEqual(
    (await client.rows("FETCH ALL FROM c")).map((row) => row.split("|")[1]?.length),
    [...Array<number>(WIDE - 203).fill(8000), 0, 0, 1, 1],
  );
  await client.run(
    "ROLLBACK TO s",
    "DECLARE d CURSOR FOR SELECT id, f FROM heap",
    "FETCH 2 FROM d",
    "CLOSE d",
  );
  await client.run("COMMIT");
  // Two at once, beside statements of the block.
  await client.run(
    "BEGIN",
    "DECLARE a CURSOR FOR SELECT id, f FROM wide",
    "DECLARE b CURSOR FOR SELECT id, f FROM wide",
  );
  const [one, two] = [new Set<string>(), new Set<string>()];
  for (let round = 0; round < 14; round++) {
    for (const row of await client.rows("FETCH 100 FROM a")) one.add(row.split("|")[0] ?? "");
    deepStrictEqual(await client.rows("SELECT count(*) FROM wide"), [String(WIDE + 4)]);
    for (const row of await client.rows("FETCH 100 FROM b")) two.add(row.split("|")[0] ?? "");
  }
  deepStrictEqual([one.size, two.size], [WIDE + 4, WIDE + 4]);
  await client.run("COMMIT");
  await client.close();
});

Deno.test("a statement that ends before its rows stops the shards", async () => {
  const shards = new Shards();
  const client = await shards.open();
  const stopped = async (): Promise<boolean> => {
    for (let turn = 0; turn < 500 && shards.told.filter((kind) => kind === "stop").length < COUNT; turn++) {
      await turns(1);
    }
    const isStopped = shards.told.includes("stop");
    shards.forget();
    return isStopped;
  };
  shards.forget();
  // By a cancel in the middle of a slow client's rows.
  const sink = new SlowSink();
  const running = client.failure(
    Promise.resolve(client.session.simple("SELECT id, f FROM wide", sink, () => {})),
  );
  await turns(60);
  client.session.cancel();
  sink.takeAll();
  match(await running, /^57014 /);
  ok(await stopped());
  // By LIMIT, a closed cursor, the end of the transaction, an error in a row.
  strictEqual(
    (await client.rows("SELECT id, f || id FROM (SELECT id, f FROM wide OFFSET 0) x LIMIT 5")).length,
    5,
  );
  ok(await stopped());
  for (const end of ["CLOSE c; COMMIT", "COMMIT", "ROLLBACK", "SELECT 1 / 0"]) {
    await client.run("BEGIN", "DECLARE c CURSOR FOR SELECT id, f FROM wide");
    strictEqual((await client.rows("FETCH 2 FROM c")).length, 2);
    await client.failure(end);
    ok(await stopped(), end);
    if (client.session.status !== "idle") await client.run("ROLLBACK");
  }
  deepStrictEqual(await client.rows("SELECT count(*) FROM wide"), [String(WIDE + 4)]);
  await client.close();
});

Deno.test("an error at one shard in the middle, and a shard that falls silent, end the statement", async () => {
  const shards = new Shards();
  const client = await shards.open();
  match(await client.failure("SELECT f, 1 / (id - 1150) FROM wide"), /^22012 /);
  match(await client.failure("COPY (SELECT f, 1 / (id - 1150) FROM wide) TO STDOUT"), /^22012 /);
  await client.run("SET scatter_timeout = 80", "BEGIN", "DECLARE c CURSOR FOR SELECT id, f FROM wide");
  await client.run("FETCH 10 FROM c");
  // A client may take its time.
  await new Promise((resolve) => setTimeout(resolve, 200));
  strictEqual((await client.rows("FETCH 10 FROM c")).length, 10);
  shards.dumb.add(2);
  match(await client.failure("FETCH ALL FROM c"), /^57014 .*shard 2 did not answer within 80 ms/);
  shards.dumb.clear();
  await client.close();
});

Deno.test("what was read while it came is compared with what others have written", async () => {
  const shards = new Shards();
  const client = await shards.open();
  const other = TestClient.over(client.engine);
  await client.run("BEGIN");
  strictEqual(
    (await client.rows("SELECT id, f FROM (SELECT id, f FROM wide OFFSET 0) x LIMIT 900")).length,
    900,
  );
  await other.run("UPDATE wide SET f = 'x' WHERE id = 5");
  match(await client.failure("INSERT INTO empty VALUES (1, 'a'); COMMIT"), /^40001 /);
  await client.run("ROLLBACK");
  await client.close();
});

Deno.test("the large scan is right over threads and files", async () => {
  const directory = await Deno.makeTempDir({ prefix: "large-scan-" });
  try {
    await loadLarge(directory, 4, 20_000);
    deepStrictEqual(await scanLarge(directory, 4), {
      cursor: 20_000,
      select: 20_000,
      merged: 20_000,
      copied: "COPY 20000",
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

/** Rows, none of which may be taken back once it may have been sent. */
class SendingSink extends RowBuffer {
  #mayTakeBack = false;

  override begin(columns: RowBuffer["columns"], mayTakeBack = false): void {
    super.begin(columns);
    this.#mayTakeBack = mayTakeBack;
  }

  override retract(): void {
    ok(this.#mayTakeBack || this.rows.length === 0, `${this.rows.length} rows may have been sent`);
    super.retract();
  }
}

Deno.test("a read that finds what it has to fetch late, after many rows, takes none back that may have been sent", async () => {
  const client = await new Shards().open();
  await client.run("CREATE TABLE u (id INT PRIMARY KEY, v INT)", "INSERT INTO u VALUES (0, 10), (1, 11)");
  const query =
    "SELECT id, (SELECT v FROM u WHERE u.id = w.id / 1000 ORDER BY v LIMIT 1) FROM wide w ORDER BY id";
  for (const [before, after] of [["", ""], ["BEGIN; UPDATE u SET v = v;", "ROLLBACK"]] as const) {
    const sink = new SendingSink();
    if (before !== "") await client.run(before);
    await client.session.simple(query, sink, () => {});
    deepStrictEqual([sink.rows[998], sink.rows[999], sink.rows.length], [[999, 10], [1000, 11], WIDE + 4]);
    if (after !== "") await client.run(after);
  }
  await client.close();
});

Deno.test("a statement that is canceled before its shards are asked leaves nothing running at them", async () => {
  const running = new Set<string>();
  const start = watchedShards((index) => ({
    answered: (replies, pass) => {
      for (const reply of replies) {
        if ("isLast" in reply && reply.isLast) running.delete(`${index}/${reply.call}`);
      }
      pass(replies);
    },
    asked: (requests, pass) => {
      for (const each of requests) if (each.kind === "run") running.add(`${index}/${each.call}`);
      pass(requests);
    },
  }));
  const engine = await openShardedEngine(2, start);
  const client = TestClient.over(engine);
  await client.run(
    "CREATE TABLE t (id INT PRIMARY KEY)",
    // More than shards send before something has been read.
    "INSERT INTO t SELECT n FROM generate_series(1, 60000) n",
  );
  for (const sql of ["SELECT * FROM t", "SELECT id FROM t ORDER BY id + 1"]) {
    await client.run("BEGIN", "SELECT count(*) FROM t WHERE id = 1");
    const failure = client.failure(client.run(sql));
    client.session.cancel();
    match(await failure, /^57014/);
    await client.run("ROLLBACK");
    await client.run("SELECT count(*) FROM t WHERE id < 9");
    deepStrictEqual([...running], [], sql);
  }
  await client.close();
});
