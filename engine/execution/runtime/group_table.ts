/**
 * Groups by key codes: an open-addressing hash table from keys to group numbers, with the groups' aggregate states.
 *
 * Group numbers count up from 0 in order of first appearance. Generated code probes `table` itself and calls
 * {@link GroupTable.insert} for a new group; afterwards it reloads the arrays, which may have grown.
 */
import type { MemoryUser } from "./memory_user.ts";
import { hashCode, hashMore, nearHash, powerOfTwo } from "./hashing.ts";

/** Kinds of aggregate states: numbers, and anything. */
export type SlotKind = "float" | "object";

/** Where an exact sum (see `AggregateComponent.flush`) is among a group's slots. */
export interface SumPlace {
  readonly float: number;
  readonly object: number;
}

/** Groups for which there is room at first: making the arrays costs more than their size. */
const FIRST_CAPACITY = 128;
/** Up to so many groups their room is doubled. */
const DOUBLED_GROUPS = 1 << 16;
/**
 * In a table of so many groups the next larger one is filled while the last sixteenth of the groups comes, so that no
 * row has to wait until all are in it: look-ups go to the old one until it is full.
 */
const MOVED_GROUPS = 1 << 17;
const MOVED_SHARE = 1 / 16;
/** New groups between two pieces of that. */
const MOVE_PAUSE = 1024;
/** Places that are made empty in the time in which a group is moved. */
const PLACES_PER_MOVE = 16;
/** What a slot that is no number takes: its place, and some of what is there (most sums have the same 0n). */
const OBJECT_BYTES = 16;
/** The number of a sum that is farther from 0 is moved to its bigint when the sum is flushed. */
export const FLUSH_ABOVE = 2 ** 51;
/** What is folded without tests between two times that all sums are flushed. */
const MAX_UNFLUSHED = 2 ** 50;

/** Groups by key codes: an open-addressing hash table from keys to group numbers, with the groups' aggregate states. */
export class GroupTable {
  count = 0;
  /** Group number or -1, by hash. */
  table: Int32Array;
  mask: number;
  keys: Float64Array[];
  /** Number slots of all groups: those of group g begin at g × (number slots of one group). */
  floats: Float64Array;
  /** The other slots, likewise. */
  readonly objects: unknown[] = [];
  #capacity: number;
  readonly #state: Pick<MemoryUser, "charge">;
  readonly #floatSlots: number;
  readonly #objectSlots: number;
  #charged = 0;
  /** The table that follows, while it is filled: its places are made empty first, then all groups put into it. */
  #following: Int32Array | null = null;
  #emptied = 0;
  #moved = 0;
  /** The group at which the next piece of that is due. */
  #moveAt = Infinity;
  /** Groups that are moved in a piece. */
  #piece = 0;
  #unflushed = 0;
  /**
   * The sums that {@link noteUnflushed} was given, each by its number slot; kernels of other shapes have other
   * ones.
   */
  readonly #unflushedSums = new Map<number, SumPlace>();
  #high = new Uint32Array(0);

