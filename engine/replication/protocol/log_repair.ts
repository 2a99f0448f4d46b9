/**
 * How a member gets what it should have and has not: entries from any peer, or a checkpoint when the peers' logs do not
 * reach back so far.
 *
 * A member that is far behind fetches what is committed before it joins a view. Where its log has another entry than is
 * committed, that was never committed, and nothing that follows it: it is removed.
 *
 * A checkpoint takes the place of the state and of the log up to its op. What the log has above that stays, for the
 * member has acknowledged it.
 */
import { bytesOf, isSameEntry, type ReplicatedEntry } from "./entry_header.ts";
import type {
  OfferCheckpoint,
  RepairedEntry,
  RepairEntries,
  RequestPrepare,
  WantedEntry,
} from "./message.ts";
import type { ReplicaCore } from "./replica_core.ts";
import {
  MAX_PREPARE_BYTES,
  MAX_REPAIR_ENTRIES,
  MAX_WINDOW_ENTRIES,
  RESEND_MILLISECONDS,
  TRANSFER_PATIENCE_MILLISECONDS,
} from "./timeouts.ts";
import type { ViewChange } from "./view_change.ts";

/** Peers that have an op in their checkpoints only, since the first of them said so. */
interface Offers {
  readonly knownOp: number;
  readonly at: number;
  readonly from: Map<number, OfferCheckpoint>;
}

/** See the head of the file. */
export class LogRepair {
  readonly #core: ReplicaCore;
  readonly #viewChange: ViewChange;
  #requestedAt = -Infinity;
  #peer = 0;
  /** The peer has just sent what was wanted, and is asked for more. */
  #hasAnswered = false;
  #offers: Offers | null = null;
  /** Whose checkpoint is on its way here. */
  #donor: number | null = null;
  /** Peers whose checkpoint did not come, for a file of it may be damaged there: the others' are tried first. */
  readonly #failedDonors = new Set<number>();

  constructor(core: ReplicaCore, viewChange: ViewChange) {
    this.#core = core;
    this.#viewChange = viewChange;
  }

  /** Whether a checkpoint is on its way here. */
  get isTransferring(): boolean {
    return this.#donor !== null;
  }

  /**
   * Up to here this member has what the group has. Where its log is not that of the view, what is not committed may be
   * other entries than the view's, and the others may have forgotten what both have in common.
   */
  get knownOp(): number {
    return this.#isLogOfView ? this.#core.log.solidOp : this.#core.durableCommit;
  }

