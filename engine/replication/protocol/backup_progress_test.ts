/** How far a backup lags, as its primary measures it. */
import { ok, strictEqual } from "node:assert/strict";
import { BackupProgress } from "./backup_progress.ts";
import { RESEND_MILLISECONDS } from "./timeouts.ts";

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

Deno.test("BackupProgress: what a slow backup acknowledges late is not sent again before", () => {
  const progress = new BackupProgress(0, 1);
  progress.acknowledge(0, 0);
  let resends = 0;
  for (let now = 10; now <= 9900; now += 10) {
    progress.sent({ op: now, bytes: 1000, isFetched: false, at: now });
    // A megabyte at a time, which takes so long.
    if (now > 700 && now % 300 === 0) progress.acknowledge(now - 700, now);
    if (now > 2000 && progress.resendWhenStalled(now, now)) resends++;
  }
  strictEqual(resends, 0);
  // What is lost is sent again all the same.
  strictEqual(progress.resendWhenStalled(20_000, 10_050), false);
  strictEqual(progress.resendWhenStalled(20_000, 13_000), true);
  strictEqual(progress.nextOp, progress.acknowledgedOp + 1);
});

Deno.test("BackupProgress sends nothing behind an entry that is fetched", () => {
  const progress = new BackupProgress(0, 5);
  progress.acknowledge(4, 0);
  progress.sent({ op: 5, bytes: 10, isFetched: false, at: 1 });
  strictEqual(progress.isWindowOpen, true);
  progress.sent({ op: 6, bytes: 10, isFetched: true, at: 2 });
  strictEqual(progress.isWindowOpen, false);
  progress.acknowledge(5, 3);
  strictEqual(progress.isWindowOpen, false);
  progress.acknowledge(6, 4);
  strictEqual(progress.isWindowOpen, true);
  // One that was lost comes again.
  progress.sent({ op: 7, bytes: 10, isFetched: true, at: 5 });
  strictEqual(progress.resendWhenStalled(7, 5 + RESEND_MILLISECONDS), true);
  strictEqual(progress.isWindowOpen, true);
});
