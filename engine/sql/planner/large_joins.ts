/**
 * Joins of more relations than one search for an order takes: relations that belong together become one, an inner
 * join that is ordered by itself.
 *
 * Relations are put in the order in which conditions reach them from the first, and the group is a beginning of that
 * order, so that it holds no cross product that the statement does not ask for.
 */
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { allDefinedColumns, columnsOf } from "../plan/traverse.ts";

/** At most `maximum` relations that join to the same rows under the same conditions. */
export function groupRelations(
  relations: readonly Plan[],
  conditions: readonly Expression[],
  maximum: number,
): readonly Plan[] {
  if (relations.length <= maximum) return relations;
  const order = connectedOrder(relations, conditions);
  const grouped = order.slice(0, relations.length - maximum + 1);
  const rest = order.slice(grouped.length);
  return [grouped.reduce(innerJoin), ...rest];
}

/** A join without a condition: those that concern the group reach it as they reach any relation. */
function innerJoin(left: Plan, right: Plan): Plan {
  return {
    kind: "nested_loop_join",
    join: "inner",
    left,
    right,
    condition: null,
    correlated: false,
    rows: 0,
  };
}

/** The relations, each behind one that a condition connects it to, where there is one. */
function connectedOrder(relations: readonly Plan[], conditions: readonly Expression[]): Plan[] {
  const relationOf = new Map<ColumnRef, number>();
  relations.forEach((relation, index) => {
    for (const column of allDefinedColumns(relation)) relationOf.set(column, index);
  });
  const neighbors = relations.map(() => new Set<number>());
  for (const condition of conditions) {
    const touched = new Set<number>();
    for (const column of columnsOf(condition)) {
      const index = relationOf.get(column);
      if (index !== undefined) touched.add(index);
    }
    for (const index of touched) for (const other of touched) neighbors[index]?.add(other);
  }
  const reached = new Set<number>();
  for (const start of relations.keys()) {
    reached.add(start);
    // A set is walked in the order of insertion, additions during the walk included.
    for (const index of reached) for (const other of neighbors[index] ?? []) reached.add(other);
  }
  return [...reached].map((index) => relations[index]).filter((relation) => relation !== undefined);
}
