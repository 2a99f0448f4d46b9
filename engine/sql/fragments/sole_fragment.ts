/** Which plans read nothing but one fragment, and few rows of it, and read it for certain. */
import { isVolatilePlan } from "../plan/build.ts";
import type { Fragment, Plan } from "../plan/plan.ts";

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
      return plan.rows <= FEW_ROWS ? plan.fragment : null;
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
