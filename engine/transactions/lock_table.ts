/**
 * Exclusive locks on rows and keys, held from the write until the transaction ends.
 *
 * A lock that is released goes to the longest-waiting transaction at once, so no transaction starves. A wait that
 * would close a cycle in the waits-for graph is refused: the transaction that would close it is the victim (40P01).
 *
 * Invariant: a lock in the table has an owner. A transaction waits for at most one lock or one other transaction.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import { RowIdMap } from "./row_id_map.ts";
import type { Transaction } from "./transaction.ts";

/** What a lock is on: a row id, or an index key as a string that cannot be a row id. */
export type LockKey = number | bigint | string;

/** A transaction in the queue of a lock. */
interface Waiter {
  readonly transaction: Transaction;
  readonly granted: () => void;
}

/** One held lock that another transaction waits for. */
export class Lock {
  readonly space: number;
  readonly key: LockKey;
  owner: Transaction;
  readonly waiters: Waiter[] = [];

  constructor(space: number, key: LockKey, owner: Transaction) {
    this.space = space;
    this.key = key;
    this.owner = owner;
  }
}

/**
 * All held locks. A space is a table id (rows) or an index id (keys). A lock is its owner alone
 * until another transaction asks for it: a transaction may hold millions.
 */
export class LockTable {
  readonly #spaces = new Map<number, RowIdMap<Transaction | Lock>>();
  #count = 0;

  /** Locks held by anybody. */
  get count(): number {
    return this.#count;
  }

  /** Whether anybody holds a lock of the space. */
  hasSpace(space: number): boolean {
    return this.#spaces.has(space);
  }

  /** The lock, if another transaction than this one holds it. */
  heldByOther(space: number, key: LockKey, transaction: Transaction): Lock | undefined {
    if (this.#count === 0) return undefined;
    const held = this.#spaces.get(space)?.get(key);
    if (held === undefined || held === transaction) return undefined;
    if (!(held instanceof Lock)) return this.#asked(space, key, held);
    return held.owner === transaction ? undefined : held;
  }

  /** The lock that only its owner has known of so far. */
  #asked(space: number, key: LockKey, owner: Transaction): Lock {
    const lock = new Lock(space, key, owner);
    this.#spaces.get(space)?.replace(key, lock);
    return lock;
  }

  /**
   * Takes a free lock, or confirms one that the transaction holds. Answers the lock of another owner instead of
   * waiting.
   */
  acquire(space: number, key: LockKey, transaction: Transaction): Lock | undefined {
    let locks = this.#spaces.get(space);
    if (locks === undefined) {
      locks = new RowIdMap();
      this.#spaces.set(space, locks);
    }
    const held = locks.get(key);
    if (held !== undefined) {
      return held === transaction ? undefined : this.heldByOther(space, key, transaction);
    }
    locks.add(key, transaction);
    transaction.locks.push(space, key);
    this.#count++;
    return undefined;
  }

  /**
   * Waits until the transaction owns the lock. Rejects with 40P01 when that would never happen, and with the signal's
   * reason when it is aborted; the place in the queue is given up then.
   */
  wait(lock: Lock, transaction: Transaction, signal: AbortSignal): Promise<void> {
    assert(lock.owner !== transaction, "a transaction waits for its own lock");
    transaction.waitsFor = lock;
    if (closesCycle(transaction)) {
      transaction.waitsFor = null;
      return Promise.reject(deadlock());
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const index = lock.waiters.indexOf(waiter);
        if (index >= 0) lock.waiters.splice(index, 1);
        transaction.waitsFor = null;
        reject(signal.reason);
      };
      const waiter: Waiter = {
        transaction,
        granted: () => {
          signal.removeEventListener("abort", onAbort);
          transaction.waitsFor = null;
          transaction.locks.push(lock.space, lock.key);
          resolve();
        },
      };
      if (signal.aborted) {
        transaction.waitsFor = null;
        reject(signal.reason);
        return;
      }
      signal.addEventListener("abort", onAbort, { once: true });
      lock.waiters.push(waiter);
    });
  }

  /** Gives up all locks of a transaction that has ended; each goes to its first waiter. */
  releaseAll(transaction: Transaction): void {
    const { locks } = transaction;
    for (let at = 0; at < locks.length; at += 2) this.#release(locks[at] as number, locks[at + 1] as LockKey);
    locks.length = 0;
  }

  /** Gives up at most `limit` locks of a transaction that has ended; true: it has none any more. */
  releaseSome(transaction: Transaction, limit: number): boolean {
    this.releaseAfter(transaction, Math.max(0, transaction.locks.length - 2 * limit));
    return transaction.locks.length === 0;
  }

  /**
   * Gives up the locks noted in `Transaction.locks` from a place on (a statement or savepoint that was rolled back).
   */
  releaseAfter(transaction: Transaction, place: number): void {
    const { locks } = transaction;
    while (locks.length > place) {
      const key = locks.pop();
      const space = locks.pop();
      if (key !== undefined) this.#release(space as number, key);
    }
  }

  #release(space: number, key: LockKey): void {
    const locks = this.#spaces.get(space);
    const held = locks?.get(key);
    const next = held instanceof Lock ? held.waiters.shift() : undefined;
    if (held instanceof Lock && next !== undefined) {
      held.owner = next.transaction;
      next.granted();
      return;
    }
    locks?.delete(key);
    if (locks?.size === 0) this.#spaces.delete(space);
    this.#count--;
  }
}

/** The error for the victim of a deadlock. */
export function deadlock(): DatabaseError {
  return new DatabaseError(SQLSTATE.deadlockDetected, "deadlock detected", {
    hint: "Run the transaction again.",
  });
}

/** The 55P03 of lock_timeout. */
export function lockTimeout(): DatabaseError {
  return new DatabaseError(SQLSTATE.lockNotAvailable, "canceling statement due to lock timeout");
}

/** The transaction that another one waits for. */
export function holderFor({ waitsFor }: Transaction): Transaction | null {
  return waitsFor instanceof Lock ? waitsFor.owner : waitsFor;
}

/** Whether following "waits for" from the transaction leads back to it. */
export function closesCycle(transaction: Transaction): boolean {
  const seen = new Set<Transaction>();
  let current = transaction;
  for (;;) {
    const next = holderFor(current);
    if (next === null) return false;
    if (next === transaction) return true;
    if (seen.has(next)) return false;
    seen.add(next);
    current = next;
  }
}
