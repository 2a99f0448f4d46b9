/** A member whose state is built again: what its replica must hear of it, and what was on its way meanwhile. */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { openLoneMember } from "../../tests/support/lone_member.ts";
import { SPOKEN_VERSIONS } from "../catalog/cluster_version.ts";
import { equalBytes } from "../base/bytes.ts";
import { diskError, readWholeFile } from "../host/disk.ts";
import { MemoryDisk, memoryHost } from "../host/memory_host.ts";
import { Engine, type EngineOptions } from "../session/engine.ts";
import { answerOf } from "./testing/donor_answers.ts";
import { CheckpointDonor } from "./files/checkpoint_donor.ts";
import type { ReplicatedEntry } from "./protocol/entry_header.ts";
import { Member } from "./member.ts";
import { MemberLog } from "./member_log.ts";
import type { DoViewChange, PeerMessage } from "./protocol/message.ts";
import { Superblock, SuperblockReports } from "./superblock.ts";
import { until } from "../../tests/support/until.ts";
import { runSql } from "../../tests/support/run_sql.ts";
import { proofOfCheckpoint } from "../storage/manifest.ts";

const VIEW = 1;
const PRIMARY = 1;
const INDEX = 2;

/** A primary that has made a checkpoint in the middle of its log, and can give it away. */
async function primaryWith(disk: MemoryDisk) {
  const engine = await openLoneMember(disk, "primary");
  const session = engine.openSession();
  await runSql(session, "CREATE TABLE t (a int PRIMARY KEY)");
  for (let a = 1; a <= 5; a++) await runSql(session, `INSERT INTO t VALUES (${a})`);
  await engine.checkpoint();
  await runSql(session, "INSERT INTO t VALUES (6)");
  session.close();
  const log = new MemberLog(engine.storage.log);
  const { manifest } = engine.storage;
  ok(manifest !== null && manifest.op > 5 && manifest.op < log.lastOp);
  const donor = new CheckpointDonor({ ...memoryHost(), disk }, "primary");
  return {
    manifest,
    lastOp: log.lastOp,
    entries: (from: number, to: number): ReplicatedEntry[] =>
      Array.from({ length: to - from + 1 }, (_, index) => log.read(from + index)).filter((each) =>
        each !== null
      ),
    digestAt: (op: number) => op === 0 ? log.baseDigest : log.read(op)?.header.digest ?? 0n,
    /** What it answers when it is asked for its checkpoint. */
    answer: (message: PeerMessage, from: number) => answerOf(donor, manifest, message, { from, view: VIEW }),
    close: async () => {
      donor.close();
      await engine.close();
    },
  };
}

type Donor = Awaited<ReturnType<typeof primaryWith>>;

/** A backup of the view, of three members. The others say what the test says. */
async function backupOf(donor: Donor, disk: MemoryDisk, options: Partial<EngineOptions> = {}) {
  const reports = new SuperblockReports();
  const identity = { clusterId: new Uint8Array(16), index: INDEX, memberCount: 3, configurationHash: 1n };
  disk.createDirectory("own");
  const superblock = Superblock.create(disk, "own", identity, reports);
  let later = 0;
  const base = memoryHost();
  const monotonic = () => base.clock.monotonic() + later;
  const host = {
    ...base,
    disk,
    clock: { now: () => base.clock.now(), wall: () => base.clock.wall(), monotonic },
  };
  const sent: PeerMessage[] = [];
  const state = { deliver: (_: PeerMessage) => {}, reopened: Promise.resolve(), answers: true };
  const failures: Error[] = [];
  const member = await Member.start<Engine>({
    host,
    superblock,
    reports,
    directory: "own",
    usesReadLease: true,
    peers: {
      index: INDEX,
      send: (to: number, message: PeerMessage) => {
        sent.push(message);
        const answer = state.answers ? donor.answer(message, to) : null;
        if (answer !== null) setTimeout(() => state.deliver(answer));
      },
      onMessage: (listener: (message: PeerMessage) => void) => state.deliver = listener,
      close: () => {},
      statistics: () => [],
      versions: SPOKEN_VERSIONS,
      spokenVersion: () => null,
      requireVersion: () => {},
    } as never,
    openEngine: async (seat) => {
      const engine = await Engine.open({ host, directory: "own", member: seat, ...options });
      const reopen = engine.reopen.bind(engine);
      engine.reopen = () => state.reopened.then(reopen);
      return engine;
    },
    log: () => {},
    onPrimaryChanged: () => {},
  });
  void member.failed.then((error) => failures.push(error));
  const deliver = (message: PeerMessage) => state.deliver(message);
  deliver({
    kind: "start_view",
    from: PRIMARY,
    view: VIEW,
    commit: 0,
    previousOp: 0,
    previousDigest: donor.digestAt(0),
    headers: [],
  });
  await until(() => member.replica.status === "normal" && member.replica.view === VIEW, "the view");
  return {
    member,
    state,
    sent,
    failures,
    deliver,
    /** The primary sends entries. */
    prepare: (to: number, commit: number) =>
      deliver({
        kind: "prepare",
        from: PRIMARY,
        view: VIEW,
        previousOp: 0,
        previousDigest: donor.digestAt(0),
        entries: donor.entries(1, to),
        commit,
        stamp: 1,
        clock: 0,
      }),
    offer: (from: number) =>
      deliver({
        kind: "checkpoint",
        from,
        view: VIEW,
        oldestOp: donor.manifest.op + 1,
        op: donor.manifest.op,
        digest: donor.digestAt(donor.manifest.op),
      }),
    /** So many milliseconds pass at once. */
    pass: (milliseconds: number) => later += milliseconds * 1000,
    [Symbol.asyncDispose]: () => member.close(),
  };
}

