/** Which plans read nothing but fragments: one, and few rows of it, for certain; or any number of them. */
import { isVolatilePlan } from "../plan/build.ts";
import type { Fragment, Plan } from "../plan/plan.ts";
import { readsTables, visitPlan } from "../plan/traverse.ts";

/** Up to so many rows are expected of such a fragment. */
const FEW_ROWS = 1000;

/** The only fragment of a divided plan; null: it has others, or does more than to compute with its rows. */
export function soleFragment(plan: Plan): Fragment | null {
  const fragment = fragmentBelow(plan);
  return fragment !== null && fragment.isAlone && !isVolatilePlan(plan) ? fragment : null;
}

function fragmentBelow(plan: Plan): Fragment | null {
  switch (plan.kind) {
    case "gather":
      return plan.rows <= FEW_ROWS && plan.values.length === 0 ? plan.fragment : null;
    case "project":
    case "filter":
    case "sort":
    case "limit":
    case "distinct":
    case "aggregate":
      return fragmentBelow(plan.input);
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
