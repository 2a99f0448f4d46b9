/** Entries that travel in pieces, from one member's log to another's: losses, damage, other senders, other entries. */
import { deepStrictEqual as equal, ok, strictEqual } from "node:assert/strict";
import { crc32c } from "../base/checksum.ts";
import { SeededRandom } from "../base/random.ts";
import { SimulatedHost } from "../host/simulated_host.ts";
import { digestAfter } from "../operations/history_digest.ts";
import { Log } from "../storage/log.ts";
import { EMPTY_LOG, type ReplicatedEntry } from "./protocol/entry_header.ts";
import { type EntriesMessage, LargeEntries } from "./large_entries.ts";
import { MemberLog } from "./member_log.ts";
import type { PeerMessage, Prepare } from "./protocol/message.ts";

const SIZES = { leastBytes: 1000, pieceBytes: 100 };
const OPTIONS = {
  fileBytes: 16_384,
  reserveBytes: 512,
  bufferBytes: 1024,
  directWriteBytes: 600,
  member: { keepBytes: 65_536 },
};

/** Entries of these sizes, one after the other, that are named by the view. */
function entriesOf(
  sizes: readonly number[],
  { seed = 1, view = 1, after = EMPTY_LOG }: { seed?: number; view?: number; after?: typeof EMPTY_LOG } = {},
): ReplicatedEntry[] {
  const random = new SeededRandom(seed);
  let { op, digest } = after;
  return sizes.map((bytes) => {
    const payload = new Uint8Array(bytes);
    random.fill(payload);
    const previousDigest = digest;
    digest = digestAfter(previousDigest, crc32c(payload), ++op);
    return { header: { op, view, digest, previousDigest }, payload };
  });
}

/** Members with logs and no protocol; messages wait until they are taken. */
class Members {
  time = 0;
  reads = 0;
  readonly waiting: { readonly to: number; readonly message: PeerMessage }[] = [];
  readonly members: readonly {
    readonly host: SimulatedHost;
    readonly engineLog: Log;
    readonly log: MemberLog;
    readonly large: LargeEntries;
    readonly delivered: EntriesMessage[];
  }[];
  readonly views: number[];

  constructor(count: number) {
    this.views = Array.from({ length: count }, () => 1);
    this.members = Array.from({ length: count }, (_, index) => {
      const host = new SimulatedHost(index + 1);
      const engineLog = Log.open(host, "log", { op: 0 }, OPTIONS);
      const log = new MemberLog(engineLog, SIZES);
      const delivered: EntriesMessage[] = [];
      const large = new LargeEntries({
        index,
        viewOf: () => this.views[index] ?? 0,
        now: () => this.time,
        send: (to, message) => void this.waiting.push({ to, message }),
        hasEntry: (op, digest) => {
          const slot = log.slot(op);
          return slot.kind === "present" && slot.header.digest === digest;
        },
        placeOf: (header, bytes) => log.placeOf(header, bytes),
        addPiece: (header, piece) => log.addPiece(header, piece),
        readPiece: (...where) => {
          this.reads++;
          return log.readPiece(...where);
        },
        deliver: (message) => void delivered.push(message),
      }, SIZES);
      return { host, engineLog, log, large, delivered };
    });
  }

  member(index: number): Members["members"][number] {
    const member = this.members[index];
    ok(member !== undefined);
    return member;
  }

  /** What the member would send of its log at the op. */
  prepare(from: number, op: number): Prepare {
    const entry = this.member(from).log.read(op);
    ok(entry !== null && entry.header.previousDigest !== null);
    return {
      kind: "prepare",
      from,
      view: this.views[from] ?? 0,
      previousOp: op - 1,
      previousDigest: entry.header.previousDigest,
      entries: [entry],
      commit: 0,
      stamp: 0,
      clock: 0,
    };
  }

