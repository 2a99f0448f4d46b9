/**
 * What the parts of a replica share: its place in the group, its view, its log and how far that is committed.
 *
 * The parts are `Backup`, `Primary`, `ViewChange`, `LogRepair` and `DiskRecovery`; `Replica` gives them their events.
 */
import { assert } from "../../base/assert.ts";
import { EMPTY_LOG, type EntryHeader } from "./entry_header.ts";
import type { Message } from "./message.ts";
import { Patience } from "./patience.ts";
import { type ReplicaPorts, type SuperblockState, UNKNOWN_VOTE_BAN, type VoteBan } from "./ports.ts";
import {
  APPLY_MILLISECONDS,
  MAX_START_HEADERS,
  MAX_UNSTORED_COMMITS,
  MAX_WINDOW_ENTRIES,
  SILENCE_JITTER_MILLISECONDS,
  SILENCE_MILLISECONDS,
} from "./timeouts.ts";
import { ViewLog } from "./view_log.ts";
import { VotePromise } from "./vote_promise.ts";

/**
 * - `normal`: primary or backup of the view.
 * - `view_change`: voted for the view, which has not begun here. Also a primary that was restarted or has stepped down.
 * - `recovering`: a replaced disk, which does not know yet what it had acknowledged.
 */
export type ReplicaStatus = "normal" | "view_change" | "recovering";

/** See the head of the file. */
export class ReplicaCore {
  readonly ports: ReplicaPorts;
  readonly index: number;
  readonly quorum: number;
  readonly log: ViewLog;
  readonly promise: VotePromise;
  readonly patience = new Patience();
  status: ReplicaStatus = "normal";
  view: number;
  commit: number;
  voteBan: VoteBan | null;
  /** Whether this member orders the entries of its view. */
  isPrimary = false;
  /** This primary's state is that of its whole log. */
  isReady = false;
  heardAt: number;
  silenceMilliseconds: number;
  /** The highest commit number that another member has told. */
  heardCommit = 0;
  /** Something that this member should have is missing: peers are asked at the end of the event. */
  isRepairWanted = false;
  #storedCommit: number;
  /** What follows when the superblock that is being written is durable. */
  #afterSuperblock: (() => void) | null = null;

  constructor(ports: ReplicaPorts) {
    const { index, memberCount } = ports.identity;
    assert([1, 3, 5].includes(memberCount), `a group has 1, 3 or 5 members, not ${memberCount}`);
    assert(index >= 0 && index < memberCount, `no member has the index ${index}`);
    this.ports = ports;
    this.index = index;
    this.quorum = (memberCount + 1) / 2;
    const stored = ports.superblock.read();
    this.view = stored.view;
    this.#storedCommit = stored.commit;
    // A checkpoint has committed entries only.
    this.commit = Math.max(stored.commit, ports.log.oldestOp - 1);
    this.voteBan = stored.voteBan;
    this.log = new ViewLog(ports.log, stored.logView, stored.suffix, this.commit);
    this.promise = new VotePromise(stored.view, ports.now());
    // Alone, it has promised nothing.
    if (memberCount === 1) this.promise.release(stored.view);
    this.heardAt = ports.now();
    this.silenceMilliseconds = this.drawSilence();
    if (stored.voteBan?.op === UNKNOWN_VOTE_BAN.op) {
      this.status = "recovering";
    } else if (this.view > this.log.logView || this.isPrimaryOfView) {
      // A restarted primary has lost its sessions and what it had promised them: it leaves the view to another.
      this.status = "view_change";
      this.silenceMilliseconds = this.isPrimaryOfView ? 0 : this.silenceMilliseconds;
    }
  }

  get isPrimaryOfView(): boolean {
    return this.primaryOf(this.view) === this.index;
  }

  /** The header of the newest op of this member's log. */
  get lastHeader(): EntryHeader {
    return this.log.header(this.log.lastOp) ?? EMPTY_LOG;
  }

