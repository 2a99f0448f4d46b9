/**
 * 200 random statements, answered by SQLite too, every eighth with every plan. A failure prints the seed and a small
 * statement. Others of the whole dialect are PostgreSQL's to answer, in `postgresql_random_statements_test.ts`.
 */
import assert from "node:assert/strict";
import { Choices, shrink } from "./choices.ts";
import { runOracle } from "./sql_oracle.ts";
import { SqlitePeer } from "./sqlite_peer.ts";

const rounds = 2;
const statements = 100;

Deno.test("random statements have the answers of SQLite, with every plan", async () => {
  let compared = 0;
  for (let seed = 1; seed <= rounds; seed++) {
    const peer = new SqlitePeer();
    const report = await runOracle({ seed, statements, dialect: "sqlite", peer, allPlansEvery: 8 });
    peer.close();
    assert.equal(report.failures.length, 0, report.failures.join("\n\n"));
    compared += report.answered;
  }
  assert.ok(compared > rounds * statements * 0.8, `only ${compared} statements gave rows`);
});

Deno.test("random statements of the whole dialect have the same answers with every plan", async () => {
  for (let seed = 1001; seed <= 1002; seed++) {
    const report = await runOracle({ seed, statements: 60, dialect: "postgresql", peer: null });
    assert.equal(report.failures.length, 0, report.failures.join("\n\n"));
  }
});

Deno.test("shrink() finds the smallest record that still fails", async () => {
  const choices = Choices.ofSeed(5);
  for (let index = 0; index < 40; index++) choices.below(100);
  const sum = (record: readonly number[]) => record.reduce((total, each) => total + each, 0);
  const small = await shrink(choices.record, (record) => Promise.resolve(sum(record) >= 150));
  assert.ok(sum(small) >= 150 && small.length <= 3, JSON.stringify(small));
});
