/**
 * Locks on rows and keys, held from the write until the transaction ends.
 *
 * A row is locked in one of four modes, as in PostgreSQL: who deletes it or changes what foreign keys refer to keeps
 * everybody out, who changes the rest of it lets those in who only need it to stay; see {@link conflicts}. Keys are
 * locked for one transaction alone. Locks go to those who wait in the order in which they came, so no transaction
 * starves. A wait that would close a cycle in the waits-for graph is refused: the transaction that would close it is
 * the victim (40P01).
 *
 * Invariant: a lock in the table has an owner. A transaction waits for at most one lock or one other transaction.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { StoredValue } from "../operations/effect.ts";
import { RowIdMap } from "./row_id_map.ts";
import { cycleFrom, deadlock, type WaitingClient } from "./wait_cycles.ts";

/** What a lock is on: a row id, or an index key as a string that cannot be a row id. */
export type LockKey = number | bigint | string;

/** How much a lock keeps out: FOR KEY SHARE, FOR SHARE, FOR NO KEY UPDATE, FOR UPDATE. */
export const LOCK_MODES = { keyShare: 0, share: 1, noKeyUpdate: 2, update: 3 } as const;

/** See {@link LOCK_MODES}. */
export type LockMode = (typeof LOCK_MODES)[keyof typeof LOCK_MODES];

/** Whether two transactions cannot hold a lock in these modes at once. */
function conflicts(left: LockMode, right: LockMode): boolean {
  return left + right >= LOCK_MODES.update;
}

/** A transaction, as far as locks go. */
export interface LockOwner {
  /** The locks it holds: space and key of each, in the order in which they were taken. */
  readonly locks: (number | LockKey)[];
  /** How many locks, and stronger modes of them, it has been given so far. */
  grants: number;
  /** What it waits for, for deadlock detection. */
  waitsFor: Lock | LockOwner | null;
  /** Whose it is, for the errors of others. */
  readonly client?: WaitingClient | undefined;
}

/** A transaction in the queue of a lock. */
interface Waiter {
  readonly transaction: LockOwner;
  readonly mode: LockMode;
  readonly granted: () => void;
}

/** One held lock that several transactions hold or want, or that lets others in. */
export class Lock {
  readonly space: number;
  readonly key: LockKey;
  readonly owners: Map<LockOwner, LockMode>;
  readonly waiters: Waiter[] = [];

  constructor(space: number, key: LockKey, owner: LockOwner, mode: LockMode) {
    this.space = space;
    this.key = key;
    this.owners = new Map([[owner, mode]]);
  }

  /** Those other owners that keep the transaction from having it in this mode. */
  rivals(transaction: LockOwner, mode: LockMode): LockOwner[] {
    const rivals: LockOwner[] = [];
    for (const [owner, held] of this.owners) {
      if (owner !== transaction && conflicts(held, mode)) rivals.push(owner);
    }
    return rivals;
  }

  /** Who waits in front of the transaction and would be kept out by it: one that owns it already passes them. */
  before(transaction: LockOwner, mode: LockMode): LockOwner[] {
    const rivals: LockOwner[] = [];
    if (this.owners.has(transaction)) return rivals;
    for (const waiter of this.waiters) {
      if (waiter.transaction === transaction) break;
      if (conflicts(waiter.mode, mode)) rivals.push(waiter.transaction);
    }
    return rivals;
  }

  /** Whether the transaction may have it in this mode now. */
  isFreeFor(transaction: LockOwner, mode: LockMode): boolean {
    return this.rivals(transaction, mode).length === 0 && this.before(transaction, mode).length === 0;
  }

  /** Notes an owner, in the stronger of the modes that it has asked for. Answers whether it is a new one. */
  own(transaction: LockOwner, mode: LockMode): boolean {
    const held = this.owners.get(transaction);
    if (held === undefined || held < mode) {
      this.owners.set(transaction, mode);
      transaction.grants++;
    }
    return held === undefined;
  }
}

/**
 * What a transaction has locked of a space by a set, where it has locked too many to note each. Who waits for one of
 * them waits until the set is given up, and then asks again.
 */
export class SetLock extends Lock {
  readonly set: LockedSet;

  constructor(space: number, key: string, owner: LockOwner, set: LockedSet) {
    super(space, key, owner, LOCK_MODES.update);
    this.set = set;
  }
}

/** Row ids, or keys of an index, that are locked together. */
export interface LockedSet {
  has(key: number | readonly StoredValue[]): boolean;
}

/** What the keys of sets begin with. */
const SET_KEY = "set ";

/**
 * All held locks. A space is a table id (rows) or an index id (keys). A lock that lets nobody else in is its owner
 * alone until another transaction asks for it: a transaction may hold millions.
 */
