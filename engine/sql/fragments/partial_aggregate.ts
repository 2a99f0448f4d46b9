/** An aggregation over the parts of a table's rows, each in its place, and over what comes of them. */
import { columnReference } from "../plan/build.ts";
import type { ColumnRef } from "../plan/expression.ts";
import { splitCall } from "../plan/part_aggregates.ts";
import type { AggregateCall, Plan } from "../plan/plan.ts";

type Aggregate = Plan & { readonly kind: "aggregate" };

/** `part` runs at each place and gives `columns`; `whole` runs over all of these rows. */
export interface SplitAggregate {
  readonly part: Aggregate;
  readonly whole: Aggregate;
  readonly columns: readonly ColumnRef[];
}

/** Null: some of its aggregates need all rows in one place. `hasApart`: no value is at two places. */
export function partialAggregate(
  plan: Aggregate,
  newColumn: () => ColumnRef,
  hasApart = false,
): SplitAggregate | null {
  const calls: AggregateCall[] = [];
  const merging: AggregateCall[] = [];
  for (const call of plan.aggregates) {
    const split = call.distinct && !hasApart ? null : splitCall(call, newColumn);
    if (split === null) return null;
    calls.push(...split.parts);
    merging.push(split.whole);
  }
  const groups = plan.groups.map((group) => ({ ...group, output: newColumn() }));
  return {
    part: { ...plan, groups, aggregates: calls, groupingSets: null, groupings: [], stage: "partial" },
    whole: {
      ...plan,
      groups: plan.groups.map((group, index) => ({
        ...group,
        expression: columnReference(groups[index]?.output ?? 0, group.expression.type, true),
      })),
      aggregates: merging,
      stage: "final",
    },
    columns: [...groups, ...calls].map(({ output }) => output),
  };
}
