/** Members are killed under load, and meet the other faults; at full size: `deno task soak:cluster`. */
import { ok } from "node:assert/strict";
import { compiledPrograms } from "../../tools/compiled_programs.ts";
import { runFaults } from "./fault_rounds.ts";
import type { FaultName } from "./member_faults.ts";

/** What happens to a cluster of so many members, in turn. */
const LIVES: readonly (readonly [
  memberCount: number,
  seed: number,
  faults: readonly FaultName[],
  flags?: readonly string[],
])[] = [
  [3, 20_26, [
    "two kills of the primary in a row",
    "kill of all members",
    "a kill while it starts",
    "a primary that stands still",
    "two members that stand still",
    "a primary that is stopped in order",
    "connections that break",
    "a member behind a slow network",
    "delayed messages",
    "a lost disk",
    "rot in a log",
    "rot in a superblock",
  ]],
  [5, 20_27, [
    "a primary that is cut off",
    "a primary that hears nothing",
    "a primary that is not heard",
  ]],
  // A lost disk and a restart of each are in shards_test.ts.
  [3, 20_28, [
    "two kills of the primary in a row",
    "a primary that stands still",
  ], ["--shards", "4"]],
];

for (const [memberCount, seed, faults, flags = []] of LIVES) {
  Deno.test(`${[`${memberCount} members`, ...flags].join(" ")} keep what they acknowledged to clients of all protocols through ${faults.length} faults`, async () => {
    const { dbd } = await compiledPrograms();
    const { kept, reports, mebibytes } = await runFaults({
      dbd,
      memberCount,
      clients: 10,
      seed,
      faults,
      flags,
      share: 0.4,
    });
    console.log(
      `served again after ${reports.map(({ pause }) => Math.round(pause)).join(", ")} ms; ${
        mebibytes.join(", ")
      } MiB;`,
      kept,
    );
    for (
      const what of ["reads", "writes", "listTransactions", "bankTransfers", "sums", "once", "rows"] as const
    ) {
      ok(kept[what] > 5, `the load was no load: ${kept[what]} ${what}`);
    }
  });
}
