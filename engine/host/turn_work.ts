/**
 * What this thread is at, for the one who finds that a turn of the event loop took long: work that may take long says
 * when it begins. What nothing was said of counts for what began last.
 */

/** What began last, and what took longest lately. */
export class TurnWork {
  /** What clients have sent so far, in pieces as they came. */
  requests = 0;
  #kind = "start";
  #since = 0;
  /** What came before is not looked at. */
  #from = 0;
  #longestMilliseconds = 0;
  #longestKind = "other";

  /** Work of a kind begins; answers the kind before, with which work goes on that this one has interrupted. */
  began(kind: string, now: number = performance.now()): string {
    const before = this.#kind;
    this.#ended(now);
    this.#kind = kind;
    this.#since = now;
    return before;
  }

  /** What took longest since the last time; `from`: what comes before that time is not looked at from now on. */
  take(now: number, from: number): string {
    this.began("other", now);
    const kind = this.#longestKind;
    this.#longestMilliseconds = 0;
    this.#longestKind = "other";
    this.#from = from;
    return kind;
  }

  #ended(now: number): void {
    const milliseconds = now - Math.max(this.#since, this.#from);
    if (milliseconds <= this.#longestMilliseconds) return;
    this.#longestMilliseconds = milliseconds;
    this.#longestKind = this.#kind;
  }
}

/** Of this thread. */
export const turnWork: TurnWork = new TurnWork();
