/**
 * Random statements of the whole dialect have PostgreSQL's answers. A failure prints the seed and a small statement.
 */
import assert from "node:assert/strict";
import { reportNotRun } from "../../tools/not_run.ts";
import { runEdgeRound } from "../fuzz/edge_oracle.ts";
import { PipelinedPostgresql } from "../fuzz/edge_peer.ts";
import { PostgresqlPeer } from "../fuzz/postgresql_peer.ts";
import { runOracle } from "../fuzz/sql_oracle.ts";
import { PostgresqlMissing, PrivatePostgresql } from "../slt/private_postgresql.ts";

const rounds = 2;
const statements = 50;
const edgeRounds = 3;
const edgeStatements = 200;

Deno.test("random statements have PostgreSQL's answers", async () => {
  let server: PrivatePostgresql;
  try {
    server = await PrivatePostgresql.start();
  } catch (error) {
    if (!(error instanceof PostgresqlMissing)) throw error;
    reportNotRun("random statements against PostgreSQL", error.message);
    return;
  }
  try {
    for (let seed = 1; seed <= rounds; seed++) {
      const database = await server.database();
      const peer = new PostgresqlPeer(database);
      const report = await runOracle({ seed, statements, dialect: "postgresql", peer, allPlansEvery: 8 });
      await database.close();
      assert.equal(report.failures.length, 0, report.failures.join("\n\n"));
    }
    using peer = await PipelinedPostgresql.connect(server);
    for (let seed = 1; seed <= edgeRounds; seed++) {
      const report = await runEdgeRound({ seed, statements: edgeStatements, peer });
      assert.equal(report.failures.length, 0, report.failures.join("\n\n"));
    }
  } finally {
    await server.stop();
  }
});
