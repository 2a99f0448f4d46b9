/** All relations. */
import { aggregateRelations } from "./aggregates.ts";
import type { Relation } from "./check.ts";
import { joinRelations } from "./joins.ts";
import { partitionRelations } from "./partitions.ts";
import { rewriteRelations } from "./rewrites.ts";
import { statementRelations } from "./statements.ts";

/** Every relation by which checks are made. */
export const relations: readonly Relation[] = [
  ...partitionRelations,
  ...rewriteRelations,
  ...aggregateRelations,
  ...joinRelations,
  ...statementRelations,
];
