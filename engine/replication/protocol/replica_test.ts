/** A replica whose ports answer when the test says so: what comes between two things that belong together. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../base/random.ts";
import { ToyDisk, ToyLog } from "../../../tests/simulation/cluster/toy_log.ts";
import type { EntryHeader } from "./entry_header.ts";
import type { Message } from "./message.ts";
import type { ReplicatedState, SuperblockState } from "./ports.ts";
import { Replica } from "./replica.ts";
import {
  MAX_REPAIR_ENTRIES,
  MAX_START_HEADERS,
  MAX_UNSTORED_COMMITS,
  SPARE_LOOK_MILLISECONDS,
} from "./timeouts.ts";

const INDEX = 2;

/** Headers of one log, from the first op on. */
function headersUpTo(op: number, view: number): EntryHeader[] {
  return Array.from({ length: op }, (_, index) => ({
    op: index + 1,
    view,
    digest: BigInt(index + 1) + 100n,
    previousDigest: index === 0 ? EMPTY : BigInt(index) + 100n,
  }));
}

const EMPTY = new ToyLog(new ToyDisk()).baseDigest;

/** A member of three whose superblock is durable when the test says so. */
function memberOf(disk = new ToyDisk()) {
  const log = new ToyLog(disk);
  const sent: (Message & { readonly to: number })[] = [];
  const begun: number[] = [];
  const cut: { index: number | null } = { index: null };
  let durable: SuperblockState = { view: 0, logView: 0, commit: 0, suffix: [], voteBan: null };
  let written: SuperblockState | null = null;
  let now = 0;
  const random = new SeededRandom(1);
  const applied: EntryHeader[] = [];
  const state = {
    isBusy: false,
    get appliedOp() {
      return applied.length;
    },
    get appliedDigest() {
      return applied.at(-1)?.digest ?? EMPTY;
    },
    apply: ({ header }) => void applied.push(header),
    rest: () => {},
    rebuild: () => void applied.splice(0),
    roleChanged: () => {},
    committed: () => {},
  } as ReplicatedState & { isBusy: boolean };
  const replica = new Replica({
    identity: { index: INDEX, memberCount: 3 },
    log,
    superblock: { read: () => durable, write: (next) => written = next },
    state,
    bus: {
      send: (to, message) => sent.push({ ...message, to }),
      queuedBytes: (to) => to === cut.index ? Infinity : 0,
    },
    transfer: { checkpoint: null, proof: null, compare: () => {}, begin: (from) => void begun.push(from) },
    readLease: true,
    now: () => now,
    wallNow: () => now,
    random: (bound) => random.below(bound),
  });
  const superblockDurable = (): void => {
    if (written === null) return;
    durable = written;
    written = null;
    replica.onSuperblockDurable();
  };
  return {
    replica,
    log,
    sent,
    begun,
    cut,
    state,
    applied,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    tick: () => {
      now += 10;
      replica.onTick();
    },
    /** At the primary: its engine has made an entry. */
    append: (header: EntryHeader) => {
      log.write({ header, payload: new Uint8Array(0) });
      applied.push(header);
      replica.onAppended();
    },
    synced: () => {
      log.synced(log.unsyncedCount);
      replica.onDurable();
    },
    /** The primary of view 1 has sent its log, and so much of it is committed. */
    heartbeat: (headers: readonly EntryHeader[], commit: number) =>
      replica.onMessage({
        kind: "prepare",
        from: 1,
        view: 1,
        previousOp: 0,
        previousDigest: EMPTY,
        entries: headers.map((header) => ({ header, payload: new Uint8Array(0) })),
        commit,
        stamp: 1,
        clock: now,
      }),
    /** Others want the view, whose primary this member is; one knows of no committed entry behind that header. */
    beginView: (view: number, { op: commit, digest }: EntryHeader) => {
      replica.onMessage({ kind: "start_view_change", from: 0, view, reachedView: view });
      superblockDurable();
      // So long it has promised not to vote.
      now += 1000;
      const vote = (round: number): Message => ({
        kind: "do_view_change",
        from: 0,
        view,
        round,
        logView: 0,
        commit,
        commitDigest: digest,
        slots: [],
      });
      replica.onTick();
      replica.onMessage(vote(0));
      const asked = sent.findLast(({ kind }) => kind === "request_vote");
      replica.onMessage(vote(asked?.kind === "request_vote" ? asked.round : 0));
      superblockDurable();
    },
    superblockDurable,
    /** Another member's checkpoint takes the place of the state. */
    transferred: (headers: readonly EntryHeader[]) => {
      const digests = headers.map(({ digest }) => digest);
      log.install(digests);
      applied.splice(0, applied.length, ...headers);
      replica.onStateTransferred(digests.length, digests.at(-1) ?? EMPTY);
    },
    startView: (view: number, headers: readonly EntryHeader[], after = 0) =>
      replica.onMessage({
        kind: "start_view",
        from: view % 3,
        view,
        commit: headers.length,
        previousOp: after,
        previousDigest: headers[after - 1]?.digest ?? EMPTY,
        headers: headers.slice(after),
      }),
  };
}

