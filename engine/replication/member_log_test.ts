/** The log of a member as its replica sees it: slots, entries that do not fit, repair, what is below a checkpoint. */
import { deepStrictEqual as equal, ok, strictEqual, throws } from "node:assert/strict";
import { crc32c } from "../base/checksum.ts";
import { DatabaseError } from "../base/errors.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import { digestAfter } from "../operations/history_digest.ts";
import { Log } from "../storage/log.ts";
import type { LogBase } from "../storage/log_recovery.ts";
import { EMPTY_LOG, type ReplicatedEntry } from "./protocol/entry_header.ts";
import { MemberLog } from "./member_log.ts";
import { ViewLog } from "./protocol/view_log.ts";

const OPTIONS = {
  fileBytes: 6144,
  reserveBytes: 512,
  bufferBytes: 1024,
  directWriteBytes: 600,
  member: { keepBytes: 24_576 },
};

const isDamage = (error: unknown) => error instanceof DatabaseError && error.code === "XX001";

/** The entries of a log, each of view op / 10. */
function entriesUpTo(last: number): ReplicatedEntry[] {
  const entries: ReplicatedEntry[] = [];
  let previousDigest = EMPTY_LOG.digest;
  for (let op = 1; op <= last; op++) {
    const payload = new TextEncoder().encode(`entry ${op} `.repeat(10));
    const digest = digestAfter(previousDigest, crc32c(payload), op);
    entries.push({ header: { op, view: Math.floor(op / 10), digest, previousDigest }, payload });
    previousDigest = digest;
  }
  return entries;
}

function open(host: SimulatedHost, base: LogBase = { op: 0 }): { log: Log; member: MemberLog } {
  const log = Log.open(host, "log", base, OPTIONS);
  return { log, member: new MemberLog(log) };
}

/** A log that was closed, with entries of which some are damaged then. */
async function rotten(
  entries: readonly ReplicatedEntry[],
  damaged: readonly number[],
): Promise<SimulatedHost> {
  const host = new SimulatedHost(2);
  const { log, member } = open(host);
  for (const entry of entries) member.write(entry);
  await host.settle(log.close());
  for (const op of damaged) damage(host, op);
  return host;
}

function damage(host: SimulatedHost, op: number): void {
  for (const name of host.disk.list("log")) {
    const bytes = host.disk.contentOf(`log/${name}`);
    const at = new TextDecoder("latin1").decode(bytes).indexOf(`entry ${op} entry`);
    if (at >= 0) host.disk.flipBit(`log/${name}`, at, 0);
  }
}

Deno.test("MemberLog has what is written to it and what the engine appends, and refuses what does not fit", async () => {
  const host = new SimulatedHost(1);
  const entries = entriesUpTo(40);
  const { log, member } = open(host);
  for (const entry of entries.slice(0, 30)) member.write(entry);
  log.view = 3;
  log.append(31, (entries[30] as ReplicatedEntry).payload);
  for (const entry of entries.slice(0, 31)) {
    equal(member.slot(entry.header.op), { kind: "present", header: entry.header });
    equal(member.read(entry.header.op), entry);
  }
  equal([member.slot(0), member.slot(32), member.read(32)], [{ kind: "absent" }, { kind: "absent" }, null]);
  strictEqual(member.isDurable(31), false);
  await host.settle(log.whenDurable(31));
  strictEqual(member.isDurable(31), true);
  const next = entries[31] as ReplicatedEntry;
  for (
    const wrong of [
      { ...next, payload: next.payload.slice(1) },
      {
        header: { ...next.header, digest: digestAfter(next.header.previousDigest ?? 0n, 0, 32) },
        payload: new Uint8Array(0),
      },
      { ...next, header: { ...next.header, digest: 1n } },
      { ...next, header: { ...next.header, previousDigest: 1n } },
      // Whole in itself, but of another log.
      {
        ...next,
        header: { ...next.header, previousDigest: 1n, digest: digestAfter(1n, crc32c(next.payload), 32) },
      },
    ]
  ) throws(() => member.write(wrong), isDamage);
  strictEqual(member.lastOp, 31);
  member.write(next);
  member.truncateAfter(20);
  strictEqual(member.lastOp, 20);
  equal(member.slot(21), { kind: "absent" });
  for (const entry of entries.slice(20)) member.write(entry);
  equal(member.read(40), entries[39]);
});

Deno.test("MemberLog names unreadable entries by their followers, and is durable when a range is whole", async () => {
  const entries = entriesUpTo(60);
  const damaged = [7, 8, 9, 33, 60];
  const host = await rotten(entries, damaged);
  const { member } = open(host);
  const view = new ViewLog(member, 6, [], 60);
  strictEqual(view.solidOp, 6);
  for (const op of damaged) equal(member.slot(op), { kind: "unreadable" });
  for (const op of [...damaged].reverse()) {
    const { header } = entries[op - 1] as ReplicatedEntry;
    // The last one of all is named by nothing here.
    if (op < 60) strictEqual(view.header(op)?.digest, header.digest);
    ok(view.write(entries[op - 1] as ReplicatedEntry));
    equal(member.read(op), entries[op - 1]);
    strictEqual(member.isDurable(op), op !== 9 && op !== 8, `op ${op}`);
  }
  ok(view.advance());
  strictEqual(view.solidOp, 60);
  host.crash();
  strictEqual(new ViewLog(open(host).member, 6, [], 60).solidOp, 60);
});

