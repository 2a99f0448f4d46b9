/**
 * Direct arguments of ordered-set aggregates, `rank(a) WITHIN GROUP …`: values of a group, not of its rows.
 *
 * Inside a group all rows have the same grouped values, so that an aggregate may read them from any row. In a
 * grouping set that lacks a key its value is NULL: there is one call for each combination of missing keys, and
 * GROUPING chooses.
 */
import { resolveOperator } from "../functions/registry.ts";
import { BOOLEAN, columnReference, constant } from "../plan/build.ts";
import type { ColumnRef, Expression } from "../plan/expression.ts";
import type { AggregateCall } from "../plan/plan.ts";
import { mapOperands } from "../plan/rewrite.ts";
import { operands } from "../plan/traverse.ts";
import type { Binding } from "./binding.ts";
import type { Grouping } from "./grouping.ts";
import type { QueryLevel } from "./scope.ts";

/** A GROUPING of the level, by indexes of its keys. */
export interface KeyGrouping {
  readonly output: ColumnRef;
  readonly groups: readonly number[];
}

/** The aggregates of a level, those with direct arguments once for each combination of missing keys. */
export function aggregatesBySet(
  binding: Binding,
  level: QueryLevel,
  grouping: Grouping,
): { readonly aggregates: readonly AggregateCall[]; readonly groupings: readonly KeyGrouping[] } {
  const aggregates: AggregateCall[] = [];
  const groupings: KeyGrouping[] = [];
  for (const call of level.aggregates) {
    const used = level.directAggregates.has(call.output) ? usedKeys(binding, grouping, call) : [];
    const masks = used.length === 0 ? [] : missingKeys(grouping, used);
    if (masks.every((mask) => mask === 0)) {
      aggregates.push(call);
      continue;
    }
    const mask = { output: binding.newColumn(), groups: used };
    groupings.push(mask);
    const results = masks.map((missing) => {
      const absent = used.filter((_, index) => (missing >> (used.length - 1 - index)) & 1);
      const output = binding.newColumn();
      aggregates.push({ ...withoutKeys(binding, grouping, call, new Set(absent)), output });
      return { missing, output };
    });
    const type = { kind: "i32" } as const;
    const equals = resolveOperator("=", type, type);
    grouping.substitutes.set(call.output, {
      kind: "case",
      type: call.aggregate.returnType,
      branches: results.map(({ missing, output }) => ({
        when: {
          kind: "call",
          type: BOOLEAN,
          function: equals,
          args: [columnReference(mask.output, type, false), constant(type, missing)],
        },
        then: columnReference(output, call.aggregate.returnType, true),
      })),
      otherwise: null,
    });
  }
  return { aggregates, groupings };
}

/** The combinations of keys that the grouping sets lack, as GROUPING has them. */
function missingKeys(grouping: Grouping, used: readonly number[]): readonly number[] {
  const masks = (grouping.sets ?? []).map((set) =>
    used.reduce((mask, key) => mask * 2 + (set.includes(key) ? 0 : 1), 0)
  );
  return [...new Set(masks)];
}

/** The keys that direct arguments of a call are made of; 42803 when they are made of anything else. */
function usedKeys(binding: Binding, grouping: Grouping, call: AggregateCall): readonly number[] {
  const used = new Set<number>();
  const collect = (expression: Expression): void => {
    const key = grouping.indexOf(expression);
    if (key === undefined) operands(expression).forEach(collect);
    else used.add(key);
  };
  const find = (expression: Expression): void => {
    if (!binding.directArguments.bound.has(expression)) operands(expression).forEach(find);
    else {
      grouping.requireGrouped(expression);
      collect(expression);
    }
  };
  expressionsOf(call).forEach(find);
  return [...used];
}

function expressionsOf(call: AggregateCall): readonly Expression[] {
  return call.filter === null ? call.args : [...call.args, call.filter];
}

/** The call with NULL for keys in its direct arguments. */
function withoutKeys(
  binding: Binding,
  grouping: Grouping,
  call: AggregateCall,
  absent: ReadonlySet<number>,
): AggregateCall {
  const clear = (expression: Expression): Expression => {
    const key = grouping.indexOf(expression);
    if (key === undefined) return mapOperands(expression, clear);
    return absent.has(key) ? constant(expression.type, null) : expression;
  };
  const map = (expression: Expression): Expression =>
    binding.directArguments.bound.has(expression) ? clear(expression) : mapOperands(expression, map);
  return {
    ...call,
    args: call.args.map(map),
    filter: call.filter === null ? null : map(call.filter),
  };
}
