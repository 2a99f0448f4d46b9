/**
 * The JavaScript forms of SQL values. Which form a value has is determined by its `SqlType` (see `sql_type.ts`).
 */
import type { Decimal } from "./decimal.ts";
import type { Interval } from "./interval.ts";
import type { SqlArray } from "./sql_array.ts";

/** A 64-bit or scaled integer: a number when it is a safe integer, else a bigint; always normalized. */
export type NumberOrBigint = number | bigint;

/** Any SQL value; `null` is SQL NULL. */
export type SqlValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Decimal
  | Interval
  | SqlArray
  | SqlRecord;

/** An anonymous row value. */
export interface SqlRecord {
  readonly recordValues: readonly SqlValue[];
}

/** A row in column order. */
export type SqlRow = SqlValue[];
