/** Some thousand metamorphic checks; `deno task soak:metamorphic` runs more. A failure prints the database, both sides and the seed. */
import assert from "node:assert/strict";
import { relations } from "./relations.ts";
import { runRound } from "./run_round.ts";

const rounds = 24;
const checks = 100;

Deno.test("equivalent queries have the same rows in every storage state", async () => {
  const total = { checks: 0, raised: 0, tooLarge: 0, rows: 0 };
  for (let seed = 1; seed <= rounds; seed++) {
    const { failures, ...counts } = await runRound({ seed, checks });
    const again = `again with: deno task soak:metamorphic ${checks} ${seed}`;
    assert.equal(failures.length, 0, `${failures.join("\n\n")}\n${again}`);
    total.checks += counts.checks;
    total.raised += counts.raised;
    total.tooLarge += counts.tooLarge;
    total.rows += counts.rows;
  }
  assert.ok(total.checks > rounds * checks * 0.9, `only ${total.checks} checks were made`);
  assert.ok(total.raised > 0, "no check raised");
  assert.ok(total.tooLarge < total.checks / 100, `${total.tooLarge} checks were given up`);
  assert.ok(total.rows > total.checks * 5, `only ${total.rows} rows were compared`);
});

Deno.test("every relation makes checks that agree", async () => {
  for (const { name } of relations) {
    const { failures, checks } = await runRound({ seed: 3, checks: 8, only: name });
    assert.equal(
      failures.length,
      0,
      `${failures.join("\n\n")}\nagain with: deno task soak:metamorphic 8 3 "${name}"`,
    );
    assert.ok(checks > 0, name);
  }
});
