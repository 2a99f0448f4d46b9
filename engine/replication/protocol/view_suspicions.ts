/**
 * Which members hear no primary, and which view they want.
 *
 * A member that is cut off suspects alone, for ever, and changes nothing: a view begins only when a quorum wants it at
 * the same time. This is the pre-vote of other protocols.
 */
import { SUSPICION_MILLISECONDS } from "./timeouts.ts";

interface Suspicion {
  readonly view: number;
  readonly at: number;
}

/** The newest `start_view_change` of each member. */
export class ViewSuspicions {
  readonly #newest = new Map<number, Suspicion>();

  /** Member `from` wants the view, as of `now`. */
  add(from: number, view: number, now: number): void {
    this.#newest.set(from, { view, at: now });
  }

  /** The highest view that any member wants; 0 without any. */
  highest(now: number): number {
    return Math.max(0, ...this.#fresh(now));
  }

  /** The highest view that a quorum wants, or a higher one; 0 without any. */
  agreed(quorum: number, now: number): number {
    return this.#fresh(now).sort((a, b) => b - a)[quorum - 1] ?? 0;
  }

  clear(): void {
    this.#newest.clear();
  }

  #fresh(now: number): number[] {
    return [...this.#newest.values()]
      .filter((suspicion) => now - suspicion.at <= SUSPICION_MILLISECONDS)
      .map((suspicion) => suspicion.view);
  }
}
