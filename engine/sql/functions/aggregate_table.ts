/**
 * The list of all aggregates.
 */
import { basicAggregates } from "./basic_aggregates.ts";
import { collectingAggregates } from "./collecting_aggregates.ts";
import type { AggregateDefinition } from "./definition.ts";
import { statisticalAggregates } from "./statistical_aggregates.ts";

/** All aggregates, in the order of the documentation. */
export const aggregateDefinitions: readonly AggregateDefinition[] = [
  ...basicAggregates,
  ...collectingAggregates,
  ...statisticalAggregates,
];
