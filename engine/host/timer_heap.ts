/** Timers of a simulation: a binary heap by time, and then by the order in which they were set. */
import type { TimerId } from "./host.ts";

/** A timer that waits. */
export interface WaitingTimer {
  readonly id: TimerId;
  readonly due: number;
  readonly callback: () => void;
}

/** See the head of the file. */
export class TimerHeap {
  readonly #heap: WaitingTimer[] = [];
  /** Those that were not forgotten. */
  readonly #waiting = new Set<TimerId>();
  #nextId: TimerId = 1;

  add(due: number, callback: () => void): TimerId {
    const timer = { id: this.#nextId++, due, callback };
    this.#waiting.add(timer.id);
    const heap = this.#heap;
    let index = heap.push(timer) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as WaitingTimer;
      if (isBefore(above, timer)) break;
      heap[index] = above;
      heap[parent] = timer;
      index = parent;
    }
    return timer.id;
  }

  /** Forgets a timer; one that has fired or is unknown is ignored. */
  remove(id: TimerId): void {
    this.#waiting.delete(id);
  }

  clear(): void {
    this.#heap.length = 0;
    this.#waiting.clear();
  }

  /** The one that comes next. */
  get first(): WaitingTimer | undefined {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || this.#waiting.has(first.id)) return first;
      this.#removeFirst();
    }
  }

  /** Takes the one that comes next. */
  take(): WaitingTimer | undefined {
    const { first } = this;
    if (first === undefined) return undefined;
    this.#waiting.delete(first.id);
    this.#removeFirst();
    return first;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as WaitingTimer;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as WaitingTimer, heap[child] as WaitingTimer)) {
        child++;
      }
      if (isBefore(last, heap[child] as WaitingTimer)) break;
      heap[index] = heap[child] as WaitingTimer;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: WaitingTimer, b: WaitingTimer): boolean {
  return a.due < b.due || (a.due === b.due && a.id < b.id);
}
