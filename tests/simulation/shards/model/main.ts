/**
 * `deno task model:shards [--states N]`: explores the models of transactions over shards, and then leaves out each of
 * their rules, which must break an invariant.
 *
 * Ends with exit code 1 when an invariant fails that should hold, or holds without a rule.
 */
import { parseArgs } from "node:util";
import { type Exploration, explore } from "../../model/explore.ts";
import { type BrokenDecisionRule, DecisionRules } from "./decision_rules.ts";
import { type BrokenRule, type EpochBounds, EpochRules } from "./epoch_rules.ts";
import type { Program } from "./epoch_state.ts";

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

/** An exploration, up to so many states. */
export type Explore = (maxStates?: number) => Exploration;

/** Epochs of a sequencer: the design. */
export function epochs(
  programs: readonly Program[],
  more: Partial<EpochBounds> = {},
  broken?: BrokenRule,
): Explore {
  const bounds = { keys: [0, 1], programs, crashes: 1, isStrict: false, ...more };
  return (maxStates) => explore(new EpochRules(bounds, broken), maxStates);
}

/** A router that decides: what `dbd --shards` does. */
export function decisions(programs: readonly Program[], crashes = 1, broken?: BrokenDecisionRule): Explore {
  return (maxStates) => explore(new DecisionRules({ keys: [0, 1], programs, crashes }, broken), maxStates);
}

const STRICT = { isStrict: true };
const WHOLE = { crashes: 0 };

/** What is explored whole. */
export const EXPLORED: readonly (readonly [name: string, explore: Explore])[] = [
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
  ["router: two transfers", decisions([TRANSFER, TRANSFER], 2)],
  ["router: write skew and a reader", decisions([FORTH, BACK, READER])],
  ["router: two transfers and a reader", decisions([TRANSFER, TRANSFER, READER])],
  ["router: a transfer, a change in one shard, a reader", decisions([TRANSFER, LOCAL_A, READER])],
  ["router: changes in each shard and a reader", decisions([LOCAL_A, LOCAL_B, READER])],
  ["router: a transfer and changes in each shard", decisions([TRANSFER, LOCAL_A, LOCAL_B])],
];

function broken(rule: BrokenRule, programs: readonly Program[], more: Partial<EpochBounds> = {}) {
  return [rule, epochs(programs, more, rule)] as const;
}

function brokenDecision(rule: BrokenDecisionRule, programs: readonly Program[], crashes = 1) {
  return [`router: ${rule}`, decisions(programs, crashes, rule)] as const;
}

/** Rules that are left out, within bounds in which that shows. */
export const BROKEN_RULES: readonly (readonly [rule: string, explore: Explore])[] = [
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
  brokenDecision("shards are told before the decision is durable", [TRANSFER, READER]),
  brokenDecision("shards are told in turns of their own", [TRANSFER, READER], 0),
  brokenDecision("snapshots are asked for in turns of their own", [TRANSFER, READER], 0),
  brokenDecision("commits pass what is prepared", [TRANSFER, LOCAL_A], 0),
  brokenDecision("what was read is not validated", [FORTH, BACK], 0),
  brokenDecision("reads are shown before they are durable", [LOCAL_A, READER]),
  brokenDecision("decisions are not told again", [TRANSFER, READER]),
  brokenDecision("decisions are told again to all", [TRANSFER]),
  brokenDecision("a client's repetition does not ask what was committed", [TRANSFER]),
];

function exploreAll(maxStates: number): boolean {
  let isRight = true;
  for (const [name, run] of EXPLORED) {
    const started = performance.now();
    const { states, depth, violation, isComplete } = run(maxStates);
    const seconds = Math.round((performance.now() - started) / 1000);
    const extent = isComplete ? "all" : "the first";
    console.log(`${name}: ${extent} ${states} states, ${depth} actions deep, ${seconds} s`);
    if (violation === null) continue;
    console.error([violation.what, ...violation.actions].join("\n  "));
    isRight = false;
  }
  for (const [rule, run] of BROKEN_RULES) {
    const { states, violation } = run(maxStates);
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
