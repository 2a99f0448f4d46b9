/**
 * Locks of the application (`pg_advisory_lock` and its kin): exclusive or shared, held by a session until it releases
 * them, or until the transaction ends. They say nothing about data.
 *
 * A session never waits for itself. Whoever waits is in a queue; a lock that becomes free goes to the first in it,
 * and to all that can share it with that one. A wait that would close a cycle is refused (40P01), through the locks
 * of rows too.
 */
import { assertDefined } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { LIMITS } from "../base/limits.ts";
import type { Host } from "../host/host.ts";
import { holdersFor, lockTimeout } from "./lock_table.ts";
import { cycleFrom, deadlock, type WaitingClient } from "./wait_cycles.ts";
import { NontransactionalEffects } from "./nontransactional_effects.ts";
import { OutsideWait } from "./signals.ts";
import type { StateFloor } from "./isolation_level.ts";
import type { Transaction } from "./transaction.ts";

/** How a lock is wanted. */
export interface LockRequest {
  /** One 64-bit key or two 32-bit ones, as text; the two spaces are apart. */
  readonly key: string;
  readonly shared: boolean;
  /** true: until the transaction ends. */
  readonly transactional: boolean;
}

/** A session that takes locks. */
export interface LockingSession extends WaitingClient {
  readonly currentTransaction: Transaction | null;
  readonly settings: { milliseconds(name: "lock_timeout"): number };
  /** What a lock protects is read behind it. */
  readonly need: StateFloor;
}

/** The server whose sessions share the locks. */
export interface LockingServer {
  readonly host: Pick<Host, "timers">;
  readonly lastOp: number;
  readonly sessions: Iterable<LockingSession>;
}

interface Holding {
  readonly session: LockingSession;
  readonly request: LockRequest;
}

interface Waiter extends Holding {
  readonly transaction: Transaction;
  readonly granted: () => void;
}

/** Who waits for what, and whom to tell when that fails. */
interface WaitRequest extends Holding {
  readonly transaction: Transaction;
  readonly abort: AbortSignal;
  readonly failed: (reason: unknown) => void;
}

interface AdvisoryLock {
  readonly key: string;
  /** One entry for each time that it was taken. */
  readonly held: Holding[];
  readonly queue: Waiter[];
}

/** A row of pg_locks. */
export interface AdvisoryLockEntry {
  readonly classId: number;
  readonly objectId: number;
  readonly part: number;
  readonly processId: number;
  readonly shared: boolean;
  readonly granted: boolean;
}

/** The advisory locks of one server. */
export class AdvisoryLocks {
  readonly #server: LockingServer;
  readonly #locks = new Map<string, AdvisoryLock>();
  readonly #waiting = new Map<LockingSession, AdvisoryLock>();
  /** How many locks each session holds. */
  readonly #held = new Map<LockingSession, number>();

  constructor(server: LockingServer) {
    this.#server = server;
  }

