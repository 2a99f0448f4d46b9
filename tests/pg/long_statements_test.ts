/**
 * Statements that would run for minutes, over real sockets: each lets other connections' reads be answered while it
 * runs, and ends when it is canceled. A statement that held the process would end by its own time limit, which is
 * here so that such a test fails instead of running on.
 */
import { deepStrictEqual as same, ok, strictEqual as equal } from "node:assert/strict";
import {
  bind,
  errorFields,
  fields,
  message,
  rowOf,
  type ServerMessage,
} from "../../gateways/pg/testing/wire.ts";
import type { Task } from "./support/bulk_loader.ts";
import { openPgDatabase, type PgDatabase } from "./support/pg_database.ts";
import { RawClient } from "./support/raw_client.ts";

const query = (text: string): Uint8Array => message("Q", text);

async function ask(client: RawClient, text: string): Promise<ServerMessage[]> {
  await client.send(query(text));
  return await client.until("Z");
}

async function run(client: RawClient, text: string): Promise<void> {
  const error = errorIn(await ask(client, text));
  ok(error === null, `${text}: ${error?.["M"]}`);
}

function errorIn(messages: readonly ServerMessage[]): Record<string, string> | null {
  const found = messages.find(({ type }) => type === "E");
  return found === undefined ? null : errorFields(found);
}

const ROWS = 20_000;

/** A database with a table of {@link ROWS} rows, seven values of `k` in turn, and a table of one row. */
async function openFilled(): Promise<PgDatabase> {
  const database = await openPgDatabase();
  using client = await RawClient.start(database.port);
  await run(client, "CREATE TABLE big (id int PRIMARY KEY, k int NOT NULL, t text)");
  await run(client, `INSERT INTO big SELECT i, i % 7, 'text ' || i FROM generate_series(1, ${ROWS}) i`);
  await run(client, "CREATE INDEX big_k ON big (k)");
  await run(client, "CREATE TABLE one (id int PRIMARY KEY, x bigint); INSERT INTO one VALUES (1, 0)");
  await run(client, "CREATE VIEW huge AS SELECT a.id FROM big a, big b, big c WHERE a.id + b.id + c.id = -1");
  return database;
}

const HUGE = "SELECT count(*) FROM big a, big b, big c WHERE a.id + b.id + c.id = -1";

