/** Timers of a host that fire when the test says so; turns of the event loop are real. */
import { LOOK_PAUSE_MICROSECONDS } from "../../engine/session/analyzer.ts";
import type { Timers } from "../../engine/host/host.ts";

/** See the file's head. */
export class ManualTimers implements Timers {
  readonly #set = new Map<number, { readonly microseconds: number; readonly callback: () => void }>();
  /** Turns of the event loop are real. */
  readonly #turns: Timers;
  #next = 1;

  constructor(turns: Timers) {
    this.#turns = turns;
  }

  setTimer(microseconds: number, callback: () => void): number {
    this.#set.set(this.#next, { microseconds, callback });
    return this.#next++;
  }

  clearTimer(timer: number): void {
    this.#set.delete(timer);
  }

  repeat(microseconds: number, callback: () => void): () => void {
    return this.#turns.repeat(microseconds, callback);
  }

  yieldToLoop(): Promise<void> {
    return this.#turns.yieldToLoop();
  }

  close(): Promise<void> {
    return this.#turns.close();
  }

  endOfTurn(): Promise<void> {
    return this.#turns.endOfTurn();
  }

  /** Milliseconds of the timers that run, but for the engine's own until it looks at its tables. */
  get running(): number[] {
    return [...this.#set.values()].filter(({ microseconds }) => microseconds !== LOOK_PAUSE_MICROSECONDS)
      .map(({ microseconds }) => microseconds / 1000);
  }

  /** Fires all that run, whenever they would. */
  fire(): void {
    for (const [timer, { callback }] of [...this.#set]) {
      this.#set.delete(timer);
      callback();
    }
  }
}