  /** `pg_advisory_lock` and `pg_advisory_xact_lock`: stops the statement until the lock is there. */
  lock(session: LockingSession, request: LockRequest): void {
    const { transaction, outside } = effectsOf(session);
    const name = `lock ${request.key} ${request.shared} ${request.transactional}`;
    if (outside.meet(name)) return;
    this.#requireRoom(session);
    if (this.#take(session, request, transaction)) {
      outside.finish(name);
      // What the lock protects is often read next: a transaction that has read nothing yet sees the newest state.
      if (
        transaction.snapshot < this.#server.lastOp && transaction.reads.length === 0 &&
        !transaction.hasEffects
      ) {
        throw new OutsideWait((_abort, done) => done());
      }
      return;
    }
    throw new OutsideWait((abort, done, failed) => {
      this.#wait({ session, request, transaction, abort, failed }, () => {
        outside.finish(name);
        done();
      });
    });
  }

  /** `pg_try_advisory_lock` and its kin. */
  tryLock(session: LockingSession, request: LockRequest): boolean {
    const { transaction, outside } = effectsOf(session);
    const name = `lock ${request.key} ${request.shared} ${request.transactional}`;
    if (outside.meet(name)) return true;
    this.#requireRoom(session);
    if (!this.#take(session, request, transaction)) return false;
    outside.finish(name);
    return true;
  }

  /** `pg_advisory_unlock`; false when the session does not hold the lock. */
  unlock(session: LockingSession, key: string, shared: boolean): boolean {
    const { outside } = effectsOf(session);
    const name = `unlock ${key} ${shared}`;
    if (outside.meet(name)) return true;
    if (!this.#release(session, key, shared)) return false;
    outside.finish(name);
    return true;
  }

  /** Releases all that the session holds beyond its transaction, or all without exception. */
  releaseAll(session: LockingSession, options: { readonly transactional: boolean }): void {
    for (const lock of [...this.#locks.values()]) {
      this.#drop(
        lock,
        (each) => each.session === session && (options.transactional || !each.request.transactional),
      );
    }
  }

  /** All locks held and waited for, for pg_locks. */
  entries(): AdvisoryLockEntry[] {
    return [...this.#locks.values()].flatMap((lock) => [
      ...lock.held.map((each) => entryOf(lock.key, each, true)),
      ...lock.queue.map((each) => entryOf(lock.key, each, false)),
    ]);
  }

  /** Takes the lock if it is free. */
  #take(session: LockingSession, request: LockRequest, transaction: Transaction): boolean {
    const lock = this.#lock(request.key);
    if (!isCompatible(lock, session, request)) return false;
    // Those who wait come first, unless the session has the lock already.
    if (lock.queue.length > 0 && !lock.held.some((each) => each.session === session)) return false;
    this.#hold(lock, { session, request }, transaction);
    return true;
  }

  /** Calls back when the session has the lock. */
  #wait(request: WaitRequest, granted: () => void): void {
    const { session, transaction, abort, failed } = request;
    const lock = this.#lock(request.request.key);
    const first = blockers(lock, session, request.request);
    const cycle = cycleFrom(session, (each) => each === session ? first : this.#blockersOf(each));
    if (cycle !== null) return failed(deadlock(cycle));
    if (abort.aborted) return failed(abort.reason);
    const { timers } = this.#server.host;
    let timer: number | null = null;
    const leave = (): void => {
      if (timer !== null) timers.clearTimer(timer);
      abort.removeEventListener("abort", onAbort);
      this.#waiting.delete(session);
      transaction.waitsFor = null;
    };
    const giveUp = (reason: unknown): void => {
      leave();
      const place = lock.queue.indexOf(waiter);
      if (place >= 0) lock.queue.splice(place, 1);
      this.#serve(lock);
      failed(reason);
    };
    const onAbort = (): void => giveUp(abort.reason);
    const waiter: Waiter = {
      session,
      request: request.request,
      transaction,
      granted: () => {
        leave();
        granted();
      },
    };
    abort.addEventListener("abort", onAbort, { once: true });
    const milliseconds = session.settings.milliseconds("lock_timeout");
    if (milliseconds > 0) {
      timer = timers.setTimer(milliseconds * 1000, () => giveUp(lockTimeout()));
    }
    this.#waiting.set(session, lock);
    transaction.waitsFor = lock.held.find((each) => each.session !== session)?.session.currentTransaction ??
      null;
    lock.queue.push(waiter);
    this.#serve(lock);
  }

  /** Releases one of the session's own holdings; false when there is none. */
  #release(session: LockingSession, key: string, shared: boolean): boolean {
    const lock = this.#locks.get(key);
    const place =
      lock?.held.findIndex((each) =>
        each.session === session && each.request.shared === shared && !each.request.transactional
      ) ?? -1;
    if (lock === undefined || place < 0) return false;
    lock.held.splice(place, 1);
    this.#count(session, -1);
    this.#serve(lock);
    return true;
  }

  /** Raises 53200 when the session holds as many locks as it may. */
  #requireRoom(session: LockingSession): void {
    if ((this.#held.get(session) ?? 0) < LIMITS.maximumAdvisoryLocks) return;
    throw new DatabaseError(SQLSTATE.outOfMemory, "too many advisory locks in this session", {
      hint: `The limit is ${LIMITS.maximumAdvisoryLocks}; release those that are no longer needed.`,
    });
  }

  #count(session: LockingSession, change: number): void {
    const count = (this.#held.get(session) ?? 0) + change;
    if (count === 0) this.#held.delete(session);
    else this.#held.set(session, count);
  }

  #lock(key: string): AdvisoryLock {
    let lock = this.#locks.get(key);
    if (lock === undefined) {
      lock = { key, held: [], queue: [] };
      this.#locks.set(key, lock);
    }
    return lock;
  }

  #hold(lock: AdvisoryLock, holding: Holding, transaction: Transaction): void {
    lock.held.push(holding);
    this.#count(holding.session, 1);
    holding.session.need.raiseFloor();
    if (!holding.request.transactional) return;
    transaction.ended.push(() => this.#drop(lock, (each) => each === holding));
  }

  #drop(lock: AdvisoryLock, isDropped: (holding: Holding) => boolean): void {
    const kept = lock.held.filter((each) => !isDropped(each));
    if (kept.length === lock.held.length) return;
    for (const each of lock.held) if (isDropped(each)) this.#count(each.session, -1);
    lock.held.splice(0, lock.held.length, ...kept);
    this.#serve(lock);
  }

  /** Gives the lock to as many of the queue as can have it, in order. */
  #serve(lock: AdvisoryLock): void {
    for (let next = lock.queue[0]; next !== undefined; next = lock.queue[0]) {
      if (!isCompatible(lock, next.session, next.request)) break;
      lock.queue.shift();
      this.#hold(lock, { session: next.session, request: next.request }, next.transaction);
      next.granted();
    }
    if (lock.held.length === 0 && lock.queue.length === 0 && this.#locks.get(lock.key) === lock) {
      this.#locks.delete(lock.key);
    }
  }

  /** Sessions that keep the session from going on. */
  *#blockersOf(session: LockingSession): Generator<LockingSession> {
    for (const { session: other } of this.#waiting.get(session)?.held ?? []) {
      if (other !== session) yield other;
    }
    const holders = session.currentTransaction ? holdersFor(session.currentTransaction) : [];
    for (const other of holders.length === 0 ? [] : this.#server.sessions) {
      if (other.currentTransaction !== null && holders.includes(other.currentTransaction)) yield other;
    }
  }
}

