/**
 * Sorted lists of (key, slot) in memory: the index of a delta. A list is a B+tree of fixed height two: leaves of at
 * most {@link LEAF_ENTRIES} entries under one directory of first keys, which stays small because a delta is bounded
 * by the checkpoint distance. Entries with equal keys are in order of row id, then of slot.
 *
 * A *position* names an entry: leaf number × {@link LEAF_ENTRIES} + index in the leaf. Invariant: no leaf is empty
 * unless it is the only one. Positions become invalid with every change; `version` counts changes, so that a walk can
 * notice and seek again.
 */
import { assert } from "../../base/assert.ts";
import { compareNumberKeys } from "./index_key.ts";

/** Most entries of a leaf; a power of two. */
export const LEAF_ENTRIES = 256;
const BULK_FILL = 224;

/** Orders slots by the row id they hold, then by number. */
export interface SlotOrder {
  compareSlots(left: number, right: number): number;
}

/** Leaves in the making; entries come in order. */
class Leaves<K> {
  readonly keys: K[][] = [[]];
  readonly slots: number[][] = [[]];

  add(key: K, slot: number): void {
    let keys = this.keys[this.keys.length - 1] as K[];
    let slots = this.slots[this.slots.length - 1] as number[];
    if (keys.length === BULK_FILL) {
      // What has grown by pushes has room for half as much again; copies have just what they hold.
      this.keys[this.keys.length - 1] = keys.slice();
      this.slots[this.slots.length - 1] = slots.slice();
      this.keys.push(keys = []);
      this.slots.push(slots = []);
    }
    keys.push(key);
    slots.push(slot);
  }
}

/** What number and text trees share: leaves, moves and walks. */
abstract class SlotTree<K extends number | string> {
  readonly #order: SlotOrder;
  protected leafKeys: K[][] = [[]];
  protected leafSlots: number[][] = [[]];
  /** The first key of each leaf but the first, which stands for "below everything". */
  protected firsts: K[] = [];
  #size = 0;
  #version = 0;

  constructor(order: SlotOrder) {
    this.#order = order;
  }

  /** Number of entries. */
  get size(): number {
    return this.#size;
  }

  /** Changes whenever positions become invalid. */
  get version(): number {
    return this.#version;
  }

  /** The first position whose key is not below `key`, or with `after` is above it; may be {@link end}. */
  abstract seek(key: K, after: boolean): number;

  /** The position past the last entry. */
  get end(): number {
    return this.leafKeys.length * LEAF_ENTRIES;
  }

  /** The position of the first entry, or {@link end}. */
  get start(): number {
    return this.#normalize(0, 0);
  }

  keyAt(position: number): K {
    return (this.leafKeys[(position / LEAF_ENTRIES) | 0] as K[])[position & (LEAF_ENTRIES - 1)] as K;
  }

  slotAt(position: number): number {
    return (this.leafSlots[(position / LEAF_ENTRIES) | 0] as number[])[
      position & (LEAF_ENTRIES - 1)
    ] as number;
  }

  /** The position after this one. */
  next(position: number): number {
    return this.#normalize((position / LEAF_ENTRIES) | 0, (position & (LEAF_ENTRIES - 1)) + 1);
  }

  /** The position before this one, or -1 when it is the first. */
  previous(position: number): number {
    const index = position & (LEAF_ENTRIES - 1);
    if (index > 0) return position - 1;
    const leaf = ((position / LEAF_ENTRIES) | 0) - 1;
    if (leaf < 0) return -1;
    return leaf * LEAF_ENTRIES + (this.leafKeys[leaf] as K[]).length - 1;
  }

  protected normalized(leaf: number, index: number): number {
    return this.#normalize(leaf, index);
  }

