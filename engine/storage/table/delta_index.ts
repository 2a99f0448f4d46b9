/**
 * An index of a delta: a sorted list of (key, slot) over every version that the delta holds; readers filter by
 * visibility.
 *
 * Slots that arrive in bulk are only noted, and sorted and merged together: at the first use, or in steps when they
 * belong to an entry that is applied in steps, which keeps them apart from readers until then. The index has number
 * keys until a value comes that has none, and text keys from then on.
 */
import { assert } from "../../base/assert.ts";
import type { StoredRow, StoredValue } from "../../operations/effect.ts";
import { type IndexKeyEncoder, type KeyBounds } from "./index_key.ts";
import type { PartIndexCursor } from "./part.ts";
import { NumberTree, type SlotOrder, TextTree } from "./slot_tree.ts";
import { sortInSteps, sortPairsInSteps } from "./sort_order.ts";

/** Slots handled between two yields, less one. */
const STEP_MASK = 2047;

/** The rows that a delta index orders. */
export interface IndexedSlots extends SlotOrder {
  /** Whether the slot holds a version at all. */
  isOccupied(slot: number): boolean;
  isVisible(slot: number, snapshot: number): boolean;
  indexedValue(slot: number, columnId: number): StoredValue;
}

/** A sorted index in memory. */
export class DeltaIndex {
  readonly indexId: number;
  readonly encoder: IndexKeyEncoder;
  readonly #slots: IndexedSlots;
  /** Exactly one of the trees is there. */
  numbers: NumberTree | null;
  texts: TextTree | null;
  /** Ranges of slots: from, to, from, to … */
  #pending: number[] = [];
  #held: number[] = [];
  /** Sorting in what was noted, in steps; whoever uses or changes the index ends it first. */
  #sorting: Generator<void, void> | null = null;
  #version = 0;

  constructor(indexId: number, encoder: IndexKeyEncoder, slots: IndexedSlots) {
    this.indexId = indexId;
    this.encoder = encoder;
    this.#slots = slots;
    this.numbers = encoder.numeric ? new NumberTree(slots, encoder.nullsFirst) : null;
    this.texts = encoder.numeric ? null : new TextTree(slots);
  }

  /** Changes whenever positions in the trees become invalid. */
  get version(): number {
    return this.#version + (this.numbers ?? this.texts as TextTree).version;
  }

  get bytes(): number {
    return this.#size * (this.numbers !== null ? 24 : 72);
  }

