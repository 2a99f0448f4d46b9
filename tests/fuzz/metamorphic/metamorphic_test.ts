/**
 * Some hundred metamorphic checks; `deno task soak:metamorphic` runs more. A failure prints the database, both sides
 * and the seed.
 */
import assert from "node:assert/strict";
import { relations } from "./relations.ts";
import { runRound } from "./run_round.ts";

const rounds = 6;
const checks = 60;

Deno.test("equivalent queries have the same rows in every storage state", async () => {
  const total = { checks: 0, raised: 0, tooLarge: 0, rows: 0 };
  const relationsMade = new Set<string>();
  for (let seed = 1; seed <= rounds; seed++) {
    const { failures, made, ...counts } = await runRound({ seed, checks });
    const again = `again with: deno task soak:metamorphic ${checks} ${seed}`;
    assert.equal(failures.length, 0, `${failures.join("\n\n")}\n${again}`);
    total.checks += counts.checks;
    total.raised += counts.raised;
    total.tooLarge += counts.tooLarge;
    total.rows += counts.rows;
    for (const name of made.keys()) relationsMade.add(name);
  }
  assert.ok(total.checks > rounds * checks * 0.9, `only ${total.checks} checks were made`);
  assert.ok(total.raised > 0, "no check raised");
  assert.ok(total.tooLarge < total.checks / 100, `${total.tooLarge} checks were given up`);
  assert.ok(total.rows > total.checks * 5, `only ${total.rows} rows were compared`);
  assert.deepEqual([...relationsMade].toSorted(), relations.map(({ name }) => name).toSorted());
});

Deno.test("equivalent queries have the same rows in a database of four shards", async () => {
  const shards = 4;
  for (let seed = 101; seed <= 101; seed++) {
    const { failures, checks: made } = await runRound({ seed, checks, shards });
    const again = `again with: deno task soak:metamorphic ${checks} ${seed} "" 200 ${shards}`;
    assert.equal(failures.length, 0, `${failures.join("\n\n")}\n${again}`);
    assert.ok(made > checks * 0.8, `only ${made} checks were made`);
  }
});
