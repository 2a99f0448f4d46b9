/** Aggregates over parts of the rows, and over what comes of the parts. */
import { assertDefined } from "../../base/assert.ts";
import type { BoundAggregate } from "../functions/definition.ts";
import { columnReference } from "./build.ts";
import type { ColumnRef } from "./expression.ts";
import type { AggregateCall } from "./plan.ts";

/** What one was made of: the results of a part, by their position, or the merging of parts. */
export interface PartOf {
  readonly whole: BoundAggregate;
  readonly part: number;
}

/** The position of an aggregate over what comes of all parts. */
export const MERGING = -2;

const partsOf = new WeakMap<BoundAggregate, PartOf>();

/** What an aggregate was made of; undefined: it is whole. */
export function partOf(aggregate: BoundAggregate): PartOf | undefined {
  return partsOf.get(aggregate);
}

/** The aggregate that answers one of the results of a part of the rows. */
export function aggregateOfPart(whole: BoundAggregate, part: number): BoundAggregate {
  const result = assertDefined(whole.parts?.results[part], `result ${part} of ${whole.name}`);
  const { parts: _, ...rest } = whole;
  const made: BoundAggregate = { ...rest, returnType: result.type, finish: result.finish };
  partsOf.set(made, { whole, part });
  return made;
}

/** The aggregate over what the parts answer, which skips parts with a NULL in it. */
export function mergingAggregate(whole: BoundAggregate): BoundAggregate {
  const { components: _, parts, ...rest } = whole;
  const { results, merge } = assertDefined(parts, `parts of ${whole.name}`);
  const made: BoundAggregate = {
    ...rest,
    argumentTypes: results.map(({ type }) => type),
    skipsNulls: true,
    step: merge,
  };
  partsOf.set(made, { whole, part: MERGING });
  return made;
}

/** An aggregate call in two: over the rows of a part, and over what comes of the parts. Null: it cannot be. */
export function splitCall(
  call: AggregateCall,
  newColumn: () => ColumnRef,
): { readonly parts: readonly AggregateCall[]; readonly whole: AggregateCall } | null {
  const { parts } = call.aggregate;
  if (parts === undefined || call.orderBy.length > 0) return null;
  const calls = parts.results.map((_, part): AggregateCall => ({
    ...call,
    output: newColumn(),
    aggregate: aggregateOfPart(call.aggregate, part),
  }));
  return {
    parts: calls,
    whole: {
      ...call,
      aggregate: mergingAggregate(call.aggregate),
      args: calls.map(({ output, aggregate }) => columnReference(output, aggregate.returnType, true)),
      distinct: false,
      filter: null,
    },
  };
}
