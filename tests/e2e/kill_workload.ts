/**
 * The load under which servers are killed, and the accounts of it.
 *
 * Connections insert single rows, commit transactions over several tables, raise counters, delete, load with COPY, and
 * create, alter and drop tables. What the server acknowledged must be there afterwards; a statement or transaction
 * without an answer must be there as a whole or not at all. Each worker keeps its own account of what was acknowledged
 * to it, over all kills, and all accounts are compared with the tables, so that a row that gets lost later is found as
 * well.
 */
import { ok, strictEqual } from "node:assert/strict";
import type { SqlClient } from "../support/clients.ts";
import type { SeededRandom } from "../support/random.ts";

const accounts = 64;
const openingBalance = 1000;
const linesPerOrder = 5;
const linesPerLoad = 20;
const rowsPerTable = 30;

/** What was acknowledged to one worker, over all kills. */
export interface Account {
  readonly worker: number;
  /** Ids of single rows: acknowledged, and sent without an answer. */
  readonly acknowledged: Set<number>;
  readonly unanswered: Set<number>;
  /** Orders, each a transaction of one head and several lines. */
  readonly acknowledgedOrders: Set<number>;
  readonly unansweredOrders: Set<number>;
  /** How often the worker's own counter was raised for sure. */
  increments: number;
  /** How often it may have been raised besides. */
  unansweredIncrements: number;
  /** Rows whose DELETE was acknowledged, and those whose was not. */
  readonly deleted: Set<number>;
  readonly unansweredDeletes: Set<number>;
  /** Loads by COPY. */
  readonly loads: Set<number>;
  readonly unansweredLoads: Set<number>;
  /** Tables of the worker: whether they are there; null: nobody knows. */
  readonly tables: Map<string, boolean | null>;
  nextId: number;
  transfers: number;
}

/** The account of a worker that has done nothing. */
export function newAccount(worker: number): Account {
  return {
    worker,
    acknowledged: new Set(),
    unanswered: new Set(),
    acknowledgedOrders: new Set(),
    unansweredOrders: new Set(),
    increments: 0,
    unansweredIncrements: 0,
    deleted: new Set(),
    unansweredDeletes: new Set(),
    loads: new Set(),
    unansweredLoads: new Set(),
    tables: new Map(),
    nextId: worker * 10_000_000 + 1,
    transfers: 0,
  };
}

/** Makes the tables of the load. */
export async function createTables(client: Pick<SqlClient, "query">, workers: number): Promise<void> {
  await client.query(
    "CREATE TABLE single (id BIGINT PRIMARY KEY, worker INT NOT NULL, payload TEXT NOT NULL)",
  );
  await client.query("CREATE TABLE head (id BIGINT PRIMARY KEY, lines INT NOT NULL)");
  await client.query(
    "CREATE TABLE line (head BIGINT NOT NULL REFERENCES head, number INT NOT NULL, PRIMARY KEY (head, number))",
  );
  await client.query(
    "CREATE TABLE load (id BIGINT NOT NULL, line INT NOT NULL, body TEXT, PRIMARY KEY (id, line))",
  );
  await client.query("CREATE TABLE counter (worker INT PRIMARY KEY, value BIGINT NOT NULL)");
  await client.query("CREATE TABLE balance (id INT PRIMARY KEY, amount BIGINT NOT NULL)");
  await client.query(`INSERT INTO counter SELECT n, 0 FROM generate_series(0, ${workers - 1}) AS n`);
  await client.query(
    `INSERT INTO balance SELECT n, ${openingBalance} FROM generate_series(1, ${accounts}) AS n`,
  );
}

async function insertSingle(client: SqlClient, account: Account, random: SeededRandom): Promise<void> {
  const id = account.nextId++;
  account.unanswered.add(id);
  await client.query("INSERT INTO single VALUES ($1, $2, $3)", [
    id,
    account.worker,
    `payload ${id} ${"x".repeat(random.below(400))}`,
  ]);
  account.unanswered.delete(id);
  account.acknowledged.add(id);
}

async function insertOrder(client: SqlClient, account: Account): Promise<void> {
  const id = account.nextId++;
  account.unansweredOrders.add(id);
  await client.query("BEGIN");
  await client.query("INSERT INTO head VALUES ($1, $2)", [id, linesPerOrder]);
  await client.query("INSERT INTO line VALUES ($1, 1), ($1, 2), ($1, 3)", [id]);
  await client.query("INSERT INTO line VALUES ($1, 4)", [id]);
  await client.query("INSERT INTO line VALUES ($1, 5)", [id]);
  await client.query("COMMIT");
  account.unansweredOrders.delete(id);
  account.acknowledgedOrders.add(id);
}

async function raiseCounter(client: SqlClient, account: Account): Promise<void> {
  account.unansweredIncrements++;
  await client.query("UPDATE counter SET value = value + 1 WHERE worker = $1", [account.worker]);
  account.unansweredIncrements--;
  account.increments++;
}

