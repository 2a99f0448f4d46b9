/** Whole engines on simulated machines that fail; many more seeds in `deno task soak:simulation`. */
import { ok, strictEqual } from "node:assert/strict";
import { BROKEN_BUILDS, brokenSource, catchBroken } from "./broken_builds.ts";
import { simulate, simulateTwice, SimulationTotals } from "./engine_simulation.ts";

const SEEDS = 30;
const LIVES = 2;
/** Broken builds for the test run, which seeds after the first few catch; the soak has them all. */
const BROKEN = ["the log is not synced", "replies to exactly-once requests are not restored"];

Deno.test("Engine keeps everything it acknowledged, whole, whatever happens to disk, power and process", async () => {
  const totals = new SimulationTotals();
  for (let seed = 1; seed <= SEEDS; seed++) {
    // Every tenth twice: the second trace must be the first one.
    totals.add(await (seed % 10 === 0 ? simulateTwice : simulate)(seed, { lives: LIVES }));
  }
  const { ops, checkpoints, snapshots, flips, lives, cut } = totals.sums;
  strictEqual(lives, SEEDS * LIVES);
  ok(ops > SEEDS * 10, `only ${ops} entries`);
  ok(cut > lives / 4, `only ${cut} lives were cut off`);
  ok(checkpoints > SEEDS / 2 && snapshots > SEEDS / 20 && flips > SEEDS / 20, JSON.stringify(totals.sums));
  strictEqual(Object.keys(totals.faults).length, 11, "every kind of fault");
});

/** Seeds that have found something, and what it was; they need all the lives that they had then. */
const FOUND: readonly (readonly [seed: number, what: string])[] = [
  [903, "the power fails while files of a truncated table are removed between commits"],
  [921, "there is no space once, while its log is read"],
  [1221, "the power fails while statistics are made, for which nobody waits"],
];

for (const [seed, what] of FOUND) {
  Deno.test(`Engine keeps everything it acknowledged when ${what}`, async () => {
    const { faults, ops } = await simulate(seed, { lives: 4 });
    ok(ops > 0 && Object.values(faults).reduce((sum, count) => sum + count, 0) === 4);
  });
}

Deno.test("every broken build of the soak can still be made", async () => {
  for (const build of BROKEN_BUILDS) ok((await brokenSource(build)).length > 0);
});

for (const build of BROKEN_BUILDS.filter(({ name }) => BROKEN.includes(name))) {
  Deno.test(`Engine simulation notices when ${build.name}`, async () => {
    const { seed, message } = await catchBroken(build, 30);
    ok(seed !== null, "no seed has noticed");
    ok(/seed \d+/.test(message), message);
  });
}
