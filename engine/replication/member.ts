/**
 * A member of a group as it runs: its replica, with what happens around it, and the seat of its engine.
 *
 * The replica decides, synchronously; this file brings it what happens (messages, ticks, syncs, appended entries). What
 * takes time is the state's (`ReplicatedEngine`): an entry that is applied in steps, and a state that is built again.
 * While it is, the replica hears nothing, as if messages were lost; what is said only once (a sync, the end of a
 * transfer) it hears afterwards.
 *
 * It moves the engine's commit horizon: answers leave when what they depend on is committed.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { VersionRange } from "../catalog/cluster_version.ts";
import type { Host, TimerId } from "../host/host.ts";
import type { ClusterStatus } from "../system_catalog/cluster_status.ts";
import type { Horizon } from "../storage/commit_horizon.ts";
import type { HashedFile } from "../storage/file_hashes.ts";
import { reportCluster } from "./cluster_report.ts";
import { DiskWatch } from "./disk_watch.ts";
import { LargeEntries } from "./large_entries.ts";
import type { MemberEngine, MemberOptions } from "./member_options.ts";
import type { MemberSeat } from "./member_seat.ts";
import type { PeerMessage } from "./protocol/message.ts";
import { Replica } from "./protocol/replica.ts";
import { ReplicatedEngine, type StateOwner } from "./replicated_engine.ts";
import type { SuperblockListener } from "./superblock.ts";
import { VersionWatch } from "./version_watch.ts";
import { TICK_MILLISECONDS } from "./protocol/timeouts.ts";

/** How long a superblock that found the disk full waits. */
const SUPERBLOCK_RETRY_MICROSECONDS = 500_000;
/** A primary that stops waits no longer for its superblock before it goes. */
const HAND_OVER_MICROSECONDS = 500_000;
const DRAWN_INTEGERS = 64;

/** See the head of the file. */
export class Member<E extends MemberEngine> implements MemberSeat, StateOwner, SuperblockListener {
  /** Resolves with the reason when the member cannot go on and must stop. */
  readonly failed: Promise<DatabaseError>;
  /** What the replica's entries are applied to. */
  readonly state: ReplicatedEngine<E>;
  readonly #options: MemberOptions<E>;
  readonly #announceFailure: (error: DatabaseError) => void;
  #large: LargeEntries | null = null;
  #replica: Replica | null = null;
  /** What happened while the state was built again and is said once, unlike messages: it is heard afterwards. */
  #missed: ((replica: Replica) => void)[] = [];
  #isServing = false;
  /** What was last said of the primary. */
  #knownPrimary: number | null = null;
  #isClosed = false;
  #isLeaving = false;
  /** Ends the ticks. */
  readonly #stopTicks: () => void;
  readonly #disk: DiskWatch;
  readonly #versions: VersionWatch;

  private constructor(options: MemberOptions<E>) {
    this.#options = options;
    this.state = new ReplicatedEngine(options, this);
    this.#disk = new DiskWatch(() => this.#milliseconds(), options.log);
    this.#versions = new VersionWatch(options.peers, options.superblock.identity, options.log);
    const { promise, resolve } = Promise.withResolvers<DatabaseError>();
    this.failed = promise;
    this.#announceFailure = resolve;
    this.#stopTicks = options.host.timers.repeat(TICK_MILLISECONDS * 1000, () => this.#tick());
  }

