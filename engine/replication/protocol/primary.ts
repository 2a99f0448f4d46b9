/**
 * A member as the primary of one view: it sends entries, counts who has them, and knows whether it may answer reads.
 *
 * What a quorum has durable is committed; the primary counts like any other member. Reads are answered under the lease
 * (`ReadLease`), or when an entry behind them is committed.
 */
import { assert } from "../../base/assert.ts";
import { BackupProgress } from "./backup_progress.ts";
import { EagerBackups } from "./eager_backups.ts";
import { bytesOf, type ReplicatedEntry } from "./entry_header.ts";
import type { Prepare, PrepareOk, RequestStartView, StartView } from "./message.ts";
import { ReadLease } from "./read_lease.ts";
import type { ReplicaCore } from "./replica_core.ts";
import {
  HEARTBEAT_MILLISECONDS,
  LONELY_MILLISECONDS,
  MAX_PREPARE_BYTES,
  MAX_PREPARE_ENTRIES,
  MAX_QUEUED_BYTES,
  MAX_START_HEADERS,
  RESEND_MILLISECONDS,
  SPARE_LOOK_MILLISECONDS,
  SPARE_MILLISECONDS,
  STUCK_MILLISECONDS,
} from "./timeouts.ts";

/** See the head of the file. */
export class Primary {
  readonly #core: ReplicaCore;
  /** By index of the member; this member's own place is unused. */
  readonly #backups: BackupProgress[];
  readonly #others: readonly number[];
  /** The last op of the log that the view began with. */
  readonly #viewStartOp: number;
  /** What begins the view at a backup that has not acknowledged it; headers from the commit number of all votes on. */
  readonly #startView: StartView;
  readonly #lease: ReadLease;
  readonly #eager: EagerBackups;
  /** When it was last looked whether entries wait for long, and the last op then. */
  #looked = { at: -Infinity, op: 0 };
  #offeredAt = -Infinity;
  /** When a backup last acknowledged more or fetched something, or no entry waited. */
  #progressAt: number;

  /** The primary of a view whose log is here; `startView` begins it at every member that has voted. */
  constructor(core: ReplicaCore, startView: StartView) {
    this.#core = core;
    this.#viewStartOp = core.log.lastOp;
    const now = core.ports.now();
    this.#progressAt = now;
    const count = core.ports.identity.memberCount;
    this.#backups = Array.from({ length: count }, () => new BackupProgress(now, core.log.lastOp + 1));
    this.#others = [...this.#backups.keys()].filter((index) => index !== core.index);
    this.#startView = startView;
    this.#lease = new ReadLease(core.ports);
    this.#eager = new EagerBackups(this.#others, core.quorum - 1);
  }

  /** Lets the others begin the view. */
  begin(): void {
    this.#core.sendToAll(this.#startView);
  }

  /** Whether clients may be answered: the log that the view began with is committed in it. */
  get canServe(): boolean {
    return this.#core.commit >= this.#viewStartOp;
  }

  /** Whether a read may be answered now, without an entry behind it. */
  get canRead(): boolean {
    return this.canServe && this.#lease.isValid;
  }

  /** How long ago this member was surely the only primary, in milliseconds. */
  get staleness(): number {
    return this.canRead ? 0 : this.#lease.age;
  }

  /** Another member fetches what it lacks, which may take long: that is progress, too. */
  onFetch(from: number): void {
    this.#progressAt = this.#backup(from).heardAt = this.#core.ports.now();
  }

