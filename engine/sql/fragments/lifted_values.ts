/**
 * Subqueries in conditions that do not depend on the row: their values are computed before the rows are asked for, and
 * are parameters of what runs elsewhere. Where the condition stays here, they are put back.
 */
import { freeColumns, ownExpressions, visitPlan } from "../plan/traverse.ts";
import { hasSubquery, isVolatilePlan } from "../plan/build.ts";
import type { Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { mapInputs, mapOperands, mapOwnExpressions } from "../plan/rewrite.ts";

/** See the file's head. */
export class LiftedValues {
  /** By the index of its parameter. */
  readonly #subqueries = new Map<number, Expression>();
  readonly #divided = new Map<number, Expression>();
  readonly #divide: (subquery: Expression) => Expression;
  #next = 0;

  /** `divide` has a subquery's own plan run where its rows are. */
  constructor(root: Plan, divide: (subquery: Expression) => Expression) {
    this.#divide = divide;
    visitPlan(root, {
      expression: (each) => {
        if (each.kind === "parameter") this.#next = Math.max(this.#next, each.index + 1);
      },
    });
  }

  /** The index of a parameter that nobody has. */
  newParameter(): number {
    return this.#next++;
  }

  /** The plan with parameters in the place of subqueries. */
  lift(plan: Plan): Plan {
    const below = mapInputs(plan, (input) => this.lift(input));
    const isCondition = below.kind === "filter" || "table" in below && "filter" in below;
    return isCondition && ownExpressions(below).some(hasSubquery)
      ? mapOwnExpressions(below, (each) => this.#liftIn(each))
      : below;
  }

  #liftIn(expression: Expression): Expression {
    if (!hasSubquery(expression)) return expression;
    if (expression.kind !== "scalar_subquery" || !isValue(expression.plan)) {
      return mapOperands(expression, (each) => this.#liftIn(each));
    }
    const index = this.#next++;
    this.#subqueries.set(index, expression);
    return { kind: "parameter", type: expression.type, index };
  }

  /** The subqueries among parameters. */
  valuesOf(
    parameters: readonly { readonly index: number }[],
  ): { readonly index: number; readonly expression: Expression }[] {
    return parameters.flatMap(({ index }) => {
      const expression = this.#value(index);
      return expression === undefined ? [] : [{ index, expression }];
    });
  }

  /** The plan with the subqueries of conditions that have stayed. */
  restore(plan: Plan): Plan {
    if (this.#subqueries.size === 0) return plan;
    const restored = mapInputs(plan, (input) => this.restore(input));
    return mapOwnExpressions(restored, (each) => this.#restoreIn(each));
  }

  #restoreIn(expression: Expression): Expression {
    if (expression.kind === "parameter") return this.#value(expression.index) ?? expression;
    return mapOperands(expression, (each) => this.#restoreIn(each));
  }

  #value(index: number): Expression | undefined {
    const subquery = this.#subqueries.get(index);
    if (subquery === undefined) return undefined;
    let divided = this.#divided.get(index);
    if (divided === undefined) this.#divided.set(index, divided = this.#divide(subquery));
    return divided;
  }
}

/** Whether a subquery's plan gives one value, whatever the row, or NULL. */
function isValue(plan: Plan): boolean {
  if (!givesOneRow(plan) || freeColumns(plan).size > 0 || isVolatilePlan(plan)) return false;
  let isClosed = true;
  // What a surrounding WITH defines is not there yet.
  visitPlan(plan, { plan: ({ kind }) => isClosed &&= kind !== "with_scan" });
  return isClosed;
}

function givesOneRow(plan: Plan): boolean {
  switch (plan.kind) {
    case "aggregate":
      return plan.groups.length === 0 && plan.groupingSets === null;
    case "row_lookup":
      return plan.ids.length === 1;
    case "values":
      return plan.list.length === 1;
    case "limit":
      return plan.limit?.kind === "constant" && plan.limit.value === 1 || givesOneRow(plan.input);
    case "project":
    case "filter":
    case "sort":
      return givesOneRow(plan.input);
    default:
      return false;
  }
}
