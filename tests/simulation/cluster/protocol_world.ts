/**
 * The protocol level of the cluster's simulation: members with toy logs in one virtual time, a network that loses,
 * repeats and delays, and everything that can happen to a process and its disk. One seed is one run.
 *
 * What is checked: committed entries are the same everywhere and stay so; what a client was told is never lost; a
 * backup applies only what is committed; a new primary answers only with all of that; a read sees what any client has
 * seen before it began; and when the faults end, the group goes on and all its logs are equal.
 */
import { assert } from "../../../engine/base/assert.ts";
import { SeededRandom } from "../../../engine/base/random.ts";
import type { Message } from "../../../engine/replication/protocol/message.ts";
import type { EntryHeader } from "../../../engine/replication/protocol/entry_header.ts";
import {
  MAX_PREPARE_ENTRIES,
  RESEND_MILLISECONDS,
  STUCK_MILLISECONDS,
  SYNC_MILLISECONDS,
} from "../../../engine/replication/protocol/timeouts.ts";
import { EventQueue } from "./event_queue.ts";
import { ToyMember, type ToyRead, type Witness } from "./toy_member.ts";

/** What one run did. */
export interface ProtocolResult {
  readonly faults: number;
  readonly commits: number;
  readonly views: number;
  readonly reads: number;
  /** Checkpoints that went from one member to another. */
  readonly transfers: number;
  /** Disks that were replaced. */
  readonly replacedDisks: number;
  /** Equal for two runs of a seed. */
  readonly trace: number;
}

const FAULT_PHASE_MILLISECONDS = 12_000;
const STARVED_MILLISECONDS = 60_000;
const HEALED_MILLISECONDS = 10_000;
/**
 * A member that is behind gets so many entries at least in half of that time: those of one message in the place of each
 * two repetitions, for messages overtake each other, and what comes too early counts when it comes again.
 */
const MIN_CAUGHT_UP_ENTRIES = MAX_PREPARE_ENTRIES * HEALED_MILLISECONDS / 2 / (2 * RESEND_MILLISECONDS);
/** How long the last faults take: see `#lastFault`. */
const LAST_FAULT_MILLISECONDS = { hang: SYNC_MILLISECONDS + 2000, stuck: STUCK_MILLISECONDS + 3000 };

/** One run. */
class ProtocolWorld implements Witness {
  readonly #random: SeededRandom;
  readonly #events = new EventQueue();
  readonly #members: ToyMember[];
  readonly #committed: bigint[] = [];
  readonly #acknowledged: { readonly op: number; readonly view: number }[] = [];
  /** Directions that are cut: `from * 8 + to`. */
  readonly #cuts = new Set<number>();
  readonly #loss: number;
  readonly #duplication: number;
  readonly #maxDelay: number;
  /** Members whose disks may be damaged at the ops of one residue: at most f for each op. */
  readonly #damagedTogether: number;
  /** Whether disks are lost, one after the other has been made up for. */
  readonly #losesDisks: boolean;
  /** How many entries a log keeps before its checkpoint; null without checkpoints. */
  #keptEntries: number | null;
  readonly #readsUnderLease: boolean;
  /**
   * What happens when all else has been made good, and is not: the disk of the primary or of a backup hangs, so that
   * its member must end, or nobody can store the entries of the view and all hear each other, so that its primary must
   * leave it.
   */
  readonly #lastFault: "hang" | "stuck" | null;
  /** The view whose entries nobody can store. */
  #stuckView = -1;
  #isHealed = false;
  #faults = 0;
  #trace = 0;
  #value = 0;
  #reads = 0;
  #transfers = 0;
  #replacedDisks = 0;
  #seenOp = 0;

