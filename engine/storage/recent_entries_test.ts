/** What stays in memory of a log, and what goes. */
import { strictEqual } from "node:assert/strict";
import { RecentEntries } from "./recent_entries.ts";

interface Entry {
  readonly op: number;
  readonly payload: Uint8Array;
}

function entryOf(op: number, bytes: number): Entry {
  return { op, payload: new Uint8Array(bytes).fill(op) };
}

/** The ops up to the given one that are kept. */
function kept(entries: RecentEntries<Entry>, lastOp: number): number[] {
  return Array.from({ length: lastOp }, (_, index) => index + 1).filter((op) => entries.of(op) !== undefined);
}

Deno.test("RecentEntries keeps the newest bytes, and the newest 4096 entries", () => {
  const entries = new RecentEntries<Entry>(1000);
  for (let op = 1; op <= 12; op++) entries.add(entryOf(op, 100));
  strictEqual(kept(entries, 20).join(), "3,4,5,6,7,8,9,10,11,12");
  entries.add(entryOf(13, 950));
  strictEqual(kept(entries, 20).join(), "13");
  entries.add(entryOf(14, 1001));
  strictEqual(kept(entries, 20).join(), "", "what is larger than all of it is not kept");
  entries.add(entryOf(20, 10));
  strictEqual(kept(entries, 30).join(), "20", "ops between are those of entries that were not to be kept");
  for (let op = 21; op <= 9000; op++) entries.add(entryOf(op, 0));
  strictEqual(entries.of(9000 - 4096), undefined);
  strictEqual(entries.of(9000 - 4095)?.op, 9000 - 4095);
  strictEqual(kept(entries, 9001).length, 4096);
});

Deno.test("RecentEntries forgets what is removed from the log, and keeps what takes its place", () => {
  const entries = new RecentEntries<Entry>(1000);
  for (let op = 1; op <= 15; op++) entries.add(entryOf(op, 100));
  entries.truncateAfter(12);
  strictEqual(kept(entries, 20).join(), "6,7,8,9,10,11,12");
  entries.truncateAfter(3);
  strictEqual(kept(entries, 20).join(), "");
  for (let op = 4; op <= 15; op++) entries.add(entryOf(op, 100));
  strictEqual(kept(entries, 20).join(), "6,7,8,9,10,11,12,13,14,15", "the bytes of those that went are free");
  strictEqual(entries.of(9)?.payload[0], 9);
});
