/**
 * Conditions on groups (HAVING) over stretches of a table that is stored in the order of the groups' key, nearly: a
 * group whose key lies apart, within what one stretch alone has of keys, is whole there, and need not travel when the
 * condition does not hold for it.
 */
import { columnReference, disjunction } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import { raisesNothing } from "../plan/harmless.ts";
import type { Fragment, Plan } from "../plan/plan.ts";
import { substitute } from "../plan/rewrite.ts";
import { resolveOperator } from "../functions/registry.ts";
import { storageClassOf } from "../../types/physical_type.ts";
import { partialAggregate, type SplitAggregate } from "./partial_aggregate.ts";

type Aggregate = Plan & { readonly kind: "aggregate" };

/** The aggregation in two steps; `part` has the condition on top. */
export interface GroupsApart extends Pick<SplitAggregate, "whole" | "columns"> {
  readonly part: Plan;
  readonly apart: NonNullable<Fragment["apart"]>;
}

/** Null: there is no key that is a column of integers, or the condition could fail. */
export function groupsApart(
  plan: Aggregate,
  condition: Expression,
  next: { column(): ColumnRef; parameter(): number },
): GroupsApart | null {
  const scan = plan.input.kind === "filter" ? plan.input.input : plan.input;
  if (scan.kind !== "table_scan" || !raisesNothing(condition)) return null;
  const keyAt = plan.groups.findIndex(({ expression: each }) =>
    each.kind === "column" && storageClassOf(each.type) === "int" &&
    scan.columns.some(({ output }) => output === each.column)
  );
  const key = plan.groups[keyAt]?.expression;
  const split = partialAggregate(plan, next.column);
  if (key?.kind !== "column" || split === null) return null;
  const column = scan.columns.find(({ output }) => output === key.column);
  if (column === undefined) return null;
  const replacement = new Map<ColumnRef, Expression>();
  plan.groups.forEach(({ output, expression: { type } }, index) => {
    replacement.set(output, columnReference(split.part.groups[index]?.output ?? 0, type, true));
  });
  // The parts and what comes of them share the state that they are computed from.
  const finished = plan.aggregates.map((call) => {
    const output = next.column();
    replacement.set(call.output, columnReference(output, call.aggregate.returnType, true));
    return { ...call, output };
  });
  const low = next.parameter(), high = next.parameter();
  const { type } = key;
  const own = columnReference(split.part.groups[keyAt]?.output ?? 0, type, true);
  const compare = (symbol: string, index: number): Expression => {
    const bound = resolveOperator(symbol, type, type);
    return {
      kind: "call",
      type: bound.returnType,
      function: bound,
      args: [own, { kind: "parameter", type, index }],
    };
  };
  const bool = { kind: "bool" } as const;
  const isApart: Expression = { kind: "and", type: bool, args: [compare(">", low), compare("<", high)] };
  const mayGo: Expression = { kind: "is_truth", type: bool, argument: isApart, truth: "true", negated: true };
  return {
    part: {
      kind: "filter",
      input: { ...split.part, aggregates: [...split.part.aggregates, ...finished] },
      condition: disjunction([mayGo, substitute(condition, replacement)]),
      rows: plan.rows,
    },
    whole: split.whole,
    columns: split.columns,
    apart: { columnId: column.columnId, low, high },
  };
}
