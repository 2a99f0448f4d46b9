/**
 * Conditions as numbers: expressions without branches that are 1 where a condition holds and 0 elsewhere.
 *
 * A processor guesses which way a branch goes; where a third of the rows pass a condition, the wrong guesses cost
 * more than all else that a scan does with a row. A mask is added to the number of rows chosen so far instead, see
 * `selection.ts`. All of a mask is computed for each row, so it may hold only what can neither fail nor take long.
 */
import { assertDefined } from "../../base/assert.ts";
import { isComparison } from "../../sql/functions/comparison_operators.ts";
import type { ColumnRef, Expression } from "../../sql/plan/expression.ts";
import { cannotFail } from "../../sql/plan/harmless.ts";
import type { Emitter } from "./emitter.ts";
import { callCode, emitValue } from "./expression.ts";
import { isExecutionConstant } from "./plan_analysis.ts";
import { formOf } from "./value_form.ts";

/** Elements of a list that are compared one by one. */
const MAX_MASKED_LIST_LENGTH = 8;

/** Whether a condition over bound columns can be a mask. */
export function isMaskable(code: Emitter, condition: Expression): boolean {
  return isMask(condition, (column) => code.isBound(column) && code.binding(column).isVector === true);
}

function isMask(condition: Expression, isVector: (column: ColumnRef) => boolean): boolean {
  const isOperand = (expression: Expression): boolean => {
    if (isExecutionConstant(expression)) return cannotFail(expression) && isNumeric(expression);
    if (expression.kind === "cast" && expression.cast.identity) return isOperand(expression.argument);
    return expression.kind === "column" && isVector(expression.column) && isNumeric(expression);
  };
  const isColumn = (expression: Expression): boolean =>
    expression.kind === "column" && isVector(expression.column);
  switch (condition.kind) {
    case "and":
    case "or":
      return condition.args.every((arg) => isMask(arg, isVector));
    case "not":
      return isMask(condition.argument, isVector);
    case "column":
      return isColumn(condition) && condition.type.kind === "bool";
    case "is_null":
      return isColumn(condition.argument);
    case "in_list":
      return condition.list.length > 0 && condition.list.length <= MAX_MASKED_LIST_LENGTH &&
        isOperand(condition.argument) &&
        condition.list.every((element) => isExecutionConstant(element) && isOperand(element)) &&
        isPlainComparison(condition.equals);
    case "call":
      return isPlainComparison(condition.function) && condition.args.every(isOperand) &&
        !condition.args.every(isExecutionConstant);
    default:
      return false;
  }
}

type BoundFunction = Extract<Expression, { kind: "call" }>["function"];

function isPlainComparison(called: BoundFunction): boolean {
  return isComparison(called.name) && called.strict && !called.mayReturnNull &&
    called.inline !== undefined;
}

function isNumeric(expression: Expression): boolean {
  if (expression.kind === "constant" && expression.value === null) return false;
  const form = formOf(expression.type);
  return form === "number" || form === "number_or_bigint" || form === "boolean";
}

/** An expression that is 1 where the condition is TRUE (`wanted`) or FALSE, and 0 elsewhere. */
export function emitMask(code: Emitter, condition: Expression, wanted = true): string {
  switch (condition.kind) {
    case "and":
    case "or": {
      const masks = condition.args.map((arg) => emitMask(code, arg, wanted));
      return `(${masks.join((condition.kind === "and") === wanted ? " & " : " | ")})`;
    }
    case "not":
      return emitMask(code, condition.argument, !wanted);
    case "is_null": {
      const isNull = emitValue(code, condition.argument).isNull ?? "false";
      return condition.negated === wanted ? `Number(!(${isNull}))` : `Number(${isNull})`;
    }
    case "in_list": {
      const isFound = condition.negated !== wanted;
      const argument = emitValue(code, condition.argument);
      const masks = condition.list.map((element) =>
        testMask(code, condition.equals, [argument, emitValue(code, element)], isFound)
      );
      return `(${masks.join(isFound ? " | " : " & ")})`;
    }
    case "call":
      return testMask(code, condition.function, condition.args.map((arg) => emitValue(code, arg)), wanted);
    default: {
      const { code: value, isNull } = emitValue(code, condition);
      return withoutNulls([isNull], `Number(${wanted ? value : `!${value}`})`);
    }
  }
}

function testMask(
  code: Emitter,
  called: BoundFunction,
  args: readonly { readonly code: string; readonly isNull: string | null }[],
  wanted: boolean,
): string {
  const test = callCode(code, called, args.map((arg) => arg.code));
  return withoutNulls(args.map((arg) => arg.isNull), `Number(${wanted ? test : `!${test}`})`);
}

function withoutNulls(tests: readonly (string | null)[], mask: string): string {
  const present = [...new Set(tests.filter((test) => test !== null))];
  if (present.includes("true")) return "0";
  return `(${[...present.map((test) => `Number(!(${assertDefined(test, "a test")}))`), mask].join(" & ")})`;
}
