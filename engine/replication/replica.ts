/**
 * One member of a replication group: Viewstamped Replication over ports, with protocol-aware recovery of damaged logs.
 *
 * The replica is synchronous and has no clock of its own. Its owner calls `onMessage`, `onTick`, `onDurable`,
 * `onSuperblockDurable` and, at the primary, `onAppended`; it calls its ports. `docs/replication.md` has the protocol,
 * its states and its invariants.
 *
 * Invariants: no message of a view leaves before the superblock with that view is durable; a backup acknowledges only
 * what it has durable without a gap; it applies only what is committed; an entry above the commit number is removed
 * only after the superblock names the log that goes without it.
 */
import { assert } from "../base/assert.ts";
import { BackupProgress } from "./backup_progress.ts";
import type {
  Commit,
  DoViewChange,
  Message,
  Prepare,
  PrepareOk,
  RepairedEntry,
  RepairEntries,
  RequestPrepare,
  RequestStartView,
  StartView,
  StartViewChange,
  WantedEntry,
} from "./message.ts";
import { EMPTY_LOG, type EntryHeader, isSameEntry, type ReplicatedEntry, type Slot } from "./entry_header.ts";
import {
  type MessageBus,
  type ReplicaIdentity,
  type ReplicatedLog,
  type ReplicatedState,
  type SuperblockState,
  type SuperblockStore,
} from "./ports.ts";
import { chooseSuffix, type SuffixChoice } from "./suffix_choice.ts";
import {
  HEARTBEAT_MILLISECONDS,
  LONELY_MILLISECONDS,
  MAX_PREPARE_ENTRIES,
  MAX_REPAIR_ENTRIES,
  MAX_VIEW_CHANGE_MILLISECONDS,
  RESEND_MILLISECONDS,
  SILENCE_JITTER_MILLISECONDS,
  SILENCE_MILLISECONDS,
} from "./timeouts.ts";
import { ViewLog } from "./view_log.ts";
import { ViewSuspicions } from "./view_suspicions.ts";

/** Everything around a replica. */
export interface ReplicaPorts {
  readonly identity: ReplicaIdentity;
  readonly log: ReplicatedLog;
  readonly superblock: SuperblockStore;
  readonly state: ReplicatedState;
  readonly bus: MessageBus;
  /** Monotonic milliseconds. */
  now(): number;
  /** A random integer in [0, bound). */
  random(bound: number): number;
}

/**
 * - `normal`: primary or backup of the view.
 * - `view_change`: voted for the view, which has not begun here. Also a primary that was restarted or has stepped down.
 */
export type ReplicaStatus = "normal" | "view_change";

/** A new primary on its way: it has chosen the log of the view and learns what it lacks. */
interface Takeover {
  readonly choice: SuffixChoice;
  /** Headers of committed entries that the votes did not name, as other members told them. */
  readonly learned: Map<number, EntryHeader>;
}

/** See the head of the file. */
export class Replica {
  readonly #ports: ReplicaPorts;
  readonly #index: number;
  readonly #quorum: number;
  #status: ReplicaStatus = "normal";
  #view: number;
  readonly #log: ViewLog;
  #commit: number;
  /** The state has applied what is committed up to here. */
  #provenOp = 0;
  /** What follows when the superblock that is being written is durable. */
  #afterSuperblock: (() => void) | null = null;
  #heardAt: number;
  #silenceMilliseconds: number;
  /** View changes since the last normal view. */
  #attempts = 0;
  #suspectedAt = -Infinity;
  #votedAt = -Infinity;
  readonly #suspicions = new ViewSuspicions();
  readonly #votes = new Map<number, DoViewChange>();
  #takeover: Takeover | null = null;
  /** At a primary in status normal, by index of the member; its own place is unused. */
  #backups: BackupProgress[] = [];
  /** The last op of the log that this primary's view began with. */
  #viewStartOp = 0;
  /** This primary's state is that of its whole log. */
  #isReady = false;
  #startHeaders: StartView | null = null;
  #repairAt = -Infinity;
  #repairPeer = 0;
  #startRequestedAt = -Infinity;

