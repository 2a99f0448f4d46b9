/** The model of the replication protocol, in small; `deno task model:replication` explores more. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { explore } from "../../model/explore.ts";
import { BROKEN_RULES } from "./main.ts";
import { chooseLog, ModelRules } from "./model_rules.ts";

const SMALL = { views: 2, entries: 1, restarts: 1, losses: 0, hasCheckpoints: true, hasLeases: false };

for (
  const [name, bounds] of [
    ["crashes and checkpoints", SMALL],
    ["a lost disk", { ...SMALL, restarts: 0, losses: 1, hasCheckpoints: false }],
  ] as const
) {
  Deno.test(`the replication model keeps its invariants with ${name}`, () => {
    const { states, violation, isComplete } = explore(new ModelRules(bounds));
    deepStrictEqual(violation, null);
    ok(isComplete && states > 5000, `${states} states`);
  });
}

const QUICK = [
  "a backup applies what it has",
  "serves before its suffix is committed",
  "a restarted primary goes on",
  "a checkpoint above the commit number",
];

for (const [rule, bounds] of BROKEN_RULES.filter(([rule]) => QUICK.includes(rule))) {
  Deno.test(`the replication model shows what goes wrong when ${rule}`, () => {
    ok(explore(new ModelRules(bounds, rule)).violation !== null);
  });
}

Deno.test("chooseLog() takes the longest log of the highest log view, as far as it is there", () => {
  const votes = [
    { logView: 1, log: "aaaa", have: 4, commit: 0 },
    { logView: 2, log: "abc", have: 1, commit: 1 },
  ];
  deepStrictEqual(chooseLog(votes, null), { log: "a", commit: 1 });
  strictEqual(chooseLog([{ logView: 2, log: "ab", have: 2, commit: 0 }, ...votes], null).log, "ab");
});
