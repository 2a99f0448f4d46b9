/** What clients of a server do in a day of its life, one piece at a time; each checks what it was answered. */
import pg from "pg";
import type { DbdPeer } from "../bench/peers/dbd.ts";
import { CopyIn } from "../support/clients.ts";
import type { SeededRandom } from "../support/random.ts";

/** One client of the server, which keeps its connection. */
export interface LifeClient {
  readonly server: DbdPeer;
  readonly connection: pg.Client;
  /** No other client has it. */
  readonly number: number;
  readonly random: SeededRandom;
}

/** A kind of work. */
export interface Work {
  readonly name: string;
  /** How often it comes among the others. */
  readonly weight: number;
  run(client: LifeClient): Promise<void>;
}

/** Rows that are read and changed. */
export const ROWS = 20_000;
const LARGE_RESULT_ROWS = 20_000;
const COPIED_ROWS = 2_000;
/** A statement with no end in sight, which somebody ends. */
const ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b";

/** All that is done. */
export const WORKS: readonly Work[] = [
  { name: "prepared point read", weight: 400, run: readPrepared },
  { name: "simple point read", weight: 200, run: readSimple },
  { name: "transaction", weight: 100, run: transact },
  { name: "error", weight: 60, run: fail },
  { name: "statement of a new shape", weight: 40, run: newShape },
  { name: "prepared and dropped", weight: 40, run: prepareAndDrop },
  { name: "failed transaction", weight: 20, run: failTransaction },
  { name: "connection", weight: 20, run: comeAndGo },
  { name: "HTTP request", weight: 20, run: askHttp },
  { name: "cursor", weight: 10, run: fetchCursor },
  { name: "temporary table", weight: 6, run: useTemporary },
  { name: "DDL", weight: 6, run: define },
  { name: "COPY", weight: 4, run: copyRows },
  { name: "canceled statement", weight: 4, run: cancel },
  { name: "statement that times out", weight: 2, run: timeOut },
  { name: "large result", weight: 2, run: readMuch },
];

