/**
 * Arithmetic and comparison of numbers: traps where the language traps, unless the operands are known to be small
 * enough.
 */
import type { Span } from "../../source/source_file.ts";
import type { ArithmeticOperator } from "../../typed/tree.ts";
import type { PrimitiveName } from "../../types/type.ts";
import { constant, i32, type IrExpression, op } from "../node.ts";
import { fold } from "../fold.ts";
import type { Frame, Interval } from "./frame.ts";

const INT_MINIMUM = -2147483648;
const MAX_INT = 2147483647;
const LONG_MINIMUM = -(1n << 63n);

/** Numbers that an `i32` expression lies between. */
export function intervalOf(frame: Frame, value: IrExpression): Interval {
  switch (value.kind) {
    case "const": {
      const number = Number(value.value);
      return { low: number, high: number };
    }
    case "get":
      return frame.intervals.get(value.local) ?? ANY;
    case "load":
      if (value.op === "i32.load8_u") return { low: 0, high: 255 };
      if (value.op === "i32.load16_u") return { low: 0, high: 65535 };
      return ANY;
    case "op":
      return intervalOfOperation(frame, value.op, value.args);
    case "select": {
      const then = intervalOf(frame, value.then);
      const otherwise = intervalOf(frame, value.otherwise);
      return { low: Math.min(then.low, otherwise.low), high: Math.max(then.high, otherwise.high) };
    }
    default:
      return ANY;
  }
}

const ANY: Interval = { low: INT_MINIMUM, high: MAX_INT };

function intervalOfOperation(frame: Frame, name: string, args: readonly IrExpression[]): Interval {
  const [first, second] = args;
  if (first === undefined) return ANY;
  if (second === undefined) {
    if (name === "i32.eqz" || name === "i64.eqz") return { low: 0, high: 1 };
    if (name === "i32.clz" || name === "i32.ctz" || name === "i32.popcnt") return { low: 0, high: 32 };
    return ANY;
  }
  if (/\.(eq|ne|lt|le|gt|ge)/.test(name)) return { low: 0, high: 1 };
  if (!name.startsWith("i32.")) return ANY;
  const left = intervalOf(frame, first);
  const right = intervalOf(frame, second);
  switch (name) {
    case "i32.add":
      return inInt({ low: left.low + right.low, high: left.high + right.high });
    case "i32.sub":
      return inInt({ low: left.low - right.high, high: left.high - right.low });
    case "i32.mul": {
      const corners = [
        left.low * right.low,
        left.low * right.high,
        left.high * right.low,
        left.high * right.high,
      ];
      return inInt({ low: Math.min(...corners), high: Math.max(...corners) });
    }
    case "i32.and":
      if (left.low >= 0 && right.low >= 0) return { low: 0, high: Math.min(left.high, right.high) };
      if (right.low >= 0) return { low: 0, high: right.high };
      if (left.low >= 0) return { low: 0, high: left.high };
      return ANY;
    case "i32.rem_s":
      if (right.low > 0) {
        return {
          low: left.low >= 0 ? 0 : 1 - right.high,
          high: Math.min(right.high - 1, Math.max(left.high, 0)),
        };
      }
      return ANY;
    case "i32.rem_u":
      return right.low > 0 ? { low: 0, high: right.high - 1 } : ANY;
    case "i32.div_s":
      if (right.low > 0 && left.low >= 0) return { low: 0, high: left.high };
      return ANY;
    case "i32.shr_s":
      return left.low >= 0 ? { low: 0, high: left.high } : ANY;
    case "i32.shr_u":
      if (second.kind === "const" && (Number(second.value) & 31) > 0) {
        return { low: 0, high: 0xffffffff >>> (Number(second.value) & 31) };
      }
      return left.low >= 0 ? { low: 0, high: left.high } : ANY;
    default:
      return ANY;
  }
}

function inInt(interval: Interval): Interval {
  return interval.low < INT_MINIMUM || interval.high > MAX_INT ? ANY : interval;
}

/** An operation of two numbers. */
export function arithmetic(
  frame: Frame,
  operator: ArithmeticOperator,
  type: PrimitiveName,
  left: IrExpression,
  right: IrExpression,
  span: Span,
): IrExpression {
  switch (type) {
    case "Float":
      return floatArithmetic(frame, operator, "f64", left, right);
    case "F32":
      return floatArithmetic(frame, operator, "f32", left, right);
    case "Int":
      return intArithmetic(frame, operator, left, right, span);
    case "Int64":
      return longArithmetic(frame, operator, left, right, span);
    default:
      throw new Error(`Cannot lower ${operator}: ${type} is no number`);
  }
}

function floatArithmetic(
  frame: Frame,
  operator: ArithmeticOperator,
  type: "f64" | "f32",
  left: IrExpression,
  right: IrExpression,
): IrExpression {
  switch (operator) {
    case "+":
      return fold(op(`${type}.add`, left, right));
    case "-":
      return fold(op(`${type}.sub`, left, right));
    case "*":
      return fold(op(`${type}.mul`, left, right));
    case "/":
      return fold(op(`${type}.div`, left, right));
    case "%":
      return frame.helper(frame.program.runtime.floatRemainder(type), [left, right]);
    default:
      throw new Error(`Cannot lower ${operator}: floats do not have it`);
  }
}

