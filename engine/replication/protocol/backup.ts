/**
 * A member as a backup: it stores what the primary sends, acknowledges what it has durable without a gap, applies what
 * is committed, and takes over the log that a new view begins with.
 */
import { assert } from "../../base/assert.ts";
import type { ReplicatedEntry } from "./entry_header.ts";
import type { Commit, Message, Prepare, StartView } from "./message.ts";
import type { ReplicaCore } from "./replica_core.ts";
import { HEARTBEAT_MILLISECONDS } from "./timeouts.ts";

/** See the head of the file. */
export class Backup {
  readonly #core: ReplicaCore;
  #startRequestedAt = -Infinity;
  /** The newest stamp of the primary, and the view of that. */
  #stamp = { view: -1, id: 0 };
  /** When all that is applied here was the newest, by the primary's wall clock and by the own monotonic one. */
  #fresh = { clock: -Infinity, heardAt: -Infinity };
  /** What the primary last said: its commit number, and when. */
  #said = { commit: Infinity, clock: -Infinity, heardAt: -Infinity };
  #isStoring = false;

  constructor(core: ReplicaCore) {
    this.#core = core;
  }

  /**
   * How old the applied state may be by the primary's wall clock, in milliseconds; no less than since it was heard, for
   * the own wall clock may be behind.
   */
  get staleness(): number {
    const { ports } = this.#core;
    return Math.max(0, ports.wallNow() - this.#fresh.clock, ports.now() - this.#fresh.heardAt);
  }

  onPrepare(message: Prepare): void {
    if (!this.#hearsPrimary(message)) return;
    const { log } = this.#core;
    const previous = log.header(message.previousOp);
    if (message.previousOp > log.lastOp || log.firstUnread(message.previousOp) !== null) {
      // A gap: the acknowledgement tells the primary where to go on.
      this.acknowledge();
      return;
    }
    assert(
      previous === null || previous.digest === message.previousDigest,
      `the log differs from the primary's at op ${message.previousOp}`,
    );
    let isStored = false;
    this.#isStoring = true;
    try {
      for (const entry of message.entries) isStored = this.#store(entry) || isStored;
    } finally {
      this.#isStoring = false;
    }
    log.advance();
    // The sync comes first, for the primary waits for it; what follows is in `onDurable`.
    if (isStored) this.#learnCommit(message);
    else this.#commit(message);
  }

  /** More of the log is durable. */
  onDurable(): void {
    this.acknowledge();
    // In a view change the state may have what the log, already that of the new view, goes without.
    if (!this.#isStoring && this.#core.status === "normal") this.#apply();
  }

  onCommit(message: Commit): void {
    if (!this.#hearsPrimary(message)) return;
    const { log } = this.#core;
    if (message.op === log.lastOp) {
      const last = log.header(message.op);
      assert(
        last === null || last.digest === message.digest,
        `the log differs from the primary's at op ${message.op}`,
      );
    }
    if (message.checkpoint !== null) this.#core.ports.transfer.compare(message.checkpoint, message.from);
    this.#commit(message);
  }

  /** Says what this member has durable without a gap, and promises to stay in the view for a while. */
  acknowledge(): void {
    const core = this.#core;
    if (core.status !== "normal" || core.isPrimary) return;
    const stamp = this.#stamp.view === core.view ? this.#stamp.id : 0;
    if (stamp > 0) core.promise.make(core.view, core.ports.now());
    core.send(core.primaryOf(core.view), {
      kind: "prepare_ok",
      from: core.index,
      view: core.view,
      op: core.log.solidOp,
      stamp,
    });
  }

  /** Takes over the log of a view that has begun; whether it does, so that a view change is over. */
  onStartView(message: StartView): boolean {
    const core = this.#core;
    const { log } = core;
    if (message.view < core.view || message.from === core.index) return false;
    if (message.view === log.logView && core.status === "normal") {
      core.heard();
      this.acknowledge();
      return false;
    }
    if (core.isWritingSuperblock && message.view === core.view && core.view > log.logView) {
      // The vote, or this very view, is being made durable; the primary sends the message again.
      return false;
    }
    if (core.hearCommit(message.commit)) {
      core.heard();
      return false;
    }
    if (this.#isOutdated(message)) return false;
    // Without a known common op, what differs below the headers would stay.
    const common = log.header(message.previousOp);
    const isJoined = message.previousOp <= core.commit || common?.digest === message.previousDigest;
    if (!isJoined) {
      this.requestStartView(message);
      return false;
    }
    if (message.view > core.view) core.leaveNormal();
    core.view = message.view;
    core.status = "view_change";
    core.heardAt = core.ports.now();
    core.adoptLog(message.previousOp, message.headers, () => {
      core.beginNormal();
      core.heard();
      core.keepOrRebuildState();
      core.commitUpTo(Math.max(core.commit, message.commit));
      this.acknowledge();
    });
    return true;
  }

  /**
   * Whether a checkpoint has brought this member further than the view had come when the message left, or than it ever
   * came: another view may have begun since, and committed other entries.
   */
  #isOutdated({ previousOp, previousDigest, headers, commit }: StartView): boolean {
    const core = this.#core;
    const op = core.durableCommit;
    const head = headers.at(-1)?.op ?? previousOp;
    const theirs = op === previousOp ? previousDigest : headers[op - previousOp - 1]?.digest;
    const own = core.log.header(op)?.digest;
    const isOther = theirs !== undefined && own !== undefined && theirs !== own;
    assert(!isOther || commit < op, `two members have committed different entries up to op ${op}`);
    return isOther || head < core.commit;
  }

  /** Asks the sender, the primary of its view, for the log of that. */
  requestStartView({ from, view }: Message): void {
    const core = this.#core;
    const now = core.ports.now();
    if (now - this.#startRequestedAt < HEARTBEAT_MILLISECONDS) return;
    this.#startRequestedAt = now;
    core.send(from, { kind: "request_start_view", from: core.index, view, commit: core.commit });
  }

  /** Whether a message comes from the primary of the view that this member is a backup in. */
  #hearsPrimary(message: Prepare | Commit): boolean {
    const core = this.#core;
    if (message.view < core.view) return false;
    const hasBegunHere = message.view === core.view && core.status === "normal";
    if (!hasBegunHere) {
      // The view began without this member, or it has taken a checkpoint since. Of a view before it knows no more
      // whether what it has and does not know to be committed still counts.
      if (message.view > core.view) core.leaveNormal();
      if (core.hearCommit(message.commit)) core.heard();
      else this.requestStartView(message);
      return false;
    }
    core.heard();
    const { stamp, view } = message;
    if (this.#stamp.view !== view || this.#stamp.id < stamp) this.#stamp = { view, id: stamp };
    return true;
  }

  /** Stores an entry of the primary's log where it is not there yet; whether it did. */
  #store(entry: ReplicatedEntry): boolean {
    const { log } = this.#core;
    const { op } = entry.header;
    if (op <= log.baseOp) return false;
    const slot = log.slot(op);
    if (slot.kind === "present" || slot.kind === "missing") {
      assert(slot.header.digest === entry.header.digest, `the log differs from the primary's at op ${op}`);
    }
    return slot.kind !== "present" && log.write(entry);
  }

  #commit(message: Prepare | Commit): void {
    this.#learnCommit(message);
    this.#apply();
    this.acknowledge();
  }

  #learnCommit({ commit, clock }: Prepare | Commit): void {
    const core = this.#core;
    this.#said = { commit, clock, heardAt: core.ports.now() };
    core.learnCommit(Math.min(commit, core.log.lastOp));
  }

  #apply(): void {
    const core = this.#core;
    const { state } = core.ports;
    core.apply();
    // The last entry may be on its way still, in steps between which others read.
    if (!state.isBusy && state.appliedOp >= this.#said.commit) this.#fresh = this.#said;
  }
}
