/** Long expressions that are one call of the plan, with the values of their columns: see the planner's. */
import type { BoundFunction } from "../functions/definition.ts";
import type { ColumnRef, Expression } from "./expression.ts";

/** An expression that is called. */
export interface LongTerms {
  readonly expression: Expression;
  /** Whose values are the arguments. */
  readonly columns: readonly ColumnRef[];
}

const known = new WeakMap<BoundFunction, LongTerms>();

/** Notes what a function of the plan evaluates, so that code is generated for it. */
export function noteLongTerms(called: BoundFunction, terms: LongTerms): void {
  known.set(called, terms);
}

/** What was noted of a function. */
export function longTermsOf(called: BoundFunction): LongTerms | undefined {
  return known.get(called);
}
