/**
 * Recorded transactions over four shards, whose messages take different times, are strictly serializable; a bank keeps
 * its sum in every snapshot. Without the checks of the shards both are not so.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import type { Engine } from "../../engine/session/engine.ts";
import type { IsolationLevel } from "../../engine/transactions/isolation_level.ts";
import { type BankFigures, bankTables, noFigures, runBank } from "../isolation/bank.ts";
import { checkHistory } from "../isolation/check_history.ts";
import { connect, type Connection } from "../isolation/connections.ts";
import { History } from "../isolation/history.ts";
import { listAppendTables, ListAppendWorkload } from "../isolation/list_append.ts";
import { noSkew, runWriteSkew, type WriteSkewFigures, writeSkewTables } from "../isolation/write_skew.ts";
import { openPgDatabase, sessionsEnded } from "../pg/support/pg_database.ts";
import { lateShards, openShardedEngine } from "./sharded_database.ts";

const CLIENTS = 8;
const TRANSACTIONS = 200;

async function withConnections(
  engine: Engine,
  tables: readonly string[],
  work: (connections: readonly Connection[]) => Promise<void>,
): Promise<void> {
  await using database = await openPgDatabase({ engine });
  const address = { host: "127.0.0.1", port: database.port };
  const connections = await Promise.all(
    Array.from({ length: CLIENTS }, (_, index) => connect(address, index % 2 === 0 ? "simple" : "extended")),
  );
  try {
    for (const sql of tables) await connections[0]?.query(sql);
    await work(connections);
  } finally {
    for (const connection of connections) await connection.close();
    await sessionsEnded(database);
  }
  deepStrictEqual(database.internalErrors, []);
}

async function recordedHistory(engine: Engine, seed: number, level?: IsolationLevel): Promise<History> {
  const history = new History();
  const options = { seed, keys: level === undefined ? 6 : 2, appendsPerKey: 40 };
  const workload = new ListAppendWorkload(history, level === undefined ? options : { ...options, level });
  await withConnections(engine, listAppendTables, async (connections) => {
    const enough = (): boolean => workload.count >= TRANSACTIONS;
    const [first, ...others] = connections;
    ok(first);
    const running = Promise.all(others.map((connection, index) => workload.run(connection, index, enough)));
    for (let columns = 0; !enough() && columns < 10; columns++) {
      const table = ["array_list", "text_list", "row_list"][columns % 3];
      await first.query(`ALTER TABLE ${table} ADD COLUMN c${columns} int NOT NULL DEFAULT ${columns}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    await running;
    await workload.readEverything(first);
  });
  return history;
}

Deno.test(`${TRANSACTIONS} transactions over append-only lists at four shards are strictly serializable`, async () => {
  const engine = await openShardedEngine(4, lateShards(1));
  const { transactions } = await recordedHistory(engine, 16);
  const report = checkHistory(transactions);
  deepStrictEqual(report.anomalies.map(({ text }) => text), []);
  ok(report.committed > 80 && report.reads > 100 && report.appends > 40, JSON.stringify(report));
});

Deno.test("the same transactions show anomalies where shards do not look whether what was read has changed", async () => {
  const engine = await openShardedEngine(4, lateShards(1, (shard) => shard.manager.validates = false));
  engine.manager.validates = false;
  const { transactions } = await recordedHistory(engine, 16);
  const names = new Set(checkHistory(transactions).anomalies.map(({ name }) => name));
  ok(names.has("lost update") || names.has("G-single") || names.has("G2"), [...names].join());
});

for (
  const [level, stronger, found] of [
    ["repeatable read", "serializable", /^G2/],
    ["read committed", "repeatable read", /^(lost update|G-single|internal)/],
  ] as const
) {
  for (const shards of [2, 4]) {
    Deno.test(`${TRANSACTIONS} transactions at ${level} over ${shards} shards show what it allows, and nothing else`, async () => {
      const { transactions } = await recordedHistory(
        await openShardedEngine(shards, lateShards(4)),
        17,
        level,
      );
      const report = checkHistory(transactions, level);
      deepStrictEqual(report.anomalies.map(({ text }) => text), []);
      const { anomalies } = checkHistory(transactions, stronger);
      ok(anomalies.some(({ name }) => found.test(name)), anomalies.map(({ name }) => name).join());
      if (level !== "read committed") return;
      const lost = transactions.flatMap(({ told }) => told?.startsWith("40001") ? [told] : []);
      deepStrictEqual(lost, []);
    });
  }
}

Deno.test("a bank of 100 accounts at four shards keeps its sum in every snapshot", async () => {
  const engine = await openShardedEngine(4, lateShards(2));
  const figures: BankFigures = noFigures();
  await withConnections(engine, bankTables, async (connections) => {
    const enough = (): boolean => figures.transfers >= 100;
    await Promise.all(connections.map((connection, seed) => runBank(connection, figures, { seed, enough })));
  });
  ok(figures.transfers >= 100 && figures.sums > 10, `${figures.transfers} transfers, ${figures.sums} sums`);
  deepStrictEqual(figures.wrong, []);
});

/** Runs what write skew would break; answers what it has broken. */
async function writeSkew(engine: Engine, transactions: number): Promise<WriteSkewFigures> {
  const figures = noSkew();
  await withConnections(engine, writeSkewTables, async (connections) => {
    const enough = (): boolean => figures.committed >= transactions || figures.wrong.length > 0;
    await Promise.all(
      connections.map((connection, seed) => runWriteSkew(connection, figures, { seed, enough })),
    );
  });
  return figures;
}

Deno.test("pairs and shifts at four shards stay whole where write skew would break them", async () => {
  const { committed, lost, wrong } = await writeSkew(await openShardedEngine(4, lateShards(3)), 150);
  deepStrictEqual(wrong, []);
  ok(committed >= 150 && lost > 5, `${committed} committed, ${lost} lost`);
});

Deno.test("they break where shards do not look whether what was read has changed", async () => {
  const engine = await openShardedEngine(4, lateShards(3, (shard) => shard.manager.validates = false));
  engine.manager.validates = false;
  ok((await writeSkew(engine, 2000)).wrong.length > 0);
});
