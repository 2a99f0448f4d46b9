/**
 * What the clients of a simulated engine do, and what follows from what they were told.
 *
 * - `transfer`: a row in a ledger and a change of a balance in one transaction, so that half of one shows; with
 *   savepoints.
 * - `churn`: rows with a unique text are inserted, upserted, changed and deleted by the dozen; now and then all go at
 *   once.
 * - `define`: tables are created, altered, indexed, truncated and dropped, with rows in them, also in transactions
 *   that end well or not.
 * - `load`: COPY of some rows under one number, which are all there or none.
 * - `once`: exactly-once requests that raise a counter; one without an answer is sent again in the next life.
 * - `read`: what was read once is there for good; a transaction sees one state for as long as it lasts; a cursor too.
 * - `maintain`: checkpoints and hot snapshots.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { SimulatedClient } from "./simulated_client.ts";

const ACCOUNTS = 6;
const ONCE_CLIENTS = 4;
const NOTE_LENGTHS = [0, 0, 12, 40, 600, 1200];

/** What an exactly-once client knows. */
interface OnceAccount {
  /** Requests that were answered with success. */
  raised: number;
  sequence: bigint;
  /** The answer to `sequence`; null: none has come. */
  reply: string | null;
}

/** What clients were told, over all lives. */
export class Account {
  nextId = 1;
  readonly ledger = new Set<number>();
  /** Number of a load and how many rows it has. */
  readonly loads = new Map<number, number>();
  readonly loadSizes = new Map<number, number>();
  readonly once: readonly OnceAccount[] = Array.from({ length: ONCE_CLIENTS }, () => ({
    raised: 0,
    sequence: 0n,
    reply: "",
  }));
  /** Snapshots that were said to be done: directory and op. */
  readonly snapshots: { readonly directory: string; readonly op: number }[] = [];
}

/** One kind of client: does one round of its work. */
export interface Work {
  readonly name: string;
  readonly weight: number;
  round(client: SimulatedClient, account: Account, expected: readonly string[]): Promise<void>;
}

/** Statements that make the tables that all lives use. */
export function schemaSql(): string {
  const accounts = Array.from({ length: ACCOUNTS }, (_, id) => `(${id}, 0)`).join(", ");
  const clients = Array.from({ length: ONCE_CLIENTS }, (_, id) => `(${id}, 0)`).join(", ");
  return "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);" +
    "CREATE TABLE ledger (id int PRIMARY KEY, account int NOT NULL REFERENCES account, amount int NOT NULL, note text);" +
    "CREATE INDEX ledger_account ON ledger (account);" +
    "CREATE TABLE item (id serial PRIMARY KEY, code text UNIQUE, n int NOT NULL DEFAULT 0, note text);" +
    "CREATE INDEX item_n ON item (n DESC, code);" +
    "CREATE TABLE load (id bigserial, number int NOT NULL, line int NOT NULL, body text, PRIMARY KEY (number, line));" +
    "CREATE TABLE once (client int PRIMARY KEY, n int NOT NULL);" +
    `INSERT INTO account VALUES ${accounts}; INSERT INTO once VALUES ${clients}`;
}

function noteOf(client: SimulatedClient): string {
  return "x".repeat(client.random.pick(NOTE_LENGTHS));
}

const transfer: Work = {
  name: "transfer",
  weight: 5,
  async round(client, account, expected) {
    const { random } = client;
    const id = account.nextId++;
    const of = random.below(ACCOUNTS), amount = random.between(-50, 50);
    const parts = [
      `INSERT INTO ledger VALUES (${id}, ${of}, ${amount}, '${noteOf(client)}')`,
      `UPDATE account SET balance = balance + ${amount} WHERE id = ${of}`,
    ];
    if (random.chance(0.5)) parts.reverse();
    const whole = random.chance(0.3);
    await client.attempt(async () => {
      if (whole) await client.run(parts.join(";"));
      else {
        await client.run("BEGIN");
        for (const part of parts) {
          if (random.chance(0.25)) await takeBack(client);
          await client.run(part);
          await client.pause();
        }
        if (random.chance(0.1)) return void await client.run("ROLLBACK");
        await client.run("COMMIT");
      }
      account.ledger.add(id);
    }, expected);
  },
};

