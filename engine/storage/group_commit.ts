/**
 * Makes a log durable in groups: entries of one turn of the event loop, and those that arrive while a sync runs, share
 * the next write and sync. `sync_policy.ts` says when, and whether the thread waits for it.
 */
import type { Host } from "../host/host.ts";
import type { LogTail } from "./log_tail.ts";
import { SyncPolicy } from "./sync_policy.ts";

/** What group commit asks of its log. */
export interface CommittedLog {
  lastOp(): number;
  durableOp(): number;
  /** Neither closed nor failed. */
  isUsable(): boolean;
  /** Whether all entries come from the primary of a replication group, which waits for their sync. */
  isBackup(): boolean;
  /** At that primary: what sends entries to others. That comes first, so a sync waits for the end of the turn. */
  sendAppended(): (() => void) | null;
  readonly tail: LogTail;
  /** A sync that began after everything up to the op was written has ended well. */
  synced(op: number): void;
  /** A write or a sync has failed. */
  fail(cause: unknown): void;
}

/** See the head of the file. */
export class GroupCommit {
  readonly #host: Pick<Host, "clock" | "timers">;
  readonly #log: CommittedLog;
  readonly #policy = new SyncPolicy();
  #scheduled = false;
  #flushing: Promise<void> | null = null;
  /** Bytes of records that no sync has begun for. */
  #unsyncedBytes = 0;
  /** How often the end of the log was removed. */
  #truncations = 0;
  /** How often the log was made durable. */
  syncs = 0;
  /** Names the sync that is under way in the background; null: there is none. */
  pendingSync: number | null = null;

  constructor(host: Pick<Host, "clock" | "timers">, log: CommittedLog) {
    this.#host = host;
    this.#log = log;
  }

  /** Whether several entries tend to come in one turn. */
  get hasManyWriters(): boolean {
    return this.#policy.hasFoundSeveral;
  }

  /** The flush that is under way. */
  get flushing(): Promise<void> | null {
    return this.#flushing;
  }

  /** An entry of so many bytes is part of the log. */
  appended(bytes: number): void {
    this.#unsyncedBytes += bytes;
    this.#schedule();
  }

  /** The end of the log is removed: what a sync under way was for may be gone, with others in its place. */
  truncated(): void {
    this.#truncations++;
  }

  #schedule(): void {
    if (this.#scheduled || this.#flushing !== null) return;
    this.#scheduled = true;
    // What a backup gets at once is all there is.
    const isGathering = !this.#log.isBackup() && this.#policy.isGathering();
    const turn = this.#log.sendAppended() !== null || isGathering
      ? this.#host.timers.endOfTurn()
      : Promise.resolve();
    void turn.then(() => this.#startFlush());
  }

  /** Whether there is something to flush. */
  get #isBehind(): boolean {
    const log = this.#log;
    return log.durableOp() < log.lastOp() && log.isUsable();
  }

  #startFlush(): void {
    this.#scheduled = false;
    if (this.#flushing !== null || !this.#isBehind) return;
    this.#flushing = this.#flush().then(() => {
      this.#flushing = null;
      // Whoever waited for the last sync may have appended before this ran.
      if (this.#isBehind) this.#schedule();
    });
  }

  async #flush(): Promise<void> {
    const log = this.#log;
    while (this.#isBehind) {
      try {
        log.sendAppended()?.();
        log.tail.writeOut();
        const target = log.lastOp();
        const truncations = this.#truncations;
        const entries = target - log.durableOp();
        this.#policy.gathered(entries);
        const isAhead = log.tail.syncingAhead !== null;
        if (!isAhead && this.#policy.mayBlock(this.#waiters(entries), this.#unsyncedBytes)) {
          this.#syncBlocking();
        } else await this.#syncInBackground(target);
        // Meanwhile the log may have failed, or what the sync was for may be gone.
        if (log.isUsable() && truncations === this.#truncations) log.synced(target);
      } catch (error) {
        log.fail(error);
      }
    }
  }

  #waiters(entries: number): "one" | "several" | "group" {
    if (entries === 1 || this.#log.isBackup()) return "one";
    return this.#log.sendAppended() === null ? "several" : "group";
  }

  #syncBlocking(): void {
    this.syncs++;
    this.#unsyncedBytes = 0;
    const start = this.#host.clock.monotonic();
    this.#log.tail.syncBlocking();
    this.#policy.blocked(this.#host.clock.monotonic() - start);
  }

  async #syncInBackground(target: number): Promise<void> {
    const entries = target - this.#log.durableOp();
    this.syncs++;
    this.#policy.beginBackground();
    this.#unsyncedBytes = 0;
    this.pendingSync = this.syncs;
    try {
      await this.#log.tail.sync();
    } finally {
      this.pendingSync = null;
    }
    const isMember = this.#log.isBackup() || this.#log.sendAppended() !== null;
    if (isMember) return;
    if (entries > 1 || this.#log.lastOp() > target) this.#policy.foundOthers();
  }
}
