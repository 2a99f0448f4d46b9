/**
 * Generated code of expressions whose steps are counted: CHECK, triggers, generated columns, DEFAULT,
 * index expressions.
 *
 * {@link emitMeteredValue} and its siblings are for whoever evaluates such an expression for a row. An expression over
 * values of bounded size has a cost that its shape bounds; its code is that of any other expression. Everything else
 * becomes an evaluation: the counter begins with the steps that are known beforehand, calls on large values charge
 * theirs, and what goes wrong leaves the counter as it was. Rows that cost many steps let others in: see
 * {@link emitTurn}.
 *
 * A constant part that is computed once in an execution is an evaluation of its own, so that other rows do not depend
 * on which was the first. Parts that an expression or its siblings have computed before are not charged again.
 */
import { gas, type GasPlace } from "../../base/gas.ts";
import type { Expression } from "../../sql/plan/expression.ts";
import { needsCounter, shapeSteps } from "../../sql/plan/expression_steps.ts";
import { emitFalsity, emitTruth } from "./condition.ts";
import type { Emitter, Value } from "./emitter.ts";
import { emitValue, nullable } from "./expression.ts";
import { emitCounted } from "./metering.ts";
import { declareResult } from "./value_form.ts";

/** An expression's value, computed under the counter where its shape does not bound its steps. */
export function emitMeteredValue(code: Emitter, expression: Expression, place: GasPlace): Value {
  if (!needsCounter(expression)) return emitValue(code, expression);
  const result = declareResult(code, expression.type, nullable(code, expression));
  emitEvaluation(code, expression, place, () => code.emit(result.assign(emitValue(code, expression))));
  return result.value;
}

/** A JavaScript expression that holds when the condition is TRUE; see {@link emitMeteredValue}. */
export function emitMeteredTruth(code: Emitter, condition: Expression, place: GasPlace): string {
  return needsCounter(condition)
    ? emitTest(code, condition, place, () => emitTruth(code, condition))
    : emitTruth(code, condition);
}

/** A JavaScript expression that holds when the condition is FALSE; see {@link emitMeteredValue}. */
export function emitMeteredFalsity(code: Emitter, condition: Expression, place: GasPlace): string {
  return needsCounter(condition)
    ? emitTest(code, condition, place, () => emitFalsity(code, condition))
    : emitFalsity(code, condition);
}

function emitTest(code: Emitter, condition: Expression, place: GasPlace, emit: () => string): string {
  const test = code.name("t");
  code.emit(`let ${test} = false;`);
  emitEvaluation(code, condition, place, () => code.emit(`${test} = ${emit()};`));
  return test;
}

function emitEvaluation(code: Emitter, expression: Expression, place: GasPlace, emit: () => void): void {
  const wasMetered = code.isMetered;
  code.isMetered = true;
  emitCounted(code, place, shapeSteps(expression).fixed, emit);
  code.isMetered = wasMetered;
  code.hasTurns = true;
}

/**
 * Behind the last thing that is done for a row: where the rows of this turn have taken many steps, the morsel is left,
 * so that others come in before the next row.
 */
export function emitTurn(code: Emitter): void {
  if (code.hasTurns) code.turn(`${code.constant("gas", gas)}.isTurnDue`);
}