  /** Brings the next message to where it goes; false when there is none. */
  step(isLost = false): boolean {
    const next = this.waiting.shift();
    if (next === undefined) return false;
    const { large } = this.member(next.to);
    if (isLost) return true;
    if (next.message.kind === "request_entry") large.onRequestEntry(next.message);
    else if (next.message.kind === "entry_piece") large.onEntryPiece(next.message);
    return true;
  }

  run(): void {
    while (this.step());
  }

  /** Time passes for all. */
  pass(milliseconds: number): void {
    this.time += milliseconds;
    for (const { large } of this.members) large.onTick();
  }

  /** Writes what was delivered last; whether it was stored. */
  write(index: number): boolean {
    const { delivered, log } = this.member(index);
    const message = delivered.pop();
    ok(message?.kind === "prepare", "a message is whole");
    return message.entries.every((entry) => log.write(entry));
  }

  /** The payload as the member has it in its file. */
  content(index: number, op: number): Uint8Array | undefined {
    const { log } = this.member(index);
    const slot = log.slot(op);
    if (slot.kind !== "present") return undefined;
    return log.storedPayload(op, slot.header.digest)?.read(0, Infinity);
  }
}

function writeAll(log: MemberLog, entries: readonly ReplicatedEntry[]): void {
  for (const entry of entries) ok(log.write(entry));
}

Deno.test("a large entry goes from file to file, and what is sent of it is read once", async () => {
  const members = new Members(3);
  const entries = entriesOf([50, 2345, 60]);
  writeAll(members.member(0).log, entries);
  for (const index of [1, 2]) {
    writeAll(members.member(index).log, entries.slice(0, 1));
    const prepare = members.prepare(0, 2);
    strictEqual(prepare.entries[0]?.payload.length, 0, "it is named only");
    ok(members.member(index).large.holds(prepare));
    ok(members.member(index).large.holds(prepare), "again");
  }
  members.run();
  strictEqual(members.reads, Math.ceil(2345 / SIZES.pieceBytes), "for both");
  for (const index of [1, 2]) {
    strictEqual(members.member(index).delivered.length, 1);
    strictEqual(members.member(index).log.lastOp, 1, "nothing counts before it is written");
    ok(members.write(index));
    equal(members.content(index, 2), entries[1]?.payload);
    ok(!members.member(index).large.holds(members.prepare(0, 2)), "it is here");
    ok(members.member(index).log.write(entries[2] as ReplicatedEntry));
    const { host, engineLog } = members.member(index);
    await host.settle(engineLog.close());
    const again = Log.open(host, "log", { op: 0 }, OPTIONS);
    equal(again.readEntry(2)?.payload, entries[1]?.payload);
    strictEqual(again.digest, entries[2]?.header.digest);
  }
});

Deno.test("pieces that are lost are asked for again, whichever they are", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = new SeededRandom(seed);
    const members = new Members(2);
    const entries = entriesOf([1000 + random.below(4000)], { seed });
    writeAll(members.member(0).log, entries);
    ok(members.member(1).large.holds(members.prepare(0, 1)));
    let sent = 0;
    for (let round = 0; members.member(1).delivered.length === 0; round++) {
      ok(round < 1000, `seed ${seed}`);
      while (members.step(random.below(4) === 0)) sent++;
      // A message of the primary, again and again.
      if (!members.member(1).large.holds(members.prepare(0, 1))) break;
      members.pass(120);
    }
    ok(members.write(1));
    equal(members.content(1, 1), entries[0]?.payload);
    const pieces = Math.ceil((entries[0]?.payload.length ?? 0) / SIZES.pieceBytes);
    ok(sent < pieces * 6, `seed ${seed}: ${sent} messages for ${pieces} pieces`);
  }
});