Deno.test("a checkpoint that comes while a view's log is made durable is not cut by it", () => {
  const member = memberOf();
  member.startView(1, headersUpTo(5, 1));
  member.transferred(headersUpTo(8, 1));
  member.superblockDurable();
  deepStrictEqual([member.replica.status, member.log.lastOp, member.replica.commit], ["view_change", 8, 8]);
  member.startView(1, headersUpTo(9, 1), 8);
  member.superblockDurable();
  deepStrictEqual([member.replica.status, member.replica.view], ["normal", 1]);
  strictEqual(member.sent.findLast(({ kind }) => kind === "prepare_ok")?.view, 1);
});

Deno.test("the log that a view began with does not cut what came behind it in that view", () => {
  const member = memberOf();
  const headers = headersUpTo(9, 1);
  member.startView(1, headers.slice(0, 5));
  member.superblockDurable();
  member.heartbeat(headers, 5);
  member.synced();
  strictEqual(member.replica.lastHeader.op, 9);
  // An older checkpoint of another member is the state, for a damaged file, and the message of before comes once more.
  member.transferred(headers.slice(0, 3));
  member.startView(1, headers.slice(0, 5));
  member.superblockDurable();
  deepStrictEqual([member.replica.status, member.log.lastOp], ["normal", 9]);
});

Deno.test("a follower's state is not the newest while its last entry is applied in steps", () => {
  const member = memberOf();
  const headers = headersUpTo(2, 1);
  member.startView(1, []);
  member.superblockDurable();
  for (let each = 0; each < 2; each++) member.heartbeat(headers, 0);
  const apply = member.state.apply;
  member.state.apply = (entry) => {
    apply(entry);
    member.state.isBusy = entry.header.op === 2;
  };
  member.pass(1000);
  member.heartbeat(headers, 2);
  deepStrictEqual([member.applied.length, member.replica.staleness], [2, 1000]);
  member.state.isBusy = false;
  member.replica.onApplied();
  member.heartbeat(headers, 2);
  strictEqual(member.replica.staleness, 0);
});

Deno.test("damage that is found in what was durable is repaired, before another view begins with it as well", () => {
  for (const isPrimary of [false, true]) {
    const member = memberOf();
    const headers = headersUpTo(9, 1);
    member.startView(1, []);
    member.superblockDurable();
    member.heartbeat(headers, 9);
    member.synced();
    strictEqual(member.applied.length, 9);
    // The first of them is named by nobody.
    const lost = new Set([4, 5]);
    const { slot, read } = member.log;
    const looked: number[] = [];
    member.log.slot = (op) => {
      looked.push(op);
      return lost.has(op) ? { kind: "unreadable" } : slot.call(member.log, op);
    };
    member.log.read = (op) => lost.has(op) ? null : read.call(member.log, op);
    member.log.write = ({ header: { op } }) => lost.delete(op);
    if (isPrimary) member.beginView(2, { ...headers[2] as EntryHeader });
    else {
      const wanted = [4, 5].map((op) => ({ op, header: null }));
      member.replica.onMessage({ kind: "request_prepare", from: 0, view: 1, wanted });
    }
    for (let tick = 0; tick < 40 && lost.size > 0; tick++) {
      member.tick();
      const asked = member.sent.splice(0).findLast((each) => each.kind === "request_prepare");
      if (asked?.kind !== "request_prepare") continue;
      const entries = asked.wanted.map(({ op }) => ({
        entry: { header: headers[op - 1] as EntryHeader, payload: new Uint8Array(0) },
        isCommitted: true,
      }));
      member.replica.onMessage({ kind: "repair_entries", from: 0, view: 1, entries });
    }
    strictEqual(lost.size, 0, `primary: ${isPrimary}`);
    // What was known before is not looked at again.
    member.synced();
    looked.length = 0;
    member.synced();
    ok(looked.every((op) => op > 9), `${looked}`);
    if (!isPrimary) continue;
    member.tick();
    strictEqual(member.replica.isPrimary, true);
  }
});

