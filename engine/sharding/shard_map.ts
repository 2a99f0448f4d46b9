/** Where rows are: which of K shards has the row of an id. Never changes for a directory. */
import { mix } from "../base/mix.ts";
import type { Placement } from "../catalog/placement.ts";
import type { RowId } from "../operations/effect.ts";
import { hashKey } from "../types/compare.ts";
import { fromStored, type StoredValue } from "../types/stored_value.ts";

/** The numbers of shards that a database may have. */
export const SHARD_COUNTS: readonly number[] = [1, 2, 4, 8, 16];

/**
 * The shard of a value in a column by which rows are placed. Values that are equal, in whatever form, have the same;
 * an integer has that of the row of the root whose id it is; NULLs lie together.
 */
export function shardOfValue(
  { rootId, type }: Extract<Placement, { readonly kind: "column" }>,
  value: StoredValue,
  count: number,
): number {
  if (value === null) return shardOf(rootId, 0, count);
  const isFloat = type.kind === "f32" || type.kind === "f64";
  if (typeof value === "bigint" || typeof value === "number" && !isFloat) {
    return shardOf(rootId, value, count);
  }
  return shardOf(rootId, textHash(String(hashKey(type, fromStored(type, value)))), count);
}

function textHash(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mix(hash ^ text.length);
}

/** The shard of a row that is placed by its id. */
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
