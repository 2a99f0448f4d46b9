/** Tests of {@link TurnWatch} and of what it keeps. */
import { deepStrictEqual as same, ok } from "node:assert/strict";
import { TurnTimes, TurnWatch } from "./turn_watch.ts";

Deno.test("TurnTimes keeps the longest turn for ever, and a recent one for half to a whole minute", () => {
  const times = new TurnTimes(0);
  const shown = (): readonly number[] => [
    times.longestMilliseconds,
    times.recentMilliseconds,
    times.longCount,
  ];
  times.note(50, 1_000);
  same(shown(), [50, 50, 0]);
  times.note(700, 29_000);
  times.note(3, 30_000);
  same(shown(), [700, 700, 1]);
  times.note(60, 59_999);
  same(shown(), [700, 700, 2]);
  times.note(2, 60_000);
  same(shown(), [700, 60, 2]);
  // After an hour in which nobody looked.
  times.note(1, 3_660_000);
  same(shown(), [700, 1, 2]);
});

Deno.test("TurnWatch sees work that holds the event loop", async () => {
  const watch = new TurnWatch();
  try {
    while (watch.times.longestMilliseconds < 100) {
      const end = performance.now() + 300;
      while (performance.now() < end);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    ok(watch.times.longCount >= 1);
    ok(watch.times.recentMilliseconds >= 100);
  } finally {
    watch.close();
  }
});
