/**
 * Constant folding of one operation whose operands have been folded. Operations that would trap are left as they are.
 *
 * Floats are folded with IEEE 754 arithmetic only, never with functions of the host's mathematics library; a NaN is
 * folded to the canonical one.
 */
import { constant, i32, type IrExpression, op } from "./node.ts";

type Operation = IrExpression & { readonly kind: "op" };

/** The same value, simpler where that is possible. */
export function fold(expression: IrExpression): IrExpression {
  if (expression.kind === "select") {
    if (expression.condition.kind === "const") {
      return expression.condition.value === 0 ? expression.otherwise : expression.then;
    }
    return expression;
  }
  if (expression.kind !== "op") return expression;
  const [first, second] = expression.args;
  if (first === undefined) return expression;
  if (second === undefined) return foldUnary(expression, first);
  if (first.kind === "const" && second.kind === "const") {
    return foldConstants(expression, first.value, second.value);
  }
  return simplify(expression, first, second);
}

function bool(value: boolean): IrExpression {
  return i32(value ? 1 : 0);
}

function float(value: number): IrExpression {
  return constant("f64", value);
}

const NEGATIONS: ReadonlyMap<string, string> = new Map(
  ["i32", "i64"].flatMap((type) =>
    [["eq", "ne"], ["lt_s", "ge_s"], ["lt_u", "ge_u"], ["gt_s", "le_s"], ["gt_u", "le_u"]].flatMap((
      [one, other],
    ) => [
      [`${type}.${one}`, `${type}.${other}`] as const,
      [`${type}.${other}`, `${type}.${one}`] as const,
    ])
  ).concat([["f64.eq", "f64.ne"], ["f64.ne", "f64.eq"], ["f32.eq", "f32.ne"], ["f32.ne", "f32.eq"]]),
);

function foldUnary(expression: Operation, operand: IrExpression): IrExpression {
  if (expression.op === "i32.eqz" && operand.kind === "op") {
    const [left, right] = operand.args;
    const negation = NEGATIONS.get(operand.op);
    if (negation !== undefined && left !== undefined && right !== undefined) return op(negation, left, right);
    return expression;
  }
  if (operand.kind !== "const") return expression;
  const number = Number(operand.value);
  switch (expression.op) {
    case "i32.eqz":
      return bool(number === 0);
    case "i64.eqz":
      return bool(BigInt(operand.value) === 0n);
    case "i64.extend_i32_s":
      return constant("i64", BigInt(number));
    case "i64.extend_i32_u":
      return constant("i64", BigInt(number >>> 0));
    case "i32.wrap_i64":
      return i32(Number(BigInt.asIntN(32, BigInt(operand.value))));
    case "f64.convert_i32_s":
      return float(number);
    case "f64.neg":
      return float(-number);
    case "f64.abs":
      return float(Math.abs(number));
    case "f64.floor":
      return float(Math.floor(number));
    case "f64.ceil":
      return float(Math.ceil(number));
    case "f64.trunc":
      return float(Math.trunc(number));
    case "f64.sqrt":
      // The square root is exactly rounded by IEEE 754, alike in every engine.
      return float(Math.sqrt(number));
    case "f32.demote_f64":
      return constant("f32", Math.fround(number));
    case "f64.promote_f32":
      return float(number);
    default:
      return expression;
  }
}

function foldConstants(expression: Operation, left: number | bigint, right: number | bigint): IrExpression {
  switch (expression.op.slice(0, 3)) {
    case "i32":
      return foldInt(expression, Number(left) | 0, Number(right) | 0);
    case "i64":
      return foldLong(expression, BigInt(left), BigInt(right));
    case "f64":
      return foldFloat(expression, Number(left), Number(right));
    default:
      return expression;
  }
}

