/**
 * From a number to the place where it is in a column of numbers: open addressing with linear probing (Knuth,
 * TAOCP vol. 3,
 * 6.4, algorithms L and R) that stores places ("slots") only and compares the numbers ("ids") in the column itself.
 *
 * The table is cut into small ones under a directory of leading hash bits, and a small table that is half full is
 * split in two (extendible hashing: Fagin, Nievergelt, Pippenger, Strong, ACM TODS 4(3), 1979), so that growing never
 * takes longer than moving one of them. Invariant: every directory entry of a table has the table's own leading bits.
 *
 * Ids are mostly used near one another, and a place far away is a miss of the processor's caches: ids that differ in
 * their last three bits only have homes side by side. Probing goes on by nine places instead of one, else such
 * neighbors would be in each other's way; as nine is odd, that is linear probing over places in another order.
 */
import { CHUNK_MASK, CHUNK_SHIFT } from "./delta_column.ts";

const EMPTY = -1;
const FIRST_SLOTS = 64;
/** A table of this many places is split rather than doubled. */
const SPLIT_SLOTS = 4096;
/** Leading bits that the directory may use; ids that agree in all of them share a table that doubles. */
const MAX_DEPTH = 20;
/** Last bits of an id that its hash leaves alone. */
const NEIGHBOR_BITS = 3;
const NEIGHBOR_MASK = (1 << NEIGHBOR_BITS) - 1;
/** From one place to the next that is probed. */
const STRIDE = NEIGHBOR_MASK + 2;
/** Times {@link STRIDE} it is 1, modulo 2 to the 32: from a distance of places to a number of probes. */
const STRIDE_INVERSE = 0x38e38e39;

interface SmallTable {
  slots: Int32Array;
  used: number;
  /** Leading bits of the hash that all its ids have in common. */
  readonly depth: number;
}

/**
 * From a number to the place where it is in a column of numbers: open addressing with linear probing (Knuth,
 * TAOCP vol. 3, 6.4, algorithms L and R) that stores places ("slots") only and compares the numbers ("ids") in the
 * column itself. Ids are numbers.
 */
export class SlotHash {
  readonly #ids: readonly Float64Array[];
  #directory: SmallTable[] = [];
  #depth = 0;
  #used = 0;

  /** `ids` is the column, by chunk. */
  constructor(ids: readonly Float64Array[]) {
    this.#ids = ids;
  }

  /** Ids in the table. */
  get size(): number {
    return this.#used;
  }

  get bytes(): number {
    let bytes = this.#directory.length * 8;
    let last: SmallTable | null = null;
    // A table's entries in the directory are side by side.
    for (const table of this.#directory) {
      if (table !== last) bytes += table.slots.byteLength;
      last = table;
    }
    return bytes;
  }

  #idAt(slot: number): number {
    return (this.#ids[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] as number;
  }

