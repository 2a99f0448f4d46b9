/** How large a value is, in units that take about as long as each other to handle: characters, bytes, digits. */
import { Decimal } from "../../types/decimal.ts";
import { SqlArray } from "../../types/sql_array.ts";
import type { SqlValue } from "../../types/value.ts";

/** What every value counts. */
const SCALAR_SIZE = 8;
/** What an element of an array or record counts besides its own size. */
const ELEMENT_SIZE = 8;
/** What digits after the point count: numbers are brought to one scale by multiplication. */
const SCALE_SIZE = 0.5;
/** Digits of a number that is kept as one. */
const SMALL_DIGITS = 16;

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

/** The digits of a number, those that bringing it to another scale may add included. */
export function decimalSize({ coefficient, scale }: Decimal): number {
  return (typeof coefficient === "number" ? SMALL_DIGITS : digitsOf(coefficient)) + scale * SCALE_SIZE;
}

/** About the decimal digits of an integer, of its hexadecimal ones, which take no division. */
function digitsOf(value: bigint): number {
  return BigInt.asIntN(64, value) === value ? 20 : value.toString(16).length * 1.2;
}

function sizeOfAll(values: readonly SqlValue[]): number {
  let size = ELEMENT_SIZE * values.length;
  for (const value of values) size += sizeOf(value);
  return size;
}
