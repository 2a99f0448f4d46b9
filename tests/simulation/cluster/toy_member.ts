/**
 * A member of a simulated group: a replica over a toy log and a toy state, with the process and the disk around it.
 *
 * Its state is the list of digests that it has applied. A primary answers requests when they are committed, and reads
 * when what they saw is committed, and where it has no lease an entry behind them, as an engine does. Its clocks
 * have a pace of their own; the wall clock jumps, the monotonic one stands still while the machine sleeps.
 */
import { assert } from "../../../engine/base/assert.ts";
import type { SeededRandom } from "../../../engine/base/random.ts";
import type { Message } from "../../../engine/replication/protocol/message.ts";
import {
  EMPTY_LOG,
  type EntryHeader,
  type ReplicatedEntry,
} from "../../../engine/replication/protocol/entry_header.ts";
import {
  type CheckpointName,
  type ReplicatedState,
  type StateTransfer,
  type SuperblockState,
  type SuperblockStore,
  UNKNOWN_VOTE_BAN,
} from "../../../engine/replication/protocol/ports.ts";
import { Replica } from "../../../engine/replication/protocol/replica.ts";
import { PROMISE_MILLISECONDS, TICK_MILLISECONDS } from "../../../engine/replication/protocol/timeouts.ts";
import { SyncWatch } from "../../../engine/replication/sync_watch.ts";
import type { EventQueue } from "./event_queue.ts";
import { ToyDisk, ToyLog } from "./toy_log.ts";

/** What the members report to the world, which checks it. */
export interface Witness {
  send(from: number, to: number, message: Message): void;
  applied(member: ToyMember, header: EntryHeader): void;
  committed(member: ToyMember, op: number): void;
  acknowledged(header: EntryHeader, view: number): void;
  serves(member: ToyMember, view: number, commit: number): void;
  /** The highest op that any client has seen. */
  readonly seenOp: number;
  answered(member: ToyMember, read: ToyRead): void;
  /** A sync of the member does not end: it cannot go on. */
  diskHangs(member: ToyMember): void;
  /** The checkpoint that a member hands out; null when it cannot. */
  checkpointOf(index: number): readonly bigint[] | null;
}

/** A read of a primary's state. */
export interface ToyRead {
  readonly op: number;
  readonly digest: bigint;
  /** What clients had seen when it began: it must see that. */
  readonly seenOp: number;
  /** What must be committed before it is answered: what it saw, or the entry behind it. */
  readonly provenAt: number;
}

interface Life {
  readonly replica: Replica;
  readonly log: ToyLog;
  isSyncing: boolean;
  readonly watches: { readonly log: SyncWatch; readonly superblock: SyncWatch };
  /** How many syncs of the log, and writes of the superblock, have ended. */
  readonly ended: { log: number; superblock: number };
  /** Entries of this primary that wait for their commit. */
  waiting: { readonly header: EntryHeader; readonly view: number }[];
  reads: ToyRead[];
}

/** The digest of the log after an entry: 64 bits, in two halves that are mixed on their own. */
function digestAfter(previous: bigint, op: number, view: number, value: number): bigint {
  const low = Math.imul(Number(previous & 0xffff_ffffn) ^ Math.imul(op, 0x9e37_79b1) ^ view, 0x85eb_ca6b) ^
    value;
  const high = Math.imul(Number(previous >> 32n) ^ Math.imul(value, 0xc2b2_ae35) ^ op, 0x27d4_eb2f) + low;
  return BigInt(high >>> 0) << 32n | BigInt(low >>> 0);
}

const EMPTY_SUPERBLOCK: SuperblockState = { view: 0, logView: 0, commit: 0, suffix: [], voteBan: null };

