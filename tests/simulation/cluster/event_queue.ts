/** Events in virtual time, by time and then by order of arrival. */
import { TimerHeap } from "../../../engine/host/timer_heap.ts";

/** Runs what was scheduled, in order of time. */
export class EventQueue {
  readonly #timers = new TimerHeap();
  #now = 0;

  /** Virtual milliseconds. */
  get now(): number {
    return this.#now;
  }

  /** Runs the function after so many milliseconds. */
  after(milliseconds: number, run: () => void): void {
    this.#timers.add(this.#now + milliseconds, run);
  }

  /** Runs events until the time has come. */
  runUntil(time: number): void {
    for (;;) {
      const { first } = this.#timers;
      if (first === undefined || first.due > time) break;
      this.#timers.take();
      this.#now = first.due;
      first.callback();
    }
    this.#now = time;
  }
}
