/** How often something happens, lately: a mean in which what is longer ago counts less. */

/** Seconds after which what has happened counts a third. */
const MEMORY_SECONDS = 10;

/** See the file's head. Times are in microseconds of a clock that only moves forward. */
export class Rate {
  #perSecond = 0;
  #last = 0;

  /** So many have happened now. */
  add(count: number, now: number): void {
    this.#perSecond = this.at(now) + count / MEMORY_SECONDS;
    this.#last = now;
  }

  /** How many happen in a second. */
  at(now: number): number {
    return this.#perSecond * Math.exp((this.#last - now) / 1e6 / MEMORY_SECONDS);
  }
}