Deno.test("MemberLog finds rot while it is open, and goes on behind damage that nothing here names", async () => {
  const entries = entriesUpTo(60);
  const host = await rotten(entries, []);
  const { log, member } = open(host);
  damage(host, 12);
  strictEqual(member.read(12), null);
  equal(member.slot(12), { kind: "unreadable" });
  member.write(entries[11] as ReplicatedEntry);
  equal(member.read(12), entries[11]);
  await host.settle(log.close());
  for (const op of [20, 21, 22]) damage(host, op);
  const cut = open(host).member;
  cut.truncateAfter(21);
  equal([cut.slot(20), cut.slot(21), cut.slot(22)].map(({ kind }) => kind), [
    "unreadable",
    "unreadable",
    "absent",
  ]);
  for (const entry of entries.slice(21, 30)) cut.write(entry);
  throws(() => cut.write({ ...entries[20] as ReplicatedEntry, payload: new Uint8Array(3) }), isDamage);
  cut.write(entries[20] as ReplicatedEntry);
  cut.write(entries[19] as ReplicatedEntry);
  host.crash();
  const again = open(host);
  for (const { header, payload } of entries.slice(0, again.log.lastOp)) {
    equal(again.member.read(header.op), { header, payload });
  }
  ok(again.log.lastOp >= 21);
});

Deno.test("MemberLog begins behind what is damaged below the checkpoint", async () => {
  const entries = entriesUpTo(100);
  const host = await rotten(entries, []);
  const base = { op: 80, digest: (entries[79] as ReplicatedEntry).header.digest };
  const { log, member } = open(host, base);
  const { oldestOp } = member;
  ok(oldestOp > 1 && oldestOp < 60, `${oldestOp}`);
  strictEqual(member.baseDigest, (entries[oldestOp - 2] as ReplicatedEntry).header.digest);
  equal(member.slot(oldestOp - 1), { kind: "absent" });
  strictEqual(new ViewLog(member, 10, [], 100).solidOp, 100);
  for (let op = oldestOp; op <= 100; op++) ok(member.isDurable(op) && member.slot(op).kind === "present");
  await host.settle(log.close());
  damage(host, oldestOp);
  damage(host, 55);
  damage(host, 90);
  const { member: again } = open(host, base);
  strictEqual(again.baseDigest, (entries[again.oldestOp - 2] as ReplicatedEntry).header.digest);
  strictEqual(again.read(55), null);
  strictEqual(again.oldestOp, 56);
  strictEqual(again.baseDigest, (entries[54] as ReplicatedEntry).header.digest);
  equal(again.read(56), entries[55]);
  for (const op of [80, 81]) damage(host, op);
  equal([again.read(80), again.read(81)], [null, null]);
  strictEqual(again.oldestOp, 81);
  strictEqual(again.baseDigest, base.digest);
  equal(again.slot(81), { kind: "unreadable" });
  equal(again.slot(90), { kind: "unreadable" });
  equal(again.read(82), entries[81]);
});

Deno.test("MemberLog goes on behind a checkpoint that came from another member", async () => {
  const entries = entriesUpTo(60);
  const base = { op: 45, digest: (entries[44] as ReplicatedEntry).header.digest };
  // Shorter than the checkpoint, longer, and another one, which has to go first.
  for (const [count, isOther] of [[30, false], [60, false], [45, false], [60, true]] as const) {
    const host = await rotten(entries.slice(0, count), []);
    if (isOther) {
      throws(() => open(host, { ...base, digest: 3n }), isDamage);
      Log.remove(host.disk, "log");
    }
    const { member } = open(host, base);
    strictEqual(member.lastOp, isOther || count < 45 ? 45 : count);
    ok(member.oldestOp <= 46);
    for (const entry of entries.slice(member.lastOp)) member.write(entry);
    strictEqual(member.read(60)?.header.digest, entries[59]?.header.digest);
    if (count === 30) {
      strictEqual(member.oldestOp, 46);
      strictEqual(member.baseDigest, base.digest);
    }
  }
});

Deno.test("MemberLog.continues() keeps a log only where it is shown to lead to a checkpoint", async () => {
  const entries = entriesUpTo(20);
  const host = await rotten(entries, [17]);
  const { member } = open(host);
  const digestOf = (op: number) => entries[op - 1]?.header.digest ?? 0n;
  for (const op of [3, 16, 20]) {
    ok(member.continues({ op, digest: digestOf(op) }), `op ${op} is there`);
    ok(!member.continues({ op, digest: 7n }), `op ${op} is another entry`);
  }
  ok(member.continues({ op: 17, digest: digestOf(17) }), "the next entry names the one that cannot be read");
  ok(!member.continues({ op: 17, digest: 7n }));
  ok(!member.continues({ op: 21, digest: 7n }), "it ends before the checkpoint, maybe with other entries");
  // A log that has nothing behind its own checkpoint.
  const bare = open(new SimulatedHost(3), { op: 20, digest: digestOf(20) }).member;
  ok(bare.continues({ op: 20, digest: digestOf(20) }));
  ok(!bare.continues({ op: 20, digest: 7n }));
});