/** A connection of the driver `pg`, whose end is no event for the program. */
export async function connect({ host, port, user, database }: DbdPeer): Promise<pg.Client> {
  const client = new pg.Client({ host, port, user, database });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Makes the table that clients share. */
export async function prepareLife(server: DbdPeer): Promise<void> {
  const client = await connect(server);
  await client.query("CREATE TABLE life (id int PRIMARY KEY, n int, label text)");
  await client.query(`INSERT INTO life SELECT g, 0, 'row ' || g FROM generate_series(1, ${ROWS}) AS g`);
  await client.end();
}

async function readPrepared({ connection, random }: LifeClient): Promise<void> {
  const id = 1 + random.below(ROWS);
  const { rows } = await connection.query({
    name: "point",
    text: "SELECT label FROM life WHERE id = $1",
    values: [id],
  });
  expect(rows, [{ label: `row ${id}` }]);
}

async function readSimple({ connection, random }: LifeClient): Promise<void> {
  const id = 1 + random.below(ROWS);
  const { rows } = await connection.query(`SELECT label FROM life WHERE id = ${id}`);
  expect(rows, [{ label: `row ${id}` }]);
}

async function transact({ connection, random }: LifeClient): Promise<void> {
  const id = 1 + random.below(ROWS);
  await connection.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  await connection.query(`UPDATE life SET n = n + 1 WHERE id = ${id}`);
  await connection.query(`SELECT n FROM life WHERE id = ${id}`);
  await connection.query("COMMIT");
}

const ERRORS: readonly (readonly [text: string, code: string])[] = [
  ["SELECT 1 / (n - n) FROM life WHERE id = 1", "22012"],
  ["SELECT 'x'::int", "22P02"],
  ["SELECT nothing FROM life", "42703"],
  ["SELECT * FROM nowhere", "42P01"],
  ["SELEC 1", "42601"],
  ["INSERT INTO life VALUES (1, 1, 'again')", "23505"],
  ["SELECT 2147483647 + id FROM life WHERE id = 1", "22003"],
  ["SELECT '2026-02-30'::date", "22008"],
];

async function fail({ connection, random }: LifeClient): Promise<void> {
  const [text, code] = random.pick(ERRORS);
  await expectError(connection, text, code);
}

async function newShape({ connection, number, random }: LifeClient): Promise<void> {
  const name = `c${number}_${random.below(1_000_000)}`;
  const { rows } = await connection.query(`SELECT n * 0 + ${number} AS ${name} FROM life WHERE id = 7`);
  expect(rows, [{ [name]: number }]);
}

async function prepareAndDrop({ connection, random }: LifeClient): Promise<void> {
  const name = `s${random.below(1_000_000)}`;
  await connection.query(`PREPARE ${name} (int) AS SELECT $1 + ${random.below(50)} AS sum`);
  await connection.query(`EXECUTE ${name}(1)`);
  await connection.query(`DEALLOCATE ${name}`);
}

async function failTransaction({ connection, random }: LifeClient): Promise<void> {
  const [text, code] = random.pick(ERRORS);
  await connection.query("BEGIN");
  await expectError(connection, text, code);
  await expectError(connection, "SELECT 1", "25P02");
  await connection.query("ROLLBACK");
}

async function comeAndGo({ server, random }: LifeClient): Promise<void> {
  const client = await connect(server);
  const { rows } = await client.query("SELECT $1::int + 1 AS next", [41]);
  expect(rows, [{ next: 42 }]);
  if (random.below(4) > 0) return await client.end();
  // In the middle of a transaction, without a word.
  await client.query("BEGIN; UPDATE life SET n = n WHERE id = -1");
  await leaveWithoutWord(client);
}

function leaveWithoutWord(client: pg.Client): Promise<void> {
  return new Promise((resolve) => {
    client.once("end", () => resolve());
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  });
}

async function askHttp({ server, random }: LifeClient): Promise<void> {
  const id = 1 + random.below(ROWS);
  const answer = await fetch(`http://${server.host}:${server.httpPort}/v1/sql`, {
    method: "POST",
    headers: { "Content-Type": "text/plain" },
    body: `SELECT label FROM life WHERE id = ${id}`,
  });
  const text = await answer.text();
  if (!answer.ok || !text.includes(`row ${id}`)) throw new Error(`HTTP answered ${answer.status}: ${text}`);
}

async function fetchCursor({ connection }: LifeClient): Promise<void> {
  await connection.query("BEGIN; DECLARE walk CURSOR FOR SELECT id FROM life ORDER BY id");
  const { rows } = await connection.query("FETCH 100 FROM walk");
  expect([rows.length, rows[99]], [100, { id: 100 }]);
  await connection.query("COMMIT");
}

async function useTemporary({ connection }: LifeClient): Promise<void> {
  await connection.query("CREATE TEMPORARY TABLE draft (id int PRIMARY KEY, label text)");
  await connection.query("INSERT INTO draft SELECT id, label FROM life WHERE id <= 50");
  const { rows } = await connection.query("SELECT count(*)::int AS n FROM draft");
  expect(rows, [{ n: 50 }]);
  await connection.query("DROP TABLE draft");
}

async function define({ connection, number }: LifeClient): Promise<void> {
  const table = `made_${number}`;
  await connection.query(`CREATE TABLE ${table} (id int PRIMARY KEY, n int)`);
  await connection.query(`INSERT INTO ${table} SELECT g, g % 7 FROM generate_series(1, 200) AS g`);
  await connection.query(`CREATE INDEX ON ${table} (n)`);
  await connection.query(`ALTER TABLE ${table} ADD COLUMN note text DEFAULT 'none'`);
  const { rows } = await connection.query(
    `SELECT count(*)::int AS n, max(note) AS note FROM ${table} WHERE n = 3`,
  );
  expect(rows, [{ n: 29, note: "none" }]);
  await connection.query(`DROP TABLE ${table}`);
}

async function copyRows({ connection, number }: LifeClient): Promise<void> {
  const table = `copied_${number}`;
  await connection.query(`CREATE TABLE ${table} (id int PRIMARY KEY, label text)`);
  const data = Array.from({ length: COPIED_ROWS }, (_, id) => `${id}\tlabel ${id}\n`).join("");
  await new Promise<void>((resolve, reject) =>
    void connection.query(new CopyIn(`COPY ${table} FROM STDIN`, data, { resolve, reject }))
  );
  const { rows } = await connection.query(`SELECT count(*)::int AS n FROM ${table}`);
  expect(rows, [{ n: COPIED_ROWS }]);
  await connection.query(`DROP TABLE ${table}`);
}

async function cancel({ server, connection }: LifeClient): Promise<void> {
  const running = expectError(connection, ENDLESS, "57014");
  const other = await connect(server);
  const { processID } = connection as unknown as { processID: number };
  // It may not have begun when it is canceled first.
  let isOver = false;
  running.finally(() => isOver = true).catch(() => undefined);
  while (!isOver) {
    await other.query("SELECT pg_cancel_backend($1)", [processID]);
    await Promise.race([running.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 20))]);
  }
  await other.end();
  await running;
}

async function timeOut({ connection }: LifeClient): Promise<void> {
  await connection.query("SET statement_timeout = 30");
  await expectError(connection, ENDLESS, "57014");
  await connection.query("RESET statement_timeout");
}

async function readMuch({ connection }: LifeClient): Promise<void> {
  const { rows } = await connection.query(
    `SELECT g, 'a label for row ' || g AS label FROM generate_series(1, ${LARGE_RESULT_ROWS}) AS g`,
  );
  expect(rows.length, LARGE_RESULT_ROWS);
}

async function expectError(connection: pg.Client, text: string, code: string): Promise<void> {
  try {
    await connection.query(text);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === code) return;
    throw error;
  }
  throw new Error(`not refused with ${code}: ${text}`);
}

function expect(actual: unknown, expected: unknown): void {
  const [shown, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (shown !== wanted) throw new Error(`${shown} was answered in the place of ${wanted}`);
}