  get #size(): number {
    return (this.numbers ?? this.texts as TextTree).size;
  }

  /** Adds the slots from `from` to below `to`, at leisure; `held`: not before {@link settleInSteps}. */
  addRange(from: number, to: number, held: boolean): void {
    if (to > from) (held ? this.#held : this.#pending).push(from, to);
  }

  /** Slots that wait to be sorted in, those that are held apart not; Infinity while {@link settleStep} is at it. */
  get pendingCount(): number {
    return this.#sorting === null ? countOf(this.#pending) : Infinity;
  }

  /** Adds one slot. */
  add(slot: number): void {
    assert(this.#sorting === null, "nothing changes an index while rows are sorted into it");
    // An empty slot of a noted range that is filled before the range is sorted in comes in with the range.
    if (this.#pending.length > 0 && isIn(this.#pending, slot)) return;
    if (this.#held.length > 0 && isIn(this.#held, slot)) return;
    const numbers = this.numbers;
    if (numbers !== null) {
      const key = this.#numberKey(slot);
      if (key !== undefined) {
        numbers.insert(key, slot);
        return;
      }
      this.#toTexts();
    }
    (this.texts as TextTree).insert(this.#textKey(slot), slot);
  }

  /** Removes one slot, whose columns still hold the values it was added with. */
  remove(slot: number): void {
    // A held range leaves out, when it is sorted in, what is empty by then.
    if (this.#held.length > 0 && isIn(this.#held, slot)) return;
    this.settle();
    if (this.numbers !== null) this.numbers.remove(this.#numberKey(slot) as number, slot);
    else (this.texts as TextTree).remove(this.#textKey(slot), slot);
  }

  /** Whether giving the slot these values would leave its key as it is; `positions[columnId]` is a value's place. */
  keeps(slot: number, values: StoredRow, positions: readonly (number | undefined)[]): boolean {
    const columnIds = this.encoder.columnIds;
    for (let index = 0; index < columnIds.length; index++) {
      const columnId = columnIds[index] as number;
      const position = positions[columnId];
      const value = position === undefined ? null : values[position] ?? null;
      if (!sameValue(this.#slots.indexedValue(slot, columnId), value)) return false;
    }
    return true;
  }

  #numberKey(slot: number): number | undefined {
    return this.encoder.numberKey(this.#slots.indexedValue(slot, this.encoder.columnIds[0] as number));
  }

  #textKey(slot: number): string {
    const ids = this.encoder.columnIds;
    const values: StoredValue[] = [];
    for (let index = 0; index < ids.length; index++) {
      values.push(this.#slots.indexedValue(slot, ids[index] as number));
    }
    return this.encoder.textKey(values);
  }

  #toTexts(): void {
    const texts = new TextTree(this.#slots);
    const keys: string[] = [];
    const slots: number[] = [];
    this.#version += (this.numbers as NumberTree).version + 1;
    (this.numbers as NumberTree).forEach((key, slot) => {
      keys.push(this.encoder.textOfNumberKey(key));
      slots.push(slot);
    });
    const inserting = texts.insertSorted(keys, slots);
    while (inserting.next().done !== true);
    this.numbers = null;
    this.texts = texts;
  }

  /** Sorts in what {@link addRange} has noted. */
  settle(): void {
    while (this.pendingCount > 0) this.settleStep();
  }

  /** A step of the same. Nothing else may change the rows that are noted before {@link endStep} was called. */
  settleStep(): void {
    if (this.#sorting === null) {
      const pending = this.#pending;
      this.#pending = [];
      this.#sorting = this.#settle(pending);
    }
    const sorting = this.#sorting;
    if (sorting.next().done === true) this.#sorting = null;
  }

  /** Ends what {@link settleStep} has begun. */
  endStep(): void {
    while (this.#sorting !== null) this.settleStep();
  }

  /** Sorts in, in steps, what {@link addRange} has held. Nothing else changes the index meanwhile. */
  *settleInSteps(): Generator<void, void> {
    if (this.#held.length === 0) return;
    const held = this.#held;
    this.#held = [];
    yield* this.#settle(held);
  }

  *#settle(ranges: readonly number[]): Generator<void, void> {
    const slots = new Uint32Array(countOf(ranges));
    let length = 0;
    for (let index = 0; index < ranges.length; index += 2) {
      const to = ranges[index + 1] as number;
      for (let slot = ranges[index] as number; slot < to; slot++) {
        if (this.#slots.isOccupied(slot)) slots[length++] = slot;
        if ((slot & STEP_MASK) === STEP_MASK) yield;
      }
    }
    const added = slots.subarray(0, length);
    if (this.numbers !== null && !(yield* this.#settleNumbers(added))) this.#toTexts();
    if (this.texts !== null) yield* this.#settleTexts(this.texts, added);
  }

  /** False when a value has no number key; then nothing was added. */
  *#settleNumbers(slots: Uint32Array): Generator<void, boolean> {
    const count = slots.length;
    const keys = new Float64Array(count);
    // The radix sort puts NaN last: where NULLs come first they are moved there afterwards.
    let nulls = 0, previous = -Infinity, ascends = true;
    for (let index = 0; index < count; index++) {
      const key = this.#numberKey(slots[index] as number);
      if (key === undefined) return false;
      if (key !== key) nulls++;
      if (!(key > previous)) ascends = false;
      previous = key;
      keys[index] = key;
      if ((index & STEP_MASK) === STEP_MASK) yield;
    }
    if (ascends) {
      // As ids that a table gives its rows do.
      yield* (this.numbers as NumberTree).insertSorted(keys, slots);
      return true;
    }
    const sorted = yield* sortPairsInSteps(keys, slots);
    const isRotated = nulls > 0 && this.encoder.nullsFirst;
    const sortedKeys = isRotated ? rotate(sorted.keys, nulls) : sorted.keys;
    const sortedSlots = isRotated ? rotate(sorted.values, nulls) : sorted.values;
    yield* this.#orderTies(sortedSlots, (left, right) => {
      const a = sortedKeys[left] as number;
      const b = sortedKeys[right] as number;
      return a === b || (a !== a && b !== b);
    });
    yield* (this.numbers as NumberTree).insertSorted(sortedKeys, sortedSlots);
    return true;
  }

  *#settleTexts(tree: TextTree, slots: Uint32Array): Generator<void, void> {
    const keys: string[] = [];
    for (let index = 0; index < slots.length; index++) {
      keys.push(this.#textKey(slots[index] as number));
      if ((index & STEP_MASK) === STEP_MASK) yield;
    }
    const order = yield* sortInSteps(slots.length, (left, right) => {
      const a = keys[left] as string;
      const b = keys[right] as string;
      return a < b ? -1 : a > b ? 1 : left - right;
    });
    const sortedKeys: string[] = [];
    const sortedSlots = new Uint32Array(slots.length);
    for (let index = 0; index < order.length; index++) {
      const position = order[index] as number;
      sortedKeys.push(keys[position] as string);
      sortedSlots[index] = slots[position] as number;
      if ((index & STEP_MASK) === STEP_MASK) yield;
    }
    yield* this.#orderTies(sortedSlots, (left, right) => sortedKeys[left] === sortedKeys[right]);
    yield* tree.insertSorted(sortedKeys, sortedSlots);
  }

  /** Puts slots with equal keys into row id order. */
  *#orderTies(
    slots: Uint32Array,
    equal: (left: number, right: number) => boolean,
  ): Generator<void, void> {
    const order = this.#slots;
    for (let from = 0; from < slots.length;) {
      let to = from + 1;
      let sorted = true;
      while (to < slots.length && equal(from, to)) {
        if (order.compareSlots(slots[to - 1] as number, slots[to] as number) > 0) sorted = false;
        if ((to & STEP_MASK) === STEP_MASK) yield;
        to++;
      }
      if (!sorted) {
        const ties = slots.slice(from, to);
        const inOrder = yield* sortInSteps(
          ties.length,
          (left, right) => order.compareSlots(ties[left] as number, ties[right] as number),
        );
        for (let index = 0; index < inOrder.length; index++) {
          slots[from + index] = ties[inOrder[index] as number] as number;
        }
      }
      if ((from ^ to) > STEP_MASK) yield;
      from = to;
    }
  }

  /** A walk over the visible entries within bounds; null when there are none at all. */
  open(bounds: KeyBounds, snapshot: number, backward: boolean): PartIndexCursor | null {
    this.settle();
    if (this.#size === 0) return null;
    const cursor = new DeltaIndexCursor(this, this.#slots, bounds, snapshot, backward);
    return cursor.isEmpty ? null : cursor;
  }

  /** The positions between which the bounds' entries are: [first, past the last). */
  span(bounds: KeyBounds): [from: number, to: number] {
    const numbers = this.numbers;
    if (numbers !== null) {
      const from = numbers.seek(bounds.lowNumber, bounds.lowAfter);
      const key = bounds.lowNumber;
      if (bounds.isEquality && bounds.highAfter && key === key) {
        // One search is enough when the key is unique or absent.
        const end = numbers.end;
        if (from === end || numbers.keyAt(from) !== key) return [from, from];
        const next = numbers.next(from);
        if (next === end || numbers.keyAt(next) !== key) return [from, next];
      }
      return [from, numbers.seek(bounds.highNumber, bounds.highAfter)];
    }
    const texts = this.texts as TextTree;
    const from = texts.seek(bounds.lowText, false);
    if (bounds.isEquality) {
      const end = texts.end;
      if (from === end || texts.keyAt(from) !== bounds.lowText) return [from, from];
      const next = texts.next(from);
      if (next === end || texts.keyAt(next) !== bounds.lowText) return [from, next];
    }
    return [from, texts.seek(bounds.highText, false)];
  }
}

/** The same array with its last `count` elements first. */
function rotate<T extends Float64Array | Uint32Array>(array: T, count: number): T {
  const last = array.slice(array.length - count);
  array.copyWithin(count, 0, array.length - count);
  array.set(last);
  return array;
}

function countOf(ranges: readonly number[]): number {
  let count = 0;
  for (let index = 0; index < ranges.length; index += 2) {
    count += (ranges[index + 1] as number) - (ranges[index] as number);
  }
  return count;
}

function isIn(ranges: readonly number[], slot: number): boolean {
  for (let index = 0; index < ranges.length; index += 2) {
    if (slot >= (ranges[index] as number) && slot < (ranges[index + 1] as number)) return true;
  }
  return false;
}

function sameValue(left: StoredValue, right: StoredValue): boolean {
  if (left === right) return true;
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    if (left.length !== right.length) return false;
    for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
    return true;
  }
  return left !== left && right !== right;
}

class DeltaIndexCursor implements PartIndexCursor {
  readonly #index: DeltaIndex;
  readonly #slots: IndexedSlots;
  readonly #bounds: KeyBounds;
  readonly #snapshot: number;
  readonly #backward: boolean;
  #version: number;
  /** Forward: the position to visit next and the one to stop at. Backward: the position after both. */
  #position: number;
  #stop: number;
  #started = false;
  row = -1;
  numberKey = 0;
  textKey: string | null = null;

  constructor(
    index: DeltaIndex,
    slots: IndexedSlots,
    bounds: KeyBounds,
    snapshot: number,
    backward: boolean,
  ) {
    this.#index = index;
    this.#slots = slots;
    this.#bounds = bounds;
    this.#snapshot = snapshot;
    this.#backward = backward;
    this.#version = index.version;
    const [from, to] = index.span(bounds);
    this.#position = backward ? to : from;
    this.#stop = backward ? from : to;
  }

  get isEmpty(): boolean {
    return this.#backward ? this.#position <= this.#stop : this.#position >= this.#stop;
  }

  advance(): boolean {
    this.#index.settle();
    if (this.#version !== this.#index.version) this.#seekAgain();
    const tree = this.#index.numbers ?? this.#index.texts as TextTree;
    while (!this.isEmpty) {
      let at = this.#position;
      if (this.#backward) {
        at = tree.previous(at);
        assert(at >= 0, "an index walk stays within the index");
        this.#position = at;
      } else {
        this.#position = tree.next(at);
      }
      const slot = tree.slotAt(at);
      if (!this.#slots.isVisible(slot, this.#snapshot)) continue;
      this.row = slot;
      this.#started = true;
      if (this.#index.numbers !== null) this.numberKey = this.#index.numbers.keyAt(at);
      else this.textKey = (this.#index.texts as TextTree).keyAt(at);
      return true;
    }
    return false;
  }

  /** The index has changed since the last step: finds the place after the last entry again. */
  #seekAgain(): void {
    const index = this.#index;
    this.#version = index.version;
    const [from, to] = index.span(this.#bounds);
    this.#stop = this.#backward ? from : to;
    if (!this.#started) {
      this.#position = this.#backward ? to : from;
      return;
    }
    let at: number;
    if (index.numbers !== null) {
      at = index.numbers.seekEntry(this.numberKey, this.row);
    } else {
      this.textKey ??= index.encoder.textOfNumberKey(this.numberKey);
      at = (index.texts as TextTree).seekEntry(this.textKey, this.row);
    }
    const tree = index.numbers ?? index.texts as TextTree;
    // The last entry itself is still there, as the snapshot sees its version.
    this.#position = this.#backward ? at : at === tree.end ? at : tree.next(at);
  }
}
