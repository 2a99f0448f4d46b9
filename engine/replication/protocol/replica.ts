/**
 * One member of a replication group: Viewstamped Replication over ports, with protocol-aware recovery of damaged logs.
 *
 * The replica is synchronous and has no clock of its own. Its owner calls `onMessage`, `onTick`, `onDurable`,
 * `onSuperblockDurable` and, at the primary, `onAppended`; it calls its ports. `docs/replication.md` has the protocol,
 * its states and its invariants.
 *
 * Invariants: no vote, entry or acknowledgement of a view leaves before the superblock with that view is durable (what
 * a member wants or asks for may, for it binds nobody); a backup acknowledges only what it has durable without a gap;
 * it applies only what is committed; an entry above the commit number is removed only after the superblock names the
 * log that goes without it.
 */
import { assert, unreachable } from "../../base/assert.ts";
import { Backup } from "./backup.ts";
import { DiskRecovery } from "./disk_recovery.ts";
import type { EntryHeader } from "./entry_header.ts";
import { LogRepair } from "./log_repair.ts";
import type { Message } from "./message.ts";
import type { ReplicaPorts } from "./ports.ts";
import { ReplicaCore, type ReplicaStatus } from "./replica_core.ts";
import { STALL_MILLISECONDS, TICK_MILLISECONDS } from "./timeouts.ts";
import { ViewChange } from "./view_change.ts";

export type { ReplicaPorts } from "./ports.ts";
export type { ReplicaStatus } from "./replica_core.ts";

/** See the head of the file. */
export class Replica {
  readonly #core: ReplicaCore;
  readonly #backup: Backup;
  readonly #viewChange: ViewChange;
  readonly #repair: LogRepair;
  readonly #recovery: DiskRecovery;
  #tickedAt: number;
  #afterHandOver: (() => void) | null = null;

  /** Goes on from what the log and the superblock hold. */
  constructor(ports: ReplicaPorts) {
    this.#core = new ReplicaCore(ports);
    this.#tickedAt = ports.now();
    this.#backup = new Backup(this.#core);
    this.#viewChange = new ViewChange(this.#core);
    this.#repair = new LogRepair(this.#core, this.#viewChange);
    this.#recovery = new DiskRecovery(this.#core);
    this.#core.apply();
  }

  get view(): number {
    return this.#core.view;
  }

  get status(): ReplicaStatus {
    return this.#core.status;
  }

  /** Every op up to here is durable at a quorum. */
  get commit(): number {
    return this.#core.commit;
  }

  /** Whether this member orders entries. */
  get isPrimary(): boolean {
    return this.#core.isPrimary;
  }

  /** Whether this primary's state is that of its whole log, so that it may append. */
  get isReady(): boolean {
    return this.#core.isReady;
  }

  /** Whether this primary may answer: the log that its view began with is committed in it. */
  get canServe(): boolean {
    return this.isReady && this.#viewChange.primary?.canServe === true;
  }

  /** Whether a read of this primary's state may be answered now; else when an entry behind it is committed. */
  get canRead(): boolean {
    return this.isReady && this.#viewChange.primary?.canRead === true;
  }

  /** Whether a checkpoint of another member is on its way here. */
  get isTransferring(): boolean {
    return this.#repair.isTransferring;
  }

  /** Whether a checkpoint at the op would bring this member further: asked again before it takes the state's place. */
  wantsCheckpoint(op: number): boolean {
    return !this.isPrimary && op > this.#repair.knownOp;
  }

  /**
   * How old the applied state may be, in milliseconds: a backup's by the primary's wall clock; a primary's is the
   * newest as long as a quorum follows it.
   */
  get staleness(): number {
    const { primary } = this.#viewChange;
    return primary === null ? this.#backup.staleness : primary.staleness;
  }

  /** What a primary knows of a backup; null elsewhere, and before the backup has acknowledged the view. */
  backupProgress(index: number): { readonly durableOp: number; readonly lagMilliseconds: number } | null {
    return this.#viewChange.primary?.backupProgress(index) ?? null;
  }

  /** The member that orders entries in this view, as far as this one knows. */
  get primaryIndex(): number {
    return this.#core.primaryOf(this.#core.view);
  }

  /** The header of the newest op of this member's log. */
  get lastHeader(): EntryHeader {
    return this.#core.lastHeader;
  }

