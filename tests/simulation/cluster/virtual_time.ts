/**
 * Virtual time for code that asks the platform: gateways, clients and drivers have timers and clocks of their own.
 *
 * While it is installed, timers, `performance.now` and `Math.random` are the simulation's. Only one world has it at a
 * time, and nothing else of the process may need real timers meanwhile.
 */
import type { SeededRandom } from "../../../engine/base/random.ts";
import type { Host } from "../../../engine/host/host.ts";

/** See the head of the file. */
export class VirtualTime {
  readonly #host: Host;
  readonly #random: SeededRandom;
  /** The intervals that run, with who has set them. */
  readonly #intervals = new Map<number, object | null>();
  #nextInterval = -1;
  #owner: object | null = null;

  constructor(host: Host, random: SeededRandom) {
    this.#host = host;
    this.#random = random;
  }

  /** Runs the work in virtual time, and gives the platform its own back. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const { now } = performance;
    const { random } = Math;
    const { timers, clock } = this.#host;
    const start = clock.monotonic();
    Object.assign(globalThis, {
      setTimeout: (callback: (...values: unknown[]) => void, delay = 0, ...values: unknown[]) =>
        timers.setTimer(Math.round(delay * 1000), () => callback(...values)),
      clearTimeout: (timer?: number) => {
        if (typeof timer === "number") timers.clearTimer(timer);
      },
      setInterval: (callback: () => void, delay = 0) => this.#setInterval(callback, delay),
      clearInterval: (interval?: number) => {
        if (interval !== undefined) this.#intervals.delete(interval);
      },
    });
    performance.now = () => (clock.monotonic() - start) / 1000;
    Math.random = () => this.#random.float();
    try {
      return await work();
    } finally {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
      performance.now = now;
      Math.random = random;
    }
  }

  /** Intervals that the work sets go with their owner. */
  owned<T>(owner: object, work: () => T): T {
    this.#owner = owner;
    try {
      return work();
    } finally {
      this.#owner = null;
    }
  }

  /** Ends the intervals of an owner. */
  release(owner: object): void {
    for (const [interval, one] of this.#intervals) {
      if (one === owner) this.#intervals.delete(interval);
    }
  }

  #setInterval(callback: () => void, delay: number): number {
    const interval = this.#nextInterval--;
    this.#intervals.set(interval, this.#owner);
    const again = (): void => {
      this.#host.timers.setTimer(delay * 1000, () => {
        if (!this.#intervals.has(interval)) return;
        callback();
        again();
      });
    };
    again();
    return interval;
  }
}