  constructor(seed: number) {
    const random = new SeededRandom(seed);
    this.#random = random;
    const memberCount = random.below(3) === 0 ? 5 : 3;
    this.#loss = random.below(4) === 0 ? 0 : random.float() * 0.2;
    this.#duplication = random.below(2) === 0 ? 0 : random.float() * 0.1;
    this.#maxDelay = random.below(3) === 0 ? 200 : random.between(2, 20);
    this.#losesDisks = random.below(3) === 0;
    this.#damagedTogether = (memberCount - 1) / 2 - (this.#losesDisks ? 1 : 0);
    this.#keptEntries = random.below(3) === 0 ? null : random.below(80);
    const readLease = random.below(4) > 0;
    this.#readsUnderLease = readLease;
    this.#lastFault = random.below(10) > 0 ? null : random.below(2) === 0 ? "hang" : "stuck";
    this.#members = Array.from(
      { length: memberCount },
      (_, index) =>
        new ToyMember(index, { memberCount, events: this.#events, random, witness: this, readLease }),
    );
  }

  run(): ProtocolResult {
    for (const member of this.#members) member.start();
    this.#requestAgain();
    this.#faultAgain();
    this.#events.runUntil(FAULT_PHASE_MILLISECONDS);
    this.#heal();
    let before = this.#goOn("after the faults have ended");
    if (this.#lastFault !== null) {
      this.#failLast(this.#lastFault);
      before = this.#goOn("after the last fault");
    }
    this.#checkEnd(before);
    const views = Math.max(...this.#members.map((member) => member.replica?.view ?? 0));
    return {
      faults: this.#faults,
      commits: this.#committed.length,
      views,
      reads: this.#reads,
      transfers: this.#transfers,
      replacedDisks: this.#replacedDisks,
      trace: this.#trace,
    };
  }

  /**
   * Lets all go on for a while, in which something must be committed, and until each has what was committed in the
   * middle of it, as long as all come nearer; answers how much that was.
   */
  #goOn(when: string): number {
    this.#pass(HEALED_MILLISECONDS / 2);
    const before = this.#committed.length;
    let behind = this.#members.filter(({ hasHangingDisk }) => !hasHangingDisk);
    do {
      const wanted = behind.map((member) =>
        [member, Math.min(before, appliedCommit(member) + MIN_CAUGHT_UP_ENTRIES)] as const
      );
      this.#pass(HEALED_MILLISECONDS / 2);
      for (const [member, least] of wanted) {
        const op = appliedCommit(member);
        assert(op >= least, `member ${member.index} has op ${op}, not ${least} of ${before} ${when}`);
      }
      behind = behind.filter((member) => appliedCommit(member) < before);
    } while (behind.length > 0);
    assert(this.#committed.length > before, `nothing is committed ${when}`);
    return before;
  }

  #pass(milliseconds: number): void {
    this.#events.runUntil(this.#events.now + milliseconds);
  }

  #failLast(fault: "hang" | "stuck"): void {
    const primary = this.#members.find(({ replica }) => replica?.isPrimary === true);
    assert(primary?.replica?.isPrimary === true, "there is a primary after the faults have ended");
    this.#faults++;
    if (fault === "stuck") this.#stuckView = primary.replica.view;
    else if (this.#random.below(2) === 0) primary.hangDisk();
    else this.#pick().hangDisk();
    // A disk that hangs is one of a minority: the others go on at once.
    if (fault === "hang") this.#goOn("while a disk hangs");
    this.#pass(LAST_FAULT_MILLISECONDS[fault]);
    for (const { index, hasHangingDisk } of this.#members) {
      assert(!hasHangingDisk, `member ${index} goes on though its disk hangs`);
    }
  }

  /** Milliseconds until the next primary serves, after the primary stops in order or is killed. */
  runFailover(isInOrder: boolean): number {
    this.#isHealed = true;
    // A backup that is behind the others' logs would have to fetch a checkpoint first.
    this.#keptEntries = null;
    for (const member of this.#members) member.start();
    this.#requestAgain();
    this.#events.runUntil(5000);
    const primary = this.#members.find((member) => member.replica?.canServe === true);
    assert(primary !== undefined, "there is no primary after 5 s");
    const before = this.#events.now;
    if (isInOrder) primary.handOver(() => this.#events.after(0, () => primary.crash()));
    else primary.crash();
    const isServed = () =>
      this.#members.some(({ replica }) =>
        replica?.canServe === true && (replica.canRead || !this.#readsUnderLease)
      );
    while (!isServed() && this.#events.now < before + 10_000) this.#events.runUntil(this.#events.now + 1);
    return this.#events.now - before;
  }

  /**
   * Views and commits of a minute on a machine with too much to do: each member gets a processor for a moment, and then
   * none for up to a second or more.
   */
  runStarved(): { readonly views: number; readonly commits: number } {
    this.#isHealed = true;
    this.#keptEntries = null;
    for (const member of this.#members) member.start();
    this.#requestAgain();
    for (const member of this.#members) this.#starve(member);
    this.#pass(STARVED_MILLISECONDS);
    const views = Math.max(...this.#members.map((member) => member.replica?.view ?? 0));
    return { views, commits: this.#committed.length };
  }

  #starve(member: ToyMember): void {
    this.#events.after(this.#random.between(20, 200), () => {
      const pause = this.#random.between(600, 1800);
      member.pausedUntil = this.#events.now + pause;
      this.#events.after(pause, () => this.#starve(member));
    });
  }

  // --- what members report ---

  send(from: number, to: number, message: Message): void {
    this.#note(from, to, message.kind.length, message.view);
    if (this.#cuts.has(from * 8 + to)) return;
    if (message.kind === "prepare" && message.view === this.#stuckView) {
      return this.#deliver(to, { ...message, entries: [] });
    }
    if (!this.#isHealed && this.#random.float() < this.#loss) return void this.#faults++;
    this.#deliver(to, message);
    if (!this.#isHealed && this.#random.float() < this.#duplication) {
      this.#faults++;
      this.#deliver(to, message);
    }
  }

  applied(member: ToyMember, header: EntryHeader): void {
    const { replica } = member;
    // While a member starts, it applies what its superblock says is committed.
    if (replica === null || replica.primaryIndex === member.index) return;
    assert(
      header.op <= replica.commit,
      `backup ${member.index} applies op ${header.op} above ${replica.commit}`,
    );
  }

  committed(member: ToyMember, op: number): void {
    for (let at = 1; at <= Math.min(op, member.appliedOp); at++) this.#checkCommitted(member, at);
  }

  acknowledged(header: EntryHeader, view: number): void {
    const { op } = header;
    this.#remember(op, header.digest, "a client");
    this.#acknowledged.push({ op, view });
    this.#seenOp = Math.max(this.#seenOp, op);
    this.#note(op, view, 1, 1);
  }

  get seenOp(): number {
    return this.#seenOp;
  }

  answered({ index }: ToyMember, { op, digest, seenOp }: ToyRead): void {
    assert(op >= seenOp, `a read of member ${index} sees op ${op}, and clients had seen op ${seenOp}`);
    if (op > 0) this.#remember(op, digest, "a reader");
    this.#seenOp = Math.max(this.#seenOp, op);
    this.#reads++;
  }

  diskHangs(member: ToyMember): void {
    member.crash();
    this.#events.after(this.#random.between(1, 50), () => this.#restart(member));
  }

  checkpointOf(index: number): readonly bigint[] | null {
    const member = this.#members[index];
    if (member === undefined || !member.isUp) return null;
    this.#transfers++;
    return member.disk.checkpoint;
  }

  serves(member: ToyMember, view: number, commit: number): void {
    for (let index = this.#acknowledged.length - 1; index >= 0; index--) {
      const seen = this.#acknowledged[index];
      if (seen === undefined || seen.view >= view) continue;
      assert(seen.op <= commit, `primary ${member.index} serves at op ${commit} without op ${seen.op}`);
      const digest = member.digestAt(seen.op);
      assert(digest === this.#committed[seen.op - 1], `primary ${member.index} has another op ${seen.op}`);
      if (index < this.#acknowledged.length - 50) return;
    }
  }

  #checkCommitted(member: ToyMember, op: number): void {
    // What is long known is not compared again and again.
    if (op < this.#committed.length - 200 && this.#committed[op - 1] !== undefined) return;
    const digest = member.digestAt(op);
    if (digest !== undefined) this.#remember(op, digest, `member ${member.index}`);
  }

  #remember(op: number, digest: bigint, name: string): void {
    const known = this.#committed[op - 1];
    assert(known === undefined || known === digest, `${name} has another op ${op} than was committed`);
    if (known !== undefined) return;
    this.#committed[op - 1] = digest;
  }

  #checkEnd(before: number): void {
    for (const member of this.#members) {
      for (let op = 1; op <= before; op++) {
        assert(member.digestAt(op) === this.#committed[op - 1], `member ${member.index} differs at op ${op}`);
      }
    }
    for (const { op } of this.#acknowledged) {
      assert(this.#committed[op - 1] !== undefined, `op ${op} is lost`);
    }
  }

  // --- work and faults ---

  #requestAgain(): void {
    for (const member of this.#members) {
      member.request(++this.#value);
      member.read();
      if (this.#keptEntries !== null && this.#random.below(20) === 0) {
        member.makeCheckpoint(this.#keptEntries);
      }
    }
    this.#events.after(this.#random.between(2, 60), () => this.#requestAgain());
  }

  #deliver(to: number, message: Message): void {
    const delay = this.#isHealed ? this.#random.between(1, 5) : this.#random.between(1, this.#maxDelay);
    const late = !this.#isHealed && this.#random.below(200) === 0 ? 1500 : 0;
    this.#events.after(delay + late, () => this.#members[to]?.deliver(message));
  }

  #faultAgain(): void {
    if (this.#isHealed) return;
    this.#faults++;
    const member = this.#pick();
    switch (this.#random.below(16)) {
      case 0:
      case 1:
      case 2:
        this.#crash(member);
        break;
      case 3:
        // The whole group loses its power.
        if (this.#random.below(3) === 0) { for (const one of this.#members) this.#crash(one); }
        break;
      case 4:
        this.#cut(this.#random.between(50, 4000));
        break;
      case 5:
        member.pausedUntil = this.#events.now + this.#random.between(1, 3000);
        break;
      case 6:
        member.diskDelay = this.#random.below(2) === 0 ? 1 : this.#random.between(5, 300);
        break;
      case 7:
        this.#crashPrimary();
        break;
      case 8:
        this.#cuts.clear();
        break;
      case 9:
        member.jumpWall(this.#random.between(-3_600_000, 3_600_000));
        break;
      case 10:
        member.sleep(this.#random.between(1, 3000));
        break;
      case 11:
        this.#handOver();
        break;
      case 12:
      case 13:
        this.#cutPrimary();
        break;
      case 14:
        if (this.#losesDisks) this.#crash(member, { isDiskLost: true });
        break;
      case 15:
        member.hangDisk();
        this.#events.after(this.#random.between(50, 4000), () => member.freeDisk());
        break;
    }
    this.#events.after(this.#random.between(20, 1200), () => this.#faultAgain());
  }

  #crashPrimary(): void {
    for (const member of this.#members) {
      if (member.replica?.isPrimary) this.#crash(member);
    }
  }

  #handOver(): void {
    for (const member of this.#members) {
      if (!member.replica?.isPrimary) continue;
      member.handOver(() => {});
      this.#events.after(this.#random.between(1, 300), () => this.#crash(member));
    }
  }

  #crash(member: ToyMember, { isDiskLost = false, isShort = false } = {}): void {
    if (!member.isUp || this.#isHealed) return;
    this.#note(member.index, 0, 2, 2);
    member.crash();
    if (isDiskLost && !this.#members.some((one) => one.isBanned)) {
      this.#replacedDisks++;
      member.replaceDisk();
    } else if (this.#random.below(2) === 0) {
      this.#damage(member);
    }
    // Some come back before the others have noticed.
    const milliseconds = isShort || this.#random.below(4) === 0 ? 50 : 2500;
    this.#events.after(this.#random.between(1, milliseconds), () => this.#restart(member));
  }

  #restart(member: ToyMember): void {
    if (!member.isUp) member.start();
  }

  /** Damages entries of the member's log, of each op at f members at most. */
  #damage(member: ToyMember): void {
    const count = this.#members.length;
    const last = member.disk.image.lastOp;
    for (let tries = 0; tries < 3 && last > 0; tries++) {
      const op = Math.max(1, last - this.#random.below(this.#random.below(2) === 0 ? 2 : 30));
      const isAllowed = (member.index + op) % count < this.#damagedTogether;
      if (isAllowed && member.disk.damage(op)) this.#faults++;
    }
  }

  /** Cuts some directions between members, all of them at times, for a while. */
  #cut(milliseconds: number): void {
    const isOneWay = this.#random.below(3) === 0;
    const alone = this.#pick().index;
    for (const { index } of this.#members) {
      if (index === alone) continue;
      if (this.#random.below(5) === 0) continue;
      this.#cuts.add(alone * 8 + index);
      if (!isOneWay) this.#cuts.add(index * 8 + alone);
    }
    this.#events.after(milliseconds, () => this.#cuts.clear());
  }

  /** Cuts the primary off until others want another view, and then lets it hear some of them again. */
  #cutPrimary(): void {
    const primary = this.#members.find((member) => member.replica?.isPrimary === true);
    if (primary === undefined) return;
    for (const { index } of this.#members) this.#setCut(primary.index, index, true);
    const milliseconds = this.#random.between(450, 800);
    this.#events.after(milliseconds, () => {
      for (const member of this.#members) {
        if (this.#random.below(2) === 0) continue;
        this.#setCut(primary.index, member.index, false);
        if (this.#random.below(2) === 0) {
          this.#events.after(this.#random.between(5, 100), () => this.#crash(member, { isShort: true }));
        }
      }
    });
    this.#events.after(milliseconds + this.#random.between(100, 1500), () => this.#cuts.clear());
  }

  #setCut(a: number, b: number, isCut: boolean): void {
    for (const direction of [a * 8 + b, b * 8 + a]) {
      if (isCut && !this.#isHealed) this.#cuts.add(direction);
      else this.#cuts.delete(direction);
    }
  }

  #heal(): void {
    this.#isHealed = true;
    this.#cuts.clear();
    for (const member of this.#members) {
      member.diskDelay = 1;
      member.freeDisk();
      member.pausedUntil = Math.min(member.pausedUntil, this.#events.now);
      this.#restart(member);
    }
  }

  #pick(): ToyMember {
    const member = this.#members[this.#random.below(this.#members.length)];
    assert(member !== undefined, "a group has members");
    return member;
  }

  #note(a: number, b: number, c: number, d: number): void {
    const x = (a * 31 + b) * 31 + c * 17 + d + Math.imul(Math.floor(this.#events.now), 0x9e37);
    this.#trace = (Math.imul(this.#trace ^ x, 0x85eb_ca6b) + 0x1b87) >>> 0;
  }
}

/** Up to here the member has applied what it knows to be committed. */
function appliedCommit({ replica, appliedOp }: ToyMember): number {
  return Math.min(replica?.commit ?? 0, appliedOp);
}

/** Runs a seed; throws what it finds, with the seed in front. */
export function simulateProtocol(seed: number): ProtocolResult {
  try {
    return new ProtocolWorld(seed).run();
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** Milliseconds from the end of a primary, in order or not, until the next one answers reads under its lease. */
export function failoverMilliseconds(seed: number, isInOrder: boolean): number {
  return new ProtocolWorld(seed).runFailover(isInOrder);
}

/** Views and commits of a minute in which nobody gets a processor for long. */
export function starvedViews(seed: number): { readonly views: number; readonly commits: number } {
  return new ProtocolWorld(seed).runStarved();
}

/** Runs a seed twice; the traces must be equal. */
export function simulateProtocolTwice(seed: number): ProtocolResult {
  const result = simulateProtocol(seed);
  assert(simulateProtocol(seed).trace === result.trace, `seed ${seed}: two runs differ`);
  return result;
}
