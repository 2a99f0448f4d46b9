/**
 * Bounds of integers, so that generated code can leave out the tests for results that a number cannot hold exactly.
 *
 * The bounds of a column come from where its values are stored; those of an operation follow from its operands'.
 * Every range lies within the safe integers: what may leave them has no range.
 */

/** Both ends belong to it. */
export interface IntegerRange {
  readonly low: number;
  readonly high: number;
}

/** An operation as an expression on plain numbers, with the range of its result. */
export interface BoundedCode {
  readonly code: string;
  readonly range: IntegerRange;
}

/** The form of an operation for operands within ranges; undefined when its result may be outside of what is allowed. */
export type BoundedForm = (
  args: readonly string[],
  ranges: readonly IntegerRange[],
  use: (name: string, implementation: (...args: never[]) => unknown) => string,
) => BoundedCode | undefined;

/** All integers that a double holds exactly and unambiguously. */
export const SAFE_RANGE: IntegerRange = { low: Number.MIN_SAFE_INTEGER, high: Number.MAX_SAFE_INTEGER };

/** Whether one range lies within another. */
export function isWithin(inner: IntegerRange, outer: IntegerRange): boolean {
  return inner.low >= outer.low && inner.high <= outer.high;
}

/** The farthest that a value of the range is from 0. */
export function magnitudeOf(range: IntegerRange): number {
  return Math.max(Math.abs(range.low), Math.abs(range.high));
}

/**
 * The form of `left × leftFactor symbol right × rightFactor`; results outside of `allowed` are the checked operation's
 * to refuse or to widen.
 */
export function boundedForm(
  symbol: "+" | "-" | "*",
  allowed: IntegerRange,
  factors: readonly [number, number] = [1, 1],
): BoundedForm {
  return ([first = "", second = ""], [firstRange, secondRange]) => {
    if (firstRange === undefined || secondRange === undefined) return undefined;
    const left = scaled(first, firstRange, factors[0]);
    const right = scaled(second, secondRange, factors[1]);
    const range = resultRange(symbol, left.range, right.range);
    for (const each of [left.range, right.range, range]) {
      if (!isWithin(each, SAFE_RANGE)) return undefined;
    }
    if (!isWithin(range, allowed)) return undefined;
    // A product of 0 and a negative number is -0, which adding 0 turns into 0.
    const mayBeNegativeZero = symbol === "*" && (left.range.low < 0 || right.range.low < 0);
    return { code: `(${left.code} ${symbol} ${right.code}${mayBeNegativeZero ? " + 0" : ""})`, range };
  };
}

function scaled(code: string, range: IntegerRange, factor: number): BoundedCode {
  if (factor === 1) return { code, range };
  const low = range.low * factor;
  const high = range.high * factor;
  const scaledCode = low === high ? (low < 0 ? `(${low})` : `${low}`) : `(${code} * ${factor} + 0)`;
  return { code: scaledCode, range: { low, high } };
}

function resultRange(symbol: "+" | "-" | "*", left: IntegerRange, right: IntegerRange): IntegerRange {
  switch (symbol) {
    case "+":
      return { low: left.low + right.low, high: left.high + right.high };
    case "-":
      return { low: left.low - right.high, high: left.high - right.low };
    case "*": {
      const corners = [left.low, left.high].flatMap((a) => [a * right.low, a * right.high]);
      return { low: Math.min(...corners) + 0, high: Math.max(...corners) + 0 };
    }
  }
}
