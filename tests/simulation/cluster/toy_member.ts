/**
 * A member of a simulated group: a replica over a toy log and a toy state, with the process and the disk around it.
 *
 * Its state is the list of digests that it has applied. A primary answers requests, and believes nothing before it is
 * committed.
 */
import { assert } from "../../../engine/base/assert.ts";
import type { SeededRandom } from "../../../engine/base/random.ts";
import type { Message } from "../../../engine/replication/message.ts";
import {
  EMPTY_LOG,
  type EntryHeader,
  type ReplicatedEntry,
} from "../../../engine/replication/entry_header.ts";
import type { ReplicatedState, SuperblockState, SuperblockStore } from "../../../engine/replication/ports.ts";
import { Replica } from "../../../engine/replication/replica.ts";
import { TICK_MILLISECONDS } from "../../../engine/replication/timeouts.ts";
import type { EventQueue } from "./event_queue.ts";
import { ToyDisk, ToyLog } from "./toy_log.ts";

/** What the members report to the world, which checks it. */
export interface Witness {
  send(from: number, to: number, message: Message): void;
  applied(member: ToyMember, header: EntryHeader): void;
  committed(member: ToyMember, op: number): void;
  acknowledged(header: EntryHeader, view: number): void;
  serves(member: ToyMember, view: number, commit: number): void;
}

interface Life {
  readonly replica: Replica;
  readonly log: ToyLog;
  isSyncing: boolean;
  /** Entries of this primary that wait for their commit. */
  waiting: { readonly header: EntryHeader; readonly view: number }[];
}

/** The digest of the log after an entry: 64 bits, in two halves that are mixed on their own. */
function digestAfter(previous: bigint, op: number, view: number, value: number): bigint {
  const low = Math.imul(Number(previous & 0xffff_ffffn) ^ Math.imul(op, 0x9e37_79b1) ^ view, 0x85eb_ca6b) ^
    value;
  const high = Math.imul(Number(previous >> 32n) ^ Math.imul(value, 0xc2b2_ae35) ^ op, 0x27d4_eb2f) + low;
  return BigInt(high >>> 0) << 32n | BigInt(low >>> 0);
}

/** See the head of the file. */
export class ToyMember implements ReplicatedState {
  readonly index: number;
  readonly disk = new ToyDisk();
  /** Slows all disk work down. */
  diskDelay = 1;
  /** While the process is paused, what arrives waits. */
  pausedUntil = 0;
  readonly #memberCount: number;
  readonly #events: EventQueue;
  readonly #random: SeededRandom;
  readonly #witness: Witness;
  #superblock: SuperblockState = { view: 0, logView: 0, commit: 0, suffix: [] };
  /** The newest write of the superblock, until it is durable. */
  #superblockWrite: SuperblockState | null = null;
  #digests: bigint[] = [];
  /** What the state is busy with. */
  #busy: object | null = null;
  #life: Life | null = null;

  constructor(
    index: number,
    { memberCount, events, random, witness }: {
      memberCount: number;
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
  }

  get replica(): Replica | null {
    return this.#life?.replica ?? null;
  }

  get isUp(): boolean {
    return this.#life !== null;
  }

  /** Starts the process. */
  start(): void {
    assert(this.#life === null, `member ${this.index} runs`);
    this.#digests = [];
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
      now: () => this.#events.now,
      random: (bound) => this.#random.below(bound),
    });
    const life: Life = { replica, log, isSyncing: false, waiting: [] };
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
  }

  /** Gives a message to the process, if it lives; a paused one gets it later. */
  deliver(message: Message): void {
    const life = this.#life;
    if (life === null) return;
    this.#whenAwake(life, () => {
      life.replica.onMessage(message);
      this.#sync(life);
    });
  }

  /** A client's request; a member that is no primary refuses it. */
  request(value: number): void {
    const life = this.#life;
    if (life === null || this.pausedUntil > this.#events.now || !life.replica.canServe) return;
    this.#witness.serves(this, life.replica.view, life.replica.commit);
    const previous = life.replica.lastHeader;
    const op = previous.op + 1;
    const { view } = life.replica;
    const digest = digestAfter(previous.digest, op, view, value);
    const header: EntryHeader = { op, view, digest, previousDigest: previous.digest };
    const entry: ReplicatedEntry = { header, payload: new Uint8Array(0) };
    life.log.write(entry);
    this.#append(header);
    life.waiting.push({ header, view });
    life.replica.onAppended();
    this.#sync(life);
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

  rebuild(op: number): void {
    const kept = this.#digests.slice(0, this.#random.between(0, op));
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
    if (!isPrimary && this.#life !== null) this.#life.waiting = [];
  }

  committed(op: number): void {
    this.#witness.committed(this, op);
    const life = this.#life;
    if (life === null) return;
    for (const { header, view } of life.waiting) {
      if (header.op <= op) this.#witness.acknowledged(header, view);
    }
    life.waiting = life.waiting.filter(({ header }) => header.op > op);
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
    }
    this.#events.after(TICK_MILLISECONDS, () => this.#tick(life));
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
    this.#events.after(this.#random.between(1, 4) * this.diskDelay, () =>
      this.#whenAwake(life, () => {
        life.isSyncing = false;
        life.log.synced(count);
        life.replica.onDurable();
        this.#sync(life);
      }));
  }

  #writeSuperblock(state: SuperblockState): void {
    this.#superblockWrite = state;
    const life = this.#life;
    this.#events.after(this.#random.between(1, 6) * this.diskDelay, () => {
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
