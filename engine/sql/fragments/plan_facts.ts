/** What is asked of plans that are divided: what they read, name and depend on. */
import type { ColumnRef } from "../plan/expression.ts";
import type { Fragment, KeptSide, Plan } from "../plan/plan.ts";
import { mapInputs } from "../plan/rewrite.ts";
import { columnTypes, freeColumns, inputs, visitPlan } from "../plan/traverse.ts";
import { asksSession, asksSessionForForm } from "./steady_expression.ts";

type Aggregate = Plan & { readonly kind: "aggregate" };

/** A read of one stored table. */
export type Access = Plan & { readonly kind: "table_scan" | "row_lookup" | "row_range" | "index_scan" };

/** Whether a plan reads one stored table, and nothing else. */
export function isAccess(plan: Plan): plan is Access {
  return plan.kind === "table_scan" || plan.kind === "row_lookup" || plan.kind === "row_range" ||
    plan.kind === "index_scan";
}

/** Whether rows travel within a plan. */
export function hasExchanges(plan: Plan): boolean {
  return plan.kind === "exchange" || inputs(plan).some(hasExchanges);
}

/** All reads of stored tables in a plan, those of subqueries left out. */
export function accesses(plan: Plan): Access[] {
  return [...(isAccess(plan) ? [plan] : []), ...inputs(plan).flatMap(accesses)];
}

/** Types of columns beneath projections, which stay readable. */
export function visibleTypes(plan: Plan): ReadonlyMap<ColumnRef, Fragment["columns"][number]["type"]> {
  const result = new Map<ColumnRef, Fragment["columns"][number]["type"]>();
  for (const input of inputs(plan)) {
    for (const [column, type] of [...visibleTypes(input), ...columnTypes(input)]) result.set(column, type);
  }
  return result;
}

/** Whether evaluating a plan may look at anything of the session. */
export function mayAskSession(plan: Plan): boolean {
  let asks = false;
  visitPlan(plan, {
    plan: (each) => asks ||= each.kind === "aggregate" && each.aggregates.some(asksSessionForForm),
    expression: (each) => asks ||= asksSession(each),
  });
  return asks;
}

/** The parameters that a plan names. */
export function parametersOf(plan: Plan): Fragment["parameters"] {
  const found = new Map<number, Fragment["parameters"][number]>();
  visitPlan(plan, {
    expression: (each) => {
      if (each.kind === "parameter") found.set(each.index, { index: each.index, type: each.type });
    },
  });
  return [...found.values()];
}

/** The columns that an operator names by reference rather than in an expression. */
export function namedColumns(plan: Plan): readonly ColumnRef[] {
  switch (plan.kind) {
    case "set_operation":
      return plan.inputs.flatMap((input) => input.columns);
    case "with":
      return plan.definitions.flatMap((each) => [...each.columns, ...(each.recursive?.columns ?? [])]);
    case "with_scan":
      return plan.columns;
    case "lock_rows":
      return plan.tables.map(({ rowId }) => rowId);
    default:
      return [];
  }
}

/** Whether it does not matter how the rows are divided: sums of floating point are rounded, those of intervals end. */
export function isExact({ aggregate: { name, parts } }: Aggregate["aggregates"][number]): boolean {
  return name === "min" || name === "max" ||
    parts?.results.every(({ type: { kind } }) => kind !== "f32" && kind !== "f64" && kind !== "interval") ===
      true;
}

/** Whether storage knows the answer. */
export function isCount({ input, groups, aggregates }: Aggregate): boolean {
  return groups.length === 0 && input.kind === "table_scan" && input.filter === null &&
    aggregates.every(({ args, filter }) => args.length === 0 && filter === null);
}

/** Whether the order of its rows shows in an aggregate. */
export function isOrderSensitive(call: Aggregate["aggregates"][number]): boolean {
  return call.aggregate.orderSensitive && call.orderBy.length === 0;
}

/** Whether a plan can be run by itself: it names no column, and nothing that a WITH defines, from around it. */
export function isClosed(plan: Plan): boolean {
  let closed = freeColumns(plan).size === 0;
  visitPlan(plan, { plan: ({ kind }) => closed &&= kind !== "with_scan" });
  return closed;
}

/** A fragment's plan without what is kept before it runs. */
export function withoutInputs(plan: Plan): Plan {
  if (plan.kind !== "exchange") return mapInputs(plan, withoutInputs);
  return { ...plan, input: { kind: "values", outputs: [], types: [], list: [], rows: 0 } };
}

/** The sides of a fragment's joins that are kept before it runs, those of outer joins before those beneath them. */
export function keptSides(plan: Plan): KeptSide[] {
  if (plan.kind !== "hash_join" || plan.right.kind !== "exchange" || plan.right.isKept !== true) {
    return inputs(plan).flatMap(keptSides);
  }
  const { left, leftKeys, rightKeys, right: { number, input, columns } } = plan;
  const others = leftKeys.map(({ type }) => type);
  return [{ number, plan: input, columns, keys: rightKeys, others }, ...keptSides(left)];
}
