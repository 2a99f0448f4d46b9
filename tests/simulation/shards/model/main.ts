/**
 * `deno task model:shards [--states N]`: explores the models of transactions over shards, and then leaves out each of
 * their rules, which must break an invariant.
 *
 * Ends with exit code 1 when an invariant fails that should hold, or holds without a rule.
 */
import { explore } from "../../model/explore.ts";
import { type Explore, exploreAll, type NamedExplorations } from "../../model/explore_all.ts";
import { type BrokenRule, type EpochBounds, EpochRules } from "./epoch_rules.ts";
import type { Program } from "./epoch_state.ts";
import { type BrokenLogRule, type LogBounds, LogRules } from "./log_rules.ts";

const [A, B] = [0, 1];
const TRANSFER: Program = { reads: [A, B], writes: [A, B] };
const READER: Program = { reads: [A, B], writes: [] };
const FORTH: Program = { reads: [A], writes: [B] };
const BACK: Program = { reads: [B], writes: [A] };
const LOCAL_A: Program = { reads: [A], writes: [A] };
const LOCAL_B: Program = { reads: [B], writes: [B] };
const BLOCK_A: Program = { ...LOCAL_A, isBlock: true };
const ACROSS: readonly Program[] = [
  { reads: [0, 2], writes: [0] },
  { reads: [0], writes: [1, 2] },
  { reads: [1], writes: [0, 2] },
];
const APART: readonly Program[] = [
  { reads: [], writes: [0, 1] },
  { reads: [], writes: [2, 3] },
  { reads: [0, 1], writes: [] },
];
/** The second changes in shard 0 what the first has read there, and needs no vote of shard 1. */
const ORDERED: readonly Program[] = [
  { reads: [0], writes: [1] },
  { reads: [0], writes: [0] },
  { reads: [0, 1], writes: [] },
];

/** Epochs of a sequencer: the design. */
export function epochs(
  programs: readonly Program[],
  more: Partial<EpochBounds> = {},
  broken?: BrokenRule,
): Explore {
  const bounds = { keys: [0, 1], programs, crashes: 1, isStrict: false, ...more };
  return (maxStates) => explore(new EpochRules(bounds, broken), maxStates);
}

/** One log, the router's: what `dbd --shards` does. */
export function oneLog(
  programs: readonly Program[],
  more: Partial<LogBounds> = {},
  broken?: BrokenLogRule,
): Explore {
  const bounds = { keys: [0, 1], programs, crashes: 1, saves: 1, ...more };
  return (maxStates) => explore(new LogRules(bounds, broken), maxStates);
}

const STRICT = { isStrict: true };
const WHOLE = { crashes: 0 };

const AT_ONCE = { tellsAtOnce: true };

/** What is explored whole. */
export const EXPLORED: NamedExplorations = [
  ["two transfers", epochs([TRANSFER, TRANSFER], { crashes: 2 })],
  ["write skew", epochs([FORTH, BACK], { crashes: 2 })],
  ["two transfers and a reader", epochs([TRANSFER, TRANSFER, READER])],
  ["write skew and a reader", epochs([FORTH, BACK, READER])],
  ["a transfer, a change in one shard, a reader", epochs([TRANSFER, LOCAL_A, READER])],
  ["write skew and a block in one shard", epochs([FORTH, BACK, BLOCK_A])],
  ["a transfer and changes in each shard", epochs([TRANSFER, LOCAL_A, LOCAL_B])],
  ["changes in each shard and a reader", epochs([LOCAL_A, LOCAL_B, READER])],
  ["three keys", epochs(ACROSS, { keys: [0, 0, 1] })],
  ["strict: changes in each shard and a reader", epochs([LOCAL_A, LOCAL_B, READER], STRICT)],
  ["strict: a transfer, a change in one shard, a reader", epochs([TRANSFER, LOCAL_A, READER], STRICT)],
  ["strict: two transfers and a reader", epochs([TRANSFER, TRANSFER, READER], STRICT)],
  ["one log: two transfers", oneLog([TRANSFER, TRANSFER], { crashes: 2 })],
  ["one log: write skew and a reader", oneLog([FORTH, BACK, READER])],
  ["one log: two transfers and a reader", oneLog([TRANSFER, TRANSFER, READER])],
  ["one log: a transfer, a change in one shard, a reader", oneLog([TRANSFER, LOCAL_A, READER])],
  ["one log: changes in each shard and a reader", oneLog([LOCAL_A, LOCAL_B, READER])],
  ["one log: a transfer and changes in each shard", oneLog([TRANSFER, LOCAL_A, LOCAL_B])],
  ["one log: two apart and a reader", oneLog(APART, { keys: [0, 1, 0, 1] })],
  ["one log, told at once: two transfers", oneLog([TRANSFER, TRANSFER], { ...AT_ONCE, crashes: 2 })],
  ["one log, told at once: write skew and a reader", oneLog([FORTH, BACK, READER], AT_ONCE)],
  ["one log, told at once: two transfers and a reader", oneLog([TRANSFER, TRANSFER, READER], AT_ONCE)],
  ["one log, told at once: changes in each shard and a reader", oneLog([LOCAL_A, LOCAL_B, READER], AT_ONCE)],
  ["one log: three keys", oneLog(ACROSS, { keys: [0, 0, 1] })],
];

