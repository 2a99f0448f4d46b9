/**
 * Whose turn it is: statements that take many slices, and clients that send a mass of data or requests, have one slice
 * each, one after the other, and clients whose requests are short come in between. Those get three times the time of a
 * slice, as long as they have something to ask: so many of them leave a quarter of the thread to what takes long.
 *
 * A client that was answered asks again in some microseconds, but is not heard before the next slice has ended; so what
 * comes is waited for a moment, as schedulers of disks do (Iyer and Druschel, "Anticipatory scheduling", SOSP 2001).
 */
import { turnWork } from "./turn_work.ts";

/** What clients get for each slice, as a multiple of its time, if they want it. */
const CLIENTS_SHARE = 3;
/** A slice that took longer than it should is not made up for beyond this. */
const MAX_TURN_MICROSECONDS = 30_000;
/** How long clients that were heard are waited for. */
const PATIENCE_MICROSECONDS = 150;

/** What it needs of its engine. */
export interface SliceTurnsEngine {
  monotonic(): number;
  yieldToLoop(): Promise<void>;
}

/** See the file's head. */
export class SliceTurns {
  readonly #engine: SliceTurnsEngine;
  readonly #waiting: (() => void)[] = [];
  #isTurning = false;
  /** When the turn of the clients ends, if they want all of it. */
  #end = 0;

  constructor(engine: SliceTurnsEngine) {
    this.#engine = engine;
  }

  /** Resolves when what has had a slice, which took so many microseconds and ended now, may have another. */
  next(tookMicroseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const now = this.#engine.monotonic();
      const end = Math.max(this.#end, now) + CLIENTS_SHARE * tookMicroseconds;
      this.#end = Math.min(end, now + MAX_TURN_MICROSECONDS);
      this.#waiting.push(resolve);
      if (!this.#isTurning) void this.#turn();
    });
  }

  async #turn(): Promise<void> {
    this.#isTurning = true;
    for (;;) {
      await this.#clientsTurn();
      const begin = this.#waiting.shift();
      if (begin === undefined) break;
      this.#end = 0;
      begin();
    }
    this.#isTurning = false;
  }

  async #clientsTurn(): Promise<void> {
    let heard = turnWork.requests, heardAt = -Infinity;
    for (;;) {
      await this.#engine.yieldToLoop();
      const now = this.#engine.monotonic();
      if (turnWork.requests !== heard) {
        heard = turnWork.requests;
        heardAt = now;
      }
      if (now - heardAt >= PATIENCE_MICROSECONDS || now >= this.#end) return;
    }
  }
}
