/**
 * The power of the router's disk or of a shard's fails at any of its operations while transactions over two shards
 * commit and tables are defined, and the other disks go on for a while before theirs fails too; or the process is
 * killed after any of its steps. Checkpoints come in between. Every transaction is there whole or not at all, what was
 * acknowledged is there, and the shards have the same tables.
 */
import { ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { SimulatedCrash } from "../../engine/host/simulated_disk.ts";
import type { SimulatedHost } from "../../engine/host/simulated_host.ts";
import type { Session } from "../../engine/session/session.ts";
import { runDurably } from "../support/run_sql.ts";
import { Machines } from "./machines.ts";

const ACCOUNTS = 8;
const TOTAL = ACCOUNTS * 100;

/** What the database has acknowledged. */
interface Acknowledged {
  transfers: number;
  columns: number;
}

/** Where accounts lie before a round, in a work that moves them. */
const MOVES = ["SHARD BY (balance)", "SHARD BY ALL", "RESET (shard_by)", "SHARD BY (balance)"] as const;

/** Transfers between accounts, each with a row that counts it, a new column now and then. */
async function work(session: Session, acknowledged: Acknowledged, moves: boolean): Promise<void> {
  for (let round = 1; round <= 4; round++) {
    if (moves) await runDurably(session, `ALTER TABLE account ${MOVES[round - 1]}`);
    await runDurably(
      session,
      `BEGIN; UPDATE account SET balance = balance - ${round} WHERE id = ${round};
       UPDATE account SET balance = balance + ${round} WHERE id = ${round + 4};
       INSERT INTO done (note) VALUES ('transfer ${round}'); COMMIT`,
    );
    acknowledged.transfers++;
    if (round !== 2) continue;
    await runDurably(session, "ALTER TABLE account ADD COLUMN extra INT DEFAULT 7");
    acknowledged.columns++;
  }
}

async function check(session: Session, acknowledged: Acknowledged, at: number): Promise<number> {
  const [sums] = await runDurably(session, "SELECT count(*), sum(balance) FROM account");
  strictEqual(Number(sums?.[0]), ACCOUNTS, `accounts after a crash at operation ${at}`);
  strictEqual(Number(sums?.[1]), TOTAL, `the sum after a crash at operation ${at}`);
  const notes = await runDurably(session, "SELECT id FROM done ORDER BY id");
  const transfers = notes.length;
  ok(
    transfers === acknowledged.transfers || transfers === acknowledged.transfers + 1,
    `${transfers} transfers of ${acknowledged.transfers} acknowledged ones after a crash at operation ${at}`,
  );
  // Rows are where they are looked for, and the same at each shard that has them.
  const found = await runDurably(session, "SELECT balance FROM account ORDER BY balance");
  strictEqual(found.length, ACCOUNTS);
  for (const [balance] of found) {
    const same = await runDurably(session, `SELECT balance FROM account WHERE balance = ${balance}`);
    strictEqual(same.length, found.filter(([other]) => other === balance).length, `at operation ${at}`);
  }
  for (let id = 1; id <= ACCOUNTS; id++) {
    strictEqual(
      (await runDurably(session, `SELECT FROM account WHERE id = ${id}`)).length,
      1,
      `at operation ${at}`,
    );
  }
  // Each transfer that is there moved as much as its round says.
  const moved = await runDurably(session, "SELECT sum(balance) FROM account WHERE id <= 4");
  strictEqual(Number(moved[0]?.[0]), 400 - transfers * (transfers + 1) / 2, `at operation ${at}`);
  const columns = await runDurably(
    session,
    "SELECT count(*) FROM information_schema.columns WHERE table_name = 'account'",
  );
  ok(Number(columns[0]?.[0]) >= 2 + acknowledged.columns, `columns after a crash at operation ${at}`);
  // All shards take rows of the table as it is now, and new ids go on.
  await runDurably(
    session,
    "INSERT INTO account (id, balance) SELECT n, 0 FROM generate_series(100, 120) AS n",
  );
  await runDurably(session, "INSERT INTO done (note) VALUES ('after')");
  const ids = await runDurably(session, "SELECT count(DISTINCT id), count(*) FROM done");
  strictEqual(ids[0]?.[0], ids[0]?.[1]);
  return transfers;
}

/**
 * Lets one machine's power fail at its n-th operation from now, then that of all; null: the process is killed after so
 * many steps. Answers whether the work ended.
 */
async function crashAt(
  failing: number | null,
  at: number,
  { met, moves }: { readonly met: Set<number>; readonly moves: boolean },
): Promise<boolean> {
  const machines = new Machines(at);
  const first = await machines.open();
  await machines.settle(runDurably(
    first.session,
    `CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL);
     CREATE TABLE done (id SERIAL PRIMARY KEY, note TEXT NOT NULL UNIQUE);
     INSERT INTO account SELECT n, 100 FROM generate_series(1, ${ACCOUNTS}) AS n`,
  ));
  if (failing !== null) {
    const { disk } = machines.hosts[failing] as SimulatedHost;
    disk.faults = { ...disk.faults, crashAtOperation: disk.operations + at };
  }
  const acknowledged: Acknowledged = { transfers: 0, columns: 0 };
  let hasEnded = false;
  try {
    await machines.settle(work(first.session, acknowledged, moves), failing === null ? at : Infinity);
    hasEnded = true;
  } catch (error) {
    const isExpected = error instanceof SimulatedCrash || error instanceof DatabaseError ||
      /came to rest/.test(String(error));
    ok(isExpected, String(error));
  }
  if (failing === null) machines.kill();
  else {
    await machines.rest();
    machines.crash();
  }
  const again = await machines.open();
  met.add(await machines.settle(check(again.session, acknowledged, at)));
  await machines.settle(again.engine.close());
  const third = await machines.open();
  const [row] = await machines.settle(runDurably(third.session, "SELECT sum(balance) FROM account"));
  strictEqual(Number(row?.[0]), TOTAL);
  await machines.settle(third.engine.close());
  return hasEnded;
}

for (
  const [failing, name, moves] of [
    [0, "a crash of the router at any operation", false],
    [1, "a crash of the first shard at any operation", false],
    [2, "a crash of the second shard at any operation", false],
    [null, "a kill after any step", false],
    [0, "a crash of the router at any operation of a work that moves tables", true],
    [1, "a crash of the first shard at any operation of a work that moves tables", true],
    [null, "a kill after any step of a work that moves tables", true],
  ] as const
) {
  Deno.test(`transactions over shards are whole or not there after ${name}`, async () => {
    const met = new Set<number>();
    let hasEnded = false;
    // What moves tables does more, and each other operation of it is tried.
    for (let at = 1; !hasEnded; at += moves ? 2 : 1) {
      ok(at < 400, "the work ends");
      hasEnded = await crashAt(failing, at, { met, moves });
    }
    // What a shard fails to keep has been decided already.
    // Shards write at checkpoints only: every commit is in the router's log.
    ok(met.has(4) && met.size >= (failing === 0 ? 5 : 2), `${[...met]} transfers were left behind`);
  });
}
