/** The optimizer's entry: the plan as bound, which is complete and can be run. */
import type { PlanningEnvironment } from "../binder/environment.ts";
import type { OutputColumn } from "../binder/query_binder.ts";
import type { ColumnRef } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";

/** A plan and the columns of its result. */
export interface OptimizedStatement {
  readonly plan: Plan;
  readonly columns: readonly OutputColumn[];
}

/** Answers a plan with the same rows that costs less. */
export function optimize(
  plan: Plan,
  columns: readonly OutputColumn[],
  _environment: PlanningEnvironment,
  _newColumn: () => ColumnRef,
): OptimizedStatement {
  return { plan, columns };
}
