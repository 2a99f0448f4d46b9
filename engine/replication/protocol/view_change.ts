/**
 * How a group gets from one view to the next: suspicions, votes, and a new primary that takes over the log.
 *
 * A vote counts when it answers the new primary's `request_vote`, which it sends when a quorum has entered the view. So
 * a member whose disk was replaced after its vote meets, among the f+1 that it asks (`DiskRecovery`), one that knows of
 * the view, and acknowledges nothing in an earlier one. (E. Michael, D. Ports, N. Sharma, A. Szekeres, "Recovering
 * Shared Objects Without Stable Storage", DISC 2017, on what goes wrong otherwise.)
 */
import { assert } from "../../base/assert.ts";
import type { EntryHeader, Slot } from "./entry_header.ts";
import type { DoViewChange, HandOver, RequestVote, StartViewChange } from "./message.ts";
import { Primary, startViewFrom } from "./primary.ts";
import type { ReplicaCore } from "./replica_core.ts";
import { chooseSuffix, type SuffixChoice } from "./suffix_choice.ts";
import { MAX_VIEW_CHANGE_MILLISECONDS, RESEND_MILLISECONDS } from "./timeouts.ts";
import { ViewSuspicions } from "./view_suspicions.ts";

/** A new primary on its way: it has chosen the log of the view and learns what it lacks. */
interface Takeover {
  readonly choice: SuffixChoice;
  /** Headers of committed entries that the votes did not name, as other members told them. */
  readonly learned: Map<number, EntryHeader>;
}

/** See the head of the file. */
export class ViewChange {
  readonly #core: ReplicaCore;
  /** View changes since the last normal view. */
  #attempts = 0;
  #suspectedAt = -Infinity;
  #votedAt = -Infinity;
  readonly #suspicions = new ViewSuspicions();
  /** At the primary of the view: members that have entered it. */
  readonly #entered = new Set<number>();
  /** Answers to the newest `request_vote`. */
  readonly #votes = new Map<number, DoViewChange>();
  /** It begins anywhere, so that a life of this member does not count the answers to another. */
  #round: number;
  #takeover: Takeover | null = null;
  #primary: Primary | null = null;

  constructor(core: ReplicaCore) {
    this.#core = core;
    this.#round = core.ports.random(2 ** 32);
  }

  /** This member as the primary of its view; null when it is none. */
  get primary(): Primary | null {
    return this.#core.isPrimary ? this.#primary : null;
  }

  /** Whether a new primary waits for entries of the log that its superblock names. */
  get isCompletingLog(): boolean {
    return this.#takeover !== null && this.#core.log.logView === this.#core.view;
  }

  /** Whether a new primary waits for headers of committed entries. */
  get isLearning(): boolean {
    return this.#takeover !== null && this.#core.log.logView < this.#core.view;
  }

