/**
 * A whole engine on a simulated machine: clients run transactions, the power fails at some operation of the disk, the
 * engine recovers, and what it holds is compared with what was promised.
 *
 * Each transaction adds a row to a ledger and changes an account by the same amount, so that half of a transaction
 * shows. Checked after each recovery: every acknowledged transaction is there; balances equal the ledger's sums; the digest is
 * the one the engine had at that op before; a second recovery gives the same digest.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { DatabaseError } from "../../engine/base/errors.ts";
import { SeededRandom } from "../../engine/base/random.ts";
import { SimulatedCrash } from "../../engine/host/simulated_disk.ts";
import { SimulatedHost } from "../../engine/host/simulated_host.ts";
import { Engine } from "../../engine/session/engine.ts";
import { RowBuffer } from "../../engine/session/row_buffer.ts";
import type { Session } from "../../engine/session/session.ts";

const ACCOUNTS = 6;

/** What a run showed, equal for equal seeds. */
export interface SimulationResult {
  readonly trace: string;
  readonly acknowledged: number;
  readonly recovered: number;
  readonly crashes: number;
}

/** Runs one seed: several lives of one database with a crash at the end of each. */
export async function simulate(seed: number, options: { readonly lives: number }): Promise<SimulationResult> {
  const random = new SeededRandom(seed);
  const host = new SimulatedHost(seed);
  const acknowledged = new Set<number>();
  const digests = new Map<number, string>();
  let nextTransaction = 1, crashes = 0, ready = false;
  for (let life = 0; life < options.lives; life++) {
    host.disk.faults = {
      ...host.disk.faults,
      crashAtOperation: host.disk.operations + random.between(ready ? 5 : 60, 250),
    };
    try {
      const engine = await host.settle(open(host));
      ready = await checkState(host, engine, { seed, acknowledged, digests, ready });
      if (!ready) {
        await run(host, engine.openSession(), schema());
        await host.settle(engine.whenDurable(engine.lastOp));
        ready = true;
      }
      const clients = Array.from({ length: 3 }, () => engine.openSession());
      const work = Promise.all(clients.map(async (session) => {
        for (let count = random.between(3, 30); count > 0; count--) {
          const id = nextTransaction++;
          const durableOp = await transfer(engine, session, id, random);
          digests.set(engine.lastOp, engine.digest());
          if (durableOp === null) continue;
          await engine.whenDurable(durableOp as never);
          acknowledged.add(id);
        }
      }));
      await host.settle(work);
      if (random.between(0, 2) === 0) await host.settle(engine.close());
      else throw new SimulatedCrash("end of this life");
    } catch (error) {
      const expected = error instanceof SimulatedCrash ||
        (error instanceof DatabaseError && ["58030", "57P03", "57P01"].includes(error.code)) ||
        (error instanceof Error && error.message.includes("came to rest"));
      if (!expected) throw new Error(`seed ${seed}, life ${life}`, { cause: error });
      crashes++;
    }
    await host.rest();
    host.crash();
  }
  host.disk.faults = { ...host.disk.faults, crashAtOperation: 0 };
  const engine = await host.settle(open(host));
  await checkState(host, engine, { seed, acknowledged, digests, ready });
  const digest = engine.digest();
  const recovered = engine.lastOp;
  await host.settle(engine.close());
  const again = await host.settle(open(host));
  strictEqual(again.digest(), digest, `seed ${seed}: another recovery gives another digest`);
  await host.settle(again.close());
  return { trace: host.traceDigest, acknowledged: acknowledged.size, recovered, crashes };
}

function open(host: SimulatedHost): Promise<Engine> {
  return Engine.open({ host, directory: "db", checkpointLogBytes: 4_000, blockCacheBytes: 1 << 20 });
}

function schema(): string {
  const accounts = Array.from({ length: ACCOUNTS }, (_, id) => `(${id}, 0)`).join(", ");
  return "CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);" +
    "CREATE TABLE ledger (id int PRIMARY KEY, account int NOT NULL REFERENCES account, amount int NOT NULL, note text);" +
    "CREATE INDEX ledger_account ON ledger (account);" +
    `INSERT INTO account VALUES ${accounts}`;
}

/** One transaction; answers the op to wait for, or null when it was rolled back. */
async function transfer(
  engine: Engine,
  session: Session,
  id: number,
  random: SeededRandom,
): Promise<number | null> {
  const account = random.between(0, ACCOUNTS - 1), amount = random.between(-50, 50);
  const note = "x".repeat(random.between(0, 200));
  const parts = [
    `INSERT INTO ledger VALUES (${id}, ${account}, ${amount}, '${note}')`,
    `UPDATE account SET balance = balance + ${amount} WHERE id = ${account}`,
  ];
  if (random.between(0, 1) === 1) parts.reverse();
  try {
    await execute(session, "BEGIN");
    for (const part of parts) await execute(session, part);
    const leave = random.between(0, 9) === 0;
    const op = await execute(session, leave ? "ROLLBACK" : "COMMIT");
    return leave ? null : op;
  } catch (error) {
    if (error instanceof DatabaseError && ["40001", "40P01"].includes(error.code)) {
      await execute(session, "ROLLBACK");
      return null;
    }
    throw engine.isFailed ? new SimulatedCrash("the log has failed") : error;
  }
}

async function execute(session: Session, sql: string): Promise<number> {
  let op = 0;
  await session.simple(sql, new RowBuffer(), (outcome) => op = Math.max(op, outcome.durableOp));
  return op;
}

async function run(host: SimulatedHost, session: Session, sql: string): Promise<(string | number)[][]> {
  const sink = new RowBuffer();
  await host.settle(Promise.resolve(session.simple(sql, sink, () => {})));
  return sink.rows as (string | number)[][];
}

/** Compares a recovered engine with what was promised; false: the schema is not there (and nothing was promised). */
async function checkState(
  host: SimulatedHost,
  engine: Engine,
  expected: {
    readonly seed: number;
    readonly acknowledged: ReadonlySet<number>;
    readonly digests: ReadonlyMap<number, string>;
    readonly ready: boolean;
  },
): Promise<boolean> {
  const { seed, acknowledged, digests } = expected;
  const session = engine.openSession();
  if (engine.machine.catalog.tables.length === 0) {
    strictEqual(expected.ready, false, `seed ${seed}: the schema was acknowledged and is gone`);
    return false;
  }
  const known = digests.get(engine.lastOp);
  if (known !== undefined) strictEqual(engine.digest(), known, `seed ${seed}: digest at op ${engine.lastOp}`);
  const ids = new Set((await run(host, session, "SELECT id FROM ledger")).map(([id]) => Number(id)));
  for (const id of acknowledged) ok(ids.has(id), `seed ${seed}: acknowledged transaction ${id} is gone`);
  const balances = await run(host, session, "SELECT id, balance FROM account ORDER BY id");
  const sums = await run(
    host,
    session,
    "SELECT a.id, coalesce(sum(l.amount), 0)::int FROM account a LEFT JOIN ledger l ON l.account = a.id GROUP BY a.id ORDER BY a.id",
  );
  deepStrictEqual(balances, sums, `seed ${seed}: balances and ledger`);
  const indexed = await run(host, session, "SELECT count(*) FROM ledger WHERE account = 1");
  const scanned = await run(host, session, "SELECT count(*) FROM ledger WHERE account + 0 = 1");
  deepStrictEqual(indexed, scanned, `seed ${seed}: index and scan`);
  session.close();
  return true;
}