/** Name, statement, and what comes before it on the same connection. */
const endless: readonly (readonly [name: string, statement: string, before?: string])[] = [
  [
    "hash join of many with many",
    "SELECT sum(a.id) FROM big a JOIN big b ON a.k = b.k JOIN big c ON b.k = c.k",
  ],
  [
    "hash join whose matches fail a condition",
    "SELECT count(*) FROM big a LEFT JOIN big b ON a.k = b.k LEFT JOIN big c ON b.k = c.k AND b.id + c.id < a.k",
  ],
  [
    "full join of many with many",
    "SELECT count(*) FROM big a FULL JOIN big b ON a.k = b.k FULL JOIN big c ON a.k = c.k",
  ],
  [
    "semi-join that compares all",
    "SELECT count(*) FROM big a, big z WHERE EXISTS (SELECT 1 FROM big b WHERE b.k = a.k AND b.id + a.id + z.id < 0)",
  ],
  ["nested loop", HUGE],
  [
    "outer nested loop",
    "SELECT count(*) FROM big a LEFT JOIN big b ON a.id < b.id LEFT JOIN big c ON a.id + b.id < c.id - 30000",
  ],
  [
    "loop over an index",
    "SELECT count(*) FROM big a, LATERAL (SELECT b.id FROM big b WHERE b.k = a.k AND b.t || a.t = '' OFFSET 0) q, big c",
  ],
  ["function for each row", "SELECT count(*) FROM big a, generate_series(1, 1000000 + a.k) g WHERE g = -1"],
  [
    "endless recursion",
    "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT 1 FROM r) SELECT count(*) FROM (SELECT x FROM r OFFSET 0) q",
  ],
  [
    "recursion over distinct rows",
    "WITH RECURSIVE r AS (SELECT 1 AS x UNION SELECT (x * 5 + 3) % 1048576 FROM r JOIN big ON big.id = r.x % 7 + 1) SELECT count(*) FROM r",
  ],
  [
    "correlated subquery",
    "SELECT sum((SELECT count(*) FROM big b, big c WHERE b.k = a.k AND b.id + c.id < a.id)) FROM big a",
  ],
  ["uncorrelated subquery", `SELECT 1 WHERE (${HUGE}) > 0`],
  ["subquery in the select list of one row", `SELECT x, (${HUGE}) FROM one WHERE id = 1`],
  ["NOT IN", "SELECT count(*) FROM one WHERE x NOT IN (SELECT a.id + b.id + c.id FROM big a, big b, big c)"],
  ["comparison with ALL", "SELECT 1 WHERE 0 < ALL (SELECT a.id + b.id + c.id FROM big a, big b, big c)"],
  ["CTE", "WITH m AS MATERIALIZED (SELECT id FROM huge) SELECT count(*) FROM m a, m b"],
  ["VALUES with a subquery", `SELECT * FROM (VALUES (1, (SELECT 2)), (2, (${HUGE}))) v (a, b)`],
  [
    "window frames",
    "SELECT sum(s) FROM (SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN 9999 PRECEDING AND 9999 FOLLOWING EXCLUDE TIES) s FROM big) q",
  ],
  [
    "EXCEPT of a join",
    "SELECT count(*) FROM (SELECT id FROM one EXCEPT SELECT a.id + b.id + c.id FROM big a, big b, big c) q",
  ],
  [
    "grouping of a join",
    "SELECT a.k, count(*), string_agg(a.t, ',' ORDER BY b.id) FILTER (WHERE b.id < 0) FROM big a, big b, big c GROUP BY a.k",
  ],
  [
    "sort with a limit",
    "SELECT a.id FROM big a JOIN big b ON a.k = b.k JOIN big c ON b.k = c.k ORDER BY b.id DESC, c.id, a.id LIMIT 2000",
  ],
  ["view", "SELECT * FROM huge"],
  ["statement after another", `SELECT 1; ${HUGE}`],
  ["read in a block", HUGE, "BEGIN"],
  ["EXPLAIN ANALYZE", `EXPLAIN ANALYZE ${HUGE}`],
  ["EXECUTE", "EXECUTE p", `PREPARE p AS ${HUGE}`],
  ["COPY TO", `COPY (${HUGE}) TO STDOUT`],
  ["FETCH ALL", "FETCH ALL FROM c", "BEGIN; DECLARE c CURSOR FOR SELECT id FROM huge"],
  ["MOVE ALL", "MOVE ALL FROM c", "BEGIN; DECLARE c CURSOR FOR SELECT a.id FROM big a, big b, big c"],
  ["WITH HOLD", "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM huge"],
  ["CREATE TABLE AS", `CREATE TABLE made AS ${HUGE}`],
  ["SELECT INTO", "SELECT id INTO made FROM huge"],
  ["INSERT of a join", "INSERT INTO one SELECT id, 0 FROM huge"],
  ["INSERT of a subquery's value", `INSERT INTO one VALUES (2, (${HUGE}))`],
  ["UPDATE from a join", "UPDATE one SET x = h.id FROM huge h"],
  ["UPDATE of one row with a subquery", `UPDATE one SET x = (${HUGE}) WHERE id = 1`],
  ["DELETE by a join", "DELETE FROM one USING huge h WHERE h.id = one.id"],
  ["WITH that changes data", `WITH w AS (UPDATE one SET x = (${HUGE}) RETURNING x) SELECT * FROM w`],
  ["UPDATE in a block", `UPDATE one SET x = (${HUGE}) WHERE id = 1`, "BEGIN"],
];

/** Asks for the cancellation of what a session runs, as drivers do: on a connection of its own. */
async function cancel(database: PgDatabase, process: number): Promise<void> {
  const session = database.engine.sessionById(process);
  ok(session !== undefined);
  using client = await RawClient.connect(database.port);
  await client.send(fields([4, 16], [4, 80877102], [4, process], [4, session.secretKey]));
  await client.rest();
}

async function processOf(client: RawClient): Promise<number> {
  const row = (await ask(client, "SELECT pg_backend_pid()")).find(({ type }) => type === "D");
  ok(row !== undefined);
  return Number(rowOf(row)[0]);
}

/** Reads that must be answered while a statement runs. */
const READS = 8;

/** Reads on another connection while the statement runs, until it has ended or so many are answered. */
async function readsBeside(reader: RawClient, ended: Promise<unknown>, most = READS): Promise<number> {
  let isRunning = true;
  void ended.finally(() => isRunning = false);
  let reads = 0;
  for (; reads < most; reads++) {
    await run(reader, `SELECT t FROM big WHERE id = ${reads + 1}`);
    if (!isRunning) break;
  }
  return reads;
}

