/**
 * `deno task soak:isolation [--shards K] [--part NAME]… [--level "READ COMMITTED"]… [transactions] [seed]`: recorded
 * histories against the real server, checked; 10 000 transactions unless said otherwise. Parts are levels, kills, bank,
 * skew and planted; all parts and levels, when none is named.
 *
 * 1. 16 connections, with checkpoints all the time, at each isolation level. 2. The same while the server is killed
 * again and again. 3. A bank of 100 accounts. 4. What write skew would break. 5. In this process, without validation:
 * there the anomalies must be found. At READ COMMITTED nobody may lose. A seed gives the same transactions, not the
 * same interleaving.
 */
import { parseArgs } from "node:util";
import { SHARD_COUNTS } from "../../engine/sharding/shard_map.ts";
import { ISOLATION_LEVELS, type IsolationLevel } from "../../engine/transactions/isolation_level.ts";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { type DbdPeer, startDbd } from "../bench/peers/dbd.ts";
import { openPgDatabase } from "../pg/support/pg_database.ts";
import { lateShards, openShardedEngine } from "../sharding/sharded_database.ts";
import type { ServerAddress } from "../support/clients.ts";
import { seededRandom } from "../support/random.ts";
import { bankTables, noFigures, runBank } from "./bank.ts";
import { checkHistory } from "./check_history.ts";
import { connect, type Connection } from "./connections.ts";
import { History } from "./history.ts";
import { listAppendTables, ListAppendWorkload } from "./list_append.ts";
import { noSkew, runWriteSkew, writeSkewTables } from "./write_skew.ts";

const connectionCount = 16;
const kills = 10;
const keys = { keys: 8, appendsPerKey: 60 };

const PARTS: Readonly<Record<string, (dbd: string) => Promise<void>>> = {
  levels: async (dbd) => {
    for (const level of levels) await withoutKills(dbd, level);
  },
  kills: async (dbd) => {
    for (const level of levels) await withKills(dbd, level);
  },
  bank,
  skew: writeSkew,
  planted,
};

const { values: { shards: shardText, part, level: levelTexts }, positionals } = parseArgs({
  args: Deno.args,
  options: {
    shards: { type: "string", default: "1" },
    part: { type: "string", multiple: true, default: Object.keys(PARTS) },
    level: { type: "string", multiple: true, default: [...ISOLATION_LEVELS] },
  },
  allowPositionals: true,
});
const shards = Number(shardText);
const transactions = Number(positionals[0] ?? "10000");
const seed = Number(positionals[1] ?? Date.now() % 1_000_000);
const levels = ISOLATION_LEVELS.filter((each) => levelTexts.some((text) => text.toLowerCase() === each));
const isRight = SHARD_COUNTS.includes(shards) && transactions >= 1 && Number.isSafeInteger(seed) &&
  levels.length === levelTexts.length;
if (!isRight || part.some((name) => PARTS[name] === undefined)) {
  console.error(
    "Usage: deno task soak:isolation [--shards K] [--part NAME]… [--level NAME]… [transactions] [seed]",
  );
  console.error(`Parts: ${Object.keys(PARTS).join(", ")}; levels: ${ISOLATION_LEVELS.join(", ")}`);
  Deno.exit(2);
}
const flags = ["--checkpoint-log", "1MiB", "--shards", String(shards)];

let failed = false;

function connectAll(address: ServerAddress): Promise<Connection[]> {
  return Promise.all(
    Array.from(
      { length: connectionCount },
      (_, index) => connect(address, index % 2 === 0 ? "simple" : "extended"),
    ),
  );
}

async function closeAll(connections: readonly Connection[]): Promise<void> {
  for (const connection of connections) await connection.close();
}

