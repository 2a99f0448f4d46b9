/**
 * TPC-H: its 22 queries over generated data, each peer in a server of its own for each scale. Answers are compared
 * with those of the first peer, so that nobody is quick with a wrong one.
 */
import type postgres from "postgres";
import { TPCH_QUERIES } from "../../../engine/sql/planner/tpch_queries_for_test.ts";
import type { Benchmark, Peer, Scale } from "../benchmark.ts";
import type { EmbeddedPeer } from "../peers/embedded.ts";
import { difference, type Rows } from "../tpch/answers.ts";
import { TABLES } from "../tpch/generator.ts";
import { columnsOf, DEFINITIONS, indexStatements } from "../tpch/schema.ts";
import { inSqlite } from "../tpch/sqlite_dialect.ts";
import { copyParts, tableFiles } from "../tpch/tables.ts";
import { connect, copyIn } from "./client.ts";

/** What the tests run; the smallest at which the key formulas of the specification hold. */
export const SMOKE_SCALE = 0.01;

/** Peers that would take hours above this scale. */
const MAX_SCALE: Readonly<Record<EmbeddedPeer["name"], number>> = {
  DuckDB: 10,
  SQLite: 0.1,
  PGlite: 0.1,
};

const BARS: Readonly<Record<string, string>> = { q1: "≤ 0.10", q6: "≤ 0.10" };

/** A server with the tables of one scale, and the connection to it. */
interface Loaded {
  readonly server: Peer;
  readonly client: postgres.Sql;
}

const servers = new Map<string, Loaded>();
const filled = new Map<EmbeddedPeer, number>();
const answers = new Map<string, Rows>();

/** The 22 queries at scale 1. */
export const tpch: readonly Benchmark[] = stopping(queries(
  1,
  (name) => BARS[name] === undefined ? {} : { bar: BARS[name] },
));

/** How their cost grows with the data. */
export const tpchGrowth: readonly Benchmark[] = stopping(
  [0.01, 0.1, 1].flatMap((scale) =>
    queries(
      scale,
      (name) => ({ growth: { group: `TPC-H ${name.toUpperCase()}`, size: scale }, isFullOnly: true }),
    )
  ),
);

/** The last benchmark of a list stops the servers of all. */
function stopping(benchmarks: readonly Benchmark[]): readonly Benchmark[] {
  return benchmarks.map((each, index) =>
    index === benchmarks.length - 1 ? { ...each, finish: stopServers } : each
  );
}

function queries(scale: number, extra: (name: string) => Partial<Benchmark>): readonly Benchmark[] {
  const names = Object.keys(TPCH_QUERIES);
  const actual = (size: Scale) => size === "smoke" ? SMOKE_SCALE : scale;
  return names.map((name): Benchmark => ({
    name: `TPC-H ${name.toUpperCase()}, scale ${scale}`,
    unit: "ms",
    higherIsBetter: false,
    maximumRounds: 3,
    prepare: async (peer, size) => {
      const loaded = await loadedServer(peer, actual(size));
      await checkAnswer(name, actual(size), await ask(loaded.client, TPCH_QUERIES[name] ?? ""));
    },
    measure: async (peer, size) => {
      const { client } = await loadedServer(peer, actual(size));
      const start = performance.now();
      await ask(client, TPCH_QUERIES[name] ?? "");
      return performance.now() - start;
    },
    embedded: {
      prepare: async (peer, size) => {
        if (actual(size) > MAX_SCALE[peer.name]) return;
        await fill(peer, actual(size));
        const { rows } = await peer.query(textFor(peer, name));
        await checkAnswer(name, actual(size), rows);
      },
      measure: async (peer, size) => {
        if (actual(size) > MAX_SCALE[peer.name]) return NaN;
        return (await peer.query(textFor(peer, name))).milliseconds;
      },
    },
    ...extra(name),
  }));
}

function textFor(peer: EmbeddedPeer, name: string): string {
  const text = TPCH_QUERIES[name] ?? "";
  return peer.name === "SQLite" ? inSqlite(text) : text;
}

/** The peer's server with the tables of a scale. */
async function loadedServer(peer: Peer, scale: number): Promise<Loaded> {
  const key = `${peer.name}:${peer.port} ${scale}`;
  let loaded = servers.get(key);
  if (loaded === undefined) {
    const server = await peer.another({});
    servers.set(key, loaded = { server, client: connect(server) });
    await loadTables(loaded.client, scale);
  }
  return loaded;
}

/** Makes and fills the tables of a scale, with their indexes and statistics. */
export async function loadTables(client: postgres.Sql, scale: number): Promise<void> {
  const folder = await tableFiles(scale);
  for (const table of TABLES) {
    await client.unsafe(`CREATE TABLE ${table} (${DEFINITIONS[table]})`);
    for await (const part of copyParts(folder, table)) {
      await copyIn(client, `COPY ${table} FROM STDIN WITH (FORMAT text, DELIMITER '|')`, part);
    }
    for (const statement of indexStatements(table)) await client.unsafe(statement);
  }
  await client.unsafe("ANALYZE");
}

/** Makes and fills an embedded peer's tables; DuckDB and SQLite get what they can use of keys and indexes. */
async function fill(peer: EmbeddedPeer, scale: number): Promise<void> {
  if (filled.get(peer) === scale) return;
  const folder = await tableFiles(scale);
  for (const table of TABLES) {
    if (filled.has(peer)) await peer.execute(`DROP TABLE ${table}`);
    // DuckDB's keys slow its loading down and no query uses them.
    const definition = peer.name === "DuckDB" ? columnsOf(table).join(", ") : DEFINITIONS[table];
    await peer.execute(`CREATE TABLE ${table} (${definition})`);
    await peer.load(table, `${folder}/${table}.tbl`, columnsOf(table));
    if (peer.name === "DuckDB") continue;
    for (const statement of indexStatements(table)) await peer.execute(statement);
  }
  await peer.execute("ANALYZE");
  filled.set(peer, scale);
}

/** A query's rows as texts and numbers. */
export async function ask(client: postgres.Sql, text: string): Promise<Rows> {
  return await client.unsafe(text).values();
}

/** Notes the first answer to a query; throws when a later one differs. */
function checkAnswer(name: string, scale: number, rows: Rows): Promise<void> {
  const key = `${name} ${scale}`;
  const known = answers.get(key);
  if (known === undefined) answers.set(key, rows);
  else {
    const different = difference(name, known, rows);
    if (different !== null) throw new Error(`TPC-H ${name} at scale ${scale}: peers disagree: ${different}`);
  }
  return Promise.resolve();
}

async function stopServers(): Promise<void> {
  for (const { server, client } of servers.values()) {
    await client.end();
    await server.stop();
  }
  servers.clear();
}
