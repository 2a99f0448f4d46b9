/**
 * A backup's promise to vote for no later view for a while: what a primary's read lease is made of.
 *
 * A restarted member does not know what it promised, and waits as long before its first vote.
 */
import { PROMISE_MILLISECONDS } from "./timeouts.ts";

/** See the head of the file. */
export class VotePromise {
  /** The latest view whose primary may count on the promise. */
  #view: number;
  #until: number;

  /** The promise of a member that has just started, and has been in views up to this one. */
  constructor(view: number, now: number) {
    this.#view = view;
    this.#until = now + PROMISE_MILLISECONDS;
  }

  /** Promises the primary of the view not to vote for a later one. */
  make(view: number, now: number): void {
    this.#view = view;
    this.#until = now + PROMISE_MILLISECONDS;
  }

  /** No primary of the view, or of one before, counts on a promise any more. */
  release(view: number): void {
    if (this.#view <= view) this.#until = -Infinity;
  }

  isRunning(now: number): boolean {
    return now < this.#until;
  }
}