Deno.test("a primary does not read its log for a backup that is not connected, and goes on when it is", () => {
  const member = memberOf();
  const headers = headersUpTo(3, 1);
  member.startView(1, []);
  member.superblockDurable();
  member.heartbeat(headers, 3);
  member.synced();
  member.beginView(2, headers[2] as EntryHeader);
  const say = (from: number, op: number): void =>
    member.replica.onMessage({ kind: "prepare_ok", from, view: 2, op, stamp: 0 });
  for (const from of [0, 1]) say(from, 3);
  member.cut.index = 1;
  const prepares = () =>
    member.sent.splice(0).filter(({ kind, to }) => kind === "prepare" && to === 1).length;
  member.append(headersUpTo(4, 2)[3] as EntryHeader);
  for (let tick = 0; tick < 100; tick++) {
    member.tick();
    say(0, 4);
  }
  strictEqual(prepares(), 0);
  member.cut.index = null;
  member.tick();
  strictEqual(prepares(), 1);
});

Deno.test("entries that no quorum has in time go to the spare backup with the next ones, or with a tick", () => {
  for (const isTicking of [false, true]) {
    const member = memberOf();
    const headers = headersUpTo(9, 2);
    member.startView(1, []);
    member.superblockDurable();
    member.heartbeat(headers.slice(0, 3), 3);
    member.synced();
    member.beginView(2, headers[2] as EntryHeader);
    const say = (from: number, op: number): void =>
      member.replica.onMessage({ kind: "prepare_ok", from, view: 2, op, stamp: 0 });
    for (const from of [0, 1]) say(from, 3);
    const append = (op: number): void => {
      member.append(headers[op - 1] as EntryHeader);
      member.synced();
    };
    const preparedFor = (index: number) =>
      member.sent.splice(0).flatMap((each) =>
        each.kind === "prepare" && each.to === index ? each.entries.map(({ header }) => header.op) : []
      );
    member.pass(1);
    append(4);
    // A new one has waited for nobody: it has just been sent the beginning of the view.
    preparedFor(1);
    say(0, 4);
    for (const op of [5, 6]) append(op);
    deepStrictEqual(preparedFor(1), []);
    member.pass(SPARE_LOOK_MILLISECONDS);
    append(7);
    deepStrictEqual(preparedFor(1), [], "what was there at the last look is committed");
    if (isTicking) member.tick();
    else {
      member.pass(SPARE_LOOK_MILLISECONDS);
      append(8);
    }
    deepStrictEqual(preparedFor(1), isTicking ? [5, 6, 7] : [5, 6, 7, 8]);
    const { lastOp } = member.log;
    say(0, lastOp);
    member.pass(1);
    append(lastOp + 1);
    deepStrictEqual(preparedFor(1), [], "a turn later it is spare again");
  }
});

