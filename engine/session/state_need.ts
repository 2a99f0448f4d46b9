/**
 * What a session's reads ask of the state: that it has applied an op which its client has seen elsewhere (`min_op`, or
 * the op of a request), and, at a follower, that it is not older than `follower_max_staleness`. A statement waits for
 * that, before its snapshot is taken, and then fails with 57P03.
 */
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { OpNumber } from "../operations/effect.ts";
import type { Settings } from "../settings/settings.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { SessionTimeouts } from "./session_timeouts.ts";

/** The engine, as far as the age of its state goes. */
export interface AgingEngine {
  readonly lastOp: OpNumber;
  readonly durableOp: OpNumber;
  /** How old the state may be, in milliseconds; 0 where it is the newest. */
  readonly staleness: number;
  /** Resolves when it holds, which is looked at again and again; rejects when the signal is aborted. */
  whenState(holds: () => boolean, abort: AbortSignal): Promise<void>;
}

/** See the head of the file. */
export class StateNeed {
  readonly #engine: AgingEngine;
  readonly #settings: Settings;
  readonly #isFollower: boolean;
  #derivedAt = -1;
  #settingOp = 0;
  #maximumStaleness = Infinity;
  #requestOp = 0;
  #newest = 0;
  #newestState = 0;

  constructor(engine: AgingEngine, settings: Settings, isFollower: boolean) {
    this.#engine = engine;
    this.#settings = settings;
    this.#isFollower = isFollower;
    settings.provide("seen_op", () => String(this.seenOp));
    settings.provide("read_from", () => isFollower ? "follower" : "primary");
  }

  /** What the requests from now on need besides what is set; 0: nothing. */
  set requestOp(op: number) {
    this.#requestOp = op;
  }

  /** An answer depends on the entry. */
  saw<Op extends number>(op: Op): Op {
    if (op > this.#newest) this.#newest = op;
    return op;
  }

  /** A state with this op has everything that the session can have seen and changed, as far as it is committed. */
  get seenOp(): number {
    return Math.max(this.#newest, Math.min(this.#engine.durableOp, this.#engine.lastOp));
  }

  /**
   * No state before this op is to be read. A statement that writes, locks or fails may depend on entries that are not
   * durable yet, and the statements behind it see these, too.
   */
  get floor(): number {
    this.#derive();
    return Math.max(this.#newest, this.#newestState, this.#op);
  }

  /** What came so far belongs to every state that is read from now on. */
  raiseFloor(): void {
    this.#newestState = this.#engine.lastOp;
  }

  /** Null: the state is new enough. */
  wait(timeouts: SessionTimeouts, cancellation: { readonly signal: AbortSignal }): Promise<void> | null {
    this.#derive();
    if (!this.#isFollower && this.#op === 0 || this.#isMet()) return null;
    timeouts.stateWaitBegins(() => this.#unmet());
    return this.#engine.whenState(() => this.#isMet(), cancellation.signal).finally(() => {
      timeouts.stateWaitEnds();
    });
  }

  /** Raises 25001 when a transaction, whose snapshot stays what it is, cannot have what is asked for. */
  requireIn({ snapshot }: Transaction): void {
    this.#derive();
    if (snapshot >= this.#op) return;
    throw new DatabaseError(
      SQLSTATE.activeSqlTransaction,
      `the transaction reads at op ${snapshot}, before op ${this.#op}`,
      { hint: "Ask for the op before the transaction begins." },
    );
  }

  get #op(): number {
    return Math.max(this.#settingOp, this.#requestOp);
  }

  #isMet(): boolean {
    if (this.#engine.lastOp < this.#op) return false;
    return !this.#isFollower || this.#engine.staleness <= this.#maximumStaleness;
  }

  #unmet(): DatabaseError {
    const { lastOp, staleness } = this.#engine;
    const message = lastOp < this.#op
      ? `op ${this.#op} is not applied here yet; the state is at op ${lastOp}`
      : staleness === Infinity
      ? "the state here may be of any age: this member is connected to no primary"
      : `the state here may be ${Math.round(staleness)} ms old, more than follower_max_staleness`;
    return new DatabaseError(SQLSTATE.cannotConnectNow, message, {
      hint: `Try again in a second, at another member, or at the primary.${
        lastOp < this.#op ? "" : " A clock that is ahead makes a state look old."
      }`,
    });
  }

  #derive(): void {
    const settings = this.#settings;
    if (this.#derivedAt === settings.generation) return;
    this.#derivedAt = settings.generation;
    this.#settingOp = Number(settings.get("min_op"));
    const bound = settings.milliseconds("follower_max_staleness");
    this.#maximumStaleness = bound < 0 ? Infinity : bound;
  }
}

/** How often a state is looked at that does not come by an entry: its age. */
const LOOK_MICROSECONDS = 10_000;

/** Those who wait for a newer state. */
export class StateWaits {
  readonly #timers: { setTimer(delayMicroseconds: number, callback: () => void): unknown };
  readonly #waiting = new Set<() => void>();
  #isLooking = false;

  constructor(timers: { setTimer(delayMicroseconds: number, callback: () => void): unknown }) {
    this.#timers = timers;
  }

  /** See {@link AgingEngine.whenState}. */
  until(holds: () => boolean, abort: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#waiting.delete(look);
        abort.removeEventListener("abort", onAbort);
        settle();
      };
      const look = (): void => {
        if (holds()) end(resolve);
      };
      const onAbort = (): void => end(() => reject(abort.reason));
      abort.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(look);
      this.#lookLater();
    });
  }

  /** The state is newer. */
  look(): void {
    for (const look of this.#waiting) look();
  }

  #lookLater(): void {
    if (this.#isLooking || this.#waiting.size === 0) return;
    this.#isLooking = true;
    this.#timers.setTimer(LOOK_MICROSECONDS, () => {
      this.#isLooking = false;
      this.look();
      this.#lookLater();
    });
  }
}
