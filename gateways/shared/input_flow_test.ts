/** When input stands still. */
import { deepStrictEqual as same, strictEqual as equal } from "node:assert/strict";
import { InputFlow } from "./input_flow.ts";

function flowWithTurns() {
  const stops: boolean[] = [];
  const turns: (() => void)[] = [];
  const flow = new InputFlow({
    setStopped: (isStopped) => stops.push(isStopped),
    nextSlice: () => new Promise((resolve) => turns.push(resolve)),
  });
  return { flow, stops, turns };
}

/** Work that takes longer than a turn. */
function work(): void {
  for (const end = performance.now() + 2; performance.now() < end;);
}

Deno.test("InputFlow stands still for a turn after bulk data that took long", async () => {
  const { flow, stops, turns } = flowWithTurns();
  flow.process(100, work);
  flow.process(65_536, () => {});
  same(stops, []);
  flow.process(65_536, work);
  flow.process(65_536, work);
  same(stops, [true]);
  equal(turns.length, 1);
  turns[0]?.();
  await Promise.resolve();
  same(stops, [true, false]);
  flow.process(65_536, work);
  same(stops, [true, false, true]);
});

Deno.test("InputFlow goes on when neither requests nor others are waited for", async () => {
  const { flow, stops, turns } = flowWithTurns();
  flow.process(65_536, work);
  flow.setHeld(true);
  turns[0]?.();
  await Promise.resolve();
  same(stops, [true]);
  flow.setHeld(false);
  same(stops, [true, false]);
});
