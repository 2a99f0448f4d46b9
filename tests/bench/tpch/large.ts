/**
 * `deno task bench:large-tpch [--scale 1] [--memory 32MB,2047MB] [--peers DuckDB,PostgreSQL] [--rounds 1] [--limit 60]
 * [--seconds 900] [--directory DIR]`: the 22 queries of TPC-H at any scale, with each of these amounts of memory for a
 * statement in turn, and in the peers as well; all answers are compared. Makes the tables, and loads PostgreSQL at the
 * same time. A query that takes longer than the limit, in seconds, is named and not asked again. What
 * was done is noted in the directory, so that a run can go on where it was stopped. Prints the table of
 * `docs/benchmarks.md`. Exit codes: 0, 1 when an answer differs, 2 when there is more to do.
 */
import { parseArgs } from "node:util";
import type postgres from "postgres";
import { TPCH_QUERIES } from "../../../engine/sql/planner/tpch_queries_for_test.ts";
import { median } from "../benchmark.ts";
import { ask } from "../cases/tpch.ts";
import { connect, copyIn } from "../cases/client.ts";
import { readMetric, startDbd } from "../peers/dbd.ts";
import { type EmbeddedPeer, startEmbedded } from "../peers/embedded.ts";
import { startPostgresql } from "../peers/postgresql.ts";
import { difference, type Rows } from "./answers.ts";
import { type Table, TABLES } from "./generator.ts";
import { columnsOf, DEFINITIONS, indexStatements, primaryKeyOf } from "./schema.ts";
import { copyParts, tableFiles } from "./tables.ts";

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    memory: { type: "string", default: "32MB,2047MB" },
    peers: { type: "string", default: "" },
    rounds: { type: "string", default: "1" },
    limit: { type: "string", default: "60" },
    seconds: { type: "string", default: "900" },
    directory: { type: "string" },
  },
});
const NAMES = Object.keys(TPCH_QUERIES);
const MEMORY = values.memory.split(",");
/** It is loaded as quickly as it can, writes no log, and has as much memory as it asks for. */
const POSTGRESQL_SETTINGS = [
  "wal_level=minimal",
  "max_wal_senders=0",
  "max_wal_size=16GB",
  "fsync=off",
  "maintenance_work_mem=1GB",
  "shared_buffers=2GB",
  "work_mem=256MB",
];

/** What has been done so far. */
interface Progress {
  /** By server. */
  readonly loaded: Record<string, Table[]>;
  /** By what was asked, an amount of memory or a peer, and by query: milliseconds of each round; null: the limit. */
  readonly milliseconds: Record<string, Record<string, (number | null)[]>>;
  readonly answers: Record<string, Rows>;
  readonly different: string[];
  /** The most that the process had resident. */
  residentBytes: number;
  fileBytes: number;
}

/** Runs a query; null when it takes too long. */
type Ask = (text: string) => Promise<{ readonly rows: Rows; readonly milliseconds: number } | null>;

const scale = Number(values.scale);
const limitMilliseconds = 1000 * Number(values.limit);
const directory = values.directory ?? await Deno.makeTempDir({ prefix: "tpch-" });
const noted = `${directory}/progress.json`;
const start = performance.now();
const end = start + 1000 * Number(values.seconds);
const progress = await readProgress();
const folder = await tableFiles(scale);
say("the tables are made");
const server = await startDbd({ directory, flags: ["--query-memory", "4GiB"] });
const client = connect(server);
const duckdb = values.peers.includes("DuckDB") ? await startDuckdb() : null;
const postgresql = values.peers.includes("PostgreSQL") ? await startPeerServer() : null;
try {
  Deno.exitCode = await run() ? progress.different.length > 0 ? 1 : 0 : 2;
  await note();
  print();
} finally {
  await client.end();
  await server.stop();
  await postgresql?.stop();
  await duckdb?.stop();
  if (values.directory === undefined) await Deno.remove(directory, { recursive: true });
}

