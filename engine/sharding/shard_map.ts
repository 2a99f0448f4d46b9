/** Where rows are: which of K shards has the row of an id. Never changes for a directory. */
import type { RowId } from "../operations/effect.ts";

/** The numbers of shards that a database may have. */
export const SHARD_COUNTS: readonly number[] = [1, 2, 4, 8, 16];

/** The shard of a row. */
export function shardOf(tableId: number, id: RowId, count: number): number {
  let low: number, high: number;
  if (typeof id === "number") {
    low = id | 0;
    high = Math.floor(id / 2 ** 32) | 0;
  } else {
    low = Number(BigInt.asIntN(32, id));
    high = Number(BigInt.asIntN(32, id >> 32n));
  }
  return (mix(mix(mix(tableId) ^ low) ^ high) >>> 0) % count;
}

/** The finalizer of MurmurHash3 for 32 bits. */
export function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
