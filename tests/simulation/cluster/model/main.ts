/**
 * `deno task model:replication [--states N]`: explores the model of the replication protocol, and then leaves out each
 * of its rules, which must break an invariant.
 *
 * Ends with exit code 1 when an invariant fails that should hold, or holds without a rule.
 */
import { parseArgs } from "node:util";
import { explore } from "../../model/explore.ts";
import { type BrokenRule, type ModelBounds, ModelRules } from "./model_rules.ts";

const PLAIN: ModelBounds = {
  views: 2,
  entries: 2,
  restarts: 1,
  losses: 0,
  hasCheckpoints: false,
  hasLeases: false,
};

/** What is explored whole. */
export const EXPLORED: readonly (readonly [name: string, bounds: ModelBounds])[] = [
  ["two views, two entries, a crash", PLAIN],
  ["two views, three entries", { ...PLAIN, entries: 3, restarts: 0 }],
  ["a lost disk: two views, three entries, a crash", { ...PLAIN, entries: 3, losses: 1 }],
  ["three views, an entry", { ...PLAIN, views: 3, entries: 1, restarts: 0 }],
  ["leases: two views, an entry, a crash", { ...PLAIN, entries: 1, hasLeases: true }],
  ["leases: two views, two entries", { ...PLAIN, restarts: 0, hasLeases: true }],
  ["a lost disk: two views, an entry, a crash", { ...PLAIN, entries: 1, losses: 1 }],
  ["a lost disk: two views, two entries", { ...PLAIN, restarts: 0, losses: 1 }],
  ["checkpoints: two views, two entries", { ...PLAIN, restarts: 0, hasCheckpoints: true }],
  ["checkpoints: two views, an entry, a crash", { ...PLAIN, entries: 1, hasCheckpoints: true }],
  ["a lost disk and checkpoints: two views, an entry", {
    ...PLAIN,
    entries: 1,
    restarts: 0,
    losses: 1,
    hasCheckpoints: true,
  }],
];

/** Rules that are left out, and bounds within which that shows. */
export const BROKEN_RULES: readonly (readonly [rule: BrokenRule, bounds: ModelBounds])[] = [
  ["one member commits", PLAIN],
  ["the longest log wins", { ...PLAIN, views: 3, restarts: 0 }],
  ["acknowledges across a gap", { ...PLAIN, views: 3, restarts: 0 }],
  ["a backup applies what it has", PLAIN],
  ["serves before its suffix is committed", PLAIN],
  ["a restarted primary goes on", PLAIN],
  ["votes within its promise", { ...PLAIN, entries: 1, hasLeases: true }],
  ["a restart ends a promise", { ...PLAIN, entries: 1, hasLeases: true }],
  ["a replaced disk votes", { ...PLAIN, restarts: 0, losses: 1 }],
  ["an old vote counts", { ...PLAIN, entries: 1, restarts: 0, losses: 1 }],
  ["a checkpoint above the commit number", { ...PLAIN, hasCheckpoints: true }],
  ["a checkpoint replaces the whole log", { ...PLAIN, hasCheckpoints: true }],
  ["an old start of a view is taken", { ...PLAIN, hasCheckpoints: true }],
];

function exploreAll(maxStates: number): boolean {
  let isRight = true;
  for (const [name, bounds] of EXPLORED) {
    const started = performance.now();
    const { states, depth, violation, isComplete } = explore(new ModelRules(bounds), maxStates);
    const seconds = Math.round((performance.now() - started) / 1000);
    const extent = isComplete ? "all" : "the first";
    console.log(`${name}: ${extent} ${states} states, ${depth} actions deep, ${seconds} s`);
    if (violation === null) continue;
    console.error([violation.what, ...violation.actions].join("\n  "));
    isRight = false;
  }
  for (const [rule, bounds] of BROKEN_RULES) {
    const { states, violation } = explore(new ModelRules(bounds, rule), maxStates);
    if (violation === null) isRight = false;
    const outcome = violation === null
      ? "NO INVARIANT FAILS"
      : `${violation.what}, after ${violation.actions.length} actions`;
    console.log(`${rule}: ${outcome} (${states} states)`);
  }
  return isRight;
}

if (import.meta.main) {
  const { values } = parseArgs({ args: Deno.args, options: { states: { type: "string" } } });
  Deno.exit(exploreAll(Number(values.states ?? 20_000_000)) ? 0 : 1);
}