  #normalize(leaf: number, index: number): number {
    const keys = this.leafKeys[leaf];
    if (keys === undefined) return this.end;
    if (index < keys.length) return leaf * LEAF_ENTRIES + index;
    return leaf + 1 < this.leafKeys.length ? (leaf + 1) * LEAF_ENTRIES : this.end;
  }

  /** The position of this very entry or of the first one after it in (key, id, slot) order. */
  seekEntry(key: K, slot: number): number {
    const low = this.seek(key, false);
    if (low === this.end || !this.sameKey(this.keyAt(low), key)) return low;
    return this.#searchSlots(low, this.seek(key, true), slot);
  }

  protected abstract sameKey(left: K, right: K): boolean;

  /** Adds an entry. */
  insert(key: K, slot: number): void {
    // Equal keys are ordered by id: with many of them a binary search among the equals keeps this logarithmic.
    const low = this.seek(key, false);
    let leaf = (low / LEAF_ENTRIES) | 0;
    let index = low & (LEAF_ENTRIES - 1);
    if (low !== this.end && this.sameKey(this.keyAt(low), key)) {
      const high = this.seek(key, true);
      const position = this.#searchSlots(low, high, slot);
      leaf = (position / LEAF_ENTRIES) | 0;
      index = position & (LEAF_ENTRIES - 1);
    }
    if (index === 0 && leaf > 0) {
      // Append to the leaf before rather than change a first key.
      leaf--;
      index = (this.leafKeys[leaf] as K[]).length;
    }
    this.#insertAt(leaf, index, key, slot);
  }

  /** The first position in [low, high) whose slot does not come before `slot`. */
  #searchSlots(low: number, high: number, slot: number): number {
    const order = this.#order;
    let leaf = (low / LEAF_ENTRIES) | 0;
    const lastLeaf = (high / LEAF_ENTRIES) | 0;
    let from = low & (LEAF_ENTRIES - 1);
    // Find the leaf: the last one whose first entry comes before the slot.
    let left = leaf + 1;
    let right = Math.min(lastLeaf, this.leafKeys.length - 1);
    if (lastLeaf < this.leafKeys.length && (high & (LEAF_ENTRIES - 1)) === 0) right = lastLeaf - 1;
    while (left <= right) {
      const middle = (left + right) >> 1;
      if (order.compareSlots((this.leafSlots[middle] as number[])[0] as number, slot) < 0) left = middle + 1;
      else right = middle - 1;
    }
    if (right > leaf) {
      leaf = right;
      from = 0;
    }
    const slots = this.leafSlots[leaf] as number[];
    let to = leaf === lastLeaf ? high & (LEAF_ENTRIES - 1) : slots.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (order.compareSlots(slots[middle] as number, slot) < 0) from = middle + 1;
      else to = middle;
    }
    return from < slots.length ? leaf * LEAF_ENTRIES + from : this.#normalize(leaf, from);
  }

  #insertAt(leaf: number, index: number, key: K, slot: number): void {
    this.#version++;
    this.#size++;
    let keys = this.leafKeys[leaf];
    let slots = this.leafSlots[leaf];
    if (keys === undefined || slots === undefined) {
      leaf = this.leafKeys.length - 1;
      keys = this.leafKeys[leaf] as K[];
      slots = this.leafSlots[leaf] as number[];
      index = keys.length;
    }
    if (keys.length === LEAF_ENTRIES) {
      // A full last leaf filled in ascending order is left full; others are halved.
      const cut = leaf === this.leafKeys.length - 1 && index === keys.length
        ? LEAF_ENTRIES - 1
        : LEAF_ENTRIES / 2;
      const upperKeys = keys.splice(cut);
      const upperSlots = slots.splice(cut);
      this.leafKeys.splice(leaf + 1, 0, upperKeys);
      this.leafSlots.splice(leaf + 1, 0, upperSlots);
      this.firsts.splice(leaf, 0, upperKeys[0] as K);
      if (index > cut) {
        index -= cut;
        keys = upperKeys;
        slots = upperSlots;
      }
    }
    insertInto(keys, index, key);
    insertInto(slots, index, slot);
  }

  /** Removes an entry that is there. */
  remove(key: K, slot: number): void {
    const position = this.seekEntry(key, slot);
    assert(position !== this.end && this.slotAt(position) === slot, `slot ${slot} is not in the index`);
    this.#version++;
    this.#size--;
    const leaf = (position / LEAF_ENTRIES) | 0;
    const index = position & (LEAF_ENTRIES - 1);
    const keys = this.leafKeys[leaf] as K[];
    keys.splice(index, 1);
    (this.leafSlots[leaf] as number[]).splice(index, 1);
    if (keys.length === 0 && this.leafKeys.length > 1) {
      this.leafKeys.splice(leaf, 1);
      this.leafSlots.splice(leaf, 1);
      this.firsts.splice(leaf === 0 ? 0 : leaf - 1, 1);
    } else if (index === 0 && leaf > 0) {
      this.firsts[leaf - 1] = keys[0] as K;
    }
  }

  /**
   * Adds many entries that are in (key, id, slot) order among themselves, in steps; nothing else changes the list
   * meanwhile. Many compared with what is there are merged into new leaves, which replace the old ones at once.
   */
  *insertSorted(keys: ArrayLike<K>, slots: ArrayLike<number>): Generator<void, void> {
    const count = keys.length;
    if (count * 8 < this.#size) {
      for (let index = 0; index < count; index++) {
        this.insert(keys[index] as K, slots[index] as number);
        if ((index & 255) === 255) yield;
      }
      return;
    }
    const merged = new Leaves<K>();
    let right = 0;
    for (let leaf = 0; leaf < this.leafKeys.length; leaf++) {
      const oldKeys = this.leafKeys[leaf] as K[];
      const oldSlots = this.leafSlots[leaf] as number[];
      for (let left = 0; left < oldKeys.length; left++) {
        while (right < count && !this.#precedes(oldKeys, oldSlots, left, keys, slots, right)) {
          merged.add(keys[right] as K, slots[right] as number);
          right++;
          if ((right & 4095) === 0) yield;
        }
        merged.add(oldKeys[left] as K, oldSlots[left] as number);
      }
      if ((leaf & 15) === 15) yield;
    }
    for (; right < count; right++) {
      merged.add(keys[right] as K, slots[right] as number);
      if ((right & 4095) === 4095) yield;
    }
    this.#version++;
    this.#size += count;
    this.leafKeys = merged.keys;
    this.leafSlots = merged.slots;
    this.firsts = merged.keys.slice(1).map((leaf) => leaf[0] as K);
  }

  #precedes(
    oldKeys: readonly K[],
    oldSlots: readonly number[],
    left: number,
    keys: ArrayLike<K>,
    slots: ArrayLike<number>,
    right: number,
  ): boolean {
    const order = this.compareKeys(oldKeys[left] as K, keys[right] as K);
    if (order !== 0) return order < 0;
    return this.#order.compareSlots(oldSlots[left] as number, slots[right] as number) < 0;
  }

  protected abstract compareKeys(left: K, right: K): number;

  /** Calls back with every entry, in order. */
  forEach(visit: (key: K, slot: number) => void): void {
    for (let leaf = 0; leaf < this.leafKeys.length; leaf++) {
      const keys = this.leafKeys[leaf] as K[];
      const slots = this.leafSlots[leaf] as number[];
      for (let index = 0; index < keys.length; index++) visit(keys[index] as K, slots[index] as number);
    }
  }
}