  /** Opens the engine at what is known to be committed, and joins the group. */
  static async start<E extends MemberEngine>(options: MemberOptions<E>): Promise<Member<E>> {
    const member = new Member(options);
    options.peers.onMessage((message) => member.#orStop(() => member.#onMessage(message)));
    member.#tick();
    try {
      await member.state.open(() => options.openEngine(member));
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
    return this.state.engine;
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

  get horizon(): Horizon {
    return this.state.horizon;
  }

  /** What is committed behind the checkpoint the replica applies. */
  get replayTo(): number {
    return 0;
  }

  get versions(): VersionRange {
    return this.#options.peers.versions;
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
    const { state } = this;
    return reportCluster({
      index: this.index,
      memberCount: superblock.identity.memberCount,
      replica: this.replica,
      peers,
      primaryIndex: this.primaryIndex,
      isRebuilding: state.isRebuilding,
      clusterVersion: state.engineIfOpen?.clusterVersion ?? 0,
      spokenVersion: peers.versions.newest,
      usesReadLease,
      // What reads here see: an entry that is being applied in steps is not among it.
      appliedOp: state.engineIfOpen?.appliedOp ?? 0,
      durableOp: this.engine.storage.log.durableOp,
      transfer: state.transfer.progress,
      checkpoint: state.transfer.proof,
      now: host.clock.monotonic(),
    });
  }

  appended(): void {
    this.hear((replica) => {
      if (replica.isReady) replica.onAppended();
    });
  }

  onDamage(file: HashedFile): void {
    this.state.onDamage(file);
  }

  // --- what the state asks ---

  get index(): number {
    return this.#options.superblock.identity.index;
  }

  get view(): number {
    return this.viewNumber;
  }

  get replicaIfJoined(): Replica | null {
    return this.#replica;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Brings something to the replica, and carries on with what has become possible by it. */
  hear(bring: (replica: Replica) => void): void {
    const replica = this.#replica;
    if (replica === null || this.state.isRebuilding || this.#isClosed) return;
    try {
      bring(replica);
      if (this.state.isRebuilding) return;
      this.horizon.advance(replica.commit);
      if (replica.canServe && !this.#isServing && !this.#isLeaving) {
        this.#isServing = true;
        this.engine.startServing();
        this.#lookAtVersion();
      }
      this.#lookAtPrimary();
    } catch (error) {
      this.fail(error);
    }
  }

  /** The same for what is not said again. */
  hearOnce(bring: (replica: Replica) => void): void {
    if (this.state.isRebuilding) this.#missed.push(bring);
    else this.hear(bring);
  }

  hearMissed(): void {
    for (const bring of this.#missed.splice(0)) this.hearOnce(bring);
    this.hear((replica) => replica.onDurable());
  }

  stopServing(): void {
    if (!this.#isServing) return;
    this.#isServing = false;
    this.engine.stopServing();
  }

  /**
   * What finds the disk full changes nothing, as if the message had been lost: the others go on, and what is missing
   * here comes again. Anything else stops the member.
   */
  fail(error: unknown): void {
    if (!this.#disk.isFull(error)) this.stop(error);
  }

  /** The member cannot go on. */
  stop(cause: unknown): void {
    if (this.#isClosed) return;
    const error = cause instanceof DatabaseError
      ? cause
      : new DatabaseError(SQLSTATE.internalError, `replication failed: ${String(cause)}`, { cause });
    this.#isClosed = true;
    this.state.stop(error);
    this.#announceFailure(error);
  }

  // --- the process ---

  #join(): void {
    const { host, superblock, peers, usesReadLease, largeEntries } = this.#options;
    const log = this.state.memberLog;
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
      state: this.state,
      bus: peers,
      transfer: this.state.transfer,
      readLease: usesReadLease,
      now: () => this.#milliseconds(),
      wallNow: () => host.clock.wall(),
      random: randomIntegers(host.random),
    });
    this.#large = new LargeEntries({
      index: this.index,
      now: () => this.#milliseconds(),
      viewOf: () => this.view,
      send: (to, message) => peers.send(to, message),
      hasEntry: (op, digest) => {
        const slot = log.slot(op);
        return op < log.oldestOp || slot.kind === "present" && slot.header.digest === digest;
      },
      readPiece: (op, digest, offset, bytes) => log.readPiece(op, digest, offset, bytes),
      // A primary's log is its engine's to go on with.
      placeOf: (header, bytes) => this.replica.isPrimary ? null : log.placeOf(header, bytes),
      addPiece: (header, piece) => !this.replica.isPrimary && log.addPiece(header, piece),
      deliver: (message) => this.hear((replica) => replica.onMessage(message)),
    }, largeEntries);
  }

  #onMessage(message: PeerMessage): void {
    if (this.#isClosed) return;
    switch (message.kind) {
      case "checkpoint_files":
      case "file_piece":
        this.state.files.onMessage(message);
    }
    const large = this.#large;
    if (this.state.isRebuilding || large === null) return;
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
        return this.state.transfer.onMessage(message);
      case "request_entry":
        this.hear((replica) => replica.onSign(message));
        return large.onRequestEntry(message);
      case "entry_piece":
        this.hear((replica) => replica.onSign(message));
        return large.onEntryPiece(message);
      case "prepare":
      case "repair_entries":
        if (large.holds(message)) return;
    }
    this.hear((replica) => replica.onMessage(message));
  }

  #tick(): void {
    if (this.#isClosed) return this.#stopTicks();
    this.hear((replica) => replica.onTick());
    this.#orStop(() => {
      this.state.transfer.onTick();
      this.state.files.onTick();
      this.#large?.onTick();
      this.#lookAtDisk();
      this.#lookAtVersion();
    });
  }

  /** What fails in a part of the member is the end of all of it. */
  #orStop(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fail(error);
    }
  }

  #lookAtDisk(): void {
    const storage = this.state.engineIfOpen?.storage ?? null;
    if (this.#isServing && storage !== null && this.#disk.mustHandOver(storage)) {
      this.hear((replica) => replica.handOver());
    }
    this.#disk.checkSyncs(storage?.log ?? null, this.#options.superblock);
  }

  #lookAtVersion(): void {
    const { engineIfOpen } = this.state;
    if (engineIfOpen !== null) this.#versions.look(engineIfOpen, this.#isServing);
  }

  #lookAtPrimary(): void {
    const { primaryIndex } = this;
    if (primaryIndex === this.#knownPrimary) return;
    this.#knownPrimary = primaryIndex;
    this.#options.onPrimaryChanged();
  }

  // --- the superblock ---

  onSuperblockDurable(): void {
    this.hearOnce((replica) => replica.onSuperblockDurable());
  }

  onSuperblockFailed(error: unknown): void {
    this.stop(error);
  }

  onSuperblockFull(error: DatabaseError): void {
    this.fail(error);
    this.#options.host.timers.setTimer(SUPERBLOCK_RETRY_MICROSECONDS, () => {
      if (!this.#isClosed) this.#options.superblock.retry();
    });
  }

  /** Lets another member be the primary at once, if this one is it; for one that is going to be closed. */
  async handOver(): Promise<void> {
    this.#isLeaving = true;
    const { timers } = this.#options.host;
    let timer: TimerId | null = null;
    await new Promise<void>((resolve) => {
      if (this.#isClosed || this.state.isRebuilding || this.#replica?.isPrimary !== true) return resolve();
      timer = timers.setTimer(HAND_OVER_MICROSECONDS, resolve);
      // What was handed to a connection in this turn leaves with it.
      this.hear((replica) => replica.handOver(() => void timers.endOfTurn().then(resolve)));
    });
    if (timer !== null) timers.clearTimer(timer);
    this.stopServing();
  }

  #milliseconds(): number {
    return this.#options.host.clock.monotonic() / 1000;
  }

  #leave(): void {
    this.#isClosed = true;
    this.#stopTicks();
    this.state.close();
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
