/** The model of the replication protocol, in small; `deno task model:replication` explores more. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { explore } from "../../model/explore.ts";
import { BROKEN_RULES } from "./main.ts";
import { chooseLog, type ModelBounds, ModelRules } from "./model_rules.ts";
import type { ModelState } from "./model_state.ts";

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

/** What members can be like, as far as it matters to them. */
function reachable(bounds: ModelBounds, forgets: boolean): Set<string> {
  const rules = new ModelRules(bounds, null, { forgets });
  const found = new Set<string>();
  const { violation } = explore({
    first: rules.first,
    steps: (state: ModelState) => rules.steps(state),
    keyOf: (state) => {
      const key = rules.keyOf(state);
      if (found.size % 64 === 0) deepStrictEqual(rules.stateOf(key), state);
      return key;
    },
    violation: (state) => {
      const members = state.members.map(({ named: _, lives: __, ...others }) => others);
      found.add(JSON.stringify([members, state.committed, state.committedViews]));
      return rules.violation(state);
    },
  });
  strictEqual(violation, null);
  return found;
}

for (
  const [name, bounds] of [
    ["a crash", { ...SMALL, hasCheckpoints: false }],
    ["a lost disk", { ...SMALL, restarts: 0, losses: 1, hasCheckpoints: false }],
    ["checkpoints", { ...SMALL, restarts: 0 }],
  ] as const
) {
  Deno.test(`the replication model forgets nothing that matters: ${name}`, () => {
    deepStrictEqual(reachable(bounds, true), reachable(bounds, false));
  });
}

const QUICK = [
  "a backup applies what it has",
  "serves before its suffix is committed",
  "a restarted primary goes on",
  "a checkpoint above the commit number",
];

for (const [rule, explore] of BROKEN_RULES.filter(([rule]) => QUICK.includes(rule))) {
  Deno.test(`the replication model shows what goes wrong when ${rule}`, () => {
    ok(explore().violation !== null);
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