  #tableOf(hash: number): SmallTable {
    return this.#directory[this.#depth === 0 ? 0 : hash >>> (32 - this.#depth)] as SmallTable;
  }

  /** The slot noted for the id, or -1. */
  get(id: number): number {
    if (this.#used === 0) return EMPTY;
    const hash = hashOf(id);
    const { slots } = this.#tableOf(hash);
    const mask = slots.length - 1;
    const ids = this.#ids;
    for (let at = homeOf(id, hash) & mask;; at = (at + STRIDE) & mask) {
      const slot = slots[at] as number;
      if (slot === EMPTY) return EMPTY;
      if ((ids[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] === id) return slot;
    }
  }

  /** Notes the slot for the id, in place of the one noted before. The id is in the id column already. */
  put(id: number, slot: number): void {
    const hash = hashOf(id);
    if (this.#directory.length === 0) {
      this.#directory.push({ slots: new Int32Array(FIRST_SLOTS).fill(EMPTY), used: 0, depth: 0 });
    }
    let table = this.#tableOf(hash);
    while (table.used * 2 >= table.slots.length) {
      this.#grow(table, hash);
      table = this.#tableOf(hash);
    }
    const { slots } = table;
    const mask = slots.length - 1;
    let at = homeOf(id, hash) & mask;
    for (;; at = (at + STRIDE) & mask) {
      const present = slots[at] as number;
      if (present === EMPTY) {
        table.used++;
        this.#used++;
        break;
      }
      if (this.#idAt(present) === id) break;
    }
    slots[at] = slot;
  }

  /** Forgets the id; the slot that was noted for it, or -1. */
  remove(id: number): number {
    if (this.#used === 0) return EMPTY;
    const hash = hashOf(id);
    const table = this.#tableOf(hash);
    const { slots } = table;
    const mask = slots.length - 1;
    let hole = homeOf(id, hash) & mask;
    for (;; hole = (hole + STRIDE) & mask) {
      const slot = slots[hole] as number;
      if (slot === EMPTY) return EMPTY;
      if (this.#idAt(slot) === id) break;
    }
    const removed = slots[hole] as number;
    // Close the hole by moving back entries whose home does not lie between it and them.
    for (let at = (hole + STRIDE) & mask;; at = (at + STRIDE) & mask) {
      const slot = slots[at] as number;
      if (slot === EMPTY) break;
      const other = this.#idAt(slot);
      const home = homeOf(other, hashOf(other)) & mask;
      if (probesBetween(home, at, mask) >= probesBetween(hole, at, mask)) {
        slots[hole] = slot;
        hole = at;
      }
    }
    slots[hole] = EMPTY;
    table.used--;
    this.#used--;
    return removed;
  }

  #grow(table: SmallTable, hash: number): void {
    if (table.slots.length < SPLIT_SLOTS || table.depth >= MAX_DEPTH) {
      const old = table.slots;
      table.slots = new Int32Array(old.length * 2).fill(EMPTY);
      table.used = 0;
      for (const slot of old) if (slot !== EMPTY) this.#place(table, slot);
      return;
    }
    if (table.depth === this.#depth) {
      const doubled: SmallTable[] = [];
      for (const each of this.#directory) doubled.push(each, each);
      this.#directory = doubled;
      this.#depth++;
    }
    const depth = table.depth + 1;
    const low: SmallTable = { slots: new Int32Array(SPLIT_SLOTS).fill(EMPTY), used: 0, depth };
    const high: SmallTable = { slots: new Int32Array(SPLIT_SLOTS).fill(EMPTY), used: 0, depth };
    for (const slot of table.slots) {
      if (slot === EMPTY) continue;
      const bit = hashOf(this.#idAt(slot)) >>> (32 - depth) & 1;
      this.#place(bit === 0 ? low : high, slot);
    }
    // The table's entries: those that begin with its bits.
    const spread = this.#depth - table.depth;
    const first = table.depth === 0 ? 0 : (hash >>> (32 - table.depth)) * 2 ** spread;
    const half = 2 ** (spread - 1);
    this.#directory.fill(low, first, first + half);
    this.#directory.fill(high, first + half, first + 2 * half);
  }

  /** Puts a slot whose id is not in the table. */
  #place(table: SmallTable, slot: number): void {
    const { slots } = table;
    const mask = slots.length - 1;
    const id = this.#idAt(slot);
    let at = homeOf(id, hashOf(id)) & mask;
    while (slots[at] !== EMPTY) at = (at + STRIDE) & mask;
    slots[at] = slot;
    table.used++;
  }
}

/** The hash of an id without its last bits. */
function hashOf(id: number): number {
  let hash = Math.imul((id | 0) >> NEIGHBOR_BITS, 0x9e3779b1) ^ Math.imul((id / 4294967296) | 0, 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * Where an id is looked for first. Which of the neighbors is where differs from group to group, so that multiples
 * of eight spread too.
 */
function homeOf(id: number, hash: number): number {
  return (hash << NEIGHBOR_BITS) | (((id | 0) ^ (hash >>> 9)) & NEIGHBOR_MASK);
}

/** How many probes lead from one place to another. */
function probesBetween(from: number, to: number, mask: number): number {
  return Math.imul(to - from, STRIDE_INVERSE) & mask;
}