Deno.test("an entry of which some pieces have come goes on in the next view, from another member", () => {
  const members = new Members(3);
  const entries = entriesOf([50, 5000]);
  for (const index of [0, 2]) writeAll(members.member(index).log, entries);
  writeAll(members.member(1).log, entries.slice(0, 1));
  const { large, delivered } = members.member(1);
  ok(large.holds(members.prepare(0, 2)));
  for (let step = 0; step < 40; step++) members.step();
  strictEqual(delivered.length, 0);
  // The primary is gone, with what it was asked for and had sent.
  members.waiting.length = 0;
  members.views.fill(2);
  const prepare = members.prepare(2, 2);
  ok(large.holds(prepare));
  const asked = members.waiting.map(({ to, message }) => {
    strictEqual(to, 2);
    return message.kind === "request_entry" ? message.offset : -1;
  });
  ok(asked.length > 0 && asked.every((offset) => offset >= 1000), `${asked}`);
  members.run();
  equal(delivered, [prepare], "the newest message");
  ok(members.write(1));
  equal(members.content(1, 2), entries[1]?.payload);
});

Deno.test("what has come is kept while its message is lost, and is not asked for twice", () => {
  const members = new Members(2);
  const entries = entriesOf([1500]);
  writeAll(members.member(0).log, entries);
  const { large, delivered } = members.member(1);
  ok(large.holds(members.prepare(0, 1)));
  members.run();
  // The view has ended meanwhile, so that the message is dropped.
  delivered.length = 0;
  members.views.fill(3);
  ok(large.holds(members.prepare(0, 1)));
  strictEqual(members.waiting.length, 0, "all of it is here");
  ok(members.write(1));
  equal(members.content(1, 1), entries[0]?.payload);

  // A silent sender is given up, and what has come of it stays.
  const [longer] = entriesOf([4000], { after: (entries[0] as ReplicatedEntry).header });
  ok(longer !== undefined && members.member(0).log.write(longer));
  ok(large.holds(members.prepare(0, 2)));
  for (let step = 0; step < 40; step++) members.step();
  members.waiting.length = 0;
  members.pass(6000);
  ok(large.holds(members.prepare(0, 2)));
  const first = members.waiting[0]?.message;
  ok(first?.kind === "request_entry" && first.offset >= 1000);
  members.run();
  ok(members.write(1));
  equal(members.content(1, 2), longer.payload);
});

Deno.test("another entry of the op, of a later view, takes the place of one that has come in part", () => {
  for (const isLarge of [true, false]) {
    const members = new Members(3);
    const [first] = entriesOf([50]);
    ok(first !== undefined);
    const [old] = entriesOf([3000], { after: first.header, seed: 5 });
    const [other] = entriesOf([isLarge ? 2000 : 200], { after: first.header, seed: 6, view: 2 });
    ok(old !== undefined && other !== undefined);
    writeAll(members.member(0).log, [first, old]);
    writeAll(members.member(2).log, [first, other]);
    writeAll(members.member(1).log, [first]);
    const { large, log } = members.member(1);
    const before = members.prepare(0, 2);
    ok(large.holds(before));
    for (let step = 0; step < 40; step++) members.step();
    members.views.fill(2);
    strictEqual(large.holds(members.prepare(2, 2)), isLarge);
    if (!isLarge) ok(log.write(other));
    members.run();
    if (isLarge) ok(members.write(1));
    const entry = log.read(2);
    strictEqual(entry?.header.digest, other.header.digest);
    // What is late of the old one changes nothing.
    ok(!large.holds(before), "it has no place");
    strictEqual(log.slot(2).kind, "present");
    strictEqual(log.read(2)?.header.digest, other.header.digest);
    if (!isLarge) equal(entry?.payload, other.payload);
    else equal(members.content(1, 2), other.payload);
  }
});

Deno.test("an entry with no place is left to the protocol: behind a gap, or in the place of another", () => {
  const members = new Members(2);
  const entries = entriesOf([50, 60, 2000]);
  writeAll(members.member(0).log, entries);
  writeAll(members.member(1).log, entries.slice(0, 1));
  const prepare = members.prepare(0, 3);
  ok(!members.member(1).large.holds(prepare), "there is a gap");
  ok(!members.member(1).log.write(prepare.entries[0] as ReplicatedEntry), "nothing is stored of a name");
  const [rival] = entriesOf([70], { after: (entries[0] as ReplicatedEntry).header, seed: 9 });
  ok(rival !== undefined && members.member(1).log.write(rival));
  ok(!members.member(1).large.holds(prepare), "the log goes another way");
  strictEqual(members.member(1).log.lastOp, 2);
  strictEqual(members.waiting.length, 0);
});

