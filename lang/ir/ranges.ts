/**
 * What is known of numbers while a function is walked: between which numbers a variable lies, and which variables are
 * sums of others.
 *
 * A branch tells: behind `if low >= high { leave }` it is known that `low` is not the largest number there is, so
 * that `low + 1` cannot overflow.
 */
import { LENGTH_OFFSET } from "./layout.ts";
import type { IrExpression, IrLocal } from "./node.ts";

const MINIMUM = -2147483648;
const MAXIMUM = 2147483647;

/** Numbers that a value lies between, both included. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

const ANY: Range = { low: MINIMUM, high: MAXIMUM };

/** A variable that was set to a variable plus or minus something. */
export interface Sum {
  readonly left: IrLocal;
  readonly right: IrExpression;
  readonly isDifference: boolean;
  /** Whether it is known not to have wrapped around. */
  readonly isExact: boolean;
}

/** What is known of numbers. */
export interface Numbers {
  readonly ranges: Map<IrLocal, Range>;
  readonly sums: Map<IrLocal, Sum>;
}

/** Nothing is known. */
export function noNumbers(): Numbers {
  return { ranges: new Map(), sums: new Map() };
}

/** A copy that goes its own way. */
export function copyNumbers({ ranges, sums }: Numbers): Numbers {
  return { ranges: new Map(ranges), sums: new Map(sums) };
}

/** The range of an `i32`. */
export function rangeOf(value: IrExpression, numbers: Numbers): Range {
  switch (value.kind) {
    case "const":
      return typeof value.value === "number" ? { low: value.value, high: value.value } : ANY;
    case "get": {
      const known = numbers.ranges.get(value.local);
      if (known !== undefined) return known;
      return value.local.below === null ? ANY : { low: 0, high: MAXIMUM - 1 };
    }
    case "load":
      return rangeOfLoad(value.op);
    case "op":
      return rangeOfOperation(value.op, value.args, numbers);
    default:
      return ANY;
  }
}

function rangeOfLoad(op: string): Range {
  if (op === "i32.load8_u") return { low: 0, high: 255 };
  if (op === "i32.load16_u") return { low: 0, high: 65535 };
  return ANY;
}

function rangeOfOperation(op: string, args: readonly IrExpression[], numbers: Numbers): Range {
  const [first, second] = args;
  if (first === undefined || second === undefined) return ANY;
  if (op !== "i32.add" && op !== "i32.sub" && op !== "i32.and" && op !== "i32.shr_u") return ANY;
  const a = rangeOf(first, numbers);
  const b = rangeOf(second, numbers);
  switch (op) {
    case "i32.and":
      return b.low >= 0 ? { low: 0, high: b.high } : a.low >= 0 ? { low: 0, high: a.high } : ANY;
    case "i32.shr_u":
      return a.low >= 0 ? { low: 0, high: a.high } : ANY;
    default: {
      const range = exactSum(a, b, op === "i32.sub");
      return range.low < MINIMUM || range.high > MAXIMUM ? ANY : range;
    }
  }
}

/** Where the sum or the difference lies before it wraps around. */
function exactSum(a: Range, b: Range, isDifference: boolean): Range {
  return isDifference
    ? { low: a.low - b.high, high: a.high - b.low }
    : { low: a.low + b.low, high: a.high + b.high };
}

/**
 * Remembers what a variable has been set to; what was known of it before is to be forgotten first, but `before` still
 * knows.
 */
export function learnNumber(local: IrLocal, value: IrExpression, before: Numbers, numbers: Numbers): void {
  if (local.type !== "i32" || local.pointer !== null) return;
  const range = rangeOf(value, before);
  if (range !== ANY) numbers.ranges.set(local, range);
  if (value.kind !== "op" || (value.op !== "i32.add" && value.op !== "i32.sub")) return;
  const [left, right] = value.args;
  if (left?.kind !== "get" || left.local === local) return;
  if (right?.kind !== "const" && (right?.kind !== "get" || right.local === local)) return;
  const isDifference = value.op === "i32.sub";
  const exact = exactSum(rangeOf(left, before), rangeOf(right, before), isDifference);
  numbers.sums.set(local, {
    left: left.local,
    right,
    isDifference,
    isExact: exact.low >= MINIMUM && exact.high <= MAXIMUM,
  });
}