  tick(): void {
    const core = this.#core;
    const now = core.ports.now();
    // A view that does not begin is tried again after times that double anyway.
    const patience = core.status === "normal" ? core.patienceWith(core.primaryOf(core.view)) : 1;
    const isSilent = now - core.heardAt >= core.silenceMilliseconds * patience;
    if (isSilent && now - this.#suspectedAt >= RESEND_MILLISECONDS) this.#suspect(now);
    if (core.mayVote && this.#takeover === null && now - this.#votedAt >= RESEND_MILLISECONDS) this.#vote(0);
  }

  onStartViewChange(message: StartViewChange): void {
    const core = this.#core;
    // Its sender cannot come back from a view that it has voted for, so the others follow.
    if (message.reachedView > core.view) this.enter(message.reachedView);
    if (message.view <= core.view) return;
    this.#suspicions.add(message.from, message.view, core.ports.now());
    this.#enterAgreedView();
  }

  onHandOver(message: HandOver): void {
    const core = this.#core;
    core.promise.release(message.releasedView);
    if (message.releasedView === core.view) core.patience.handedOver(core.ports.now());
    if (message.view > core.view) this.enter(message.view);
    else if (message.view === core.view && core.mayVote) this.#vote(0);
  }

  onRequestVote(message: RequestVote): void {
    const core = this.#core;
    // Its sender is in the view, and cannot come back.
    if (message.view > core.view) this.enter(message.view);
    else if (message.view === core.view && core.mayVote) this.#vote(message.round);
  }

  onDoViewChange(message: DoViewChange): void {
    const core = this.#core;
    // Its sender has seen a quorum that wants this view.
    if (message.view > core.view && core.primaryOf(message.view) === core.index) this.enter(message.view);
    if (!this.#isCounting || message.view !== core.view) return;
    if (message.round === this.#round) this.#votes.set(message.from, message);
    if (!this.#entered.has(message.from)) {
      this.#entered.add(message.from);
      this.#beginRound();
    } else {
      this.#count();
    }
  }

  /** Leaves the view for a later one, and votes for it once that is durable. */
  enter(view: number, then: () => void = () => {}): void {
    const core = this.#core;
    assert(view > core.view, `view ${view} does not follow ${core.view}`);
    core.leaveNormal();
    core.view = view;
    this.#forgetVotes();
    this.#suspicions.clear();
    this.#attempts++;
    core.heardAt = core.ports.now();
    core.silenceMilliseconds = Math.min(
      core.drawSilence() * 2 ** Math.min(this.#attempts - 1, 8),
      MAX_VIEW_CHANGE_MILLISECONDS,
    );
    core.storeState(() => {
      then();
      if (core.mayVote) this.#vote(0);
    });
  }

  /** A view has begun here. */
  over(): void {
    this.#takeover = null;
    this.#attempts = 0;
  }

  /** The log has changed below the votes, so that they must be given again, or a later view has begun. */
  forgetTakeover(): void {
    this.#forgetVotes();
  }

  #forgetVotes(): void {
    this.#entered.clear();
    this.#votes.clear();
    this.#takeover = null;
  }

  #suspect(now: number): void {
    const core = this.#core;
    this.#suspectedAt = now;
    const wanted = Math.max(core.view + 1, this.#suspicions.highest(now));
    this.#suspicions.add(core.index, wanted, now);
    core.sendToAll({ kind: "start_view_change", from: core.index, view: wanted, reachedView: core.view });
    this.#enterAgreedView();
  }

  #enterAgreedView(): void {
    const core = this.#core;
    const agreed = this.#suspicions.agreed(core.quorum, core.ports.now());
    if (agreed > core.view) this.enter(agreed);
  }

  // --- votes ---

  #vote(round: number): void {
    const core = this.#core;
    this.#votedAt = core.ports.now();
    if (!core.isPrimaryOfView) return core.send(core.primaryOf(core.view), this.#ownVote(round));
    if (this.#entered.has(core.index)) return this.#requestVotes();
    this.#entered.add(core.index);
    this.#beginRound();
  }

  #ownVote(round: number): DoViewChange {
    const { index, view, commit, log } = this.#core;
    const slots: Slot[] = [];
    for (let op = commit + 1; op <= log.lastOp; op++) slots.push(log.slot(op));
    const commitDigest = log.header(commit)?.digest ?? null;
    return {
      kind: "do_view_change",
      from: index,
      view,
      round,
      logView: log.logView,
      commit,
      commitDigest,
      slots,
    };
  }

  /** Whether this member is to be the primary of the view, and has not chosen its log yet. */
  get #isCounting(): boolean {
    const core = this.#core;
    return core.isPrimaryOfView && core.status === "view_change" && core.view > core.log.logView &&
      this.#takeover === null;
  }

  /** Another member has entered the view: the votes that count are given after that. */
  #beginRound(): void {
    this.#votes.clear();
    this.#round = (this.#round + 1) % 2 ** 32;
    this.#requestVotes();
    this.#count();
  }

  /** Asks those who have entered the view for their votes, once they are a quorum. */
  #requestVotes(): void {
    const core = this.#core;
    if (!this.#entered.has(core.index) || this.#entered.size < core.quorum) return;
    for (const to of this.#entered) {
      if (to === core.index || this.#votes.has(to)) continue;
      core.send(to, { kind: "request_vote", from: core.index, view: core.view, round: this.#round });
    }
  }

  #count(): void {
    const core = this.#core;
    if (!this.#isCounting || !core.mayVote || !this.#entered.has(core.index)) return;
    const choice = chooseSuffix([...this.#votes.values(), this.#ownVote(this.#round)], core.quorum);
    // What is far behind is fetched first: the votes are given again then.
    if (choice === null || core.hearCommit(choice.commit)) return;
    this.#takeover = { choice, learned: new Map() };
    core.heardAt = core.ports.now();
    this.goOn();
  }

  // --- a new primary ---

  /** First the headers of the whole log, then the superblock that names them, then the entries. */
  goOn(): void {
    const core = this.#core;
    const takeover = this.#takeover;
    if (takeover === null || core.isWritingSuperblock) return;
    if (core.log.logView === core.view) return this.#finish();
    const committed = this.committedHeaders();
    const known = committed.filter((header) => header !== null);
    if (known.length < committed.length) {
      core.isRepairWanted = true;
      return;
    }
    const { commit, headers } = takeover.choice;
    core.adoptLog(core.durableCommit, [...known, ...headers], () => {
      // Entries may have to be fetched first, and a primary of before may have applied others: what waits for the
      // commit number, a checkpoint above all, must not take those for committed.
      core.keepOrRebuildState();
      core.commit = Math.max(core.commit, commit);
      this.#finish();
    });
  }

  /**
   * What a new primary knows of the ops that are committed and not yet durable here: its own log above its commit
   * number may have other entries. Each header names the one before.
   */
  committedHeaders(): (EntryHeader | null)[] {
    const { commit: known, log, durableCommit } = this.#core;
    if (this.#takeover === null) return [];
    const { choice, learned } = this.#takeover;
    const headers: (EntryHeader | null)[] = [];
    let next = choice.headers[0] ?? null;
    for (let op = choice.commit; op > durableCommit; op--) {
      const own = op <= known ? log.header(op) : null;
      const digest = next?.previousDigest ?? null;
      const named = digest === null ? null : { op, view: null, digest, previousDigest: null };
      next = own ?? learned.get(op) ?? choice.committedHeaders[op - choice.lowestCommit - 1] ?? named;
      headers.push(next);
    }
    return headers.reverse();
  }

  /** Another member has named a committed entry; whether that is new. */
  learn(header: EntryHeader): boolean {
    const takeover = this.#takeover;
    if (takeover === null || header.op > takeover.choice.commit || takeover.learned.has(header.op)) {
      return false;
    }
    takeover.learned.set(header.op, header);
    return true;
  }

  /** Begins the view when every entry of its log is here. */
  #finish(): void {
    const core = this.#core;
    const takeover = this.#takeover;
    if (takeover === null) return;
    // The first look may find damage in what was durable, for the second.
    const startView = startViewFrom(core, takeover.choice.lowestCommit);
    if (startView === null || core.log.firstUnread(core.log.lastOp) !== null) {
      core.isRepairWanted = true;
      return;
    }
    this.over();
    core.beginNormal();
    const primary = new Primary(core, startView);
    this.#primary = primary;
    core.isPrimary = true;
    primary.begin();
    core.keepOrRebuildState();
    core.apply();
    primary.countCommit();
  }
}