/**
 * Moves an amount between two rows that other workers move as well; a lost race is the one refusal that is expected.
 */
async function transfer(client: SqlClient, account: Account, random: SeededRandom): Promise<void> {
  const from = 1 + random.below(accounts);
  const to = 1 + (from + random.below(accounts - 1)) % accounts;
  try {
    await client.query("BEGIN");
    await client.query("UPDATE balance SET amount = amount - 7 WHERE id = $1", [from]);
    await client.query("UPDATE balance SET amount = amount + 7 WHERE id = $1", [to]);
    await client.query("COMMIT");
    account.transfers++;
  } catch (error) {
    if (!isLostRace(error)) throw error;
    await client.query("ROLLBACK");
  }
}

/** Deletes a row that was acknowledged before. */
async function deleteSingle(client: SqlClient, account: Account): Promise<void> {
  const [id] = account.acknowledged;
  if (id === undefined) return;
  account.acknowledged.delete(id);
  account.unansweredDeletes.add(id);
  await client.query("DELETE FROM single WHERE id = $1", [id]);
  account.unansweredDeletes.delete(id);
  account.deleted.add(id);
}

async function loadLines(client: SqlClient, account: Account, random: SeededRandom): Promise<void> {
  if (client.copyIn === undefined) return;
  const id = account.nextId++;
  const lines = Array.from(
    { length: linesPerLoad },
    (_, line) => `${id}\t${line}\t${"y".repeat(random.below(60))}\n`,
  );
  account.unansweredLoads.add(id);
  await client.copyIn("COPY load (id, line, body) FROM STDIN", lines.join(""));
  account.unansweredLoads.delete(id);
  account.loads.add(id);
}

/** Makes a table with rows and an index, changes one, or drops one. */
async function define(client: SqlClient, account: Account, random: SeededRandom): Promise<void> {
  const present = [...account.tables].filter(([, there]) => there === true).map(([name]) => name);
  const [oldest] = present;
  if (oldest !== undefined && present.length > 3) {
    account.tables.set(oldest, null);
    await client.query(`DROP TABLE ${oldest}`);
    account.tables.set(oldest, false);
  } else if (oldest !== undefined && random.below(2) === 0) {
    await client.query(`ALTER TABLE ${oldest} ADD COLUMN extra_${account.nextId++} INT DEFAULT 7`);
    await client.query(`CREATE INDEX ON ${oldest} (b, a)`);
  } else {
    const name = `own_${account.nextId++}`;
    account.tables.set(name, null);
    await client.query("BEGIN");
    await client.query(`CREATE TABLE ${name} (a INT PRIMARY KEY, b TEXT)`);
    await client.query(
      `INSERT INTO ${name} SELECT n, 'row ' || n FROM generate_series(1, ${rowsPerTable}) AS n`,
    );
    await client.query(`CREATE INDEX ${name}_b ON ${name} (b)`);
    await client.query("COMMIT");
    account.tables.set(name, true);
  }
}

/** The SQLSTATE, or the code of a system's error; empty when there is none. */
export function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

function isLostRace(error: unknown): boolean {
  return ["40001", "40P01"].includes(codeOf(error));
}

/** Whether an error says that the connection is gone, and not that the server refused something. */
export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return [
    "CONNECTION_CLOSED",
    "CONNECTION_DESTROYED",
    "CONNECTION_ENDED",
    "ECONNRESET",
    "EPIPE",
    "ECONNREFUSED",
  ]
    .includes(codeOf(error)) || /Connection terminated|not queryable/.test(error.message);
}

/**
 * Works until the connection is gone, or for another reason cannot go on that `isEnd` knows; rejects when the server
 * refuses something that it should not.
 */
export async function work(
  client: SqlClient,
  account: Account,
  random: SeededRandom,
  isEnd: (error: unknown) => boolean = isLostConnection,
): Promise<void> {
  try {
    for (;;) {
      const choice = random.below(20);
      if (choice < 6) await insertSingle(client, account, random);
      else if (choice < 9) await insertOrder(client, account);
      else if (choice < 12) await raiseCounter(client, account);
      else if (choice < 14) await transfer(client, account, random);
      else if (choice < 16) await deleteSingle(client, account);
      else if (choice < 19) await loadLines(client, account, random);
      else await define(client, account, random);
    }
  } catch (error) {
    if (!isEnd(error)) throw error;
  } finally {
    await client.close();
  }
}

async function numbers(client: SqlClient, sql: string): Promise<number[]> {
  return (await client.query(sql)).map((row) => Number(row.n));
}

