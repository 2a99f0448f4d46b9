/**
 * Clients that move money between accounts at several shards, each transfer once: they ask again, under the same
 * number, until they are answered, over whatever kills. What they were told is compared with the tables.
 */
import { ok, strictEqual } from "node:assert/strict";
import { connect } from "../../../gateways/binary/client.ts";
import { seededRandom } from "../../support/random.ts";

/** Where the servers are; a server alone is one. */
export interface Addresses {
  readonly binary: readonly string[];
  readonly http: readonly string[];
}

/** Rows come out as objects. */
export type Query = (sql: string) => Promise<Record<string, unknown>[]>;

const ACCOUNTS = 24;
const BALANCE = 1000;
/** Outcomes of a transfer that lost a race, or met a shard that nobody had waited for. */
const LOST = ["40001", "40P01"];
const RETRY_MILLISECONDS = 30;
/** A transfer that is not answered for so long never is. */
const PATIENCE_MILLISECONDS = 90_000;

interface Transfer {
  readonly number: number;
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}

/** One client, and what it was told. */
interface Account {
  readonly client: number;
  readonly done: Transfer[];
  readonly lost: Transfer[];
  repeated: number;
}

function accountOf(client: number): Account {
  return { client, done: [], lost: [], repeated: 0 };
}

/** Makes the tables. */
export async function makeTables(query: Query): Promise<void> {
  await query(
    `CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL);
     CREATE TABLE done (id SERIAL PRIMARY KEY, client INT NOT NULL, number INT NOT NULL);
     INSERT INTO account SELECT n, ${BALANCE} FROM generate_series(1, ${ACCOUNTS}) AS n`,
  );
}

/** Half of them need the shards' votes, since they have read more than what they write. */
function sqlOf(client: number, { number, from, to, amount }: Transfer): string {
  const source = client % 4 < 2 ? String(from) : `(SELECT max(id) FROM account WHERE id <= ${from})`;
  return `UPDATE account SET balance = balance - ${amount} WHERE id = ${source};
    UPDATE account SET balance = balance + ${amount} WHERE id = ${to};
    INSERT INTO done (client, number) VALUES (${client}, ${number})`;
}

/** See the file's head. */
export class OnceLoad {
  readonly #accounts: readonly Account[];
  readonly #ends: readonly Promise<void>[];
  readonly #seed: number;
  #isOver = false;

