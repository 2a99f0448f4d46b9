/**
 * Wakes a thread that has nothing to do. The thread sleeps in its event loop, so that its files, sockets and timers go
 * on; whoever has something for it rings, which costs something only if it does sleep.
 */

const AWAKE = 0, ASLEEP = 1;

/** What a thread looks after. */
export interface Attended {
  /** Does what there is to do. */
  work(): void;
  /** Whether there is something to do. */
  hasWork(): boolean;
}

/** See the file's head. */
export class Doorbell {
  /** What other threads ring it by. */
  readonly memory: SharedArrayBuffer;
  readonly #state: Int32Array;
  readonly #attended = new Set<Attended>();
  #isWaiting = false;

  /** The bell of this thread, or that of another one, whose memory it is. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.memory = memory;
    this.#state = new Int32Array(memory);
  }

  /** Wakes the thread. */
  ring(): void {
    const state = this.#state;
    if (Atomics.load(state, 0) !== ASLEEP) return;
    if (Atomics.compareExchange(state, 0, ASLEEP, AWAKE) === ASLEEP) Atomics.notify(state, 0);
  }

  /** From now on this thread looks after it as well, whenever the bell rings. */
  attend(attended: Attended): void {
    this.#attended.add(attended);
    if (!this.#isWaiting) this.#wait();
  }

  /** It looks after it no more. */
  leave(attended: Attended): void {
    this.#attended.delete(attended);
  }

  #wait(): void {
    this.#isWaiting = true;
    Atomics.store(this.#state, 0, ASLEEP);
    const { async, value } = Atomics.waitAsync(this.#state, 0, ASLEEP);
    if (async) void value.then(this.#wake);
    else queueMicrotask(this.#wake);
    // Came before the thread was seen to sleep. Others get their turn first: it is the event loop that calls.
    for (const each of this.#attended) if (each.hasWork()) return this.ring();
  }

  readonly #wake = (): void => {
    this.#isWaiting = false;
    try {
      for (const each of this.#attended) each.work();
    } finally {
      if (this.#attended.size > 0 && !this.#isWaiting) this.#wait();
    }
  };
}

/** The bell of this thread: who looks after several things is woken once for all of them. */
export const ownBell = new Doorbell();