  /**
   * Before this member stops: a primary gives up its lease and lets the most advanced backup begin a view at once.
   * `done` is called when that has begun, or when there is nothing to hand over. Until then the next primary may need
   * entries that only this member has; its owner waits for that with a time limit.
   */
  handOver(done: () => void = () => {}): void {
    const core = this.#core;
    const heir = this.#viewChange.primary?.mostAdvancedBackup() ?? null;
    if (heir === null) return done();
    this.#afterHandOver = done;
    const releasedView = core.view;
    let view = releasedView + 1;
    while (core.primaryOf(view) !== heir) view++;
    core.patience.handedOver(core.ports.now());
    this.#viewChange.enter(view, () => {
      core.sendToAll({ kind: "hand_over", from: core.index, view, releasedView });
    });
  }

  // --- what the owner reports ---

  /** The primary's engine has written entries of this view at the end of the log, and applied them. */
  onAppended(): void {
    const { primary } = this.#viewChange;
    assert(primary !== null && this.isReady, "only a primary appends");
    primary.sendEntries();
    this.#afterEvent();
  }

  /** Another member fetches files or pieces of a large entry from this one. */
  onFetch(from: number): void {
    this.#viewChange.primary?.onFetch(from);
  }

  /** More of the log has become durable. */
  onDurable(): void {
    const { primary } = this.#viewChange;
    const hasAdvanced = this.#core.log.advance();
    if (primary === null) this.#backup.onDurable();
    else if (hasAdvanced) primary.countCommit();
    this.#afterEvent();
  }

  /** The state is no longer busy. */
  onApplied(): void {
    // In a view change the state may have what the log goes without; the view begins with a look at that.
    if (this.status === "normal") this.#core.apply();
    this.#afterEvent();
  }

  /** The newest state given to the superblock store is durable. */
  onSuperblockDurable(): void {
    this.#core.onSuperblockDurable();
    // What a new primary lacked may have come while the superblock was written for another reason.
    this.#viewChange.goOn();
    this.#afterEvent();
  }

  /**
   * A checkpoint of another member is the state now, asked for by `StateTransfer.begin` or for damage. The log goes on
   * from it, and may reach back before its end.
   */
  onStateTransferred(op: number, digest: bigint): void {
    const { log } = this.#core.ports;
    const isContinued = log.oldestOp <= op || log.baseDigest === digest;
    assert(log.checkpointOp === op && isContinued, `the log does not go on from the checkpoint of op ${op}`);
    this.#repair.onStateTransferred(op);
    this.#afterEvent();
  }

  /** The checkpoint did not come; the state is as it was. */
  onStateTransferFailed(): void {
    this.#repair.onStateTransferFailed();
  }

  /** Called every `TICK_MILLISECONDS`. */
  onTick(): void {
    const core = this.#core;
    const now = core.ports.now();
    const stall = now - this.#tickedAt - TICK_MILLISECONDS;
    this.#tickedAt = now;
    // What came while this member itself was held up is heard before another is suspected.
    if (stall > STALL_MILLISECONDS) core.heardAt = Math.min(now, core.heardAt + stall);
    if (core.status === "recovering") return this.#recovery.tick();
    const { primary } = this.#viewChange;
    if (primary === null) {
      this.#viewChange.tick();
    } else if (!primary.tick()) {
      core.leaveNormal();
      core.silenceMilliseconds = 0;
    }
    core.tickSuperblock();
    this.#repair.tick();
    this.#afterEvent();
  }

  /** A message has arrived. Messages may be lost, repeated, late. */
  onMessage(message: Message): void {
    if (this.#core.status === "recovering") {
      if (message.kind === "recovery_response") this.#recovery.onRecoveryResponse(message);
      return;
    }
    this.#receive(message);
    this.#afterEvent();
  }

  /**
   * A piece of a large entry has come from a member, or it has asked for one: it lives, and is in this view. Whoever
   * waits for a primary that fetches or sends such an entry hears of it for long by that alone.
   */
  onSign({ from, view }: { readonly from: number; readonly view: number }): void {
    const core = this.#core;
    if (view !== core.view) return;
    const { primary } = this.#viewChange;
    if (primary !== null) primary.heard(from);
    else if (from === this.primaryIndex || core.isPrimaryOfView) core.heardAt = core.ports.now();
  }

  #receive(message: Message): void {
    const core = this.#core;
    const primary = message.view === core.view ? this.#viewChange.primary : null;
    switch (message.kind) {
      case "prepare":
        this.#onLaterView(message);
        return this.#backup.onPrepare(message);
      case "prepare_ok":
        return primary?.onPrepareOk(message);
      case "commit":
        this.#onLaterView(message);
        return this.#backup.onCommit(message);
      case "start_view_change":
        return this.#viewChange.onStartViewChange(message);
      case "hand_over":
        return this.#viewChange.onHandOver(message);
      case "request_vote":
        return this.#viewChange.onRequestVote(message);
      case "do_view_change":
        return this.#viewChange.onDoViewChange(message);
      case "start_view":
        this.#onLaterView(message);
        if (this.#backup.onStartView(message)) this.#onViewBegun();
        return;
      case "request_start_view":
        return primary?.onRequestStartView(message);
      case "request_prepare":
        this.onFetch(message.from);
        return this.#repair.onRequestPrepare(message);
      case "repair_entries":
        return this.#repair.onRepairEntries(message);
      case "checkpoint":
        return this.#repair.onCheckpoint(message);
      case "recovery":
        return this.#recovery.onRecovery(message);
      case "recovery_response":
        return;
      default:
        unreachable(message);
    }
  }

  /** A primary speaks: nobody follows this member into an earlier view, whose log may have what nobody has any more. */
  #onLaterView({ view }: Message): void {
    if (view > this.#core.view) this.#viewChange.forgetTakeover();
  }

  #onViewBegun(): void {
    this.#viewChange.over();
    const done = this.#afterHandOver;
    this.#afterHandOver = null;
    done?.();
  }

  #afterEvent(): void {
    const core = this.#core;
    if (!core.isRepairWanted) return;
    core.isRepairWanted = false;
    this.#repair.request();
  }
}
