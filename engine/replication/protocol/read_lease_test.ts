/** Leases, promises and windows at their bounds. */
import { ok, strictEqual } from "node:assert/strict";
import { BackupProgress } from "./backup_progress.ts";
import { encodeMessage } from "../peers/message_codec.ts";
import type { ReplicaPorts } from "./ports.ts";
import { ReadLease } from "./read_lease.ts";
import {
  LEASE_MILLISECONDS,
  MAX_UNSTORED_COMMITS,
  MAX_WINDOW_BYTES,
  MAX_WINDOW_ENTRIES,
  PROMISE_MILLISECONDS,
  RESEND_MILLISECONDS,
  STAMP_MILLISECONDS,
} from "./timeouts.ts";
import { VotePromise } from "./vote_promise.ts";

/** A lease of member 0, and its clocks. */
function leaseOf(
  memberCount: number,
  readLease = true,
): { lease: ReadLease; time: { now: number; wall: number } } {
  const time = { now: 1000, wall: 5e6 };
  const ports = {
    identity: { index: 0, memberCount },
    readLease,
    now: () => time.now,
    wallNow: () => time.wall,
  } as Partial<ReplicaPorts> as ReplicaPorts;
  return { lease: new ReadLease(ports), time };
}

function pass(time: { now: number; wall: number }, milliseconds: number): void {
  time.now += milliseconds;
  time.wall += milliseconds;
}

Deno.test("ReadLease counts from the stamp, for a quorum, on the larger of both clocks", () => {
  const { lease, time } = leaseOf(5);
  const stamp = lease.stamp();
  pass(time, STAMP_MILLISECONDS - 1);
  strictEqual(lease.stamp(), stamp);
  pass(time, 100);
  lease.echoed(1, stamp);
  strictEqual(lease.isValid, false, "one of four");
  lease.echoed(4, stamp);
  ok(lease.isValid);
  pass(time, LEASE_MILLISECONDS - STAMP_MILLISECONDS - 99.5);
  ok(lease.isValid);
  pass(time, 1);
  strictEqual(lease.isValid, false, "the time is over");

  const later = lease.stamp();
  for (const from of [1, 2]) lease.echoed(from, later);
  ok(lease.isValid);
  time.wall += LEASE_MILLISECONDS;
  strictEqual(lease.isValid, false, "the machine has slept");
  time.wall -= 2 * LEASE_MILLISECONDS;
  strictEqual(lease.isValid, false, "what has expired once does not count again");
  pass(time, STAMP_MILLISECONDS);
  const last = lease.stamp();
  for (const from of [1, 2]) lease.echoed(from, last);
  time.wall -= LEASE_MILLISECONDS;
  ok(lease.isValid, "the wall clock was set back");
  time.now += LEASE_MILLISECONDS;
  strictEqual(lease.isValid, false);
  lease.echoed(3, stamp);
  strictEqual(lease.isValid, false, "an old echo");
});

Deno.test("ReadLease is not used when it is turned off, and always there for one member", () => {
  const { lease } = leaseOf(3, false);
  lease.echoed(1, lease.stamp());
  strictEqual(lease.isValid, false);
  const alone = leaseOf(1, false).lease;
  ok(alone.isValid);
});

Deno.test("VotePromise holds for its time, and ends with its view", () => {
  const promise = new VotePromise(4, 0);
  ok(promise.isRunning(PROMISE_MILLISECONDS - 1), "a restarted member has forgotten what it promised");
  promise.release(3);
  ok(promise.isRunning(10));
  strictEqual(promise.isRunning(PROMISE_MILLISECONDS), false);
  promise.make(5, 1000);
  promise.release(4);
  ok(promise.isRunning(1000 + PROMISE_MILLISECONDS - 1));
  promise.release(5);
  strictEqual(promise.isRunning(1000), false);
});

Deno.test("BackupProgress closes its window by entries and by bytes, and goes back when nothing comes", () => {
  const byEntries = new BackupProgress(0, 11);
  strictEqual(byEntries.isWindowOpen, false, "the view is not acknowledged");
  byEntries.acknowledge(7, 0);
  strictEqual(byEntries.nextOp, 8);
  byEntries.sent({ op: 7 + MAX_WINDOW_ENTRIES - 1, bytes: 1, isFetched: false, at: 0 });
  ok(byEntries.isWindowOpen);
  byEntries.sent({ op: 7 + MAX_WINDOW_ENTRIES, bytes: 1, isFetched: false, at: 0 });
  strictEqual(byEntries.isWindowOpen, false);

  const byBytes = new BackupProgress(0, 1);
  byBytes.acknowledge(0, 0);
  byBytes.sent({ op: 1, bytes: MAX_WINDOW_BYTES - 1, isFetched: false, at: 0 });
  ok(byBytes.isWindowOpen);
  byBytes.sent({ op: 2, bytes: 1, isFetched: false, at: 0 });
  strictEqual(byBytes.isWindowOpen, false);
  byBytes.acknowledge(1, 1);
  ok(byBytes.isWindowOpen);
  byBytes.sent({ op: 3, bytes: MAX_WINDOW_BYTES, isFetched: false, at: 2 });
  strictEqual(byBytes.resendWhenStalled(3, RESEND_MILLISECONDS), false);
  ok(byBytes.resendWhenStalled(3, 1 + RESEND_MILLISECONDS));
  strictEqual(byBytes.nextOp, 2);
  ok(byBytes.isWindowOpen);
});

Deno.test("a vote over a full window and all commits that no superblock has fits into one message", () => {
  const slots = Array.from({ length: MAX_WINDOW_ENTRIES + MAX_UNSTORED_COMMITS }, (_, index) => ({
    kind: "present" as const,
    header: { op: 2 ** 40 + index, view: 2 ** 20, digest: 2n ** 64n - 1n, previousDigest: 2n ** 64n - 1n },
  }));
  const sent = { from: 1, view: 2 ** 20, round: 2 ** 32 - 1 };
  const vote = { ...sent, logView: 2 ** 20, commit: 2 ** 40 - 1, commitDigest: 0n, slots };
  const { length } = encodeMessage(0, { kind: "do_view_change", ...vote });
  ok(length < 256 * 1024, `${length} bytes`);
});