/** Changes that a savepoint takes back. */
async function takeBack(client: SimulatedClient): Promise<void> {
  await client.run("SAVEPOINT s");
  await client.run(`UPDATE account SET balance = balance + 1000 WHERE id = ${client.random.below(ACCOUNTS)}`);
  if (client.random.chance(0.3)) await client.run("DELETE FROM ledger WHERE account = 0");
  await client.run("ROLLBACK TO s");
  if (client.random.chance(0.5)) await client.run("RELEASE s");
}

const churn: Work = {
  name: "churn",
  weight: 4,
  async round(client, _account, expected) {
    const { random } = client;
    const code = () => `c${random.below(60)}`;
    const rows = Array.from(
      { length: random.between(1, 12) },
      () => `('${code()}', ${random.below(9)}, '${noteOf(client).slice(0, 40)}')`,
    );
    const low = random.below(60);
    const statement = random.pick([
      `INSERT INTO item (code, n, note) VALUES ${rows.join(", ")} ON CONFLICT DO NOTHING`,
      `INSERT INTO item (code, n, note) VALUES ${
        rows.slice(0, 1)
      } ON CONFLICT (code) DO UPDATE SET n = item.n + 1, note = excluded.note`,
      `INSERT INTO item (n) SELECT g FROM generate_series(1, ${random.between(1, 30)}) AS g`,
      `UPDATE item SET n = n + 1 WHERE code BETWEEN 'c${low}' AND 'c${low + 9}'`,
      `UPDATE item SET note = upper(note) WHERE n = ${random.below(9)} RETURNING id`,
      `DELETE FROM item WHERE n = ${random.below(12)}`,
      `DELETE FROM item WHERE code = '${code()}'`,
      random.chance(0.1) ? "TRUNCATE item" : `DELETE FROM item WHERE id % 5 = ${random.below(5)}`,
    ]);
    await client.attempt(async () => {
      await client.run(statement);
    }, expected);
  },
};

const define: Work = {
  name: "define",
  weight: 3,
  async round(client, account, expected) {
    const { random } = client;
    const table = `d${random.below(3)}`;
    const column = `c${random.below(4)}`;
    const change = () =>
      random.pick([
        `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${column} int DEFAULT ${random.below(100)}`,
        `ALTER TABLE ${table} DROP COLUMN IF EXISTS ${column}`,
        `CREATE INDEX IF NOT EXISTS ${table}_b ON ${table} (b)`,
        `DROP INDEX IF EXISTS ${table}_b`,
        `TRUNCATE ${table}`,
        `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${column} text DEFAULT '${column}'`,
        `CREATE UNIQUE INDEX IF NOT EXISTS ${table}_a ON ${table} (a)`,
      ]);
    const fill = () =>
      `INSERT INTO ${table} (b) SELECT repeat('${table}', g) FROM generate_series(1, ${
        random.between(1, 20)
      }) AS g`;
    await client.attempt(async () => {
      await client.run(`CREATE TABLE IF NOT EXISTS ${table} (a serial PRIMARY KEY, b text)`);
      const block = random.chance(0.4);
      if (block) await client.run("BEGIN");
      for (let count = random.between(1, 4); count > 0; count--) {
        await client.run(random.chance(0.5) ? fill() : change());
        await client.pause();
      }
      if (block) await client.run(random.chance(0.25) ? "ROLLBACK" : "COMMIT");
      if (random.chance(0.1)) {
        await client.run(`CREATE TEMP TABLE t${account.nextId++} AS SELECT * FROM ${table}`);
      }
      if (random.chance(0.15)) await client.run(`DROP TABLE IF EXISTS ${table}`);
      // Another client may have dropped or changed the table in between.
    }, [...expected, "42P01", "42703", "42P07", "42701"]);
  },
};

