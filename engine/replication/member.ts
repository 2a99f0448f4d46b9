/**
 * A member of a group as it runs: the replica, with its log, its superblock, the engine's state and its peers.
 *
 * The replica decides, synchronously; this file brings it what happens (messages, ticks, syncs, appended entries) and
 * carries out what takes time: an entry that is applied in steps, and a state that is built again, for which the
 * engine is opened anew. Meanwhile the replica hears nothing, as if messages were lost; what is said only once (a sync,
 * the end of a transfer) it hears afterwards.
 *
 * It moves the engine's commit horizon: answers leave when what they depend on is committed.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { isDiskFull } from "../host/disk.ts";
import type { Host, TimerId } from "../host/host.ts";
import type { ClusterStatus } from "../system_catalog/cluster_status.ts";
import { Horizon } from "../storage/commit_horizon.ts";
import type { Log } from "../storage/log.ts";
import { DamagedFileError } from "../storage/table/damaged_file.ts";
import type { HashedFile } from "../storage/file_hashes.ts";
import type { Manifest } from "../storage/manifest.ts";
import type { StoredPayload } from "../storage/stored_payload.ts";
import { reportCluster, type ReportedPeers } from "./cluster_report.ts";
import { EMPTY_LOG, type EntryHeader, type ReplicatedEntry } from "./protocol/entry_header.ts";
import { LargeEntries, type LargeEntrySizes } from "./large_entries.ts";
import { MemberFiles, type MemberFilesOwner } from "./files/member_files.ts";
import { MemberLog } from "./member_log.ts";
import type { MemberSeat, SeatedEngine } from "./member_seat.ts";
import { MemberTransfer, type TransferOwner } from "./files/member_transfer.ts";
import type { PeerMessage } from "./protocol/message.ts";
import type { CheckpointName, MessageBus, ReplicatedState } from "./protocol/ports.ts";
import { Replica } from "./protocol/replica.ts";
import type { Superblock, SuperblockListener } from "./superblock.ts";
import { SyncWatch } from "./sync_watch.ts";
import { SPARE_LOOK_MILLISECONDS, SYNC_MILLISECONDS, TICK_MILLISECONDS } from "./protocol/timeouts.ts";

/** The engine of a member, with what it is closed by. */
export interface MemberEngine extends SeatedEngine {
  /** Its log is another one after each `reopen`. */
  readonly storage: { readonly log: Log; readonly manifest: Manifest | null };
  close(): Promise<void>;
}

/** The other members. */
export interface Peers extends MessageBus, ReportedPeers {
  /** Takes what they send. */
  onMessage(listener: (message: PeerMessage) => void): void;
  send(to: number, message: PeerMessage): void;
  /** Ends all connections. */
  close(): void;
}

/** How to start a member. */
export interface MemberOptions<E extends MemberEngine> {
  readonly host: Host;
  readonly superblock: Superblock;
  readonly reports: SuperblockReports;
  readonly peers: Peers;
  readonly directory: string;
  /** Whether the primary may read under a lease. */
  readonly usesReadLease: boolean;
  /** How fast files are read to find damage; unless given they are not. */
  readonly scrubBytesPerSecond?: number;
  /** Which entries travel in pieces, and how long those are. */
  readonly largeEntries?: LargeEntrySizes;
  openEngine(seat: MemberSeat): Promise<E>;
  /** Writes one line for people. */
  log(line: string): void;
  /** Another member, or none, is the primary than before: see {@link Member.primaryIndex}. */
  onPrimaryChanged(): void;
}

/** Forwards what a superblock reports to a member that is made after it. */
export class SuperblockReports implements SuperblockListener {
  target: SuperblockListener | null = null;

  onSuperblockDurable(): void {
    this.target?.onSuperblockDurable();
  }

  onSuperblockFailed(error: unknown): void {
    this.target?.onSuperblockFailed(error);
  }
}

/** How often a full disk is said, and handed over for. */
const FULL_DISK_MICROSECONDS = 10_000_000;
/** A primary that stops waits no longer for its superblock before it goes. */
const HAND_OVER_MICROSECONDS = 500_000;
const DRAWN_INTEGERS = 64;

