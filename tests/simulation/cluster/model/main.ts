/**
 * `deno task model:replication [--states N]`: explores the model of the replication protocol, and then leaves out each
 * of its rules, which must break an invariant.
 *
 * Ends with exit code 1 when an invariant fails that should hold, or holds without a rule.
 */
import { explore } from "../../model/explore.ts";
import { type Explore, exploreAll, type NamedExplorations } from "../../model/explore_all.ts";
import { type BrokenRule, type ModelBounds, ModelRules } from "./model_rules.ts";

const PLAIN: ModelBounds = {
  views: 2,
  entries: 2,
  restarts: 1,
  losses: 0,
  hasCheckpoints: false,
  hasLeases: false,
};

function explored(bounds: Partial<ModelBounds>, broken: BrokenRule | null = null): Explore {
  return (maxStates) => explore(new ModelRules({ ...PLAIN, ...bounds }, broken), maxStates);
}

const WHOLE = { restarts: 0 };
const LOSS = { losses: 1 };
const LEASES = { hasLeases: true };
const CHECKPOINTS = { hasCheckpoints: true };

/** What is explored whole. */
export const EXPLORED: NamedExplorations = [
  ["two views, two entries, a crash", explored({})],
  ["two views, three entries", explored({ ...WHOLE, entries: 3 })],
  ["a lost disk: two views, three entries, a crash", explored({ ...LOSS, entries: 3 })],
  ["three views, an entry", explored({ ...WHOLE, views: 3, entries: 1 })],
  ["leases: two views, an entry, a crash", explored({ ...LEASES, entries: 1 })],
  ["leases: two views, two entries", explored({ ...LEASES, ...WHOLE })],
  ["a lost disk: two views, an entry, a crash", explored({ ...LOSS, entries: 1 })],
  ["a lost disk: two views, two entries", explored({ ...LOSS, ...WHOLE })],
  ["checkpoints: two views, three entries", explored({ ...CHECKPOINTS, ...WHOLE, entries: 3 })],
  ["checkpoints: two views, three entries, a crash", explored({ ...CHECKPOINTS, entries: 3 })],
  ["a lost disk and checkpoints: two views, two entries", explored({ ...CHECKPOINTS, ...WHOLE, ...LOSS })],
  [
    "a lost disk and checkpoints: two views, three entries",
    explored({ ...CHECKPOINTS, ...WHOLE, ...LOSS, entries: 3 }),
  ],
];

function broken(rule: BrokenRule, bounds: Partial<ModelBounds>): readonly [BrokenRule, Explore] {
  return [rule, explored(bounds, rule)];
}

/** Rules that are left out, within bounds in which that shows. */
export const BROKEN_RULES: NamedExplorations = [
  broken("one member commits", {}),
  broken("the longest log wins", { ...WHOLE, views: 3 }),
  broken("acknowledges across a gap", { ...WHOLE, views: 3 }),
  broken("a backup applies what it has", {}),
  broken("serves before its suffix is committed", {}),
  broken("a restarted primary goes on", {}),
  broken("votes within its promise", { ...LEASES, entries: 1 }),
  broken("a restart ends a promise", { ...LEASES, entries: 1 }),
  broken("a replaced disk votes", { ...LOSS, ...WHOLE }),
  broken("an old vote counts", { ...LOSS, ...WHOLE, entries: 1 }),
  broken("a checkpoint above the commit number", CHECKPOINTS),
  broken("a checkpoint replaces the whole log", CHECKPOINTS),
  broken("an old start of a view is taken", CHECKPOINTS),
];

if (import.meta.main) Deno.exit(exploreAll(EXPLORED, BROKEN_RULES));