const load: Work = {
  name: "load",
  weight: 2,
  async round(client, account, expected) {
    const { random } = client;
    const number = account.nextId++, notes = random.between(1, 50);
    // Some have more than a checkpoint has of log: they become segments while they are applied.
    const size = number % 3 === 0 ? notes * 10 : notes;
    account.loadSizes.set(number, size);
    const bodies = Array.from({ length: notes }, () => noteOf(client).slice(0, 40));
    const lines = Array.from(
      { length: size },
      (_, line) => `${number}\t${line}\t${bodies[line % notes]}\n`,
    );
    const at = random.below(size + 1);
    const pieces = [lines.slice(0, at).join(""), lines.slice(at).join("")];
    await client.attempt(async () => {
      await client.copyIn("COPY load (number, line, body) FROM STDIN", pieces);
      account.loads.set(number, size);
    }, expected);
  },
};

/** Names of exactly-once clients are 32 digits. */
function onceClientId(client: number): string {
  return `a0${client}`.padStart(32, "0");
}

/** Sends the newest request of an exactly-once client, for the first time or again. */
export async function sendOnce(client: SimulatedClient, account: Account, number: number): Promise<boolean> {
  const own = account.once[number];
  ok(own !== undefined, `client ${number}`);
  const before = own.reply;
  const { reply, durableOp, repeated } = await client.session.once(
    {
      clientId: onceClientId(number),
      sequence: own.sequence,
      digest: new TextEncoder().encode(`request ${own.sequence}`),
    },
    async () => {
      await client.run(`UPDATE once SET n = n + 1 WHERE client = ${number}`);
      return new TextEncoder().encode(`raised by request ${own.sequence}`);
    },
    (error) => new TextEncoder().encode(`failed ${error.code}`),
  );
  await client.believe(durableOp);
  const text = new TextDecoder().decode(reply);
  if (before === null) {
    own.reply = text;
    if (text.startsWith("raised")) own.raised++;
  } else strictEqual(text, before, `the reply to request ${own.sequence} of client ${number}`);
  return repeated;
}

const once: Work = {
  name: "once",
  weight: 2,
  async round(client, account, expected) {
    const number = client.random.below(ONCE_CLIENTS);
    const own = account.once[number];
    ok(own !== undefined, `client ${number}`);
    // Another session may be waiting for this client's answer; a client has one request at a time.
    if (own.reply === null) return;
    own.sequence++;
    own.reply = null;
    const answered = await client.attempt(async () => void await sendOnce(client, account, number), expected);
    // The node goes on and has refused the request: nothing of it was kept.
    if (!answered) {
      own.sequence--;
      own.reply = "";
    }
  },
};

const read: Work = {
  name: "read",
  weight: 3,
  async round(client, account, expected) {
    const { random } = client;
    await client.attempt(async () => {
      for (const [id] of await client.run("SELECT id FROM ledger WHERE id > 0")) {
        account.ledger.add(Number(id));
      }
      if (random.chance(0.5)) await readForLong(client);
      else await fetchPieces(client);
    }, expected);
  },
};

async function readForLong(client: SimulatedClient): Promise<void> {
  const sql =
    "SELECT (SELECT count(*) FROM item), (SELECT sum(n) FROM item), (SELECT sum(amount) FROM ledger)," +
    " (SELECT sum(balance) FROM account)";
  await client.run("BEGIN READ ONLY");
  const first = await client.run(sql);
  for (let count = client.random.between(1, 8); count > 0; count--) await client.pause();
  deepStrictEqual(await client.run(sql), first, "a transaction sees one state");
  strictEqual(Number(first[0]?.[2] ?? 0), Number(first[0]?.[3]), "a reader sees whole transactions");
  await client.run("COMMIT");
}

