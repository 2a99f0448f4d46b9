/**
 * From row id to the newest slot of that id in a delta.
 *
 * Ids that arrive in ascending order (a bulk load, a counter) form *runs* of consecutive slots, which cost no memory and
 * are found by arithmetic or binary search; all others, and ids of a run whose newest version moved to another slot,
 * stand in an open-addressing hash with linear probing (Knuth, TAOCP vol. 3, 6.4, algorithms L and R) that stores slots
 * only and compares the ids in the delta's own id column. Ids beyond 2^53 stand in a Map.
 *
 * Invariant: the hash is consulted first. Slots inside runs are never given to another id.
 */
import type { RowId } from "../../operations/effect.ts";

const RUN_LIMIT = 64;
/** A batch of ascending ids with gaps becomes a run from this size on. */
const SPARSE_RUN_ROWS = 1024;
const EMPTY = -1;

interface Run {
  readonly firstId: number;
  lastId: number;
  readonly firstSlot: number;
  count: number;
  /** ids are firstId, firstId + 1, … */
  consecutive: boolean;
}

/** The delta's map from id to newest slot. */
export class IdMap {
  #ids: Float64Array;
  #slots: Int32Array = new Int32Array(0);
  #mask = -1;
  #used = 0;
  readonly #runs: Run[] = [];
  #maximumId = -Infinity;
  #big: Map<bigint, number> | null = null;

  /** `ids` is the delta's id column; see {@link idsMoved}. */
  constructor(ids: Float64Array) {
    this.#ids = ids;
  }

  /** The delta's id column has a new array. */
  idsMoved(ids: Float64Array): void {
    this.#ids = ids;
  }

  get bytes(): number {
    return this.#slots.byteLength + (this.#big?.size ?? 0) * 64;
  }

  /** The newest slot of the id, or -1. */
  get(id: RowId): number {
    if (typeof id !== "number") return this.#big?.get(id) ?? -1;
    if (this.#used > 0) {
      const slots = this.#slots;
      const ids = this.#ids;
      const mask = this.#mask;
      let at = hashOf(id) & mask;
      for (;;) {
        const slot = slots[at] as number;
        if (slot === EMPTY) break;
        if (ids[slot] === id) return slot;
        at = (at + 1) & mask;
      }
    }
    return this.#runs.length === 0 ? -1 : this.#findInRuns(id);
  }