  constructor(state: Pick<MemoryUser, "charge">, keyCount: number, slotKinds: readonly SlotKind[]) {
    this.#state = state;
    this.#floatSlots = slotKinds.filter((kind) => kind === "float").length;
    this.#objectSlots = slotKinds.length - this.#floatSlots;
    this.#capacity = FIRST_CAPACITY;
    this.table = new Int32Array(2 * FIRST_CAPACITY).fill(-1);
    this.mask = 2 * FIRST_CAPACITY - 1;
    this.keys = Array.from({ length: keyCount }, () => new Float64Array(FIRST_CAPACITY));
    this.floats = new Float64Array(FIRST_CAPACITY * this.#floatSlots);
  }

  /** What the groups take. */
  get bytes(): number {
    return this.#charged;
  }

  /** Gives the accounted memory back; the table is not used any more. */
  release(): void {
    this.#state.charge(-this.#charged);
    this.#charged = 0;
  }

  /** A list for the groups of so many rows. */
  highList(rows: number): Uint32Array {
    if (this.#high.length < rows) this.#high = new Uint32Array(rows);
    return this.#high;
  }

  /** Flushes the sums of the groups in a list, in which they may repeat. */
  flushListed(high: Uint32Array, count: number, sums: readonly SumPlace[]): void {
    for (let at = 0; at < count; at++) this.#flush(high[at] as number, sums);
  }

  /** Notes how much may have been added to any of the sums; flushes all when that is much. */
  noteUnflushed(amount: number, sums: readonly SumPlace[]): void {
    this.#unflushed += amount;
    for (const sum of sums) this.#unflushedSums.set(sum.float, sum);
    if (this.#unflushed <= MAX_UNFLUSHED) return;
    const all = [...this.#unflushedSums.values()];
    for (let group = 0; group < this.count; group++) this.#flush(group, all);
    this.#unflushed = 0;
  }

  #flush(group: number, sums: readonly SumPlace[]): void {
    for (const { float, object } of sums) {
      const at = group * this.#floatSlots + float;
      const low = this.floats[at] as number;
      if (low <= FLUSH_ABOVE && low >= -FLUSH_ABOVE) continue;
      const place = group * this.#objectSlots + object;
      this.objects[place] = this.objects[place] as bigint + BigInt(low);
      this.floats[at] = 0;
    }
  }

  /** A new group at a free place of the table; its keys and slots are the caller's to fill. */
  insert(place: number): number {
    const group = this.count++;
    if (group < this.#capacity) {
      this.table[place] = group;
      if (group >= this.#moveAt) this.#moveSome(group);
      return group;
    }
    this.#grow();
    // The keys of the new group are not known here: it is put in by `link` once they are.
    return group;
  }

  /** Links the newest group after its keys have been stored, if `insert` had to grow. */
  link(group: number): void {
    let place = this.#hash(group) & this.mask;
    for (;;) {
      const other = this.table[place] as number;
      if (other === group) return;
      if (other < 0) break;
      place = (place + 1) & this.mask;
    }
    this.table[place] = group;
  }

  /** Groups that were moved in one piece at the most, of those that were in the table before; for tests. */
  longestMove = 0;

  #hash(group: number): number {
    if (this.keys.length === 1) return nearHash((this.keys[0] as Float64Array)[group] as number);
    let hash = 0;
    for (let key = 0; key < this.keys.length; key++) {
      const code = (this.keys[key] as Float64Array)[group] as number;
      hash = key === 0 ? hashCode(code) : hashMore(hash, code);
    }
    return hash;
  }

  /** Groups and places of the table that follows one of so many groups. */
  #sizeAfter(before: number): { readonly capacity: number; readonly places: number } {
    // Doubling large arrays would leave much of the memory unused.
    const capacity = before < DOUBLED_GROUPS ? before * 2 : Math.ceil(before * 1.5);
    return { capacity, places: powerOfTwo(Math.ceil(capacity * 5 / 3)) };
  }

  #grow(): void {
    const before = this.#capacity;
    const { capacity, places } = this.#sizeAfter(before);
    const bytes =
      (capacity - before) * (8 * this.keys.length + 8 * this.#floatSlots + OBJECT_BYTES * this.#objectSlots) +
      4 * (places - this.table.length);
    this.#charged += bytes;
    this.#state.charge(bytes);
    this.#capacity = capacity;
    this.keys = this.keys.map((keys) => larger(keys, capacity));
    this.floats = larger(this.floats, capacity * this.#floatSlots);
    if (places !== this.table.length) {
      const following = this.#following ?? new Int32Array(places);
      this.#empty(following, places);
      this.#move(following, before);
      this.table = following;
      this.mask = places - 1;
    }
    this.#following = null;
    this.#emptied = this.#moved = 0;
    const isMoved = capacity >= MOVED_GROUPS && this.#sizeAfter(capacity).places !== places;
    this.#moveAt = isMoved ? Math.ceil(capacity * (1 - MOVED_SHARE)) : Infinity;
    const work = capacity + this.#sizeAfter(capacity).places / PLACES_PER_MOVE;
    this.#piece = Math.ceil(work / Math.max(1, capacity * MOVED_SHARE / MOVE_PAUSE - 1));
  }

  /** A piece of filling the table that follows; the keys of all groups before this one are known. */
  #moveSome(group: number): void {
    this.#moveAt = group + MOVE_PAUSE;
    const following = this.#following ??= new Int32Array(this.#sizeAfter(this.#capacity).places);
    if (this.#emptied < following.length) {
      this.#empty(following, this.#emptied + this.#piece * PLACES_PER_MOVE);
      return;
    }
    this.#move(following, Math.min(group, this.#moved + this.#piece));
  }

  #empty(following: Int32Array, end: number): void {
    following.fill(-1, this.#emptied, end);
    this.#emptied = Math.min(end, following.length);
  }

  #move(following: Int32Array, end: number): void {
    this.longestMove = Math.max(this.longestMove, end - this.#moved);
    const mask = following.length - 1;
    for (let group = this.#moved; group < end; group++) {
      let place = this.#hash(group) & mask;
      while ((following[place] as number) >= 0) place = (place + 1) & mask;
      following[place] = group;
    }
    this.#moved = end;
  }
}

function larger(array: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const result = new Float64Array(length);
  result.set(array);
  return result;
}
