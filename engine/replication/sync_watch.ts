/**
 * Notices a sync that does not end, as on a disk that hangs: its member must end, for others count on it as long as it
 * answers.
 *
 * What counts is time in which this process has ticked: one that was stopped does not blame its disk for that. A sync
 * that blocks the thread is noticed by the others, who hear nothing.
 */
import { STALL_MILLISECONDS, SYNC_MILLISECONDS } from "./protocol/timeouts.ts";

/** Watches over syncs that follow each other. */
export class SyncWatch {
  #pending: number | bigint | null = null;
  #waited = 0;
  #lookedAt = -Infinity;

  /** Whether it takes too long. `pending` names what waits for a sync now, and changes when one ends; null: nothing. */
  isHanging(pending: number | bigint | null, now: number): boolean {
    const passed = Math.min(now - this.#lookedAt, STALL_MILLISECONDS);
    this.#lookedAt = now;
    this.#waited = pending === null || pending !== this.#pending ? 0 : this.#waited + passed;
    this.#pending = pending;
    return this.#waited >= SYNC_MILLISECONDS;
  }
}
