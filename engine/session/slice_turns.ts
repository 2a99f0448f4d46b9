/**
 * Whose turn it is: statements that take many slices have one each, one after the other, and clients whose requests are
 * short come in between. Those get three times the time of a slice, as long as they have something to ask; so many
 * clients leave a quarter of the thread to long statements, and long statements three quarters to clients.
 *
 * A client that was answered asks again in some microseconds, but is not heard before the next slice has ended; so what
 * comes is waited for a moment, as schedulers of disks do (Iyer and Druschel, "Anticipatory scheduling", SOSP 2001).
 */
import { turnWork } from "../host/turn_work.ts";

/** What clients get for each slice, as a multiple of its time, if they want it. */
const CLIENTS_SHARE = 3;
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
  /** When the slice that runs began; infinite: none that began here runs. */
  #sliceBegan = Infinity;
  /** What the slice before this turn took; 0: it is not known. */
  #sliceMicroseconds = 0;
  #sliceEnded = 0;

  constructor(engine: SliceTurnsEngine) {
    this.#engine = engine;
  }

  /** Resolves when the statement whose slice has ended may have another. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#sliceEnded = this.#engine.monotonic();
      this.#sliceMicroseconds = Math.max(0, this.#sliceEnded - this.#sliceBegan);
      this.#sliceBegan = Infinity;
      this.#waiting.push(resolve);
      if (!this.#isTurning) void this.#turn();
    });
  }

  async #turn(): Promise<void> {
    this.#isTurning = true;
    for (;;) {
      await this.#othersTurn();
      const begin = this.#waiting.shift();
      if (begin === undefined) break;
      this.#sliceMicroseconds = 0;
      this.#sliceBegan = this.#engine.monotonic();
      begin();
    }
    this.#isTurning = false;
  }

  async #othersTurn(): Promise<void> {
    let heard = turnWork.requests, heardAt = -Infinity;
    for (;;) {
      await this.#engine.yieldToLoop();
      // Whoever began and has not come again yet has ended, or waits for something else.
      this.#sliceBegan = Infinity;
      if (this.#sliceMicroseconds === 0) return;
      const now = this.#engine.monotonic();
      if (turnWork.requests !== heard) {
        heard = turnWork.requests;
        heardAt = now;
      }
      if (now - heardAt >= PATIENCE_MICROSECONDS) return;
      if (now - this.#sliceEnded >= CLIENTS_SHARE * this.#sliceMicroseconds) return;
    }
  }
}
