/** The models of transactions over shards, in small; `deno task model:shards` explores more. */
import { deepStrictEqual, ok } from "node:assert/strict";
import { BROKEN_RULES, epochs, EXPLORED, oneLog } from "./main.ts";

const TRANSFER = { reads: [0, 1], writes: [0, 1] };
const READER = { reads: [0, 1], writes: [] };

for (
  const [name, run] of [
    ...EXPLORED.filter(([name]) => /changes in each shard and a reader$/.test(name)),
    ["two transfers and a reader, without a crash", epochs([TRANSFER, TRANSFER, READER], { crashes: 0 })],
    ["one log: a transfer and a reader", oneLog([TRANSFER, READER])],
  ] as const
) {
  Deno.test(`the models of shards keep their invariants: ${name}`, () => {
    const { states, violation, isComplete } = run();
    deepStrictEqual(violation, null);
    ok(isComplete && states > 500, `${states} states`);
  });
}

const SLOW = [
  "slices out of order",
  "slices before their epoch is durable",
  "a snapshot moves whatever was read",
];

for (const [rule, run] of BROKEN_RULES.filter(([rule]) => !SLOW.includes(rule))) {
  Deno.test(`the models of shards show what goes wrong when ${rule}`, () => {
    ok(run().violation !== null);
  });
}
