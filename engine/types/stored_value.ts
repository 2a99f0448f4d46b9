/**
 * Between SQL values and what storage keeps.
 *
 * Storage knows four classes (see `storageClassOf`): booleans become 0 and 1, values without a class of their own
 * (`Decimal`, `Interval`, arrays, records) become bytes through the value codec; all others stay as they are.
 */
import type { SqlType } from "./sql_type.ts";
import { storageClassOf } from "./physical_type.ts";
import type { SqlValue } from "./value.ts";
import { decodeValueBytes, encodeValueBytes } from "./value_codec.ts";

/**
 * A value as storage keeps it. By storage class: `int` number or bigint (normalized mixed integer, bool as 0/1),
 * `float` number, `text` string, `bytes` Uint8Array; null is SQL NULL.
 */
export type StoredValue = null | number | bigint | string | Uint8Array;

/** Whether storage keeps the type's values encoded by the value codec. */
export function isEncoded(type: SqlType): boolean {
  return storageClassOf(type) === "bytes" && type.kind !== "bytea" && type.kind !== "bytes";
}

/** The stored form of a value. */
export function toStored(type: SqlType, value: SqlValue): StoredValue {
  if (value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "object") return value;
  if (value instanceof Uint8Array) return value;
  return encodeValueBytes(type, value);
}

/** The value of a stored form. */
export function fromStored(type: SqlType, stored: StoredValue): SqlValue {
  if (stored === null) return null;
  if (type.kind === "bool") return stored !== 0;
  return isEncoded(type) ? decodeValueBytes(type, stored as Uint8Array) : stored;
}