  constructor(addresses: Addresses, { clients, seed }: { readonly clients: number; readonly seed: number }) {
    this.#seed = seed;
    this.#accounts = Array.from({ length: clients }, (_, client) => accountOf(client));
    this.#ends = this.#accounts.map((account) =>
      account.client % 2 === 0 ? this.#overBinary(account, addresses) : this.#overHttp(account, addresses)
    );
  }

  /** Waits until each client has been answered again, so often. */
  async progress(count: number): Promise<void> {
    const answered = (): number[] => this.#accounts.map(({ done, lost }) => done.length + lost.length);
    const before = answered();
    const failed = Promise.all(this.#ends).then(() => {});
    const end = performance.now() + PATIENCE_MILLISECONDS;
    while (answered().some((now, index) => now < (before[index] ?? 0) + count)) {
      ok(performance.now() < end, `clients wait for answers: ${before} before, ${answered()} now`);
      await Promise.race([failed, new Promise((resolve) => setTimeout(resolve, 10))]);
    }
  }

  /** Stops after the transfers under way. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#ends);
  }

  /** How many transfers were done, lost a race, and were asked for more than once. */
  figures(): { readonly done: number; readonly lost: number; readonly repeated: number } {
    const sum = (of: (account: Account) => number): number =>
      this.#accounts.reduce((total, account) => total + of(account), 0);
    return {
      done: sum(({ done }) => done.length),
      lost: sum(({ lost }) => lost.length),
      repeated: sum(({ repeated }) => repeated),
    };
  }

  /** What holds at any time, of one snapshot. */
  async checkWhole(query: Query): Promise<void> {
    const [row] = await query(
      `SELECT (SELECT sum(balance) FROM account)::int AS sum, (SELECT count(*) FROM account)::int AS accounts,
         count(*)::int AS rows, count(DISTINCT client * 1000000 + number)::int AS transfers FROM done`,
    );
    strictEqual(row?.["sum"], ACCOUNTS * BALANCE, `money came or went: ${JSON.stringify(row)}`);
    strictEqual(row?.["accounts"], ACCOUNTS);
    strictEqual(row?.["rows"], row?.["transfers"], "a transfer was done twice");
  }

  /** After the end: exactly what was acknowledged is there, and the balances are those of it. */
  async checkAll(query: Query): Promise<void> {
    await this.checkWhole(query);
    const rows = await query("SELECT client, number FROM done");
    const found = new Set(rows.map(({ client, number }) => `${client} ${number}`));
    const balances = new Map(Array.from({ length: ACCOUNTS }, (_, index) => [index + 1, BALANCE]));
    for (const { client, done, lost } of this.#accounts) {
      for (const { number, from, to, amount } of done) {
        ok(found.delete(`${client} ${number}`), `transfer ${number} of client ${client} was acknowledged`);
        balances.set(from, (balances.get(from) ?? 0) - amount);
        balances.set(to, (balances.get(to) ?? 0) + amount);
      }
      for (const { number } of lost) {
        ok(
          !found.has(`${client} ${number}`),
          `transfer ${number} of client ${client} was refused, and is there`,
        );
      }
    }
    strictEqual([...found].join(), "", "transfers that nobody was told of");
    for (const { id, balance } of await query("SELECT id, balance FROM account")) {
      strictEqual(balance, balances.get(id as number), `the balance of account ${id}`);
    }
  }

  async #run(account: Account, transfer: (sql: string, number: number) => Promise<void>): Promise<void> {
    const random = seededRandom(this.#seed * 100 + account.client);
    for (let number = 1; !this.#isOver; number++) {
      const from = 1 + random.below(ACCOUNTS);
      const to = 1 + (from + random.below(ACCOUNTS - 1)) % ACCOUNTS;
      const each = { number, from, to, amount: 1 + random.below(9) };
      try {
        await transfer(sqlOf(account.client, each), number);
        account.done.push(each);
      } catch (error) {
        const { code } = error as { readonly code?: string };
        if (code === undefined || !LOST.includes(code)) throw error;
        account.lost.push(each);
      }
    }
  }

  /** The project's client asks again by itself. */
  async #overBinary(account: Account, { binary }: Addresses): Promise<void> {
    await using client = await connect({
      addresses: binary,
      exactlyOnce: true,
      reconnectTimeoutMilliseconds: PATIENCE_MILLISECONDS,
    });
    await this.#run(account, async (sql) => void await client.execute(sql));
  }

  async #overHttp(account: Account, { http }: Addresses): Promise<void> {
    const clientId = crypto.randomUUID().replaceAll("-", "");
    await this.#run(account, async (sql, number) => {
      for (let attempt = 0;; attempt++) {
        if (attempt > 0) {
          account.repeated++;
          await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
        }
        let answer: { readonly status: string; readonly code?: string; readonly message?: string };
        try {
          const response = await fetch(`http://${http[attempt % http.length]}/v1/sql`, {
            method: "POST",
            headers: {
              "Content-Type": "text/plain",
              "X-Db-Client-Id": clientId,
              "X-Db-Req-Seq": String(number),
            },
            body: sql,
            signal: AbortSignal.timeout(10_000),
          });
          answer = await response.json();
        } catch {
          // No answer: it may have been done.
          continue;
        }
        // Not ready, no primary, or a view that ended.
        if (/^(57P|08|53|40003)/.test(answer.code ?? "")) continue;
        if (answer.status === "ok") return;
        throw Object.assign(new Error(answer.message), { code: answer.code });
      }
    });
  }
}