/** See the head of the file. */
export class ToyMember implements ReplicatedState, StateTransfer {
  readonly index: number;
  disk = new ToyDisk();
  /** Slows all disk work down. */
  diskDelay = 1;
  /** While the process is paused, what arrives waits. */
  pausedUntil = 0;
  /** How far the wall clock is off, and since when. */
  #wallOffset = 0;
  #wallJumpedAt = -Infinity;
  /** How long the machine has slept: the monotonic clock does not count it. */
  #slept = 0;
  /** Pace of the monotonic clock: two of them differ by 5 % at most. */
  readonly #pace: number;
  readonly #readLease: boolean;
  readonly #memberCount: number;
  readonly #events: EventQueue;
  readonly #random: SeededRandom;
  readonly #witness: Witness;
  #superblock: SuperblockState = EMPTY_SUPERBLOCK;
  /** The newest write of the superblock, until it is durable. */
  #superblockWrite: SuperblockState | null = null;
  /** What waits for a disk that hangs; null: it does not. */
  #held: (() => void)[] | null = null;
  #digests: bigint[] = [];
  /** What the state is busy with. */
  #busy: object | null = null;
  #life: Life | null = null;

  constructor(
    index: number,
    { memberCount, events, random, witness, readLease }: {
      memberCount: number;
      readLease: boolean;
      events: EventQueue;
      random: SeededRandom;
      witness: Witness;
    },
  ) {
    this.index = index;
    this.#memberCount = memberCount;
    this.#events = events;
    this.#random = random;
    this.#witness = witness;
    this.#readLease = readLease;
    this.#pace = 0.975 + 0.05 * random.float();
  }

  get replica(): Replica | null {
    return this.#life?.replica ?? null;
  }

  get isUp(): boolean {
    return this.#life !== null;
  }

  /** Whether the disk was replaced, and the member has not made up for that yet. */
  get isBanned(): boolean {
    return this.#superblock.voteBan !== null;
  }

