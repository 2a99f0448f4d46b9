/**
 * Watches over the disk of a member: one that is full makes it wait, and a primary hand over; one that hangs is the end
 * of it, for it holds up those that count on it.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { isDiskFull } from "../host/disk.ts";
import type { Log } from "../storage/log.ts";
import type { Superblock } from "./superblock.ts";
import { SyncWatch } from "./sync_watch.ts";
import { SYNC_MILLISECONDS } from "./protocol/timeouts.ts";

/** How often a full disk is said, and handed over for. */
const FULL_DISK_MILLISECONDS = 10_000;

/** See the head of the file. */
export class DiskWatch {
  /** Monotonic milliseconds. */
  readonly #now: () => number;
  readonly #report: (line: string) => void;
  readonly #logSyncs = new SyncWatch();
  readonly #superblockSyncs = new SyncWatch();
  #fullAt = -Infinity;
  #handedOverAt = -Infinity;

  constructor(now: () => number, report: (line: string) => void) {
    this.#now = now;
    this.#report = report;
  }

  /** Whether the error says that the disk is full, which is reported now and then. */
  isFull(error: unknown): boolean {
    if (!isDiskFull(error)) return false;
    const now = this.#now();
    if (now - this.#fullAt >= FULL_DISK_MILLISECONDS) {
      this.#fullAt = now;
      this.#report(`${error.message}: this member waits for space, and the others go on`);
    }
    return true;
  }

  /** Whether a primary must let another member serve, which may have space for what is written. */
  mustHandOver({ log, stepWait }: { readonly log: Log; readonly stepWait: Promise<void> | null }): boolean {
    if (!log.isFull && stepWait === null) return false;
    const now = this.#now();
    if (now - this.#handedOverAt < FULL_DISK_MILLISECONDS) return false;
    this.#handedOverAt = now;
    this.#report("there is no space for what is written: another member is to serve");
    return true;
  }

  /** Raises 58030 when a sync has not ended for too long; called at each tick. `log`: null while none is open. */
  checkSyncs(log: Log | null, superblock: Superblock): void {
    const now = this.#now();
    const isLog = this.#logSyncs.isHanging(log?.pendingSync ?? null, now);
    const isSuperblock = this.#superblockSyncs.isHanging(superblock.pendingWrite, now);
    if (!isLog && !isSuperblock) return;
    throw new DatabaseError(
      SQLSTATE.ioError,
      `a sync of the ${isLog ? "log" : "superblock"} has not ended in ${SYNC_MILLISECONDS / 1000} s: ` +
        "the disk hangs, and this member ends",
    );
  }
}
