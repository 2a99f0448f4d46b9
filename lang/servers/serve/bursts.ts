/**
 * Gathers changes that come close together, so that they are answered once: when nothing has come for a while, or
 * when the first has waited long enough.
 *
 * Changes that come while they are answered begin the next burst.
 */

/** The port to time. */
export interface Timer {
  now(): number;
  /** Calls after so many milliseconds; gives what takes that back. */
  after(milliseconds: number, work: () => void): () => void;
}

/** An editor's save is a handful of events within a few milliseconds. */
const QUIET_MILLISECONDS = 15;
/** Something that never ends, as a copy of a large folder, is looked at in between. */
const MAX_WAIT_MILLISECONDS = 150;

/** Calls once for each burst. */
export class Bursts {
  readonly #timer: Timer;
  readonly #answer: () => Promise<void>;
  #cancel: (() => void) | null = null;
  #first = 0;
  #isBusy = false;
  #isDue = false;

  constructor(timer: Timer, answer: () => Promise<void>) {
    this.#timer = timer;
    this.#answer = answer;
  }

  /** Something has changed. */
  change(): void {
    if (this.#isBusy) {
      this.#isDue = true;
      return;
    }
    const now = this.#timer.now();
    if (this.#cancel === null) this.#first = now;
    else this.#cancel();
    const wait = Math.max(0, Math.min(QUIET_MILLISECONDS, this.#first + MAX_WAIT_MILLISECONDS - now));
    this.#cancel = this.#timer.after(wait, () => void this.#run());
  }

  /** Forgets what waits. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  async #run(): Promise<void> {
    this.#cancel = null;
    this.#isBusy = true;
    try {
      await this.#answer();
    } finally {
      this.#isBusy = false;
    }
    if (!this.#isDue) return;
    this.#isDue = false;
    this.change();
  }
}
