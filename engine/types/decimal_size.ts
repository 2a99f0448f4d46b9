/** How large decimals are, and what operations on long ones cost in steps (see `engine/base/gas.ts`). */
import type { Decimal } from "./decimal.ts";

/** Numbers that are kept as one. */
const SMALL_SIZE = 16;
/** A digit takes as long to handle as so many characters. */
export const DIGIT_SIZE = 4;

/** The size of a number: its digits, those that bringing it to another scale may add included, as characters. */
export function decimalSize({ coefficient, scale }: Decimal): number {
  return typeof coefficient === "number" ? SMALL_SIZE + scale : integerSize(coefficient) + scale * DIGIT_SIZE;
}

/** The size of an integer; its hexadecimal digits are counted, which takes no division. */
export function integerSize(value: bigint): number {
  return BigInt.asIntN(64, value) === value ? SMALL_SIZE : value.toString(16).length * 1.2 * DIGIT_SIZE;
}

/** Steps of a division of numbers of this size together. It takes more than in proportion. */
export function divisionSteps(size: number): number {
  const digits = size / DIGIT_SIZE;
  return 1 + digits * 0.32 + digits * digits * 1e-5;
}

/** Steps of writing a number of this size as text. */
export function numberTextSteps(size: number): number {
  const digits = size / DIGIT_SIZE;
  return 1 + digits * 0.05 + digits * digits * 6e-6;
}

/** Steps of reading a number of so many digits. */
export function readNumberSteps(digits: number): number {
  return 1 + digits * 0.1 + digits * digits * 2e-6;
}