/** Forgets a variable that is set. */
export function forgetNumber(local: IrLocal, { ranges, sums }: Numbers): void {
  ranges.delete(local);
  sums.delete(local);
  for (const [sum, { left, right }] of sums) {
    if (left === local || (right.kind === "get" && right.local === local)) sums.delete(sum);
  }
}

/** Keeps what another way knows as well. */
export function joinNumbers(numbers: Numbers, other: Numbers): void {
  for (const [local, range] of numbers.ranges) {
    const known = other.ranges.get(local);
    if (known === undefined) numbers.ranges.delete(local);
    else if (known !== range) {
      numbers.ranges.set(local, {
        low: Math.min(range.low, known.low),
        high: Math.max(range.high, known.high),
      });
    }
  }
  for (const [local, sum] of numbers.sums) {
    const known = other.sums.get(local);
    if (known === sum) continue;
    if (known?.left === sum.left && known.right === sum.right && known.isDifference === sum.isDifference) {
      numbers.sums.set(local, { ...sum, isExact: sum.isExact && known.isExact });
    } else numbers.sums.delete(local);
  }
}

/** Takes over all that another way knows. */
export function replaceNumbers(numbers: Numbers, other: Numbers): void {
  numbers.ranges.clear();
  numbers.sums.clear();
  addNumbers(numbers, other);
}

/** Adds what is known elsewhere. */
export function addNumbers(numbers: Numbers, other: Numbers): void {
  for (const [local, range] of other.ranges) numbers.ranges.set(local, range);
  for (const [local, sum] of other.sums) numbers.sums.set(local, sum);
}

const OPPOSITES: ReadonlyMap<string, string> = new Map([
  ["i32.lt_s", "i32.ge_s"],
  ["i32.ge_s", "i32.lt_s"],
  ["i32.gt_s", "i32.le_s"],
  ["i32.le_s", "i32.gt_s"],
  ["i32.eq", "i32.ne"],
  ["i32.ne", "i32.eq"],
  ["i32.lt_u", "i32.ge_u"],
  ["i32.ge_u", "i32.lt_u"],
]);

/** Learns that a condition holds, or that it does not. */
export function assume(condition: IrExpression, holds: boolean, numbers: Numbers): void {
  if (condition.kind !== "op") return;
  const [a, b] = condition.args;
  if (a === undefined) return;
  if (b === undefined) {
    if (condition.op === "i32.eqz") assume(a, !holds, numbers);
    return;
  }
  if (condition.op === "i32.and" || condition.op === "i32.or") {
    // Of truth values only: both sides are comparisons.
    if (holds === (condition.op === "i32.and") && isComparison(a) && isComparison(b)) {
      assume(a, holds, numbers);
      assume(b, holds, numbers);
    }
    return;
  }
  const op = holds ? condition.op : OPPOSITES.get(condition.op);
  const left = rangeOf(a, numbers);
  const right = rangeOf(b, numbers);
  switch (op) {
    case "i32.lt_s":
      restrict(a, { low: left.low, high: right.high - 1 }, numbers);
      restrict(b, { low: left.low + 1, high: right.high }, numbers);
      break;
    case "i32.le_s":
      restrict(a, { low: left.low, high: right.high }, numbers);
      restrict(b, { low: left.low, high: right.high }, numbers);
      break;
    case "i32.gt_s":
      restrict(a, { low: right.low + 1, high: left.high }, numbers);
      restrict(b, { low: right.low, high: left.high - 1 }, numbers);
      break;
    case "i32.ge_s":
      restrict(a, { low: right.low, high: left.high }, numbers);
      restrict(b, { low: right.low, high: left.high }, numbers);
      break;
    case "i32.eq":
      restrict(a, right, numbers);
      restrict(b, left, numbers);
      break;
    case "i32.lt_u":
      // Less than a number that is not negative: not negative itself.
      if (isLength(b)) restrict(a, { low: 0, high: MAXIMUM - 1 }, numbers);
      else if (right.low >= 0) restrict(a, { low: 0, high: right.high - 1 }, numbers);
      break;
    default:
  }
}

