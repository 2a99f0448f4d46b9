/**
 * `deno task soak:queries [statements] [seed]`: random statements whose answers must agree, 500 000 unless told
 * otherwise.
 *
 * Rounds take turns: five hundred statements over edge values in some states of the rows, a hundred of the whole
 * dialect against SQLite, or against PostgreSQL where it is installed, now and then with larger tables. A failure
 * prints the small statement and how to run its round again: the seed of a round decides everything.
 */
import { PostgresqlMissing, PrivatePostgresql } from "../slt/private_postgresql.ts";
import { runEdgeRound } from "./edge_oracle.ts";
import { PipelinedPostgresql } from "./edge_peer.ts";
import { PostgresqlPeer } from "./postgresql_peer.ts";
import { type OracleReport, runOracle } from "./sql_oracle.ts";
import { SqlitePeer } from "./sqlite_peer.ts";

const perRound = 100;
const perEdgeRound = 500;
/** The peer is asked each time, the database's own plans every so often. */
const allPlansEvery = 4;

const statements = Number(Deno.args[0] ?? "500000");
const firstSeed = Number(Deno.args[1] ?? Date.now() % 1_000_000);
if (!Number.isSafeInteger(statements) || statements < 1 || !Number.isSafeInteger(firstSeed)) {
  console.error("Usage: deno task soak:queries [statements] [seed]");
  Deno.exit(2);
}

async function startPostgresql(): Promise<PrivatePostgresql | null> {
  try {
    return await PrivatePostgresql.start();
  } catch (error) {
    if (!(error instanceof PostgresqlMissing)) throw error;
    console.log(`not compared with PostgreSQL: ${error.message}`);
    return null;
  }
}

async function round(
  seed: number,
  server: PrivatePostgresql | null,
  peer: PipelinedPostgresql | null,
): Promise<OracleReport> {
  if (seed % 2 === 1) {
    const report = await runEdgeRound({ seed, statements: perEdgeRound, peer });
    return { ...report, compared: peer === null ? 0 : report.statements, excused: 0 };
  }
  return await wholeDialect(seed, server);
}

async function wholeDialect(seed: number, server: PrivatePostgresql | null): Promise<OracleReport> {
  const rows = seed % 10 === 0 ? 60 : 12;
  if (seed % 3 === 0) {
    const peer = new SqlitePeer();
    try {
      return await runOracle({ seed, statements: perRound, dialect: "sqlite", peer, rows, allPlansEvery });
    } finally {
      peer.close();
    }
  }
  const database = await server?.database();
  try {
    const peer = database === undefined ? null : new PostgresqlPeer(database);
    return await runOracle({ seed, statements: perRound, dialect: "postgresql", peer, rows, allPlansEvery });
  } finally {
    await database?.close();
  }
}

console.log(`${statements} statements from seed ${firstSeed}`);
const server = await startPostgresql();
const peer = server === null ? null : await PipelinedPostgresql.connect(server);
const start = performance.now();
const total = { statements: 0, answered: 0, compared: 0, excused: 0, failures: 0 };
const report = () => {
  console.log(`${Math.round((performance.now() - start) / 1000)} s:`, total);
};
try {
  for (let seed = firstSeed; total.statements < statements; seed++) {
    const { failures, ...counts } = await round(seed, server, peer);
    total.statements += counts.statements;
    total.answered += counts.answered;
    total.compared += counts.compared;
    total.excused += counts.excused;
    total.failures += failures.length;
    for (const failure of failures) {
      console.log(`${failure}\nagain with: deno task soak:queries ${counts.statements} ${seed}\n`);
    }
    if (total.statements % 6000 < counts.statements) report();
  }
} finally {
  peer?.[Symbol.dispose]();
  await server?.stop();
}
report();
if (total.failures > 0) Deno.exit(1);