  /** Committed ops that this member has durable: what its superblock may call committed. */
  get durableCommit(): number {
    return Math.min(this.commit, this.log.solidOp);
  }

  /** Whether this member lacks more committed entries than a view can begin with here. */
  get isFarBehind(): boolean {
    return this.heardCommit - this.commit > MAX_START_HEADERS;
  }

  /** Another member has said that everything up to the op is committed; whether this one is far behind that. */
  hearCommit(op: number): boolean {
    this.heardCommit = Math.max(this.heardCommit, op);
    if (this.isFarBehind) this.isRepairWanted = true;
    return this.isFarBehind;
  }

  /** Whether the superblock is being written, and something waits for it. */
  get isWritingSuperblock(): boolean {
    return this.#afterSuperblock !== null;
  }

  /** Whether this member may vote for its view. */
  get mayVote(): boolean {
    return this.status === "view_change" && this.view > this.log.logView && this.voteBan === null &&
      !this.isWritingSuperblock && !this.promise.isRunning(this.ports.now());
  }

  primaryOf(view: number): number {
    return view % this.ports.identity.memberCount;
  }

  // --- the state ---

  /** Remembers that everything up to the op is committed, and applies what is here. */
  commitUpTo(op: number): void {
    this.learnCommit(op);
    this.apply();
  }

  /** Remembers that everything up to the op is committed; whoever calls this sees to it that it is applied soon. */
  learnCommit(op: number): void {
    if (op <= this.commit) return;
    this.commit = op;
    this.ports.state.committed(op);
  }

  /**
   * Applies what is committed. A primary's state is that of its whole log: it applies what its view began with, and
   * then makes its entries itself, which may be committed before it has applied all of a large one.
   */
  apply(): void {
    const { state } = this.ports;
    const last = this.isPrimary ? this.log.lastOp : Math.min(this.commit, this.log.lastOp);
    const end = this.ports.now() + APPLY_MILLISECONDS;
    while (!this.isReady && !state.isBusy && state.appliedOp < last) {
      if (!this.#applyNext()) return;
      // Others would hear nothing of this member, nor it of them.
      if (state.appliedOp < last && !state.isBusy && this.ports.now() >= end) state.rest();
    }
    if (state.isBusy) return;
    if (this.isPrimary && !this.isReady && state.appliedOp >= last) {
      this.isReady = true;
      state.roleChanged(true);
    }
  }

  /** Applies the next entry of the log; false when it cannot be read. */
  #applyNext(): boolean {
    const { state } = this.ports;
    const op = state.appliedOp + 1;
    if (this.log.slot(op).kind !== "present") return false;
    const entry = this.log.read(op);
    if (entry === null) {
      this.isRepairWanted = true;
      return false;
    }
    state.apply(entry);
    // The bytes of a large one may turn out to be unreadable.
    if (state.appliedOp === op) return true;
    this.log.damaged(op);
    this.isRepairWanted = true;
    return false;
  }

  /** A primary of before has applied entries that the new view may go without. */
  keepOrRebuildState(): void {
    const { state } = this.ports;
    if (this.log.header(state.appliedOp)?.digest !== state.appliedDigest) state.rebuild();
  }

  // --- views ---

  /** Takes no part in a view any more; a primary is one no longer, and its lease ends. */
  leaveNormal(): void {
    if (this.status === "normal") this.patience.lost(this.ports.now());
    const wasReady = this.isReady;
    this.isPrimary = false;
    this.isReady = false;
    this.status = "view_change";
    if (wasReady) this.ports.state.roleChanged(false);
  }

  /** The view has begun here, with its log. */
  beginNormal(): void {
    this.status = "normal";
    this.patience.begun(this.ports.now());
    // The view was voted for: what a primary of before counted on is over.
    this.promise.release(this.view - 1);
  }

  heard(): void {
    this.heardAt = this.ports.now();
    this.silenceMilliseconds = this.drawSilence();
  }