  /** Goes on from what the log and the superblock hold. */
  constructor(ports: ReplicaPorts) {
    const { identity } = ports;
    const { index, memberCount } = identity;
    assert([1, 3, 5].includes(memberCount), `a group has 1, 3 or 5 members, not ${memberCount}`);
    assert(index >= 0 && index < memberCount, `no member has the index ${index}`);
    this.#ports = ports;
    this.#index = index;
    this.#quorum = (memberCount + 1) / 2;
    const stored = ports.superblock.read();
    this.#view = stored.view;
    this.#commit = stored.commit;
    this.#log = new ViewLog(ports.log, stored.logView, stored.suffix, stored.commit);
    this.#heardAt = ports.now();
    this.#silenceMilliseconds = this.#drawSilence();
    // A restarted primary has lost its sessions and what it had promised them: it leaves the view to another.
    if (this.#view > this.#log.logView || this.#isPrimaryOfView) {
      this.#status = "view_change";
      this.#silenceMilliseconds = this.#isPrimaryOfView ? 0 : this.#silenceMilliseconds;
    }
    this.#apply();
  }

  get view(): number {
    return this.#view;
  }

  get status(): ReplicaStatus {
    return this.#status;
  }

  /** Every op up to here is durable at a quorum. */
  get commit(): number {
    return this.#commit;
  }

  /** Whether this member orders entries. */
  get isPrimary(): boolean {
    return this.#status === "normal" && this.#isPrimaryOfView;
  }

  /** Whether this primary's state is that of its whole log, so that it may append. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether this primary may answer: the log that its view began with is committed in it. */
  get canServe(): boolean {
    return this.#isReady && this.#commit >= this.#viewStartOp;
  }

  /** The member that orders entries in this view, as far as this one knows. */
  get primaryIndex(): number {
    return this.#primaryOf(this.#view);
  }

  /** The header of the newest op of this member's log. */
  get lastHeader(): EntryHeader {
    return this.#log.header(this.#log.lastOp) ?? EMPTY_LOG;
  }

  // --- what the owner reports ---