export class LockTable {
  readonly #spaces = new Map<number, RowIdMap<LockOwner | Lock>>();
  /** By space. */
  readonly #sets = new Map<number, SetLock[]>();
  #setsSoFar = 0;
  #count = 0;

  /** Locks held by anybody. */
  get count(): number {
    return this.#count;
  }

  /** Whether others may hold locks of the space. */
  mayHaveOthers(space: number, transaction: LockOwner): boolean {
    if (this.#count === 0) return false;
    return this.#spaces.has(space) ||
      this.#sets.get(space)?.some(({ owners }) => !owners.has(transaction)) === true;
  }

  /**
   * Locks what nobody else has locked of a space: what is in the set, or comes into it, until the transaction gives up
   * its locks.
   */
  lockSet(space: number, set: LockedSet, transaction: LockOwner): string {
    const lock = new SetLock(space, `${SET_KEY}${++this.#setsSoFar}`, transaction, set);
    const sets = this.#sets.get(space);
    if (sets === undefined) this.#sets.set(space, [lock]);
    else sets.push(lock);
    this.#count++;
    transaction.locks.push(space, lock.key);
    transaction.grants++;
    return lock.key as string;
  }

  /** Gives up a lock before the transaction ends; of a set `key` is what {@link lockSet} has answered. */
  giveUp(space: number, key: LockKey, transaction: LockOwner): void {
    const place = placeOf(transaction, space, key);
    if (place < 0) return;
    transaction.locks.splice(place, 2);
    this.#release(space, key, transaction);
  }

  /** The sets that are locked of a space. */
  setsOf(space: number): readonly SetLock[] {
    return this.#sets.get(space) ?? [];
  }

  /** The set of another transaction that the row id, or the values of an index key, is in. */
  otherSet(
    space: number,
    key: LockKey | readonly StoredValue[],
    transaction: LockOwner,
  ): Lock | undefined {
    if (this.#sets.size === 0 || typeof key === "string" || typeof key === "bigint") return undefined;
    return this.#sets.get(space)?.find(({ owners, set }) => !owners.has(transaction) && set.has(key));
  }

  /** The lock, if other transactions than this one hold it, or wait for it, in a mode that keeps this one out. */
  heldByOther(
    space: number,
    key: LockKey,
    transaction: LockOwner,
    mode: LockMode = LOCK_MODES.update,
  ): Lock | undefined {
    if (this.#count === 0) return undefined;
    const set = this.otherSet(space, key, transaction);
    if (set !== undefined) return set;
    const held = this.#spaces.get(space)?.get(key);
    if (held === undefined || held === transaction) return undefined;
    if (!(held instanceof Lock)) return this.#asked(space, key, held);
    return (held.owners.get(transaction) ?? -1) >= mode || held.isFreeFor(transaction, mode)
      ? undefined
      : held;
  }

  /** The lock that only its owner has known of so far. */
  #asked(space: number, key: LockKey, owner: LockOwner): Lock {
    const lock = new Lock(space, key, owner, LOCK_MODES.update);
    this.#spaces.get(space)?.replace(key, lock);
    return lock;
  }

  /**
   * Takes a free lock, or confirms one that the transaction holds. Answers the lock of others instead of waiting.
   */
  acquire(
    space: number,
    key: LockKey,
    transaction: LockOwner,
    mode: LockMode = LOCK_MODES.update,
  ): Lock | undefined {
    const set = this.otherSet(space, key, transaction);
    if (set !== undefined) return set;
    let locks = this.#spaces.get(space);
    if (locks === undefined) {
      locks = new RowIdMap();
      this.#spaces.set(space, locks);
    }
    const held = locks.get(key);
    if (held === transaction) return undefined;
    if (held === undefined) {
      locks.add(key, mode === LOCK_MODES.update ? transaction : new Lock(space, key, transaction, mode));
      this.#count++;
      transaction.grants++;
    } else {
      if (!(held instanceof Lock)) return this.#asked(space, key, held);
      if ((held.owners.get(transaction) ?? -1) >= mode) return undefined;
      if (!held.isFreeFor(transaction, mode)) return held;
      if (!held.own(transaction, mode)) return undefined;
    }
    transaction.locks.push(space, key);
    return undefined;
  }

  /**
   * Waits until the transaction owns the lock. Rejects with 40P01 when that would never happen, and with the signal's
   * reason when it is aborted; the place in the queue is given up then.
   */
  wait(
    lock: Lock,
    transaction: LockOwner,
    signal: AbortSignal,
    mode: LockMode = LOCK_MODES.update,
  ): Promise<void> {
    assert(!lock.isFreeFor(transaction, mode), "a transaction waits for its own lock");
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#leave(lock, waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        transaction,
        mode,
        granted: () => {
          signal.removeEventListener("abort", onAbort);
          transaction.waitsFor = null;
          resolve();
        },
      };
      // One that holds it already and wants more of it passes those who have nothing yet: they wait for it, too.
      const place = lock.owners.has(transaction)
        ? lock.waiters.findIndex((each) => !lock.owners.has(each.transaction))
        : -1;
      lock.waiters.splice(place < 0 ? lock.waiters.length : place, 0, waiter);
      transaction.waitsFor = lock;
      const error = deadlockOf(transaction);
      if (error !== null) {
        this.#leave(lock, waiter);
        reject(error);
        return;
      }
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** One that waits gives up its place: those behind it may have their turn. */
  #leave(lock: Lock, waiter: Waiter): void {
    waiter.transaction.waitsFor = null;
    const place = lock.waiters.indexOf(waiter);
    if (place < 0) return;
    lock.waiters.splice(place, 1);
    this.#grant(lock);
  }

  /** Gives the lock to those who have waited longest, as far as they can have it together. */
  #grant(lock: Lock): void {
    for (let next = lock.waiters[0]; next !== undefined; next = lock.waiters[0]) {
      const { transaction, mode } = next;
      if (lock.rivals(transaction, mode).length > 0) return;
      lock.waiters.shift();
      if (lock.own(transaction, mode)) transaction.locks.push(lock.space, lock.key);
      next.granted();
    }
  }

