/**
 * Six hundred recorded transactions over the PostgreSQL protocol, while columns are added to their tables, show no
 * anomaly, but do without validation; a bank keeps its sum. More of them against the real server are in
 * `deno task soak:isolation`.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import { openPgDatabase, sessionsEnded } from "../pg/support/pg_database.ts";
import { type BankFigures, bankTables, noFigures, runBank } from "./bank.ts";
import type { IsolationLevel } from "../../engine/transactions/isolation_level.ts";
import { checkHistory } from "./check_history.ts";
import { connect, type Connection } from "./connections.ts";
import { History } from "./history.ts";
import { listAppendTables, ListAppendWorkload } from "./list_append.ts";

const transactions = 600;
const clients = 8;

/** A database with tables, and connections to it; checkpoints come in between all the time. */
async function withConnections(
  { tables, validates }: { readonly tables: readonly string[]; readonly validates: boolean },
  work: (connections: readonly Connection[]) => Promise<void>,
): Promise<void> {
  await using database = await openPgDatabase();
  const address = { host: "127.0.0.1", port: database.port };
  const connections = await Promise.all(
    Array.from({ length: clients }, (_, index) => connect(address, index % 2 === 0 ? "simple" : "extended")),
  );
  for (const sql of tables) await connections[0]?.query(sql);
  database.engine.manager.validates = validates;
  let isDone = false;
  const checkpoints = (async () => {
    while (!isDone) {
      await database.engine.checkpoint();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  try {
    await work(connections);
  } finally {
    isDone = true;
    await checkpoints;
    for (const connection of connections) await connection.close();
    await sessionsEnded(database);
  }
  deepStrictEqual(database.internalErrors, []);
}

async function recordedHistory(validates: boolean, level?: IsolationLevel): Promise<History> {
  const history = new History();
  const options = { seed: 20_26, keys: level === undefined ? 8 : 3, appendsPerKey: 40 };
  const workload = new ListAppendWorkload(history, level === undefined ? options : { ...options, level });
  await withConnections({ tables: listAppendTables, validates }, async (connections) => {
    const enough = () => workload.count >= transactions;
    const [first, ...others] = connections;
    ok(first);
    const running = Promise.all(others.map((connection, index) => workload.run(connection, index, enough)));
    let columns = 0;
    for (; !enough() && columns < 60; columns++) {
      const table = ["array_list", "text_list", "row_list"][columns % 3];
      await first.query(`ALTER TABLE ${table} ADD COLUMN c${columns} int NOT NULL DEFAULT ${columns}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await running;
    ok(columns > 20, `${columns} columns`);
    await workload.readEverything(first);
  });
  return history;
}

Deno.test(`${transactions} transactions over append-only lists are strictly serializable`, async () => {
  const { transactions } = await recordedHistory(true);
  const report = checkHistory(transactions);
  deepStrictEqual(report.anomalies.map(({ text }) => text), []);
  ok(report.committed > 240 && report.reads > 480 && report.appends > 180, JSON.stringify(report));
});

Deno.test("the same transactions without validation show anomalies", async () => {
  const { transactions } = await recordedHistory(false);
  const names = new Set(checkHistory(transactions).anomalies.map(({ name }) => name));
  ok(names.has("lost update") || names.has("G-single") || names.has("G2"), [...names].join());
});

for (
  const [level, stronger, found] of [
    ["repeatable read", "serializable", /^G2/],
    ["read committed", "repeatable read", /^(lost update|G-single|internal)/],
  ] as const
) {
  Deno.test(`${transactions} transactions at ${level} show what it allows, and nothing else`, async () => {
    const history = await recordedHistory(true, level);
    const report = checkHistory(history.transactions, level);
    deepStrictEqual(report.anomalies.map(({ text }) => text), []);
    ok(report.committed > 240, JSON.stringify(report));
    const { anomalies } = checkHistory(history.transactions, stronger);
    ok(anomalies.some(({ name }) => found.test(name)), anomalies.map(({ name }) => name).join());
  });
}

const transfers = 300;

/** Runs the bank; `more` is what somebody else does at the same time. */
async function bankFigures(more: (connection: Connection) => Promise<unknown>): Promise<BankFigures> {
  const figures = noFigures();
  await withConnections({ tables: bankTables, validates: true }, async ([other, ...connections]) => {
    const enough = () => figures.transfers >= transfers;
    const running = connections.map((connection, seed) => runBank(connection, figures, { seed, enough }));
    ok(other);
    await more(other);
    await Promise.all(running);
  });
  ok(figures.transfers >= transfers && figures.sums > 50, `${figures.sums} sums`);
  return figures;
}

Deno.test("a bank of 100 accounts keeps its sum in every snapshot", async () => {
  const { wrong } = await bankFigures((connection) => connection.query("SELECT 1"));
  deepStrictEqual(wrong, []);
});

Deno.test("a bank notices money that comes from nowhere", async () => {
  const { wrong } = await bankFigures((connection) =>
    connection.query("UPDATE bank SET balance = balance + 1 WHERE id = 7")
  );
  ok(wrong.some((each) => each.endsWith(": 100001")), wrong[0] ?? "nothing was found");
});