  /**
   * False when it hears too few backups: another member may be the primary of a later view by now. Or when they answer
   * and acknowledge nothing: whatever holds them up, another view may be free of it.
   */
  tick(): boolean {
    const core = this.#core;
    const now = core.ports.now();
    const others = this.#others;
    const heard = others.filter((index) =>
      now - this.#backup(index).heardAt < LONELY_MILLISECONDS * core.patienceWith(index)
    );
    if (heard.length < core.quorum - 1) return false;
    if (core.commit >= core.log.lastOp) this.#progressAt = now;
    if (now - this.#progressAt >= STUCK_MILLISECONDS) return false;
    this.#lookAtWaiting(now);
    for (const index of others) {
      const backup = this.#backup(index);
      if (backup.acknowledgedOp < 0 && now - backup.sentAt >= RESEND_MILLISECONDS) {
        backup.sentAt = now;
        core.send(index, this.#startView);
      }
      // What waits to leave is not lost.
      if (this.#queuedBytes(index) === 0) backup.resendWhenStalled(core.log.lastOp, now);
      if (this.#isDue(index, now)) this.#sendEntriesTo(index);
      if (now - backup.sentAt >= HEARTBEAT_MILLISECONDS) this.#sendCommit(index);
    }
    if (now - this.#offeredAt >= RESEND_MILLISECONDS) this.#offerCheckpoints(others, now);
    return true;
  }

  /** A backup has said something. */
  heard(index: number): void {
    this.#backup(index).heardAt = this.#core.ports.now();
  }

  /** Sends what is new in the log. */
  sendEntries(): void {
    const now = this.#core.ports.now();
    this.#eager.turn();
    this.#lookAtWaiting(now);
    let shared: Prepare | null = null;
    for (const index of this.#eager.order) {
      if (this.#isDue(index, now)) shared = this.#sendEntriesTo(index, shared);
    }
    this.countCommit();
  }

  /** Entries that were there at the last look, and that no quorum has yet, go to the spare backups as well. */
  #lookAtWaiting(now: number): void {
    const { at, op } = this.#looked;
    if (now - at < SPARE_LOOK_MILLISECONDS) return;
    const { commit, log } = this.#core;
    this.#looked = { at: now, op: log.lastOp };
    if (commit < op) this.#eager.late(log.solidOp < op);
  }

  #isDue(index: number, now: number): boolean {
    return this.#eager.isEager(index) || now - this.#backup(index).sentAt >= SPARE_MILLISECONDS;
  }

  /** Commits what a quorum has durable; the primary itself counts like any other member. */
  countCommit(): void {
    const core = this.#core;
    const durable = this.#backups.map((backup, index) =>
      index === core.index ? core.log.solidOp : backup.acknowledgedOp
    );
    const commit = durable.sort((a, b) => b - a)[core.quorum - 1] ?? 0;
    if (commit > core.commit) core.commitUpTo(commit);
  }

  /** What a backup is known to have durable; null before it has acknowledged the view. */
  backupProgress(index: number): { readonly durableOp: number; readonly lagMilliseconds: number } | null {
    const { commit, ports } = this.#core;
    const backup = this.#backup(index);
    if (backup.acknowledgedOp < 0) return null;
    return {
      durableOp: backup.acknowledgedOp,
      lagMilliseconds: backup.lagMilliseconds(commit, ports.now()),
    };
  }

  onPrepareOk(message: PrepareOk): void {
    const backup = this.#backup(message.from);
    const now = this.#core.ports.now();
    if (message.op > backup.acknowledgedOp) this.#progressAt = now;
    backup.acknowledge(message.op, now);
    const has = (index: number) => this.#backup(index).acknowledgedOp;
    this.#eager.acknowledged(message.from, message.op, has);
    this.countCommit();
    backup.measureLag(this.#core.commit, now);
    if (this.#isDue(message.from, now)) this.#sendEntriesTo(message.from);
    this.#lease.echoed(message.from, message.stamp);
  }

  /** A backup joins the view, or joins it again after it has lost what it had. */
  onRequestStartView(message: RequestStartView): void {
    const core = this.#core;
    this.#backups[message.from] = new BackupProgress(core.ports.now(), core.log.lastOp + 1);
    if (message.commit < core.log.baseOp) this.#core.offerCheckpoint(message.from);
    else {
      const startView = startViewFrom(core, message.commit);
      // Damage has been found in this log: it is repaired, and the backup asks again.
      if (startView === null) core.isRepairWanted = true;
      else core.send(message.from, startView);
    }
  }

  /** The backup that has acknowledged the most, of those that answer; null without any. */
  mostAdvancedBackup(): number | null {
    const now = this.#core.ports.now();
    let best: number | null = null;
    for (const index of this.#others) {
      const { acknowledgedOp, heardAt } = this.#backup(index);
      if (acknowledgedOp < 0 || now - heardAt >= LONELY_MILLISECONDS) continue;
      if (best === null || acknowledgedOp > this.#backup(best).acknowledgedOp) best = index;
    }
    return best;
  }

  /** Sends what the window allows; answers the last message. `shared`: one that may be what is to be sent. */
  #sendEntriesTo(index: number, shared: Prepare | null = null): Prepare | null {
    const { log, ports } = this.#core;
    const backup = this.#backup(index);
    let message = shared;
    while (backup.nextOp <= log.lastOp && this.#hasRoom(index)) {
      if (message?.previousOp !== backup.nextOp - 1) message = this.#prepareFrom(backup.nextOp);
      const last = message?.entries.at(-1);
      if (message === null || last === undefined) return null;
      const bytes = message.entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
      backup.sent({ op: last.header.op, bytes, isFetched: last.largeBytes !== undefined, at: ports.now() });
      this.#core.send(index, message);
    }
    return message;
  }

  /** Null: what the primary itself cannot read, it fetches first; what only its checkpoint has, it offers. */
  #prepareFrom(op: number): Prepare | null {
    const previous = this.#core.log.header(op - 1);
    const entries = this.#entriesFrom(op);
    if (entries.length === 0 || previous === null) return null;
    return {
      kind: "prepare",
      from: this.#core.index,
      view: this.#core.view,
      previousOp: previous.op,
      previousDigest: previous.digest,
      entries,
      commit: this.#core.commit,
      stamp: this.#lease.stamp(),
      clock: this.#clock(),
    };
  }

  /** Entries for one message. */
  #entriesFrom(first: number): ReplicatedEntry[] {
    const { log } = this.#core;
    const entries: ReplicatedEntry[] = [];
    let bytes = 0;
    for (let op = first; op <= log.lastOp && entries.length < MAX_PREPARE_ENTRIES; op++) {
      const entry = log.read(op);
      if (entry === null || (bytes > 0 && bytes + bytesOf(entry) > MAX_PREPARE_BYTES)) break;
      entries.push(entry);
      bytes += bytesOf(entry);
      if (entry.largeBytes !== undefined) break;
    }
    return entries;
  }

  /** Whether a backup may be sent more before it acknowledges something, or the network takes it. */
  #hasRoom(index: number): boolean {
    return this.#backup(index).isWindowOpen && this.#queuedBytes(index) < MAX_QUEUED_BYTES;
  }

  #queuedBytes(index: number): number {
    return this.#core.ports.bus.queuedBytes?.(index) ?? 0;
  }

  #sendCommit(index: number): void {
    const core = this.#core;
    const { op, digest } = core.lastHeader;
    this.#backup(index).sentAt = core.ports.now();
    core.send(index, {
      kind: "commit",
      from: core.index,
      view: core.view,
      op,
      digest,
      commit: core.commit,
      stamp: this.#lease.stamp(),
      clock: this.#clock(),
      checkpoint: core.ports.transfer.proof,
    });
  }

