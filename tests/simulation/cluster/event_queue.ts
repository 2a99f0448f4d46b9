/** Events in virtual time: a binary heap, by time and then by order of arrival. */

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** Runs what was scheduled, in order of time. */
export class EventQueue {
  readonly #heap: Event[] = [];
  #order = 0;
  #now = 0;

  /** Virtual milliseconds. */
  get now(): number {
    return this.#now;
  }

  /** Runs the function after so many milliseconds. */
  after(milliseconds: number, run: () => void): void {
    const event = { at: this.#now + milliseconds, order: this.#order++, run };
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Event;
      if (isBefore(above, event)) break;
      heap[index] = above;
      heap[parent] = event;
      index = parent;
    }
  }

  /** Runs events until the time has come. */
  runUntil(time: number): void {
    for (let first = this.#heap[0]; first !== undefined && first.at <= time; first = this.#heap[0]) {
      this.#removeFirst();
      this.#now = first.at;
      first.run();
    }
    this.#now = time;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as Event;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++;
      if (isBefore(last, heap[child] as Event)) break;
      heap[index] = heap[child] as Event;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