/** Asks for one checkpoint after the other while the work goes on. */
async function withCheckpoints(address: ServerAddress, work: () => Promise<unknown>): Promise<void> {
  const connection = await connect(address, "simple");
  let isDone = false;
  const checkpoints = (async () => {
    while (!isDone) {
      // Ends with the server when that is killed.
      if (await connection.query("CHECKPOINT").then(() => false, () => true)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  try {
    await work();
  } finally {
    isDone = true;
    await checkpoints;
    await connection.close();
  }
}

/** Checks a history and prints what came of it; answers the names of the anomalies. */
function judge(
  name: string,
  history: History,
  workload: ListAppendWorkload,
  start: number,
  level: IsolationLevel = "serializable",
): string[] {
  const ran = performance.now();
  const { anomalies, ...counts } = checkHistory(history.transactions, level);
  const lost = history.transactions.filter(({ told }) => told?.startsWith("40001"));
  if (lost.length > 0 && level === "read committed") {
    failed = true;
    console.log(`  ${lost.length} lost: ${lost[0]?.told}`);
  }
  const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;
  console.log(`${name}: ran ${seconds(ran - start)}, checked ${seconds(performance.now() - ran)}`);
  console.log("  transactions", workload.figures, "history", counts);
  for (const { text } of anomalies) {
    console.log(`  ${text.length > 1500 ? `${text.slice(0, 1500)} …` : text}`);
  }
  if (anomalies.length === 0) console.log("  no anomaly");
  return anomalies.map((each) => each.name);
}

/** What transactions do; where they lose less often, they meet at fewer keys. */
function workloadAt(level: IsolationLevel, history: History, own: number): ListAppendWorkload {
  const options = level === "serializable" ? keys : { keys: 4, appendsPerKey: 60, level };
  return new ListAppendWorkload(history, { seed: own, ...options });
}

async function withoutKills(dbd: string, level: IsolationLevel): Promise<void> {
  const server = await startDbd({ binary: dbd, flags });
  try {
    const start = performance.now();
    const history = new History();
    const workload = workloadAt(level, history, seed);
    const connections = await connectAll(server);
    for (const sql of listAppendTables) await connections[0]?.query(sql);
    const enough = () => workload.count >= transactions;
    await withCheckpoints(
      server,
      () => Promise.all(connections.map((connection, index) => workload.run(connection, index, enough))),
    );
    if (connections[0] !== undefined) await workload.readEverything(connections[0]);
    await closeAll(connections);
    const name = `16 connections at ${level}`;
    if (judge(name, history, workload, start, level).length > 0) failed = true;
  } finally {
    await server.stop();
  }
}

async function withKills(dbd: string, level: IsolationLevel): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "isolation-" });
  const random = seededRandom(seed);
  const start = performance.now();
  const history = new History();
  const workload = workloadAt(level, history, seed + 1);
  let server: DbdPeer | null = null;
  try {
    for (let round = 0; round <= kills; round++) {
      const own = server = await startDbd({ binary: dbd, directory, flags });
      const connections = await connectAll(own);
      if (round === 0) { for (const sql of listAppendTables) await connections[0]?.query(sql); }
      // The kill comes when this round's share is done, whatever the connections are about then.
      const share = Math.ceil(transactions / (kills + 1)) * (round + 1);
      const enough = () => round === kills && workload.count >= share;
      const killed = round === kills ? null : (async () => {
        while (workload.count < share) {
          await new Promise((resolve) => setTimeout(resolve, 1 + random.below(20)));
        }
        await own.kill();
      })();
      await withCheckpoints(
        own,
        () => Promise.all(connections.map((connection, index) => workload.run(connection, index, enough))),
      );
      await killed;
      if (round === kills && connections[0] !== undefined) await workload.readEverything(connections[0]);
      await closeAll(connections);
    }
    const name = `16 connections and ${kills} kills at ${level}`;
    if (judge(name, history, workload, start, level).length > 0) failed = true;
  } finally {
    await server?.kill().catch(() => undefined);
    await Deno.remove(directory, { recursive: true });
  }
}

/** Work of 16 connections that keeps a rule; answers what it was and what was found instead. */
async function keepingRule(
  dbd: string,
  name: string,
  tables: readonly string[],
  figures: { readonly wrong: readonly string[] },
  run: (connection: Connection, seed: number) => Promise<unknown>,
): Promise<void> {
  const server = await startDbd({ binary: dbd, flags });
  try {
    const start = performance.now();
    const connections = await connectAll(server);
    for (const sql of tables) await connections[0]?.query(sql);
    await withCheckpoints(
      server,
      () => Promise.all(connections.map((connection, index) => run(connection, seed * 31 + index))),
    );
    await closeAll(connections);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${name}: ran ${seconds} s`, { ...figures, wrong: figures.wrong.length });
    for (const each of figures.wrong.slice(0, 5)) console.log(`  ${each}`);
    if (figures.wrong.length > 0) failed = true;
  } finally {
    await server.stop();
  }
}

async function bank(dbd: string): Promise<void> {
  const figures = noFigures();
  const enough = () => figures.transfers >= transactions;
  await keepingRule(
    dbd,
    "a bank",
    bankTables,
    figures,
    (connection, own) => runBank(connection, figures, { seed: own, enough }),
  );
}

async function writeSkew(dbd: string): Promise<void> {
  const figures = noSkew();
  const enough = () => figures.committed >= transactions;
  await keepingRule(
    dbd,
    "pairs and shifts that write skew would break",
    writeSkewTables,
    figures,
    (connection, own) => runWriteSkew(connection, figures, { seed: own, enough }),
  );
}

async function planted(): Promise<void> {
  const engine = shards === 1 ? null : await openShardedEngine(
    shards,
    lateShards(seed, (shard) => shard.manager.validates = false),
  );
  await using database = await openPgDatabase(engine === null ? {} : { engine });
  const start = performance.now();
  const history = new History();
  const workload = new ListAppendWorkload(history, { seed, ...keys });
  const connections = await connectAll({ host: "127.0.0.1", port: database.port });
  for (const sql of listAppendTables) await connections[0]?.query(sql);
  database.engine.manager.validates = false;
  const enough = () => workload.count >= Math.min(transactions, 2000);
  await Promise.all(connections.map((connection, index) => workload.run(connection, index, enough)));
  if (connections[0] !== undefined) await workload.readEverything(connections[0]);
  await closeAll(connections);
  const names = judge("without validation, where anomalies must be found", history, workload, start);
  if (names.length === 0) failed = true;
}

console.log(`again with: deno task soak:isolation --shards ${shards} ${transactions} ${seed}`);
const { dbd } = await compiledPrograms();
for (const name of part) await PARTS[name]?.(dbd);
console.log(failed ? "FAILED" : "passed");
if (failed) Deno.exit(1);
