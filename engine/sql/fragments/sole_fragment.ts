/** Which plans read nothing but fragments: one, and few rows of it, for certain; or any number of them. */
import { isVolatilePlan } from "../plan/build.ts";
import type { SqlValue } from "../../types/value.ts";
import type { Expression } from "../plan/expression.ts";
import type { Fragment, Plan } from "../plan/plan.ts";
import { readsTables, visitPlan } from "../plan/traverse.ts";

/** Up to so many rows are expected of such a fragment. */
const FEW_ROWS = 1000;

/** The only fragment of a plan, and what LIMITs above it say. */
export interface SoleFragment {
  readonly fragment: Fragment;
  readonly limits: readonly Expression[];
}

/** The only fragment of a divided plan; null: it has others, or does more than to compute with its rows. */
export function soleFragment(plan: Plan): SoleFragment | null {
  const sole = fragmentBelow(plan, []);
  return sole !== null && sole.fragment.isAlone && !isVolatilePlan(plan) ? sole : null;
}

function fragmentBelow(plan: Plan, limits: readonly Expression[]): SoleFragment | null {
  switch (plan.kind) {
    case "gather":
      return plan.rows <= FEW_ROWS && plan.values.length === 0 ? { fragment: plan.fragment, limits } : null;
    case "limit":
      return fragmentBelow(plan.input, plan.limit === null ? limits : [...limits, plan.limit]);
    case "project":
    case "filter":
    case "sort":
    case "distinct":
    case "aggregate":
      return fragmentBelow(plan.input, limits);
    default:
      return null;
  }
}

/** The fragment whose rows the statement reads with these parameters; null: see above, or nothing is to be computed. */
export function fragmentReadWith(
  sole: SoleFragment | null,
  parameters: readonly SqlValue[],
): Fragment | null {
  return sole === null || sole.limits.some((each) => countOf(each, parameters) === 0) ? null : sole.fragment;
}

/** The value of LIMIT, or of LIMIT and OFFSET together; null: it is none of the numbers that are looked for. */
export function countOf(expression: Expression, parameters: readonly SqlValue[]): SqlValue {
  switch (expression.kind) {
    case "constant":
      return expression.value;
    case "parameter":
      return parameters[expression.index] ?? null;
    case "cast":
      return expression.cast.identity || expression.cast.to.kind === "f64"
        ? countOf(expression.argument, parameters)
        : null;
    case "coalesce":
      return expression.args.map((each) => countOf(each, parameters)).find((each) => each !== null) ?? null;
    case "call": {
      const values = expression.args.map((each) => countOf(each, parameters));
      const isSum = expression.function.name === "+" && values.every((each) => typeof each === "number");
      return isSum ? (values as number[]).reduce((sum, each) => sum + each, 0) : null;
    }
    default:
      return null;
  }
}

/** Whether a plan reads stored tables by fragments only, so that it need not run anew for what it has to fetch. */
export function readsByGathersOnly(plan: Plan): boolean {
  if (readsTables(plan) || isVolatilePlan(plan)) return false;
  let isKnown = true;
  // Functions of users may read whatever they like.
  visitPlan(plan, {
    expression: (each) => isKnown &&= each.kind !== "call" || each.function.userFunctionId === undefined,
  });
  return isKnown;
}