/** false: there is no more time. */
async function run(): Promise<boolean> {
  const loading = [
    (async () => {
      const isLoaded = await load("dbd", fillDbd);
      if (duckdb === null || !isLoaded) return isLoaded;
      return await load("DuckDB", (table) => fillDuckdb(duckdb, table));
    })(),
    ...(postgresql === null ? [] : [load("PostgreSQL", (table) => fillPostgresql(postgresql.client, table))]),
  ];
  if (!(await Promise.all(loading)).every((isLoaded) => isLoaded)) return false;
  const withMemory = MEMORY.map((memory): [string, Ask] => [
    memory,
    async (text) => {
      await client.unsafe(`SET statement_memory = '${memory}'`);
      return await askServer(client, text);
    },
  ]);
  return await askAll(withMemory) &&
    (duckdb === null || await askAll([["DuckDB", (text) => duckdb.query(text)]])) &&
    (postgresql === null || await askAll([["PostgreSQL", (text) => askServer(postgresql.client, text)]]));
}

async function startDuckdb(): Promise<EmbeddedPeer> {
  const peer = await startEmbedded("DuckDB", values.directory);
  if ("missing" in peer) throw new Error(peer.missing);
  return peer;
}

async function startPeerServer() {
  const server = await startPostgresql({
    settings: POSTGRESQL_SETTINGS,
    ...(values.directory === undefined ? {} : { data: `${values.directory}/postgresql` }),
  });
  if (server === null) throw new Error("PostgreSQL is not installed");
  const client = connect(server);
  const stop = async () => {
    await client.end();
    await server.stop();
  };
  return { client, stop };
}

/** Asks each query of all in turn, as often as there are rounds. false: there is no more time. */
async function askAll(all: readonly (readonly [name: string, ask: Ask])[]): Promise<boolean> {
  for (const query of NAMES) {
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [name, ask] of all) {
        const taken = (progress.milliseconds[name] ??= {})[query] ??= [];
        if (taken.length > round || taken.includes(null)) continue;
        if (performance.now() > end) return false;
        const answer = await ask(TPCH_QUERIES[query] ?? "").catch((error) => ({
          rows: [[String(error)]],
          milliseconds: NaN,
        }));
        if (answer !== null) compare(query, name, answer.rows);
        taken.push(answer?.milliseconds ?? null);
      }
      await note();
    }
  }
  say(`${all.map(([name]) => name).join(" and ")} answered`);
  return true;
}

async function askServer(client: postgres.Sql, text: string): ReturnType<Ask> {
  await client.unsafe(`SET statement_timeout = ${limitMilliseconds}`);
  const begun = performance.now();
  try {
    const rows = await ask(client, text);
    return { rows, milliseconds: performance.now() - begun };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "57014") return null;
    throw error;
  }
}

async function readProgress(): Promise<Progress> {
  try {
    return JSON.parse(await Deno.readTextFile(noted));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return {
      loaded: {},
      milliseconds: {},
      answers: {},
      different: [],
      residentBytes: 0,
      fileBytes: 0,
    };
  }
}

async function note(): Promise<void> {
  const status = await Deno.readTextFile(`/proc/${server.processId}/status`);
  const resident = 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
  progress.residentBytes = Math.max(progress.residentBytes, resident);
  progress.fileBytes = Math.max(progress.fileBytes, await readMetric(server, "db_temp_file_peak_bytes"));
  // At once: servers are loaded at the same time.
  Deno.writeTextFileSync(noted, JSON.stringify(progress));
}

/** Fills the tables that a server does not have yet. false: there is no more time. */
async function load(name: string, fill: (table: Table) => Promise<boolean>): Promise<boolean> {
  const loaded = progress.loaded[name] ??= [];
  for (const table of TABLES) {
    if (loaded.includes(table)) continue;
    if (!await fill(table)) return false;
    loaded.push(table);
    await note();
  }
  say(`${name} is loaded`);
  return true;
}

