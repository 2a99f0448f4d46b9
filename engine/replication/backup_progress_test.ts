/** How far a backup lags, as its primary measures it. */
import { ok, strictEqual } from "node:assert/strict";
import { BackupProgress } from "./backup_progress.ts";

Deno.test("BackupProgress: a backup that is always a bit behind lags by that bit, one that stands still by more and more", () => {
  const progress = new BackupProgress(0, 1);
  const acknowledge = (op: number, { commit, now }: { commit: number; now: number }): number => {
    progress.acknowledge(op, now);
    progress.measureLag(commit, now);
    return progress.lagMilliseconds(commit, now);
  };
  strictEqual(acknowledge(0, { commit: 0, now: 5 }), 0);
  // An entry each millisecond, of which the backup has those of 20 ms before.
  let most = 0;
  for (let now = 100; now < 1100; now++) {
    const lag = acknowledge(now - 20, { commit: now, now });
    if (now > 200) {
      most = Math.max(most, lag);
      ok(lag >= 20, `${lag} ms`);
    }
  }
  ok(most <= 41, `${most} ms`);
  for (let now = 1100; now < 3100; now += 50) acknowledge(1079, { commit: 1100, now });
  const lag = progress.lagMilliseconds(1100, 3100);
  ok(lag >= 2000 && lag <= 2045, `${lag} ms`);
  strictEqual(acknowledge(1100, { commit: 1100, now: 3200 }), 0);
  // Without writes nothing ages.
  strictEqual(progress.lagMilliseconds(1100, 90_000), 0);
});
