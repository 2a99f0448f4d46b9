/**
 * Up to which op answers may be given: what is durable alone, what is committed in a replication group.
 *
 * Alone the log itself is the horizon, which keeps a {@link Horizon} of what is durable. A member of a group has
 * another one, which its replica moves to the commit number. An op number names an entry within one view only: when a
 * member stops ordering entries, whoever waits for an op above the commit number must be rejected before the commit
 * number can reach that op in a later view.
 */
import { assert } from "../base/assert.ts";
import type { DatabaseError } from "../base/errors.ts";
import { type OpNumber, opNumber } from "../operations/effect.ts";

/** Up to which op answers may be given. */
export interface CommitHorizon {
  /** Answers that depend on entries up to this op may be given. */
  readonly durableOp: OpNumber;
  /** Resolves once they may be given up to the op; rejects when it is not known whether they ever may. */
  whenDurable(op: number): Promise<void>;
  /** Calls the listener after each advance of `durableOp`, until the returned function is called. */
  onDurable(listener: (durableOp: OpNumber) => void): () => void;
}

interface Waiter {
  readonly op: number;
  readonly resolve: () => void;
  readonly reject: (reason: DatabaseError) => void;
}

/** An op number that grows, and who waits for it. */
export class Horizon implements CommitHorizon {
  #durableOp: number;
  #waiters: Waiter[] = [];
  #failure: DatabaseError | null = null;
  readonly #listeners = new Set<(durableOp: OpNumber) => void>();

  constructor(durableOp: number) {
    this.#durableOp = durableOp;
  }

  get durableOp(): OpNumber {
    return opNumber(this.#durableOp);
  }

  /** Moves forward; does nothing when the op is not beyond. */
  advance(op: number): void {
    if (op <= this.#durableOp) return;
    assert(Number.isSafeInteger(op), `op ${op} is not an op number`);
    this.#durableOp = op;
    const waiters = this.#waiters;
    if (waiters.length > 0) {
      this.#waiters = [];
      for (const waiter of waiters) {
        if (waiter.op <= op) waiter.resolve();
        else this.#waiters.push(waiter);
      }
    }
    this.announce();
  }

  /** Calls those that listen, though it has not moved. */
  announce(): void {
    for (const listener of this.#listeners) listener(this.durableOp);
  }

  /** The entries above the op are gone: whoever waits for one of them is rejected. */
  retreat(op: number, reasonFor: (op: number) => DatabaseError): void {
    this.#durableOp = Math.min(this.#durableOp, op);
    this.#reject((waiter) => waiter.op > op, reasonFor);
  }

  /** Rejects whoever waits. Who comes later waits again. */
  interrupt(reason: DatabaseError): void {
    this.#reject(() => true, () => reason);
  }

  #reject(isMeant: (waiter: Waiter) => boolean, reasonFor: (op: number) => DatabaseError): void {
    const gone = this.#waiters.filter(isMeant);
    this.#waiters = this.#waiters.filter((waiter) => !isMeant(waiter));
    for (const { op, reject } of gone) reject(reasonFor(op));
  }

  /** It will not move any more: rejects whoever waits, and whoever comes later. */
  fail(reason: DatabaseError): void {
    this.#failure ??= reason;
    this.interrupt(reason);
  }

  whenDurable(op: number): Promise<void> {
    if (op <= this.#durableOp) return Promise.resolve();
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#waiters.push({ op, resolve, reject }));
  }

  onDurable(listener: (durableOp: OpNumber) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