Deno.test("a member that is far behind takes what is committed before it joins the view, in bounded messages", () => {
  const member = memberOf();
  const headers = headersUpTo(MAX_START_HEADERS + 300, 1);
  const last = headers.length;
  // The others have committed other entries than these from op 101 on.
  member.startView(1, headers.slice(0, 100));
  member.superblockDurable();
  const other = headersUpTo(120, 1).map((header) =>
    header.op <= 100 ? header : { ...header, digest: header.digest + 5000n }
  );
  member.heartbeat(other, 0);
  member.synced();
  strictEqual(member.log.lastOp, 120);
  const commit = { kind: "commit", from: 0, view: 3, op: last, digest: 0n, commit: last } as const;
  member.replica.onMessage({ ...commit, checkpoint: null, stamp: 1, clock: 0 });
  strictEqual(member.replica.status, "view_change");
  const kinds = new Set<string>();
  for (let turn = 0; turn < 40; turn++) {
    member.tick();
    const sent = member.sent.splice(0);
    for (const { kind } of sent) kinds.add(kind);
    const asked = sent.findLast((each) => each.kind === "request_prepare");
    if (asked?.kind !== "request_prepare") break;
    const entries = asked.wanted.map(({ op }) => ({
      entry: { header: headers[op - 1] as EntryHeader, payload: new Uint8Array(0) },
      isCommitted: true,
    }));
    member.replica.onMessage({ kind: "repair_entries", from: 0, view: 3, entries });
    member.synced();
    if (member.replica.commit >= 300) break;
  }
  ok(
    !kinds.has("request_start_view") && member.replica.commit >= 300,
    `${[...kinds]} ${member.replica.commit}`,
  );
  strictEqual(member.log.slot(101).kind, "present");
  deepStrictEqual(member.log.read(110)?.header.digest, headers[109]?.digest);
  // Now it asks for the view, in which no more than so many headers come.
  member.replica.onMessage({ ...commit, checkpoint: null, stamp: 2, clock: 0 });
  strictEqual(member.sent.findLast(({ kind }) => kind === "request_start_view")?.view, 3);
});

Deno.test("a new primary goes on with what came while its superblock was written for another reason", () => {
  const member = memberOf();
  const headers = headersUpTo(MAX_UNSTORED_COMMITS + 9, 1);
  const own = headers.length - 5;
  member.startView(1, []);
  member.superblockDurable();
  for (let each = 0; each < 2; each++) member.heartbeat(headers.slice(0, own), own);
  member.beginView(2, headers.at(-1) as EntryHeader);
  // So much becomes durable that the superblock is to say so.
  member.synced();
  member.tick();
  const come = (from: number): void => {
    const entries = headers.slice(from).map((header) => ({
      entry: { header, payload: new Uint8Array(0) },
      isCommitted: true,
    }));
    member.replica.onMessage({ kind: "repair_entries", from: 0, view: 1, entries });
  };
  come(own);
  strictEqual(member.replica.isPrimary, false);
  for (let each = 0; each < 2; each++) member.superblockDurable();
  come(own);
  strictEqual(member.replica.isPrimary, true);
});

Deno.test("a new primary gives up its view for a later one, and fetches what is committed in that", () => {
  const member = memberOf();
  const headers = headersUpTo(5, 1);
  member.startView(1, []);
  member.superblockDurable();
  member.heartbeat(headers.slice(0, 3), 3);
  member.synced();
  member.beginView(2, headers[4] as EntryHeader);
  const commit = 3 + MAX_REPAIR_ENTRIES + MAX_START_HEADERS;
  const later = {
    kind: "commit",
    from: 1,
    view: 4,
    op: commit,
    digest: 0n,
    commit,
    stamp: 1,
    clock: 0,
  } as const;
  member.replica.onMessage({ ...later, checkpoint: null });
  const asked = member.sent.at(-1);
  strictEqual(asked?.kind === "request_prepare" && asked.wanted.length, MAX_REPAIR_ENTRIES);
});

Deno.test("a checkpoint that does not come from one member is fetched from another", () => {
  const member = memberOf();
  const offer = (from: number) =>
    member.replica.onMessage({ kind: "checkpoint", from, view: 0, oldestOp: 90, op: 100, digest: 1n });
  for (let turn = 0; turn < 4; turn++) {
    // Member 0 is always the first to say so, and member 1 the last.
    for (const from of [0, 0, 1]) offer(from);
    ok(member.replica.isTransferring);
    // A file of it is damaged there.
    member.replica.onStateTransferFailed();
  }
  deepStrictEqual(member.begun, [1, 0, 1, 0]);
});