function foldInt(expression: Operation, a: number, b: number): IrExpression {
  switch (expression.op) {
    case "i32.add":
      return i32(a + b);
    case "i32.sub":
      return i32(a - b);
    case "i32.mul":
      return i32(Math.imul(a, b));
    case "i32.div_s":
      return b === 0 || (b === -1 && a === -2147483648) ? expression : i32(Math.trunc(a / b));
    case "i32.div_u":
      return b === 0 ? expression : i32(Math.floor((a >>> 0) / (b >>> 0)));
    case "i32.rem_s":
      return b === 0 ? expression : i32(a % b);
    case "i32.rem_u":
      return b === 0 ? expression : i32((a >>> 0) % (b >>> 0));
    case "i32.and":
      return i32(a & b);
    case "i32.or":
      return i32(a | b);
    case "i32.xor":
      return i32(a ^ b);
    case "i32.shl":
      return i32(a << (b & 31));
    case "i32.shr_s":
      return i32(a >> (b & 31));
    case "i32.shr_u":
      return i32(a >>> (b & 31));
    case "i32.eq":
      return bool(a === b);
    case "i32.ne":
      return bool(a !== b);
    case "i32.lt_s":
      return bool(a < b);
    case "i32.le_s":
      return bool(a <= b);
    case "i32.gt_s":
      return bool(a > b);
    case "i32.ge_s":
      return bool(a >= b);
    case "i32.lt_u":
      return bool((a >>> 0) < (b >>> 0));
    case "i32.le_u":
      return bool((a >>> 0) <= (b >>> 0));
    case "i32.gt_u":
      return bool((a >>> 0) > (b >>> 0));
    case "i32.ge_u":
      return bool((a >>> 0) >= (b >>> 0));
    default:
      return expression;
  }
}

function foldLong(expression: Operation, a: bigint, b: bigint): IrExpression {
  const long = (value: bigint): IrExpression => constant("i64", BigInt.asIntN(64, value));
  switch (expression.op) {
    case "i64.add":
      return long(a + b);
    case "i64.sub":
      return long(a - b);
    case "i64.mul":
      return long(a * b);
    case "i64.and":
      return long(a & b);
    case "i64.or":
      return long(a | b);
    case "i64.xor":
      return long(a ^ b);
    case "i64.shl":
      return long(a << (b & 63n));
    case "i64.shr_s":
      return long(a >> (b & 63n));
    case "i64.eq":
      return bool(a === b);
    case "i64.ne":
      return bool(a !== b);
    case "i64.lt_s":
      return bool(a < b);
    case "i64.le_s":
      return bool(a <= b);
    case "i64.gt_s":
      return bool(a > b);
    case "i64.ge_s":
      return bool(a >= b);
    default:
      return expression;
  }
}

function foldFloat(expression: Operation, a: number, b: number): IrExpression {
  switch (expression.op) {
    case "f64.add":
      return float(a + b);
    case "f64.sub":
      return float(a - b);
    case "f64.mul":
      return float(a * b);
    case "f64.div":
      return float(a / b);
    case "f64.eq":
      return bool(a === b);
    case "f64.ne":
      return bool(a !== b);
    case "f64.lt":
      return bool(a < b);
    case "f64.le":
      return bool(a <= b);
    case "f64.gt":
      return bool(a > b);
    case "f64.ge":
      return bool(a >= b);
    default:
      return expression;
  }
}

/** Neutral elements, and a constant moved to the right of another. */
function simplify(expression: Operation, left: IrExpression, right: IrExpression): IrExpression {
  const isZero = right.kind === "const" && (right.value === 0 || right.value === 0n) &&
    right.type !== "f64" &&
    right.type !== "f32";
  switch (expression.op) {
    case "i32.add":
    case "i64.add":
      if (isZero) return left;
      if (left.kind === "const") return fold(op(expression.op, right, left));
      if (
        expression.op === "i32.add" && right.kind === "const" && left.kind === "op" && left.op === "i32.add"
      ) {
        const [inner, addend] = left.args;
        if (inner !== undefined && addend?.kind === "const") {
          return fold(op("i32.add", inner, i32(Number(addend.value) + Number(right.value))));
        }
      }
      return expression;
    case "i32.sub":
    case "i64.sub":
    case "i32.or":
    case "i64.or":
    case "i32.xor":
    case "i64.xor":
    case "i32.shl":
    case "i32.shr_s":
    case "i32.shr_u":
      return isZero ? left : expression;
    case "i32.mul":
      if (left.kind === "const") return fold(op(expression.op, right, left));
      if (right.kind === "const") {
        const factor = Number(right.value);
        if (factor === 1) return left;
        const power = 31 - Math.clz32(factor);
        if (factor > 1 && factor === 1 << power) return op("i32.shl", left, i32(power));
      }
      return expression;
    case "i32.ne":
      return isZero && left.kind === "op" && /\.(eq|ne|lt|le|gt|ge)/.test(left.op) ? left : expression;
    case "i32.eq":
      return isZero ? fold(op("i32.eqz", left)) : expression;
    default:
      return expression;
  }
}
