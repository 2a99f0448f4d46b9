/**
 * `deno task model:shards [--states N]`: explores the model of transactions over shards, and then leaves out each of
 * its rules, which must break an invariant.
 *
 * Ends with exit code 1 when an invariant fails that should hold, or holds without a rule.
 */
import { parseArgs } from "node:util";
import { explore } from "../../model/explore.ts";
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

function bounds(programs: readonly Program[], more: Partial<EpochBounds> = {}): EpochBounds {
  return { keys: [0, 1], programs, crashes: 1, isStrict: false, ...more };
}

/** What is explored whole. */
export const EXPLORED: readonly (readonly [name: string, bounds: EpochBounds])[] = [
  ["two transfers", bounds([TRANSFER, TRANSFER], { crashes: 2 })],
  ["write skew", bounds([FORTH, BACK], { crashes: 2 })],
  ["two transfers and a reader", bounds([TRANSFER, TRANSFER, READER])],
  ["write skew and a reader", bounds([FORTH, BACK, READER])],
  ["a transfer, a change in one shard, a reader", bounds([TRANSFER, LOCAL_A, READER])],
  ["write skew and a block in one shard", bounds([FORTH, BACK, BLOCK_A])],
  ["a transfer and changes in each shard", bounds([TRANSFER, LOCAL_A, LOCAL_B])],
  ["changes in each shard and a reader", bounds([LOCAL_A, LOCAL_B, READER])],
  [
    "three keys",
    bounds([{ reads: [0, 2], writes: [0] }, { reads: [0], writes: [1, 2] }, { reads: [1], writes: [0, 2] }], {
      keys: [0, 0, 1],
    }),
  ],
  ["strict: changes in each shard and a reader", bounds([LOCAL_A, LOCAL_B, READER], { isStrict: true })],
  [
    "strict: a transfer, a change in one shard, a reader",
    bounds([TRANSFER, LOCAL_A, READER], { isStrict: true }),
  ],
  ["strict: two transfers and a reader", bounds([TRANSFER, TRANSFER, READER], { isStrict: true })],
];

/** Rules that are left out, and bounds within which that shows. */
export const BROKEN_RULES: readonly (readonly [rule: BrokenRule, bounds: EpochBounds])[] = [
  ["slices out of order", {
    keys: [0, 1, 0, 1],
    programs: [{ reads: [], writes: [0, 1] }, { reads: [], writes: [2, 3] }, { reads: [0, 1], writes: [] }],
    crashes: 0,
    isStrict: false,
  }],
  ["a decision without the last vote", bounds([TRANSFER, LOCAL_B])],
  ["a vote counts before it is durable", bounds([TRANSFER])],
  ["slices before their epoch is durable", bounds([TRANSFER, TRANSFER])],
  ["a client's repetition does not ask what was committed", bounds([TRANSFER])],
  ["slices are taken again after a crash", bounds([TRANSFER])],
  ["a cut one entry late", bounds([TRANSFER, READER], { crashes: 0 })],
  ["a snapshot does not wait for decisions", bounds([TRANSFER, READER], { crashes: 0 })],
  ["an earlier one of the epoch is not looked at", bounds([FORTH, BACK], { crashes: 0 })],
  ["pending slices are not waited for", bounds([TRANSFER, LOCAL_A], { crashes: 0 })],
  ["a lost branch votes for its transaction", bounds([TRANSFER, LOCAL_A])],
  ["what was read is not validated", bounds([FORTH, BACK], { crashes: 0 })],
  ["a snapshot moves whatever was read", bounds([TRANSFER, LOCAL_A, FORTH], { crashes: 0 })],
  [
    "snapshots are taken when they are needed",
    bounds([LOCAL_A, LOCAL_B, READER], { crashes: 0, isStrict: true }),
  ],
  ["a lost snapshot is taken anew", bounds([LOCAL_A, LOCAL_B, READER], { isStrict: true })],
  [
    "commits pass snapshots that wait",
    bounds([TRANSFER, LOCAL_A, LOCAL_B, READER], { crashes: 0, isStrict: true }),
  ],
];

function exploreAll(maxStates: number): boolean {
  let isRight = true;
  for (const [name, within] of EXPLORED) {
    const started = performance.now();
    const { states, depth, violation, isComplete } = explore(new EpochRules(within), maxStates);
    const seconds = Math.round((performance.now() - started) / 1000);
    console.log(
      `${name}: ${isComplete ? "all" : "the first"} ${states} states, ${depth} actions deep, ${seconds} s`,
    );
    if (violation === null) continue;
    console.error([violation.what, ...violation.actions].join("\n  "));
    isRight = false;
  }
  for (const [rule, within] of BROKEN_RULES) {
    const { states, violation } = explore(new EpochRules(within, rule), maxStates);
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