async function fillDbd(table: Table): Promise<boolean> {
  await client.unsafe(`DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (${DEFINITIONS[table]})`);
  if (!await copyTable(client, table, "")) return false;
  for (const statement of indexStatements(table)) await client.unsafe(statement);
  await client.unsafe(`ANALYZE ${table}`);
  return true;
}

async function fillDuckdb(peer: EmbeddedPeer, table: Table): Promise<boolean> {
  if (performance.now() > end) return false;
  await peer.execute(`DROP TABLE IF EXISTS ${table}`);
  await peer.execute(`CREATE TABLE ${table} (${columnsOf(table).join(", ")})`);
  await peer.load(table, `${folder}/${table}.tbl`, columnsOf(table));
  return true;
}

/** Frozen rows of a new table are neither logged nor vacuumed later. */
async function fillPostgresql(client: postgres.Sql, table: Table): Promise<boolean> {
  await client.unsafe(`DROP TABLE IF EXISTS ${table}`);
  await client.unsafe(`BEGIN; CREATE TABLE ${table} (${columnsOf(table).join(", ")})`);
  if (!await copyTable(client, table, ", FREEZE")) return false;
  await client.unsafe("COMMIT");
  await client.unsafe(`ALTER TABLE ${table} ADD PRIMARY KEY (${primaryKeyOf(table)})`);
  for (const statement of indexStatements(table)) await client.unsafe(statement);
  await client.unsafe(`ANALYZE ${table}`);
  return true;
}

/** false: there is no more time. */
async function copyTable(client: postgres.Sql, table: Table, options: string): Promise<boolean> {
  for await (const part of copyParts(folder, table)) {
    if (performance.now() > end) return false;
    await copyIn(client, `COPY ${table} FROM STDIN WITH (FORMAT text, DELIMITER '|'${options})`, part);
  }
  return true;
}

/** Notes the first answer to a query, and what differs of it. */
function compare(query: string, who: string, given: Rows): void {
  const rows = JSON.parse(JSON.stringify(given));
  const known = progress.answers[query] ??= rows;
  const different = difference(query, known, rows);
  if (different === null) return;
  progress.different.push(`${query} of ${who}: ${different}`);
  console.error(`${query} of ${who}: ${different}`);
}

function say(what: string): void {
  console.error(`${((performance.now() - start) / 1000).toFixed(0)} s: ${what}`);
}

/** Ratios are those of the first column to each other one, of the queries that both have answered. */
function print(): void {
  const columns = Object.entries(progress.milliseconds);
  const row = (cells: readonly string[]) => console.log(`| ${cells.join(" | ")} |`);
  row(["Query", ...columns.map(([name]) => `${name}, ms`)]);
  row(["---", ...columns.map(() => "---")]);
  const taken = (name: string, query: string): number => {
    const rounds = progress.milliseconds[name]?.[query] ?? [];
    return rounds.includes(null) ? Infinity : median(rounds.map(Number));
  };
  for (const query of NAMES) {
    const cells = columns.map(([name]) => taken(name, query));
    row([
      query.toUpperCase(),
      ...cells.map((cell) => cell === Infinity ? `> ${limitMilliseconds}` : cell.toFixed(0)),
    ]);
  }
  const [[first = ""] = []] = columns;
  for (const [name] of columns.slice(1)) {
    const ratios = NAMES.map((query) => taken(first, query) / taken(name, query))
      .filter((ratio) => ratio > 0 && ratio < Infinity);
    const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
    console.log(`\n${first} / ${name}: geometric mean of ${ratios.length} ${mean.toFixed(2)}`);
  }
  console.log(
    `\nmost memory resident ${(progress.residentBytes / 2 ** 20).toFixed(0)} MiB, in temporary files ` +
      `${(progress.fileBytes / 2 ** 20).toFixed(0)} MiB, ${progress.different.length} answers differ`,
  );
}
