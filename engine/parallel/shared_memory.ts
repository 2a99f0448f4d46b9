/**
 * Memory that the thread of the sessions shares with workers, for hash tables and marks. It is reserved as a whole and
 * handed to each worker when that starts; the system gives it pages when they are first written to. Who takes a stretch
 * gives it back when no worker reads it any more: collectors of several threads would not know how much they keep.
 */
import { LIMITS } from "../base/limits.ts";

/** Stretches begin at multiples of this. */
const GRANULE_BYTES = 1 << 16;
/** Hash tables leave this for the marks that workers take morsels by, of which each needs a byte. */
export const FOR_MARKS = 1 << 22;

interface Stretch {
  readonly at: number;
  readonly bytes: number;
}

/** See the file's head. */
export class SharedMemory {
  readonly memory: SharedArrayBuffer;
  /** What nobody has, in order; no two of them touch. */
  #free: Stretch[];

  constructor(bytes: number = LIMITS.sharedTableBytes) {
    this.memory = new SharedArrayBuffer(bytes);
    this.#free = [{ at: 0, bytes }];
  }

  /**
   * Takes so many bytes, the first that are free, so that few pages are ever used; null: there are not so many, or
   * fewer than `leaving` would be left.
   */
  take(bytes: number, leaving = 0): Stretch | null {
    const wanted = Math.max(1, Math.ceil(bytes / GRANULE_BYTES)) * GRANULE_BYTES;
    if (this.freeBytes - wanted < leaving) return null;
    const place = this.#free.findIndex((each) => each.bytes >= wanted);
    const found = this.#free[place];
    if (found === undefined) return null;
    const rest = { at: found.at + wanted, bytes: found.bytes - wanted };
    this.#free.splice(place, 1, ...(rest.bytes > 0 ? [rest] : []));
    return { at: found.at, bytes: wanted };
  }

  /** Takes a stretch back. */
  give({ at, bytes }: Stretch): void {
    const next = this.#free.findIndex((each) => each.at > at);
    const place = next < 0 ? this.#free.length : next;
    this.#free.splice(place, 0, { at, bytes });
    for (const first of [place, place - 1]) {
      const [one, other] = [this.#free[first], this.#free[first + 1]];
      if (one === undefined || other === undefined || one.at + one.bytes < other.at) continue;
      this.#free.splice(first, 2, { at: one.at, bytes: one.bytes + other.bytes });
    }
  }

  /** What is free. */
  get freeBytes(): number {
    return this.#free.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}
