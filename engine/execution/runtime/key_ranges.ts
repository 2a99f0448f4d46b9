/**
 * How the integers of a key are spread: rows are counted in buckets, whose width grows with the distance of the keys,
 * and cut into ranges whose rows take no more than some memory each.
 */
import type { ZonePredicate } from "../../storage/access/readable_table.ts";
import type { NumberOrBigint } from "../../types/value.ts";
import type { MemoryUser } from "./memory_user.ts";

/** Buckets; when they are made wider, half of them at the most are in use. */
const BUCKETS = 1024;

/** Keys from `low` on and before `end`. */
export class KeyRange {
  readonly low: number;
  /** NaN: there is none, for keys may be infinite. */
  readonly end: number;
  /** NULLs are in it, too. */
  readonly hasNulls: boolean;
  /** As many as were counted. */
  readonly rows: number;

  constructor({ low, end, hasNulls, rows }: Pick<KeyRange, "low" | "end" | "hasNulls" | "rows">) {
    this.low = low;
    this.end = end;
    this.hasNulls = hasNulls;
    this.rows = rows;
  }

  /** What a scan need not read for it. */
  predicates(columnId: number, isNullable: boolean): readonly ZonePredicate[] {
    const { low, end, hasNulls } = this;
    if (hasNulls && isNullable) return [];
    return [
      ...Number.isSafeInteger(low) ? [{ columnId, operator: ">=", value: low } as const] : [],
      ...Number.isSafeInteger(end) ? [{ columnId, operator: "<", value: end } as const] : [],
    ];
  }
}

/** See the file's head. */
export class KeyCounts {
  rows = 0;
  #nulls = 0;
  /** Some keys are infinite, or no safe integers: these have no place. */
  #hasOthers = false;
  #counts = new Uint32Array(BUCKETS);
  /** A power of two. */
  #width = 1;
  /** The least key of the first bucket, a multiple of the width. */
  #first = NaN;
  readonly #state: MemoryUser;

  constructor(state: MemoryUser) {
    this.#state = state;
    state.charge(this.#counts.byteLength);
  }

  /** Counts a row with this key. */
  add(key: NumberOrBigint): void {
    this.rows++;
    let bucket = typeof key === "number" ? (key - this.#first) / this.#width : NaN;
    if (!(bucket >= 0 && bucket < BUCKETS)) {
      if (typeof key !== "number" || !Number.isFinite(key)) {
        this.#hasOthers = true;
        return;
      }
      bucket = this.#widen(key);
    }
    const at = Math.floor(bucket);
    this.#counts[at] = (this.#counts[at] as number) + 1;
  }

  /** Counts a row whose key is NULL. */
  addNull(): void {
    this.rows++;
    this.#nulls++;
  }

  /** Makes buckets wider until there is one for the key, which is the answer. */
  #widen(key: number): number {
    const counts = this.#counts, width = this.#width, first = this.#first;
    const used = counts.findIndex((count) => count > 0);
    const startOf = (bucket: number) => first + bucket * width;
    const low = used < 0 ? key : Math.min(key, startOf(used));
    const high = used < 0 ? key : Math.max(key, startOf(counts.findLastIndex((count) => count > 0)));
    while ((high - low) / this.#width >= BUCKETS / 2) this.#width *= 2;
    const middle = Math.floor((low + (high - low) / 2) / this.#width);
    this.#first = (middle - BUCKETS / 2) * this.#width;
    this.#counts = new Uint32Array(BUCKETS);
    counts.forEach((count, bucket) => {
      if (count === 0) return;
      const at = Math.floor((startOf(bucket) - this.#first) / this.#width);
      this.#counts[at] = (this.#counts[at] as number) + count;
    });
    return (key - this.#first) / this.#width;
  }

  /** The distance of the least and the greatest key, and 1, by and large. */
  get span(): number {
    const used = this.#counts.findIndex((count) => count > 0);
    return used < 0 ? 0 : (this.#counts.findLastIndex((count) => count > 0) - used + 1) * this.#width;
  }

  /**
   * All keys, in as few ranges as there can be whose rows take `most` bytes at most each, as `bytesOf` answers for some
   * rows and the distance of their keys; null: the rows of one bucket take more, or there are keys without a place.
   */
  ranges(bytesOf: (rows: number, span: number) => number, most: number): readonly KeyRange[] | null {
    if (this.#hasOthers || bytesOf(this.#nulls, 1) > most) return null;
    const ranges: KeyRange[] = [];
    let low = -Infinity, from = NaN, rows = this.#nulls;
    const add = (end: number) => ranges.push(new KeyRange({ low, end, hasNulls: ranges.length === 0, rows }));
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = this.#counts[bucket] as number;
      if (count === 0) continue;
      const start = this.#first + bucket * this.#width, end = start + this.#width;
      if (from !== from) from = start;
      if (bytesOf(rows + count, end - from) <= most) rows += count;
      else if (rows === 0 || bytesOf(count, this.#width) > most) return null;
      else {
        add(start);
        low = from = start;
        rows = count;
      }
    }
    add(NaN);
    return ranges;
  }

  /** Gives the accounted memory back; the counts are not used any more. */
  release(): void {
    this.#state.charge(-this.#counts.byteLength);
  }
}