Deno.test("a member that takes a checkpoint for damaged files knows that it is committed, and does not vote against it", async () => {
  const disk = new MemoryDisk();
  const donor = await primaryWith(disk);
  const { op } = donor.manifest;
  try {
    await using backup = await backupOf(donor, disk);
    const { member } = backup;
    // It has acknowledged everything, and knows of little that it is committed.
    backup.prepare(op - 1, 2);
    await until(() => member.engine.appliedOp === 2, "the entries");
    member.state.onIrreparable();
    await until(() => member.engine.appliedOp === op && !member.state.isBusy, "the checkpoint");
    for (const view of [VIEW + 1, VIEW + 3]) {
      backup.deliver({ kind: "start_view_change", from: 0, view, reachedView: view });
    }
    await until(() => backup.sent.some(({ kind }) => kind === "do_view_change"), "the vote");
    const vote = backup.sent.find((message): message is DoViewChange => message.kind === "do_view_change");
    deepStrictEqual([vote?.commit, vote?.slots], [op, []]);
    deepStrictEqual(backup.failures, []);
  } finally {
    await donor.close();
  }
});

Deno.test("a member whose state is built again while it fetches a checkpoint fetches it afterwards", async () => {
  const disk = new MemoryDisk();
  const donor = await primaryWith(disk);
  const { op } = donor.manifest;
  try {
    await using backup = await backupOf(donor, disk);
    const { member, state } = backup;
    state.answers = false;
    for (const from of [0, PRIMARY]) backup.offer(from);
    strictEqual(member.replica.isTransferring, true);
    const gate = Promise.withResolvers<void>();
    state.reopened = gate.promise;
    member.state.rebuild();
    // The other is given up for its silence meanwhile.
    backup.pass(6_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    gate.resolve();
    await until(() => !member.state.isBusy, "the state");
    state.answers = true;
    await until(() => {
      for (const from of [0, PRIMARY]) backup.offer(from);
      return member.engine.appliedOp === op && !member.state.isBusy;
    }, "the checkpoint");
    deepStrictEqual(backup.failures, []);
  } finally {
    await donor.close();
  }
});

Deno.test("a member that fetches a checkpoint already does not fetch another one for a damaged file", async () => {
  const disk = new MemoryDisk();
  const donor = await primaryWith(disk);
  try {
    await using backup = await backupOf(donor, disk);
    const { member } = backup;
    for (const from of [0, PRIMARY]) backup.offer(from);
    member.state.onIrreparable();
    await until(
      () => member.engine.appliedOp === donor.manifest.op && !member.state.isBusy,
      "the checkpoint",
    );
    strictEqual(backup.sent.filter(({ kind }) => kind === "request_checkpoint").length, 1);
    deepStrictEqual(backup.failures, []);
  } finally {
    await donor.close();
  }
});

Deno.test("a backup that has made other checkpoints than the primary takes the primary's", async () => {
  const disk = new MemoryDisk();
  const donor = await primaryWith(disk);
  const proof = proofOfCheckpoint(donor.manifest);
  ok(proof !== null);
  try {
    // Some more of them, as if the primary's disk had been full meanwhile.
    await using backup = await backupOf(donor, disk, { checkpointLogBytes: 100 });
    const { member } = backup;
    const ownProof = () => {
      const { manifest } = member.engine.storage;
      return manifest === null ? null : proofOfCheckpoint(manifest);
    };
    const hear = () =>
      backup.deliver({
        kind: "commit",
        from: PRIMARY,
        view: VIEW,
        op: donor.lastOp,
        digest: donor.digestAt(donor.lastOp),
        commit: donor.lastOp,
        stamp: 1,
        clock: 0,
        checkpoint: proof,
      });
    backup.prepare(donor.lastOp, donor.lastOp);
    await until(
      () => member.engine.appliedOp === donor.lastOp && (ownProof()?.op ?? 0) >= proof.op,
      "the entries",
    );
    ok(ownProof()?.history !== proof.history);
    hear();
    hear();
    await until(
      () => ownProof()?.history === proof.history && !member.state.isBusy,
      "the primary's checkpoint",
    );
    strictEqual(ownProof()?.id, proof.id);
    await until(() => member.engine.appliedOp === donor.lastOp, "what follows it in the log");
    strictEqual(backup.sent.filter(({ kind }) => kind === "request_checkpoint").length, 1);
    deepStrictEqual(backup.failures, []);
  } finally {
    await donor.close();
  }
});

Deno.test("a donor that hears that its file has a wrong hash repairs it, if that is so", async () => {
  const disk = new MemoryDisk();
  const donor = await primaryWith(disk);
  const file = donor.manifest.group?.files.find(({ name }) => name.endsWith(".segment"));
  ok(file !== undefined);
  try {
    await using backup = await backupOf(donor, disk);
    const { member } = backup;
    backup.prepare(donor.lastOp, donor.lastOp);
    await until(() => member.engine.storage.manifest?.op === donor.manifest.op, "the checkpoint");
    const { name, hash, size } = file;
    const path = `own/${name}`;
    const whole = readWholeFile(disk, path);
    const askFor = (offset: number) =>
      backup.deliver({ kind: "request_file", from: 0, view: VIEW, name, hash, offset });
    const questions = () => backup.sent.filter((message) => message.kind === "request_file").length;
    askFor(size);
    await new Promise((resolve) => setTimeout(resolve, 50));
    strictEqual(questions(), 0);
    const rotten = disk.openFile(path, { create: false, write: true });
    rotten.writeAt(size >> 1, Uint8Array.of((whole[size >> 1] ?? 0) ^ 4));
    rotten.close();
    askFor(0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    strictEqual(questions(), 0);
    askFor(size);
    await until(() => equalBytes(readWholeFile(disk, path), whole), "the repair");
    ok(questions() > 0);
    deepStrictEqual(backup.failures, []);
  } finally {
    await donor.close();
  }
});

Deno.test("a member that finds its disk full when its state is built again waits for space", async () => {
  const disk = new MemoryDisk();
  const donor = await primaryWith(disk);
  try {
    await using backup = await backupOf(donor, disk);
    const { member } = backup;
    backup.prepare(donor.lastOp, donor.lastOp);
    await until(() => member.engine.appliedOp === donor.lastOp, "the entries");
    let [isFull, refused] = [true, 0];
    const openFile = disk.openFile.bind(disk);
    disk.openFile = (path, options) => {
      const file = openFile(path, options);
      const writeAt = file.writeAt.bind(file);
      file.writeAt = (position, bytes) => {
        if (!isFull || !path.startsWith("own/log/")) return writeAt(position, bytes);
        refused++;
        throw diskError("write file", path, "ENOSPC", "No space left on device");
      };
      return file;
    };
    member.state.rebuild();
    await until(() => refused > 1 || backup.failures.length > 0, "another try");
    deepStrictEqual([member.state.isRebuilding, backup.failures], [true, []]);
    isFull = false;
    await until(() => !member.state.isRebuilding && !member.state.isBusy, "the state");
    strictEqual(member.engine.appliedOp, donor.lastOp);
    deepStrictEqual(backup.failures, []);
  } finally {
    await donor.close();
  }
});
