/** How large a value is, in units that take about as long as each other to handle: characters, bytes, digits. */
import { Decimal } from "../../types/decimal.ts";
import { decimalSize } from "../../types/decimal_size.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlValue } from "../../types/value.ts";

/** What every value counts. */
const SCALAR_SIZE = 8;
/** What an element of an array or record counts besides its own size. */
const ELEMENT_SIZE = 8;

/** The size of a value. Takes time in proportion to the elements of arrays and the digits of numbers. */
export function sizeOf(value: SqlValue): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object") return SCALAR_SIZE;
  if (value === null) return 0;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Decimal) return decimalSize(value);
  if (value instanceof SqlArray) return sizeOfAll(value.elements);
  if ("recordValues" in value) return sizeOfAll(value.recordValues);
  return SCALAR_SIZE;
}

function sizeOfAll(values: readonly SqlValue[]): number {
  let size = ELEMENT_SIZE * values.length;
  for (const value of values) size += sizeOf(value);
  return size;
}
