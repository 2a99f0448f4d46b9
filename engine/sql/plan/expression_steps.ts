/**
 * What the shape of an expression says about the steps (see `engine/base/gas.ts`) of its evaluation, and its evaluation
 * by walking, with every step counted.
 */
import { gas, type GasPlace } from "../../base/gas.ts";
import { LIMITS } from "../../base/limits.ts";
import { fixedCastSteps, fixedSteps, isBoundedType, stepsOfSize } from "../functions/call_steps.ts";
import { isComparison } from "../functions/comparison_operators.ts";
import type { BoundCast, BoundFunction } from "../functions/definition.ts";
import { sizeOf } from "../functions/value_size.ts";
import type { Expression } from "./expression.ts";
import { operands, subqueryPlan } from "./traverse.ts";

/** What the shape of an expression says about its steps. */
export interface ShapeSteps {
  /** Steps of the operations that take the same number each time. */
  readonly fixed: number;
  /** Whether there are others, which must be counted while it is evaluated. */
  readonly counts: boolean;
}

/** Characters of two texts that a step compares. */
const COMPARED_CHARACTERS = 256;

const NO_STEPS: ShapeSteps = { fixed: 0, counts: false };
const shapes = new WeakMap<Expression, ShapeSteps>();

/** The steps of an expression, judged by its shape. */
export function shapeSteps(expression: Expression): ShapeSteps {
  if (["constant", "parameter", "column"].includes(expression.kind)) return NO_STEPS;
  let known = shapes.get(expression);
  if (known === undefined) {
    const own = ownSteps(expression);
    let fixed = own ?? 1, counts = own === null;
    for (const part of operands(expression)) {
      const steps = shapeSteps(part);
      fixed += steps.fixed;
      counts ||= steps.counts;
    }
    known = { fixed, counts };
    shapes.set(expression, known);
  }
  return known;
}

/** Whether the evaluation has to be counted at all. */
export function needsCounter(expression: Expression): boolean {
  const { fixed, counts } = shapeSteps(expression);
  return counts || fixed > LIMITS.expressionGas;
}

/** The steps of the operation itself; null: they depend on values. */
function ownSteps(expression: Expression): number | null {
  switch (expression.kind) {
    case "call":
      return stepsOn(expression.function, expression.args);
    case "cast":
      return fixedCastSteps(expression.cast) ?? stepsOnConstants(expression.cast, [expression.argument]);
    case "is_distinct":
    case "nullif":
      return stepsOn(expression.equals, [expression.left, expression.right]);
    case "greatest":
    case "least": {
      const each = stepsOn(expression.lessThan, expression.args);
      return each === null ? null : each * expression.args.length;
    }
    case "in_list": {
      let sum = 0;
      for (const element of expression.list) {
        const each = stepsOn(expression.equals, [expression.argument, element]);
        if (each === null) return null;
        sum += each;
      }
      return sum;
    }
    case "any_array":
    case "all_array":
      return null;
    case "array":
    case "row":
      return 1 + operands(expression).length;
    case "subscript":
      return expression.subscripts.every((each) => "index" in each) ? 1 : null;
    default:
      return subqueryPlan(expression) === null ? 1 : null;
  }
}

/** The steps of a call with these arguments; null: they depend on values. */
export function stepsOn(called: BoundFunction, args: readonly Expression[]): number | null {
  return fixedSteps(called) ?? comparisonSteps(called, args) ?? stepsOnConstants(called, args);
}

/** A comparison of texts takes no longer than the shorter of both does, and a constant is short enough. */
function comparisonSteps(called: BoundFunction, args: readonly Expression[]): number | null {
  if (!isComparison(called.name)) return null;
  if (!called.argumentTypes.every(({ kind }) => kind === "text" || kind === "varchar")) return null;
  for (const arg of args) {
    if (arg.kind === "constant") return 1 + String(arg.value).length / COMPARED_CHARACTERS;
    if (isBoundedType(arg.type)) return 1;
  }
  return null;
}

/** The steps of an operation on constants and values of bounded size, when they follow from sizes. */
function stepsOnConstants(called: BoundFunction | BoundCast, args: readonly Expression[]): number | null {
  let size = 0;
  for (const arg of args) {
    if (arg.kind === "constant") size += sizeOf(arg.value);
    else if (!isBoundedType(arg.type)) return null;
  }
  return stepsOfSize(called, size);
}

/** Runs the evaluation of an expression that belongs to a table; see {@link Gas.run}. */
export function runCounted<T>(expression: Expression, place: GasPlace, evaluate: () => T): T {
  return gas.run(place, evaluate, shapeSteps(expression).fixed);
}
