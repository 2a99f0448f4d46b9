/** Whose slice comes next, and what clients get between two, by a clock of the test. */
import { strictEqual } from "node:assert/strict";
import { turnWork } from "./turn_work.ts";
import { SliceTurns } from "./slice_turns.ts";

/** Microseconds of a slice, and of a turn of the event loop in which requests are answered or not. */
const SLICE = 2_000, BUSY_TURN = 500, IDLE_TURN = 20;

/** Statements of so many slices each, and clients that send something in so many turns of the event loop. */
async function run(statements: readonly number[], requests: number) {
  let now = 0, turns = 0;
  const order: string[] = [];
  const slices = new SliceTurns({
    monotonic: () => now,
    yieldToLoop: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      const isBusy = turns++ < requests;
      now += isBusy ? BUSY_TURN : IDLE_TURN;
      order.push(isBusy ? "clients" : "-");
      if (isBusy) turnWork.requests++;
    },
  });
  await Promise.all(statements.map(async (count, index) => {
    for (let slice = 0; slice < count; slice++) {
      now += SLICE;
      order.push(String(index));
      await slices.next(SLICE);
    }
  }));
  return { order: order.join(" "), slices, turns: () => turns };
}

Deno.test("long statements have one slice each in turn, with one turn of the event loop between two", async () => {
  strictEqual((await run([3, 1, 2], 0)).order, "0 1 2 - 0 - - 2 - 0 - -");
});

Deno.test("clients get three times the time of a slice as long as they ask, and are waited for a moment", async () => {
  const twelve = Array(12).fill("clients").join(" ");
  strictEqual((await run([3], 1_000)).order, `0 ${twelve} 0 ${twelve} 0 ${twelve}`);
  const waited = Array(8).fill("-").join(" ");
  strictEqual((await run([3], 3)).order, `0 clients clients clients ${waited} 0 - 0 -`);
});

Deno.test("a slice that took long is not made up for in full", async () => {
  const { slices, turns } = await run([1], 1_000);
  const before = turns();
  await slices.next(1e9);
  strictEqual(turns() - before, 60);
});