Deno.test("Whatever a statement does, others are answered meanwhile, and it can be canceled", async (test) => {
  await using database = await openFilled();
  using reader = await RawClient.start(database.port);
  using busy = await RawClient.start(database.port);
  const process = await processOf(busy);
  await run(busy, "SET statement_timeout = '30s'");
  for (const [name, statement, before] of endless) {
    await test.step(name, async () => {
      if (before !== undefined) await run(busy, before);
      await busy.send(query(statement));
      const ended = busy.until("Z");
      const reads = await readsBeside(reader, ended);
      await cancel(database, process);
      const error = errorIn(await ended);
      same([error?.["C"], error?.["M"]], ["57014", "canceling statement due to user request"]);
      equal(reads, READS);
      await run(busy, "ROLLBACK");
      await run(busy, "DEALLOCATE ALL");
    });
  }
  await test.step("a portal with a row limit", async () => {
    await busy.send(
      message("P", "", HUGE, [2, 0]),
      bind("", "", []),
      message("E", "", [4, 5]),
      message("S"),
    );
    const ended = busy.until("Z");
    const reads = await readsBeside(reader, ended);
    await cancel(database, process);
    equal(errorIn(await ended)?.["M"], "canceling statement due to user request");
    equal(reads, READS);
  });
  await test.step("and the sessions go on", async () => {
    await run(busy, "UPDATE one SET x = 5");
    await run(reader, "SELECT x FROM one");
  });
  same(database.internalErrors, []);
});

Deno.test("Checks of a large table and cascades through it leave others their turns", async () => {
  await using database = await openFilled();
  using reader = await RawClient.start(database.port);
  using busy = await RawClient.start(database.port);
  await run(
    busy,
    "CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES big (id) ON DELETE CASCADE)",
  );
  await run(busy, "INSERT INTO child SELECT id, id FROM big");
  await run(
    busy,
    "CREATE TABLE other (id int PRIMARY KEY, ref int); INSERT INTO other SELECT id, id FROM big",
  );
  const statements = [
    "CREATE UNIQUE INDEX big_t ON big (t, k, id)",
    "ALTER TABLE big ADD CHECK (length(t) > k - 10 AND t LIKE 'text%')",
    "ALTER TABLE other ADD FOREIGN KEY (ref) REFERENCES big (id)",
    "ALTER TABLE other ALTER ref TYPE bigint USING ref + 1 - 1",
    "ALTER TABLE other DROP CONSTRAINT other_ref_fkey",
    Array(3000).fill("SELECT count(*) FROM one WHERE x > 0").join("; "),
    "DELETE FROM big WHERE id > 10",
  ];
  for (const statement of statements) {
    await busy.send(query(statement));
    const ended = busy.until("Z");
    const reads = await readsBeside(reader, ended, 2);
    equal(errorIn(await ended), null, statement.slice(0, 80));
    if (!statement.includes("DROP")) ok(reads >= 1, statement.slice(0, 80));
  }
  same(database.internalErrors, []);
});

Deno.test("A server that is closed ends the statements that run", async () => {
  const database = await openFilled();
  using busy = await RawClient.start(database.port);
  using reader = await RawClient.start(database.port);
  await busy.send(query(HUGE));
  const ended = busy.until("Z");
  equal(await readsBeside(reader, ended, 2), 2);
  await database[Symbol.asyncDispose]();
  same(errorIn(await ended)?.["C"], "57P01");
  same(database.internalErrors, []);
});

Deno.test("a pipeline of many statements that has arrived at once leaves turns to other connections", async () => {
  await using database = await openPgDatabase();
  using busy = await RawClient.start(database.port);
  using other = await RawClient.start(database.port);
  const count = 3000;
  const pipeline = query("SELECT count(*) FROM generate_series(1, 3000) g");
  let answered = 0;
  const answers = (async () => {
    for (; answered < count; answered++) await busy.until("Z");
  })();
  await busy.send(...Array.from({ length: count }, () => pipeline));
  await busy.send(pipeline);
  let reads = 0;
  while (answered < count) {
    await run(other, "SELECT 1");
    reads++;
  }
  await answers;
  // As long as the whole input was one turn, there was room for two or three.
  ok(reads > 10, `${reads} reads beside ${count} statements`);
});

Deno.test("COPY data that comes without pause leaves other connections their turns", async () => {
  await using database = await openPgDatabase();
  {
    using client = await RawClient.start(database.port);
    await run(
      client,
      "CREATE TABLE loaded (id int, t text); CREATE TABLE one (x int); INSERT INTO one VALUES (1)",
    );
  }
  const start = () => new Worker(new URL("support/bulk_loader.ts", import.meta.url), { type: "module" });
  const answer = (worker: Worker) =>
    new Promise<unknown>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
    });
  const reader = start(), loader = start();
  try {
    const task = { port: database.port, rowCount: 400_000 };
    reader.postMessage({ ...task, role: "read" } satisfies Task);
    equal(await answer(reader), "reading");
    reader.postMessage("count");
    const before = Number(await answer(reader));
    loader.postMessage({ ...task, role: "load" } satisfies Task);
    equal(await answer(loader), "loaded");
    reader.postMessage("count");
    const during = Number(await answer(reader)) - before;
    // Without turns there is room for a few.
    ok(during >= 20, `${during} reads were answered during the load`);
  } finally {
    reader.terminate();
    loader.terminate();
  }
});