const PLAIN: Partial<Record<ArithmeticOperator, string>> = {
  "+%": "add",
  "-%": "sub",
  "*%": "mul",
  "&": "and",
  "|": "or",
  "^": "xor",
  "<<": "shl",
  ">>": "shr_s",
};

function intArithmetic(
  frame: Frame,
  operator: ArithmeticOperator,
  left: IrExpression,
  right: IrExpression,
  span: Span,
): IrExpression {
  const plain = PLAIN[operator];
  if (plain !== undefined) return fold(op(`i32.${plain}`, left, right));
  const a = intervalOf(frame, left);
  const b = intervalOf(frame, right);
  switch (operator) {
    case "+": {
      if (left.kind === "const" && right.kind !== "const") {
        return intArithmetic(frame, operator, right, left, span);
      }
      if (a.low + b.low >= INT_MINIMUM && a.high + b.high <= MAX_INT) {
        return fold(op("i32.add", left, right));
      }
      const first = frame.reusable(left);
      const second = frame.reusable(right);
      const sum = frame.temporary(op("i32.add", first, second));
      frame.check(overflowOfSum(first, second, sum, a, b), "overflow", span);
      remember(frame, sum, {
        low: Math.max(INT_MINIMUM, a.low + b.low),
        high: Math.min(MAX_INT, a.high + b.high),
      });
      return sum;
    }
    case "-": {
      if (a.low - b.high >= INT_MINIMUM && a.high - b.low <= MAX_INT) {
        return fold(op("i32.sub", left, right));
      }
      const first = frame.reusable(left);
      const second = frame.reusable(right);
      const difference = frame.temporary(op("i32.sub", first, second));
      frame.check(overflowOfDifference(first, second, difference, b), "overflow", span);
      remember(frame, difference, {
        low: Math.max(INT_MINIMUM, a.low - b.high),
        high: Math.min(MAX_INT, a.high - b.low),
      });
      return difference;
    }
    case "*": {
      const corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
      if (Math.min(...corners) >= INT_MINIMUM && Math.max(...corners) <= MAX_INT) {
        return fold(op("i32.mul", left, right));
      }
      const product = frame.temporary(
        op("i64.mul", fold(op("i64.extend_i32_s", left)), fold(op("i64.extend_i32_s", right))),
      );
      const short = frame.temporary(op("i32.wrap_i64", product));
      frame.check(op("i64.ne", op("i64.extend_i32_s", short), product), "overflow", span);
      remember(frame, short, {
        low: Math.max(INT_MINIMUM, Math.min(...corners)),
        high: Math.min(MAX_INT, Math.max(...corners)),
      });
      return short;
    }
    case "/": {
      const first = frame.reusable(left);
      const second = frame.reusable(right);
      if (b.low <= 0 && b.high >= 0) frame.check(fold(op("i32.eqz", second)), "division", span);
      if (b.low <= -1 && b.high >= -1 && a.low === INT_MINIMUM) {
        frame.check(
          fold(
            op("i32.and", fold(op("i32.eq", first, i32(INT_MINIMUM))), fold(op("i32.eq", second, i32(-1)))),
          ),
          "overflow",
          span,
        );
      }
      if (a.low >= 0 && b.low > 0) return fold(op("i32.div_u", first, second));
      return fold(op("i32.div_s", first, second));
    }
    case "%": {
      const second = frame.reusable(right);
      if (b.low <= 0 && b.high >= 0) frame.check(fold(op("i32.eqz", second)), "division", span);
      return fold(op(a.low >= 0 && b.low > 0 ? "i32.rem_u" : "i32.rem_s", left, second));
    }
    default:
      throw new Error(`Cannot lower ${operator}: integers do not have it`);
  }
}

function remember(frame: Frame, value: IrExpression, interval: Interval): void {
  if (value.kind === "get") frame.intervals.set(value.local, interval);
}

function overflowOfSum(
  left: IrExpression,
  right: IrExpression,
  sum: IrExpression,
  a: Interval,
  b: Interval,
): IrExpression {
  // A sum with something that is not negative overflows just when it is smaller than the other side.
  if (b.low >= 0) return fold(op("i32.lt_s", sum, left));
  if (b.high <= 0) return fold(op("i32.gt_s", sum, left));
  if (a.low >= 0) return fold(op("i32.lt_s", sum, right));
  if (a.high <= 0) return fold(op("i32.gt_s", sum, right));
  return fold(op("i32.lt_s", op("i32.and", op("i32.xor", left, sum), op("i32.xor", right, sum)), i32(0)));
}

