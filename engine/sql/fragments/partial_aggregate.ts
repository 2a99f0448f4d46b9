/** An aggregation over the parts of a table's rows, each in its place, and over what comes of them. */
import { columnReference } from "../plan/build.ts";
import type { ColumnRef } from "../plan/expression.ts";
import type { AggregateCall, Plan } from "../plan/plan.ts";
import { aggregateOfPart } from "./fragment_text.ts";

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
    const { aggregate, distinct, orderBy } = call;
    const { parts } = aggregate;
    if (parts === undefined || distinct && !hasApart || orderBy.length > 0) return null;
    const results = parts.results.map(({ type }, part) => {
      const output = newColumn();
      calls.push({ ...call, output, aggregate: aggregateOfPart(aggregate, part) });
      return columnReference(output, type, true);
    });
    const { components: _, parts: __, ...rest } = aggregate;
    merging.push({
      ...call,
      aggregate: {
        ...rest,
        argumentTypes: parts.results.map(({ type }) => type),
        skipsNulls: true,
        step: parts.merge,
      },
      args: results,
      distinct: false,
      filter: null,
    });
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