  #findInRuns(id: number): number {
    const runs = this.#runs;
    let low = 0;
    let high = runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((runs[middle] as Run).firstId <= id) low = middle;
      else high = middle - 1;
    }
    const run = runs[low] as Run;
    if (id < run.firstId || id > run.lastId) return -1;
    if (run.consecutive) return Number.isInteger(id) ? run.firstSlot + (id - run.firstId) : -1;
    const ids = this.#ids;
    let from = run.firstSlot;
    let to = run.firstSlot + run.count - 1;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((ids[middle] as number) < id) from = middle + 1;
      else to = middle;
    }
    return ids[from] === id ? from : -1;
  }

  /** Whether the slot belongs to a run and must not be given to another id. */
  inRun(slot: number): boolean {
    for (const run of this.#runs) {
      if (slot >= run.firstSlot && slot < run.firstSlot + run.count) return true;
    }
    return false;
  }

  /** Notes a slot for an id that has none. */
  add(id: RowId, slot: number): void {
    if (typeof id !== "number") {
      this.#big ??= new Map();
      this.#big.set(id, slot);
      return;
    }
    if (id > this.#maximumId && this.#extendRun(id, slot)) {
      this.#maximumId = id;
      return;
    }
    if (id > this.#maximumId) this.#maximumId = id;
    this.#put(id, slot);
  }

  #extendRun(id: number, slot: number): boolean {
    const last = this.#runs[this.#runs.length - 1];
    if (
      last !== undefined && last.consecutive && last.lastId + 1 === id && last.firstSlot + last.count === slot
    ) {
      last.lastId = id;
      last.count++;
      return true;
    }
    if (id !== this.#maximumId + 1 && this.#maximumId !== -Infinity) return false;
    // Only where no slot above was given out before: run slots must be contiguous and fresh.
    return this.#pushRun({ firstId: id, lastId: id, firstSlot: slot, count: 1, consecutive: true });
  }

  #pushRun(run: Run): boolean {
    if (this.#runs.length >= RUN_LIMIT) return false;
    this.#runs.push(run);
    return true;
  }

  /** Notes that the newest slot of an id that is there has changed. */
  move(id: RowId, slot: number): void {
    if (typeof id !== "number") {
      this.#big?.set(id, slot);
      return;
    }
    this.#put(id, slot);
  }

  /** Notes `count` new ids in consecutive slots; the ids are already in the id column. */
  addBatch(firstSlot: number, count: number): void {
    if (count === 0) return;
    const ids = this.#ids;
    const end = firstSlot + count;
    const firstId = ids[firstSlot] as number;
    let ascending = firstId > this.#maximumId;
    for (let slot = firstSlot + 1; ascending && slot < end; slot++) {
      if (!((ids[slot - 1] as number) < (ids[slot] as number))) ascending = false;
    }
    if (ascending) {
      const lastId = ids[end - 1] as number;
      const consecutive = lastId - firstId === count - 1;
      const last = this.#runs[this.#runs.length - 1];
      this.#maximumId = lastId;
      if (
        consecutive && last !== undefined && last.consecutive && last.lastId + 1 === firstId &&
        last.firstSlot + last.count === firstSlot
      ) {
        last.lastId = lastId;
        last.count += count;
        return;
      }
      if (
        (consecutive || count >= SPARSE_RUN_ROWS) &&
        this.#pushRun({ firstId, lastId, firstSlot, count, consecutive })
      ) return;
    }
    this.#reserve(this.#used + count);
    for (let slot = firstSlot; slot < end; slot++) {
      const id = ids[slot] as number;
      if (id > this.#maximumId) this.#maximumId = id;
      this.#put(id, slot);
    }
  }

  /** Forgets the id: it has no slot any more. */
  remove(id: RowId): void {
    if (typeof id !== "number") {
      this.#big?.delete(id);
      return;
    }
    if (this.#used === 0) return;
    const slots = this.#slots;
    const ids = this.#ids;
    const mask = this.#mask;
    let hole = hashOf(id) & mask;
    for (;;) {
      const slot = slots[hole] as number;
      if (slot === EMPTY) return;
      if (ids[slot] === id) break;
      hole = (hole + 1) & mask;
    }
    // Close the hole by moving back entries whose home does not lie between it and them.
    let at = hole;
    for (;;) {
      at = (at + 1) & mask;
      const slot = slots[at] as number;
      if (slot === EMPTY) break;
      const home = hashOf(ids[slot] as number) & mask;
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        slots[hole] = slot;
        hole = at;
      }
    }
    slots[hole] = EMPTY;
    this.#used--;
  }

  #put(id: number, slot: number): void {
    this.#reserve(this.#used + 1);
    const slots = this.#slots;
    const ids = this.#ids;
    const mask = this.#mask;
    let at = hashOf(id) & mask;
    for (;;) {
      const present = slots[at] as number;
      if (present === EMPTY) {
        this.#used++;
        break;
      }
      if (ids[present] === id) break;
      at = (at + 1) & mask;
    }
    slots[at] = slot;
  }

  #reserve(entries: number): void {
    if (entries * 2 <= this.#slots.length) return;
    let size = Math.max(64, this.#slots.length);
    while (size < entries * 2) size *= 2;
    const old = this.#slots;
    const slots = new Int32Array(size).fill(EMPTY);
    const ids = this.#ids;
    const mask = size - 1;
    for (let index = 0; index < old.length; index++) {
      const slot = old[index] as number;
      if (slot === EMPTY) continue;
      let at = hashOf(ids[slot] as number) & mask;
      while (slots[at] !== EMPTY) at = (at + 1) & mask;
      slots[at] = slot;
    }
    this.#slots = slots;
    this.#mask = mask;
  }
}

function hashOf(id: number): number {
  let hash = Math.imul(id | 0, 0x9e3779b1) ^ Math.imul((id / 4294967296) | 0, 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
