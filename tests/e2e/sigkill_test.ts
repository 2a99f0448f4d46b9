/**
 * The server is killed with SIGKILL at random moments under load, 20 times, and started again on the same directory.
 *
 * Eight connections of two drivers insert single rows, commit transactions over several tables and update rows. What the
 * server acknowledged must be there after every restart; a statement or transaction without an answer must be there as a
 * whole or not at all. Each worker keeps its own account of what it was told, and all accounts are compared with the
 * tables after each restart, so that a row that gets lost later is found as well. Checkpoints are made often, so that
 * some of the kills hit one. SIGKILL leaves what the operating system holds: what a power cut does is for the simulated disk.
 */
import { ok, strictEqual } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { startDbd } from "../bench/peers/dbd.ts";
import { connectPg, connectPostgres, type ServerAddress, type SqlClient } from "../support/clients.ts";
import { type SeededRandom, seededRandom } from "../support/random.ts";

const rounds = 20;
const workers = 8;
const accounts = 64;
const openingBalance = 1000;
const linesPerOrder = 5;

/** What one worker was told, over all rounds. */
interface Account {
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
  nextId: number;
  transfers: number;
}

function newAccount(worker: number): Account {
  return {
    worker,
    acknowledged: new Set(),
    unanswered: new Set(),
    acknowledgedOrders: new Set(),
    unansweredOrders: new Set(),
    increments: 0,
    unansweredIncrements: 0,
    nextId: worker * 10_000_000 + 1,
    transfers: 0,
  };
}

async function createTables(client: SqlClient): Promise<void> {
  await client.query(
    "CREATE TABLE single (id BIGINT PRIMARY KEY, worker INT NOT NULL, payload TEXT NOT NULL)",
  );
  await client.query("CREATE TABLE head (id BIGINT PRIMARY KEY, lines INT NOT NULL)");
  await client.query(
    "CREATE TABLE line (head BIGINT NOT NULL REFERENCES head, number INT NOT NULL, PRIMARY KEY (head, number))",
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

/** Moves an amount between two rows that other workers move as well; a lost race is the one refusal that is expected. */
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

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

function isLostRace(error: unknown): boolean {
  return ["40001", "40P01"].includes(codeOf(error));
}

/** Whether an error says that the connection is gone, and not that the server refused something. */
function isLostConnection(error: unknown): boolean {
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

/** Works until the connection is gone; rejects when the server refuses something that it should not. */
async function work(client: SqlClient, account: Account, random: SeededRandom): Promise<void> {
  try {
    for (;;) {
      const choice = random.below(10);
      if (choice < 5) await insertSingle(client, account, random);
      else if (choice < 7) await insertOrder(client, account);
      else if (choice < 9) await raiseCounter(client, account);
      else await transfer(client, account, random);
    }
  } catch (error) {
    if (!isLostConnection(error)) throw error;
  } finally {
    await client.close();
  }
}

async function numbers(client: SqlClient, sql: string): Promise<number[]> {
  return (await client.query(sql)).map((row) => Number(row.n));
}

/** Compares the tables with all accounts, and settles what was open: from now on it is known. */
async function verify(client: SqlClient, all: readonly Account[], round: number): Promise<void> {
  const single = new Set(await numbers(client, "SELECT id AS n FROM single"));
  const heads = new Set(await numbers(client, "SELECT id AS n FROM head"));
  const counters = await numbers(client, "SELECT value AS n FROM counter ORDER BY worker");
  let expectedRows = 0;
  for (const account of all) {
    for (const id of account.acknowledged) ok(single.has(id), `round ${round}: row ${id} was acknowledged`);
    for (const id of account.acknowledgedOrders) {
      ok(heads.has(id), `round ${round}: order ${id} was acknowledged`);
    }
    settle(account.unanswered, account.acknowledged, single);
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

function settle(unanswered: Set<number>, acknowledged: Set<number>, present: ReadonlySet<number>): void {
  for (const id of unanswered) if (present.has(id)) acknowledged.add(id);
  unanswered.clear();
}

Deno.test(`dbd keeps every acknowledged row through ${rounds} rounds of SIGKILL under load`, async () => {
  const { dbd } = await compiledPrograms();
  const directory = await Deno.makeTempDir({ prefix: "sigkill-" });
  const random = seededRandom(20_26);
  const all = Array.from({ length: workers }, (_, worker) => newAccount(worker));
  const connect = (worker: number, address: ServerAddress) =>
    worker % 2 === 0 ? connectPg(address) : connectPostgres(address);
  try {
    for (let round = 0; round <= rounds; round++) {
      const server = await startDbd({ binary: dbd, directory, flags: ["--checkpoint-log", "1MiB"] });
      try {
        const first = await connect(round, server);
        if (round === 0) await createTables(first);
        else await verify(first, all, round);
        await first.close();
        if (round === rounds) continue;
        const clients = await Promise.all(all.map(({ worker }) => connect(worker + round, server)));
        const workload = clients.map((client, index) => {
          const account = all[index];
          if (account === undefined) throw new Error("one account per worker");
          return work(client, account, seededRandom(round * 100 + index));
        });
        const done = Promise.all(workload);
        await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 150 + random.below(700)))]);
        await server.kill();
        await done;
      } finally {
        // Harmless when it is dead already.
        await server.kill().catch(() => undefined);
      }
    }
    const total = all.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
    const orders = all.reduce((sum, { acknowledgedOrders }) => sum + acknowledgedOrders.size, 0);
    const transfers = all.reduce((sum, account) => sum + account.transfers, 0);
    console.log(`${rounds} kills: ${total} rows, ${orders} orders and ${transfers} transfers kept`);
    ok(total >= rounds && orders >= rounds && transfers >= rounds, "the load was no load");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
