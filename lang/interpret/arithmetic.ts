/**
 * Operators of numbers: overflow and division by zero end the program at the operator's place.
 */
import type { ArithmeticOperator } from "../typed/tree.ts";
import type { PrimitiveName } from "../types/type.ts";
import { ProgramTrap, type Site } from "./trap.ts";
import { bigintOf, InterpreterFault, numberOf, type Value } from "./value.ts";

/** Computes from two values. */
export type BinaryFunction = (left: Value, right: Value) => Value;

const smallestInt = -0x8000_0000;
const largestInt = 0x7fff_ffff;
const smallestInt64 = -(1n << 63n);

function overflow(site: Site, type: string, operation: string): never {
  throw new ProgramTrap("overflow", site, `Cannot ${operation}: the result does not fit in ${type}`);
}

function division(site: Site): never {
  throw new ProgramTrap("division", site, "Cannot divide: the right side is zero");
}

function fitted(value: number, site: Site, operation: string): number {
  if (value > largestInt || value < smallestInt) overflow(site, "Int", operation);
  return value | 0;
}

function fitted64(value: bigint, site: Site, operation: string): bigint {
  if (BigInt.asIntN(64, value) !== value) overflow(site, "Int64", operation);
  return value;
}

function onInts(operator: ArithmeticOperator, site: Site): (left: number, right: number) => number {
  switch (operator) {
    case "+":
      return (left, right) => fitted(left + right, site, "add");
    case "-":
      return (left, right) => fitted(left - right, site, "subtract");
    case "*":
      // A product that fits is exact as a double, and one that does not fit is far enough away.
      return (left, right) => fitted(left * right, site, "multiply");
    case "/":
      return (left, right) => {
        if (right === 0) division(site);
        return fitted(Math.trunc(left / right), site, "divide");
      };
    case "%":
      return (left, right) => {
        if (right === 0) division(site);
        return left % right | 0;
      };
    case "+%":
      return (left, right) => left + right | 0;
    case "-%":
      return (left, right) => left - right | 0;
    case "*%":
      return Math.imul;
    case "&":
      return (left, right) => left & right;
    case "|":
      return (left, right) => left | right;
    case "^":
      return (left, right) => left ^ right;
    case "<<":
      return (left, right) => left << right;
    case ">>":
      return (left, right) => left >> right;
  }
}

function onInt64s(operator: ArithmeticOperator, site: Site): (left: bigint, right: bigint) => bigint {
  switch (operator) {
    case "+":
      return (left, right) => fitted64(left + right, site, "add");
    case "-":
      return (left, right) => fitted64(left - right, site, "subtract");
    case "*":
      return (left, right) => fitted64(left * right, site, "multiply");
    case "/":
      return (left, right) => {
        if (right === 0n) division(site);
        return fitted64(left / right, site, "divide");
      };
    case "%":
      return (left, right) => {
        if (right === 0n) division(site);
        return left % right;
      };
    case "+%":
      return (left, right) => BigInt.asIntN(64, left + right);
    case "-%":
      return (left, right) => BigInt.asIntN(64, left - right);
    case "*%":
      return (left, right) => BigInt.asIntN(64, left * right);
    case "&":
      return (left, right) => left & right;
    case "|":
      return (left, right) => left | right;
    case "^":
      return (left, right) => left ^ right;
    case "<<":
      return (left, right) => BigInt.asIntN(64, left << (right & 63n));
    case ">>":
      return (left, right) => left >> (right & 63n);
  }
}

function onFloats(operator: ArithmeticOperator): (left: number, right: number) => number {
  switch (operator) {
    case "+":
      return (left, right) => left + right;
    case "-":
      return (left, right) => left - right;
    case "*":
      return (left, right) => left * right;
    case "/":
      return (left, right) => left / right;
    case "%":
      return (left, right) => left % right;
    default:
      throw new InterpreterFault(`floats have no operator ${operator}`);
  }
}

/** The function of an operator on a type of numbers. */
export function arithmetic(operator: ArithmeticOperator, type: PrimitiveName, site: Site): BinaryFunction {
  switch (type) {
    case "Int": {
      const compute = onInts(operator, site);
      return (left, right) => compute(numberOf(left), numberOf(right));
    }
    case "Int64": {
      const compute = onInt64s(operator, site);
      if (operator === "<<" || operator === ">>") {
        return (left, right) => compute(bigintOf(left), BigInt(numberOf(right)));
      }
      return (left, right) => compute(bigintOf(left), bigintOf(right));
    }
    case "Float": {
      const compute = onFloats(operator);
      return (left, right) => compute(numberOf(left), numberOf(right));
    }
    case "F32": {
      const compute = onFloats(operator);
      return (left, right) => Math.fround(compute(numberOf(left), numberOf(right)));
    }
    default:
      throw new InterpreterFault(`${type} has no operator ${operator}`);
  }
}

/** The function that changes the sign of a number. */
export function negation(type: PrimitiveName, site: Site): (value: Value) => Value {
  switch (type) {
    case "Int":
      return (value) => fitted(-numberOf(value), site, "negate");
    case "Int64":
      return (value) => {
        const number = bigintOf(value);
        if (number === smallestInt64) overflow(site, "Int64", "negate");
        return -number;
      };
    case "Float":
    case "F32":
      return (value) => -numberOf(value);
    default:
      throw new InterpreterFault(`${type} has no sign`);
  }
}