/** See the head of the file. */
export class Member<E extends MemberEngine>
  implements ReplicatedState, MemberSeat, SuperblockListener, TransferOwner, MemberFilesOwner {
  /** Resolves with the reason when the member cannot go on and must stop. */
  readonly failed: Promise<DatabaseError>;
  readonly horizon: Horizon;
  readonly #options: MemberOptions<E>;
  readonly #announceFailure: (error: DatabaseError) => void;
  #engine: E | null = null;
  #log: MemberLog | null = null;
  #transfer: MemberTransfer | null = null;
  readonly #files: MemberFiles;
  #large: LargeEntries | null = null;
  #replica: Replica | null = null;
  /** What the state is busy with; null: nothing. */
  #work: object | null = null;
  /** The entry that is applied in steps. */
  #applying: EntryHeader | null = null;
  #isRebuilding = false;
  #fullAt = -Infinity;
  #handedOverAt = -Infinity;
  /** What happened while the state was built again and is said once, unlike messages: it is heard afterwards. */
  #missed: ((replica: Replica) => void)[] = [];
  /** Another member's checkpoint has taken the place of the own, which the replica has not heard. */
  #taken: CheckpointName | null = null;
  #isServing = false;
  /** What was last said of the primary. */
  #knownPrimary: number | null = null;
  #isClosed = false;
  #isLeaving = false;
  #timer: TimerId | null = null;
  #spareTimer: TimerId | null = null;
  #forgetLog: () => void = () => {};
  readonly #watches = { log: new SyncWatch(), superblock: new SyncWatch() };
  #replayTo: number;

  private constructor(options: MemberOptions<E>) {
    this.#options = options;
    this.#replayTo = options.superblock.read().commit;
    this.horizon = new Horizon(this.#replayTo);
    const { host, directory, scrubBytesPerSecond = 0 } = options;
    this.#files = new MemberFiles({ host, directory, scrubBytesPerSecond, owner: this });
    const { promise, resolve } = Promise.withResolvers<DatabaseError>();
    this.failed = promise;
    this.#announceFailure = resolve;
  }

  /** Opens the engine at what is known to be committed, and joins the group. */
  static async start<E extends MemberEngine>(options: MemberOptions<E>): Promise<Member<E>> {
    const member = new Member(options);
    options.peers.onMessage((message) => member.#orStop(() => member.#onMessage(message)));
    member.#tick();
    try {
      await member.#files.openRepaired(
        async () => void (member.#engine = await options.openEngine(member)),
        (checkpoint) => member.#takeUp(checkpoint),
      );
    } catch (error) {
      member.#leave();
      throw error;
    }
    options.reports.target = member;
    member.#join();
    return member;
  }

  /** The engine, whose state is the member's. */
  get engine(): E {
    assert(this.#engine !== null, "the member has started");
    return this.#engine;
  }

  /** The replica, for what people are shown of it. */
  get replica(): Replica {
    assert(this.#replica !== null, "the member has started");
    return this.#replica;
  }

  /** The member that serves clients, as far as this one knows; null: there is none now. */
  get primaryIndex(): number | null {
    if (this.#isServing) return this.index;
    const replica = this.#replica;
    const isBackup = replica?.status === "normal" && replica.primaryIndex !== this.index;
    return isBackup ? replica.primaryIndex : null;
  }

  /** Whether clients are served here. */
  get isServing(): boolean {
    return this.#isServing;
  }

  // --- what the engine asks ---

  get replayTo(): number {
    return this.#replayTo;
  }

  get viewNumber(): number {
    return this.#replica?.view ?? this.#options.superblock.read().view;
  }

  get canRead(): boolean {
    return this.#replica?.canRead ?? false;
  }

  get staleness(): number {
    return this.#replica?.staleness ?? Infinity;
  }

  status(): ClusterStatus {
    const { peers, host, superblock, usesReadLease } = this.#options;
    return reportCluster({
      index: this.index,
      memberCount: superblock.identity.memberCount,
      replica: this.replica,
      peers,
      primaryIndex: this.primaryIndex,
      isRebuilding: this.#isRebuilding,
      usesReadLease,
      // What reads here see: an entry that is being applied in steps is not among it.
      appliedOp: this.#isRebuilding ? 0 : this.engine.appliedOp,
      durableOp: this.engine.storage.log.durableOp,
      transfer: this.#transfer?.progress ?? null,
      checkpoint: this.#transfer?.proof ?? null,
      now: host.clock.monotonic(),
    });
  }

  appended(): void {
    this.#hear((replica) => {
      if (replica.isReady) replica.onAppended();
    });
  }

  // --- what the replica asks ---

  get isBusy(): boolean {
    return this.#work !== null;
  }

  get appliedOp(): number {
    return this.#isRebuilding ? 0 : this.#applying?.op ?? this.engine.appliedOp;
  }

  get appliedDigest(): bigint {
    return this.#isRebuilding ? EMPTY_LOG.digest : this.#applying?.digest ?? this.engine.appliedDigest;
  }

  apply({ header, payload, largeBytes }: ReplicatedEntry): void {
    const whole = largeBytes === undefined
      ? payload
      : this.#log?.storedPayload(header.op, header.digest) ?? null;
    // The replica finds out that it cannot be read when it asks for the slot again.
    if (whole === null) return;
    const applying = this.#applied(header.op, whole);
    if (applying === null) return this.#checkDigest(header);
    this.#applying = header;
    this.#workUntil(applying, () => {
      this.#applying = null;
      this.#checkDigest(header);
    });
  }

  /** Damage is the same to the replica, whether an entry is applied in one piece or in steps. */
  #applied(op: number, payload: Uint8Array | StoredPayload): Promise<void> | null {
    try {
      return this.engine.applyEntry(op, payload);
    } catch (error) {
      if (error instanceof DamagedFileError) return Promise.reject(error);
      throw error;
    }
  }

  rebuild(op: number): void {
    this.#workUntil(this.#openAgain(op), () => this.#rebuilt());
  }

  roleChanged(isPrimary: boolean): void {
    if (!isPrimary) return this.#stopServing();
    this.#log?.forgetComing();
    this.engine.storage.log.view = this.replica.view;
  }

  committed(): void {
    // Answers leave when the replica is through with what it does: see `#hear`.
  }

  // --- checkpoints of others ---

  get index(): number {
    return this.#options.superblock.identity.index;
  }

  get view(): number {
    return this.viewNumber;
  }

  get manifest(): Manifest | null {
    return this.#isRebuilding || this.#engine === null ? null : this.#engine.storage.manifest;
  }

  continuesLog({ op, digest }: CheckpointName): boolean {
    const log = this.#log;
    if (log === null || log.lastOp <= op) return true;
    const [at, next] = [log.slot(op), log.slot(op + 1)];
    if (at.kind === "present") return at.header.digest === digest;
    return next.kind === "present" && next.header.previousDigest === digest;
  }

  wantsCheckpoint({ op }: CheckpointName): boolean {
    return !this.#isRebuilding && this.replica.wantsCheckpoint(op);
  }

  replaceState({ op }: CheckpointName, replace: () => void): Promise<void> {
    const replaced = this.#openAgain(op, () => {
      replace();
      // A checkpoint is of what is committed.
      this.horizon.advance(op);
    });
    this.#work = replaced;
    return replaced;
  }

  onTransferred(checkpoint: CheckpointName): void {
    this.#work = null;
    this.#taken ??= checkpoint;
    this.#rebuilt();
    this.#hearMissed();
  }

  onDiskFull(error: DatabaseError): void {
    this.#failed(error);
  }

  onTransferFailed(): void {
    this.#hearOnce((replica) => replica.onStateTransferFailed());
  }

  onTransferBroken(error: unknown): void {
    this.#stop(error);
  }

  // --- damaged files ---

  onDamage(file: HashedFile): void {
    this.#files.onDamage(file);
  }

  get donors(): readonly number[] {
    const { peers, superblock } = this.#options;
    const connected = new Set(peers.statistics().flatMap((each) => each.isConnected ? [each.index] : []));
    return Array.from({ length: superblock.identity.memberCount }, (_, index) => index)
      .filter((index) => index !== this.index)
      .sort((a, b) => Number(connected.has(b)) - Number(connected.has(a)));
  }

  send(to: number, message: PeerMessage): void {
    this.#options.peers.send(to, message);
  }

  log(line: string): void {
    this.#options.log(line);
  }

  onRepaired(): void {
    if (!this.#isRebuilding) this.#engine?.filesRepaired();
  }

  /** A primary lets another serve first. Checkpoints come one at a time: what stays damaged is reported again. */
  onIrreparable(): void {
    if (this.#isRebuilding || this.#isClosed || this.replica.isTransferring) return;
    if (this.#isServing) return this.#hear((replica) => replica.handOver());
    const op = this.engine.appliedOp;
    this.#workUntil(
      this.#openAgain(op, async () => this.#takeUp(await this.#files.fetchCheckpoint())),
      () => this.#rebuilt(),
    );
  }

  /** A checkpoint of another member is here; it is of what is committed. */
  #takeUp(checkpoint: CheckpointName): void {
    const { op } = checkpoint;
    this.horizon.advance(op);
    this.#replayTo = Math.max(this.#replayTo, op);
    // A replica that is not there yet will see it.
    if (this.#replica !== null) this.#taken = checkpoint;
  }

  onError(error: unknown): void {
    this.#failed(error);
  }

  // --- the process ---

  #join(): void {
    const { host, superblock, peers, directory, usesReadLease, largeEntries } = this.#options;
    const log = this.#log = new MemberLog(this.engine.storage.log, largeEntries);
    this.#listenToLog();
    const transfer = this.#transfer = new MemberTransfer(
      host,
      directory,
      (to, message) => peers.send(to, message),
      this,
    );
    const { index, memberCount } = superblock.identity;
    this.#replica = new Replica({
      identity: { index, memberCount },
      log,
      superblock: {
        // A checkpoint is installed only of what is committed.
        read: () => {
          const state = superblock.read();
          const commit = Math.max(state.commit, this.engine.appliedOp);
          return { ...state, commit, suffix: state.suffix.filter(({ op }) => op > commit) };
        },
        write: (state) => superblock.write(state),
      },
      state: this,
      bus: peers,
      transfer,
      readLease: usesReadLease,
      now: () => host.clock.monotonic() / 1000,
      wallNow: () => host.clock.wall(),
      random: randomIntegers(host.random),
    });
    this.#large = new LargeEntries({
      index: this.index,
      now: () => host.clock.monotonic() / 1000,
      viewOf: () => this.view,
      send: (to, message) => peers.send(to, message),
      hasEntry: (op, digest) => {
        const slot = log.slot(op);
        return slot.kind === "present" && slot.header.digest === digest;
      },
      readPiece: (op, digest, offset, bytes) => log.readPiece(op, digest, offset, bytes),
      // A primary's log is its engine's to go on with.
      placeOf: (header, bytes) => this.replica.isPrimary ? null : log.placeOf(header, bytes),
      addPiece: (header, piece) => !this.replica.isPrimary && log.addPiece(header, piece),
      deliver: (message) => this.#hear((replica) => replica.onMessage(message)),
    }, largeEntries);
  }

  #onMessage(message: PeerMessage): void {
    if (this.#isClosed) return;
    switch (message.kind) {
      case "checkpoint_files":
      case "file_piece":
        this.#files.onMessage(message);
    }
    const [transfer, large] = [this.#transfer, this.#large];
    if (this.#isRebuilding || transfer === null || large === null) return;
    switch (message.kind) {
      case "request_file":
      case "request_entry":
        this.#replica?.onFetch(message.from);
    }
    switch (message.kind) {
      case "request_checkpoint":
      case "checkpoint_files":
      case "request_file":
      case "file_piece":
        return transfer.onMessage(message);
      case "request_entry":
        this.#hear((replica) => replica.onSign(message));
        return large.onRequestEntry(message);
      case "entry_piece":
        this.#hear((replica) => replica.onSign(message));
        return large.onEntryPiece(message);
      case "prepare":
      case "repair_entries":
        if (large.holds(message)) return;
    }
    this.#hear((replica) => replica.onMessage(message));
  }

  #listenToLog(): void {
    this.#forgetLog();
    const { damaged, checkpointOp } = this.engine.storage.log;
    for (const { from, to, path, start } of damaged) {
      // A checkpoint has what is not above it.
      if (to <= checkpointOp) continue;
      const what = from === to ? `op ${from}` : `ops ${from} to ${to}`;
      this.#options.log(
        `log file "${path}" is damaged at byte offset ${start}: ${what} will be fetched from others`,
      );
    }
    this.#forgetLog = this.engine.storage.log.onDurable(() => this.#hear((replica) => replica.onDurable()));
  }

  #tick(): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.host.timers.setTimer(TICK_MILLISECONDS * 1000, () => this.#tick());
    this.#hear((replica) => replica.onTick());
    this.#orStop(() => {
      this.#transfer?.onTick();
      this.#files.onTick();
      this.#large?.onTick();
      this.#lookAtSpace();
      this.#lookAtSyncs();
    });
  }

  /** What fails in a part of the member is the end of all of it. */
  #orStop(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failed(error);
    }
  }

  /**
   * What finds the disk full changes nothing, as if the message had been lost: the others go on, and what is missing
   * here comes again. Anything else stops the member.
   */
  #failed(error: unknown): void {
    if (!isDiskFull(error)) return this.#stop(error);
    const now = this.#options.host.clock.monotonic();
    if (now - this.#fullAt < FULL_DISK_MICROSECONDS) return;
    this.#fullAt = now;
    this.#options.log(`${error.message}: this member waits for space, and the others go on`);
  }

  /** A primary without space refuses writes, which another member may have space for. */
  #lookAtSpace(): void {
    if (!this.#isServing || !this.engine.storage.log.isFull) return;
    const now = this.#options.host.clock.monotonic();
    if (now - this.#handedOverAt < FULL_DISK_MICROSECONDS) return;
    this.#handedOverAt = now;
    this.#options.log("there is no space for the log: another member is to serve");
    this.#hear((replica) => replica.handOver());
  }

  /** A disk that hangs is the end of this member, for it holds up those that count on it. */
  #lookAtSyncs(): void {
    const { host, superblock } = this.#options;
    const log = this.#isRebuilding ? undefined : this.#engine?.storage.log;
    const now = host.clock.monotonic() / 1000;
    const [isLog, isSuperblock] = [
      this.#watches.log.isHanging(log?.pendingSync ?? null, now),
      this.#watches.superblock.isHanging(superblock.pendingWrite, now),
    ];
    if (!isLog && !isSuperblock) return;
    this.#stop(
      new DatabaseError(
        SQLSTATE.ioError,
        `a sync of the ${isLog ? "log" : "superblock"} has not ended in ${SYNC_MILLISECONDS / 1000} s: ` +
          "the disk hangs, and this member ends",
      ),
    );
  }

  /** Brings something to the replica, and carries on with what has become possible by it. */
  #hear(bring: (replica: Replica) => void): void {
    const replica = this.#replica;
    if (replica === null || this.#isRebuilding || this.#isClosed) return;
    try {
      bring(replica);
      if (this.#isRebuilding) return;
      this.horizon.advance(replica.commit);
      if (replica.canServe && !this.#isServing && !this.#isLeaving) {
        this.#isServing = true;
        this.engine.startServing();
      }
      this.#lookAtPrimary();
      if (this.#spareTimer === null && replica.keepsSpareWaiting) this.#setSpareTimer();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The same for what is not said again. */
  #hearOnce(bring: (replica: Replica) => void): void {
    if (this.#isRebuilding) this.#missed.push(bring);
    else this.#hear(bring);
  }

  #hearMissed(): void {
    for (const bring of this.#missed.splice(0)) this.#hearOnce(bring);
    this.#hear((replica) => replica.onDurable());
  }

  #setSpareTimer(): void {
    this.#spareTimer = this.#options.host.timers.setTimer(SPARE_LOOK_MILLISECONDS * 1000, () => {
      this.#spareTimer = null;
      this.#hear((replica) => replica.onSpareLook());
    });
  }

  #lookAtPrimary(): void {
    const { primaryIndex } = this;
    if (primaryIndex === this.#knownPrimary) return;
    this.#knownPrimary = primaryIndex;
    this.#options.onPrimaryChanged();
  }

  #stopServing(): void {
    if (!this.#isServing) return;
    this.#isServing = false;
    this.engine.stopServing();
  }

  /** The state is busy until then, unless something else comes first. */
  #workUntil(end: Promise<void>, finish: () => void): void {
    const work = this.#work = {};
    end.then(() => {
      if (this.#work !== work) return;
      this.#work = null;
      const wasRebuilding = this.#isRebuilding;
      finish();
      this.#hear((replica) => replica.onApplied());
      if (wasRebuilding) this.#hearMissed();
    }).catch((error) => {
      if (!(error instanceof DamagedFileError) || this.#work !== work) return this.#stop(error);
      // An entry is applied in part: the state is built again as soon as what it needs can be read.
      this.rebuild((this.#applying?.op ?? this.engine.appliedOp + 1) - 1);
    });
  }

  /** The state is there again, from the own checkpoint or another member's. */
  #rebuilt(): void {
    this.#isRebuilding = false;
    const taken = this.#taken;
    this.#taken = null;
    if (taken !== null) this.#hear((replica) => replica.onStateTransferred(taken.op, taken.digest));
  }

  #checkDigest({ op, digest }: EntryHeader): void {
    if (this.engine.appliedDigest === digest) return;
    throw new DatabaseError(
      SQLSTATE.dataCorrupted,
      `the state differs from the group's after op ${op}`,
      {
        hint:
          "Empty the data directory of this member, and start it again: it fetches the state from the others.",
      },
    );
  }

  /** Opens the engine anew, at the op or below; `between`: while nothing is open. */
  async #openAgain(op: number, between: () => void | Promise<void> = () => {}): Promise<void> {
    this.#applying = null;
    this.#isRebuilding = true;
    this.#replayTo = op;
    this.#forgetLog();
    this.#transfer?.giveUp();
    await this.engine.abandon();
    await between();
    await this.#files.openRepaired(() => this.engine.reopen(), (checkpoint) => this.#takeUp(checkpoint));
    this.#log?.attach(this.engine.storage.log);
    this.#listenToLog();
  }

  /** The member cannot go on. */
  #stop(cause: unknown): void {
    if (this.#isClosed) return;
    const error = cause instanceof DatabaseError
      ? cause
      : new DatabaseError(SQLSTATE.internalError, `replication failed: ${String(cause)}`, { cause });
    this.#isClosed = true;
    this.#engine?.storage.log.stop(error);
    this.#announceFailure(error);
  }

  // --- the superblock ---

  onSuperblockDurable(): void {
    this.#hearOnce((replica) => replica.onSuperblockDurable());
  }

  onSuperblockFailed(error: unknown): void {
    this.#stop(error);
  }

  /** Lets another member be the primary at once, if this one is it; for one that is going to be closed. */
  async handOver(): Promise<void> {
    this.#isLeaving = true;
    const { timers } = this.#options.host;
    let timer: TimerId | null = null;
    await new Promise<void>((resolve) => {
      if (this.#isClosed || this.#isRebuilding || this.#replica?.isPrimary !== true) return resolve();
      timer = timers.setTimer(HAND_OVER_MICROSECONDS, resolve);
      // What was handed to a connection in this turn leaves with it.
      this.#hear((replica) => replica.handOver(() => void timers.endOfTurn().then(resolve)));
    });
    if (timer !== null) timers.clearTimer(timer);
    this.#stopServing();
  }

  #leave(): void {
    this.#isClosed = true;
    const { timers } = this.#options.host;
    for (const timer of [this.#timer, this.#spareTimer]) if (timer !== null) timers.clearTimer(timer);
    this.#transfer?.close();
    this.#files.close();
  }

  /** Leaves the group, and makes everything durable. A primary lets another member go on at once. */
  async close(): Promise<void> {
    await this.handOver();
    this.#leave();
    const { superblock, peers } = this.#options;
    peers.close();
    await this.engine.close();
    await superblock.close();
  }
}

/** Random integers below a bound. Each message that is heard draws one: the source is asked for many at a time. */
function randomIntegers(source: Host["random"]): (bound: number) => number {
  const drawn = new Uint32Array(DRAWN_INTEGERS);
  let next = drawn.length;
  return (bound) => {
    if (next === drawn.length) {
      source.fill(new Uint8Array(drawn.buffer));
      next = 0;
    }
    return (drawn[next++] as number) % bound;
  };
}
