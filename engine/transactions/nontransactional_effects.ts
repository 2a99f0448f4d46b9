/**
 * What a statement has done outside of its transaction's writes: waited for a time, taken or released a lock of the
 * application. A statement that runs again must not do these things again, so they are counted by name.
 *
 * Invariant: within one attempt, the n-th use of a name is done already if the statement has done it n times.
 */

/** One per transaction that needs it. */
export class NontransactionalEffects {
  readonly #done = new Map<string, number>();
  readonly #met = new Map<string, number>();

  /** A new statement begins: nothing is done yet. */
  beginStatement(): void {
    this.#done.clear();
    this.#met.clear();
  }

  /** The statement runs again from its start. */
  beginAttempt(): void {
    this.#met.clear();
  }

  /** Counts a use of the name; true when an earlier attempt has done it already. */
  meet(name: string): boolean {
    const met = (this.#met.get(name) ?? 0) + 1;
    this.#met.set(name, met);
    return met <= (this.#done.get(name) ?? 0);
  }

  /** The effect that was met last under this name has happened. */
  finish(name: string): void {
    this.#done.set(name, (this.#done.get(name) ?? 0) + 1);
  }
}