  /** How much longer than usual a silent member is waited for; not at all longer where it is gone. */
  patienceWith(index: number): number {
    const isConnected = (this.ports.bus.queuedBytes?.(index) ?? 0) < Infinity;
    return isConnected ? this.patience.factor(this.ports.now()) : 1;
  }

  drawSilence(): number {
    return SILENCE_MILLISECONDS + this.ports.random(SILENCE_JITTER_MILLISECONDS);
  }

  // --- the superblock ---

  /**
   * Makes this view's log the member's own: first the superblock names it, then what differs is removed. Up to
   * `joinedOp` the member's entries are those of the view.
   */
  adoptLog(joinedOp: number, headers: readonly EntryHeader[], then: () => void): void {
    const floor = this.durableCommit;
    const suffix = [
      ...this.log.headersBetween(floor, joinedOp),
      ...headers.filter((header) => header.op > Math.max(floor, joinedOp)),
    ];
    const head = Math.max(joinedOp, headers.at(-1)?.op ?? 0);
    const ban = this.voteBan;
    // The log that a later view begins with has everything that matters of the one before.
    if (ban !== null && ban.view < this.view) this.voteBan = { view: this.view, op: Math.min(ban.op, head) };
    this.writeSuperblock({ logView: this.view, suffix }, () => {
      this.log.adopt(this.view, suffix, { commit: this.commit, head });
      then();
    });
  }

  /** Writes the superblock; a write that is under way is overtaken, and what was to follow it does not. */
  writeSuperblock({ logView, suffix }: Pick<SuperblockState, "logView" | "suffix">, then: () => void): void {
    this.#afterSuperblock = then;
    this.#storedCommit = this.durableCommit;
    this.ports.superblock.write({
      view: this.view,
      logView,
      commit: this.#storedCommit,
      suffix,
      voteBan: this.voteBan,
    });
  }

  /** Writes the superblock without a change of the log. */
  storeState(then: () => void): void {
    this.writeSuperblock({ logView: this.log.logView, suffix: this.log.suffixToKeep(this.commit) }, then);
  }

  /** Nothing is to follow the superblock that is being written: the log that it was about is another one now. */
  forgetWhatFollows(): void {
    if (this.isWritingSuperblock) this.#afterSuperblock = () => {};
  }

  onSuperblockDurable(): void {
    const then = this.#afterSuperblock;
    this.#afterSuperblock = null;
    then?.();
  }

  /** Stores what a later start should know: how far the log is committed, and that a ban is over. */
  tickSuperblock(): void {
    if (this.isWritingSuperblock || this.status === "recovering") return;
    const ban = this.voteBan;
    const isBanOver = ban !== null && this.log.logView >= ban.view && this.log.solidOp >= ban.op;
    // A crash before that is durable brings the ban back; what is stored later has no ban either way.
    if (isBanOver) this.voteBan = null;
    // While a long log is being fetched, its headers would be written again and again.
    const isLevel = this.log.lastOp - this.durableCommit <= MAX_WINDOW_ENTRIES;
    const isBehind = this.durableCommit - this.#storedCommit >= MAX_UNSTORED_COMMITS;
    if (isBanOver || (isLevel && isBehind)) this.storeState(() => {});
  }

  // --- messages ---

  /** Answers a member that wants entries below this one's log. */
  offerCheckpoint(to: number): void {
    const { checkpoint } = this.ports.transfer;
    if (checkpoint === null) return;
    const { op, digest } = checkpoint;
    const { oldestOp } = this.ports.log;
    this.send(to, { kind: "checkpoint", from: this.index, view: this.view, oldestOp, op, digest });
  }

  send(to: number, message: Message): void {
    this.ports.bus.send(to, message);
  }

  sendToAll(message: Message): void {
    for (let to = 0; to < this.ports.identity.memberCount; to++) {
      if (to !== this.index) this.send(to, message);
    }
  }
}