  /** Backups that want entries which are in a checkpoint only. */
  #offerCheckpoints(others: readonly number[], now: number): void {
    this.#offeredAt = now;
    for (const index of others) {
      const { acknowledgedOp } = this.#backup(index);
      if (acknowledgedOp >= 0 && acknowledgedOp < this.#core.log.baseOp) this.#core.offerCheckpoint(index);
    }
  }

  #clock(): number {
    return Math.max(0, Math.floor(this.#core.ports.wallNow()));
  }

  #backup(index: number): BackupProgress {
    const backup = this.#backups[index];
    assert(backup !== undefined, `there is no member ${index}`);
    return backup;
  }
}

/** What a backup needs that has the log up to the op; null when a header of it cannot be read. */
export function startViewFrom(core: ReplicaCore, op: number): StartView | null {
  const { log, index, view, commit } = core;
  const previous = log.header(Math.max(Math.min(op, commit), commit - MAX_START_HEADERS, log.baseOp));
  if (previous === null) return null;
  const headers = log.headersBetween(previous.op, log.lastOp);
  if (headers.length < log.lastOp - previous.op) return null;
  return {
    kind: "start_view",
    from: index,
    view,
    commit,
    previousOp: previous.op,
    previousDigest: previous.digest,
    headers,
  };
}
