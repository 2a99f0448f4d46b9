/** The model of transactions over shards, in small; `deno task model:shards` explores more. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { explore } from "../../model/explore.ts";
import { EpochRules } from "./epoch_rules.ts";
import { BROKEN_RULES, EXPLORED } from "./main.ts";

for (const [name, bounds] of EXPLORED.filter(([name]) => /changes in each shard and a reader$/.test(name))) {
  Deno.test(`the model of shards keeps its invariants: ${name}`, () => {
    const { states, violation, isComplete } = explore(new EpochRules(bounds));
    deepStrictEqual(violation, null);
    ok(isComplete && states > 5000, `${states} states`);
  });
}

Deno.test("the model of shards keeps its invariants: two transfers and a reader, without a crash", () => {
  const [, bounds] = EXPLORED.find(([name]) => name === "two transfers and a reader") ?? [];
  ok(bounds !== undefined);
  const { states, violation, isComplete } = explore(new EpochRules({ ...bounds, crashes: 0 }));
  deepStrictEqual(violation, null);
  ok(isComplete && states > 2000, `${states} states`);
});

const SLOW = [
  "slices out of order",
  "slices before their epoch is durable",
  "a snapshot moves whatever was read",
];

for (const [rule, bounds] of BROKEN_RULES.filter(([rule]) => !SLOW.includes(rule))) {
  Deno.test(`the model of shards shows what goes wrong when ${rule}`, () => {
    ok(explore(new EpochRules(bounds, rule)).violation !== null);
  });
}