async function fetchPieces(client: SimulatedClient): Promise<void> {
  const { random } = client;
  const query = random.chance(0.5)
    ? "SELECT id, amount FROM ledger ORDER BY id"
    : "SELECT id, code, n FROM item ORDER BY n DESC, id";
  await client.run("BEGIN");
  await client.run(`DECLARE c CURSOR FOR ${query}`);
  const whole = await client.run(query);
  const fetched = [];
  for (;;) {
    const piece = await client.run(`FETCH ${random.between(5, 60)} FROM c`);
    if (piece.length === 0) break;
    fetched.push(...piece);
    await client.pause();
  }
  deepStrictEqual(fetched, whole, "a cursor reads one state");
  await client.run("COMMIT");
}

const maintain: Work = {
  name: "maintain",
  weight: 1,
  async round(client, account, expected) {
    await client.attempt(async () => {
      if (client.random.chance(0.5)) return void await client.run("CHECKPOINT");
      const directory = `copy-${account.nextId++}`;
      const op = await client.engine.snapshotTo(directory);
      await client.believe(op);
      account.snapshots.push({ directory, op });
    }, expected);
  },
};

/** Transactions of one size, as quickly as possible. */
export const burst: Work = {
  name: "burst",
  weight: 0,
  async round(client, account, expected) {
    const id = account.nextId++;
    await client.attempt(async () => {
      await client.run(`INSERT INTO ledger VALUES (${id}, 0, 0, '${"x".repeat(700)}')`);
      account.ledger.add(id);
    }, expected);
  },
};

/** All kinds of clients that are drawn by their weight. */
export const WORKS: readonly Work[] = [transfer, churn, define, load, once, read, maintain];

/** Checks what the clients were told against a recovered engine, with nobody else at work. */
export async function checkAccount(client: SimulatedClient, account: Account): Promise<void> {
  const number = ([value]: readonly unknown[]): number => Number(value);
  const ids = new Set((await client.run("SELECT id FROM ledger")).map(number));
  for (const id of account.ledger) ok(ids.has(id), `transaction ${id} was told of and is gone`);
  const balances = await client.run("SELECT id, balance FROM account ORDER BY id");
  const sums = await client.run(
    "SELECT a.id, coalesce(sum(l.amount), 0)::int FROM account a LEFT JOIN ledger l ON l.account = a.id GROUP BY a.id ORDER BY a.id",
  );
  deepStrictEqual(balances, sums, "balances and ledger");
  const loads = new Map(
    (await client.run("SELECT number, count(*) FROM load GROUP BY number")).map((row) =>
      [number(row), Number(row[1])] as const
    ),
  );
  for (const load of account.loads.keys()) ok(loads.has(load), `load ${load} was acknowledged and is gone`);
  for (const [load, rows] of loads) strictEqual(rows, account.loadSizes.get(load), `load ${load} is whole`);
  for (const [index, own] of account.once.entries()) {
    const raised = number((await client.run(`SELECT n FROM once WHERE client = ${index}`))[0] ?? []);
    const open = own.reply === null ? 1 : 0;
    ok(
      raised >= own.raised && raised <= own.raised + open,
      `client ${index} has raised ${raised}, not ${own.raised}`,
    );
  }
}

/** Sends again what was not answered, and what was: the answers must be the first ones, and nothing is done twice. */
export async function checkOnce(client: SimulatedClient, account: Account): Promise<void> {
  for (const [index, own] of account.once.entries()) {
    if (own.sequence === 0n) continue;
    const isAnswered = own.reply !== null && own.reply !== "";
    if (own.reply === "") continue;
    const repeated = await sendOnce(client, account, index);
    ok(
      repeated || !isAnswered,
      `request ${own.sequence} of client ${index} was answered before and ran again`,
    );
    const raised = await client.run(`SELECT n FROM once WHERE client = ${index}`);
    strictEqual(Number(raised[0]?.[0]), own.raised, `requests of client ${index} that were done`);
  }
}

/** Whether an error is one that a statement on a failing disk may end with, or one after the node has stopped. */
export function isDiskError(error: unknown): boolean {
  return error instanceof DatabaseError && ["58030", "53100", "57P03"].includes(error.code);
}