function isCompatible(lock: AdvisoryLock, session: LockingSession, request: LockRequest): boolean {
  return blockers(lock, session, request).length === 0;
}

/** Sessions whose holding is in the way. */
function blockers(lock: AdvisoryLock, session: LockingSession, request: LockRequest): LockingSession[] {
  return lock.held.filter((each) => each.session !== session && !(request.shared && each.request.shared)).map(
    (each) => each.session,
  );
}

/** The transaction of the statement that asks, and what it has done before it ran again. */
export function effectsOf(
  session: Pick<LockingSession, "currentTransaction">,
): { readonly transaction: Transaction; readonly outside: NontransactionalEffects } {
  const transaction = assertDefined(session.currentTransaction, "transaction of a running statement");
  transaction.requireTrue();
  transaction.outside ??= new NontransactionalEffects();
  return { transaction, outside: transaction.outside };
}

function entryOf(key: string, holding: Holding, granted: boolean): AdvisoryLockEntry {
  const parts = key.split(",");
  const bits = BigInt.asUintN(64, BigInt(parts[0] ?? "0"));
  return {
    classId: parts.length === 2 ? Number(BigInt.asUintN(32, bits)) : Number(bits >> 32n),
    objectId: parts.length === 2
      ? Number(BigInt.asUintN(32, BigInt(parts[1] ?? "0")))
      : Number(BigInt.asUintN(32, bits)),
    part: parts.length,
    processId: holding.session.processId,
    shared: holding.request.shared,
    granted,
  };
}
