/**
 * A map from row ids and other keys to objects, for a few entries as for millions.
 *
 * Few entries are in a Map. Beyond that, number keys are in typed arrays under a hash table that grows by small
 * parts (see `slot_hash.ts`): a Map of a million entries copies itself in one piece when it grows, and the collector
 * walks over all of it. Keys that are no numbers always are in a Map.
 */
import { CHUNK_MASK, CHUNK_ROWS, CHUNK_SHIFT, growNumbers } from "../storage/table/delta_column.ts";
import { SlotHash } from "../storage/table/slot_hash.ts";

/** Entries that are in a Map. */
const SMALL = 256;

/** What a map is asked by. */
export type MapKey = number | bigint | string;

/** A map from row ids and other keys to objects, for a few entries as for millions. */
export class RowIdMap<V> {
  readonly #map = new Map<MapKey, V>();
  #large: LargeMap<V> | null = null;

  /** Entries in the map. */
  get size(): number {
    return this.#map.size + (this.#large?.size ?? 0);
  }

  get(key: MapKey): V | undefined {
    return this.#large !== null && typeof key === "number" ? this.#large.get(key) : this.#map.get(key);
  }

  has(key: MapKey): boolean {
    return this.get(key) !== undefined;
  }

  /** Adds an entry whose key is not in the map. */
  add(key: MapKey, value: V): void {
    if (typeof key !== "number" || this.#large === null && this.#map.size < SMALL) {
      this.#map.set(key, value);
      return;
    }
    if (this.#large === null) {
      this.#large = new LargeMap();
      for (const [each, old] of this.#map) {
        if (typeof each !== "number") continue;
        this.#large.add(each, old);
        this.#map.delete(each);
      }
    }
    this.#large.add(key, value);
  }

  /** Gives a key that is in the map another value. */
  replace(key: MapKey, value: V): void {
    if (this.#large !== null && typeof key === "number") this.#large.replace(key, value);
    else this.#map.set(key, value);
  }

  delete(key: MapKey): void {
    if (this.#large !== null && typeof key === "number") this.#large.delete(key);
    else this.#map.delete(key);
  }

  clear(): void {
    this.#map.clear();
    this.#large = null;
  }
}

/** Number keys: entries have slots, which are given out again. */
class LargeMap<V> {
  readonly #keys: Float64Array[] = [];
  readonly #slots = new SlotHash(this.#keys);
  readonly #values: (V | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#slots.size;
  }

  get(key: number): V | undefined {
    const slot = this.#slots.get(key);
    return slot < 0 ? undefined : this.#values[slot];
  }

  replace(key: number, value: V): void {
    this.#values[this.#slots.get(key)] = value;
  }

  add(key: number, value: V): void {
    const slot = this.#free.pop() ?? this.#values.length;
    if (slot === this.#keys.length * CHUNK_ROWS) growNumbers(this.#keys, slot + CHUNK_ROWS);
    (this.#keys[slot >>> CHUNK_SHIFT] as Float64Array)[slot & CHUNK_MASK] = key;
    this.#values[slot] = value;
    this.#slots.put(key, slot);
  }

  delete(key: number): void {
    const slot = this.#slots.remove(key);
    if (slot < 0) return;
    this.#values[slot] = undefined;
    this.#free.push(slot);
  }
}
