/**
 * When the log syncs: at once or at the end of the turn, blocking the thread or in the background.
 *
 * An entry that comes alone is not kept waiting for the end of the turn; now and then one is, to find out whether
 * others come with it. With one client alone a sync blocks, which is quicker than the way through the thread pool;
 * every few commits one in the background finds out whether others are waiting.
 */

/** While syncs take longer than this, none blocks the thread. */
const BLOCKING_SYNC_MICROSECONDS = 1000;
/**
 * The same where several wait. Those of a primary wait for its backups as well, which work meanwhile: a sync that takes
 * no longer than they do costs less than the way through the thread pool.
 */
const BLOCKING_GROUP_SYNC_MICROSECONDS = 250;
/**
 * What a blocking sync took counts with this share in what is expected of the next: one that was slow for once
 * changes little.
 */
const SYNC_TIME_WEIGHT = 1 / 8;
/** With each sync in the background less is expected of a blocking one, so that one is tried in the end. */
const SYNC_TIME_DECAY = 0.98;
/** After a blocking sync was found to hold others up, this many syncs run in the background. */
const BACKGROUND_SYNCS = 64;
/** Every so many blocking syncs, one in the background looks for others. */
const PROBE_INTERVAL = 32;
/** Of so many flushes, one waits for the end of the turn; it is an odd number, for entries often come in pairs. */
const GATHERING_INTERVAL = 7;
/** When it finds several entries, so many wait. */
const GATHERING_FLUSHES = 64;
/** More than this is always synced in the background: writing it out takes the disk long. */
const BLOCKING_SYNC_BYTES = 256 * 1024;

/** When the log syncs. */
export class SyncPolicy {
  #backgroundSyncs = 0;
  #blockingSyncs = 0;
  /** How long a blocking sync is expected to take, in microseconds. */
  #syncTime = 0;
  /** So many of the next flushes wait for the end of the turn. */
  #gatheringFlushes = 0;
  #flushesSinceGathering = 0;

  /** Whether several entries came in one turn a short while ago. */
  get hasFoundSeveral(): boolean {
    return this.#gatheringFlushes > 0;
  }

  /** Whether the next flush waits for what else comes in this turn of the event loop. */
  isGathering(): boolean {
    if (this.#gatheringFlushes > 0) return true;
    if (++this.#flushesSinceGathering < GATHERING_INTERVAL) return false;
    this.#flushesSinceGathering = 0;
    return true;
  }

  /** A flush found so many entries. */
  gathered(entries: number): void {
    if (entries > 1) this.#gatheringFlushes = GATHERING_FLUSHES;
    else if (this.#gatheringFlushes > 0) this.#gatheringFlushes--;
  }

  /** Whether the sync of so many bytes may block. `waiters`: for whom; a group's also wait for other members. */
  mayBlock(waiters: "one" | "several" | "group", bytes: number): boolean {
    const limit = waiters === "one" ? BLOCKING_SYNC_MICROSECONDS : BLOCKING_GROUP_SYNC_MICROSECONDS;
    return bytes <= BLOCKING_SYNC_BYTES && this.#syncTime < limit && waiters !== "several" &&
      this.#backgroundSyncs === 0 && this.#blockingSyncs < PROBE_INTERVAL;
  }

  /** A blocking sync took so long. */
  blocked(microseconds: number): void {
    this.#blockingSyncs++;
    this.#syncTime += (microseconds - this.#syncTime) * SYNC_TIME_WEIGHT;
  }

  /** A sync in the background begins. */
  beginBackground(): void {
    this.#blockingSyncs = 0;
    this.#syncTime *= SYNC_TIME_DECAY;
    if (this.#backgroundSyncs > 0) this.#backgroundSyncs--;
  }

  /** It has ended, and others had waited. */
  foundOthers(): void {
    this.#backgroundSyncs = BACKGROUND_SYNCS;
  }
}