/** Compares the tables with all accounts, and settles what was open: from now on it is known. */
export async function verify(client: SqlClient, all: readonly Account[], round: number): Promise<void> {
  const single = new Set(await numbers(client, "SELECT id AS n FROM single"));
  const heads = new Set(await numbers(client, "SELECT id AS n FROM head"));
  const loads = new Set(await numbers(client, "SELECT DISTINCT id AS n FROM load"));
  const partial = await client.query(
    `SELECT id, count(*) AS lines FROM load GROUP BY id HAVING count(*) <> ${linesPerLoad}`,
  );
  strictEqual(partial.length, 0, `round ${round}: loads in part: ${JSON.stringify(partial.slice(0, 3))}`);
  await verifyTables(client, all, round);
  const counters = await numbers(client, "SELECT value AS n FROM counter ORDER BY worker");
  let expectedRows = 0;
  for (const account of all) {
    for (const id of account.acknowledged) ok(single.has(id), `round ${round}: row ${id} was acknowledged`);
    for (const id of account.acknowledgedOrders) {
      ok(heads.has(id), `round ${round}: order ${id} was acknowledged`);
    }
    for (const id of account.deleted) ok(!single.has(id), `round ${round}: row ${id} was deleted`);
    for (const id of account.loads) ok(loads.has(id), `round ${round}: load ${id} was acknowledged`);
    settle(account.unanswered, account.acknowledged, single);
    settle(account.unansweredDeletes, account.acknowledged, single);
    settle(account.unansweredLoads, account.loads, loads);
    settle(account.unansweredOrders, account.acknowledgedOrders, heads);
    expectedRows += account.acknowledged.size;
    const counter = counters[account.worker] ?? NaN;
    ok(
      counter >= account.increments && counter <= account.increments + account.unansweredIncrements,
      `round ${round}: counter ${account.worker} is ${counter}, ${account.increments} increments were acknowledged`,
    );
    account.increments = counter;
    account.unansweredIncrements = 0;
  }
  strictEqual(single.size, expectedRows, `round ${round}: no row that nobody sent`);
  const broken = await client.query(
    `SELECT head.id, count(line.number) AS lines FROM head LEFT JOIN line ON line.head = head.id
     GROUP BY head.id HAVING count(line.number) <> ${linesPerOrder}`,
  );
  strictEqual(broken.length, 0, `round ${round}: orders in part: ${JSON.stringify(broken.slice(0, 3))}`);
  strictEqual(
    (await numbers(client, "SELECT count(*) AS n FROM line"))[0],
    heads.size * linesPerOrder,
    `round ${round}: lines without order`,
  );
  strictEqual(
    (await numbers(client, "SELECT sum(amount) AS n FROM balance"))[0],
    accounts * openingBalance,
    `round ${round}: money came or went`,
  );
  const damaged = await client.query(
    "SELECT id FROM single WHERE payload NOT LIKE 'payload ' || id || ' %' OR worker <> id / 10000000",
  );
  strictEqual(damaged.length, 0, `round ${round}: rows with other content`);
}

/** Tables that workers made and dropped: those that are there have all their rows, by the index too. */
async function verifyTables(client: SqlClient, all: readonly Account[], round: number): Promise<void> {
  const rows = await client.query(
    "SELECT relname AS name FROM pg_class WHERE relname LIKE 'own\\_%' AND relkind = 'r'",
  );
  const present = new Set(rows.map(({ name }) => String(name)));
  let expected = 0;
  for (const { tables } of all) {
    for (const [name, there] of tables) {
      if (there !== null) strictEqual(present.has(name), there, `round ${round}: table ${name} is there`);
      tables.set(name, present.has(name));
      if (!present.has(name)) continue;
      expected++;
      const [whole] = await client.query(
        `SELECT count(*) AS a, count(DISTINCT b) AS b, (SELECT count(*) FROM ${name} WHERE b >= 'row') AS i FROM ${name}`,
      );
      const counts = [whole?.a, whole?.b, whole?.i].map(Number).join();
      strictEqual(counts, `${rowsPerTable},${rowsPerTable},${rowsPerTable}`, `round ${round}: table ${name}`);
    }
  }
  strictEqual(present.size, expected, `round ${round}: no table that nobody made`);
}

function settle(unanswered: Set<number>, acknowledged: Set<number>, present: ReadonlySet<number>): void {
  for (const id of unanswered) if (present.has(id)) acknowledged.add(id);
  unanswered.clear();
}

/** What was kept through all rounds. */
export interface KillFigures {
  readonly rows: number;
  readonly orders: number;
  readonly loads: number;
  readonly deletes: number;
  readonly tables: number;
  readonly transfers: number;
  readonly increments: number;
}

/** The sums of all accounts. */
export function figuresOf(all: readonly Account[]): KillFigures {
  const sum = (count: (account: Account) => number) =>
    all.reduce((total, account) => total + count(account), 0);
  return {
    rows: sum(({ acknowledged }) => acknowledged.size),
    orders: sum(({ acknowledgedOrders }) => acknowledgedOrders.size),
    loads: sum(({ loads }) => loads.size),
    deletes: sum(({ deleted }) => deleted.size),
    tables: sum(({ tables }) => tables.size),
    transfers: sum(({ transfers }) => transfers),
    increments: sum(({ increments }) => increments),
  };
}
