/**
 * A whole simulated machine: clock, chance and timers that follow from a seed, and a disk with faults.
 *
 * Time stands still while code runs and moves when the simulation says so: by what disk operations cost, to the next
 * timer when nothing else can happen, and by a random part of {@link SimulatedHost.pace} each time the clock is read at
 * the monotonic clock, so that work in slices is cut at other places in each run. {@link SimulatedHost.settle} drives
 * the machine until a promise is settled. The fault model of the disk is in `simulated_disk.ts`. Invariant: two
 * runs with one seed and the same calls give equal {@link SimulatedHost.traceDigest}s at every step.
 */
import { crc32c } from "../base/checksum.ts";
import { encodeUtf8 } from "../base/bytes.ts";
import { SeededRandom } from "../base/random.ts";
import { type Clock, type Host, type Random, repeatedTimer, type TimerId, type Timers } from "./host.ts";
import { TimerHeap } from "./timer_heap.ts";
import { type DiskFaults, NO_FAULTS, SimulatedDisk } from "./simulated_disk.ts";

/** The simulated year begins at 2024-01-01, in microseconds since 2000-01-01. */
const START_MICROSECONDS = 757_382_400_000_000;

/** A simulation that takes more steps than this without end is stuck. */
const MAX_STEPS = 10_000_000;
/** The same, while its time stands still. */
const MAX_STEPS_AT_ONCE = 100_000;

/** The machine. */
export class SimulatedHost implements Host {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly disk: SimulatedDisk;
  /** Microseconds that a look at the monotonic clock may take. */
  pace = 0;
  readonly #random: SeededRandom;
  #elapsed = 0;
  readonly #timers = new TimerHeap();
  #trace = 0;
  #events = 0;

  constructor(seed: number, faults: Partial<DiskFaults> = {}) {
    this.#random = new SeededRandom(seed);
    this.clock = {
      now: () => START_MICROSECONDS + this.#elapsed,
      wall: () => Math.floor((START_MICROSECONDS + this.#elapsed) / 1000),
      monotonic: () => {
        if (this.pace > 0) this.#elapsed += this.#random.below(this.pace + 1);
        return this.#elapsed;
      },
    };
    this.random = { fill: (target) => this.#random.fill(target) };
    this.timers = {
      setTimer: (delay, callback) => this.#setTimer(delay, callback),
      clearTimer: (id) => this.#timers.remove(id),
      repeat: (period, callback) => repeatedTimer(this.timers, period, callback),
      yieldToLoop: () => new Promise((resolve) => this.#setTimer(0, resolve)),
      endOfTurn: () => new Promise((resolve) => this.#setTimer(0, resolve)),
      close: () => Promise.resolve(),
    };
    this.disk = new SimulatedDisk({
      random: this.#random,
      pass: (microseconds) => {
        this.#elapsed += microseconds;
      },
      later: (microseconds) => new Promise((resolve) => this.#setTimer(microseconds, resolve)),
      trace: (event) => this.trace(event),
    }, { ...NO_FAULTS, ...faults });
  }

  /** Mixes an event into the trace. */
  trace(event: string): void {
    this.#events++;
    this.#trace = crc32c(encodeUtf8(`${this.#elapsed} ${event}`), 0, undefined, this.#trace);
  }

  /** Stands for everything that has happened so far. */
  get traceDigest(): string {
    return `${this.#events}:${this.#trace.toString(16).padStart(8, "0")}`;
  }

  #setTimer(delay: number, callback: () => void): TimerId {
    return this.#timers.add(this.#elapsed + Math.max(0, delay), callback);
  }

  /** Lets the earliest timer fire, after all that was ready has run; false when there is none. */
  async step(): Promise<boolean> {
    await drainMicrotasks();
    if (!this.#fireNext()) return false;
    await drainMicrotasks();
    return true;
  }

  /**
   * Lets everything happen that is due within so many microseconds; `afterEach` is called behind each event. Fails when
   * time does not go on.
   */
  async run(microseconds: number, afterEach: () => void): Promise<void> {
    const end = this.#elapsed + microseconds;
    for (let steps = 0, last = -1;; steps++) {
      await drainMicrotasks();
      afterEach();
      const { first } = this.#timers;
      if (first === undefined || first.due > end) break;
      if (this.#elapsed > last) [steps, last] = [0, this.#elapsed];
      else if (steps > MAX_STEPS_AT_ONCE) throw new Error("the simulation does not end");
      this.#fireNext();
    }
    this.#elapsed = Math.max(this.#elapsed, end);
  }

  #fireNext(): boolean {
    const timer = this.#timers.take();
    if (timer === undefined) return false;
    this.#elapsed = Math.max(this.#elapsed, timer.due);
    timer.callback();
    return true;
  }

  /**
   * Drives the machine until the promise is settled, and gives its outcome; fails when the machine comes to rest
   * first.
   */
  async settle<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const watched = promise.finally(() => {
      settled = true;
    });
    // Handled below; without this a rejection during the steps would count as unhandled.
    watched.catch(() => undefined);
    for (let steps = 0; !settled; steps++) {
      if (!(await this.step()) && !settled) throw new Error("the simulation came to rest before the promise");
      if (steps > MAX_STEPS) throw new Error("the simulation does not end");
    }
    return await watched;
  }

  /** Drives the machine until no timer is left. */
  async rest(): Promise<void> {
    for (let steps = 0; await this.step(); steps++) {
      if (steps > MAX_STEPS) throw new Error("the simulation does not end");
    }
  }

  /** The process dies while the machine runs on: timers are gone, the disk keeps what was written. */
  kill(): void {
    this.#timers.clear();
    this.disk.kill();
  }

  /** The power fails and comes back: timers are gone, the disk holds what its fault model leaves. */
  crash(): void {
    this.#timers.clear();
    this.disk.crash();
  }
}

/** Runs everything that waits for promises already settled. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
