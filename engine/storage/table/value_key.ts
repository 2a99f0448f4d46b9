/**
 * The order of values whose stored bytes or text do not sort as their SQL type does: unscaled numerics, intervals,
 * arrays and jsonb. Their index keys come from the type's own sort key.
 */
import type { StoredValue } from "../../operations/effect.ts";
import { sortKey } from "../../types/compare.ts";
import type { SqlType } from "../../types/sql_type.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import { decodeValueBytes } from "../../types/value_codec.ts";
import type { SqlValue } from "../../types/value.ts";

/** Whether the type needs {@link orderedBytesKey}. */
export function hasOwnOrder(type: SqlType): boolean {
  if (type.kind === "jsonb") return true;
  return storageClassOf(type) === "bytes" && type.kind !== "bytea" && type.kind !== "bytes";
}

/** A string whose order under `<` is the order of the type; `value` is of storage class bytes, or jsonb text. */
export function orderedBytesKey(type: SqlType, value: Exclude<StoredValue, null>): string {
  const decoded: SqlValue = value instanceof Uint8Array ? decodeValueBytes(type, value) : value;
  return sortKey([type], [decoded], [false], [false]);
}