  tick(): void {
    if (this.#core.ports.now() - this.#requestedAt >= RESEND_MILLISECONDS) this.request();
  }

  /** Asks for what this member should have and has not: who has just sent some of it, else each peer in turn. */
  request(): void {
    const core = this.#core;
    this.#requestedAt = core.ports.now();
    if (core.ports.identity.memberCount === 1) return;
    const wanted = this.#wantedEntries();
    if (wanted.length === 0) return;
    const isTakingOver = this.#viewChange.isLearning || this.#viewChange.isCompletingLog;
    const request: RequestPrepare = { kind: "request_prepare", from: core.index, view: core.view, wanted };
    // Clients wait for a new primary, so that it asks all at once.
    if (isTakingOver && !this.#hasAnswered) core.sendToAll(request);
    else core.send(this.#nextPeer(), request);
  }

  onRequestPrepare({ from, wanted }: RequestPrepare): void {
    const { log, commit, view, index } = this.#core;
    const entries: RepairedEntry[] = [];
    let bytes = 0;
    for (const { op, header } of wanted) {
      const entry = log.read(op);
      if (entry === null) continue;
      // Below the commit number this is the committed entry, unless the superblock's headers say otherwise.
      const isCommitted = op <= commit && log.slot(op).kind === "present";
      const isAsked = header !== null && isSameEntry(header, entry.header);
      if (!isCommitted && !isAsked) continue;
      if (bytes > 0 && bytes + bytesOf(entry) > MAX_PREPARE_BYTES) break;
      entries.push({ entry, isCommitted });
      bytes += bytesOf(entry);
    }
    if (entries.length > 0) this.#core.send(from, { kind: "repair_entries", from: index, view, entries });
    if (wanted.some(({ op }) => op <= log.baseOp)) this.#core.offerCheckpoint(from);
  }

  onRepairEntries({ from, entries }: RepairEntries): void {
    const core = this.#core;
    let hasRepaired = false;
    for (const repaired of entries) hasRepaired = this.#repair(repaired) || hasRepaired;
    if (!hasRepaired) return;
    this.#peer = from;
    this.#hasAnswered = true;
    core.log.advance();
    if (this.#viewChange.isLearning || this.#viewChange.isCompletingLog) {
      core.heardAt = core.ports.now();
      return this.#viewChange.goOn();
    }
    core.apply();
    core.isRepairWanted = true;
  }

  /** A peer has only a checkpoint where this member lacks entries: it is fetched when no peer has more. */
  onCheckpoint(offer: OfferCheckpoint): void {
    const core = this.#core;
    const now = core.ports.now();
    if (core.isPrimary || this.isTransferring) return;
    const { knownOp } = this;
    if (offer.oldestOp <= knownOp + 1) return;
    let offers = this.#offers;
    if (offers === null || offers.knownOp !== knownOp) {
      offers = { knownOp, at: now, from: new Map() };
      this.#offers = offers;
      // The others are asked at once: this member may not know yet what else it wants.
      const wanted = [{ op: knownOp + 1, header: null }];
      core.sendToAll({ kind: "request_prepare", from: core.index, view: core.view, wanted });
    }
    offers.from.set(offer.from, offer);
    const areAll = offers.from.size === core.ports.identity.memberCount - 1;
    if (!areAll && now - offers.at < TRANSFER_PATIENCE_MILLISECONDS) return;
    this.#offers = null;
    const untried = [offer, ...offers.from.values()].find(({ from }) => !this.#failedDonors.has(from));
    if (untried === undefined) this.#failedDonors.clear();
    const { from, op, digest } = untried ?? offer;
    this.#donor = from;
    core.ports.transfer.begin(from, { op, digest });
  }

  onStateTransferFailed(): void {
    if (this.#donor !== null) this.#failedDonors.add(this.#donor);
    this.#donor = null;
  }

  /** A checkpoint has taken the place of the state, and of the log up to the op. */
  onStateTransferred(op: number): void {
    const core = this.#core;
    this.#donor = null;
    this.#failedDonors.clear();
    core.log.restart();
    // The view's log may not be that of the checkpoint, which a later view may have made: it begins here anew.
    core.leaveNormal();
    this.#viewChange.forgetTakeover();
    core.commitUpTo(op);
    // It would cut the log to that of a view which had not come so far.
    core.forgetWhatFollows();
  }

  #wantedEntries(): WantedEntry[] {
    const core = this.#core;
    if (this.#viewChange.isLearning) {
      return this.#viewChange.committedHeaders()
        .flatMap((header, index) => header === null ? [{ op: core.durableCommit + 1 + index, header }] : [])
        .slice(0, MAX_REPAIR_ENTRIES);
    }
    if (this.#isCatchingUp) {
      const first = core.log.firstUnread(core.commit) ?? core.commit + 1;
      const count = Math.min(MAX_REPAIR_ENTRIES, core.heardCommit - first + 1);
      return Array.from({ length: count }, (_, index) => ({ op: first + index, header: null }));
    }
    const first = core.log.firstUnread(core.log.lastOp);
    const wanted: WantedEntry[] = [];
    if (first === null || !this.#isLogOfView) return wanted;
    // Names of older entries are read from files: whatever is damaged far behind the first is looked for later.
    const last = Math.min(core.log.lastOp, first + MAX_WINDOW_ENTRIES);
    for (let op = first; op <= last && wanted.length < MAX_REPAIR_ENTRIES; op++) {
      const slot = core.log.slot(op);
      if (slot.kind !== "present") wanted.push({ op, header: slot.kind === "missing" ? slot.header : null });
    }
    return wanted;
  }

  /** Whether this member's log is that of its view, so that it may be completed. */
  get #isLogOfView(): boolean {
    return this.#core.status === "normal" || this.#viewChange.isCompletingLog;
  }

  /** Takes an entry that this member lacks, or its header; false if it does not. */
  #repair({ entry, isCommitted }: RepairedEntry): boolean {
    const { log, commit } = this.#core;
    const { op } = entry.header;
    if (this.#viewChange.isLearning) return isCommitted && this.#viewChange.learn(entry.header);
    if (op <= log.baseOp) return false;
    if (this.#isCatchingUp) return isCommitted && op <= commit + 1 && this.#catchUp(entry);
    const slot = log.slot(op);
    const isWanted = slot.kind === "missing"
      ? isSameEntry(slot.header, entry.header)
      : slot.kind === "unreadable" && isCommitted && op <= commit;
    return isWanted && this.#isLogOfView && log.write(entry);
  }

  /** A log that is about to be that of a view, which had not come so far, would be cut behind what is fetched. */
  get #isCatchingUp(): boolean {
    return this.#core.isFarBehind && !this.#isLogOfView && !this.#core.isWritingSuperblock;
  }

  /** Takes a committed entry that this member lacks, or that follows what it knows to be committed. */
  #catchUp(entry: ReplicatedEntry): boolean {
    const core = this.#core;
    const { log } = core;
    const { op, previousDigest } = entry.header;
    if (log.header(op - 1)?.digest !== previousDigest) return false;
    const header = log.header(op);
    if (header !== null && header.digest !== entry.header.digest) log.removeFrom(op);
    if (log.slot(op).kind === "present") {
      if (op <= core.commit) return false;
    } else if (!log.write(entry)) return false;
    // A primary of before may have applied what was never committed, and the view that it has left did not look.
    core.keepOrRebuildState();
    core.commitUpTo(op);
    return true;
  }

  #nextPeer(): number {
    const { ports, index } = this.#core;
    const isKept = this.#hasAnswered;
    this.#hasAnswered = false;
    if (isKept) return this.#peer;
    do this.#peer = (this.#peer + 1) % ports.identity.memberCount; while (this.#peer === index);
    return this.#peer;
  }
}
