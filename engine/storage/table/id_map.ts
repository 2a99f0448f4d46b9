/**
 * From row id to the newest slot of that id in a delta.
 *
 * Ids that arrive in ascending order (a bulk load, a counter) form *runs* of consecutive slots, which cost no memory
 * and are found by arithmetic or binary search; all others, and ids of a run whose newest version moved to another
 * slot, are in a table of groups under a hash. Ids beyond 2^53 are in a Map.
 *
 * Invariant: the hash is consulted first. Slots inside runs are never given to another id.
 */
import type { RowId } from "../../operations/effect.ts";
import { CHUNK_MASK, CHUNK_SHIFT } from "./delta_column.ts";
import { SlotGroups } from "./slot_groups.ts";

const RUN_LIMIT = 64;
/** A batch of ascending ids with gaps becomes a run from this size on. */
const SPARSE_RUN_ROWS = 1024;

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
  readonly #ids: readonly Float64Array[];
  readonly #hash = new SlotGroups();
  readonly #runs: Run[] = [];
  #maximumId = -Infinity;
  #big: Map<bigint, number> | null = null;

  /** `ids` is the delta's id column, by chunk. */
  constructor(ids: readonly Float64Array[]) {
    this.#ids = ids;
  }

  #idAt(slot: number): number {
    return (this.#ids[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] as number;
  }

  get bytes(): number {
    return this.#hash.bytes + (this.#big?.size ?? 0) * 64;
  }

  /** The newest slot of the id, or -1. */
  get(id: RowId): number {
    if (typeof id !== "number") return this.#big?.get(id) ?? -1;
    const slot = this.#hash.get(id);
    if (slot >= 0) return slot;
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
    let from = run.firstSlot;
    let to = run.firstSlot + run.count - 1;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#idAt(middle) < id) from = middle + 1;
      else to = middle;
    }
    return this.#idAt(from) === id ? from : -1;
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
    this.#hash.put(id, slot);
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
    this.#hash.put(id, slot);
  }

  /** Notes `count` new ids in consecutive slots; the ids are already in the id column. */
  addBatch(firstSlot: number, count: number): void {
    if (count === 0) return;
    const end = firstSlot + count;
    const firstId = this.#idAt(firstSlot);
    let ascending = firstId > this.#maximumId;
    for (let slot = firstSlot + 1; ascending && slot < end; slot++) {
      if (!(this.#idAt(slot - 1) < this.#idAt(slot))) ascending = false;
    }
    if (ascending) {
      const lastId = this.#idAt(end - 1);
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
    for (let slot = firstSlot; slot < end; slot++) {
      const id = this.#idAt(slot);
      if (id > this.#maximumId) this.#maximumId = id;
      this.#hash.put(id, slot);
    }
  }

  /** Forgets the id: it has no slot any more. */
  remove(id: RowId): void {
    if (typeof id !== "number") {
      this.#big?.delete(id);
      return;
    }
    this.#hash.remove(id);
  }
}
