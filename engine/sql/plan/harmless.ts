/** Which expressions raise no errors, so that it does not matter for how many rows they are computed. */
import type { Expression } from "./expression.ts";

/** Whether an expression that is fixed during one execution has a value in each. */
export function cannotFail(expression: Expression): boolean {
  switch (expression.kind) {
    case "constant":
    case "parameter":
      return true;
    case "cast":
      return expression.cast.identity && cannotFail(expression.argument);
    case "call":
      return expression.function.raises === "nothing" && expression.args.every(cannotFail);
    default:
      return false;
  }
}

/** Whether an expression raises no error, whatever its columns hold. */
export function raisesNothing(expression: Expression): boolean {
  return isSafe(expression, false);
}

/** Whether a condition raises no error, whatever its columns hold; what a pattern raises, it raises for each row. */
export function isHarmless(condition: Expression): boolean {
  return isSafe(condition, true);
}

function isSafe(expression: Expression, hasPatterns: boolean): boolean {
  const check = (each: Expression) => isSafe(each, hasPatterns);
  switch (expression.kind) {
    case "column":
    case "constant":
    case "parameter":
      return true;
    case "cast":
      return expression.cast.identity && check(expression.argument);
    case "and":
    case "or":
      return expression.args.every(check);
    case "not":
    case "is_null":
      return check(expression.argument);
    case "in_list":
      return check(expression.argument) && expression.list.every(check);
    case "call": {
      const { raises } = expression.function;
      return (raises === "nothing" || hasPatterns && raises === "pattern") && expression.args.every(check);
    }
    default:
      return false;
  }
}