  /** Gives up all locks of a transaction that has ended; each goes to its first waiters. */
  releaseAll(transaction: LockOwner): void {
    const { locks } = transaction;
    for (let at = 0; at < locks.length; at += 2) {
      this.#release(locks[at] as number, locks[at + 1] as LockKey, transaction);
    }
    locks.length = 0;
  }

  /** Gives up at most `limit` locks of a transaction that has ended; true: it has none any more. */
  releaseSome(transaction: LockOwner, limit: number): boolean {
    this.releaseAfter(transaction, Math.max(0, transaction.locks.length - 2 * limit));
    return transaction.locks.length === 0;
  }

  /**
   * Gives up the locks noted in `Transaction.locks` from a place on (a statement or savepoint that was rolled back).
   */
  releaseAfter(transaction: LockOwner, place: number): void {
    const { locks } = transaction;
    while (locks.length > place) {
      const key = locks.pop();
      const space = locks.pop();
      if (key !== undefined) this.#release(space as number, key, transaction);
    }
  }

  #release(space: number, key: LockKey, transaction: LockOwner): void {
    if (typeof key === "string" && key.startsWith(SET_KEY) && this.#releaseSet(space, key)) return;
    const locks = this.#spaces.get(space);
    const held = locks?.get(key);
    if (held instanceof Lock) {
      held.owners.delete(transaction);
      this.#grant(held);
      if (held.owners.size > 0) return;
    }
    locks?.delete(key);
    if (locks?.size === 0) this.#spaces.delete(space);
    this.#count--;
  }

  /** Gives up a set; those who wait for a part of it ask again. false: there is none, the key is an index's. */
  #releaseSet(space: number, key: string): boolean {
    const sets = this.#sets.get(space) ?? [];
    const lock = sets.find((each) => each.key === key);
    if (lock === undefined) return false;
    if (sets.length === 1) this.#sets.delete(space);
    else sets.splice(sets.indexOf(lock), 1);
    this.#count--;
    for (const { granted } of lock.waiters.splice(0)) granted();
    return true;
  }
}

/** Where a lock is noted in {@link LockOwner.locks}; -1: the transaction does not hold it. */
export function placeOf({ locks }: LockOwner, space: number, key: LockKey): number {
  let place = locks.length - 2;
  while (place >= 0 && (locks[place] !== space || locks[place + 1] !== key)) place -= 2;
  return Math.max(place, -1);
}

/** The 55P03 of lock_timeout. */
export function lockTimeout(): DatabaseError {
  return new DatabaseError(SQLSTATE.lockNotAvailable, "canceling statement due to lock timeout");
}

/** The transactions that another one waits for. */
export function holdersFor(waiting: LockOwner): readonly LockOwner[] {
  const { waitsFor } = waiting;
  if (waitsFor === null) return [];
  if (!(waitsFor instanceof Lock)) return [waitsFor];
  const mode = waitsFor.waiters.find((each) => each.transaction === waiting)?.mode ?? LOCK_MODES.update;
  return [...waitsFor.rivals(waiting, mode), ...waitsFor.before(waiting, mode)];
}

/** What is wrong with the wait that the transaction has just begun; null: it closes no cycle. */
export function deadlockOf(transaction: LockOwner): DatabaseError | null {
  const cycle = cycleFrom(transaction, holdersFor);
  return cycle === null ? null : deadlock(cycle.map((each) => each.client ?? null));
}
