/** Whole engines on simulated machines, over crashes. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { simulate } from "./engine_simulation.ts";

/** Seeds in the test run; `DB_SIMULATION_SEEDS` asks for more. */
const SEEDS = Number(Deno.env.get("DB_SIMULATION_SEEDS") ?? "12");

Deno.test("Engine keeps every acknowledged transaction whole over crashes at any disk operation", async () => {
  let acknowledged = 0, crashes = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const result = await simulate(seed, { lives: 3 });
    acknowledged += result.acknowledged;
    crashes += result.crashes;
  }
  ok(acknowledged > SEEDS * 5, `only ${acknowledged} transactions were acknowledged`);
  ok(crashes > SEEDS, `only ${crashes} crashes`);
});

Deno.test("Engine simulation gives the same trace for the same seed", async () => {
  deepStrictEqual(await simulate(77, { lives: 2 }), await simulate(77, { lives: 2 }));
});
