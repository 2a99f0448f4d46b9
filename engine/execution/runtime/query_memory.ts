/**
 * The memory of all statements together.
 *
 * A statement takes its share in steps while it grows. When nothing is left, or others wait, it is stopped with a
 * signal, gives back what it has, waits in the order of arrival, and runs anew with all that it may have in that run.
 *
 * No deadlock: who waits here holds nothing of it, and who holds something waits for nothing here, so each holder ends,
 * or is stopped, without what another one has. Waits for locks take the statement back, too, and its memory with it.
 * What an open cursor holds is given back by its client only; behind it, the time-out ends the wait.
 *
 * A statement that has sent rows cannot be taken back: it takes what its step needs, and waits before the next one
 * until as much has been given back by others. It holds memory meanwhile, so that the time-out is what ends a wait of
 * two such for each other.
 */
import { assert } from "../../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../../base/errors.ts";
import { LIMITS } from "../../base/limits.ts";
import type { TimerId, Timers } from "../../host/host.ts";
import type { Settings } from "../../settings/settings.ts";
import { SpillNeed } from "../../transactions/signals.ts";

/** Whose statements take memory. */
export interface MemoryOwner {
  /** What one of its statements may hold. */
  readonly memoryLimitBytes: number;
  /** Has `query_memory_timeout`: how long it waits for others to give some back; 0: as long as it takes. */
  readonly settings: Pick<Settings, "milliseconds">;
}

/** What has happened so far, and is so now. */
export interface QueryMemoryStatistics {
  readonly totalBytes: number;
  readonly reservedBytes: number;
  /** The most that were reserved at a time. */
  readonly peakBytes: number;
  readonly waiting: number;
  readonly waits: number;
  readonly timeouts: number;
}

/** A statement that waits: for so many bytes at least, and no more than `most`. */
interface Waiter {
  readonly owner: MemoryOwner;
  readonly least: number;
  readonly most: number;
  readonly take: (bytes: number) => void;
}

/** See the file's head. */
export class QueryMemory {
  readonly totalBytes: number;
  readonly #timers: Pick<Timers, "setTimer" | "clearTimer">;
  readonly #waiters = new Set<Waiter>();
  #reserved = 0;
  #peak = 0;
  #waits = 0;
  #timeouts = 0;

  constructor(totalBytes: number, timers: Pick<Timers, "setTimer" | "clearTimer">) {
    this.totalBytes = totalBytes;
    this.#timers = timers;
  }

  /** See {@link QueryMemoryStatistics}. */
  statistics(): QueryMemoryStatistics {
    return {
      totalBytes: this.totalBytes,
      reservedBytes: this.#reserved,
      peakBytes: this.#peak,
      waiting: this.#waiters.size,
      waits: this.#waits,
      timeouts: this.#timeouts,
    };
  }

