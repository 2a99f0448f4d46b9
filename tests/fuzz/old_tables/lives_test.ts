/**
 * Lives of tables with checkpoints and restarts are as those of tables that nothing happens to; PostgreSQL is asked
 * in the soak.
 */
import assert from "node:assert/strict";
import { StateDatabase } from "../../support/state_database.ts";
import { answerOf } from "../engine_answers.ts";
import { live, scriptOf } from "./lives.ts";

const lives = 2;
const statements = 180;

Deno.test("tables that live long answer as if they had never been moved", async () => {
  for (let seed = 1; seed <= lives; seed++) {
    await using unmoved = await StateDatabase.open();
    const { difference, partedAfter } = await live(seed, statements, {
      answers: async (asked) => {
        const answers = [];
        for (const sql of asked) answers.push(await answerOf(() => unmoved.run(sql)));
        return answers;
      },
    });
    assert.equal(difference, null, difference === null ? "" : `seed ${seed}:\n${scriptOf(difference)}`);
    assert.equal(partedAfter, null);
  }
});

Deno.test("a life ends at a statement that its peer gives up, which is no difference", async () => {
  const asked: string[] = [];
  const { difference, partedAfter } = await live(1, 1, {
    answers: (statements) => {
      asked.push(...statements);
      return Promise.resolve(statements.map(() => ({ error: "57014" })));
    },
  });
  assert.equal(difference, null);
  assert.equal(partedAfter, asked[1]);
});