function overflowOfDifference(
  left: IrExpression,
  right: IrExpression,
  difference: IrExpression,
  b: Interval,
): IrExpression {
  if (b.low >= 0) return fold(op("i32.gt_s", difference, left));
  if (b.high <= 0) return fold(op("i32.lt_s", difference, left));
  return fold(
    op("i32.lt_s", op("i32.and", op("i32.xor", left, right), op("i32.xor", left, difference)), i32(0)),
  );
}

function longArithmetic(
  frame: Frame,
  operator: ArithmeticOperator,
  left: IrExpression,
  right: IrExpression,
  span: Span,
): IrExpression {
  if (operator === "<<" || operator === ">>") {
    return fold(op(operator === "<<" ? "i64.shl" : "i64.shr_s", left, fold(op("i64.extend_i32_u", right))));
  }
  const plain = PLAIN[operator];
  if (plain !== undefined) return fold(op(`i64.${plain}`, left, right));
  const first = frame.reusable(left);
  const second = frame.reusable(right);
  if (first.kind === "const" && second.kind === "const") {
    const folded = foldLong(operator, BigInt(first.value), BigInt(second.value));
    if (folded !== null) return constant("i64", folded);
  }
  const nought = constant("i64", 0n);
  switch (operator) {
    case "+": {
      const sum = frame.temporary(op("i64.add", first, second));
      const condition = second.kind === "const"
        ? op(BigInt(second.value) >= 0n ? "i64.lt_s" : "i64.gt_s", sum, first)
        : op("i64.lt_s", op("i64.and", op("i64.xor", first, sum), op("i64.xor", second, sum)), nought);
      frame.check(condition, "overflow", span);
      return sum;
    }
    case "-": {
      const difference = frame.temporary(op("i64.sub", first, second));
      const condition = second.kind === "const"
        ? op(BigInt(second.value) >= 0n ? "i64.gt_s" : "i64.lt_s", difference, first)
        : op(
          "i64.lt_s",
          op("i64.and", op("i64.xor", first, second), op("i64.xor", first, difference)),
          nought,
        );
      frame.check(condition, "overflow", span);
      return difference;
    }
    case "*": {
      const overflows = frame.helper(frame.program.runtime.multiplyOverflows(), [first, second]);
      frame.check(overflows, "overflow", span);
      return frame.temporary(op("i64.mul", first, second));
    }
    case "/":
    case "%": {
      frame.check(fold(op("i64.eqz", second)), "division", span);
      if (operator === "%") return frame.temporary(op("i64.rem_s", first, second));
      if (second.kind !== "const" || BigInt(second.value) === -1n) {
        frame.check(
          op(
            "i32.and",
            op("i64.eq", first, constant("i64", LONG_MINIMUM)),
            fold(op("i64.eq", second, constant("i64", -1n))),
          ),
          "overflow",
          span,
        );
      }
      return frame.temporary(op("i64.div_s", first, second));
    }
    default:
      throw new Error(`Cannot lower ${operator}: integers do not have it`);
  }
}

function foldLong(operator: ArithmeticOperator, left: bigint, right: bigint): bigint | null {
  let result: bigint;
  switch (operator) {
    case "+":
      result = left + right;
      break;
    case "-":
      result = left - right;
      break;
    case "*":
      result = left * right;
      break;
    case "/":
      if (right === 0n) return null;
      result = left / right;
      break;
    case "%":
      if (right === 0n) return null;
      result = left % right;
      break;
    default:
      return null;
  }
  return BigInt.asIntN(64, result) === result ? result : null;
}

const COMPARISONS = { "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge" } as const;

/** Comparison of two scalars of a primitive type. */
export function compareScalars(
  operator: keyof typeof COMPARISONS,
  type: PrimitiveName,
  left: IrExpression,
  right: IrExpression,
): IrExpression {
  const name = COMPARISONS[operator];
  switch (type) {
    case "Float":
      return fold(op(`f64.${name}`, left, right));
    case "F32":
      return fold(op(`f32.${name}`, left, right));
    case "Int64":
      return fold(op(`i64.${name}${name === "eq" || name === "ne" ? "" : "_s"}`, left, right));
    default:
      return fold(op(`i32.${name}${name === "eq" || name === "ne" ? "" : "_s"}`, left, right));
  }
}

/** The negative of a number. */
export function negate(frame: Frame, type: PrimitiveName, operand: IrExpression, span: Span): IrExpression {
  switch (type) {
    case "Float":
      return fold(op("f64.neg", operand));
    case "F32":
      return fold(op("f32.neg", operand));
    case "Int64":
      return longArithmetic(frame, "-", constant("i64", 0n), operand, span);
    default: {
      if (operand.kind === "const" && operand.value !== INT_MINIMUM) return i32(-Number(operand.value));
      const { low } = intervalOf(frame, operand);
      const value = frame.reusable(operand);
      if (low === INT_MINIMUM) frame.check(fold(op("i32.eq", value, i32(INT_MINIMUM))), "overflow", span);
      return op("i32.sub", i32(0), value);
    }
  }
}