Deno.test("pieces of an entry that is cut off, truncated or overtaken are gone without a trace", async () => {
  const members = new Members(2);
  const entries = entriesOf([50, 60, 3000]);
  writeAll(members.member(0).log, entries);
  writeAll(members.member(1).log, entries.slice(0, 2));
  const { large, log, engineLog, host } = members.member(1);
  ok(large.holds(members.prepare(0, 3)));
  for (let step = 0; step < 30; step++) members.step();
  log.truncateAfter(1);
  members.run();
  strictEqual(members.member(1).delivered.length, 0, "no piece finds its entry");
  strictEqual(log.lastOp, 1);
  ok(log.write(entries[1] as ReplicatedEntry));
  ok(large.holds(members.prepare(0, 3)));
  for (let step = 0; step < 30; step++) members.step();
  await host.settle(engineLog.whenDurable(2));
  // The power goes: what has come in part is no record.
  host.crash();
  const again = Log.open(host, "log", { op: 0 }, OPTIONS);
  strictEqual(again.lastOp, 2);
  equal(again.damaged, []);
});

Deno.test("bytes that are not those of the name are not taken, and the sender finds its own damage", () => {
  const members = new Members(2);
  const entries = entriesOf([50, 3000]);
  const { log, host } = members.member(0);
  writeAll(log, entries);
  writeAll(members.member(1).log, entries.slice(0, 1));
  const prepare = members.prepare(0, 2);
  const name = host.disk.list("log")[0] ?? "";
  const bytes = host.disk.contentOf(`log/${name}`);
  const start = (entries[1] as ReplicatedEntry).payload.subarray(1000, 1008);
  const at = bytes.findIndex((_, index) => start.every((byte, offset) => bytes[index + offset] === byte));
  ok(at > 0);
  host.disk.flipBit(`log/${name}`, at, 3);
  ok(members.member(1).large.holds(prepare));
  members.run();
  if (members.member(1).delivered.length > 0) ok(!members.write(1), "what came is something else");
  strictEqual(members.member(1).log.lastOp, 1);
  equal(log.slot(2), { kind: "unreadable" });
  strictEqual(log.read(2), null);
});

Deno.test("a damaged place is filled by a large entry, and the end of a log that cannot be read", async () => {
  for (const damaged of [2, 3]) {
    const members = new Members(2);
    const entries = entriesOf(damaged === 2 ? [50, 3000, 60] : [50, 60, 3000]);
    writeAll(members.member(0).log, entries);
    const { host, engineLog } = members.member(1);
    writeAll(members.member(1).log, entries);
    await host.settle(engineLog.close());
    const name = host.disk.list("log")[0] ?? "";
    const bytes = host.disk.contentOf(`log/${name}`);
    const start = (entries[damaged - 1] as ReplicatedEntry).payload.subarray(1000, 1008);
    const at = bytes.findIndex((_, index) => start.every((byte, offset) => bytes[index + offset] === byte));
    host.disk.flipBit(`log/${name}`, at, 3);
    const again = Log.open(host, "log", { op: 0 }, OPTIONS);
    const { log, large } = members.member(1);
    log.attach(again);
    equal(log.slot(damaged), { kind: "unreadable" });
    ok(large.holds(members.prepare(0, damaged)));
    members.run();
    ok(members.write(1));
    equal(log.read(damaged)?.header, entries[damaged - 1]?.header);
    equal(again.damaged, []);
    equal(members.content(1, damaged), entries[damaged - 1]?.payload);
  }
});
