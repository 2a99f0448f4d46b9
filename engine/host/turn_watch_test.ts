/** Tests of {@link TurnWatch} and of what it keeps. */
import { deepStrictEqual as same, ok } from "node:assert/strict";
import { nameOf, TurnTimes, TurnWatch } from "./turn_watch.ts";
import { TurnWork, turnWork } from "./turn_work.ts";

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
  times.note(800, 61_000, "checkpoint");
  times.note(51, 62_000, "commit");
  times.note(60, 63_000, "checkpoint");
  times.note(50, 64_000, "query");
  same([...times.longestOf], [["other", 700], ["checkpoint", 800], ["commit", 51]]);
  // After an hour in which nobody looked.
  times.note(1, 3_660_000);
  same(shown(), [800, 1, 5]);
});

Deno.test("TurnWork tells what took longest since the last time, of what counts", () => {
  const work = new TurnWork();
  same(work.take(90, 100), "start");
  same(work.began("query", 100), "other");
  // A checkpoint interrupts a commit, which goes on.
  work.began("commit", 110);
  const before = work.began("checkpoint", 120);
  same([before, work.began(before, 180)], ["commit", "checkpoint"]);
  same(work.take(190, 300), "checkpoint");
  // Nothing before the time that was named counts: here the wait for the query.
  work.began("query", 340);
  work.began("commit", 390);
  same(work.take(400, 500), "query");
  work.began("idle", 410);
  work.began("commit", 501);
  same(work.take(510, 600), "commit");
  same(work.take(900, 1000), "other");
});

Deno.test("TurnWatch sees work that holds the event loop", async () => {
  const watch = new TurnWatch();
  try {
    // On a machine with much to do the thread waits for most of that time.
    while (Math.max(...["test", "test, waiting"].map((name) => watch.times.longestOf.get(name) ?? 0)) < 100) {
      turnWork.began("test");
      const end = performance.now() + 300;
      while (performance.now() < end);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    ok(watch.times.longCount >= 1);
    ok(watch.times.recentMilliseconds >= 100);
    ok(watch.times.longestMilliseconds >= watch.times.longestWorkMilliseconds);
    ok(watch.times.longestWorkMilliseconds > 0);
  } finally {
    watch.close();
  }
});

Deno.test("TurnWatch tells a turn that waits from work, whatever other threads do", async () => {
  const source = "self.postMessage(0); const end = performance.now() + 600; while (performance.now() < end);";
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const watch = new TurnWatch();
  const other = new Worker(url, { type: "module" });
  try {
    await new Promise((resolve) => other.onmessage = resolve);
    turnWork.began("test");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    const { longestOf } = watch.times;
    const seen = (): readonly string[] => [...longestOf.keys()].filter((name) => name.startsWith("test"));
    while (seen().length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    same(seen(), ["test, waiting"]);
    ok(watch.times.longestWorkMilliseconds < 200);
  } finally {
    watch.close();
    other.terminate();
    URL.revokeObjectURL(url);
  }
});

Deno.test("nameOf() tells turns that hardly use a processor from work", () => {
  same([nameOf("commit", 49, 100), nameOf("commit", 51, 100)], ["commit, waiting", "commit"]);
});