function broken(rule: BrokenRule, programs: readonly Program[], more: Partial<EpochBounds> = {}) {
  return [rule, epochs(programs, more, rule)] as const;
}

function brokenLog(rule: BrokenLogRule, programs: readonly Program[], more: Partial<LogBounds> = {}) {
  return [`one log: ${rule}`, oneLog(programs, more, rule)] as const;
}

const RUNNING = { crashes: 0, saves: 0 };
const CRASHING = { saves: 0 };

/** Rules that are left out, within bounds in which that shows. */
export const BROKEN_RULES: NamedExplorations = [
  broken("slices out of order", APART, { keys: [0, 1, 0, 1], crashes: 0 }),
  broken("a decision without the last vote", [TRANSFER, LOCAL_B]),
  broken("a vote counts before it is durable", [TRANSFER]),
  broken("slices before their epoch is durable", [TRANSFER, TRANSFER]),
  broken("a client's repetition does not ask what was committed", [TRANSFER]),
  broken("slices are taken again after a crash", [TRANSFER]),
  broken("a cut one entry late", [TRANSFER, READER], WHOLE),
  broken("a snapshot does not wait for decisions", [TRANSFER, READER], WHOLE),
  broken("an earlier one of the epoch is not looked at", [FORTH, BACK], WHOLE),
  broken("pending slices are not waited for", [TRANSFER, LOCAL_A], WHOLE),
  broken("a lost branch votes for its transaction", [TRANSFER, LOCAL_A]),
  broken("what was read is not validated", [FORTH, BACK], WHOLE),
  broken("a snapshot moves whatever was read", [TRANSFER, LOCAL_A, FORTH], WHOLE),
  broken("snapshots are taken when they are needed", [LOCAL_A, LOCAL_B, READER], { ...WHOLE, ...STRICT }),
  broken("a lost snapshot is taken anew", [LOCAL_A, LOCAL_B, READER], STRICT),
  broken("commits pass snapshots that wait", [TRANSFER, LOCAL_A, LOCAL_B, READER], { ...WHOLE, ...STRICT }),
  brokenLog("clients hear before the entry is durable", [TRANSFER], { ...CRASHING, ...AT_ONCE }),
  brokenLog("readers hear before what they have seen is durable", [TRANSFER, READER], {
    ...CRASHING,
    ...AT_ONCE,
  }),
  brokenLog("shards save what is not durable", [TRANSFER, LOCAL_A, READER], AT_ONCE),
  brokenLog("shards are told in turns of their own", [TRANSFER, READER], RUNNING),
  brokenLog("parts are applied out of the log's order", APART, { ...RUNNING, keys: [0, 1, 0, 1] }),
  brokenLog("snapshots are asked for in turns of their own", [TRANSFER, READER], RUNNING),
  brokenLog("a cut one op late", [TRANSFER, READER], RUNNING),
  brokenLog("an entry without the last vote", [TRANSFER, LOCAL_A], RUNNING),
  brokenLog("entries in the order of their votes", ORDERED, { ...RUNNING, keys: [0, 1, 1] }),
  brokenLog("pending parts are not validated against", [FORTH, BACK], RUNNING),
  brokenLog("what was read is not validated", [FORTH, BACK], RUNNING),
  brokenLog("clients hear before the shards", [LOCAL_A, READER], RUNNING),
  brokenLog("the log is not replayed", [TRANSFER, READER], CRASHING),
  brokenLog("replay applies twice", [TRANSFER]),
  brokenLog("what is saved says an op more than there is", APART, { keys: [0, 1, 0, 1] }),
  brokenLog("the log is cut behind what one shard has saved", [TRANSFER, READER]),
  brokenLog("a client's repetition does not ask what was committed", [TRANSFER], CRASHING),
];

if (import.meta.main) Deno.exit(exploreAll(EXPLORED, BROKEN_RULES));
