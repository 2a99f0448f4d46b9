/**
 * Tells all shards in shared memory that nobody waits for something any more: they look between two pieces of work, and
 * need no turn of their event loop for it. What waits for other shards is woken by a message besides.
 */

/** What is asked at the same time shares no flag, if it is less than this. */
const SLOTS = 1024;

/** See the file's head. */
export class StopFlags {
  readonly memory: SharedArrayBuffer;
  /** By slot: the number of what was stopped last. */
  readonly #slots: Int32Array;
  #last = 0;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#slots = new Int32Array(memory);
  }

  /** A number for something that may be stopped. */
  next(): number {
    return this.#last = this.#last >= 2 ** 31 - 1 ? 1 : this.#last + 1;
  }

  stop(number: number): void {
    Atomics.store(this.#slots, number % SLOTS, number);
  }

  isStopped(number: number): boolean {
    return Atomics.load(this.#slots, number % SLOTS) === number;
  }
}
