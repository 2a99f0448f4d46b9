/**
 * `deno task bench:little-memory [--scale 1] [--memory 32MB] [--directory DIR] [--rounds 3] [--seconds 420]
 * [--duckdb]`: the 22 queries of TPC-H with little memory for each statement beside the same with enough, in turn,
 * and with DuckDB's answers. What is done is noted in the directory, so that a run of many minutes can go on where it
 * was stopped. Prints the table of `docs/benchmarks.md`. Exit codes: 0, 1 when an answer differs, 2 when there is
 * more to do.
 */
import { parseArgs } from "node:util";
import type postgres from "postgres";
import { TPCH_QUERIES } from "../../../engine/sql/planner/tpch_queries_for_test.ts";
import { median } from "../benchmark.ts";
import { ask } from "../cases/tpch.ts";
import { connect, copyIn } from "../cases/client.ts";
import { readMetric, startDbd } from "../peers/dbd.ts";
import { startEmbedded } from "../peers/embedded.ts";
import { difference, type Rows } from "./answers.ts";
import { TABLES } from "./generator.ts";
import { columnsOf, DEFINITIONS, indexStatements } from "./schema.ts";
import { copyParts, tableFiles } from "./tables.ts";

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    memory: { type: "string", default: "32MB" },
    directory: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "420" },
    duckdb: { type: "boolean", default: false },
  },
});
const ENOUGH = "2047MB";
const NAMES = Object.keys(TPCH_QUERIES);

/** What has been done so far. */
interface Progress {
  loaded: string[];
  /** By query: milliseconds of each round with little and with enough memory. */
  readonly little: Record<string, number[]>;
  readonly enough: Record<string, number[]>;
  /** Of DuckDB, with one thread for queries. */
  readonly duckdb: Record<string, number[]>;
  readonly answers: Record<string, Rows>;
  readonly different: string[];
  /** The most that the process had resident. */
  residentBytes: number;
  fileBytes: number;
}

const scale = Number(values.scale);
const directory = values.directory ?? await Deno.makeTempDir({ prefix: "tpch-" });
const noted = `${directory}/progress.json`;
const end = performance.now() + 1000 * Number(values.seconds);
const progress = await readProgress();
const server = await startDbd({ directory, flags: ["--query-memory", "4GiB"] });
const client = connect(server);
try {
  const isDone = await load(client) && await askAll(client);
  await note();
  if (isDone && values.duckdb) await askDuckdb();
  print();
  Deno.exitCode = progress.different.length > 0 ? 1 : isDone ? 0 : 2;
} finally {
  await client.end();
  await server.stop();
  if (values.directory === undefined) await Deno.remove(directory, { recursive: true });
}

async function readProgress(): Promise<Progress> {
  try {
    return JSON.parse(await Deno.readTextFile(noted));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return {
      loaded: [],
      little: {},
      enough: {},
      duckdb: {},
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
  await Deno.writeTextFile(noted, JSON.stringify(progress));
}

/** Loads what is not there. false: there is no more time. */
async function load(client: postgres.Sql): Promise<boolean> {
  const folder = await tableFiles(scale);
  for (const table of TABLES) {
    if (progress.loaded.includes(table)) continue;
    await client.unsafe(`DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (${DEFINITIONS[table]})`);
    for await (const part of copyParts(folder, table)) {
      if (performance.now() > end) return false;
      await copyIn(client, `COPY ${table} FROM STDIN WITH (FORMAT text, DELIMITER '|')`, part);
    }
    for (const statement of indexStatements(table)) await client.unsafe(statement);
    await client.unsafe(`ANALYZE ${table}`);
    progress.loaded.push(table);
    await note();
  }
  return true;
}

async function askAll(client: postgres.Sql): Promise<boolean> {
  for (const name of NAMES) {
    const pairs = progress.little[name] ??= [];
    while (pairs.length < Number(values.rounds)) {
      if (performance.now() > end) return false;
      (progress.enough[name] ??= []).push(await askOnce(client, name, ENOUGH));
      pairs.push(await askOnce(client, name, values.memory));
      await note();
    }
  }
  return true;
}

/** Loads and asks DuckDB in one go. */
async function askDuckdb(): Promise<void> {
  const peer = await startEmbedded("DuckDB");
  if ("missing" in peer) throw new Error(peer.missing);
  const folder = await tableFiles(scale);
  for (const table of TABLES) {
    await peer.execute(`CREATE TABLE ${table} (${columnsOf(table).join(", ")})`);
    await peer.load(table, `${folder}/${table}.tbl`, columnsOf(table));
  }
  for (const name of NAMES) {
    for (let round = 0; round < Number(values.rounds); round++) {
      const { rows, milliseconds } = await peer.query(TPCH_QUERIES[name] ?? "");
      (progress.duckdb[name] ??= []).push(milliseconds);
      compare(name, "DuckDB", rows);
    }
  }
  await peer.stop();
  await note();
}

async function askOnce(client: postgres.Sql, name: string, memory: string): Promise<number> {
  await client.unsafe(`SET statement_memory = '${memory}'`);
  const start = performance.now();
  const rows = await ask(client, TPCH_QUERIES[name] ?? "").catch((error) => [[String(error)]]);
  const milliseconds = performance.now() - start;
  compare(name, memory, rows);
  return milliseconds;
}

/** Notes the first answer to a query, and what differs of it. */
function compare(name: string, who: string, given: Rows): void {
  const rows = JSON.parse(JSON.stringify(given));
  const known = progress.answers[name] ??= rows;
  const different = difference(name, known, rows);
  if (different === null) return;
  progress.different.push(`${name} with ${who}: ${different}`);
  console.error(`${name} with ${who}: ${different}`);
}

function print(): void {
  console.log(`| Query | ${values.memory} | enough | ratio | DuckDB |\n|---|---|---|---|---|`);
  const ratios: number[] = [];
  for (const name of NAMES) {
    if (!progress.little[name]?.length) continue;
    const [little = NaN, enough = NaN] = [progress.little[name] ?? [], progress.enough[name] ?? []].map(
      median,
    );
    ratios.push(little / enough);
    const duckdb = progress.duckdb[name]?.length
      ? `${median(progress.duckdb[name] ?? []).toFixed(0)} ms`
      : "";
    const cells = [
      `${little.toFixed(0)} ms`,
      `${enough.toFixed(0)} ms`,
      (little / enough).toFixed(2),
      duckdb,
    ];
    console.log(`| ${name.toUpperCase()} | ${cells.join(" | ")} |`);
  }
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  console.log(`| geometric mean of ${ratios.length} | | | ${mean.toFixed(2)} | |`);
  console.log(
    `most memory resident ${(progress.residentBytes / 2 ** 20).toFixed(0)} MiB, in temporary files ` +
      `${(progress.fileBytes / 2 ** 20).toFixed(0)} MiB, ${progress.different.length} answers differ`,
  );
}
