/** Syncs that end late, and never. */
import { ok, strictEqual } from "node:assert/strict";
import { SyncWatch } from "./sync_watch.ts";
import { SYNC_MILLISECONDS, TICK_MILLISECONDS } from "./protocol/timeouts.ts";

Deno.test("SyncWatch counts the time that one sync takes, while the process runs", () => {
  const watch = new SyncWatch();
  let now = 1000;
  const ticks = (milliseconds: number, pending: number | null): boolean => {
    let isHanging = false;
    for (const end = now + milliseconds; now < end; now += TICK_MILLISECONDS) {
      isHanging = watch.isHanging(pending, now) || isHanging;
    }
    return isHanging;
  };
  strictEqual(ticks(2 * SYNC_MILLISECONDS, null), false, "nothing waits");
  strictEqual(ticks(SYNC_MILLISECONDS - 100, 1), false);
  strictEqual(ticks(SYNC_MILLISECONDS - 100, 2), false, "another sync");
  now += 10 * SYNC_MILLISECONDS;
  strictEqual(watch.isHanging(2, now), false, "the process was stopped");
  ok(ticks(200, 2));
  strictEqual(ticks(SYNC_MILLISECONDS, 3), false, "it has ended after all");
});
