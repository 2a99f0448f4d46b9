/** Random statements over edge values have one answer in every state of the rows and in every way to ask. */
import assert from "node:assert/strict";
import { runEdgeRound } from "./edge_oracle.ts";

const rounds = 4;
const statements = 50;

Deno.test("random statements over edge values have the same answers in every state and way", async () => {
  let answered = 0;
  for (let seed = 1; seed <= rounds; seed++) {
    const report = await runEdgeRound({ seed, statements, peer: null });
    assert.equal(report.failures.length, 0, report.failures.join("\n\n"));
    answered += report.answered;
  }
  assert.ok(answered > rounds * statements * 0.6, `only ${answered} statements gave rows`);
});