function isComparison(value: IrExpression): boolean {
  return value.kind === "op" && (OPPOSITES.has(value.op) || value.op === "i32.eqz");
}

function isLength(value: IrExpression): boolean {
  return value.kind === "load" && value.op === "i32.load" && value.offset === LENGTH_OFFSET;
}

function restrict(value: IrExpression, to: Range, numbers: Numbers): void {
  if (value.kind !== "get" || value.local.type !== "i32" || value.local.pointer !== null) return;
  const known = rangeOf(value, numbers);
  const low = Math.max(known.low, to.low);
  const high = Math.min(known.high, to.high);
  // No number is left where control never comes.
  if (low > high || (low === known.low && high === known.high)) return;
  numbers.ranges.set(value.local, { low, high });
}

/** Learns that a check has been passed: its condition does not hold. */
export function learnPassed(condition: IrExpression, numbers: Numbers): void {
  assume(condition, false, numbers);
  const test = overflowTest(condition, numbers);
  if (test === null || test.sum.isExact) return;
  const { local, sum } = test;
  numbers.sums.set(local, { ...sum, isExact: true });
  const exact = exactSum(
    rangeOf({ kind: "get", local: sum.left }, numbers),
    rangeOf(sum.right, numbers),
    sum.isDifference,
  );
  restrict({ kind: "get", local }, exact, numbers);
}

/** Whether the condition is known not to hold. */
export function isImpossible(condition: IrExpression, numbers: Numbers): boolean {
  if (overflowTest(condition, numbers)?.sum.isExact === true) return true;
  if (condition.kind !== "op") return false;
  const [a, b] = condition.args;
  if (a === undefined || b === undefined || !OPPOSITES.has(condition.op)) return false;
  const left = rangeOf(a, numbers);
  const right = rangeOf(b, numbers);
  switch (condition.op) {
    case "i32.lt_s":
      return left.low >= right.high;
    case "i32.le_s":
      return left.low > right.high;
    case "i32.gt_s":
      return left.high <= right.low;
    case "i32.ge_s":
      return left.high < right.low;
    case "i32.eq":
      return left.high < right.low || right.high < left.low;
    case "i32.ge_u":
      return left.low >= 0 && left.high < right.low;
    default:
      return false;
  }
}

/** The sum of which a condition tells whether it has wrapped around. */
function overflowTest(
  condition: IrExpression,
  numbers: Numbers,
): { readonly local: IrLocal; readonly sum: Sum } | null {
  if (condition.kind !== "op" || (condition.op !== "i32.lt_s" && condition.op !== "i32.gt_s")) return null;
  const [result, side] = condition.args;
  if (result?.kind !== "get" || side?.kind !== "get") return null;
  const sum = numbers.sums.get(result.local);
  if (sum === undefined) return null;
  let other: IrExpression;
  if (side.local === sum.left) other = sum.right;
  else if (!sum.isDifference && sum.right.kind === "get" && side.local === sum.right.local) {
    other = { kind: "get", local: sum.left };
  } else return null;
  const { low, high } = rangeOf(other, numbers);
  // Which way an exact result lies from the side that it is compared with.
  const grows = sum.isDifference ? high <= 0 : low >= 0;
  const shrinks = sum.isDifference ? low >= 0 : high <= 0;
  return (condition.op === "i32.lt_s" ? grows : shrinks) ? { local: result.local, sum } : null;
}