function insertInto<T>(array: T[], index: number, value: T): void {
  const last = array.length;
  array.push(value);
  for (let at = last; at > index; at--) array[at] = array[at - 1] as T;
  array[index] = value;
}

/** A sorted list with number keys; NaN is NULL. */
export class NumberTree extends SlotTree<number> {
  readonly #nullsFirst: boolean;

  constructor(order: SlotOrder, nullsFirst: boolean) {
    super(order);
    this.#nullsFirst = nullsFirst;
  }

  override seek(key: number, after: boolean): number {
    if (key !== key) return this.#seekNull(after);
    const nullsFirst = this.#nullsFirst;
    const firsts = this.firsts;
    let low = 0;
    let high = firsts.length;
    // The leaf: the last whose first key is below (or with `after`, not above) the key. Equal keys may begin in the
    // leaf before, hence strictly below.
    while (low < high) {
      const middle = (low + high) >> 1;
      const first = firsts[middle] as number;
      const below = first === first ? (after ? first <= key : first < key) : nullsFirst;
      if (below) low = middle + 1;
      else high = middle;
    }
    const leaf = low;
    const keys = this.leafKeys[leaf] as number[];
    low = 0;
    high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = keys[middle] as number;
      const below = entry === entry ? (after ? entry <= key : entry < key) : nullsFirst;
      if (below) low = middle + 1;
      else high = middle;
    }
    return this.normalized(leaf, low);
  }

  #seekNull(after: boolean): number {
    const nullsFirst = this.#nullsFirst;
    let position = nullsFirst && !after ? this.start : -1;
    if (position >= 0) return position;
    if (!nullsFirst && after) return this.end;
    // The boundary between numbers and NULLs.
    let low = 0;
    let high = this.firsts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const first = this.firsts[middle] as number;
      if ((first !== first) === nullsFirst) low = middle + 1;
      else high = middle;
    }
    const leaf = low;
    const keys = this.leafKeys[leaf] as number[];
    low = 0;
    high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = keys[middle] as number;
      if ((entry !== entry) === nullsFirst) low = middle + 1;
      else high = middle;
    }
    position = this.normalized(leaf, low);
    return position;
  }

  protected override sameKey(left: number, right: number): boolean {
    return left === right || (left !== left && right !== right);
  }

  protected override compareKeys(left: number, right: number): number {
    return compareNumberKeys(left, right, this.#nullsFirst);
  }
}

/** A sorted list with text keys. */
export class TextTree extends SlotTree<string> {
  override seek(key: string, after: boolean): number {
    const firsts = this.firsts;
    let low = 0;
    let high = firsts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const first = firsts[middle] as string;
      if (after ? first <= key : first < key) low = middle + 1;
      else high = middle;
    }
    const leaf = low;
    const keys = this.leafKeys[leaf] as string[];
    low = 0;
    high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = keys[middle] as string;
      if (after ? entry <= key : entry < key) low = middle + 1;
      else high = middle;
    }
    return this.normalized(leaf, low);
  }

  protected override sameKey(left: string, right: string): boolean {
    return left === right;
  }

  protected override compareKeys(left: string, right: string): number {
    return left < right ? -1 : left > right ? 1 : 0;
  }
}
