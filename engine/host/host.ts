/**
 * The ports through which the engine meets the world: time, chance, timers, disk and network. Nothing else in
 * `engine/` may ask the world, so that a run is a function of its log and of what these ports answered.
 *
 * Implementations: `deno_host.ts` (a real machine), `memory_host.ts` (a database that is never written to a disk) and
 * `simulated_host.ts` (seeded, with faults).
 * Invariant: positions and sizes are bytes, times are microseconds; every port is used from one thread.
 */
import type { Disk } from "./disk.ts";
import type { Network } from "./network.ts";

/** Wall time and elapsed time. */
export interface Clock {
  /** Microseconds since 2000-01-01 00:00 UTC. May jump when the machine's clock is set. */
  now(): number;
  /** The same in whole milliseconds, in a third of the time. */
  wall(): number;
  /** Microseconds since an arbitrary moment; never decreases. */
  monotonic(): number;
}

/** A source of random bytes; cryptographically strong on a real machine. */
export interface Random {
  /** Overwrites the array with random bytes. */
  fill(target: Uint8Array): void;
}

/** Names a timer that was set. */
export type TimerId = number;

/** Timers, and turns of the event loop. */
export interface Timers {
  /** Calls back once, at least that many microseconds from now. */
  setTimer(delayMicroseconds: number, callback: () => void): TimerId;
  /** Forgets a timer; one that has fired or is unknown is ignored. */
  clearTimer(timer: TimerId): void;
  /** Calls back again and again, at least that many microseconds apart, until the answered function is called. */
  repeat(microseconds: number, callback: () => void): () => void;
  /**
   * Resolves in a later turn of the event loop; input that has come meanwhile is handed out before. For long work in
   * slices.
   */
  yieldToLoop(): Promise<void>;
  /** Resolves behind the input that this turn of the event loop is handing out: sooner than the next turn's input. */
  endOfTurn(): Promise<void>;
  /** Releases what turns need; turns can still be taken afterwards. */
  close(): Promise<void>;
}

/** {@link Timers.repeat} for hosts whose timers are cheap to set: each call sets the next one. */
export function repeatedTimer(
  { setTimer, clearTimer }: Pick<Timers, "setTimer" | "clearTimer">,
  microseconds: number,
  callback: () => void,
): () => void {
  const again = () => {
    timer = setTimer(microseconds, again);
    callback();
  };
  let timer = setTimer(microseconds, again);
  return () => clearTimer(timer);
}

/** All ports together. */
export interface Host {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly disk: Disk;
  /** Only members of a cluster need one; client connections are the gateways' business. */
  readonly network?: Network;
}