  /** The primary's engine has written entries of this view at the end of the log, and applied them. */
  onAppended(): void {
    assert(this.#isReady, "only a primary appends");
    this.#sendEntries();
  }

  /** More of the log has become durable. */
  onDurable(): void {
    if (!this.#log.advance()) return;
    if (this.isPrimary) this.#countCommit();
    else this.#acknowledge();
  }

  /** The state is no longer busy. */
  onApplied(): void {
    this.#apply();
  }

  /** The newest state given to the superblock store is durable. */
  onSuperblockDurable(): void {
    const then = this.#afterSuperblock;
    this.#afterSuperblock = null;
    then?.();
  }

  /** Called every `TICK_MILLISECONDS`. */
  onTick(): void {
    if (this.isPrimary) this.#tickPrimary();
    else this.#tickOther();
    if (this.#ports.now() - this.#repairAt >= RESEND_MILLISECONDS) this.#requestRepairs();
  }

  /** A message has arrived. Messages may be lost, repeated, late. */
  onMessage(message: Message): void {
    switch (message.kind) {
      case "prepare":
        return this.#onPrepare(message);
      case "prepare_ok":
        return this.#onPrepareOk(message);
      case "commit":
        return this.#onCommit(message);
      case "start_view_change":
        return this.#onStartViewChange(message);
      case "do_view_change":
        return this.#onDoViewChange(message);
      case "start_view":
        return this.#onStartView(message);
      case "request_start_view":
        return this.#onRequestStartView(message);
      case "request_prepare":
        return this.#onRequestPrepare(message);
      case "repair_entries":
        return this.#onRepairEntries(message);
    }
  }

  // --- normal operation: the primary ---

  #tickPrimary(): void {
    const now = this.#ports.now();
    const heard =
      this.#backups.filter((backup, index) =>
        index !== this.#index && now - backup.heardAt < LONELY_MILLISECONDS
      ).length;
    if (heard < this.#quorum - 1) {
      // Another member may be the primary of a later view by now.
      this.#leaveNormal();
      this.#silenceMilliseconds = 0;
      return;
    }
    for (const [index, backup] of this.#backups.entries()) {
      if (index === this.#index) continue;
      if (backup.acknowledgedOp < 0 && now - backup.sentAt >= RESEND_MILLISECONDS) {
        backup.sentAt = now;
        if (this.#startHeaders !== null) this.#send(index, this.#startHeaders);
      }
      if (backup.resendWhenStalled(this.#log.lastOp, now)) this.#sendEntriesTo(index);
      if (now - backup.sentAt >= HEARTBEAT_MILLISECONDS) this.#sendCommit(index);
    }
  }

  #sendEntries(): void {
    for (let index = 0; index < this.#backups.length; index++) {
      if (index !== this.#index) this.#sendEntriesTo(index);
    }
    this.#countCommit();
  }

  #sendEntriesTo(index: number): void {
    const backup = this.#backup(index);
    while (backup.isWindowOpen && backup.nextOp <= this.#log.lastOp) {
      const previous = this.#log.header(backup.nextOp - 1);
      const entries: ReplicatedEntry[] = [];
      while (entries.length < MAX_PREPARE_ENTRIES && backup.nextOp + entries.length <= this.#log.lastOp) {
        const entry = this.#log.read(backup.nextOp + entries.length);
        if (entry === null) break;
        entries.push(entry);
      }
      // What the primary itself cannot read, it fetches first.
      if (entries.length === 0 || previous === null) return;
      backup.nextOp += entries.length;
      backup.sentAt = this.#ports.now();
      this.#send(index, {
        kind: "prepare",
        from: this.#index,
        view: this.#view,
        previousOp: previous.op,
        previousDigest: previous.digest,
        entries,
        commit: this.#commit,
      });
    }
  }

  #sendCommit(index: number): void {
    const { op, digest } = this.lastHeader;
    this.#backup(index).sentAt = this.#ports.now();
    this.#send(index, {
      kind: "commit",
      from: this.#index,
      view: this.#view,
      op,
      digest,
      commit: this.#commit,
    });
  }

  #onPrepareOk(message: PrepareOk): void {
    if (message.view !== this.#view || !this.isPrimary) return;
    this.#backup(message.from).acknowledge(message.op, this.#ports.now());
    this.#countCommit();
    this.#sendEntriesTo(message.from);
  }

  /** Commits what a quorum has durable; the primary itself counts like any other member. */
  #countCommit(): void {
    const durable = this.#backups.map((backup, index) =>
      index === this.#index ? this.#log.solidOp : backup.acknowledgedOp
    );
    const commit = durable.sort((a, b) => b - a)[this.#quorum - 1] ?? 0;
    if (commit > this.#commit) this.#commitUpTo(commit);
  }

  // --- normal operation: a backup ---

  #onPrepare(message: Prepare): void {
    if (!this.#hearsPrimary(message)) return;
    const previous = this.#log.header(message.previousOp);
    if (message.previousOp > this.#log.lastOp || this.#log.firstUnread(message.previousOp) !== null) {
      // A gap: the acknowledgement tells the primary where to go on.
      this.#acknowledge();
      return;
    }
    assert(
      previous === null || previous.digest === message.previousDigest,
      `the log differs from the primary's at op ${message.previousOp}`,
    );
    for (const entry of message.entries) this.#store(entry);
    this.#log.advance();
    this.#commitUpTo(Math.min(message.commit, this.#log.lastOp));
    this.#acknowledge();
  }

  #onCommit(message: Commit): void {
    if (!this.#hearsPrimary(message)) return;
    if (message.op === this.#log.lastOp) {
      const last = this.#log.header(message.op);
      assert(
        last === null || last.digest === message.digest,
        `the log differs from the primary's at op ${message.op}`,
      );
    }
    this.#commitUpTo(Math.min(message.commit, this.#log.lastOp));
    this.#acknowledge();
  }

  /** Whether a message comes from the primary of the view that this member is a backup in. */
  #hearsPrimary(message: Prepare | Commit): boolean {
    if (message.view < this.#view) return false;
    const hasBegunHere = message.view === this.#view && this.#status === "normal";
    if (!hasBegunHere) {
      // The view began without this member.
      if (message.view > this.#view || message.view > this.#log.logView) this.#requestStartView(message);
      return false;
    }
    this.#heard();
    return true;
  }

  /** Stores an entry of the primary's log where it is not there yet. */
  #store(entry: ReplicatedEntry): void {
    const { op } = entry.header;
    const slot = this.#log.slot(op);
    if (slot.kind === "present" || slot.kind === "missing") {
      assert(slot.header.digest === entry.header.digest, `the log differs from the primary's at op ${op}`);
    }
    if (slot.kind !== "present") this.#log.write(entry);
  }

  #acknowledge(): void {
    if (this.#status !== "normal" || this.isPrimary) return;
    this.#send(this.primaryIndex, {
      kind: "prepare_ok",
      from: this.#index,
      view: this.#view,
      op: this.#log.solidOp,
    });
  }

  /** Remembers that everything up to the op is committed, and applies what is here. */
  #commitUpTo(op: number): void {
    if (op > this.#commit) {
      this.#commit = op;
      this.#ports.state.committed(op);
    }
    this.#apply();
  }

  /**
   * Applies what is committed. A primary's state is that of its whole log: it applies what its view began with, and
   * its own entries when it makes them.
   */
  #apply(): void {
    const { state } = this.#ports;
    const last = this.isPrimary ? this.#log.lastOp : Math.min(this.#commit, this.#log.lastOp);
    while (!state.isBusy && state.appliedOp < last) {
      const op = state.appliedOp + 1;
      if (this.#log.slot(op).kind !== "present") return;
      const entry = this.#log.read(op);
      if (entry === null) return this.#onDamage(op);
      state.apply(entry);
    }
    if (state.isBusy) return;
    this.#provenOp = Math.min(this.#commit, state.appliedOp);
    if (this.isPrimary && !this.#isReady && state.appliedOp >= last) {
      this.#isReady = true;
      state.roleChanged(true);
    }
  }

  // --- view changes ---

  #tickOther(): void {
    const now = this.#ports.now();
    if (now - this.#heardAt >= this.#silenceMilliseconds && now - this.#suspectedAt >= RESEND_MILLISECONDS) {
      this.#suspectedAt = now;
      const wanted = Math.max(this.#view + 1, this.#suspicions.highest(now));
      this.#suspicions.add(this.#index, wanted, now);
      this.#sendToAll({
        kind: "start_view_change",
        from: this.#index,
        view: wanted,
        reachedView: this.#view,
      });
      this.#enterAgreedView();
    }
    const isVoting = this.#status === "view_change" && this.#view > this.#log.logView;
    if (isVoting && this.#afterSuperblock === null && now - this.#votedAt >= RESEND_MILLISECONDS) {
      this.#vote();
    }
  }

  #onStartViewChange(message: StartViewChange): void {
    // Its sender cannot come back from a view that it has voted for, so the others follow.
    if (message.reachedView > this.#view) this.#enterView(message.reachedView);
    if (message.view <= this.#view) return;
    this.#suspicions.add(message.from, message.view, this.#ports.now());
    this.#enterAgreedView();
  }

  #enterAgreedView(): void {
    const agreed = this.#suspicions.agreed(this.#quorum, this.#ports.now());
    if (agreed > this.#view) this.#enterView(agreed);
  }

  /** Leaves the view for a later one, and votes for it once that is durable. */
  #enterView(view: number): void {
    assert(view > this.#view, `view ${view} does not follow ${this.#view}`);
    this.#leaveNormal();
    this.#view = view;
    this.#votes.clear();
    this.#suspicions.clear();
    this.#takeover = null;
    this.#attempts++;
    this.#heardAt = this.#ports.now();
    this.#silenceMilliseconds = Math.min(
      this.#drawSilence() * 2 ** Math.min(this.#attempts - 1, 8),
      MAX_VIEW_CHANGE_MILLISECONDS,
    );
    this.#writeSuperblock(
      { logView: this.#log.logView, suffix: this.#log.suffixToKeep(this.#commit) },
      () => this.#vote(),
    );
  }

  #leaveNormal(): void {
    const wasReady = this.#isReady;
    this.#status = "view_change";
    this.#backups = [];
    this.#startHeaders = null;
    this.#isReady = false;
    if (wasReady) this.#ports.state.roleChanged(false);
  }

  #vote(): void {
    this.#votedAt = this.#ports.now();
    const slots: Slot[] = [];
    for (let op = this.#commit + 1; op <= this.#log.lastOp; op++) slots.push(this.#log.slot(op));
    const vote: DoViewChange = {
      kind: "do_view_change",
      from: this.#index,
      view: this.#view,
      logView: this.#log.logView,
      commit: this.#commit,
      commitDigest: this.#log.header(this.#commit)?.digest ?? null,
      slots,
    };
    if (this.#isPrimaryOfView) this.#onDoViewChange(vote);
    else this.#send(this.primaryIndex, vote);
  }

  #onDoViewChange(message: DoViewChange): void {
    // Its sender has seen a quorum that wants this view.
    if (message.view > this.#view && this.#primaryOf(message.view) === this.#index) {
      this.#enterView(message.view);
    }
    const isCounting = message.view === this.#view && this.#status === "view_change" &&
      this.#view > this.#log.logView;
    if (!isCounting || !this.#isPrimaryOfView || this.#takeover !== null) return;
    this.#votes.set(message.from, message);
    if (this.#afterSuperblock !== null || !this.#votes.has(this.#index)) return;
    const votes = [...this.#votes.values()];
    const choice = chooseSuffix(votes, this.#quorum);
    if (choice !== null) this.#takeOver(choice);
  }

  // --- a new primary ---

  #takeOver(choice: SuffixChoice): void {
    this.#takeover = { choice, learned: new Map() };
    this.#heardAt = this.#ports.now();
    this.#goOnTakingOver();
  }

  /** First the headers of the whole log, then the superblock that names them, then the entries. */
  #goOnTakingOver(): void {
    const takeover = this.#takeover;
    if (takeover === null || this.#afterSuperblock !== null) return;
    if (this.#log.logView === this.#view) return this.#finishTakeover();
    const committed = this.#committedHeaders(takeover);
    const known = committed.filter((header) => header !== null);
    if (known.length < committed.length) return this.#requestRepairs();
    const { commit, headers } = takeover.choice;
    this.#adoptLog(this.#durableCommit, [...known, ...headers], () => {
      this.#commit = Math.max(this.#commit, commit);
      this.#finishTakeover();
    });
  }

  /**
   * What a new primary knows of the ops that are committed and not yet durable here: its own log above its commit
   * number may have other entries. Each header names the one before.
   */
  #committedHeaders({ choice, learned }: Takeover): (EntryHeader | null)[] {
    const { commit, lowestCommit, committedHeaders } = choice;
    const headers: (EntryHeader | null)[] = [];
    let next = choice.headers[0] ?? null;
    for (let op = commit; op > this.#durableCommit; op--) {
      const own = op <= this.#commit ? this.#log.header(op) : null;
      const digest = next?.previousDigest ?? null;
      const named = digest === null ? null : { op, view: null, digest, previousDigest: null };
      next = own ?? learned.get(op) ?? committedHeaders[op - lowestCommit - 1] ?? named;
      headers.push(next);
    }
    return headers.reverse();
  }

  /** Begins the view when every entry of its log is here. */
  #finishTakeover(): void {
    const takeover = this.#takeover;
    if (takeover === null || this.#log.firstUnread(this.#log.lastOp) !== null) return this.#requestRepairs();
    this.#takeover = null;
    const now = this.#ports.now();
    this.#status = "normal";
    this.#attempts = 0;
    this.#viewStartOp = this.#log.lastOp;
    this.#backups = Array.from({ length: this.#ports.identity.memberCount }, () => {
      const backup = new BackupProgress(now);
      backup.nextOp = this.#log.lastOp + 1;
      return backup;
    });
    this.#startHeaders = this.#startView(Math.min(takeover.choice.lowestCommit, this.#commit));
    this.#sendToAll(this.#startHeaders);
    this.#keepOrRebuildState();
    this.#apply();
    this.#countCommit();
  }

  #startView(commit: number): StartView {
    const previous = this.#log.header(commit) ?? EMPTY_LOG;
    const headers = this.#log.headersBetween(previous.op, this.#log.lastOp);
    assert(headers.length === this.#log.lastOp - previous.op, "a primary knows the headers of its log");
    return {
      kind: "start_view",
      from: this.#index,
      view: this.#view,
      commit: this.#commit,
      previousOp: previous.op,
      previousDigest: previous.digest,
      headers,
    };
  }

  #onRequestStartView(message: RequestStartView): void {
    if (message.view !== this.#view || !this.isPrimary) return;
    this.#backup(message.from).heardAt = this.#ports.now();
    this.#send(message.from, this.#startView(Math.min(message.commit, this.#commit)));
  }

  // --- a backup of a new view ---

  #onStartView(message: StartView): void {
    if (message.view < this.#view || message.from === this.#index) return;
    if (message.view === this.#log.logView && this.#status === "normal") {
      this.#heard();
      return this.#acknowledge();
    }
    if (this.#afterSuperblock !== null && message.view === this.#view && this.#view > this.#log.logView) {
      // The vote, or this very view, is being made durable; the primary sends the message again.
      return;
    }
    // Without a known common op, what differs below the headers would stay.
    const common = this.#log.header(message.previousOp);
    const isJoined = message.previousOp <= this.#commit || common?.digest === message.previousDigest;
    if (!isJoined) return this.#requestStartView(message);
    if (message.view > this.#view) this.#leaveNormal();
    this.#view = message.view;
    this.#takeover = null;
    this.#status = "view_change";
    this.#heardAt = this.#ports.now();
    this.#adoptLog(message.previousOp, message.headers, () => {
      this.#status = "normal";
      this.#attempts = 0;
      this.#heard();
      this.#keepOrRebuildState();
      this.#commitUpTo(Math.max(this.#commit, message.commit));
      this.#acknowledge();
    });
  }

  #requestStartView(message: Message): void {
    const now = this.#ports.now();
    if (now - this.#startRequestedAt < HEARTBEAT_MILLISECONDS) return;
    this.#startRequestedAt = now;
    this.#send(message.from, {
      kind: "request_start_view",
      from: this.#index,
      view: message.view,
      commit: this.#commit,
    });
  }

  /** A primary of before has applied entries that the new view may go without. */
  #keepOrRebuildState(): void {
    const { state } = this.#ports;
    if (this.#log.header(state.appliedOp)?.digest !== state.appliedDigest) state.rebuild(this.#provenOp);
  }

  /**
   * Makes this view's log the member's own: first the superblock names it, then what differs is removed. Up to
   * `joinedOp` the member's entries are those of the view.
   */
  #adoptLog(joinedOp: number, headers: readonly EntryHeader[], then: () => void): void {
    const floor = this.#durableCommit;
    const suffix = [
      ...this.#log.headersBetween(floor, joinedOp),
      ...headers.filter((header) => header.op > Math.max(floor, joinedOp)),
    ];
    this.#writeSuperblock({ logView: this.#view, suffix }, () => {
      const head = Math.max(joinedOp, headers.at(-1)?.op ?? 0);
      this.#log.adopt(this.#view, suffix, { commit: this.#commit, head });
      then();
    });
  }

  // --- repair ---

  /** Asks a peer, each in turn, for what this member should have and has not. */
  #requestRepairs(): void {
    this.#repairAt = this.#ports.now();
    if (this.#ports.identity.memberCount === 1) return;
    const wanted = this.#wantedEntries();
    if (wanted.length === 0) return;
    this.#send(this.#nextPeer(), { kind: "request_prepare", from: this.#index, view: this.#view, wanted });
  }

  #wantedEntries(): WantedEntry[] {
    const takeover = this.#takeover;
    if (takeover !== null && this.#log.logView < this.#view) {
      return this.#committedHeaders(takeover)
        .flatMap((header, index) => header === null ? [{ op: this.#durableCommit + 1 + index, header }] : [])
        .slice(0, MAX_REPAIR_ENTRIES);
    }
    const first = this.#log.firstUnread(this.#log.lastOp);
    const wanted: WantedEntry[] = [];
    if (first === null || !this.#isLogOfView) return wanted;
    for (let op = first; op <= this.#log.lastOp && wanted.length < MAX_REPAIR_ENTRIES; op++) {
      const slot = this.#log.slot(op);
      if (slot.kind !== "present") wanted.push({ op, header: slot.kind === "missing" ? slot.header : null });
    }
    return wanted;
  }

  /** Whether this member's log is that of its view, so that it may be completed. */
  get #isLogOfView(): boolean {
    return this.#status === "normal" || (this.#takeover !== null && this.#log.logView === this.#view);
  }

  #onRequestPrepare({ from, wanted }: RequestPrepare): void {
    const entries: RepairedEntry[] = [];
    for (const { op, header } of wanted) {
      const entry = this.#log.read(op);
      if (entry === null) continue;
      // Below the commit number this is the committed entry, unless the superblock's headers say otherwise.
      const isCommitted = op <= this.#commit && this.#log.slot(op).kind === "present";
      const isAsked = header !== null && isSameEntry(header, entry.header);
      if (isCommitted || isAsked) entries.push({ entry, isCommitted });
    }
    if (entries.length > 0) {
      this.#send(from, { kind: "repair_entries", from: this.#index, view: this.#view, entries });
    }
  }

  #onRepairEntries({ entries }: RepairEntries): void {
    let hasRepaired = false;
    for (const repaired of entries) hasRepaired = this.#repair(repaired) || hasRepaired;
    if (!hasRepaired) return;
    this.#log.advance();
    if (this.#takeover !== null) {
      this.#heardAt = this.#ports.now();
      return this.#goOnTakingOver();
    }
    this.#apply();
    this.#requestRepairs();
  }

  /** Takes an entry that this member lacks, or its header; false if it does not. */
  #repair({ entry, isCommitted }: RepairedEntry): boolean {
    const { op } = entry.header;
    const takeover = this.#takeover;
    if (takeover !== null && this.#log.logView < this.#view) {
      if (!isCommitted || op > takeover.choice.commit || takeover.learned.has(op)) return false;
      takeover.learned.set(op, entry.header);
      return true;
    }
    const slot = this.#log.slot(op);
    const isWanted = slot.kind === "missing"
      ? isSameEntry(slot.header, entry.header)
      : slot.kind === "unreadable" && isCommitted && op <= this.#commit;
    return isWanted && this.#isLogOfView && this.#log.write(entry);
  }

  /** The slot of the op has turned out to be unreadable. */
  #onDamage(op: number): void {
    this.#log.damaged(op);
    this.#requestRepairs();
  }

  // --- small things ---

  /** Committed ops that this member has durable: what its superblock may call committed. */
  get #durableCommit(): number {
    return Math.min(this.#commit, this.#log.solidOp);
  }

  get #isPrimaryOfView(): boolean {
    return this.primaryIndex === this.#index;
  }

  #primaryOf(view: number): number {
    return view % this.#ports.identity.memberCount;
  }

  #backup(index: number): BackupProgress {
    const backup = this.#backups[index];
    assert(backup !== undefined, `there is no member ${index}`);
    return backup;
  }

  #heard(): void {
    this.#heardAt = this.#ports.now();
    this.#silenceMilliseconds = this.#drawSilence();
  }

  #drawSilence(): number {
    return SILENCE_MILLISECONDS + this.#ports.random(SILENCE_JITTER_MILLISECONDS);
  }

  #nextPeer(): number {
    do this.#repairPeer = (this.#repairPeer + 1) % this.#ports.identity.memberCount; while (
      this.#repairPeer === this.#index
    );
    return this.#repairPeer;
  }

  /** Writes the superblock; a write that is under way is overtaken, and what was to follow it does not. */
  #writeSuperblock({ logView, suffix }: Pick<SuperblockState, "logView" | "suffix">, then: () => void): void {
    this.#afterSuperblock = then;
    this.#ports.superblock.write({ view: this.#view, logView, commit: this.#durableCommit, suffix });
  }

  #send(to: number, message: Message): void {
    this.#ports.bus.send(to, message);
  }

  #sendToAll(message: Message): void {
    for (let to = 0; to < this.#ports.identity.memberCount; to++) {
      if (to !== this.#index) this.#send(to, message);
    }
  }
}