  /** Whether a statement of it waits. */
  isWaiting(owner: object): boolean {
    for (const waiter of this.#waiters) if (waiter.owner === owner) return true;
    return false;
  }

  /** Reserves so much if it is there and nobody waits. */
  take(bytes: number): boolean {
    if (this.#waiters.size > 0 || this.#reserved + bytes > this.totalBytes) return false;
    this.#reserve(bytes);
    return true;
  }

  /** Reserves so much, whether it is there or not; who does so waits at once for what others give back. */
  overdraw(bytes: number): void {
    this.#reserve(bytes);
  }

  #reserve(bytes: number): void {
    this.#reserved += bytes;
    if (this.#reserved > this.#peak) this.#peak = this.#reserved;
  }

  /** Gives so much back to those who wait. */
  give(bytes: number): void {
    this.#reserved -= bytes;
    assert(this.#reserved >= 0, "no more memory is given back than was taken");
    this.#serve();
  }

  #serve(): void {
    for (const waiter of this.#waiters) {
      const free = this.totalBytes - this.#reserved;
      if (free < waiter.least) return;
      const bytes = Math.min(waiter.most, Math.max(waiter.least, Math.floor(free / this.#waiters.size)));
      this.#waiters.delete(waiter);
      this.#reserve(bytes);
      waiter.take(bytes);
    }
  }

  /** Waits in the queue; calls back once. */
  wait(
    request: { readonly owner: MemoryOwner; readonly least: number; readonly most: number },
    abort: AbortSignal,
    done: (bytes: number) => void,
    failed: (reason: unknown) => void,
  ): void {
    if (abort.aborted) return failed(abort.reason);
    let timer: TimerId | null = null;
    const leave = (): void => {
      this.#waiters.delete(waiter);
      if (timer !== null) this.#timers.clearTimer(timer);
      abort.removeEventListener("abort", onAbort);
    };
    const stop = (reasonOf: () => unknown): void => {
      leave();
      failed(reasonOf());
      // It may have been what kept those behind it from what is there.
      this.#serve();
    };
    const onAbort = (): void => stop(() => abort.reason);
    const waiter: Waiter = {
      ...request,
      take: (bytes) => {
        leave();
        done(bytes);
      },
    };
    this.#waiters.add(waiter);
    this.#serve();
    if (!this.#waiters.has(waiter)) return;
    this.#waits++;
    const milliseconds = request.owner.settings.milliseconds("query_memory_timeout");
    if (milliseconds > 0) {
      timer = this.#timers.setTimer(milliseconds * 1000, () => {
        this.#timeouts++;
        stop(() => this.#refusal(request.least, `It has waited for ${milliseconds / 1000} s.`));
      });
    }
    abort.addEventListener("abort", onAbort, { once: true });
  }

  /** What a statement is answered that cannot wait any longer. */
  #refusal(bytes: number, why: string): DatabaseError {
    return new DatabaseError(
      SQLSTATE.outOfMemory,
      "out of memory: all statements together need more than --query-memory",
      {
        detail: `The statement needs ${megabytes(bytes)} MB; ${megabytes(this.#reserved)} of ${
          megabytes(this.totalBytes)
        } MB are reserved, and ${this.#waiters.size} others wait. ${why}`,
        hint:
          "Run fewer large statements at a time, raise --query-memory, or query_memory_timeout to wait for longer.",
      },
    );
  }

  /** The same when its rows have been sent. */
  refusalBehindRows(bytes: number): DatabaseError {
    return this.#refusal(bytes, "It has sent rows, so that it cannot begin anew.");
  }

  get freeBytes(): number {
    return this.totalBytes - this.#reserved;
  }

  /** What a statement of it takes. */
  share(owner: MemoryOwner): MemoryShare {
    return new MemoryShare(this, owner);
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1048576);
}

/** What one statement has of it, over all of its runs. */
export class MemoryShare {
  readonly #memory: QueryMemory;
  readonly #owner: MemoryOwner;
  #held = 0;
  /** What it may have in a run that it has waited for; null: what it is allowed, as far as there is some. */
  #runBytes: number | null = null;
  #isOverdrawn = false;

  constructor(memory: QueryMemory, owner: MemoryOwner) {
    this.#memory = memory;
    this.#owner = owner;
  }

  /** What it may hold in this run. */
  get limitBytes(): number {
    return this.#runBytes ?? this.#fullBytes;
  }

  get #fullBytes(): number {
    return Math.min(this.#owner.memoryLimitBytes, this.#memory.totalBytes);
  }

  /** It has waited for what it may hold in this run. */
  get hasWaited(): boolean {
    return this.#runBytes !== null;
  }

  /** More may be had in another run. */
  get isCut(): boolean {
    return this.limitBytes < this.#fullBytes;
  }

  /** What it holds. */
  get heldBytes(): number {
    return this.#held;
  }

  /** So much, and some more within the limit. */
  #stepOf(bytes: number): number {
    return Math.max(bytes, Math.min(this.limitBytes, Math.ceil(bytes / STEP_BYTES) * STEP_BYTES));
  }

  /** Takes so much altogether, and some more. false: that must be waited for. */
  grow(bytes: number): boolean {
    const wanted = this.#stepOf(bytes);
    if (wanted <= this.#held) return true;
    if (!this.#memory.take(wanted - this.#held)) return false;
    this.#held = wanted;
    return true;
  }

  /** It has taken what was not there, and {@link waitForOthers} comes before it goes on. */
  get isOverdrawn(): boolean {
    return this.#isOverdrawn;
  }

  /** Takes so much altogether, whether it is there or not. */
  overdraw(bytes: number): void {
    const wanted = this.#stepOf(bytes);
    if (wanted <= this.#held) return;
    this.#memory.overdraw(wanted - this.#held);
    this.#held = wanted;
    this.#isOverdrawn = true;
  }

  /** Waits until others have given back what it has taken of theirs; fails after the time-out. */
  waitForOthers(abort: AbortSignal, done: () => void, failed: (reason: unknown) => void): void {
    this.#isOverdrawn = false;
    this.#memory.wait({ owner: this.#owner, least: 0, most: 0 }, abort, () => done(), failed);
  }

  /** Gives all back; doing so twice is no error. */
  release(): void {
    const held = this.#held;
    if (held === 0) return;
    this.#isOverdrawn = false;
    this.#held = 0;
    this.#memory.give(held);
  }

  /** Stops the statement so that it waits. `spills`: it can write to files what it cannot hold. */
  need(bytes: number, spills: boolean): SpillNeed {
    const full = this.#fullBytes;
    const isFirst = this.#runBytes === null;
    const least = isFirst && spills ? Math.min(full, Math.max(LIMITS.spillingMemoryBytes, full / 4)) : full;
    const wanted = isFirst || this.isCut && bytes > this.limitBytes ? least : this.limitBytes;
    const request = { owner: this.#owner, least: wanted, most: isFirst ? full : wanted };
    return new SpillNeed(this.#memory.refusalBehindRows(wanted), {
      spills,
      begin: (abort, done, failed) => {
        this.release();
        this.#memory.wait(request, abort, (taken) => {
          this.#held = this.#runBytes = taken;
          done();
        }, failed);
      },
    });
  }
}

/** What parts of one statement hold in other threads. It is taken before they begin, and does not grow. */
export class MemoryLoan {
  readonly #memory: QueryMemory;
  #held = 0;

  constructor(memory: QueryMemory) {
    this.#memory = memory;
  }

  /**
   * Takes what parts are likely to hold that keep so much by their estimates, within `most`: all of `most` where there
   * is plenty, and less where there is less. 0: there is too little.
   */
  take(kept: number, most: number): number {
    const least = Math.min(most, LIMITS.spillingMemoryBytes);
    const isPlenty = this.#memory.freeBytes > PLENTY * most;
    let bytes = Math.floor(isPlenty ? most : Math.min(most, Math.max(least, kept)));
    while (!this.#memory.take(bytes)) {
      if (bytes <= least) return 0;
      bytes = Math.floor(Math.max(least, bytes / 2));
    }
    this.#held += bytes;
    return bytes;
  }

  /** Gives all back; doing so twice is no error. */
  release(): void {
    const held = this.#held;
    this.#held = 0;
    if (held > 0) this.#memory.give(held);
  }
}

/** Estimates decide where no more than so many such statements would find room. */
const PLENTY = 4;

/** A statement takes more in steps of so much. */
const STEP_BYTES = 1 << 20;