  /** Starts the process. */
  start(): void {
    assert(this.#life === null, `member ${this.index} runs`);
    this.#digests = [...this.disk.checkpoint];
    this.#busy = null;
    const log = new ToyLog(this.disk);
    const superblock: SuperblockStore = {
      read: () => this.#superblock,
      write: (state) => this.#writeSuperblock(state),
    };
    const replica = new Replica({
      identity: { index: this.index, memberCount: this.#memberCount },
      log,
      superblock,
      state: this,
      bus: { send: (to, message) => this.#witness.send(this.index, to, message) },
      transfer: this,
      readLease: this.#readLease,
      now: () => 1e6 + (this.#events.now - this.#slept) * this.#pace,
      wallNow: () => 1e9 + this.#events.now + this.#wallOffset,
      random: (bound) => this.#random.below(bound),
    });
    const life: Life = {
      replica,
      log,
      isSyncing: false,
      watches: { log: new SyncWatch(), superblock: new SyncWatch() },
      ended: { log: 0, superblock: 0 },
      waiting: [],
      reads: [],
    };
    this.#life = life;
    this.#tick(life);
  }

  /** Kills the process; what its disk had not synced may be lost. */
  crash(): void {
    this.#life = null;
    this.disk.crash(this.#random);
    if (this.#superblockWrite !== null && this.#random.below(2) === 0) {
      this.#superblock = this.#superblockWrite;
    }
    this.#superblockWrite = null;
    this.pausedUntil = 0;
    this.#held = null;
  }

  /** No sync that begins from now on ends, until the disk is freed or the process has ended. */
  hangDisk(): void {
    this.#held ??= [];
  }

  get hasHangingDisk(): boolean {
    return this.#held !== null;
  }

  freeDisk(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const run of held) this.#onDisk(1, run);
  }

  #onDisk(milliseconds: number, run: () => void): void {
    if (this.#held !== null) this.#held.push(run);
    else this.#events.after(milliseconds, run);
  }

  /** The disk of a member that does not run is replaced by an empty one. */
  replaceDisk(): void {
    assert(this.#life === null, `member ${this.index} runs`);
    this.disk = new ToyDisk();
    this.#superblock = { ...EMPTY_SUPERBLOCK, voteBan: UNKNOWN_VOTE_BAN };
  }

  /** Sets the wall clock. */
  jumpWall(milliseconds: number): void {
    if (this.pausedUntil > this.#events.now) return;
    this.#wallOffset += milliseconds;
    this.#wallJumpedAt = this.#events.now;
  }

  /**
   * The whole machine stands still for a while. Its clocks show that, for a wall clock that is set back at the same
   * time would hide it from any lease.
   */
  sleep(milliseconds: number): void {
    if (this.#events.now - this.#wallJumpedAt < 2 * PROMISE_MILLISECONDS) return;
    this.pausedUntil = this.#events.now + milliseconds;
    this.#slept += milliseconds;
  }

  /** Gives a message to the process, if it lives; a paused one gets it later. */
  deliver(message: Message): void {
    const life = this.#life;
    if (life === null) return;
    const wait = this.pausedUntil - this.#events.now;
    if (wait > 0) {
      // What has piled up takes a while.
      const at = wait + this.#random.between(0, 30);
      this.#events.after(at, () => this.#life === life && this.deliver(message));
      return;
    }
    life.replica.onMessage(message);
    this.#sync(life);
  }

  /** A client's request; a member that is no primary refuses it. */
  request(value: number): void {
    const life = this.#life;
    if (life === null || this.pausedUntil > this.#events.now || !life.replica.canServe) return;
    this.#witness.serves(this, life.replica.view, life.replica.commit);
    const header = this.#makeEntry(life, value);
    life.waiting.push({ header, view: life.replica.view });
    this.#appended(life);
  }

  #makeEntry({ log, replica }: Life, value: number): EntryHeader {
    const previous = replica.lastHeader;
    const op = previous.op + 1;
    const { view } = replica;
    const digest = digestAfter(previous.digest, op, view, value);
    const header: EntryHeader = { op, view, digest, previousDigest: previous.digest };
    log.write({ header, payload: new Uint8Array(0) });
    this.#append(header);
    return header;
  }

  #appended(life: Life): void {
    life.replica.onAppended();
    this.#sync(life);
  }

  /** A client reads all there is. */
  read(): void {
    const life = this.#life;
    if (life === null || this.pausedUntil > this.#events.now || !life.replica.canServe) return;
    const { seenOp } = this.#witness;
    // What is committed can be answered at once, what the primary has only applied must wait.
    const op = this.#random.below(2) === 0 ? this.appliedOp : Math.min(this.appliedOp, life.replica.commit);
    const digest = this.digestAt(op) ?? EMPTY_LOG.digest;
    if (life.replica.canRead) life.reads.push({ op, digest, seenOp, provenAt: op });
    else {
      life.reads.push({ op, digest, seenOp, provenAt: this.#makeEntry(life, 0).op });
      this.#appended(life);
    }
    this.#answerReads(life);
  }

  /** Makes a checkpoint of what is committed, and forgets the log up to a number of entries before it. */
  makeCheckpoint(keptEntries: number): void {
    const life = this.#life;
    if (life === null || this.pausedUntil > this.#events.now) return;
    if (this.isBusy) return;
    const op = Math.min(life.replica.commit, this.appliedOp);
    if (op <= this.disk.checkpoint.length) return;
    life.log.truncateBefore(Math.max(0, op - keptEntries) + 1, this.#digests.slice(0, op));
  }

  /** Stops in order: the next primary begins at once. */
  handOver(done: () => void): void {
    const life = this.#life;
    if (life === null || this.pausedUntil > this.#events.now) return;
    life.replica.handOver(done);
  }

  // --- checkpoints of other members ---

  /** A toy's checkpoint is its log. */
  readonly proof = null;

  compare(): void {}

  get checkpoint(): CheckpointName | null {
    const { checkpoint } = this.disk;
    return checkpoint.length === 0
      ? null
      : { op: checkpoint.length, digest: checkpoint.at(-1) ?? EMPTY_LOG.digest };
  }

  begin(from: number, { op }: CheckpointName): void {
    const life = this.#life;
    this.#events.after(this.#random.between(5, 400), () => {
      if (life === null || this.#life !== life) return;
      this.#whenAwake(life, () => {
        const checkpoint = this.#witness.checkpointOf(from);
        const isUseful = checkpoint !== null && checkpoint.length >= op &&
          life.replica.wantsCheckpoint(checkpoint.length);
        if (!isUseful) return life.replica.onStateTransferFailed();
        life.log.install(checkpoint);
        this.#digests = [...checkpoint];
        this.#busy = null;
        life.replica.onStateTransferred(checkpoint.length, checkpoint.at(-1) ?? EMPTY_LOG.digest);
      });
    });
  }

  // --- the state ---

  get isBusy(): boolean {
    return this.#busy !== null;
  }

  get appliedOp(): number {
    return this.#digests.length;
  }

  get appliedDigest(): bigint {
    return this.#digests.at(-1) ?? EMPTY_LOG.digest;
  }

  apply({ header }: ReplicatedEntry): void {
    this.#append(header);
    if (this.#random.below(50) === 0) this.#work(() => {});
  }

  rest(): void {
    this.#work(() => {});
  }

  rebuild(): void {
    const kept = this.#digests.slice(0, this.disk.checkpoint.length);
    this.#digests = [];
    this.#work(() => {
      this.#digests = kept;
    });
  }

  #append(header: EntryHeader): void {
    assert(header.op === this.appliedOp + 1, `op ${header.op} is applied after ${this.appliedOp}`);
    this.#digests.push(header.digest);
    this.#witness.applied(this, header);
  }

  /** Is busy for a while; what was under way before is given up. A process that starts does all at once. */
  #work(finish: () => void): void {
    const life = this.#life;
    if (life === null) return finish();
    const work = this.#busy = {};
    this.#events.after(this.#random.between(1, 300), () =>
      this.#whenAwake(life, () => {
        if (this.#busy !== work) return;
        this.#busy = null;
        finish();
        life.replica.onApplied();
        this.#sync(life);
      }));
  }

  roleChanged(isPrimary: boolean): void {
    if (isPrimary || this.#life === null) return;
    this.#life.waiting = [];
    this.#life.reads = [];
  }

  committed(op: number): void {
    this.#witness.committed(this, op);
    const life = this.#life;
    if (life === null) return;
    for (const { header, view } of life.waiting) {
      if (header.op <= op) this.#witness.acknowledged(header, view);
    }
    life.waiting = life.waiting.filter(({ header }) => header.op > op);
    this.#answerReads(life);
  }

  #answerReads(life: Life): void {
    const { commit } = life.replica;
    const isProven = (read: ToyRead) => read.provenAt <= commit;
    const proven = life.reads.filter(isProven);
    life.reads = life.reads.filter((read) => !isProven(read));
    for (const read of proven) this.#witness.answered(this, read);
  }

  /** The digest of the state at an op that has been applied. */
  digestAt(op: number): bigint | undefined {
    return this.#digests[op - 1];
  }

  // --- the process ---

  #tick(life: Life): void {
    if (this.#life !== life) return;
    if (this.pausedUntil <= this.#events.now) {
      life.replica.onTick();
      this.#sync(life);
      if (this.#hasHangingSync(life)) return this.#witness.diskHangs(this);
    }
    this.#events.after(TICK_MILLISECONDS, () => this.#tick(life));
  }

  #hasHangingSync({ watches, ended, isSyncing }: Life): boolean {
    const { now } = this.#events;
    const isWriting = this.#superblockWrite !== null;
    const [log, superblock] = [
      watches.log.isHanging(isSyncing ? ended.log : null, now),
      watches.superblock.isHanging(isWriting ? ended.superblock : null, now),
    ];
    return log || superblock;
  }

  #whenAwake(life: Life, run: () => void): void {
    if (this.#life !== life) return;
    const wait = this.pausedUntil - this.#events.now;
    if (wait > 0) this.#events.after(wait, () => this.#whenAwake(life, run));
    else run();
  }

  #sync(life: Life): void {
    const count = life.log.unsyncedCount;
    if (life.isSyncing || count === 0) return;
    life.isSyncing = true;
    const { generation } = life.log;
    this.#onDisk(this.#random.between(1, 4) * this.diskDelay, () =>
      this.#whenAwake(life, () => {
        life.isSyncing = false;
        life.ended.log++;
        if (life.log.generation === generation) life.log.synced(count);
        life.replica.onDurable();
        this.#sync(life);
      }));
  }

  #writeSuperblock(state: SuperblockState): void {
    this.#superblockWrite = state;
    const life = this.#life;
    this.#onDisk(this.#random.between(1, 6) * this.diskDelay, () => {
      if (life !== null) life.ended.superblock++;
      if (this.#superblockWrite !== state) return;
      if (life !== null && this.#life !== life) return;
      this.#superblock = state;
      this.#superblockWrite = null;
      if (life !== null) {
        this.#whenAwake(life, () => {
          life.replica.onSuperblockDurable();
          this.#sync(life);
        });
      }
    });
  }
}
