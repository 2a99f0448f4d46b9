/**
 * Exclusive locks on rows and keys, held from the write until the transaction ends.
 *
 * A lock that is released goes to the longest-waiting transaction at once, so nobody starves. A wait that would close
 * a cycle in the waits-for graph is refused: the transaction that would close it is the victim (40P01).
 *
 * Invariant: a lock in the table has an owner. A transaction waits for at most one lock or one other transaction.
 */
import { assert } from "../base/assert.ts";
import { DatabaseError, SQLSTATE } from "../base/errors.ts";
import type { Transaction } from "./transaction.ts";

/** What a lock is on: a row id, or an index key as a string that cannot be a row id. */
export type LockKey = number | bigint | string;

/** A transaction in the queue of a lock. */
interface Waiter {
  readonly transaction: Transaction;
  readonly granted: () => void;
}

/** One held lock. */
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

/** All held locks; see the file's head. A space is a table id (rows) or an index id (keys). */
export class LockTable {
  readonly #spaces = new Map<number, Map<LockKey, Lock>>();
  #count = 0;

  /** Locks held by anybody. */
  get count(): number {
    return this.#count;
  }

  /** The lock, if another transaction than this one holds it. */
  heldByOther(space: number, key: LockKey, transaction: Transaction): Lock | undefined {
    if (this.#count === 0) return undefined;
    const lock = this.#spaces.get(space)?.get(key);
    return lock !== undefined && lock.owner !== transaction ? lock : undefined;
  }

  /** Takes a free lock, or confirms one that the transaction holds. Answers the lock of another owner instead of waiting. */
  acquire(space: number, key: LockKey, transaction: Transaction): Lock | undefined {
    let locks = this.#spaces.get(space);
    if (locks === undefined) {
      locks = new Map();
      this.#spaces.set(space, locks);
    }
    const held = locks.get(key);
    if (held !== undefined) return held.owner === transaction ? undefined : held;
    const lock = new Lock(space, key, transaction);
    locks.set(key, lock);
    transaction.locks.push(lock);
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
          transaction.locks.push(lock);
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
    for (const lock of transaction.locks) this.#release(lock);
    transaction.locks.length = 0;
  }

  /** Gives up at most `limit` locks of a transaction that has ended; true: it has none any more. */
  releaseSome(transaction: Transaction, limit: number): boolean {
    const { locks } = transaction;
    for (let count = 0; count < limit; count++) {
      const lock = locks.pop();
      if (lock === undefined) return true;
      this.#release(lock);
    }
    return locks.length === 0;
  }

  /** Gives up the locks taken after the first `count` ones (a statement or savepoint that was rolled back). */
  releaseAfter(transaction: Transaction, count: number): void {
    while (transaction.locks.length > count) {
      const lock = transaction.locks.pop();
      if (lock !== undefined) this.#release(lock);
    }
  }

  #release(lock: Lock): void {
    const next = lock.waiters.shift();
    if (next !== undefined) {
      lock.owner = next.transaction;
      next.granted();
      return;
    }
    const locks = this.#spaces.get(lock.space);
    locks?.delete(lock.key);
    if (locks?.size === 0) this.#spaces.delete(lock.space);
    this.#count--;
  }
}

/** The error for the victim of a deadlock. */
export function deadlock(): DatabaseError {
  return new DatabaseError(SQLSTATE.deadlockDetected, "deadlock detected", {
    hint: "Run the transaction again.",
  });
}

/** Whether following "waits for" from the transaction leads back to it. */
export function closesCycle(transaction: Transaction): boolean {
  const seen = new Set<Transaction>();
  let current: Transaction | null = transaction;
  while (current !== null) {
    const target: Lock | Transaction | null = current.waitsFor;
    if (target === null) return false;
    const next: Transaction = target instanceof Lock ? target.owner : target;
    if (next === transaction) return true;
    if (seen.has(next)) return false;
    seen.add(next);
    current = next;
  }
  return false;
}
